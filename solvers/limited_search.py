"""A two-bone limb whose joint limits keep it off its target, or whose root is a hinge: as near as it can come.

Where no legal swivel reaches the target, a ball root stands on a swing plane: were none met, it could aim freely. So
the nearest pose lies on a few curves (along a plane with the twist at a bound, or twisting where a plane passes nearest
to the target's line or two planes meet); they are searched whole, in arrays, the mid joint's best angle in closed form.
The miss is the least there is and grows from 0 where the last legal swivel goes. No Blender data (no bpy).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import mid_joint
from .chain import JointKind, JointLimits
from .joint_limits import (
    ROUNDING,
    TWO_PI,
    clamp,
    edge_corners,
    hinge_axis,
    into_range,
    is_full,
    swing_bounds,
    swing_excess,
    twist_of,
)
from .limited_pose import LimbJoints, Pose
from .mid_arrays import Array, matrices, miss_of
from .rotations import Quat, conjugate, multiply, rotate, shortest_arc
from .vectors import TINY, UNIT_X, Vec, add, as_vec, combined, cross, dot, length, subtract, unit

SAMPLES = 24
"""Steps of the first look along a curve: at most 15 degrees, finer than its valleys."""
HINGE_SAMPLES = 144
"""The same along the one curve of a hinged root: it may pass by the target twice within a few degrees."""
VALLEYS = 16
"""Lowest valleys that are followed down side by side; the better half of them after each narrowing."""
LAST_VALLEYS = 2
NARROWING = 8
ZOOM = np.linspace(-1.0, 1.0, 2 * NARROWING + 1)
"""Places looked at in a valley before it is narrowed to an eighth."""
ROUNDS = 9
"""Narrowings: 15 degrees come down to 2e-9 rad."""
ELBOW_COST = 1e-6
"""Miss that a unit of distance from the wanted elbow is worth: it decides among equals only."""
POLISHES = 36
"""Rounds of aiming the two joints in turn where there is no curve to search."""

Roots = Callable[[npt.NDArray[np.intp], Array], Array]
"""Quaternions of the root joint for numbers of curves and places (0 to 1) along them."""


class Curve(NamedTuple):
    """Root rotations with Y at ``cos s * first + sin s * second`` while ``s`` and the twist go from start to end."""

    first: Vec
    second: Vec
    start: float
    end: float
    twist_start: float
    twist_end: float


def closest(joints: LimbJoints, pose: Pose, target: Vec) -> Pose:
    """The legal pose nearest to ``target``; of equals the one with its elbow nearest to that of ``pose``.

    Space: ``target`` from the root, armature. ``pose`` is the unlimited one.
    """
    goal = rotate(conjugate(joints.root_frame), target)
    if joints.root_limits.kind == JointKind.HINGE:
        return _searched(joints, pose, goal, _hinge_roots(joints.root_limits), 1)
    keeps_twist = joints.limb.limits.kind == JointKind.FREE
    curves = list(_curves(joints.root_limits, twist_of(pose.root), keeps_twist, unit(goal)))
    if joints.root_limits.kind != JointKind.BALL or not curves:
        return clamped(joints, pose, target)
    return _searched(joints, pose, goal, _curve_roots(curves), len(curves))


def clamped(joints: LimbJoints, pose: Pose, target: Vec) -> Pose:
    """The pose with both joints clamped, then aimed in turn; for limbs that nothing finer can be said of.

    Space: ``target`` from the root, armature. Also for a mid joint that does not turn with the root bone.
    """
    pose = Pose(clamp(joints.root_limits, pose.root), clamp(joints.limb.limits, pose.mid))
    best = (length(subtract(target, joints.end_of(pose))), pose)
    for _ in range(POLISHES):
        root = _root_aimed(joints, pose, target)
        pose = Pose(root, joints.mid_nearest_to(target, Pose(root, pose.mid)))
        miss = length(subtract(target, joints.end_of(pose)))
        if miss >= best[0]:
            return best[1]
        best = (miss, pose)
    return best[1]


def _root_aimed(joints: LimbJoints, pose: Pose, target: Vec) -> Quat:
    """The root swung so that what it carries points at the target; then clamped."""
    back = conjugate(joints.root_frame)
    goal, reach = rotate(back, target), rotate(back, joints.end_of(pose))
    if not joints.is_attached:
        upper = rotate(pose.root, joints.limb.upper)
        goal, reach = add(goal, subtract(upper, reach)), upper
    if length(goal) <= TINY or length(reach) <= TINY:
        return clamp(joints.root_limits, pose.root)
    return clamp(joints.root_limits, multiply(shortest_arc(unit(reach), unit(goal), UNIT_X), pose.root))


def _hinge_roots(limits: JointLimits) -> Roots:
    axis, low = np.array(hinge_axis(limits)), limits.min_angle
    width = min(limits.max_angle - low, TWO_PI)

    def roots(_: npt.NDArray[np.intp], place: Array) -> Array:
        half = 0.5 * (low + width * place)
        return np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * axis], axis=1)

    return roots


def _curve_roots(curves: list[Curve]) -> Roots:
    first, second = np.array([c.first for c in curves]), np.array([c.second for c in curves])
    start, end, twist_start, twist_end = np.array([c[2:] for c in curves]).T

    def roots(curve: npt.NDArray[np.intp], place: Array) -> Array:
        angle = start[curve] + (end - start)[curve] * place
        x, y, z = (np.cos(angle)[:, None] * first[curve] + np.sin(angle)[:, None] * second[curve]).T
        size = np.sqrt(np.maximum(2.0 + 2.0 * y, ROUNDING * ROUNDING))
        w, i, k = 0.5 * size, z / size, -x / size  # the shortest arc from Y
        half = 0.5 * (twist_start[curve] + (twist_end - twist_start)[curve] * place)
        cosine, sine = np.cos(half), np.sin(half)
        return np.array([w * cosine, i * cosine - k * sine, w * sine, k * cosine + i * sine]).T

    return roots


def _curves(limits: JointLimits, twist: float, keeps_twist: bool, line: Vec) -> Iterator[Curve]:
    """Where a ball root can stand when it keeps the limb off its target.

    ``line``: to the target, in the root's rest frame. ``keeps_twist``: ``twist``, made legal, is as good as any
    (under a free mid joint).
    """
    low, high = limits.twist_min, limits.twist_max
    twists = {into_range(twist, low, high)} if keeps_twist else {low, high}
    if is_full(low, high):
        low, high, twists = twist - math.pi, twist + math.pi, {twist}
    for normal, half in swing_bounds(limits):
        second = cross(normal, half)
        nearest = math.atan2(dot(line, second), dot(line, half))
        for start, end in _legal_parts(limits, half, second):
            for bound in sorted(twists):
                yield Curve(half, second, start, end, bound, bound)
            for angle in (nearest, math.remainder(nearest + math.pi, TWO_PI)):
                if start <= angle <= end:
                    yield Curve(half, second, angle, angle, low, high)
    for corner in edge_corners(limits):
        if swing_excess(limits, corner) <= ROUNDING:
            yield Curve(corner, corner, 0.0, 0.0, low, high)


def _legal_parts(limits: JointLimits, half: Vec, second: Vec) -> Iterator[tuple[float, float]]:
    """Parts (radians from ``half`` toward ``second``) of one bound's half circle that the other bounds leave."""
    marks = {-0.5 * math.pi, 0.5 * math.pi}
    for normal, _ in swing_bounds(limits):
        if dot(normal, second) != 0.0:  # not a plane through the same axis
            marks.add(math.atan(-dot(normal, half) / dot(normal, second)))
    row = sorted(marks)
    for start, end in pairwise(row):
        middle = 0.5 * (start + end)
        if swing_excess(limits, combined(half, math.cos(middle), second, math.sin(middle))) <= ROUNDING:
            yield start, end


