"""Coordinates of one joint in which its limits are a box: what an iteration with bounds turns joints by.

A hinge has its angle; a ball joint two coordinates of its bone's direction, chosen so that its swing planes are bounds
of them, and its twist; a free joint turns about fixed directions from where it stands. Nothing here knows chains; no
bpy.

Space: local rotations and axes in the joint's rest frame. Units: radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .chain import JointKind, JointLimits
from .joint_limits import clamp, hinge_axis, is_full, measure, twist_of
from .rotations import Quat, from_axis_angle, from_rotation_vector, multiply, normalized, rotate, shortest_arc
from .vectors import (
    UNIT_X,
    UNIT_Y,
    ZERO,
    Vec,
    add,
    any_perpendicular,
    combined,
    cross,
    length,
    perpendicular_part,
    scaled,
    subtract,
    unit,
)

Bounds = tuple[float, float]
NO_BOUNDS: Bounds = (-math.inf, math.inf)

TWIST_EASE = 0.3
"""Ease of turning about the bone itself against swinging: low, since roll shows; not 0, since hinges need it."""
STEEPEST = math.radians(80.5)
"""Swing bound up to which one of the two has to stay for both planes to be coordinates: where both come to a quarter
turn they have no direction in common."""
QUARTER: Bounds = (-0.5 * math.pi, 0.5 * math.pi)
"""As far as a swing goes where the other one is within ``STEEPEST``, and an elevation."""
FOLDED = 1e-6
"""1 + cosine of a swing under which it counts as half a turn, where twist is not defined: 0.1 degrees."""
NUDGE = 1e-5
"""Radians over which the change of an axis is measured: half the digits of a double."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A joint's coordinates about where it stands: ``place`` is where, ``bounds`` how far each may go.

    ``kind``: "hinge", "free", "planes" (swing X and Z), "x" or "z" (one swing and the elevation off its plane, where
    that bends further than a quarter turn) and "swing" (turns of the direction). ``turns``: of a free joint in bone
    space, of "swing" in the rest frame. ``start``: the local rotation there.
    """

    kind: str
    limits: JointLimits
    turns: tuple[Vec, ...]
    start: Quat
    place: tuple[float, ...]
    bounds: tuple[Bounds, ...]

    def at(self, place: Sequence[float]) -> Quat:
        """The local rotation at coordinates within the bounds; legal."""
        if self.kind == "hinge":
            return from_axis_angle(hinge_axis(self.limits), place[0])
        if self.kind == "free":
            return normalized(multiply(self.start, from_rotation_vector(_sum(self.turns, place))))
        direction = self._direction(place)
        twist = from_axis_angle(UNIT_Y, TWIST_EASE * place[2])
        local = multiply(shortest_arc(UNIT_Y, direction, UNIT_X), twist)
        return clamp(self.limits, local) if self.kind in {"x", "z"} else local

    def axes(self, place: Sequence[float]) -> list[Vec]:
        """The turn per unit of each coordinate."""
        if self.kind == "hinge":
            return [hinge_axis(self.limits)]
        if self.kind == "free":
            return [rotate(self.start, turn) for turn in self.turns]
        direction, slopes = self._direction(place), self._slopes(place)
        both, part = add(UNIT_Y, direction), 1.0 / max(1.0 + direction[1], FOLDED)
        return [*(scaled(cross(both, slope), part) for slope in slopes), scaled(direction, TWIST_EASE)]

    def bends(self, place: Sequence[float]) -> list[list[Vec]]:
        """How each axis (first index) changes with each coordinate."""
        count = len(self.bounds)
        if self.kind == "hinge":
            return [[ZERO]]
        if self.kind == "free":
            axes = self.axes(place)  # turns about sums of axes: half of what turning one after the other would change
            return [[scaled(cross(b, a), 0.5) for b in axes] for a in axes]
        here, rows = self.axes(place), [[ZERO] * count for _ in range(count)]
        for column in range(2):
            moved = list(place)
            moved[column] += NUDGE
            for row, (before, after) in enumerate(zip(here, self.axes(moved), strict=True)):
                rows[row][column] = scaled(subtract(after, before), 1.0 / NUDGE)
        return rows

    def _direction(self, place: Sequence[float]) -> Vec:
        a, b = place[0], place[1]
        if self.kind == "planes":
            return unit(_on_planes(a, b))
        if self.kind == "x":
            return -math.sin(b), math.cos(a) * math.cos(b), math.sin(a) * math.cos(b)
        if self.kind == "z":
            return -math.sin(a) * math.cos(b), math.cos(a) * math.cos(b), math.sin(b)
        return rotate(from_rotation_vector(_sum(self.turns, place)), rotate(self.start, UNIT_Y))

    def _slopes(self, place: Sequence[float]) -> tuple[Vec, Vec]:
        a, b = place[0], place[1]
        sin_a, cos_a, sin_b, cos_b = math.sin(a), math.cos(a), math.sin(b), math.cos(b)
        if self.kind == "planes":
            along = _on_planes(a, b)
            part, y = 1.0 / length(along), unit(along)
            first = (sin_a * sin_b, -sin_a * cos_b, cos_a * cos_b)
            second = (-cos_a * cos_b, -cos_a * sin_b, -sin_a * sin_b)
            return scaled(perpendicular_part(first, y), part), scaled(perpendicular_part(second, y), part)
        if self.kind == "x":
            return (0.0, -sin_a * cos_b, cos_a * cos_b), (-cos_b, -cos_a * sin_b, -sin_a * sin_b)
        if self.kind == "z":
            return (-cos_a * cos_b, -sin_a * cos_b, 0.0), (sin_a * sin_b, -cos_a * sin_b, cos_b)
        direction = self._direction(place)
        return cross(self.turns[0], direction), cross(self.turns[1], direction)


def _on_planes(x: float, z: float) -> Vec:
    """Along the direction whose swings are ``x`` and ``z``; not of length 1, but for a quarter turn of both not 0."""
    return -math.cos(x) * math.sin(z), math.cos(x) * math.cos(z), math.sin(x) * math.cos(z)


def turns(limits: JointLimits, step: Vec, may_roll: bool) -> tuple[Vec, ...]:
    """The directions (bone space) a free joint turns in, each as long as it turns easily in it; none for others.

    Args:
        step: its bone (bone space).
        may_roll: it may turn about its own bone (later joints have hinges that need it).
    """
    if limits.kind != JointKind.FREE:
        return ()
    along = unit(step) if step != ZERO else UNIT_Y
    first = any_perpendicular(along)
    swings = (first, cross(along, first))
    return (*swings, scaled(along, TWIST_EASE)) if may_roll else swings


def chart_of(limits: JointLimits, local: Quat, turns: Sequence[Vec]) -> Chart:
    """The chart of a joint that stands at ``local``, which has to be legal.

    Args:
        turns: directions that a free joint turns in (bone space), each as long as it turns easily in it.
    """
    if limits.kind == JointKind.FREE:
        return Chart("free", limits, tuple(turns), local, (0.0,) * len(turns), (NO_BOUNDS,) * len(turns))
    angles = measure(limits, local)
    if limits.kind == JointKind.HINGE:
        bounds = _bounds(limits.min_angle, limits.max_angle)
        return Chart("hinge", limits, (), local, (_inside(angles.hinge, bounds),), (bounds,))
    twist_bounds = _bounds(limits.twist_min, limits.twist_max)
    twist = _inside(_near(twist_of(local), twist_bounds), twist_bounds)
    last = (twist_bounds[0] / TWIST_EASE, twist_bounds[1] / TWIST_EASE)
    kind, own, places, swing_bounds = _swing_chart(limits, local)
    return Chart(kind, limits, own, local, (*places, twist / TWIST_EASE), (*swing_bounds, last))


def _swing_chart(
    limits: JointLimits, local: Quat
) -> tuple[str, tuple[Vec, ...], tuple[float, float], tuple[Bounds, Bounds]]:
    """Kind of chart, its turns, where the bone's direction is on it, and its bounds."""
    y = rotate(local, UNIT_Y)
    x_bounds = _bounds(limits.swing_x_min, limits.swing_x_max)
    z_bounds = _bounds(limits.swing_z_min, limits.swing_z_max)
    if x_bounds == NO_BOUNDS and z_bounds == NO_BOUNDS:
        first = any_perpendicular(y)
        return "swing", (first, cross(y, first)), (0.0, 0.0), (NO_BOUNDS, NO_BOUNDS)
    if min(_furthest(x_bounds), _furthest(z_bounds)) <= STEEPEST:
        both = _overlap(x_bounds, QUARTER), _overlap(z_bounds, QUARTER)
        return "planes", (), (_inside(math.atan2(y[2], y[1]), both[0]), _inside(math.atan2(-y[0], y[1]), both[1])), both
    if x_bounds[1] - x_bounds[0] <= z_bounds[1] - z_bounds[0]:
        angle = _near(math.atan2(y[2], y[1]), x_bounds)
        return "x", (), (_inside(angle, x_bounds), math.asin(max(-1.0, min(1.0, -y[0])))), (x_bounds, QUARTER)
    angle = _near(math.atan2(-y[0], y[1]), z_bounds)
    return "z", (), (_inside(angle, z_bounds), math.asin(max(-1.0, min(1.0, y[2])))), (z_bounds, QUARTER)


def _furthest(bounds: Bounds) -> float:
    return max(abs(bounds[0]), abs(bounds[1]))


def _overlap(bounds: Bounds, other: Bounds) -> Bounds:
    return max(bounds[0], other[0]), min(bounds[1], other[1])


def _bounds(low: float, high: float) -> Bounds:
    return NO_BOUNDS if is_full(low, high) else (low, high)


def _near(angle: float, bounds: Bounds) -> float:
    """The angle with the whole turns that bring it nearest to the middle of its bounds."""
    if bounds == NO_BOUNDS:
        return angle
    middle = 0.5 * (bounds[0] + bounds[1])
    return middle + math.remainder(angle - middle, 2.0 * math.pi)


def _inside(angle: float, bounds: Bounds) -> float:
    return min(max(angle, bounds[0]), bounds[1])


def _sum(vectors: Sequence[Vec], parts: Sequence[float]) -> Vec:
    total = ZERO
    for vector, part in zip(vectors, parts, strict=False):
        total = combined(total, 1.0, vector, part)
    return total
