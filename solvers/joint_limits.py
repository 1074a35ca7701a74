"""Limits of one joint: measured, tested and clamped; used by every solver.

A joint's rotation is its local rotation, from the bone's rest frame (``frame`` of a
``chain.Joint``), as a unit quaternion of doubles. Nothing here knows chains, targets
or Blender's data (no bpy).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from .chain import JointKind, JointLimits
from .rotations import Quat, conjugate, from_axis_angle, multiply, rotate, shortest_arc
from .vectors import UNIT_X, UNIT_Y, Vec, as_vec, dot, length, perpendicular_part, unit

TWO_PI = 2.0 * math.pi

FULL_TURN = TWO_PI - 1e-6
"""Width (rad) from which a range binds nothing: -180°…180° typed in degrees and kept in float32 must count."""
ROUNDING = 1e-9
"""Radians that doubles lose between a bound and a pose put on it; far below anything visible."""
AT_BOUND = 1e-4
"""Radians from a bound within which a joint counts as standing at it, for messages: clamped poses are float32."""
NO_DIRECTION = 1e-12
"""Length, as a part of a unit vector or quaternion, under which a direction is rounding noise."""


@dataclass(frozen=True, slots=True)
class JointAngles:
    """What limits bind. Units: radians, from rest; ``off_axis`` is what the joint turns off its hinge."""

    hinge: float
    off_axis: float
    swing_x: float
    swing_z: float
    twist: float


@dataclass(frozen=True, slots=True)
class Stop:
    """A bound that a joint stands at. ``angle``: the bound in radians."""

    name: str
    angle: float


def hinge_axis(limits: JointLimits) -> Vec:
    """Unit axis of the hinge. Space: rest frame. Undefined input: an axis of no length counts as X."""
    axis = unit(as_vec(limits.hinge_axis))
    return axis if dot(axis, axis) > 0.0 else UNIT_X


def is_full(low: float, high: float) -> bool:
    """Whether a range holds every angle."""
    return high - low >= FULL_TURN


def outside(angle: float, low: float, high: float) -> float:
    """How far ``angle`` is outside a range, whole turns aside: 0 inside, negative below, positive above.

    Units: radians. The range may lie anywhere (-225°…-135°, 170°…190°).
    """
    if is_full(low, high):
        return 0.0
    apart = math.remainder(angle - 0.5 * (low + high), TWO_PI)
    half = 0.5 * (high - low)
    return max(apart - half, 0.0) + min(apart + half, 0.0)


def into_range(angle: float, low: float, high: float) -> float:
    """The angle of a range nearest to ``angle``, written as the range writes it (200°, not -160°, in 170°…210°)."""
    if is_full(low, high) and low <= angle <= high:
        return angle
    centre, half = 0.5 * (low + high), 0.5 * (high - low)
    return centre + min(max(math.remainder(angle - centre, TWO_PI), -half), half)


def as_range_writes(angle: float, low: float, high: float) -> float:
    """``angle`` with the whole turns that bring it nearest to the middle of the range."""
    centre = 0.5 * (low + high)
    return centre + math.remainder(angle - centre, TWO_PI)


def swing_angles(direction: Vec) -> tuple[float, float]:
    """``(swing_x, swing_z)`` of a bone's Y. Space: rest frame. Undefined input: Y along X has no swing_x (0)."""
    return math.atan2(direction[2], direction[1]), math.atan2(-direction[0], direction[1])


def measure(limits: JointLimits, local: Quat) -> JointAngles:
    """The angles of a local rotation that the limits speak of.

    Space: rest frame. Units: radians; ``hinge`` with the whole turns that bring it nearest to its range,
    the others -180° to 180°. Undefined input: a swing of 180° has no twist (0).
    """
    axis = hinge_axis(limits)
    sine = local[1] * axis[0] + local[2] * axis[1] + local[3] * axis[2]
    hinge = as_range_writes(2.0 * math.atan2(sine, local[0]), limits.min_angle, limits.max_angle)
    off = length(perpendicular_part((local[1], local[2], local[3]), axis))
    swing_x, swing_z = swing_angles(rotate(local, UNIT_Y))
    return JointAngles(hinge, 2.0 * math.asin(min(off, 1.0)), swing_x, swing_z, twist_of(local))


