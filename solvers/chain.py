"""Values that go into the solvers and come out of them; no bpy, no Blender data.

A chain is a row of joints from root to tip, as the FK pose has them. Every
position and orientation is in **armature space** unless a name says otherwise.
Solvers never change their arguments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from mathutils import Quaternion, Vector


class Status(StrEnum):
    """How a solve ended; the names are those of ``limb_ik_status``."""

    IDLE = "IDLE"
    REACHED = "REACHED"
    TOO_FAR = "TOO_FAR"
    TOO_NEAR = "TOO_NEAR"
    LIMITED = "LIMITED"
    INVALID = "INVALID"


class JointKind(StrEnum):
    """What a joint's limits bind; the names are those of ``limb_ik_joint_kind``."""

    FREE = "FREE"
    HINGE = "HINGE"
    BALL = "BALL"


@dataclass(frozen=True, slots=True)
class JointLimits:
    """Limits of one joint.

    Space: the bone's rest frame (its frame at zero local rotation).
    Units: radians, from rest. ``HINGE`` uses ``hinge_axis``, ``min_angle`` and
    ``max_angle``; ``BALL`` the swing and twist bounds.
    """

    kind: JointKind = JointKind.FREE
    hinge_axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    min_angle: float = -math.pi
    max_angle: float = math.pi
    swing_x_min: float = -math.pi
    swing_x_max: float = math.pi
    swing_z_min: float = -math.pi
    swing_z_max: float = math.pi
    twist_min: float = -math.pi
    twist_max: float = math.pi


FREE_JOINT = JointLimits()


@dataclass(frozen=True, slots=True)
class Joint:
    """One turned bone of a chain in the FK pose.

    Space: armature. ``head`` is the point the bone turns about, ``fk`` its FK
    orientation, ``frame`` the orientation it would have at zero local rotation
    under its parent's FK pose (``fk == frame @ local rotation``). ``frame``
    turns with the joint before it where ``follows_parent`` is true.
    ``share``: look-at's part of the turn; LEG's bend factor weight.
    """

    head: Vector
    fk: Quaternion
    frame: Quaternion
    limits: JointLimits = FREE_JOINT
    share: float = 1.0
    follows_parent: bool = True


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain in its FK pose.

    Space: armature, but ``bend_axis`` (root bone's local space; zero: none
    stored) and ``rest_heads`` (armature space of the **rest** pose: one head per
    joint and then the end, root to tip; used where FK is too straight to show
    how the chain bends).
    """

    joints: tuple[Joint, ...]
    end: Vector
    bend_axis: Vector = field(default_factory=Vector)
    rest_heads: tuple[Vector, ...] = ()


@dataclass(frozen=True, slots=True)
class Goal:
    """What a chain is asked to reach.

    Space: armature; ``pole`` None: FK's side. Units: radians; lengths in armature
    units. ``softness`` and ``max_reach`` are parts of the chain's length.
    ``origin_distance``: how far from the world's origin the limb stands, in
    armature units (float32 positions are coarser there; widens the dead zone).
    ``look_axis``, ``up_axis``: unit axes of the tip bone's local space (look-at).
    ``start``: deltas of the frame before (warm start), None for the FK pose.
    """

    target: Vector
    pole: Vector | None = None
    pole_angle: float = 0.0
    softness: float = 0.0
    max_reach: float = 1.0
    iterations: int = 10
    tolerance: float = 1e-3
    origin_distance: float = 0.0
    use_limits: bool = True
    look_axis: Vector = field(default_factory=lambda: Vector((0.0, 1.0, 0.0)))
    up_axis: Vector = field(default_factory=lambda: Vector((0.0, 0.0, 1.0)))
    start: tuple[Quaternion, ...] | None = None


@dataclass(frozen=True, slots=True)
class Solution:
    """What a solver answers.

    ``deltas``: one unit quaternion per joint, armature space; the joint's solved
    orientation is ``delta @ fk``. ``error``: length missed, armature units.
    ``reason``: why it was missed or what is doubtful, in a few words without
    figures of length ("knee at its limit of 150°", "pole on the limb's line"); empty
    where all is well.
    """

    deltas: tuple[Quaternion, ...]
    status: Status
    error: float = 0.0
    reason: str = ""
