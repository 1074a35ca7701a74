"""The tail: a cat's, twelve bones, that goes after a ball with FABRIK and stretches where the ball is too far.

Must not render.
"""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Vector

from ..rig.session import current_view_layer
from ..rig.setting_up.setup import ChainPlan
from .figure import Colour, floor, light_stage
from .picture import View
from .stage import Scene, chain_on, end_missed, figure, length_of, moving_ball
from .walker import metarig

FUR: Colour = (0.25, 0.26, 0.3, 1.0)
TAIL: Colour = (0.9, 0.2, 0.02, 1.0)
EYE: Colour = (0.02, 0.16, 0.28, 1.0)
TAIL_BONES = ("tail.001", "tail.002", "tail.003", "tail.004")
CUTS = 2
PARTS = {
    "spine": (0.052, FUR), "spine.001": (0.055, FUR), "spine.002": (0.056, FUR), "spine.003": (0.058, FUR),
    "spine.004": (0.045, FUR), "spine.005": (0.045, FUR), "spine.006": (0.05, FUR), "nose.001": (0.012, FUR),
    "shoulder": (0.028, FUR), "upper_arm": (0.02, FUR), "forearm": (0.015, FUR), "hand": (0.014, FUR),
    "f_toe": (0.014, FUR), "thigh": (0.034, FUR), "shin": (0.02, FUR), "foot": (0.014, FUR), "r_toe": (0.014, FUR),
    "ear.L.002": (0.014, FUR), "ear.R.002": (0.014, FUR), "eye": (0.009, EYE),
}  # fmt: skip
LAST_FRAME = 97
# Metres, armature space: the ball at the tail's end, above the back, to the side, low behind, too far away.
BALL_RADIUS = 0.022
PLACES = {1: (0, 0.53, 0.25), 25: (0, 0.12, 0.52), 49: (0.2, 0.25, 0.3), 73: (0, 0.44, 0.03), 97: (0, 0.66, 0.44)}
CAPTIONS = {1: "at rest", 25: "over the back", 49: "to the side", 73: "low", 97: "too far away"}


def build() -> Scene:
    """The scene in the current, empty file."""
    obj = metarig("cat", "Cat")
    row = _finer_tail(obj)
    ball = moving_ball(PLACES, BALL_RADIUS)
    tip = row[-1]
    plan = ChainPlan(tip, 'FABRIK', chain_length=len(row), end_bone="", use_pole=False)
    chain_on(obj, plan, ball)
    thick = {name: (0.017 - 0.0007 * number, TAIL) for number, name in enumerate(row)}
    figure(obj, {**PARTS, **thick})
    floor()
    light_stage()
    view = View(Vector((0.8, 0.55, 0.3)).normalized(), 0.95, 460, 440, has_band=True)
    lengths = {tip: length_of(obj, tip)}
    centre = Vector((0.0, 0.14, 0.2))
    return Scene(obj, LAST_FRAME, CAPTIONS, view, centre, lengths, lambda name: end_missed(obj, name), [tip])


def _finer_tail(obj: bpy.types.Object) -> list[str]:
    """Each bone of the tail in three; their names from root to tip."""
    current_view_layer().objects.active = obj
    bpy.ops.object.mode_set(mode='EDIT')
    edit: Any = obj.data
    for bone in edit.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name in TAIL_BONES
    bpy.ops.armature.subdivide(number_cuts=CUTS)
    bpy.ops.object.mode_set(mode='OBJECT')
    armature: Any = obj.data
    bone, row = armature.bones[TAIL_BONES[0]], [TAIL_BONES[0]]
    while bone.children:
        bone = bone.children[0]
        row.append(bone.name)
    return row
