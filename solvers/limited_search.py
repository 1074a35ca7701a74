"""A two-bone limb whose joint limits keep it off its target, or whose root is a hinge: as near as it comes.

One number is searched, the swivel about the line to the target or the root's hinge angle; for
each the root is clamped (swing, then twist) and the mid joint takes its best angle in closed form.
So the miss grows from 0 where the last legal swivel goes. No Blender data (no bpy).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from . import mid_joint
from .chain import JointKind
from .joint_limits import TWO_PI, clamp, hinge_axis
from .limited_pose import LimbJoints, Pose
from .rotations import Quat, conjugate, from_axis_angle, multiply, rotate, shortest_arc
from .swivel import Swivel
from .vectors import TINY, UNIT_X, Vec, add, length, subtract, unit

SAMPLES = 24
"""Steps of the first look around: 15 degrees, finer than the valleys that swing planes make."""
VALLEYS = 3
"""Lowest valleys that are followed down."""
NARROWINGS = 42
"""Golden sections of a valley: 15 degrees come down to 1e-8 rad."""
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
ELBOW_COST = 1e-6
"""Miss that a unit of distance from the wanted elbow is worth: it decides among equals only."""
POLISHES = 6
"""Rounds of aiming the root anew for the mid joint found; each is kept only where it misses less."""


class Tried(NamedTuple):
    """A pose, what it costs and where it was found. Ordered by cost."""

    cost: float
    angle: float
    pose: Pose


def clamped(joints: LimbJoints, pose: Pose, target: Vec) -> Pose:
    """The pose with both joints clamped; for limbs that nothing finer can be said of.

    Space: ``target`` from the root, armature. A mid joint that does not turn with the root bone is aimed in turn.
    """
    pose = Pose(clamp(joints.root_limits, pose.root), clamp(joints.limb.limits, pose.mid))
    best = (_miss(joints, pose, target), pose)
    for _ in range(0 if joints.is_attached else POLISHES * POLISHES):
        root = _root_aimed(joints, pose, target)
        offset = rotate(multiply(joints.root_frame, root), joints.limb.upper)
        wanted = rotate(conjugate(joints.mid_frame), subtract(target, offset))
        limb = joints.limb._replace(carry=(1.0, 0.0, 0.0, 0.0), upper=(0.0, 0.0, 0.0))
        pose = Pose(root, mid_joint.nearest_to(limb, wanted, pose.mid))
        best = min(best, (_miss(joints, pose, target), pose))
    return best[1]


def closest(joints: LimbJoints, pose: Pose, target: Vec) -> Pose:
    """The legal pose found nearest to ``target``; of equals the one with its elbow nearest to that of ``pose``.

    Space: ``target`` from the root, armature. ``pose`` is the unlimited one.
    """
    goal = rotate(conjugate(joints.root_frame), target)
    elbow = rotate(pose.root, joints.limb.upper)

    def tried(angle: float, root: Quat) -> Tried:
        mid = mid_joint.nearest_to(joints.limb, rotate(conjugate(root), goal), pose.mid)
        miss = length(subtract(goal, rotate(root, joints.limb.reach(mid))))
        off = length(subtract(rotate(root, joints.limb.upper), elbow))
        return Tried(miss + ELBOW_COST * off, angle, Pose(root, mid))

    if joints.root_limits.kind == JointKind.HINGE:
        best = _hinge_search(joints, tried)
    else:
        best = _swivel_search(joints, pose, unit(goal), tried)
    return _polished(joints, best.pose, target)


def _hinge_search(joints: LimbJoints, tried: Callable[[float, Quat], Tried]) -> Tried:
    axis, low = hinge_axis(joints.root_limits), joints.root_limits.min_angle
    high = min(joints.root_limits.max_angle, low + TWO_PI)
    return _lowest(lambda angle: tried(angle, from_axis_angle(axis, angle)), low, high)


def _swivel_search(joints: LimbJoints, pose: Pose, line: Vec, tried: Callable[[float, Quat], Tried]) -> Tried:
    bases = [Swivel(pose.root, line)]
    if joints.limb.limits.kind == JointKind.BALL:
        axis = unit(joints.limb.upper)
        ends = {end for arc in mid_joint.rolls(joints.limb, pose.mid) for end in arc}
        bases += [Swivel(multiply(pose.root, from_axis_angle(axis, end)), line) for end in sorted(ends)]
    return min(
        _lowest(lambda angle, base=base: tried(angle, clamp(joints.root_limits, base.at(angle))), -math.pi, math.pi)
        for base in bases
    )


def _lowest(tried: Callable[[float], Tried], low: float, high: float) -> Tried:
    """The least cost over an interval: looked at in steps, then the lowest valleys narrowed down."""
    step = (high - low) / SAMPLES
    row = [tried(low + step * n) for n in range(SAMPLES + 1)]
    edges = [None, *row, None]
    valleys = [
        here
        for before, here, after in zip(edges, row, edges[2:], strict=False)
        if (before is None or here.cost <= before.cost) and (after is None or here.cost <= after.cost)
    ]
    lowest = sorted(valleys)[:VALLEYS]
    return min(_narrowed(tried, max(low, v.angle - step), min(high, v.angle + step), v) for v in lowest)


def _narrowed(tried: Callable[[float], Tried], low: float, high: float, best: Tried) -> Tried:
    left, right = tried(high - GOLDEN * (high - low)), tried(low + GOLDEN * (high - low))
    for _ in range(NARROWINGS):
        if left.cost <= right.cost:
            high, right = right.angle, left
            left = tried(high - GOLDEN * (high - low))
        else:
            low, left = left.angle, right
            right = tried(low + GOLDEN * (high - low))
    return min(best, left, right)


def _polished(joints: LimbJoints, pose: Pose, target: Vec) -> Pose:
    """Root and mid joint aimed in turn while that brings the end nearer."""
    goal = rotate(conjugate(joints.root_frame), target)
    miss = _miss(joints, pose, target)
    for _ in range(POLISHES):
        root = _root_aimed(joints, pose, target)
        mid = mid_joint.nearest_to(joints.limb, rotate(conjugate(root), goal), pose.mid)
        nearer = _miss(joints, Pose(root, mid), target)
        if nearer >= miss:
            return pose
        pose, miss = Pose(root, mid), nearer
    return pose


def _root_aimed(joints: LimbJoints, pose: Pose, target: Vec) -> Quat:
    """The root swung so that the end, carried along, points at the target; then clamped."""
    goal = rotate(conjugate(joints.root_frame), target)
    reach = rotate(conjugate(joints.root_frame), joints.end_of(pose))
    if not joints.is_attached:
        upper = rotate(pose.root, joints.limb.upper)
        goal, reach = add(goal, subtract(upper, reach)), upper
    if length(goal) <= TINY or length(reach) <= TINY:
        return clamp(joints.root_limits, pose.root)
    return clamp(joints.root_limits, multiply(shortest_arc(unit(reach), unit(goal), UNIT_X), pose.root))


def _miss(joints: LimbJoints, pose: Pose, target: Vec) -> float:
    return length(subtract(target, joints.end_of(pose)))
