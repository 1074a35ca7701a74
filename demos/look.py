"""The look: a head that turns with neck and chest after a ball, and eyes that go on where the head may not.

Must not render.
"""

from __future__ import annotations

import math
from typing import Any

import bpy
from mathutils import Vector

from ..rig.session import evaluated, pose_bones
from ..rig.setting_up.setup import ChainPlan
from .figure import BALL, BODY, LIMB, REACHING, Colour, floor, light_stage, material_of, sphere
from .picture import View
from .stage import Scene, chain_on, figure, length_of, moving_ball
from .walker import metarig

HEAD, EYES = "spine.006", ("eye.L", "eye.R")
WHITE: Colour = (0.9, 0.9, 0.88, 1.0)
INK: Colour = (0.02, 0.02, 0.03, 1.0)
EYE_RADIUS, PUPIL_RADIUS = 0.034, 0.017
PARTS = {
    "spine": (0.135, BODY), "spine.001": (0.12, BODY), "spine.002": (0.13, BODY), "spine.003": (0.15, REACHING),
    "spine.004": (0.052, REACHING), "spine.005": (0.05, REACHING), "spine.006": (0.105, REACHING),
    "nose": (0.02, BALL), "shoulder": (0.055, BODY), "upper_arm": (0.048, LIMB),
}  # fmt: skip
# Of the turn, by bone of the head's chain; how far each may turn to a side, degrees.
SHARES = {"spine.003": 0.15, "spine.004": 0.25, "spine.005": 0.25, "spine.006": 0.35}
SIDEWAYS = {"spine.003": 8.0, "spine.004": 18.0, "spine.005": 18.0, "spine.006": 30.0}
EYE_SWING = 35.0
LAST_FRAME = 97
# Metres, armature space; the figure looks along -Y.
PLACES = {
    1: (0.1, -1.1, 1.8),
    25: (0.75, -0.75, 2.1),
    49: (-0.48, -0.75, 1.55),
    73: (0.1, -0.8, 2.28),
    97: (0.5, 0.35, 1.85),
}
CAPTIONS = {1: "ahead", 25: "to its left", 49: "down right", 73: "up", 97: "past its limits"}


def build() -> Scene:
    """The scene in the current, empty file."""
    obj = metarig("human", "Watcher")
    ball = moving_ball(PLACES, 0.05)
    chain_on(obj, ChainPlan(HEAD, 'LOOK_AT', chain_length=len(SHARES), end_bone="", use_pole=False), ball)
    for name, share in SHARES.items():
        bone: Any = pose_bones(obj)[name]
        bone.limb_ik_joint_share = share
        _limit(bone, SIDEWAYS[name])
    for name in EYES:
        tip = chain_on(obj, ChainPlan(name, 'LOOK_AT', chain_length=1, end_bone="", use_pole=False), ball)
        tip.limb_ik_look_axis = 'Y'
        _limit(tip, EYE_SWING)
        _eye(obj, name)
    figure(obj, PARTS)
    floor()
    light_stage()
    view = View(Vector((0.28, -0.93, 0.12)).normalized(), 1.4, 380, 420, has_band=True)
    lengths = {tip: length_of(obj, tip) for tip in (HEAD, *EYES)}
    centre = Vector((0.05, 0.0, 1.72))
    return Scene(obj, LAST_FRAME, CAPTIONS, view, centre, lengths, lambda tip: _off(obj, tip, ball), (HEAD,))


def _limit(bone: Any, degrees: float) -> None:
    bone.limb_ik_joint_kind = 'BALL'
    for part in ("swing_x", "swing_z", "twist"):
        setattr(bone, f"limb_ik_joint_{part}_min", -math.radians(degrees))
        setattr(bone, f"limb_ik_joint_{part}_max", math.radians(degrees))


def _eye(obj: bpy.types.Object, name: str) -> None:
    """White and pupil on an eye bone, about its head; children of bones have their origin at the tail."""
    length = pose_bones(obj)[name].bone.length
    for label, radius, colour, away in (("White", EYE_RADIUS, WHITE, 0.0), ("Pupil", PUPIL_RADIUS, INK, 0.023)):
        part = sphere(f"{label} {name}", radius, material_of(label, colour), obj)
        part.parent_type, part.parent_bone = 'BONE', name
        part.location.y = away - length


def _off(obj: bpy.types.Object, tip: str, ball: bpy.types.Object) -> float:
    """How far the ball is off the line of sight, as a part of its distance times the chain's length: an angle."""
    now = evaluated(obj)
    bone: Any = pose_bones(now)[tip]
    axis = {'X': 0, 'Y': 1, 'Z': 2}[bone.limb_ik_look_axis[-1]]
    look: Any = bone.matrix.to_3x3().col[axis] * (-1.0 if bone.limb_ik_look_axis.startswith("NEG") else 1.0)
    sight = evaluated(ball).matrix_world.translation - now.matrix_world @ bone.head
    return float(look.normalized().cross(sight.normalized()).length) * length_of(obj, tip)
