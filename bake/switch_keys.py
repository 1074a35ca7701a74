"""Keys of a switch on bones, targets and poles, with what was before kept as it is.

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
from ..solvers.arrays import Floats
from . import keys
from .controls import ControlKeys, owner_of_control, path_to
from .match_fk import RotationKeys, write_all
from .splitting import has_own_key, hold, join, mark, split
from .switch_times import Switch
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
            keys.tag(obj)
    marks.touch(one.obj)
    keys.tag(one.obj)


def _set(owner: Any, name: str, values: Mapping[int, float]) -> None:
    for index, value in values.items():
        getattr(owner, name)[index] = value


def _path(obj: Any, bone_name: str) -> str:
    return rotation_path(obj.pose.bones[bone_name])


def _edge(obj: bpy.types.Object, path: str, frames: Floats) -> tuple[bpy.types.Object, str, float]:
    return obj, path, float(frames[0])
