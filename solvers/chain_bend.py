"""Which way a long chain bends: the side it shows in FK, and where target and pole take that side.

The rule is that of two bones (bend reference, pole near the line), with the mean offset of the inner joints in
the elbow's place. Nothing here bends a chain (``chain_start``) or knows limits; no bpy.

Space: armature. Units: armature units and radians.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mathutils import Vector

from .bend_plane import HINGE_FULL, HINGE_NONE, HINGE_WEIGHT
from .blending import rise
from .chain import Chain, Goal
from .chain_geometry import Row, angle_about, mean_offset, read, row_of
from .rotations import Quat, as_quat, from_axis_angle, from_frames, rotate, shortest_arc
from .two_bone import ON_ROOT, POLE_DOUBTFUL, POLE_EXACT, POLE_LOST
from .vectors import (
    UNIT_X,
    UNIT_Z,
    Vec,
    any_perpendicular,
    as_vec,
    combined,
    cross,
    length,
    perpendicular_part,
    subtract,
    unit,
)

NO_BEND = 1e-6
"""Part of the length under which an offset is rounding of float32 joints."""


@dataclass(frozen=True, slots=True)
class Bend:
    """A line and a side of it: unit vectors, ``axis`` is side x line; a turn about it bends the chain to the side."""

    line: Vec
    side: Vec
    axis: Vec


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a goal takes the chain's bend, and the rigid turn that does it."""

    bend: Bend
    turn: Quat
    distance: float
    is_on_root: bool
    is_pole_doubtful: bool


def pole_direction(chain: Chain) -> Vector:
    """Where a pole has to stand so that the chain bends as it does in FK.

    Space: armature; a unit vector at right angles to root -> end, to be added to any point of that line.
    Undefined input: a chain without length or bend still gives a fixed direction.
    """
    return Vector(fk_bend(chain, read(chain)).side)


def fk_bend(chain: Chain, row: Row) -> Bend:
    """The line root -> end of the FK pose and the side the chain bends to.

    Near straight the hinge stored with the chain decides, from 45 degrees the mean offset of the inner joints, as
    for two bones; so it doesn't flip where FK bends through straight.
    """
    line = _line(row)
    offset = mean_offset(row.points, line)
    angle = 2.0 * math.asin(min(1.0, 2.0 * length(offset) / row.total)) if row.total > 0.0 else 0.0
    hinge_part = HINGE_WEIGHT * (1.0 - rise(angle, HINGE_FULL, HINGE_NONE))
    own = cross(unit(offset), line)
    own_part = math.sin(angle) if angle < math.pi / 2.0 else 1.0
    hinge = _hinge(chain, line)
    fk_root = as_quat(chain.joints[0].fk)
    choices = (combined(hinge, hinge_part, own, own_part), hinge, rotate(fk_root, UNIT_X), rotate(fk_root, UNIT_Z))
    parts = (perpendicular_part(choice, line) for choice in choices)
    axis = next((unit(part) for part in parts if length(part) > NO_BEND), any_perpendicular(line))
    return Bend(line, cross(line, axis), axis)


def _line(row: Row) -> Vec:
    step = subtract(row.points[-1], row.root)
    return unit(step) if length(step) > ON_ROOT * row.total else row.directions[0]


def _hinge(chain: Chain, line: Vec) -> Vec:
    """Unit hinge axis: the stored one, else that of the rest bend, else local X of the root bone."""
    fk_root = as_quat(chain.joints[0].fk)
    stored = as_vec(chain.bend_axis)
    if length(stored) > 0.0:
        return rotate(fk_root, unit(stored))
    return _rest_hinge(chain, line) or rotate(fk_root, UNIT_X)


def _rest_hinge(chain: Chain, line: Vec) -> Vec | None:
    if len(chain.rest_heads) < 3:
        return None
    rest = row_of([as_vec(head) for head in chain.rest_heads], (True,) * (len(chain.rest_heads) - 1))
    rest_line = _line(rest)
    offset = mean_offset(rest.points, rest_line)
    if length(offset) <= NO_BEND * rest.total:
        return None
    axis = cross(unit(offset), rest_line)
    return rotate(shortest_arc(rest_line, line, axis), axis)


def aim(bend: Bend, row: Row, goal: Goal) -> Aim:
    """Turn the FK bend to the goal's target, then its side to the goal's pole, then by the pole angle.

    Without a pole the side goes along with the shortest turn of the line. Undefined input: a target on the
    root (nearer than ``ON_ROOT``) leaves the line where FK has it.
    """
    step = subtract(as_vec(goal.target), row.root)
    distance = length(step)
    is_on_root = distance <= ON_ROOT * row.total
    line = bend.line if is_on_root else unit(step)
    free_side = rotate(shortest_arc(bend.line, line, bend.axis), bend.side)
    turn, is_doubtful = _pole_turn(line, free_side, row, goal)
    side = unit(perpendicular_part(rotate(from_axis_angle(line, turn + goal.pole_angle), free_side), line))
    to = Bend(line, side, cross(side, line))
    quat = from_frames(bend.line, bend.side, bend.axis, to.line, to.side, to.axis)
    return Aim(to, quat, distance, is_on_root, is_doubtful)


def _pole_turn(line: Vec, side: Vec, row: Row, goal: Goal) -> tuple[float, bool]:
    """Angle about ``line`` from ``side`` to the pole, and whether the pole is too near the line to be trusted."""
    if goal.pole is None:
        return 0.0, False
    beside = perpendicular_part(subtract(as_vec(goal.pole), row.root), line)
    distance = length(beside) / row.total
    if distance <= POLE_LOST:
        return 0.0, True
    return angle_about(line, side, unit(beside)) * rise(distance, POLE_LOST, POLE_EXACT), distance < POLE_DOUBTFUL
