"""The plane a creature's leg bends in, and to which side each of its joints bends at rest.

As ``bend_plane`` is for two bones; here the bends of all joints count. No targets, no Blender data (no bpy).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from .bend_plane import HINGE_FULL, HINGE_NONE, HINGE_WEIGHT, NO_DIRECTION, FKLimb, right_angle
from .blending import smoothstep
from .chain import Chain
from .rotations import Quat, as_quat, normalized, rotate, shortest_arc, to_rotation_vector
from .vectors import (
    UNIT_X,
    UNIT_Y,
    ZERO,
    Vec,
    as_vec,
    combined,
    cross,
    dot,
    length,
    perpendicular_part,
    scaled,
    subtract,
    unit,
)

STRAIGHT = math.radians(3.0)
"""FK bend under which a joint takes its zig-zag sign from rest, more and more; also how fast the straightest bends."""
REST_SIGN = math.radians(0.5)
"""Rest bend under which a joint shows no sign; it then bends against the joint before it."""


def directions_of(points: Sequence[Vec], fallback: Vec) -> list[Vec]:
    """Unit directions from point to point; what has no length takes that of the bone before, or ``fallback``."""
    found = [unit(subtract(b, a)) for a, b in pairwise(points)]
    before = next((direction for direction in found if direction != ZERO), fallback)
    for index, direction in enumerate(found):
        before = found[index] = before if direction == ZERO else direction
    return found


def swing_between(before: Vec, after: Vec, fallback_axis: Vec) -> Vec:
    """The turn without roll from one unit direction to another, as a rotation vector."""
    return to_rotation_vector(shortest_arc(before, after, fallback_axis))


def rest_ratios(chain: Chain) -> list[float]:
    """How far and to which side each inner joint bends at rest, against the one that bends most.

    Positive: as the leg does that has its first inner joint where it stands off the line root to end at rest; so
    does ``Chain.bend_axis`` (``bend_plane.rest_bend_axis`` of root, first inner joint and end).
    Undefined input: a joint straight at rest bends against the one before, a little; without rest, to and fro.
    """
    count = len(chain.joints) - 1
    if len(chain.rest_heads) != count + 2:
        return [(-1.0) ** index for index in range(count)]
    points = [as_vec(point) for point in chain.rest_heads]
    directions = directions_of(points, UNIT_Y)
    swings = [swing_between(before, after, ZERO) for before, after in pairwise(directions)]
    axis = _rest_axis(points, directions[0], swings)
    sizes = [max(length(swing), STRAIGHT) for swing in swings]
    ratios, sign = [], -1.0
    for swing, size in zip(swings, sizes, strict=True):
        sign = math.copysign(1.0, dot(swing, axis)) if length(swing) >= REST_SIGN else -sign
        ratios.append(sign * size / max(sizes))
    return ratios


def _rest_axis(points: Sequence[Vec], first: Vec, swings: Sequence[Vec]) -> Vec:
    """The hinge of root, first inner joint and end; where these are in line, that of the first joint that is bent."""
    stands_off = swing_between(first, unit(subtract(points[-1], points[1])), ZERO)
    return next((unit(swing) for swing in (stands_off, *swings) if length(swing) >= REST_SIGN), ZERO)


def plane_of(chain: Chain, points: Sequence[Vec], swings: Sequence[Vec], ratios: Sequence[float]) -> FKLimb:
    """The plane a leg bends in, as of a two-bone limb; the bend is that of all joints, signs as at rest."""
    fk = normalized(as_quat(chain.joints[0].fk))
    hinge = rotate(fk, unit(as_vec(chain.bend_axis)) if any(as_vec(chain.bend_axis)) else UNIT_X)
    bend = ZERO
    for swing, ratio in zip(swings, ratios, strict=True):
        bend = combined(bend, 1.0, swing, math.copysign(1.0, ratio))
    total = sum(length(subtract(b, a)) for a, b in pairwise(points))
    to_end = subtract(points[-1], points[0])
    distance = length(to_end)
    first = unit(subtract(points[1], points[0]))
    if distance > NO_DIRECTION * total:
        line = scaled(to_end, 1.0 / distance)
    else:
        line = unit(cross(right_angle(first, hinge, fk), first)) if first != ZERO else rotate(fk, UNIT_Y)
    normal = _normal(bend, line, hinge, fk)
    side = cross(line, normal)
    half = 0.5 * total
    return FKLimb(points[0], half, half, line, side, normal, distance, 0.0, 0.0, 0.0)


def _normal(bend: Vec, line: Vec, hinge: Vec, fk: Quat) -> Vec:
    """As for two bones: the hinge near straight, the normal of the bends from 45 degrees up."""
    angle = length(bend)
    weight = HINGE_WEIGHT * (1.0 - smoothstep((angle - HINGE_FULL) / (HINGE_NONE - HINGE_FULL)))
    mixed = combined(hinge, weight, unit(bend), math.sin(min(angle, 0.5 * math.pi)))
    part = perpendicular_part(mixed, line)
    return unit(part) if length(part) > NO_DIRECTION else right_angle(line, hinge, fk)
