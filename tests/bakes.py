"""Limbs to bake, and what of a bake is compared with what was seen. Test helpers only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
from limb_ik.bake.baking import bake
from limb_ik.bake.options import BakeOptions, BakeReport
from limb_ik.rig import compat
from mathutils import Quaternion, Vector

import rigs

TARGET, POLE = (0.6, -0.4, 1.2), (0, 3, 0.8)
MODES = ("QUATERNION", "XYZ", "ZYX", "YXZ", "AXIS_ANGLE")
EXACT = 1e-5
"""Raw rotations and keys are 32-bit floats; a chain of two bones adds a few of their steps."""

Poses = list[dict[str, rigs.BonePose]]


def limb(
    kind: str = "L2B",
    name: str = "Rig",
    target: Sequence[float] = TARGET,
    pole: Sequence[float] | None = POLE,
    **settings: Any,
) -> tuple[bpy.types.Object, bpy.types.Object]:
    obj = rigs.rig(kind, name)
    t = rigs.empty(f"T {name}", target)
    p = rigs.empty(f"P {name}", pole) if pole else None
    rigs.add_chain_by_properties(obj, "lo", t, p, **settings)
    return obj, t


def moving(target: bpy.types.Object, last: float = 10.0) -> None:
    """Two keys that carry a target along."""
    rigs.key_location(target, 1, TARGET)
    rigs.key_location(target, last, (-0.5, -0.9, 0.8))


def baked(obj: bpy.types.Object, first: float = 1, last: float = 10, **options: Any) -> BakeReport:
    return bake(bpy.context, [obj], BakeOptions(frame_start=first, frame_end=last, **options))


def recorded(obj: bpy.types.Object, frames: Sequence[float]) -> Poses:
    found = []
    for frame in frames:
        rigs.frame_set(frame)
        found.append(rigs.evaluated_pose(obj))
    return found


def assert_same(a: Poses, b: Poses, angle: float = EXACT, place: float = EXACT) -> None:
    for one, other in zip(a, b, strict=True):
        assert rigs.pose_distance(one, other) <= angle
        assert rigs.joint_distance(one, other) <= place


def rotation_keys(obj: bpy.types.Object) -> dict[tuple[str, int], list[tuple[float, float]]]:
    return {key: points for key, points in rigs.keys(obj).items() if "rotation" in key[0]}


def no_animation(obj: bpy.types.Object) -> None:
    """The armature as it was made."""


def surroundings(obj: bpy.types.Object) -> tuple[Any, ...]:
    """What a bake leaves as it was."""
    layer, active = bpy.context.view_layer, bpy.context.view_layer.objects.active
    return (
        active.name if active else None,
        obj.mode,
        active.mode if active else None,
        sorted(one.name for one in layer.objects if one.select_get()),
        obj.hide_viewport,
        obj.name in layer.objects and obj.hide_get(),
        [rigs.holder_of_hide(bone).hide for bone in obj.pose.bones],
        bpy.context.scene.frame_current_final,
        sorted(bpy.data.scenes.keys()),
        sorted(bpy.data.objects.keys()),
        sorted(bpy.data.meshes.keys()),
        obj.data.pose_position,
    )


def animation(obj: bpy.types.Object) -> Any:
    """A copy of the armature's action; None without one."""
    anim = obj.animation_data
    return anim.action.copy() if anim is not None and anim.action is not None else None


def put_animation(obj: bpy.types.Object, action: Any) -> None:
    """The armature as before a bake that muted its chains."""
    anim: Any = obj.animation_data_create()
    anim.action = action
    if action is not None and compat.HAS_SLOTS:
        anim.action_slot = action.slots[0]
    for bone in obj.pose.bones:
        bone.limb_ik_mute = False
        if action is None:
            rigs.write_rotation(bone, Quaternion())
            bone.rotation_axis_angle = (0.0, 0.0, 1.0, 0.0)  # as Blender makes it
    rigs.update()


def waving(target: bpy.types.Object, centre: Sequence[float], size: float) -> None:
    for frame in range(1, 31):
        angle = frame / 5.0
        offset = Vector((math.sin(angle), math.cos(1.7 * angle), math.sin(2.3 * angle + 1.0)))
        rigs.key_location(target, frame, Vector(centre) + size * offset, "BEZIER")


def arm_and_hand(mode: str = "QUATERNION", **settings: Any) -> bpy.types.Object:
    """A limb below a moving root bone on a moving, turned and scaled armature; everything about it changes in time."""
    obj = rigs.rig("L2B", root=True, rotation=(0.4, -0.7, 1.1), scale=2.5)
    target = rigs.empty("T", rotation=(0.2, 0.5, -0.3), parent=obj)
    pole = rigs.empty("P", (5, 4, 3))
    tip = rigs.add_chain_by_properties(obj, "lo", target, pole, end_bone="hand", end_rotation="TARGET", **settings)
    for bone in obj.pose.bones:
        bone.rotation_mode = mode
        for frame in (1, 15, 30):
            rigs.key_rotation(bone, frame, Quaternion((frame % 4, 1, -0.5), 0.6 * math.sin(frame + len(bone.name))))
    rigs.bone(obj, "root").scale = (1.5, 1.5, 1.5)
    waving(target, (0.2, -0.3, 1.1), 0.3)
    rigs.key_location(obj, 1, (5, -3, 2))
    rigs.key_location(obj, 30, (4, -3, 2.5))
    for name, values in (("pole_angle", (0, 1.5)), ("softness", (0.0, 0.2)), ("max_reach", (1.0, 0.8))):
        for frame, value in zip((1, 30), values, strict=True):
            rigs.key_setting(tip, name, frame, value)
    return obj
