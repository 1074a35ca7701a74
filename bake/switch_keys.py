"""Keys of a switch: bones, targets and poles with what was before kept as it is, and ``use_ik`` itself.

Must not decide what is keyed when.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..rig import compat, fk_pose, marks
from ..rig.data_paths import rotation_path
from ..rig.session import object_at
from .controls import ControlKeys, owner_of_control, path_to
from .key_table import SAME_FRAME, Floats
from .match_fk import RotationKeys, write_all
from .splitting import has_own_key, hold, join, mark, split
from .switch_times import Switch, is_on_at, path_of
from .writable import action_frame

# Shorter quaternions have no direction: their curves' length says nothing.
SHORTEST = 1e-3


def write(rotations: Sequence[RotationKeys], controls: Sequence[ControlKeys]) -> None:
    """Write keys; what is keyed already is kept as it is up to the first of their frames, and held from there on."""
    rotations = [replace(one, rows={name: _as_long(one, name) for name in one.rows}) for one in rotations]
    edges = [_edge(one.obj, _path(one.obj, name), one.frames) for one in rotations for name in one.rows]
    ends = [(one.obj, _path(one.obj, name), float(one.frames[-1])) for one in rotations for name in one.rows]
    edges += [_edge(one.obj, one.path, one.frames) for one in controls]
    arrivals = [(one.obj, one.path, float(one.frames[-1])) for one in controls]
    made = {one for one in (*edges, *ends, *arrivals) if not has_own_key(*one)}
    kept = {edge[:2] for edge in edges if split(*edge)}
    for end in ends:
        split(*end)
    turns = [
        RotationKeys(one.obj, {name: values[skip:]}, one.frames[skip:])
        for one in rotations
        for name, values in one.rows.items()
        for skip in [int((one.obj, _path(one.obj, name)) in kept)]
    ]
    places = [
        replace(one, values=one.values[skip:], frames=one.frames[skip:])
        for one in controls
        for skip in [int((one.obj, one.path) in kept)]
    ]
    write_all(turns, places)
    for edge in edges:
        hold(*edge)
    for one in made:
        mark(*one)


def _as_long(one: RotationKeys, name: str) -> Floats:
    """Quaternions as long as the curves have them there: a unit one would turn what lies between it and the next."""
    rows, path = one.rows[name], _path(one.obj, name)
    found = [compat.find_fcurve(one.obj, path, index) for index in range(rows.shape[1])]
    curves, anim = [curve for curve in found if curve is not None], one.obj.animation_data
    if not path.endswith("quaternion") or anim is None or len(curves) < len(found):
        return rows
    at = [action_frame(anim, float(frame)) for frame in one.frames]
    lengths = np.linalg.norm([[curve.evaluate(frame) for curve in curves] for frame in at], axis=1)
    return rows * np.where(lengths > SHORTEST, lengths, 1.0)[:, None]


def forget(one: Switch) -> None:
    """Take away keys that led to a change which is taken back, or which comes later than the same change now."""
    if one.is_back:
        _join(one, one.frame, over=one.over)
    if one.later is not None:
        _join(one, one.later)


def _join(one: Switch, first: float, over: float | None = None) -> None:
    """Take away what leads up to a change from ``first`` on, with ``over`` all that was made for it up to there.

    What has no key left is what it was held at.
    """
    marked = () if over is None else (first, over)
    waiting = (first,) if marked or one.is_on else ()
    bones: Any = one.obj.pose.bones if one.obj.pose else {}
    with marks.quiet():
        for bone in [bones[number] for number in (*one.chain.turned, one.chain.end) if number >= 0]:
            if emptied := join(one.obj, rotation_path(bone), first - 1.0, marked=marked[:1], is_split=True):
                _set(bone, fk_pose.channel(bone.rotation_mode), emptied)
                fk_pose.clear_store(bone)
        for link in filter(None, (one.chain.target_key, one.chain.pole_key)):
            owner, obj = owner_of_control(link), object_at(link[0])
            for name in ("location", fk_pose.channel(owner.rotation_mode)):
                _set(owner, name, join(obj, path_to(link) + name, first - 1.0, waiting, marked))
            _tag(obj)
    marks.touch(one.obj)
    _tag(one.obj)


def _set(owner: Any, name: str, values: Mapping[int, float]) -> None:
    for index, value in values.items():
        getattr(owner, name)[index] = value


def _path(obj: Any, bone_name: str) -> str:
    return rotation_path(obj.pose.bones[bone_name])


def _edge(obj: bpy.types.Object, path: str, frames: Floats) -> tuple[bpy.types.Object, str, float]:
    return obj, path, float(frames[0])


def key_switch(obj: Any, one: Switch) -> None:
    """Key the switch, held until the next key; keys up to where the change is complete would undo it and go."""
    path = path_of(one.chain)
    was_on = is_on_at(obj, one.chain, one.frame - 1.0)
    curve = compat.ensure_fcurve(obj, path, 0, one.chain.tip)
    anim: Any = obj.animation_data
    first, over = action_frame(anim, one.frame), action_frame(anim, one.over)
    points: Any = curve.keyframe_points
    _remove(points, first, over)
    if one.later is not None:
        _remove(points, *[action_frame(anim, one.later - 1.0)] * 2)
    preceding = [key for key in points if key.co.x < first - SAME_FRAME]
    if not preceding or preceding[-1].interpolation != 'CONSTANT':
        _insert(points, action_frame(anim, one.frame - 1.0), was_on)
    _insert(points, first, one.is_on)
    curve.update()
    _tag(obj)


def key_back(obj: Any, one: Switch) -> None:
    """Take the key of the last change away, and what held the other side just before it and the next one."""
    curve = compat.ensure_fcurve(obj, path_of(one.chain), 0, one.chain.tip)
    anim, points = obj.animation_data, curve.keyframe_points
    at, before = action_frame(anim, one.frame), action_frame(anim, one.frame - 1.0)
    _remove(points, at, at)
    if one.later is not None:
        _remove(points, *[action_frame(anim, one.later - 1.0)] * 2)
    others = [key for key in points if abs(key.co.x - before) > SAME_FRAME]
    leading = [key for key in others if key.co.x < before][-1:] or others[:1]
    if all((key.co.y > 0.5) == one.is_on and key.interpolation == 'CONSTANT' for key in leading):
        _remove(points, before, before)
    tip: Any = obj.pose.bones[one.chain.tip]
    tip.limb_ik_use_ik = one.is_on
    curve.update()
    if not len(points):
        compat.remove_fcurve(obj, curve)
        marks.touch(obj)
    _tag(obj)


def _remove(points: Any, first: float, last: float) -> None:
    for point in [key for key in points if first - SAME_FRAME <= key.co.x <= last + SAME_FRAME][::-1]:
        points.remove(point, fast=True)


def _tag(obj: Any) -> None:
    """Blender looks at keys again."""
    action = compat.action_and_slot(obj)[0]
    if action is not None:
        action.update_tag()
    obj.update_tag(refresh={'TIME'})


def _insert(points: Any, frame: float, is_on: bool) -> None:
    key = points.insert(frame, float(is_on), options={'FAST'})
    key.interpolation = 'CONSTANT'
