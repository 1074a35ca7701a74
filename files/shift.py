"""Moves a file's whole animation in time: its keys, and the NLA strips that play them.

Must not decide by how much.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

import bpy

from ..rig import compat


def shift_animation(frames: int, left_alone: Collection[bpy.types.Action] = ()) -> None:
    """Moves the keys of all other actions, and every NLA strip, in time."""
    for action in (one for one in bpy.data.actions if one not in left_alone):
        for slot in action.slots if compat.HAS_SLOTS else [None]:
            shift_keys(compat.action_fcurves(action, slot), frames)
    for owner in (*bpy.data.objects, *bpy.data.shape_keys):
        anim = cast(Any, owner).animation_data
        for track in anim.nla_tracks if anim else ():
            for strip in track.strips:
                _shift_strip(strip, frames, moves_keys=strip.action not in left_alone)


def shift_keys(curves: Iterable[bpy.types.FCurve], frames: int) -> None:
    """Moves the keys of curves in time, their handles with them."""
    for curve in curves:
        for key in curve.keyframe_points:
            key.co_ui[0] += frames


def _shift_strip(strip: Any, frames: int, *, moves_keys: bool) -> None:
    """A strip plays from frame to frame of its action, whose keys may have moved, too."""
    if moves_keys and strip.action is not None:
        ends = ["action_frame_start", "action_frame_end"]
        for name in reversed(ends) if frames > 0 else ends:  # the end stays behind the start
            setattr(strip, name, getattr(strip, name) + frames)
    strip.frame_start_ui += frames
