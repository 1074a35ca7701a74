"""Rigs whose FK needs no putting back before a frame: animation gives it anew, whatever their bones hold.

That a rig is one is remembered, and may be out of date. So nobody takes it on trust: a
component that after the frame change still is what IK wrote, and was not FK, is asked
about again (``is_sure``). This module must not write a pose.
"""

from __future__ import annotations

from typing import Any

import bpy

from . import compat, marks
from .chains import RigSetup, known_setup
from .data_paths import bone_path
from .session import pose_bones

# By session number: set-up and action for which the answer was found.
_known: dict[int, tuple[RigSetup, int, bool]] = {}


def forget(obj: bpy.types.Object | None = None) -> None:
    """Ask anew about a rig, or about all: an action was edited."""
    if obj is None:
        _known.clear()
    else:
        _known.pop(obj.session_uid, None)


marks.on_change(forget)


def is_likely(obj: bpy.types.Object) -> bool:
    """Whether all rotations that the chains of a rig turn are keyed; as last looked, and cheap."""
    setup, animation = known_setup(obj), obj.animation_data
    if setup is None or animation is None or animation.action is None:
        return False
    known, action = _known.get(obj.session_uid), animation.action.session_uid
    if known is None or known[0] is not setup or known[1] != action:
        known = _known[obj.session_uid] = setup, action, is_sure(obj, setup)
    return known[2]


def is_sure(obj: bpy.types.Object, setup: RigSetup) -> bool:
    """Whether all rotations that the chains of a rig turn are keyed: quaternions, one action, no NLA."""
    animation = obj.animation_data
    if animation is None or animation.action is None or len(animation.nla_tracks):
        return False
    bones: Any = pose_bones(obj)
    wanted = [f"{bone_path(setup.names[bone])}rotation_quaternion" for bone in setup.held]
    playing = {(curve.data_path, curve.array_index) for curve in compat.fcurves_of(obj) if _plays(curve)}
    return all(bones[bone].rotation_mode == 'QUATERNION' for bone in setup.held) and all(
        (path, number) in playing for path in wanted for number in range(4)
    )


def _plays(curve: bpy.types.FCurve) -> bool:
    is_muted = curve.mute or (curve.group is not None and curve.group.mute)
    return not is_muted and curve.is_valid and len(curve.keyframe_points) > 0
