"""NLA strips: which play, which one is tweaked, and the clips that give a property its value.

Reads only; nothing here changes a strip or an action. Follows Blender's own
evaluation: strips of unmuted tracks from the lowest up, then the active action.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import bpy

from . import compat
from .nla_clips import Clip, Track

# Frames: float32 strip times, far from 0, are this coarse.
_SAME_PLACE = 1e-2
# Blender takes an action without length for one frame long.
_SHORTEST_ACTION = 1.0


def uses_strips(anim: bpy.types.AnimData) -> bool:
    """Whether NLA strips are evaluated; else the active action alone gives the values."""
    if not anim.use_nla or not len(anim.nla_tracks):
        return False
    if anim.use_tweak_mode or _is_soloing(anim):
        return True
    return any(len(track.strips) for track in playing_tracks(anim))


def playing_tracks(anim: bpy.types.AnimData) -> Iterator[bpy.types.NlaTrack]:
    """The tracks that take part, lowest first; in tweak mode up to the tweaked one."""
    is_soloing, tweaked = _is_soloing(anim), tweaked_track(anim)
    for track in anim.nla_tracks:
        if track.is_solo if is_soloing else not track.mute:
            yield track
        if track == tweaked:
            return


def tweaked_track(anim: bpy.types.AnimData) -> bpy.types.NlaTrack | None:
    """The track of the tweaked strip; None outside of tweak mode."""
    return cast(Any, anim.nla_tracks).active if anim.use_tweak_mode else None


def tweaked_strip(anim: bpy.types.AnimData) -> bpy.types.NlaStrip | None:
    """The strip whose action is edited in tweak mode; None outside of it."""
    track = tweaked_track(anim)
    strips = [strip for strip in track.strips if strip.action == anim.action] if track else []
    if len(strips) < 2:
        return strips[0] if strips else None
    return min(strips, key=lambda strip: abs(_shown_start(strip) - _tweak_start(anim, strip)))


def plays_in_place(anim: bpy.types.AnimData, strip: bpy.types.NlaStrip) -> bool:
    """Whether the tweaked strip plays at its own time; else the animator lets its action play at scene time."""
    return not strip.use_animated_time and abs(_shown_start(strip) - _tweak_start(anim, strip)) < _SAME_PLACE


def tracks_of(id_block: bpy.types.ID, data_path: str, index: int = 0) -> list[Track]:
    """The stack that gives one property its value, lowest first; the active action is the last track."""
    anim = cast(bpy.types.AnimData, cast(Any, id_block).animation_data)
    if not uses_strips(anim):
        return [(_action_clip(id_block, anim, data_path, index),)]
    tweaked = tweaked_track(anim)
    stack = []
    for track in playing_tracks(anim):
        strips = [tweaked_strip(anim)] if track == tweaked else track.strips
        stack.append(tuple(_clip_of(strip, anim, data_path, index) for strip in strips if strip is not None))
    if tweaked is None and not _is_soloing(anim) and anim.action is not None:
        stack.append((_action_clip(id_block, anim, data_path, index),))
    return stack


def plays(curve: bpy.types.FCurve | None, *, is_alone: bool = False) -> bool:
    """Whether Blender evaluates a curve at all; ``is_alone``: its action is the active one and no strips are played."""
    if curve is None or curve.mute or not curve.is_valid or curve.is_empty:
        return False
    return curve.group is None or not curve.group.mute or (is_alone and compat.PLAYS_MUTED_GROUPS_ALONE)


def _is_soloing(anim: bpy.types.AnimData) -> bool:
    return any(track.is_solo for track in anim.nla_tracks)


def _shown_start(strip: bpy.types.NlaStrip) -> float:
    return strip.frame_end if strip.use_reverse else strip.frame_start


def _tweak_start(anim: bpy.types.AnimData, strip: bpy.types.NlaStrip) -> float:
    return anim.nla_tweak_strip_time_to_scene(strip.action_frame_start)


def _playing_curve(
    curves: Sequence[bpy.types.FCurve], data_path: str, index: int, *, is_alone: bool = False
) -> bpy.types.FCurve | None:
    curve = compat.find_in(curves, data_path, index)
    return curve if plays(curve, is_alone=is_alone) else None


def _action_clip(id_block: bpy.types.ID, anim: bpy.types.AnimData, data_path: str, index: int) -> Clip:
    curves, is_alone = compat.fcurves_of(id_block), not uses_strips(anim)
    curve = _playing_curve(curves, data_path, index, is_alone=is_alone)
    if is_alone:
        return Clip(curve, 0.0, 0.0, 'HOLD', 'REPLACE', is_mapped=False, influence=1.0)
    start, end = 0.0, 0.0
    ranges = [tuple(cast(Any, other.range())) for other in curves if len(other.keyframe_points)]
    if anim.action_extrapolation != 'HOLD' and ranges:
        start, end = min(r[0] for r in ranges), max(r[1] for r in ranges)
        end = end if end > start else start + _SHORTEST_ACTION
    extrapolation, blend = str(anim.action_extrapolation), str(anim.action_blend_type)
    return Clip(curve, start, end, extrapolation, blend, is_mapped=False, influence=anim.action_influence)


def _clip_of(strip: bpy.types.NlaStrip, anim: bpy.types.AnimData, data_path: str, index: int) -> Clip:
    is_loose = anim.use_tweak_mode and strip == tweaked_strip(anim) and not plays_in_place(anim, strip)
    influence = time = None
    if strip.use_animated_influence:
        curve = strip.fcurves.find("influence")
        influence = curve if plays(curve) else strip.influence
    if strip.use_animated_time:
        time = strip.fcurves.find("strip_time")
    return Clip(
        curve=_playing_curve(compat.strip_fcurves(strip), data_path, index),
        start=strip.frame_start,
        end=strip.frame_end,
        extrapolation='HOLD' if is_loose else str(strip.extrapolation),
        blend=str(strip.blend_type),
        is_mapped=not is_loose,
        action_start=strip.action_frame_start,
        action_end=strip.action_frame_end,
        scale=abs(strip.scale) or 1.0,
        repeat=strip.repeat or 1.0,
        is_reversed=strip.use_reverse,
        blend_in=abs(strip.blend_in),
        blend_out=abs(strip.blend_out),
        influence=influence,
        time=time,
        is_muted=strip.mute,
    )
