"""The geometry of looking: a chain that looks, and a turn split into yaw and pitch.

Yaw is about FK's up; the pitch that is left is the shortest swing. What is shared, what
limits allow and when a turn falls is decided in ``look_at``. No Blender data (no bpy).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .blending import rise
from .chain import Chain, Goal, JointKind, JointLimits
from .rotations import (
    Quat,
    as_quat,
    from_axis_angle,
    from_rotation_vector,
    multiply,
    normalized,
    rotate,
    shortest_arc,
    to_rotation_vector,
)
from .vectors import (
    Vec,
    add,
    any_perpendicular,
    as_vec,
    cross,
    dot,
    length,
    perpendicular_part,
    subtract,
    unit,
)

POLE_SHIFT = 0.05
"""Sine of about 3 degrees: straight up and down are ordinary directions; the one without a yaw lies so far behind."""
POLE_REACH = 0.15
"""Sine of the angle from straight up (8.6 degrees) within which the shift bends yaw; thrice the shift: one-to-one."""
PARALLEL = 1e-3
"""Sine under which up and look count as parallel; then up is any direction at right angles."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Yaw about up, after pitch: a rotation vector, along FK's right but within ``POLE_REACH`` of straight up or down.

    Space: armature. Units: radians.
    """

    yaw: float
    pitch: Vec


@dataclass(frozen=True, slots=True)
class Link:
    """A joint in doubles; ``limits`` None: free.

    Space: armature. ``part``: of the turn, summed from the root; ``handed``: of what the tip refuses.
    """

    head: Vec
    fk: Quat
    frame: Quat
    limits: JointLimits | None
    follows: bool
    part: float
    handed: float


@dataclass(frozen=True, slots=True)
class Gaze:
    """The chain and what it looks at. Space: armature. ``look``, ``up``: FK's directions, at right angles."""

    links: tuple[Link, ...]
    look: Vec
    up: Vec
    target: Vec
    size: float


def gaze_of(chain: Chain, goal: Goal) -> Gaze:
    """The chain in doubles.

    Space: armature. Undefined input: up along look gives a fixed direction at right angles; negative shares count as 0.
    """
    fk = normalized(as_quat(chain.joints[-1].fk))
    look, raw_up = rotate(fk, unit(as_vec(goal.look_axis))), rotate(fk, unit(as_vec(goal.up_axis)))
    part = perpendicular_part(raw_up, look)
    up = unit(part) if length(part) > PARALLEL else any_perpendicular(look)
    points = [as_vec(joint.head) for joint in chain.joints] + [as_vec(chain.end)]
    size = sum(length(subtract(b, a)) for a, b in pairwise(points))
    return Gaze(_links(chain, goal.use_limits), look, up, as_vec(goal.target), size)


def _links(chain: Chain, use_limits: bool) -> tuple[Link, ...]:
    shares = [max(joint.share, 0.0) for joint in chain.joints]
    total, before_tip = sum(shares), sum(shares[:-1])
    links, summed = [], 0.0
    for joint, share in zip(chain.joints, shares, strict=True):
        summed += share
        is_bound = use_limits and joint.limits.kind != JointKind.FREE
        part, handed = summed / total if total > 0.0 else 0.0, summed / before_tip if before_tip > 0.0 else 0.0
        fk, frame = normalized(as_quat(joint.fk)), normalized(as_quat(joint.frame))
        limits = joint.limits if is_bound else None
        links.append(Link(as_vec(joint.head), fk, frame, limits, joint.follows_parent, part, handed))
    tip = links[-1]
    return (*links[:-1], Link(tip.head, tip.fk, tip.frame, tip.limits, tip.follows, 1.0, 0.0))


def eye_at(gaze: Gaze, deltas: Sequence[Quat]) -> Vec:
    """Where the tip's head is once the joints before it have turned. Space: armature."""
    eye = gaze.links[0].head
    for before, link, delta in zip(gaze.links, gaze.links[1:], deltas, strict=False):
        eye = add(eye, rotate(delta, subtract(link.head, before.head)))
    return eye


def turn_toward(gaze: Gaze, direction: Vec) -> Turn:
    """The turn from FK that looks along ``direction``.

    Space: armature. Units: radians. Undefined input: about 3 degrees behind straight up and down, where every yaw
    would do, yaw passes from one side to the other at once.
    """
    front, side = dot(direction, gaze.look), dot(direction, cross(gaze.up, gaze.look))
    shift = POLE_SHIFT * (1.0 - rise(math.hypot(front, side), 0.0, POLE_REACH))
    yaw = math.atan2(side, front + shift)
    before_yaw = rotate(from_axis_angle(gaze.up, -yaw), direction)
    pitch = to_rotation_vector(shortest_arc(gaze.look, before_yaw, cross(gaze.look, gaze.up)))
    return Turn(yaw, pitch)


def delta_of(gaze: Gaze, yaw: float, pitch: Vec) -> Quat:
    """The rotation of a turn. Space: armature, from FK."""
    return multiply(from_axis_angle(gaze.up, yaw), from_rotation_vector(pitch))


def yaw_of(gaze: Gaze, delta: Quat) -> float:
    """Yaw of where a joint that has turned by ``delta`` from FK takes the look. Units: radians, -180 to 180 degrees."""
    return turn_toward(gaze, rotate(delta, gaze.look)).yaw
