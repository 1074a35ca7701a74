"""The horse: four legs of four bones each, hooves that stay where they are while the body moves.

Must not render.
"""

from __future__ import annotations

import math
from typing import Any

import bpy
from mathutils import Euler, Vector

from ..rig.session import current_scene, pose_bones
from ..rig.setting_up.setup import add_chains, limb_plans
from .figure import Colour, floor, light_stage, paint
from .picture import View
from .stage import Scene, end_missed, figure, length_of
from .walker import metarig

COAT: Colour = (0.3, 0.15, 0.07, 1.0)
LEG: Colour = (0.9, 0.2, 0.02, 1.0)
HAIR: Colour = (0.05, 0.03, 0.02, 1.0)
STONE: Colour = (0.55, 0.5, 0.42, 1.0)
PARTS = {
    "spine.001": (0.26, COAT), "spine.002": (0.27, COAT), "spine.003": (0.29, COAT), "spine.004": (0.29, COAT),
    "spine.005": (0.28, COAT), "spine.006": (0.22, COAT), "neck.001": (0.18, COAT), "neck.002": (0.15, COAT),
    "neck.003": (0.14, COAT), "neck.004": (0.13, COAT), "skull": (0.11, COAT), "shoulder": (0.13, COAT),
    "thigh": (0.14, LEG), "lower_leg": (0.08, LEG), "hind_foot": (0.05, LEG), "r_toe": (0.045, LEG),
    "r_hoof": (0.062, HAIR), "upper_arm": (0.1, LEG), "forearm": (0.065, LEG), "forefoot": (0.045, LEG),
    "f_toe": (0.043, LEG), "f_hoof": (0.06, HAIR), "tail.001": (0.05, HAIR), "tail.002": (0.06, HAIR),
    "tail.003": (0.06, HAIR), "tail.004": (0.05, HAIR), "tail.005": (0.04, HAIR),
    **{f"mane_base.0{n}": (0.075, HAIR) for n in range(1, 6)},
}  # fmt: skip
LAST_FRAME = 73
# The body by frame: metres against where it stands (armature space), degrees of pitch, nose up.
BODY = {
    1: ((0, 0, 0), 0),
    19: ((0, 0, -0.3), 0),
    37: ((0, -0.22, -0.1), -5),
    55: ((0, -0.02, -0.08), 2),
    73: ((0, 0, 0), 0),
}
LIFTED = "f_toe.L"
# The lifted hoof by frame, metres: on a block of this height, in front.
STEP_HEIGHT = 0.32
HOOF = {
    1: (0, 0, 0),
    37: (0, 0, 0),
    46: (0, -0.2, 0.5),
    55: (0, -0.3, STEP_HEIGHT),
    64: (0, -0.15, 0.45),
    73: (0, 0, 0),
}
CAPTIONS = {1: "as it stands", 19: "body 30 cm lower", 37: "leaning forward", 55: "a hoof on the block"}


def build() -> Scene:
    """The scene in the current, empty file."""
    obj = metarig("horse", "Horse")
    add_chains(bpy.context, obj, limb_plans(obj, arms=True, legs=True, target_kind='EMPTY', target_space='WORLD'))
    _key_body(obj)
    tips = [bone.name for bone in pose_bones(obj) if bone.limb_ik_solver != 'NONE']
    lifted: Any = pose_bones(obj)[LIFTED]
    target = lifted.limb_ik_target
    stands = target.location.copy()
    for frame, away in HOOF.items():
        target.location = stands + Vector(away)
        target.keyframe_insert("location", frame=frame)
    figure(obj, PARTS)
    floor()
    _block(obj.matrix_world @ pose_bones(obj)["f_hoof.L"].bone.tail_local)
    light_stage()
    view = View(Vector((0.92, -0.42, 0.16)).normalized(), 3.3, 480, 440, has_band=True)
    lengths = {tip: length_of(obj, tip) for tip in tips}
    return Scene(obj, LAST_FRAME, CAPTIONS, view, Vector((0.0, -0.02, 0.9)), lengths, lambda tip: end_missed(obj, tip))


def _key_body(obj: bpy.types.Object) -> None:
    bone = pose_bones(obj)["spine.001"]
    rest = bone.bone.matrix_local.to_quaternion()
    for frame, (away, pitch) in BODY.items():
        bone.location = rest.inverted() @ Vector(away)
        bone.rotation_quaternion = rest.inverted() @ Euler((math.radians(-pitch), 0.0, 0.0)).to_quaternion() @ rest
        for channel in ("location", "rotation_quaternion"):
            bone.keyframe_insert(channel, frame=frame)


def _block(tip_of_hoof: Vector) -> None:
    """What the lifted hoof comes to stand on."""
    x, y, z = tip_of_hoof.x, tip_of_hoof.y + HOOF[55][1], STEP_HEIGHT
    half = 0.16
    corners = [(x + a * half, y + 0.04 + b * half, c) for a in (-1, 1) for b in (-1, 1) for c in (0.0, z)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (1, 5, 7, 3), (0, 2, 6, 4)]
    mesh = bpy.data.meshes.new("Block")
    mesh.from_pydata(corners, [], faces)
    block = bpy.data.objects.new("Block", mesh)
    current_scene().collection.objects.link(block)
    paint(block, STONE)
