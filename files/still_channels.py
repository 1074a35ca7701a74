"""Channels that stand still in a clip, which has no keys for them though other clips of its file move them.

In Blender such a bone stays where the clip before left it, and its exporter puts it to rest. Here clips get one key for
each such channel, so that they stand alone. Must not change a key that is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import bpy

from ..rig import compat, data_paths
from ..rig.data_paths import bone_path, rotation_path
from ..rig.session import pose_bones
from .clip import Clip, Part, animation_of, is_armature

Path = tuple[str, int]
_PLACE = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
_NO_TURN = {
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
}


def use(part: Part) -> None:
    """Makes a clip the one that plays; the one before stays in the file and keeps what only the new one moves."""
    owner: Any = part.owner
    anim = owner.animation_data or owner.animation_data_create()
    before, slot = compat.action_and_slot(owner)
    assign(anim, part.action, part.slot)
    if before is None or before == part.action:
        return
    before.use_fake_user = True
    if not compat.why_not_editable(before) and (slot is not None or not compat.HAS_SLOTS):
        left = Clip(before.name, (Part(owner, before, slot),))
        moved = {path_of(curve) for curve in part.curves if data_paths.OWN_SETTING not in curve.data_path}
        hold(left.parts[0], _values(owner, moved), (left.frames() or (0, 0))[0])


def held_still(owner: bpy.types.ID, playing: Clip, others: Sequence[Clip]) -> dict[Path, float]:
    """What Blender's exporter would set otherwise in the clips that wait, where these have no keys for it.

    A bone's channel that the motion which plays has no keys for either, where it isn't at rest; an object's where
    any clip moves it.
    """
    played = _moved(owner, (playing,))
    posed = _posed(cast(Any, owner)) if is_armature(owner) else {}
    placed = {path for path in _moved(owner, (playing, *others)) if path[0] in _PLACE}
    return {path: value for path, value in posed.items() if path not in played} | _values(owner, placed)


def hold(part: Part, held: Mapping[Path, float], frame: float) -> None:
    """Keys channels that the part has no keys for; afterwards its owner is at the action that it was at."""
    there = {path_of(curve) for curve in part.curves}
    missing = {path: value for path, value in held.items() if path not in there}
    if not missing:
        return
    anim = animation_of(part.owner)
    before = compat.action_and_slot(part.owner)
    assign(anim, part.action, part.slot)
    for path, value in missing.items():
        compat.ensure_fcurve(part.owner, *path).keyframe_points.insert(frame, value)
    assign(anim, *before)


def assign(anim: bpy.types.AnimData, action: bpy.types.Action | None, slot: Any) -> None:
    """Makes an action and its slot the ones that play; None: none does."""
    if compat.HAS_SLOTS and action is None and anim.action is not None:
        anim.action_slot = None
    anim.action = action
    if compat.HAS_SLOTS and action is not None:
        anim.action_slot = slot


def path_of(curve: bpy.types.FCurve) -> Path:
    """The channel that a curve moves: data path and index."""
    return curve.data_path, curve.array_index


def value_now(owner: bpy.types.ID, path: Path) -> float | None:
    """A channel's value now; None where there is no such property, or one that is no number."""
    try:
        found: Any = owner.path_resolve(path[0])
        return float(found if isinstance(found, bool | int | float) else found[path[1]])
    except (ValueError, TypeError, IndexError):
        return None


def _values(owner: bpy.types.ID, paths: Iterable[Path]) -> dict[Path, float]:
    found = {path: value_now(owner, path) for path in paths}
    return {path: value for path, value in found.items() if value is not None}


def _moved(owner: bpy.types.ID, clips: Iterable[Clip]) -> set[Path]:
    """The channels of an owner that clips have keys for."""
    return {path_of(curve) for clip in clips for part in clip.parts if part.owner == owner for curve in part.curves}


def _posed(obj: bpy.types.Object) -> dict[Path, float]:
    """The channels of bones that aren't at rest now."""
    found: dict[Path, float] = {}
    for bone in pose_bones(obj):
        at, turn = bone_path(bone.name), rotation_path(bone)
        rests = {f"{at}location": (0.0,) * 3, f"{at}scale": (1.0,) * 3, turn: _NO_TURN[turn.removeprefix(at)]}
        for path, rest in rests.items():
            values = tuple(cast(Any, obj.path_resolve(path)))
            found |= {(path, index): value for index, value in enumerate(values) if values != rest}
    return found
