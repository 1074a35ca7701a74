"""How one joint with limits turns: the directions it may take, the bounds it stands at, and a turn made legal.

A turn is a rotation vector in bone space. A ball joint's is taken apart into what it does to the bone's direction and
to its twist, so that its bounds, planes and a range, are straight in turns. Nothing here knows chains; no bpy.

Space: ``local`` rotations in the joint's rest frame, turns in bone space. Units: radians.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from .chain import JointKind, JointLimits
from .joint_limits import (
    ROUNDING,
    clamp,
    clamped_direction,
    hinge_axis,
    into_range,
    is_full,
    measure,
    outside,
    swing_angles,
    swing_excess,
    twist_of,
)
from .rotations import (
    Quat,
    conjugate,
    from_axis_angle,
    from_rotation_vector,
    multiply,
    normalized,
    rotate,
    shortest_arc,
    to_rotation_vector,
)
from .vectors import (
    UNIT_X,
    UNIT_Y,
    ZERO,
    Vec,
    any_perpendicular,
    cross,
    dot,
    perpendicular_part,
    scaled,
    subtract,
    unit,
)

TWIST_EASE = 0.3
"""Ease of turning about the bone itself against swinging: low, since roll shows; not 0, since hinges need it."""
AT_STOP = 1e-7
"""Radians within which a joint counts as standing at a bound."""
FOLDED = 1e-3
"""Cosine of half the swing under which twist isn't defined well enough to be followed."""


def turns(limits: JointLimits, step: Vec, may_roll: bool) -> tuple[Vec, ...]:
    """The directions a joint turns in, each as long as it turns easily in it.

    Args:
        step: its bone (bone space).
        may_roll: a free joint may turn about its own bone (later joints have hinges that need it).
    """
    if limits.kind == JointKind.HINGE:
        return (hinge_axis(limits),)
    along = unit(step) if step != ZERO else UNIT_Y
    first = any_perpendicular(along)
    swings = (first, cross(along, first))
    return (*swings, scaled(along, TWIST_EASE)) if limits.kind == JointKind.BALL or may_roll else swings


def turned(limits: JointLimits, local: Quat, turn: Vec) -> tuple[Quat, Vec]:
    """``local`` turned by ``turn`` and made legal, and the part of the turn that limits refused."""
    if turn == ZERO:
        return local, ZERO
    wanted, legal = _ball_turned(limits, local, turn) if limits.kind == JointKind.BALL else _turned(limits, local, turn)
    if wanted == legal:
        return legal, ZERO
    back = conjugate(local)
    refused = subtract(to_rotation_vector(multiply(back, wanted)), to_rotation_vector(multiply(back, legal)))
    return legal, refused


def _turned(limits: JointLimits, local: Quat, turn: Vec) -> tuple[Quat, Quat]:
    wanted = normalized(multiply(local, from_rotation_vector(turn)))
    return wanted, clamp(limits, wanted)


def _ball_turned(limits: JointLimits, local: Quat, turn: Vec) -> tuple[Quat, Quat]:
    slope = _twist_slope(local)
    if slope is None:
        return _turned(limits, local, turn)
    direction, twist = _swung(local, turn), twist_of(local) + dot(slope, turn)
    legal_direction = _legal_direction(limits, direction)
    legal_twist = into_range(twist, limits.twist_min, limits.twist_max)
    wanted = _of_parts(direction, twist)
    is_legal = (legal_direction, legal_twist) == (direction, twist)
    return wanted, wanted if is_legal else _of_parts(legal_direction, legal_twist)


def _swung(local: Quat, turn: Vec) -> Vec:
    """The bone's direction in the rest frame after ``turn``, whose part about the bone doesn't move it."""
    return rotate(local, rotate(from_rotation_vector((turn[0], 0.0, turn[2])), UNIT_Y))


def _of_parts(direction: Vec, twist: float) -> Quat:
    return multiply(shortest_arc(UNIT_Y, unit(direction), UNIT_X), from_axis_angle(UNIT_Y, twist))


def _twist_slope(local: Quat) -> Vec | None:
    """How the twist grows with a turn; None where the bone is folded back so far that it has no twist."""
    w, x, y, z = local
    size = w * w + y * y
    return scaled((w * z + y * x, size, y * z - w * x), 1.0 / size) if size > FOLDED**2 else None


def _legal_direction(limits: JointLimits, direction: Vec) -> Vec:
    """As ``clamped_direction``, quicker where the nearest legal direction lies inside of one bound."""
    if swing_excess(limits, direction) == 0.0:
        return direction
    feet = []
    for which, (low, high) in enumerate(_swing_ranges(limits)):
        over = outside(swing_angles(direction)[which], low, high)
        if over != 0.0:
            feet.append(unit(perpendicular_part(direction, _normal(which, high if over > 0.0 else low))))
    legal = [foot for foot in feet if swing_excess(limits, foot) <= ROUNDING]
    return max(legal, key=lambda foot: dot(foot, direction)) if legal else clamped_direction(limits, direction)


def _swing_ranges(limits: JointLimits) -> tuple[tuple[float, float], tuple[float, float]]:
    return (limits.swing_x_min, limits.swing_x_max), (limits.swing_z_min, limits.swing_z_max)


def _normal(which: int, angle: float) -> Vec:
    """Normal (rest frame) of a swing bound's plane, on the side where swing_x (0) or swing_z (1) grows."""
    if which == 0:
        return 0.0, -math.sin(angle), math.cos(angle)
    return -math.cos(angle), -math.sin(angle), 0.0


def stops(limits: JointLimits, local: Quat) -> tuple[Vec, ...]:
    """Unit turns that lead straight out of the bounds a joint stands at."""
    if limits.kind == JointKind.FREE:
        return ()
    if limits.kind == JointKind.HINGE:
        sides = _sides(measure(limits, local).hinge, limits.min_angle, limits.max_angle)
        return tuple(scaled(hinge_axis(limits), side) for side in sides)
    slope = _twist_slope(local)
    found = []
    if slope is not None:
        sides = _sides(twist_of(local), limits.twist_min, limits.twist_max)
        found += [scaled(unit(slope), side) for side in sides]
    angles = swing_angles(rotate(local, UNIT_Y))
    for which, (low, high) in enumerate(_swing_ranges(limits)):
        for side in _sides(angles[which], low, high):
            normal = scaled(_normal(which, high if side > 0.0 else low), side)
            found.append(unit(cross(UNIT_Y, rotate(conjugate(local), normal))))
    return tuple(found)


def _sides(angle: float, low: float, high: float) -> Iterator[float]:
    """1 where ``angle`` stands at ``high``, -1 at ``low``; both where the range has no width."""
    if is_full(low, high):
        return
    if outside(angle + AT_STOP, low, high) > 0.0 or high - low <= AT_STOP:
        yield 1.0
    if outside(angle - AT_STOP, low, high) < 0.0 or high - low <= AT_STOP:
        yield -1.0
