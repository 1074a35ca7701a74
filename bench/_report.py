"""Rows of the table, how they are printed and kept as JSON. Knows nothing of Blender."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

Series = Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class Row:
    """One figure. ``native``: Blender's own, None where there is nothing to compare with; ``ratio``: ours to native's.

    ``goal``: the largest that is good enough, of the ratio where ``is_ratio`` is true, else of the figure itself; None
    where a row is there to compare with.
    """

    what: str
    unit: str
    native: float | None
    ours: float
    goal: float | None
    is_ratio: bool = False
    is_least: bool = False

    @property
    def ratio(self) -> float | None:
        return None if not self.native else self.ours / self.native

    @property
    def is_met(self) -> bool:
        if self.goal is None:
            return True
        value = self.ratio if self.is_ratio else self.ours
        return value is not None and (value >= self.goal if self.is_least else value <= self.goal)


def shown(value: float | None) -> str:
    """Three figures, without an exponent where that is readable."""
    if value is None:
        return "–"
    if value == 0.0 or 1e-2 <= abs(value) < 1e6:
        return f"{value:,.3f}".rstrip("0").rstrip(".") if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:.1e}"


def heading() -> str:
    return f"{'':74} {'unit':>7} {'native':>10} {'Limb IK':>10} {'ratio':>8} {'goal':>9}"


def line(row: Row) -> str:
    goal = "" if row.goal is None else f"{'≥' if row.is_least else '≤'} {shown(row.goal)}{' ×' if row.is_ratio else ''}"
    mark = "" if row.is_met else "  missed"
    cells = f"{shown(row.native):>10} {shown(row.ours):>10} {shown(row.ratio):>8} {goal:>9}"
    return f"{row.what:74} {row.unit:>7} {cells}{mark}"


def write_json(path: Path, blender: str, rows: Sequence[Row], series: Mapping[str, Series]) -> None:
    """All figures and all curves, to be compared over time."""
    kept = [{**asdict(row), "ratio": row.ratio, "is_met": row.is_met} for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"blender": blender, "rows": kept, "series": series}, indent=1) + "\n", encoding="utf-8")


def fastest_tenth(act: Callable[[int], None], count: int, clock: Callable[[], float] = perf_counter) -> float:
    """Seconds of the run at the fastest tenth: what other programs do to the machine counts least there."""
    seconds = []
    for number in range(count):
        began = clock()
        act(number)
        seconds.append(clock() - began)
    return sorted(seconds)[count // 10]
