"""What developers' commands print and draw: coverage by package, scenarios by Blender, curves of growth."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench")]

import _plot  # noqa: E402  (it lies in bench/)

import covering  # noqa: E402  (it lies in tools/)
import scenarios  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def test_lines_are_counted_by_package() -> None:
    lines: covering.Lines = {"rig/a.py": (10, 9, [4]), "rig/crowd/b.py": (30, 30, []), "handlers.py": (10, 5, [1, 2])}
    said = [row.split() for row in covering.table(lines)[1:]]
    assert said == [
        ["(top", "folder)", "1", "10", "5", "50.0%"],
        ["rig", "2", "40", "1", "97.5%"],
        ["all", "3", "50", "6", "88.0%"],
    ]
    assert covering.missing(lines) == ["handlers.py: 1, 2", "rig/a.py: 4"]


@pytest.mark.parametrize(
    ("ended", "mark"),
    [
        ([], scenarios.NONE),
        (["skipped"], scenarios.NONE),
        (["passed", "skipped"], scenarios.PASSED),
        (["passed", "failure"], scenarios.FAILED),
        (["error"], scenarios.FAILED),
    ],
)
def test_a_scenario_is_passed_where_one_test_ran_and_none_failed(ended: list[str], mark: str) -> None:
    assert scenarios.mark_of([("test_lb_07_a", one) for one in ended]) == mark


def test_what_failed_is_named_below_the_table() -> None:
    results = [{7: [("test_lb_07_a", "passed"), ("test_lb_07_b[1]", "failure")]}, {7: [("test_lb_07_a", "passed")]}]
    lines = scenarios.lines_of(["4.2", "5.2*"], results)
    assert lines[0].split() == ["4.2", "5.2*"]
    assert next(line for line in lines if line.startswith("LB-07")).split()[1:5] == ["✗", "2", "✓", "1"]
    assert next(line for line in lines if line.startswith("passed")).split()[1:3] == ["0", "1"]
    assert lines[-1] == "4.2: test_lb_07_b[1] failure"


def test_a_curve_is_drawn_inside_its_axes(tmp_path: Path) -> None:
    path = tmp_path / "new" / "curve.svg"
    rising = [(4.0, 0.13), (400.0, 82.1)]
    _plot.plot(path, "A frame", "chains", "ms", {"Limb IK": rising, "native IK": [(4.0, 0.2), (400.0, 82.0)]})
    drawing = ElementTree.parse(path).getroot()
    texts = {text.text: text for text in drawing.iter(f"{SVG}text")}
    assert {"A frame", "chains", "ms", "Limb IK: 82.1", "native IK: 82", "100", "0.1"} <= texts.keys()
    heights = sorted(float(texts[name].get("y", "")) for name in ("Limb IK: 82.1", "native IK: 82"))
    assert heights[1] - heights[0] >= _plot.LINE
    for circle in drawing.iter(f"{SVG}circle"):
        assert _plot.LEFT <= float(circle.get("cx", "")) <= _plot.WIDTH - _plot.RIGHT
        assert _plot.TOP <= float(circle.get("cy", "")) <= _plot.HEIGHT - _plot.BOTTOM
