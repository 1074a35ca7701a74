"""Builders of plain chains for solver tests, and an oracle that poses them.

Nothing here solves. Space: armature. Units: radians, armature units.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from limb_ik.solvers.chain import Chain, Joint, JointKind, JointLimits, Solution
from limb_ik.solvers.rotations import Quat, from_axis_angle, multiply, rotate, shortest_arc
from limb_ik.solvers.vectors import UNIT_X, UNIT_Y, UNIT_Z, as_vec, unit
from mathutils import Quaternion, Vector

UPRIGHT = Quaternion((1.0, 0.0, 0.0), math.pi / 2.0)
"""Orientation of a bone along +Z with roll 0: X = (1, 0, 0), Y = (0, 0, 1), Z = (0, -1, 0)."""
NO_TURN = Quaternion()


def chain_through(points: Sequence[Sequence[float]], bend_axis: Sequence[float] = (0.0, 0.0, 0.0)) -> Chain:
    """Bones from point to point; each a bone along +Z (roll 0) swung onto its direction, that being its rest."""
    joints = []
    for head, tail in pairwise(Vector(point) for point in points):
        step = unit(as_vec(tail - head))
        quat = Quaternion(shortest_arc(UNIT_Z, step if step != (0.0, 0.0, 0.0) else UNIT_Z, UNIT_X)) @ UPRIGHT
        joints.append(Joint(head, quat, quat))
    return Chain(tuple(joints), Vector(points[-1]), Vector(bend_axis))


def straight(count: int, size: float = 1.0) -> Chain:
    """Along +Z from the origin."""
    return chain_through([(0.0, 0.0, size * n) for n in range(count + 1)])


def bent(count: int, size: float, bend: float) -> Chain:
    """In the YZ plane from the origin, each joint bent by ``bend`` about +X."""
    points, direction = [(0.0, 0.0, 0.0)], UNIT_Z
    for _ in range(count):
        x, y, z = points[-1]
        points.append((x + direction[0] * size, y + direction[1] * size, z + direction[2] * size))
        direction = rotate(from_axis_angle(UNIT_X, bend), direction)
    return chain_through(points)


def random_chain(count: int, source: random.Random, spread: float = 0.5) -> Chain:
    """Lengths 0.2 to 1 in random directions, each within about ``spread`` radians of the one before."""
    point, direction = random_vector(source), random_vector(source).normalized()
    points = [point]
    for _ in range(count):
        points.append(points[-1] + direction * source.uniform(0.2, 1.0))
        direction = (direction + spread * random_vector(source)).normalized()
    return chain_through(points)


def random_vector(source: random.Random) -> Vector:
    return Vector((source.gauss(0.0, 1.0), source.gauss(0.0, 1.0), source.gauss(0.0, 1.0)))


def total(chain: Chain) -> float:
    return sum((b - a).length for a, b in pairwise(heads(chain)))


def heads(chain: Chain) -> list[Vector]:
    return [*(joint.head for joint in chain.joints), chain.end]


def posed(chain: Chain, solution: Solution) -> list[Vector]:
    """Joints and end with the solution's deltas: forward kinematics apart from the solver's own."""
    points = [chain.joints[0].head.copy()]
    for (a, b), delta in zip(pairwise(heads(chain)), solution.deltas, strict=True):
        points.append(points[-1] + delta @ (b - a))
    return points


def tip(chain: Chain, solution: Solution) -> Vector:
    return posed(chain, solution)[-1]


def angle(a: Quaternion, b: Quaternion = NO_TURN) -> float:
    """Angle between two rotations, without the loss of acos near 0."""
    between = a.inverted() @ b
    return 2.0 * math.atan2(math.hypot(between.x, between.y, between.z), abs(between.w))


def hinge(low: float, high: float, axis: tuple[float, float, float] = (1.0, 0.0, 0.0)) -> JointLimits:
    """Degrees."""
    return JointLimits(JointKind.HINGE, axis, math.radians(low), math.radians(high))


def ball(x: tuple[float, float], z: tuple[float, float], twist: tuple[float, float]) -> JointLimits:
    """Degrees."""
    bounds = [math.radians(bound) for bound in (*x, *z, *twist)]
    names = ("swing_x_min", "swing_x_max", "swing_z_min", "swing_z_max", "twist_min", "twist_max")
    return JointLimits(JointKind.BALL, **dict(zip(names, bounds, strict=True)))


def limited(chain: Chain, limits: Sequence[JointLimits]) -> Chain:
    joints = (replace(joint, limits=own) for joint, own in zip(chain.joints, limits, strict=True))
    return replace(chain, joints=tuple(joints))


def legal_local(limits: JointLimits, source: random.Random) -> Quat:
    """A random local rotation that keeps ``limits`` (ball joints: of less than 90 degrees either way)."""
    if limits.kind == JointKind.HINGE:
        return from_axis_angle(unit(limits.hinge_axis), source.uniform(limits.min_angle, limits.max_angle))
    if limits.kind == JointKind.FREE:
        return from_axis_angle(as_vec(random_vector(source).normalized()), source.uniform(-math.pi, math.pi))
    x = source.uniform(limits.swing_x_min, limits.swing_x_max)
    z = source.uniform(limits.swing_z_min, limits.swing_z_max)
    swing = shortest_arc(UNIT_Y, unit((-math.tan(z), 1.0, math.tan(x))), UNIT_X)
    return multiply(swing, from_axis_angle(UNIT_Y, source.uniform(limits.twist_min, limits.twist_max)))


def posed_by_locals(chain: Chain, locals_rest: Sequence[Quat]) -> Chain:
    """The chain whose FK pose has these local rotations; ``chain`` itself has to be in its rest pose."""
    joints, point = [], chain.joints[0].head.copy()
    carried = Quaternion()
    for joint, (a, b), local in zip(chain.joints, pairwise(heads(chain)), locals_rest, strict=True):
        frame = carried @ joint.frame
        fk = frame @ Quaternion(local)
        joints.append(replace(joint, head=point.copy(), fk=fk, frame=frame))
        carried = fk @ joint.fk.inverted()
        point = point + carried @ (b - a)
    return Chain(tuple(joints), point, chain.bend_axis, chain.rest_heads)


def random_legal_poses(chain: Chain, count: int, seed: int) -> Iterator[Chain]:
    source = random.Random(seed)
    for _ in range(count):
        yield posed_by_locals(chain, [legal_local(joint.limits, source) for joint in chain.joints])
