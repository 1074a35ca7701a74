"""Lines and faces of the overlay as plain points; knows neither Blender's data nor how they are drawn.

Space: whatever the arguments are in, in practice the world. Angles in radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from mathutils import Matrix, Quaternion, Vector

from ..solvers.chain import JointKind, JointLimits


class Part(Enum):
    """What a shape stands for: its colour."""

    LIMB = "limb"
    LINE = "line"
    POLE = "pole"
    LIMIT = "limit"
    MISSED = "missed"
    REACH = "reach"


@dataclass(frozen=True)
class Shape:
    """Line segments (two points each) and triangles (three points each) of one colour."""

    part: Part
    lines: tuple[Vector, ...] = ()
    faces: tuple[Vector, ...] = ()


CIRCLE_STEPS = 64
ARC_STEPS = 24
# A limit at or beyond this is drawn here: planes of swing limits say nothing past a right angle.
WIDEST_SWING = math.radians(85.0)
# A bound within this of a half turn binds nothing.
HALF_TURN = math.pi - 1e-4
# A direction shorter than this part of a unit has no side to draw an arc on.
NO_DIRECTION = 1e-3


def polyline(points: Sequence[Vector]) -> tuple[Vector, ...]:
    """The segments along points."""
    return tuple(point for a, b in pairwise(points) for point in (a, b))


def dashed(start: Vector, end: Vector, dash: float) -> tuple[Vector, ...]:
    """A dashed line; ``dash`` is the length of a dash and of a gap."""
    length = (end - start).length
    count = min(200, math.ceil(length / (2.0 * dash))) if dash > 0.0 else 0
    along = (end - start) / length if length > 0.0 else Vector()
    points = []
    for number in range(count):
        begin = 2.0 * dash * number
        points += [start + along * begin, start + along * min(begin + dash, length)]
    return tuple(points)


def circle(centre: Vector, x: Vector, y: Vector) -> tuple[Vector, ...]:
    """A circle or ellipse with half axes ``x`` and ``y``."""
    turns = [math.tau * step / CIRCLE_STEPS for step in range(CIRCLE_STEPS + 1)]
    return polyline([centre + x * math.cos(turn) + y * math.sin(turn) for turn in turns])


def reach(centre: Vector, radius: float) -> Shape:
    """The sphere that a limb reaches, as three circles."""
    x, y, z = Vector((radius, 0, 0)), Vector((0, radius, 0)), Vector((0, 0, radius))
    return Shape(Part.REACH, circle(centre, x, y) + circle(centre, y, z) + circle(centre, z, x))


def fan(centre: Vector, rim: Sequence[Vector]) -> Shape:
    """A limit: the rim, the lines from the joint to its ends, and what lies between."""
    faces = tuple(point for a, b in pairwise(rim) for point in (centre, a, b))
    return Shape(Part.LIMIT, polyline([centre, *rim, centre]), faces)


def arc(centre: Vector, axis: Vector, start: Vector, least: float, most: float) -> list[Vector]:
    """Points of an arc about an axis, angles from ``start``, whose length is the radius."""
    most = min(most, least + math.tau)
    angles = [least + (most - least) * step / ARC_STEPS for step in range(ARC_STEPS + 1)]
    return [centre + Quaternion(axis, angle) @ start for angle in angles]


def limits(frame: Matrix, along: Vector, joint: JointLimits, radius: float) -> list[Shape]:
    """The limits of one joint.

    Args:
        frame: the joint's rest frame as its parent carries it; its place is the joint.
        along: direction to the next joint at rest, in that frame.
        joint: what binds it.
        radius: size of the drawing.
    """
    if joint.kind == JointKind.HINGE:
        return _hinge(frame, along, joint, radius)
    if joint.kind == JointKind.BALL:
        return [*_swing(frame, joint, radius), *_twist(frame, joint, radius)]
    return []


def _hinge(frame: Matrix, along: Vector, joint: JointLimits, radius: float) -> list[Shape]:
    turn = frame.to_quaternion()
    axis = Vector(joint.hinge_axis)
    if axis.length < NO_DIRECTION or joint.min_angle > joint.max_angle:
        return []
    axis = axis.normalized()
    start = along.normalized() - axis * along.normalized().dot(axis)
    if start.length < NO_DIRECTION:
        return []
    start = start.normalized() * radius
    return [fan(frame.translation, arc(frame.translation, turn @ axis, turn @ start, joint.min_angle, joint.max_angle))]


def _swing(frame: Matrix, joint: JointLimits, radius: float) -> list[Shape]:
    """The pyramid of swing limits: its four planes go through the joint."""
    bounds = (joint.swing_x_min, joint.swing_x_max, joint.swing_z_min, joint.swing_z_max)
    if all(abs(bound) >= HALF_TURN for bound in bounds):
        return []
    x_min, x_max, z_min, z_max = (max(-WIDEST_SWING, min(WIDEST_SWING, bound)) for bound in bounds)
    corners = [(x_min, z_min), (x_max, z_min), (x_max, z_max), (x_min, z_max), (x_min, z_min)]
    turn, centre = frame.to_quaternion(), frame.translation
    rim = []
    for (x0, z0), (x1, z1) in pairwise(corners):
        for step in range(ARC_STEPS // 2):
            part = step / (ARC_STEPS // 2)
            side = Vector((-math.tan(z0 + (z1 - z0) * part), 1.0, math.tan(x0 + (x1 - x0) * part)))
            rim.append(centre + turn @ (side.normalized() * radius))
    rim.append(rim[0])
    spokes = tuple(point for number in range(4) for point in (centre, rim[number * (ARC_STEPS // 2)]))
    return [Shape(Part.LIMIT, polyline(rim) + spokes, fan(centre, rim).faces)]


def _twist(frame: Matrix, joint: JointLimits, radius: float) -> list[Shape]:
    """A sector about the bone, from where its X axis may turn to where it may not."""
    if joint.twist_min <= -HALF_TURN and joint.twist_max >= HALF_TURN:
        return []
    turn = frame.to_quaternion()
    bone = turn @ Vector((0.0, 1.0, 0.0))
    centre = frame.translation + bone * radius
    start = turn @ Vector((0.35 * radius, 0.0, 0.0))
    return [fan(centre, arc(centre, bone, start, joint.twist_min, joint.twist_max))]
