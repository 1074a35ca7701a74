"""Curves with both axes logarithmic, as SVG files made with the standard library. Knows nothing of Blender."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from _report import Series

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 70, 210, 44, 54
INK, GRID, FAINT = "#333", "#d8d8d8", "#efefef"
OURS = "Limb IK"
OUR_COLOUR = "#1f6feb"
OTHER_COLOURS = ("#d1570c", "#777", "#8250df")
"""Ours has one colour in every drawing."""
STEPS = (1, 2, 5)
"""Where an axis begins, ends and has lines, times a power of ten; figures stand at these where there is room."""
LINE = 15.0
"""Height of a line of words."""


class Axis:
    """From values to places along one side. ``start`` and ``end``: pixels of its ends."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        low, high = min(values), max(values)
        around = list(_round_numbers(low, high))
        below, above = [x for x in around if x <= low * 1.001], [x for x in around if x >= high * 0.999]
        self.low, self.high = math.log10(below[-1]), math.log10(above[0])
        self.ticks = [x for x in around if below[-1] <= x <= above[0]]
        self.start, self.end = start, end

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def has_label(self, tick: float) -> bool:
        """Every tick where there are few; else powers of ten."""
        return len(self.ticks) <= 10 or math.isclose(math.log10(tick) % 1.0, 0.0, abs_tol=1e-9)


def _round_numbers(low: float, high: float) -> Iterator[float]:
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    for exponent, step in itertools.product(exponents, STEPS):
        yield float(f"{step}e{exponent}")


def plot(path: Path, title: str, x_label: str, y_label: str, series: Series) -> None:
    """One drawing: points, lines between them, each curve's name and last value beside its end."""
    points = [point for row in series.values() for point in row]
    across = Axis([x for x, _ in points], LEFT, WIDTH - RIGHT)
    up = Axis([y for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [_words(LEFT, 24, title, size=15, weight="bold"), *_grid(across, up), *_labels(x_label, y_label)]
    parts += _curves(series, across, up)
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
    path.parent.mkdir(parents=True, exist_ok=True)
    ground = '<rect width="100%" height="100%" fill="white"/>'
    path.write_text("\n".join([head, ground, *parts, "</svg>"]) + "\n", encoding="utf-8")


def _words(x: float, y: float, said: str, anchor: str = "start", colour: str = INK, **more: object) -> str:
    rest = "".join(f' font-{name}="{value}"' for name, value in more.items())
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}"{rest}>{said}</text>'


def _grid(across: Axis, up: Axis) -> Iterator[str]:
    for tick in across.ticks:
        x = across.place(tick)
        yield f'<path d="M{x} {TOP}V{HEIGHT - BOTTOM}" stroke="{GRID if across.has_label(tick) else FAINT}"/>'
        if across.has_label(tick):
            yield _words(x, HEIGHT - BOTTOM + 17, f"{tick:,g}", "middle")
    for tick in up.ticks:
        y = up.place(tick)
        yield f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="{GRID if up.has_label(tick) else FAINT}"/>'
        if up.has_label(tick):
            yield _words(LEFT - 7, y + 4, f"{tick:,g}", "end")


def _labels(x_label: str, y_label: str) -> Iterator[str]:
    yield _words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, x_label, "middle")
    middle = (TOP + HEIGHT - BOTTOM) / 2
    yield f'<g transform="rotate(-90 18 {middle})">{_words(18, middle, y_label, "middle")}</g>'


def _curves(series: Series, across: Axis, up: Axis) -> Iterator[str]:
    others = itertools.cycle(OTHER_COLOURS)
    ends: dict[str, float] = {name: up.place(row[-1][1]) for name, row in series.items()}
    heights = _apart(ends, LINE)
    for name, row in series.items():
        colour = OUR_COLOUR if name == OURS else next(others)
        placed = [(across.place(x), up.place(y)) for x, y in row]
        track = " ".join(f"{x},{y}" for x, y in placed)
        yield f'<polyline points="{track}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield from (f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in placed)
        yield _words(placed[-1][0] + 9, heights[name] + 4, f"{name}: {row[-1][1]:.3g}", colour=colour)


def _apart(ends: Mapping[str, float], least: float) -> dict[str, float]:
    """Heights for words, in the order of the curves' ends, none nearer to the next than ``least``."""
    by_height: Callable[[str], float] = ends.__getitem__
    found: dict[str, float] = {}
    last = -math.inf
    for name in sorted(ends, key=by_height):
        last = found[name] = max(ends[name], last + least)
    return found
