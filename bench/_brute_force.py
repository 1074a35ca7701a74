"""Brute force for two bones with limits: every pose about the limb's line, measured by formulas of its own.

Numpy matrices in doubles, no code of the solver but what says where FK has the elbow.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from _random_limbs import Array, Case, unit
from limb_ik.solvers.bend_plane import fk_limb, kept_offset, solved_triangle
from limb_ik.solvers.chain import JointKind, JointLimits
from limb_ik.solvers.two_bone import aimed
from mathutils import Vector

STEPS = 720
"""Swivels tried per way to bend: every half degree."""
ROLLS = 72
"""Rolls of the upper bone tried where the mid joint is no hinge: every five degrees."""

# rotations as matrices


def matrix(q: Array) -> Array:
    """Rotation matrices of quaternions (..., 4) -> (..., 3, 3)."""
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def axis_matrix(axis: Array, angle: Array) -> Array:
    """Rotation matrices about one unit axis (Rodrigues)."""
    x, y, z = axis
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sine, cosine = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    return np.eye(3) + sine * skew + (1 - cosine) * (skew @ skew)


def off_range(angle: Array, low: float, high: float) -> Array:
    """How far angles are outside a range, whole turns aside."""
    if high - low >= 2 * math.pi - 1e-6:
        return np.zeros_like(angle)
    apart = (angle - 0.5 * (low + high) + math.pi) % (2 * math.pi) - math.pi
    return np.maximum(np.abs(apart) - 0.5 * (high - low), 0.0)


def excess(limits: JointLimits, local: Array, with_twist: bool = True) -> Array:
    """Radians that rotations (..., 3, 3) are outside a joint's limits."""
    if limits.kind == JointKind.FREE:
        return np.zeros(local.shape[:-2])
    if limits.kind == JointKind.HINGE:
        axis = np.array(limits.hinge_axis) / np.linalg.norm(limits.hinge_axis)
        side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        side /= np.linalg.norm(side)
        turned = local @ side
        angle = np.arctan2(turned @ np.cross(axis, side), turned @ side)
        off = np.linalg.norm(local @ axis - axis, axis=-1)
        return np.maximum(off, off_range(angle, limits.min_angle, limits.max_angle))
    x, y, z = np.moveaxis(local[..., :, 1], -1, 0)
    off_x = off_range(np.arctan2(z, y), limits.swing_x_min, limits.swing_x_max)
    off_z = off_range(np.arctan2(-x, y), limits.swing_z_min, limits.swing_z_max)
    off_x, off_z = np.minimum(off_x, 0.5 * math.pi), np.minimum(off_z, 0.5 * math.pi)
    worst = np.maximum(np.hypot(y, z) * np.sin(off_x), np.hypot(x, y) * np.sin(off_z))
    if not with_twist:
        return worst
    # tan(twist / 2) = q_y / q_w = (m02 - m20) / (1 + trace)
    twist = 2 * np.arctan2(local[..., 0, 2] - local[..., 2, 0], 1 + np.trace(local, axis1=-2, axis2=-1))
    return np.maximum(worst, off_range(twist, limits.twist_min, limits.twist_max))


# brute force


class Limb(NamedTuple):
    """A case in the root joint's rest frame, in doubles.

    ``is_over``: FK bends past straight; such a limb keeps its own way for a while, the pole waits.
    """

    upper: Array
    lower: Array
    carry: Array
    to_target: Array
    elbow: Array
    length: float
    distance: float
    height: float
    is_over: bool


def limb_of(case: Case) -> Limb:
    root, mid = case.chain.joints
    frame, root_fk, mid_fk, mid_frame = (matrix(np.array(q)) for q in (root.frame, root.fk, mid.fk, mid.frame))
    upper = root_fk.T @ (np.array(mid.head) - np.array(root.head))
    lower = mid_fk.T @ (np.array(case.chain.end) - np.array(mid.head))
    fk = fk_limb(case.chain)
    aim = aimed(fk, case.goal)
    height = solved_triangle(fk, aim.distance)[1]
    angle = kept_offset(fk, height)
    elbow = axis_matrix(np.array(aim.line), np.array(angle)) @ np.array(aim.side)
    to_target = frame.T @ (np.array(aim.line) * aim.distance)
    is_over = abs(fk.offset) > 0.5 * math.pi
    carry = root_fk.T @ mid_frame
    return Limb(upper, lower, carry, to_target, frame.T @ elbow, fk.length, aim.distance, height, is_over)


def bent(case: Case, limb: Limb) -> Array:
    """Local rotations of the mid joint at the target's distance: both bends of a hinge, or many rolls."""
    limits = case.chain.joints[1].limits
    upper = limb.carry.T @ limb.upper
    if limits.kind == JointKind.HINGE:
        axis = np.array(limits.hinge_axis) / np.linalg.norm(limits.hinge_axis)
        return hinge_bends(axis, upper, limb.lower, limb.distance)
    axis = unit(upper)
    start = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    a, b, d = np.linalg.norm(upper), np.linalg.norm(limb.lower), limb.distance
    bend = math.acos(np.clip((d * d - a * a - b * b) / (2 * a * b), -1, 1))
    direction = math.cos(bend) * axis + math.sin(bend) * np.cross(unit(start), axis)
    y = unit(limb.lower)
    swing = np.array(matrix(np.array(Vector(y).rotation_difference(Vector(direction)))))
    return axis_matrix(axis, np.arange(ROLLS) * (2 * math.pi / ROLLS)) @ swing


def hinge_bends(axis: Array, upper: Array, lower: Array, distance: float) -> Array:
    """By bisection between the straightest and the most folded hinge angle on either side, not in closed form."""

    def squared(angle: Array) -> Array:
        return np.sum((upper + axis_matrix(axis, angle) @ lower) ** 2, axis=-1)

    grid = np.linspace(-math.pi, math.pi, 721)
    values = squared(grid) - distance * distance
    crossings = np.nonzero(values[:-1] * values[1:] < 0)[0]
    low, high = grid[crossings], grid[crossings + 1]
    for _ in range(50):
        middle = 0.5 * (low + high)
        is_left = (squared(middle) - distance * distance) * values[crossings] > 0
        low, high = np.where(is_left, middle, low), np.where(is_left, high, middle)
    return axis_matrix(axis, 0.5 * (low + high))


def legal_swivels(case: Case, limb: Limb, margin: float) -> Array:
    """Swivels off the wanted elbow of the legal poses found (radians); empty where there is none."""
    root_limits, mid_limits = (joint.limits for joint in case.chain.joints)
    mids = bent(case, limb)
    mids = mids[excess(mid_limits, mids, mid_limits.kind == JointKind.HINGE) <= -margin + 1e-12]
    if not len(mids):
        return np.array([])
    line = unit(limb.to_target)
    reach = limb.upper + (limb.carry @ mids @ limb.lower)
    along = reach / np.linalg.norm(reach, axis=-1, keepdims=True)
    out = limb.upper - along * (along @ limb.upper)[:, None]
    out /= np.linalg.norm(out, axis=-1, keepdims=True)
    before = np.stack([along, out, np.cross(along, out)], axis=-1)
    after = np.stack([line, limb.elbow, np.cross(line, limb.elbow)], axis=-1)
    angles = np.linspace(-math.pi, math.pi, STEPS, endpoint=False)
    turned = axis_matrix(line, angles)[:, None] @ (after @ np.swapaxes(before, -1, -2))[None]
    is_legal = (excess(root_limits, turned) <= 0.0).any(axis=1)
    return np.abs(angles[is_legal])
