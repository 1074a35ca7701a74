"""The reach: an arm with a shoulder and an elbow that turn only so far, after a ball that it can't always have.

Must not render.
"""

from __future__ import annotations

import math
from typing import Any

import bpy
from mathutils import Vector

from ..rig.session import pose_bones
from ..rig.setting_up.setup import ChainPlan
from .figure import dress
from .picture import View
from .stage import BALL_RADIUS, Scene, chain_on, end_missed, length_of, moving_ball
from .walker import metarig

UPPER, LOWER, HAND = "upper_arm.R", "forearm.R", "hand.R"
ELBOW = (-30.0, 115.0)
SHOULDER = {"swing_x": (-75.0, 75.0), "swing_z": (-75.0, 75.0), "twist": (-70.0, 70.0)}
LAST_FRAME = 97
# Metres, armature space; the figure looks along -Y, its right is -X.
PLACES = {
    1: (-0.45, -0.3, 1.35),
    25: (-0.4, -0.4, 1.62),
    49: (-0.2, -0.12, 1.5),
    73: (-0.3, 0.4, 1.4),
    97: (-0.9, 0.15, 1.95),
}
CAPTIONS = {1: "in reach", 25: "in reach", 49: "too near", 73: "to the side", 97: "too far"}


def build() -> Scene:
    """The scene in the current, empty file."""
    obj = metarig("human", "Reacher")
    ball = moving_ball(PLACES, BALL_RADIUS)
    tip = chain_on(obj, ChainPlan(LOWER, 'TWO_BONE', 2, HAND, use_pole=False, kind="arm"), ball)
    _hinge(obj, tip)
    shoulder: Any = pose_bones(obj)[UPPER]
    shoulder.limb_ik_joint_kind = 'BALL'
    for part, (low, high) in SHOULDER.items():
        setattr(shoulder, f"limb_ik_joint_{part}_min", math.radians(low))
        setattr(shoulder, f"limb_ik_joint_{part}_max", math.radians(high))
    dress(obj, frozenset((UPPER, LOWER, HAND)))
    view = View(Vector((-0.8, -0.75, 0.25)).normalized(), 1.75, 380, 440, has_band=True)
    lengths = {LOWER: length_of(obj, LOWER)}
    centre = Vector((-0.12, 0.0, 1.22))
    return Scene(obj, LAST_FRAME, CAPTIONS, view, centre, lengths, lambda name: end_missed(obj, name), [LOWER])


def _hinge(obj: bpy.types.Object, tip: Any) -> None:
    """The elbow as a hinge about the axis that the limb was set up to bend about."""
    axis_arm = pose_bones(obj)[UPPER].bone.matrix_local.to_3x3() @ Vector(tip.limb_ik_bend_axis)
    tip.limb_ik_joint_kind = 'HINGE'
    tip.limb_ik_joint_hinge_axis = tip.bone.matrix_local.to_3x3().inverted() @ axis_arm
    tip.limb_ik_joint_min_angle, tip.limb_ik_joint_max_angle = (math.radians(degrees) for degrees in ELBOW)
