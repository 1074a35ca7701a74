"""How long the animation of a data-block is: from the first frame that has keys of it to the last one.

Reads only.
"""

from __future__ import annotations

from typing import Any, cast

import bpy

from . import compat, nla
from .data_paths import OWN_SETTING


def animation_range(id_block: bpy.types.ID) -> tuple[float, float] | None:
    """First and last frame that the data-block's own animation has, in scene time.

    A manual frame range of the active action that has keys for it, else ``keyed_range``. Units: frames.
    """
    anim, keyed = compat.anim_data(id_block), keyed_range(id_block)
    action = None if anim is None else anim.action
    if anim is None or action is None or not action.use_frame_range or keyed is None or not _keyed(id_block):
        return keyed
    first, last = sorted(anim.nla_tweak_strip_time_to_scene(end) for end in (action.frame_start, action.frame_end))
    return first, last


def keyed_range(id_block: bpy.types.ID) -> tuple[float, float] | None:
    """First and last frame that have keys, in scene time.

    Keys of Limb IK's settings don't make a clip longer: an ease begins before the first contact. Where there are
    no others they count.

    The active action's keys for its slot (in NLA tweak mode where the strip plays
    them), else the NLA strips that play, else None. Units: frames.
    """
    anim = compat.anim_data(id_block)
    if anim is None:
        return None
    curves = _keyed(id_block)
    motion = [curve for curve in curves if OWN_SETTING not in curve.data_path]
    ranges = [tuple(cast(Any, curve.range())) for curve in motion or curves]
    if ranges:
        ends = (min(start for start, _ in ranges), max(end for _, end in ranges))
        first, last = sorted(anim.nla_tweak_strip_time_to_scene(end) for end in ends)
        return first, last
    tracks = nla.playing_tracks(anim) if nla.uses_strips(anim) else ()
    strips = [strip for track in tracks for strip in track.strips if not strip.mute]
    if not strips:
        return None
    return min(strip.frame_start for strip in strips), max(strip.frame_end for strip in strips)


def _keyed(id_block: bpy.types.ID) -> list[bpy.types.FCurve]:
    return [curve for curve in compat.fcurves_of(id_block) if len(curve.keyframe_points)]
