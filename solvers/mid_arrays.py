"""How near a mid joint with limits brings the end to many points at once; ``mid_joint.nearest_to`` in arrays.

For searches alone: one point is cheaper in plain floats. No Blender data (no bpy).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from . import mid_joint
from .chain import JointKind, JointLimits
from .joint_limits import ROUNDING, TWO_PI, hinge_axis, is_full, static_edge_points, swing_bounds
from .mid_joint import BentLimb
from .vectors import as_vec, cross, length

Array: TypeAlias = npt.NDArray[np.float64]


def matrices(q: Array) -> Array:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4)."""
    w, x, y, z = q.T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.ascontiguousarray(np.array(rows).transpose(2, 0, 1))


def miss_of(limb: BentLimb, targets: Array) -> Array:
    """How far the end stays off each target, the mid joint at its best.

    Space: ``targets`` (n, 3) from the root in the root bone's local space.
    """
    wanted = (targets - np.array(limb.upper)) @ matrices(np.array([limb.carry]))[0]
    if limb.limits.kind == JointKind.HINGE:
        return _hinge_miss(limb, wanted)
    if limb.limits.kind == JointKind.FREE:
        return np.asarray(np.abs(np.linalg.norm(wanted, axis=1) - length(limb.lower)))
    along = mid_joint.is_along_y(limb.lower)
    if along:
        size = np.linalg.norm(wanted, axis=1)
        cosine = _swing_cosine(limb.limits, along * wanted / np.maximum(size, ROUNDING)[:, None])
        lower = length(limb.lower)
        return np.asarray(np.sqrt(np.maximum(size * size + lower * lower - 2.0 * size * lower * cosine, 0.0)))
    return np.array([_ball_miss(limb, target) for target in targets])


def _hinge_miss(limb: BentLimb, wanted: Array) -> Array:
    axis, lower = np.array(hinge_axis(limb.limits)), np.array(limb.lower)
    along = axis * (lower @ axis)
    out, across = lower - along, np.array(cross(hinge_axis(limb.limits), limb.lower))
    angle = np.arctan2(wanted @ across, wanted @ out)
    low, high = limb.limits.min_angle, limb.limits.max_angle
    if not is_full(low, high):
        centre, half = 0.5 * (low + high), 0.5 * (high - low)
        apart = angle - centre
        angle = centre + np.clip(apart - TWO_PI * np.round(apart / TWO_PI), -half, half)
    off = wanted - along - np.cos(angle)[:, None] * out - np.sin(angle)[:, None] * across
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", off, off)))


def _swing_cosine(limits: JointLimits, directions: Array) -> Array:
    """Cosine of the angle from each direction to the nearest one inside the swing planes."""
    best: Array = np.where(_excess(limits, directions) <= 0.0, 1.0, -1.0)
    for point in static_edge_points(limits):
        best = np.asarray(np.maximum(best, directions @ np.array(point)))
    for normal, _ in swing_bounds(limits):
        plane = np.array(normal)
        foot = directions - (directions @ plane)[:, None] * plane
        size = np.linalg.norm(foot, axis=1)
        is_legal = _excess(limits, foot / np.maximum(size, ROUNDING)[:, None]) <= ROUNDING
        best = np.asarray(np.maximum(best, np.where(is_legal, size, -1.0)))
    return best


def _excess(limits: JointLimits, directions: Array) -> Array:
    x, y, z = directions.T
    over_x = _outside(np.arctan2(z, y), limits.swing_x_min, limits.swing_x_max)
    over_z = _outside(np.arctan2(-x, y), limits.swing_z_min, limits.swing_z_max)
    return np.asarray(np.maximum(np.hypot(y, z) * np.sin(over_x), np.hypot(x, y) * np.sin(over_z)))


def _outside(angle: Array, low: float, high: float) -> Array:
    """Up to a quarter turn: the sine of more would fall again."""
    if is_full(low, high):
        return np.zeros_like(angle)
    apart = angle - 0.5 * (low + high)
    over = np.abs(apart - TWO_PI * np.round(apart / TWO_PI)) - 0.5 * (high - low)
    return np.asarray(np.clip(over, 0.0, 0.5 * math.pi))


def _ball_miss(limb: BentLimb, target: Array) -> float:
    goal = as_vec(target.tolist())
    reach = limb.reach(mid_joint.nearest_to(limb, goal, (1.0, 0.0, 0.0, 0.0)))
    return math.dist(goal, reach)
