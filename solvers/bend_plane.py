"""A two-bone limb and the plane it bends in: from FK joints to the turns that pose it.

Geometry only: it takes a line, a side and a distance as given. Which ones to ask
for, what counts as reached (``two_bone``) and what joints allow (``two_bone_limits``)
is not decided here. No Blender data (no bpy), no memory from frame to frame.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .blending import smoothstep
from .chain import Chain
from .planar import clamped_reach, triangle
from .rotations import Quat, as_quat, conjugate, from_frames, multiply, rotate, shortest_arc
from .vectors import (
    TINY,
    UNIT_X,
    UNIT_Y,
    UNIT_Z,
    ZERO,
    Vec,
    as_vec,
    combined,
    cross,
    dot,
    perpendicular_part,
    scaled,
    subtract,
    unit,
)

HINGE_WEIGHT = math.sin(math.radians(25.0))
"""Weight of the hinge near straight: a hyperextension of up to 25 degrees then can't turn the bend plane over."""
HINGE_FULL = math.radians(20.0)
HINGE_NONE = math.radians(45.0)
"""From here on the FK bend alone says where the limb bends; up to ``HINGE_FULL`` the hinge has its full weight."""
NO_DIRECTION = 1e-6
"""Part of a unit length under which a direction made of float32 joints is noise."""
OFFSET_CUT = math.radians(-150.0)
"""Where the elbow's offset jumps by a turn: far from 0 (on the reference) and from 180 degrees (hyperextension)."""
OFFSET_FADE = 0.03
"""Part of the limb's length that the elbow stands out further than in FK when it has turned to the pole."""
OFFSET_FADE_RATIO = 3.0
"""The same against FK's own height, for nearly straight FK: else the elbow would jump where FK passes straight."""
STRAIGHT_REST = 1e-3
"""Bend (rad) under which rest joints count as straight; modelled bends are a hundred times as large."""


class FKLimb(NamedTuple):
    """A two-bone limb in its FK pose.

    Space: armature. ``line`` (root to end), ``side`` (where the limb bends to) and ``normal`` (the hinge:
    ``side x line``) are unit and at right angles. ``along`` and ``height`` place the FK elbow on and off the line;
    ``offset`` is its angle from ``side`` about ``line`` in radians (180 degrees: hyperextended).
    ``upper`` and ``lower`` are distances between joints, ``distance`` that from root to end.
    """

    root: Vec
    upper: float
    lower: float
    line: Vec
    side: Vec
    normal: Vec
    distance: float
    along: float
    height: float
    offset: float

    @property
    def length(self) -> float:
        """Length of the limb when straight."""
        return self.upper + self.lower


class Turns(NamedTuple):
    """What poses the limb: turns of the two bones from FK, as ``Solution.deltas`` but in doubles."""

    upper: Quat
    lower: Quat


def fk_limb(chain: Chain) -> FKLimb:
    """Measure a chain of two joints in FK.

    Undefined input: a bone of no length takes the other's direction (two such: the root bone's Y); a limb folded
    onto its root has its line at right angles to the bones; a hinge along the line gives way to the root bone's X, Z.
    """
    root_joint, mid_joint = chain.joints
    root, mid, end = as_vec(root_joint.head), as_vec(mid_joint.head), as_vec(chain.end)
    to_mid, to_end, mid_to_end = subtract(mid, root), subtract(end, root), subtract(end, mid)
    upper, lower, distance = math.hypot(*to_mid), math.hypot(*mid_to_end), math.hypot(*to_end)
    fk = as_quat(root_joint.fk)
    stored = unit(as_vec(chain.bend_axis))
    hinge = rotate(fk, UNIT_X if stored == ZERO else stored)
    first, second = _directions(to_mid, mid_to_end, fk)
    if distance > NO_DIRECTION * (upper + lower):
        line = scaled(to_end, 1.0 / distance)
    else:
        line = cross(right_angle(first, hinge, fk), first)
    normal = _bend_normal(first, second, line, hinge, fk)
    side = cross(line, normal)
    out = perpendicular_part(to_mid, line)
    offset = math.atan2(-dot(out, normal), dot(out, side))
    if offset < OFFSET_CUT:
        offset += 2.0 * math.pi
    return FKLimb(root, upper, lower, line, side, normal, distance, dot(to_mid, line), math.hypot(*out), offset)


def _directions(to_mid: Vec, mid_to_end: Vec, fk: Quat) -> tuple[Vec, Vec]:
    first, second = unit(to_mid), unit(mid_to_end)
    if first == ZERO:
        first = rotate(fk, UNIT_Y) if second == ZERO else second
    return first, first if second == ZERO else second


