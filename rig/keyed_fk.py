"""Keys that a person inserts on a solved bone: FK takes the place of the blended pose in them.

A key inserted while IK shows would store what IK wrote as FK, and each press would halve
what is left of the motion. This module must not solve anything.
"""

from __future__ import annotations

from typing import Any, cast

import bpy
import numpy as np

from . import compat, fk_pose
from .chains import setup_of
from .session import pose_bones

# Keys this near to the frame are on it, as Blender counts them.
SAME_FRAME = 0.01
# The frame that each scene shows, by its number in this session: Blender names only the next one when it leaves it.
_shown: dict[int, float] = {}


def note_frame(scene: bpy.types.Scene) -> None:
    """Remember which frame a scene's rigs were solved for."""
    _shown[scene.session_uid] = scene.frame_current_final


def shown_frame(scene: bpy.types.Scene) -> float | None:
    """The frame that a scene's rigs were last solved for; None before the first one."""
    return _shown.get(scene.session_uid)


def put_fk_into_keys(obj: bpy.types.Object, evaluated: bpy.types.Object, frame: float) -> int:
    """Where keys at ``frame`` hold exactly what IK wrote into a bone, write its FK into them.

    Args:
        obj: the original armature object, whose action holds the keys.
        evaluated: its evaluated object: Blender 4.2 plays a copy of the action, which would not notice.
        frame: the scene's frame.

    Returns:
        How many bones' keys were mended. Keys of linked actions are left alone.
    """
    action = compat.action_and_slot(obj)[0]
    if action is None or not action.is_editable:
        return 0
    curves, played = compat.fcurves_of(obj), compat.fcurves_of(evaluated)
    at = cast(bpy.types.AnimData, obj.animation_data).nla_tweak_strip_time_to_scene(frame, invert=True)
    bones = pose_bones(obj)
    stored = [bones[index] for index in setup_of(obj).held if bones[index].limb_ik_store_mode]
    return sum(_mend_bone(curves, played, bone, at) for bone in stored)


def _mend_bone(curves: Any, played: Any, bone: Any, frame: float) -> bool:
    mode = bone.rotation_mode
    if fk_pose.MODES[bone.limb_ik_store_mode - 1] != mode:
        return False
    path = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].{fk_pose.channel(mode)}'
    found = {}
    for index, written in enumerate(tuple(bone.limb_ik_written)[: fk_pose.WIDTHS[fk_pose.channel(mode)]]):
        curve = compat.find_in(curves, path, index)
        key = None if curve is None else _key_at(curve, frame)
        if curve is None or key is None:
            continue
        if abs(curve.keyframe_points[key].co.y - written) > fk_pose.SAME_RAW:
            return False
        found[index] = (curve, key)
    for index, (curve, key) in found.items():
        _move_key(curve, key, bone.limb_ik_fk[index])
        copy = compat.find_in(played, path, index)
        if copy is not None and len(copy.keyframe_points) == len(curve.keyframe_points):
            _move_key(copy, key, bone.limb_ik_fk[index])
    return bool(found)


def _key_at(curve: bpy.types.FCurve, frame: float) -> int | None:
    points = curve.keyframe_points
    xy = np.empty(2 * len(points), dtype=np.float32)
    points.foreach_get("co", xy)
    near = np.flatnonzero(np.abs(xy[::2] - frame) < SAME_FRAME)
    return int(near[0]) if len(near) else None


def _move_key(curve: bpy.types.FCurve, key: int, value: float) -> None:
    """Give a key another value, its handles moved along; in bulk, because that tags nothing for evaluation."""
    points = curve.keyframe_points
    delta = value - points[key].co.y
    for name in ("co", "handle_left", "handle_right"):
        xy = np.empty(2 * len(points), dtype=np.float32)
        points.foreach_get(name, xy)
        xy[2 * key + 1] += delta
        points.foreach_set(name, xy)
