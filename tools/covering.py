"""Which lines the suite runs, as a table by package (standard library only; coverage lies in the test environment)."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import environments as envs
import packing
from environments import ROOT

COVERAGE = ("coverage>=7.10,<8",)
"""7.10 measures processes that a test starts, also those that end by ``os._exit``, as Blender's have to."""
NOT_MEASURED = ("tests", "tools", "bench", "docs", "farm", ".venv", "build", "dist", "demo", "artefacts")
REACHED_AS = (".typecheck/limb_ik", "*/package/limb_ik")
"""Links through which other processes import this checkout."""
TOO_SLOW = ("tests/rig/test_channels.py::test_both_are_cheap_enough_for_every_frame",)
"""Tests of times that watching each line makes longer; ``dev.py test`` runs them."""
TOP = "(top folder)"

Lines = dict[str, tuple[int, int, list[int]]]
"""By file: statements, those that ran, line numbers of the others."""


def run(python: Path, version: str, arguments: Sequence[str]) -> int:
    """The suite under coverage, then the table; with ``-v``, files with the lines that did not run as well."""
    envs.ensure_more(python, version, COVERAGE)
    with tempfile.TemporaryDirectory(prefix="limb-ik-coverage-") as folder, packing.clean_blender() as environment:
        settings = Path(folder) / "settings"
        settings.write_text(_settings(Path(folder)), encoding="utf-8")
        call = [str(python), "-m", "coverage"]
        chosen = f"--rcfile={settings}"
        left_out = [f"--deselect={test}" for test in TOO_SLOW]
        tests = subprocess.run(
            [*call, "run", chosen, "-m", "pytest", *left_out, *arguments], cwd=ROOT, env=environment, check=False
        )
        subprocess.run([*call, "combine", "-q", chosen], cwd=ROOT, check=True)
        report = Path(folder) / "report.json"
        subprocess.run([*call, "json", "-q", chosen, "-o", str(report)], cwd=ROOT, check=True)
        lines = lines_of(json.loads(report.read_text(encoding="utf-8")))
    print("\n".join(table(lines)))
    if "-v" in arguments:
        print("\n".join(missing(lines)))
    return tests.returncode


def _settings(folder: Path) -> str:
    """What coverage is told: the package's files, under whatever link, in all processes."""

    def listed(values: Iterable[str]) -> str:
        return "".join(f"\n    {value}" for value in values)

    included = listed([f"{ROOT}/*", *(f"{place}/*" for place in REACHED_AS)])
    omitted = listed([f"*/{name}/*" for name in NOT_MEASURED if name not in {"build", "dist"}])
    return (
        f"[run]\nparallel = true\npatch ={listed(['subprocess', '_exit'])}\ndisable_warnings = couldnt-parse\n"
        f"data_file = {folder / 'data'}\n"
        f"include ={included}\nomit ={omitted}\n[paths]\nroot ={listed([str(ROOT), *REACHED_AS])}\n"
        "[report]\nignore_errors = true\nexclude_also =\n    if TYPE_CHECKING:\n    @overload\n"
    )


def lines_of(report: Mapping[str, Any]) -> Lines:
    """What coverage's JSON says of each file that some process imported; the whole suite imports all."""
    found: Lines = {}
    for name, one in report["files"].items():
        summary = one["summary"]
        found[name.replace(os.sep, "/")] = (summary["num_statements"], summary["covered_lines"], one["missing_lines"])
    return found


def table(lines: Lines) -> list[str]:
    """A line for each package and one for all."""
    packages: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for name, (statements, ran, _) in lines.items():
        for package in (name.split("/")[0] if "/" in name else TOP, "all"):
            packages[package] = [a + b for a, b in zip(packages[package], (1, statements, ran), strict=True)]
    rows = [f"{'package':14}{'files':>6}{'lines':>8}{'not run':>9}{'run':>9}"]
    for package in sorted(packages, key=lambda name: (name == "all", name)):
        files, statements, ran = packages[package]
        share = 100.0 * ran / statements if statements else 100.0
        rows.append(f"{package:14}{files:6}{statements:8}{statements - ran:9}{share:8.1f}%")
    return rows


def missing(lines: Lines) -> list[str]:
    """A line for each file with lines that did not run."""
    return [f"{name}: {', '.join(map(str, left))}" for name, (*_, left) in sorted(lines.items()) if left]
