"""Vectors as tuples of Python floats: doubles, where mathutils keeps float32.

Plain arithmetic and nothing else: no rotations (``rotations``), no limbs, no bpy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Protocol

Vec = tuple[float, float, float]


class Indexed(Protocol):
    """Numbers by index: what is known of mathutils' types without bpy."""

    def __getitem__(self, index: int, /) -> float: ...


Numbers = Iterable[float] | Indexed
"""A row of numbers: a ``mathutils`` type, a tuple, anything that can be unpacked."""

ZERO: Vec = (0.0, 0.0, 0.0)
TINY = 1e-150
"""Length under which a vector counts as zero: near the smallest doubles quotients lose their figures."""
UNIT_X: Vec = (1.0, 0.0, 0.0)
UNIT_Y: Vec = (0.0, 1.0, 0.0)
UNIT_Z: Vec = (0.0, 0.0, 1.0)


def as_vec(values: Numbers) -> Vec:
    """The three numbers of a ``mathutils.Vector`` or any other row of three."""
    row: Any = values
    x, y, z = row
    return x, y, z


def add(a: Vec, b: Vec) -> Vec:
    """Sum."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def subtract(a: Vec, b: Vec) -> Vec:
    """``a`` - ``b``: from ``b`` to ``a``."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scaled(v: Vec, factor: float) -> Vec:
    """``v`` times a number."""
    return v[0] * factor, v[1] * factor, v[2] * factor


def combined(a: Vec, part_a: float, b: Vec, part_b: float) -> Vec:
    """``part_a * a + part_b * b``."""
    return a[0] * part_a + b[0] * part_b, a[1] * part_a + b[1] * part_b, a[2] * part_a + b[2] * part_b


def dot(a: Vec, b: Vec) -> float:
    """Dot product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec, b: Vec) -> Vec:
    """Cross product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def length(v: Vec) -> float:
    """Length."""
    return math.hypot(v[0], v[1], v[2])


def unit(v: Vec) -> Vec:
    """``v`` at length 1. Undefined input: the zero vector comes back as it is."""
    size = math.hypot(v[0], v[1], v[2])
    return (v[0] / size, v[1] / size, v[2] / size) if size > TINY else ZERO


def perpendicular_part(v: Vec, direction: Vec) -> Vec:
    """What is left of ``v`` at right angles to the unit vector ``direction``."""
    along = v[0] * direction[0] + v[1] * direction[1] + v[2] * direction[2]
    return v[0] - direction[0] * along, v[1] - direction[1] * along, v[2] - direction[2] * along


def any_perpendicular(direction: Vec) -> Vec:
    """A unit vector at right angles to the unit vector ``direction``; always the same one.

    It lies in the plane of ``direction`` and the axis that ``direction`` is furthest from.
    """
    sizes = [abs(part) for part in direction]
    axis = (UNIT_X, UNIT_Y, UNIT_Z)[sizes.index(min(sizes))]
    return unit(perpendicular_part(axis, direction))
