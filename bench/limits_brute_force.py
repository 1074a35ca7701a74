"""Two bones with joint limits against brute force: is every reachable target reached, nearest to the pole?

    PYTHONPATH=.typecheck python bench/limits_brute_force.py [--cases 100000] [--seed 1]

Random limbs (any frames, hinges also askew, unequal ranges anywhere), half of the targets taken from legal poses.
Brute force turns each limb about its line in steps and measures every pose with formulas of its own (numpy
matrices, no code of the solver). Prints counts; exit status 1 where the two disagree.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy  # noqa: F401  (first: mathutils is part of it)
import numpy as np
from limb_ik.solvers import two_bone_limits
from limb_ik.solvers.bend_plane import fk_limb, kept_offset, solved_triangle
from limb_ik.solvers.chain import Chain, Goal, Joint, JointKind, JointLimits, Status
from limb_ik.solvers.two_bone import aimed
from mathutils import Quaternion, Vector

STEPS = 720
"""Swivels tried per way to bend: every half degree."""
ROLLS = 72
"""Rolls of the upper bone tried where the mid joint is no hinge: every five degrees."""
SLACK = 2e-5
"""Radians: what float32 deltas and frames cost, also where twist is badly conditioned."""
MISSED = 1e-5
"""Part of the length within which a target is reached."""
STRAIGHT = 0.02
"""Elbow height, part of the length, below which its direction is left to roll."""

Array = np.ndarray


class Case(NamedTuple):
    chain: Chain
    goal: Goal
    is_legal_target: bool


@dataclass
class Tally:
    """Counts over all cases."""

    cases: int = 0
    legal_targets: int = 0
    legal_missed: int = 0
    reached: int = 0
    illegal: int = 0
    unreached: int = 0
    further_from_pole: int = 0
    compared_swivels: int = 0
    worst_excess: float = 0.0
    worst_swivel: float = 0.0
    seconds: float = 0.0
    misses: list[float] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)

    @property
    def disagreements(self) -> int:
        return self.legal_missed + self.illegal + self.unreached + self.further_from_pole


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


# random limbs


def random_case(rng: np.random.Generator, root_kind: JointKind, mid_kind: JointKind, tilted: bool) -> Case:
    """A limb in a legal FK pose with a target that is legal in half of the cases."""
    root_limits, mid_limits = random_limits(rng, root_kind, False), random_limits(rng, mid_kind, True)
    upper_length, lower_length = rng.uniform(0.3, 1.0, 2)
    upper = upper_length * (unit(rng.normal(size=3)) if tilted else np.array([0.0, 1.0, 0.0]))
    lower = np.array([0.0, lower_length, 0.0])
    frame = quaternion(rng.normal(size=4))
    carry = quaternion(rng.normal(size=4) * 0.3 + np.array([1.0, 0, 0, 0]))
    if tilted:
        carry = Vector((0, 1, 0)).rotation_difference(Vector(upper)) @ carry
    head = Vector(rng.normal(size=3))
    fk, end = posed(rng, head, frame, carry, upper, lower, root_limits, mid_limits)
    mid = head + fk[0] @ Vector(upper)
    hinge = carry @ Vector(mid_limits.hinge_axis)
    joints = (
        Joint(head, fk[0], frame, root_limits),
        Joint(mid, fk[1], fk[0] @ carry, mid_limits),
    )
    chain = Chain(joints, end, hinge)
    is_legal_target = bool(rng.integers(2))
    if is_legal_target:
        target = posed(rng, head, frame, carry, upper, lower, root_limits, mid_limits)[1]
    else:
        distance = rng.uniform(0.8 * abs(upper_length - lower_length), 1.1 * (upper_length + lower_length))
        target = head + Vector(unit(rng.normal(size=3)) * distance)
    return Case(chain, Goal(target, head + Vector(rng.normal(size=3) * 2)), is_legal_target)


def random_limits(rng: np.random.Generator, kind: JointKind, is_mid: bool) -> JointLimits:
    radians = math.radians
    if kind == JointKind.HINGE:
        axis = np.array([1.0, 0, 0]) if rng.random() < 0.5 else unit(np.array([1.0, 0, 0]) + rng.normal(size=3) * 0.25)
        low = rng.uniform(-20, 40) if is_mid else rng.uniform(-90, 20)
        return JointLimits(kind, tuple(axis), radians(low), radians(low + rng.uniform(20, 130)))
    if kind == JointKind.BALL:
        bounds = [radians(b) for _ in "xz" for b in (-rng.uniform(0, 85), rng.uniform(0, 85))]
        middle, half = rng.uniform(-90, 90), rng.uniform(0, 90)
        return JointLimits(
            kind,
            swing_x_min=bounds[0], swing_x_max=bounds[1], swing_z_min=bounds[2], swing_z_max=bounds[3],
            twist_min=radians(middle - half), twist_max=radians(middle + half),
        )  # fmt: skip
    return JointLimits()


def posed(
    rng: np.random.Generator, head: Vector, frame: Quaternion, carry: Quaternion, upper: Array, lower: Array,
    root_limits: JointLimits, mid_limits: JointLimits,
) -> tuple[tuple[Quaternion, Quaternion], Vector]:  # fmt: skip
    """Orientations and end of a random legal pose."""
    root_fk = frame @ random_local(rng, root_limits)
    mid_fk = root_fk @ carry @ random_local(rng, mid_limits)
    return (root_fk, mid_fk), head + root_fk @ Vector(upper) + mid_fk @ Vector(lower)


def random_local(rng: np.random.Generator, limits: JointLimits) -> Quaternion:
    if limits.kind == JointKind.HINGE:
        return Quaternion(Vector(limits.hinge_axis), rng.uniform(limits.min_angle, limits.max_angle))
    if limits.kind == JointKind.FREE:
        return Quaternion(unit(np.array([1.0, 0, 0]) + 0.3 * rng.normal(size=3)), rng.uniform(0.1, 2.0))
    swing_x = rng.uniform(limits.swing_x_min, limits.swing_x_max)
    swing_z = rng.uniform(limits.swing_z_min, limits.swing_z_max)
    direction = Vector((-math.tan(swing_z), 1.0, math.tan(swing_x))).normalized()
    twist = Quaternion((0, 1, 0), rng.uniform(limits.twist_min, limits.twist_max))
    return Vector((0, 1, 0)).rotation_difference(direction) @ twist


def unit(v: Array) -> Array:
    return v / np.linalg.norm(v)


def quaternion(values: Array) -> Quaternion:
    return Quaternion(values).normalized()


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


def check(case: Case, tally: Tally) -> None:
    """Solve a case, measure the answer, compare it with brute force."""
    start = time.perf_counter()
    solution = two_bone_limits.solve(case.chain, case.goal)
    tally.seconds += time.perf_counter() - start
    limb = limb_of(case)
    root, mid = case.chain.joints
    pairs = zip(solution.deltas, case.chain.joints, strict=True)
    root_now, mid_now = (matrix(np.array(delta)) @ matrix(np.array(joint.fk)) for delta, joint in pairs)
    root_local = matrix(np.array(root.frame)).T @ root_now
    mid_local = (root_now @ limb.carry).T @ mid_now
    over = float(max(excess(root.limits, root_local), excess(mid.limits, mid_local)))
    end = np.array(root.head) + root_now @ limb.upper + mid_now @ limb.lower
    miss = float(np.linalg.norm(end - np.array(case.goal.target))) / limb.length
    tally.cases += 1
    tally.worst_excess = max(tally.worst_excess, over)
    tally.illegal += over > SLACK
    is_reached = miss <= MISSED
    tally.reached += is_reached
    if abs(miss - solution.error / limb.length) > MISSED:
        tally.bad.append("the error told is not the one measured")
    tally.legal_targets += case.is_legal_target
    tally.legal_missed += case.is_legal_target and not is_reached
    if solution.status in (Status.TOO_FAR, Status.TOO_NEAR) and not case.is_legal_target:
        return
    swivels = legal_swivels(case, limb, 0.0) if root.limits.kind != JointKind.HINGE else np.array([])
    if len(swivels) and not is_reached:
        tally.unreached += 1
    if len(swivels) and is_reached and limb.height > STRAIGHT * limb.length and not limb.is_over:
        elbow = root_local @ limb.upper
        line = unit(limb.to_target)
        out = elbow - line * (line @ elbow)
        swivel = abs(math.atan2(np.cross(limb.elbow, out) @ line, limb.elbow @ out))
        tally.compared_swivels += 1
        further = swivel - float(swivels.min())
        tally.worst_swivel = max(tally.worst_swivel, further)
        tally.further_from_pole += further > 2e-3
    if not is_reached:
        tally.misses.append(miss)


FAMILIES = [
    ("hinge knee, ball root", JointKind.BALL, JointKind.HINGE, False, 0.6),
    ("hinge knee, free root", JointKind.FREE, JointKind.HINGE, False, 0.1),
    ("ball knee, ball root", JointKind.BALL, JointKind.BALL, False, 0.1),
    ("free knee, ball root", JointKind.BALL, JointKind.FREE, False, 0.1),
    ("hinge knee, ball root, bone Y off the limb", JointKind.BALL, JointKind.HINGE, True, 0.05),
    ("hinge knee, hinge root", JointKind.HINGE, JointKind.HINGE, False, 0.03),
    ("free knee, hinge root", JointKind.HINGE, JointKind.FREE, False, 0.01),
    ("ball knee, hinge root", JointKind.HINGE, JointKind.BALL, False, 0.01),
]
"""Name, kinds of the root and the mid joint, whether bones point off the limb, part of the cases."""


def run(cases: int, seed: int) -> dict[str, Tally]:
    """All families; the same seed gives the same cases."""
    tallies: dict[str, Tally] = {}
    for number, (name, root_kind, mid_kind, tilted, part) in enumerate(FAMILIES):
        rng = np.random.default_rng([seed, number])
        tally = tallies[name] = Tally()
        for _ in range(round(cases * part)):
            check(random_case(rng, root_kind, mid_kind, tilted), tally)
    return tallies


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    disagreements = 0
    for name, tally in run(options.cases, options.seed).items():
        print(
            f"{name}: {tally.cases} cases, {tally.reached} reached;"
            f" legal targets missed {tally.legal_missed}/{tally.legal_targets};"
            f" brute force reaches but not we {tally.unreached};"
            f" illegal {tally.illegal} (worst {tally.worst_excess:.1e} rad);"
            f" brute force nearer to the pole {tally.further_from_pole}/{tally.compared_swivels}"
            f" (worst {tally.worst_swivel:.1e} rad);"
            f" {1e6 * tally.seconds / max(tally.cases, 1):.0f} µs a solve",
            flush=True,
        )
        disagreements += tally.disagreements + len(tally.bad)
    print(f"{disagreements} disagreements")
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