def _bend_normal(first: Vec, second: Vec, line: Vec, hinge: Vec, fk: Quat) -> Vec:
    """Hinge near straight, normal of the FK bend from 45 degrees up: it never changes sign with the bend."""
    bend = cross(first, second)
    angle = math.atan2(math.hypot(*bend), dot(first, second))
    if angle >= HINGE_NONE:
        mixed = bend
    else:
        weight = HINGE_WEIGHT * (1.0 - smoothstep((angle - HINGE_FULL) / (HINGE_NONE - HINGE_FULL)))
        mixed = combined(hinge, weight, bend, 1.0)
    part = perpendicular_part(mixed, line)
    return unit(part) if math.hypot(*part) > NO_DIRECTION else right_angle(line, hinge, fk)


def right_angle(direction: Vec, hinge: Vec, fk: Quat) -> Vec:
    """The hinge, or else the bone's X or Z, made perpendicular to ``direction``."""
    for axis in (hinge, rotate(fk, UNIT_X)):
        part = perpendicular_part(axis, direction)
        if math.hypot(*part) > NO_DIRECTION:
            return unit(part)
    return unit(perpendicular_part(rotate(fk, UNIT_Z), direction))


def carried_side(fk: FKLimb, line: Vec) -> Vec:
    """FK's side on another line (unit): turned by the shortest swing from FK's line, about the hinge where opposite."""
    return rotate(shortest_arc(fk.line, line, fk.normal), fk.side)


def swivelled(side: Vec, line: Vec, angle: float) -> Vec:
    """``side`` turned by ``angle`` (radians) about ``line``."""
    return combined(side, math.cos(angle), cross(line, side), math.sin(angle)) if angle != 0.0 else side


def solved_triangle(fk: FKLimb, distance: float) -> tuple[float, float]:
    """The elbow's place along and its height off the line for a distance within reach; at FK's own exactly FK's."""
    if distance == fk.distance:
        return fk.along, fk.height
    return triangle(fk.upper, fk.lower, distance)


def kept_offset(fk: FKLimb, height: float) -> float:
    """FK's elbow angle about the line while the elbow stands no further out than in FK, fading to 0 further out."""
    excess = height - fk.height
    if excess <= 0.0 or fk.offset == 0.0:
        return fk.offset
    fade = min(fk.height + OFFSET_FADE * fk.length, OFFSET_FADE_RATIO * fk.height)
    return fk.offset * (1.0 - smoothstep(excess / fade)) if excess < fade else 0.0


def limb_turns(fk: FKLimb, line: Vec, side: Vec, distance: float) -> Turns:
    """Turns that put the end at ``root + distance * line`` with the bend to ``side``.

    The limb turns as a rigid whole from FK's line and side to the asked ones; then each bone swings, without roll,
    onto its side of the triangle. Roll follows ``side`` alone, and at FK's distance FK's shape stays exactly.

    Space: armature; ``line`` and ``side`` are unit and at right angles.
    Undefined input: a distance out of reach is clamped; a bone of no length turns with the whole.
    Source: design of Limb IK, "Two bones".
    """
    normal = cross(side, line)
    whole = from_frames(fk.line, fk.side, fk.normal, line, side, normal)
    along, height = solved_triangle(fk, distance)
    offset = kept_offset(fk, height)
    if distance == fk.distance and offset == fk.offset:
        return Turns(whole, whole)
    before, after = swivelled(side, line, fk.offset), swivelled(side, line, offset)
    upper_before = combined(line, fk.along, before, fk.height)
    lower_before = combined(line, fk.distance - fk.along, before, -fk.height)
    lower_along = clamped_reach(distance, fk.upper, fk.lower) - along
    upper_after = combined(line, along, after, height)
    lower_after = combined(line, lower_along, after, -height)
    return Turns(_swung(whole, upper_before, upper_after, normal), _swung(whole, lower_before, lower_after, normal))


def _swung(whole: Quat, before: Vec, after: Vec, hinge: Vec) -> Quat:
    if math.hypot(*before) <= TINY or math.hypot(*after) <= TINY:
        return whole
    return multiply(shortest_arc(unit(before), unit(after), hinge), whole)


def rest_bend_axis(root: Vec, mid: Vec, end: Vec, root_orientation: Quat) -> Vec:
    """The hinge that a limb's rest joints show, for a chain that stores none.

    Space: joints and ``root_orientation`` (of the root bone) in armature space at rest; the answer, unit, in the
    root bone's local space. Undefined input: a limb straight to 1e-3 rad shows no hinge; local +X is the answer.
    """
    bend = cross(unit(subtract(mid, root)), unit(subtract(end, mid)))
    if math.hypot(*bend) < STRAIGHT_REST:
        return UNIT_X
    return rotate(conjugate(root_orientation), unit(bend))