def twist_of(local: Quat) -> float:
    """Twist about the bone's Y, -180° to 180°. Undefined input: 0 where the swing is 180°."""
    if math.hypot(local[0], local[2]) < NO_DIRECTION:
        return 0.0
    return math.remainder(2.0 * math.atan2(local[2], local[0]), TWO_PI)


def swing_excess(limits: JointLimits, direction: Vec) -> float:
    """How far a bone's Y is outside the swing planes: sine of the angle to the worst; 0 inside. Space: rest frame."""
    swing_x, swing_z = swing_angles(direction)
    over_x = abs(outside(swing_x, limits.swing_x_min, limits.swing_x_max))
    over_z = abs(outside(swing_z, limits.swing_z_min, limits.swing_z_max))
    size_x, size_z = math.hypot(direction[1], direction[2]), math.hypot(direction[0], direction[1])
    return max(size_x * math.sin(min(over_x, 0.5 * math.pi)), size_z * math.sin(min(over_z, 0.5 * math.pi)))


def excess(limits: JointLimits, local: Quat) -> float:
    """How far a local rotation is outside its limits; 0 where it is legal. Units: radians (small ones exactly)."""
    if limits.kind == JointKind.HINGE:
        angles = measure(limits, local)
        return max(angles.off_axis, abs(outside(angles.hinge, limits.min_angle, limits.max_angle)))
    if limits.kind == JointKind.BALL:
        over = abs(outside(twist_of(local), limits.twist_min, limits.twist_max))
        return max(swing_excess(limits, rotate(local, UNIT_Y)), over)
    return 0.0


def is_legal(limits: JointLimits, local: Quat, slack: float = ROUNDING) -> bool:
    """Whether a local rotation keeps its limits within ``slack`` radians."""
    return excess(limits, local) <= slack


def clamp(limits: JointLimits, local: Quat) -> Quat:
    """The legal rotation nearest to ``local``; ``local`` itself where it is legal.

    A hinge keeps its turn about the axis; a ball joint's swing is clamped first, then its twist.
    Undefined input: of two stops equally near, always the same one.
    """
    if is_legal(limits, local, 0.0):
        return local
    if limits.kind == JointKind.HINGE:
        angle = measure(limits, local).hinge
        return from_axis_angle(hinge_axis(limits), into_range(angle, limits.min_angle, limits.max_angle))
    twist = twist_of(local)
    swing = multiply(local, from_axis_angle(UNIT_Y, -twist))
    direction = rotate(swing, UNIT_Y)
    if swing_excess(limits, direction) > 0.0:
        swing = shortest_arc(UNIT_Y, clamped_direction(limits, direction), UNIT_X)
    return multiply(swing, from_axis_angle(UNIT_Y, into_range(twist, limits.twist_min, limits.twist_max)))


def clamped_direction(limits: JointLimits, direction: Vec) -> Vec:
    """The direction inside the swing planes nearest to a bone's Y. Space: rest frame.

    Undefined input: where the planes leave no direction at all (``is_valid`` names it), the bone's rest direction.
    """
    if swing_excess(limits, direction) == 0.0:
        return direction
    legal = [point for point in _edge_points(limits, direction) if swing_excess(limits, point) <= ROUNDING]
    return max(legal, key=lambda point: dot(point, direction), default=UNIT_Y)


def swing_bounds(limits: JointLimits) -> Iterator[tuple[Vec, Vec]]:
    """The bounds that bind: for each, the normal of its plane and the direction of the half that is the bound."""
    if not is_full(limits.swing_x_min, limits.swing_x_max):
        for angle in (limits.swing_x_min, limits.swing_x_max):
            yield (0.0, -math.sin(angle), math.cos(angle)), (0.0, math.cos(angle), math.sin(angle))
    if not is_full(limits.swing_z_min, limits.swing_z_max):
        for angle in (limits.swing_z_min, limits.swing_z_max):
            yield (math.cos(angle), math.sin(angle), 0.0), (-math.sin(angle), math.cos(angle), 0.0)


