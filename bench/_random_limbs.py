"""Limbs at random with limits at random: any frames, hinges also askew, unequal ranges anywhere."""

from __future__ import annotations

import math
from typing import NamedTuple

import bpy  # noqa: F401  (first: mathutils is part of it)
import numpy as np
from limb_ik.solvers.chain import Chain, Goal, Joint, JointKind, JointLimits
from mathutils import Quaternion, Vector

Array = np.ndarray


class Case(NamedTuple):
    chain: Chain
    goal: Goal
    is_legal_target: bool


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