def _searched(joints: LimbJoints, pose: Pose, goal: Vec, roots: Roots, count: int) -> Pose:
    """The pose of least miss on ``count`` curves. Space: ``goal`` in the root joint's rest frame."""
    elbow = np.array(rotate(pose.root, joints.limb.upper))
    upper, target = np.array(joints.limb.upper), np.array(goal)

    def cost(curve: npt.NDArray[np.intp], place: Array) -> Array:
        turns = matrices(roots(curve, place))
        off = turns @ upper - elbow
        return np.asarray(miss_of(joints.limb, target @ turns) + ELBOW_COST * np.sqrt(np.einsum("ij,ij->i", off, off)))

    curve, place = _lowest(cost, count)
    w, x, y, z = roots(np.array([curve]), np.array([place]))[0].tolist()
    root = clamp(joints.root_limits, (w, x, y, z))
    return Pose(root, mid_joint.nearest_to(joints.limb, rotate(conjugate(root), as_vec(goal)), pose.mid))


def _lowest(cost: Callable[[npt.NDArray[np.intp], Array], Array], count: int) -> tuple[int, float]:
    """Curve and place of the least cost: looked at in steps, then the lowest valleys narrowed down together."""
    samples = SAMPLES if count > 1 else HINGE_SAMPLES
    steps = np.linspace(0.0, 1.0, samples + 1)
    curves = np.repeat(np.arange(count), samples + 1)
    rows = cost(curves, np.tile(steps, count)).reshape(count, samples + 1)
    walled = np.pad(rows, ((0, 0), (1, 1)), constant_values=np.inf)
    curve, number = np.nonzero((rows <= walled[:, :-2]) & (rows <= walled[:, 2:]))
    order = np.argsort(rows[curve, number], kind="stable")[:VALLEYS]
    curve, place = curve[order], steps[number[order]]
    reach = 1.0 / samples
    for _ in range(ROUNDS):
        places = np.clip(place[:, None] + reach * ZOOM, 0.0, 1.0)
        costs = cost(np.repeat(curve, len(ZOOM)), places.ravel()).reshape(places.shape)
        best = np.argmin(costs, axis=1)
        reached = costs[np.arange(len(best)), best]
        order = np.argsort(reached, kind="stable")[: max(LAST_VALLEYS, len(best) // 2)]
        curve, place = curve[order], places[order, best[order]]
        reach /= NARROWING
    return int(curve[0]), float(place[0])