def _edge_points(limits: JointLimits, direction: Vec) -> Iterator[Vec]:
    """Where the nearest legal direction can lie: on one bound, on two, or at the ends of the bounds."""
    for normal, _ in swing_bounds(limits):
        foot = perpendicular_part(direction, normal)
        if length(foot) > NO_DIRECTION:
            yield unit(foot)
    yield from static_edge_points(limits)


def static_edge_points(limits: JointLimits) -> list[Vec]:
    """The legal directions among corners, ends and middles of the bounds."""
    ends: list[Vec] = [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    points = [*edge_corners(limits), *(half for _, half in swing_bounds(limits)), *ends]
    return [point for point in points if swing_excess(limits, point) <= ROUNDING]


def edge_corners(limits: JointLimits) -> Iterator[Vec]:
    """Directions on a bound of swing X and on one of swing Z, legal or not."""
    for x in (limits.swing_x_min, limits.swing_x_max):
        for z in (limits.swing_z_min, limits.swing_z_max):
            along_x, along_z = abs(math.cos(z)), abs(math.cos(x))
            corner = (-math.sin(z) * along_z, math.cos(x) * along_x, math.sin(x) * along_x)
            if length(corner) > NO_DIRECTION:
                yield unit(corner)


def stop_at(limits: JointLimits, local: Quat) -> Stop | None:
    """The bound that a rotation stands at within ``AT_BOUND``, the hinge's or the nearest of a ball joint's."""
    angles = measure(limits, local)
    rows = {
        JointKind.HINGE: [("hinge", angles.hinge, limits.min_angle, limits.max_angle)],
        JointKind.BALL: [
            ("swing X", angles.swing_x, limits.swing_x_min, limits.swing_x_max),
            ("swing Z", angles.swing_z, limits.swing_z_min, limits.swing_z_max),
            ("twist", angles.twist, limits.twist_min, limits.twist_max),
        ],
    }.get(limits.kind, [])
    stops = [
        (abs(math.remainder(angle - bound, TWO_PI)), Stop(name, bound))
        for name, angle, low, high in rows
        if not is_full(low, high)
        for bound in (low, high)
    ]
    near = [item for item in stops if item[0] <= AT_BOUND]
    return min(near, key=lambda item: item[0])[1] if near else None


def is_valid(limits: JointLimits) -> str:
    """Why limits can't be used, in a few words; empty where they can."""
    if limits.kind == JointKind.FREE:
        return ""
    if limits.kind == JointKind.HINGE:
        return _axis_fault(limits) or _range_fault("angle", limits.min_angle, limits.max_angle)
    fault = (
        _range_fault("swing X", limits.swing_x_min, limits.swing_x_max)
        or _range_fault("swing Z", limits.swing_z_min, limits.swing_z_max)
        or _range_fault("twist", limits.twist_min, limits.twist_max)
    )
    if not fault and swing_excess(limits, clamped_direction(limits, UNIT_Y)) > ROUNDING:
        return "swing X and swing Z leave no legal direction"
    return fault


def _axis_fault(limits: JointLimits) -> str:
    size = length(as_vec(limits.hinge_axis))
    return "" if math.isfinite(size) and size > 0.0 else "the hinge axis has no direction"


def _range_fault(name: str, low: float, high: float) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"a limit of {name} is not a number"
    if low > high:
        return f"minimum {name} of {degrees(low)} is above its maximum of {degrees(high)}"
    return ""


def degrees(angle: float) -> str:
    """An angle for a message: ``150°``, ``22.5°``."""
    return f"{round(math.degrees(angle), 1):g}°"


def local_rotation(frame: Quat, orientation: Quat) -> Quat:
    """The local rotation of a joint: both in the same space, ``orientation = frame @ local``."""
    return multiply(conjugate(frame), orientation)
