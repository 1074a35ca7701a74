"""Rows of the table, how they are printed, kept as JSON and drawn.

Knows nothing of Blender. The drawings are SVG, made with the standard library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

Series = Mapping[str, Sequence[tuple[float, float]]]
COLOURS = ("#1f6feb", "#d1570c", "#2da44e", "#8250df")


@dataclass(frozen=True)
class Row:
    """One figure. ``native``: Blender's own, None where there is nothing to compare with; ``ratio``: ours to native's.

    ``goal``: the largest that is good enough, of the ratio where ``is_ratio`` is true, else of the figure itself.
    """

    what: str
    unit: str
    native: float | None
    ours: float
    goal: float
    is_ratio: bool = False
    is_least: bool = False

    @property
    def ratio(self) -> float | None:
        return None if not self.native else self.ours / self.native

    @property
    def is_met(self) -> bool:
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
    goal = f"{'≥' if row.is_least else '≤'} {shown(row.goal)}{' ×' if row.is_ratio else ''}"
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


def plot(path: Path, title: str, x_label: str, y_label: str, series: Series) -> None:
    """Curves with both axes logarithmic, as an SVG file."""
    width, height, left, bottom = 640, 420, 70, 50
    points = [point for row in series.values() for point in row]
    x_low, x_high = _decades([x for x, _ in points])
    y_low, y_high = _decades([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        across = left + (math.log10(x) - x_low) / (x_high - x_low) * (width - left - 20)
        up = height - bottom - (math.log10(y) - y_low) / (y_high - y_low) * (height - bottom - 40)
        return round(across, 1), round(up, 1)

    parts = [f'<text x="{left}" y="22" font-size="15">{title}</text>']
    for exponent in range(x_low, x_high + 1):
        x, _ = place(10.0**exponent, 10.0**y_low)
        parts.append(f'<path d="M{x} 40V{height - bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="{height - bottom + 16}" text-anchor="middle">{10.0**exponent:g}</text>')
    for exponent in range(y_low, y_high + 1):
        _, y = place(10.0**x_low, 10.0**exponent)
        parts.append(f'<path d="M{left} {y}H{width - 20}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{10.0**exponent:g}</text>')
    parts.append(f'<text x="{width / 2}" y="{height - 12}" text-anchor="middle">{x_label}</text>')
    parts.append(f'<text x="16" y="{height / 2}" transform="rotate(-90 16 {height / 2})">{y_label}</text>')
    for number, (name, row) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        track = " ".join(f"{x},{y}" for x, y in (place(*point) for point in row))
        parts.append(f'<polyline points="{track}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{left + 12}" y="{58 + 16 * number}" fill="{colour}">{name}</text>')
    size = f'width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    path.parent.mkdir(parents=True, exist_ok=True)
    ground = '<rect width="100%" height="100%" fill="white"/>'
    path.write_text(head + ground + "".join(parts) + "</svg>\n", encoding="utf-8")


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)
