"""Settings of chains as they were last read, for what is overwritten without a callback.

Pasting a pose in Blender brings the copied bones' properties along: pointers come out
empty, and a pose pasted flipped has the other side's hinge, offsets and limits. Kept in
memory only; what can be animated is part of a pose and is left as it was pasted. This
module must not decide when settings are put back.
"""

from __future__ import annotations

from typing import Any

import bpy

from . import marks
from .bone_rows import row_of
from .chain_setup import CHAIN_SETTINGS, JOINT_SETTINGS
from .session import pose_bones

ANIMATABLE = {"use_ik", "weight", "pole_angle", "softness", "max_reach"}
LINKS = {"target", "pole", "ground", "own_target", "own_pole"}
SETTINGS = tuple(f"limb_ik_{name}" for name in CHAIN_SETTINGS if name not in ANIMATABLE | LINKS)
JOINTS = tuple(f"limb_ik_joint_{name}" for name in JOINT_SETTINGS)

Values = dict[str, Any]
# By session number of the object and name of the bone.
_kept: dict[int, dict[str, Values]] = {}


def forget(obj: bpy.types.Object | None) -> None:
    """Settings of a rig, or of all, were changed by somebody who means it."""
    if obj is None:
        _kept.clear()
    else:
        _kept.pop(obj.session_uid, None)


marks.on_edit(forget)


def keep(obj: bpy.types.Object, tips: list[Any]) -> None:
    """Remember the settings of a rig's chains, unless they are since the last edit, under the names that bones have."""
    bones = {bone.name: bone for tip in tips for bone in row_of(tip)}
    if list(_kept.get(obj.session_uid, ())) != list(bones):
        _kept[obj.session_uid] = {name: _values(bone, SETTINGS + JOINTS) for name, bone in bones.items()}


def put_back(obj: bpy.types.Object, tip_name: str) -> None:
    """Give the bones of a chain the settings they had; those never seen stay as they are."""
    kept, bones = _kept.get(obj.session_uid, {}), pose_bones(obj)
    with marks.quiet():
        if tip_name in kept:
            _set(bones[tip_name], kept[tip_name])
            for bone in row_of(bones[tip_name])[1:]:
                _set(bone, kept.get(bone.name, {}))


def _values(bone: Any, names: tuple[str, ...]) -> Values:
    return {name: plain(getattr(bone, name)) for name in names}


def plain(value: Any) -> Any:
    """A setting's value to keep: arrays, vectors and quaternions look into Blender's own memory."""
    return value if value is None or isinstance(value, str | bool | int | float | bpy.types.ID) else tuple(value)


def _set(bone: Any, values: Values) -> None:
    for name, value in values.items():
        setattr(bone, name, value)
