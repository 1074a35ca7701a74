"""A chain as plain doubles: points, lengths, directions, and the turns that take it to other directions.

What every solver of long chains needs and no more: nothing here knows targets, poles or limits (no bpy).

Space: armature, all of it. Units: armature units and radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mathutils import Quaternion

from .chain import Chain
from .rotations import IDENTITY, Quat, as_quat, multiply, normalized, rotate, shortest_arc
from .vectors import UNIT_Z, ZERO, Vec, add, as_vec, combined, cross, dot, length, scaled, subtract, unit

NO_LENGTH = 1e-9
"""Part of the chain's length under which a bone has no direction: float32 joints are apart by 6e-8 or not at all."""


@dataclass(frozen=True, slots=True)
class Row:
    """The joints of a chain in its FK pose, root to tip, and its end.

    ``points`` has one entry more than the others. ``directions`` are unit vectors; a bone without
    length takes that of the bone before it (leading ones: of the first that has one).
    """

    points: tuple[Vec, ...]
    lengths: tuple[float, ...]
    directions: tuple[Vec, ...]
    follows: tuple[bool, ...]
    total: float

    @property
    def root(self) -> Vec:
        """Head of the root bone."""
        return self.points[0]


def read(chain: Chain) -> Row:
    """The FK pose of ``chain``. Undefined input: coincident joints get the directions that ``Row`` names."""
    points = (*(as_vec(joint.head) for joint in chain.joints), as_vec(chain.end))
    return row_of(points, tuple(joint.follows_parent for joint in chain.joints))


def row_of(points: Sequence[Vec], follows: tuple[bool, ...]) -> Row:
    """The row whose joints and end are ``points``."""
    steps = [subtract(after, before) for before, after in pairwise(points)]
    lengths = tuple(length(step) for step in steps)
    total = math.fsum(lengths)
    known = [unit(step) if size > NO_LENGTH * total else ZERO for step, size in zip(steps, lengths, strict=True)]
    return Row(tuple(points), lengths, _filled(known), follows, total)


def _filled(directions: Sequence[Vec]) -> tuple[Vec, ...]:
    current = next((direction for direction in directions if direction != ZERO), UNIT_Z)
    filled = []
    for direction in directions:
        current = direction if direction != ZERO else current
        filled.append(current)
    return tuple(filled)


def placed(root: Vec, directions: Sequence[Vec], lengths: Sequence[float]) -> tuple[Vec, ...]:
    """Joints and end of a chain from ``root`` along ``directions``."""
    points = [root]
    for direction, size in zip(directions, lengths, strict=True):
        points.append(combined(points[-1], 1.0, direction, size))
    return tuple(points)


def turned(quat: Quat, directions: Sequence[Vec]) -> tuple[Vec, ...]:
    """Every one of ``directions`` turned by ``quat``."""
    return tuple(rotate(quat, direction) for direction in directions)


def posed(row: Row, deltas: Sequence[Quat]) -> tuple[Vec, ...]:
    """Joints and end where each bone of ``row`` is turned by its own one of ``deltas``."""
    steps = (subtract(after, before) for before, after in pairwise(row.points))
    points = [row.root]
    for step, delta in zip(steps, deltas, strict=True):
        points.append(add(points[-1], rotate(delta, step)))
    return tuple(points)


def swings(row: Row, turn: Quat, directions: Sequence[Vec], bend_axis: Vec) -> tuple[Quat, ...]:
    """The turn of each bone that brings the FK directions onto ``directions`` without roll.

    The root bone goes along with ``turn`` and swings the rest of the way; each other bone goes along with the
    bone before it (where it follows that) and swings the rest, perpendicular to its own direction.

    Args:
        turn: the rigid turn of the whole chain.
        directions: unit vectors.
        bend_axis: the axis of a swing by exactly half a turn.
    """
    deltas: list[Quat] = []
    base = turn
    for fk_direction, direction, follows in zip(row.directions, directions, row.follows, strict=True):
        if deltas:
            base = deltas[-1] if follows else IDENTITY
        swing = shortest_arc(unit(rotate(base, fk_direction)), direction, bend_axis)
        deltas.append(normalized(multiply(swing, base)))
    return tuple(deltas)


def angle_about(axis: Vec, start: Vec, end: Vec) -> float:
    """Signed angle (-pi to pi) about the unit vector ``axis`` from ``start`` to ``end``, both perpendicular to it."""
    return math.atan2(dot(cross(start, end), axis), dot(start, end))


def mean_offset(points: Sequence[Vec], direction: Vec) -> Vec:
    """Mean of what the inner joints lie beside the line through the first point along the unit ``direction``."""
    offsets = _offsets(points, direction)
    total = ZERO
    for offset in offsets:
        total = add(total, offset)
    return scaled(total, 1.0 / max(1, len(offsets)))


def spread(points: Sequence[Vec], direction: Vec) -> float:
    """Root mean square of what the inner joints lie beside that line: how far the chain stands out."""
    offsets = _offsets(points, direction)
    return math.sqrt(math.fsum(dot(offset, offset) for offset in offsets) / max(1, len(offsets)))


def _offsets(points: Sequence[Vec], direction: Vec) -> list[Vec]:
    steps = (subtract(point, points[0]) for point in points[1:-1])
    return [combined(step, 1.0, direction, -dot(step, direction)) for step in steps]


def start_row(row: Row, start: Sequence[Quaternion] | None) -> Row:
    """``row`` in the pose that the deltas ``start`` give it; ``row`` itself for None."""
    if start is None:
        return row
    deltas = [normalized(as_quat(delta)) for delta in start]
    return row_of(posed(row, deltas), row.follows)
