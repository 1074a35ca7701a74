"""The demo: a rig that Blender ships walks, gets IK on its limbs, sends a hand after a ball, and is baked.

Writes a .blend and a picture, and fails where a limb's end is off its goal. Calls
the same plain functions as the operators.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bpy
from mathutils import Vector

from ..bake.baking import bake
from ..bake.motion import add_limbs
from ..bake.options import BakeOptions
from ..files.opening import save_file
from ..rig.session import current_scene, evaluated, frames_per_second, pose_bones
from ..rig.setting_up.setup import limb_plans
from ..solvers.blending import effective_weight
from .figure import dress
from .picture import Say, pose_strip, silent
from .stage import MAX_ERROR, begin
from .walker import LAST_FRAME, walking_human

REACHING_TIP, REACHING_BONES = "forearm.R", frozenset(("upper_arm.R", "forearm.R", "hand.R"))
IK_ON_FRAME, IK_OFF_FRAME = 19, 43
BLEND_TIME = 0.25
# From the hips at rest, metres: in front of the right shoulder, within the arm's reach.
BALL_CENTRE, BALL_RADIUS, BALL_FRAMES = Vector((-0.33, -0.36, 0.52)), 0.13, 30
PICTURE_FRAMES = (10, 16, 22, 25, 31, 37, 46, 52)

Ends = Mapping[str, Vector]


def run(folder: Path, say: Say = silent) -> tuple[str, int]:
    """Makes the demo in a folder; ``say`` is told what is done.

    Returns:
        What was done, in words, and the exit status: 1 where an end missed its goal.
    """
    begin(folder)
    say("making a figure that walks")
    obj = walking_human()
    plans = limb_plans(obj, arms=True, legs=True, target_kind='EMPTY', target_space='FK')
    ends = {plan.tip: plan.end_bone or "" for plan in plans}
    fk = [_ends(obj, ends, frame) for frame in _frames()]
    say("adding IK and baking it")
    began = time.perf_counter()
    add_limbs(bpy.context, obj)
    added = time.perf_counter() - began
    ball = _send_hand(obj)
    report = bake(bpy.context, [obj], BakeOptions(1, LAST_FRAME))
    say("measuring how exact it is")
    errors = _errors(obj, ends, fk, ball)
    dress(obj, REACHING_BONES, ball)
    current_scene().frame_set(1)
    save_file(folder / "demo.blend")
    captions = {frame: _caption(frame) for frame in PICTURE_FRAMES}
    pose_strip(folder / "demo.png", captions, obj, "spine", say=say)
    status = 1 if max(errors.values()) > MAX_ERROR else 0
    return _words(folder, errors, f"IK added in {added:.3f} s. {report.sentence()}."), status


def _frames() -> range:
    return range(1, LAST_FRAME + 1)


def _ends(obj: bpy.types.Object, ends: Mapping[str, str], frame: int) -> Ends:
    """Where each limb's end stands on a frame: world space."""
    current_scene().frame_set(frame)
    now = evaluated(obj)
    return {tip: now.matrix_world @ pose_bones(now)[end].head for tip, end in ends.items()}


def _send_hand(obj: bpy.types.Object) -> bpy.types.Object:
    """Gives the right arm a ball to follow, with IK switched on and off along the way."""
    ball = bpy.data.objects.new("Ball Target", None)
    ball.empty_display_size = 0.05
    current_scene().collection.objects.link(ball)
    for frame in _frames():
        turn = math.tau * frame / BALL_FRAMES
        circle = Vector((0.3 * math.sin(turn), math.cos(turn), math.sin(turn))) * BALL_RADIUS
        ball.location = _ends(obj, {"hips": "spine"}, frame)["hips"] + BALL_CENTRE + circle
        ball.keyframe_insert("location", frame=frame)
    tip: Any = pose_bones(obj)[REACHING_TIP]
    replaced = (tip.limb_ik_target, tip.limb_ik_pole)
    tip.limb_ik_target, tip.limb_ik_pole = ball, None
    tip.limb_ik_target_space, tip.limb_ik_end_rotation = 'WORLD', 'KEEP_LOCAL'
    for made in replaced:
        bpy.data.objects.remove(made)
    tip.limb_ik_blend_time = BLEND_TIME
    for frame, is_on in ((1, False), (IK_ON_FRAME, True), (IK_OFF_FRAME, False)):
        tip.limb_ik_use_ik = is_on
        tip.keyframe_insert("limb_ik_use_ik", frame=frame)
    return ball


def _weight(frame: int) -> float:
    """How much of IK the right arm has."""
    blend_frames = BLEND_TIME * frames_per_second(current_scene())
    was_on = IK_ON_FRAME <= frame - blend_frames < IK_OFF_FRAME
    return effective_weight(frame, 1.0, was_on, ((IK_ON_FRAME, 1), (IK_OFF_FRAME, -1)), blend_frames)


def _errors(obj: bpy.types.Object, ends: Mapping[str, str], fk: list[Ends], ball: bpy.types.Object) -> dict[str, float]:
    """By tip, the largest distance of the baked end from its goal, in parts of the limb's length.

    The goal is the ball while the arm follows it, else where the walk has the end.
    """
    errors = dict.fromkeys(ends, 0.0)
    for frame, walked in zip(_frames(), fk, strict=True):
        for tip, end in _ends(obj, ends, frame).items():
            weight = _weight(frame) if tip == REACHING_TIP else 0.0
            if weight in (0.0, 1.0):
                goal = ball.matrix_world.translation if weight else walked[tip]
                errors[tip] = max(errors[tip], (end - goal).length / _length(obj, tip))
    return errors


def _length(obj: bpy.types.Object, tip: str) -> float:
    lower: bpy.types.PoseBone = pose_bones(obj)[tip]
    return lower.length + (lower.parent.length if lower.parent else 0.0)


def _caption(frame: int) -> str:
    return f"frame {frame}   IK {_weight(frame):.0%}"


def _words(folder: Path, errors: Mapping[str, float], done: str) -> str:
    lines = [done, *(f"{tip}: largest error {error:.1e} of the limb's length" for tip, error in errors.items())]
    return "\n".join([*lines, f"written: {folder / 'demo.blend'}, {folder / 'demo.png'}"])
