"""The demo's character: Rigify's human metarig, and a walk keyed on its FK bones.

The walk is made here, from a few sines and the ground: no motion is read from
anywhere. Must not know IK.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import addon_utils
import bpy
from mathutils import Quaternion, Vector

from ..files.quiet import blender_chatter
from ..rig.errors import LimbIKError
from ..rig.session import current_scene, current_view_layer, evaluated, pose_bones

FRAMES_PER_CYCLE = 24
LAST_FRAME = 60
RIGIFY = "rigify"
X_AXIS, Y_AXIS, Z_AXIS = Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))
# The metarig looks along -Y with its arms held out; degrees to lower them to its sides.
ARMS_DOWN = 52.0
# Points of a foot that may touch the ground: bone, and whether its tail.
SOLE = (("heel.02", False), ("toe", False), ("toe", True))


def walking_human() -> bpy.types.Object:
    """An armature object with the walk on frames 1 to ``LAST_FRAME``, in the current, empty file."""
    obj = metarig("human", "Walker")
    scene = current_scene()
    scene.frame_start, scene.frame_end = 1, LAST_FRAME
    for frame in range(1, LAST_FRAME + 1):
        _key_pose(obj, frame)
    _walk_on_ground(obj)
    return obj


def metarig(kind: str, name: str) -> bpy.types.Object:
    """One of Rigify's metarigs (human, horse, cat), in object mode."""
    with blender_chatter(), _rigify():
        getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    obj = current_view_layer().objects.active
    if obj is None:
        raise LimbIKError(f"Rigify made no {kind} metarig")
    if obj.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    obj.name = name
    return obj


@contextmanager
def _rigify() -> Iterator[None]:
    """Rigify, which comes with Blender, enabled while it lasts.

    Since Blender 5.0 it leaves a handler behind that fails on every file with an armature.
    """
    handlers = list(bpy.app.handlers.load_post)
    was_enabled = addon_utils.check(RIGIFY)[1]
    if not was_enabled and cast(Any, addon_utils).enable(RIGIFY, default_set=True) is None:
        raise LimbIKError("Blender's add-on Rigify, which has the demo's rig, can't be enabled")
    try:
        yield
    finally:
        if not was_enabled:
            addon_utils.disable(RIGIFY, default_set=True)
            bpy.app.handlers.load_post[:] = handlers


def _key_pose(obj: bpy.types.Object, frame: int) -> None:
    phase = math.tau * (frame - 1) / FRAMES_PER_CYCLE
    for side, sign, swing in (("L", 1.0, phase), ("R", -1.0, phase + math.pi)):
        _key_leg(obj, side, swing, frame)
        _key_arm(obj, side, sign, swing + math.pi, frame)
    _key(obj, "spine", frame, (Z_AXIS, 5.0 * math.sin(phase)), (Y_AXIS, 2.0 * math.cos(phase)))
    _key(obj, "spine.001", frame, (X_AXIS, -2.0))
    _key(obj, "spine.003", frame, (Z_AXIS, -11.0 * math.sin(phase)))
    _key(obj, "spine.006", frame, (Z_AXIS, 6.0 * math.sin(phase)))


def _key_leg(obj: bpy.types.Object, side: str, phase: float, frame: int) -> None:
    """Forward is a negative turn about X; the knee bends most while the thigh swings forward."""
    thigh = -6.0 - 21.0 * math.sin(phase)
    knee = 6.0 + 56.0 * ((1.0 + math.cos(phase + 0.1)) / 2.0) ** 2
    heel_strike = 16.0 * max(0.0, math.sin(phase - 0.1)) ** 3
    push_off = 42.0 * max(0.0, -math.sin(phase + 0.35)) ** 3
    _key(obj, f"thigh.{side}", frame, (X_AXIS, thigh))
    _key(obj, f"shin.{side}", frame, (X_AXIS, knee))
    _key(obj, f"foot.{side}", frame, (X_AXIS, push_off - heel_strike - thigh - knee))
    _key(obj, f"toe.{side}", frame, (X_AXIS, -0.9 * push_off))


def _key_arm(obj: bpy.types.Object, side: str, sign: float, phase: float, frame: int) -> None:
    down = sign * math.radians(ARMS_DOWN)
    lateral = Vector((math.cos(down), 0.0, math.sin(down)))  # what is X for the lowered arm, before it is lowered
    _key(obj, f"upper_arm.{side}", frame, (X_AXIS, 4.0 - 22.0 * math.sin(phase)), (Y_AXIS, sign * ARMS_DOWN))
    _key(obj, f"forearm.{side}", frame, (lateral, -22.0 - 14.0 * math.sin(phase)))


def _key(obj: bpy.types.Object, name: str, frame: int, *turns: tuple[Vector, float]) -> None:
    """Keys the product of turns about armature axes (degrees), as they are in the rest pose."""
    bone = pose_bones(obj)[name]
    rest = bone.bone.matrix_local.to_quaternion()
    turn = Quaternion()
    for axis, degrees in turns:
        turn = turn @ Quaternion(axis, math.radians(degrees))
    bone.rotation_quaternion = rest.inverted() @ turn @ rest
    bone.keyframe_insert("rotation_quaternion", frame=frame)


def _walk_on_ground(obj: bpy.types.Object) -> None:
    """Keys the hips' place: the lowest point of the feet on the ground, the speed that of the standing foot, evened."""
    scene, hips = current_scene(), pose_bones(obj)["spine"]
    to_bone = hips.bone.matrix_local.to_quaternion().inverted()
    frames = range(1, LAST_FRAME + 1)
    soles = []
    for frame in frames:
        scene.frame_set(frame)
        soles.append(_sole_points(obj))
    standing = [min(range(len(points)), key=lambda i: points[i].z) for points in soles]
    steps = [after[i].y - before[i].y for i, before, after in zip(standing, soles, soles[1:], strict=False)]
    speed = sum(steps) / len(steps)
    for frame, foot, points in zip(frames, standing, soles, strict=True):
        hips.location = to_bone @ Vector((0.0, -speed * (frame - 1), -points[foot].z))
        hips.keyframe_insert("location", frame=frame)


def _sole_points(obj: bpy.types.Object) -> list[Vector]:
    """Armature space."""
    bones = pose_bones(evaluated(obj))
    found = []
    for name, is_tail in SOLE:
        for side in ("L", "R"):
            bone = bones[f"{name}.{side}"]
            found.append((bone.tail if is_tail else bone.head).copy())
    return found
