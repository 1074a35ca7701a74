"""Keys that a person inserts on a solved bone: FK takes the place of the blended pose in them.

A key inserted while IK shows would store what IK wrote as FK, and each press would halve
what is left of the motion. This module must not solve anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import bpy
import numpy as np

from . import compat, fk_pose
from .chains import setup_of
from .channels import SAME_FRAME
from .data_paths import rotation_path
from .session import pose_bones

# The frame that each scene shows, by its number in this session: Blender names only the next one when it leaves it.
_shown: dict[int, float] = {}


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many keys the curves of solved bones had, by path and index, and in which action (session number)."""

    action: int | None
    keys: dict[tuple[str, int], int]


_counts: dict[int, _Counts] = {}


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
        How many bones' keys were mended. Keys of linked actions are left alone, and those of a curve that got more than
        one since it was last looked at: "Bake Action" and its like, which mean what is seen.
    """
    action = compat.action_and_slot(obj)[0]
    if action is None or not action.is_editable:
        return 0
    curves, played = compat.fcurves_of(obj), compat.fcurves_of(evaluated)
    at = cast(bpy.types.AnimData, obj.animation_data).nla_tweak_strip_time_to_scene(frame, invert=True)
    bones = pose_bones(obj)
    before, now = _counts.get(obj.session_uid), _count(obj, curves)
    stored = [bones[index] for index in setup_of(obj).held if fk_pose.has_store(bones[index])]
    by_hand = [bone for bone in stored if not _is_baked(bone, before, now)]
    return sum(_mend_bone(curves, played, bone, at) for bone in by_hand)


def note_keys(obj: bpy.types.Object) -> None:
    """Remember how many keys the curves of solved bones have; to be called after every edit of them."""
    _counts[obj.session_uid] = _count(obj, compat.fcurves_of(obj))


def note_action(obj: bpy.types.Object) -> None:
    """``note_keys`` where the action is another than it was; cheap where not."""
    action = compat.action_and_slot(obj)[0]
    before = _counts.get(obj.session_uid)
    if before is None or before.action != (None if action is None else action.session_uid):
        note_keys(obj)


def _count(obj: bpy.types.Object, curves: Any) -> _Counts:
    action, bones = compat.action_and_slot(obj)[0], pose_bones(obj)
    keys: dict[tuple[str, int], int] = {}
    for bone in (bones[index] for index in setup_of(obj).held):
        path = rotation_path(bone)
        for index in range(fk_pose.WIDTHS[fk_pose.channel(bone.rotation_mode)]):
            curve = compat.find_in(curves, path, index)
            keys[path, index] = 0 if curve is None else len(curve.keyframe_points)
    return _Counts(None if action is None else action.session_uid, keys)


def _is_baked(bone: Any, before: _Counts | None, now: _Counts) -> bool:
    """Whether a curve of the bone got more than one key. Where nothing is known of it, they count as keyed by hand."""
    if before is None:
        return False
    path, is_new = rotation_path(bone), before.action != now.action
    known = {key: 0 if is_new else count for key, count in before.keys.items() if key[0] == path}
    return any(now.keys.get(key, 0) - count > 1 for key, count in known.items())


def _mend_bone(curves: Any, played: Any, bone: Any, frame: float) -> bool:
    mode, store = bone.rotation_mode, fk_pose.store_of(bone)
    if fk_pose.MODES[store.number - 1] != mode:
        return False
    path, found = rotation_path(bone), {}
    for index, written in enumerate(store.written[: fk_pose.WIDTHS[fk_pose.channel(mode)]]):
        curve = compat.find_in(curves, path, index)
        key = None if curve is None else _key_at(curve, frame)
        if curve is None or key is None:
            continue
        if abs(curve.keyframe_points[key].co.y - written) > fk_pose.SAME_RAW:
            return False
        found[index] = (curve, key)
    for index, (curve, key) in found.items():
        _move_key(curve, key, store.fk[index])
        copy = compat.find_in(played, path, index)
        if copy is not None and len(copy.keyframe_points) == len(curve.keyframe_points):
            _move_key(copy, key, store.fk[index])
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
