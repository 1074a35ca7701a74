"""NLA strips: which play, which one is tweaked, and what a scalar property's value is on top of all of them.

Reads only; nothing here changes a strip or an action. Follows Blender's own
evaluation: strips of unmuted tracks from the lowest up, then the active action.
Not covered: F-curve modifiers **of strips** (those of F-curves are), which
Blender applies to every curve of a strip at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import bpy
import numpy as np

from . import compat

# Blender compares strip ends and whole repeats with this tolerance.
_SAME = 1e-6
# Frames: float32 strip times, far from 0, are this coarse.
_SAME_PLACE = 1e-2
# Blender takes an action without length for one frame long.
_SHORTEST_ACTION = 1.0


@dataclass(frozen=True, slots=True)
class Strip:
    """One clip of the stack as far as one property is concerned.

    Units: frames of the scene, but ``action_start`` and ``action_end``.
    ``curve`` None: the clip doesn't animate the property. ``is_mapped`` false:
    the clip plays at scene time (the active action, a tweaked strip out of place).
    """

    curve: bpy.types.FCurve | None
    start: float
    end: float
    extrapolation: str
    blend: str
    is_mapped: bool = True
    action_start: float = 0.0
    action_end: float = 0.0
    scale: float = 1.0
    repeat: float = 1.0
    is_reversed: bool = False
    blend_in: float = 0.0
    blend_out: float = 0.0
    influence: float | bpy.types.FCurve | None = None
    time: bpy.types.FCurve | None = None
    is_muted: bool = False

    def action_time(self, frame: float) -> float:
        """Where in its action the clip is at a frame within it."""
        if not self.is_mapped:
            return frame
        if self.time is not None:
            return self.time.evaluate(frame)
        is_end = abs(frame - self.end) < _SAME and abs(self.repeat - math.floor(self.repeat)) < _SAME
        length = max(self.action_end - self.action_start, _SAME) * self.scale
        into = (length if is_end else math.fmod(frame - self.start, length)) / self.scale
        return self.action_end - into if self.is_reversed else self.action_start + into

    def influence_at(self, frame: float) -> float:
        """How much of the clip plays at a frame within it."""
        if isinstance(self.influence, bpy.types.FCurve):
            return min(max(self.influence.evaluate(frame), 0.0), 1.0)
        if self.influence is not None:
            return self.influence
        if self.blend_in and frame <= self.start + self.blend_in:
            return abs(frame - self.start) / self.blend_in
        if self.blend_out and frame >= self.end - self.blend_out:
            return abs(self.end - frame) / self.blend_out
        return 1.0

    def breakpoints(self, first: float, last: float) -> Iterator[float]:
        """Scene frames at which the clip's value can jump or bend."""
        yield from (self.start, self.end, self.start + self.blend_in, self.end - self.blend_out)
        if self.curve is None:
            return
        if not self.is_mapped:
            yield from _key_frames(self.curve, first, last)
            return
        keys = _key_frames(self.curve, self.action_start, self.action_end)
        length = max(self.action_end - self.action_start, _SAME) * self.scale
        for turn in range(math.ceil(self.repeat)):
            begin = self.start + turn * length
            if begin > last or begin + length < first:
                continue
            yield begin
            into = (self.action_end - x if self.is_reversed else x - self.action_start for x in keys)
            yield from (begin + x * self.scale for x in into)


Track = tuple[Strip, ...]


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
        return [(_action_strip(id_block, anim, data_path, index),)]
    tweaked = tweaked_track(anim)
    stack = []
    for track in playing_tracks(anim):
        strips = [tweaked_strip(anim)] if track == tweaked else track.strips
        stack.append(tuple(_strip(strip, anim, data_path, index) for strip in strips if strip is not None))
    if tweaked is None and not _is_soloing(anim) and anim.action is not None:
        stack.append((_action_strip(id_block, anim, data_path, index),))
    return stack


def value_at(stack: Sequence[Track], default: float, frame: float) -> float:
    """What the stack gives a scalar property at a frame of the scene.

    ``default``: the property's own default, on which the lowest strip is blended.
    """
    value = default
    for track in stack:
        found = _clip_at(track, frame)
        if found is not None and found[0].curve is not None:
            value = _blended(value, default, *found)
    return value


def plays(curve: bpy.types.FCurve | None, *, is_alone: bool = False) -> bool:
    """Whether Blender evaluates a curve at all; ``is_alone``: its action is the active one and no strips are played."""
    if curve is None or curve.mute or not curve.is_valid or curve.is_empty:
        return False
    return curve.group is None or not curve.group.mute or (is_alone and compat.PLAYS_MUTED_GROUPS_ALONE)


def _key_frames(curve: bpy.types.FCurve, first: float, last: float) -> list[float]:
    """Frames of the keys within first…last, in the action's own time."""
    co = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", co)
    start, end = np.searchsorted(co[::2], (first - _SAME, last + _SAME))
    return cast("list[float]", co[2 * start : 2 * end : 2].tolist())


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


def _action_strip(id_block: bpy.types.ID, anim: bpy.types.AnimData, data_path: str, index: int) -> Strip:
    curves, is_alone = compat.fcurves_of(id_block), not uses_strips(anim)
    curve = _playing_curve(curves, data_path, index, is_alone=is_alone)
    if is_alone:
        return Strip(curve, 0.0, 0.0, 'HOLD', 'REPLACE', is_mapped=False, influence=1.0)
    start, end = 0.0, 0.0
    if anim.action_extrapolation != 'HOLD':
        ranges = [tuple(cast(Any, other.range())) for other in curves if len(other.keyframe_points)]
        start, end = min(r[0] for r in ranges), max(r[1] for r in ranges)
        end = end if end > start else start + _SHORTEST_ACTION
    extrapolation, blend = str(anim.action_extrapolation), str(anim.action_blend_type)
    return Strip(curve, start, end, extrapolation, blend, is_mapped=False, influence=anim.action_influence)


def _strip(strip: bpy.types.NlaStrip, anim: bpy.types.AnimData, data_path: str, index: int) -> Strip:
    is_loose = anim.use_tweak_mode and strip == tweaked_strip(anim) and not plays_in_place(anim, strip)
    influence = time = None
    if strip.use_animated_influence:
        curve = strip.fcurves.find("influence")
        influence = curve if plays(curve) else strip.influence
    if strip.use_animated_time:
        time = strip.fcurves.find("strip_time")
    return Strip(
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


def _clip_at(track: Track, frame: float) -> tuple[Strip, float] | None:
    """The clip of a track that plays at a frame, and the frame clamped to it."""
    chosen = next(((clip, frame) for clip in track if _is_within(clip, frame)), None) or _held_clip(track, frame)
    return None if chosen is None or chosen[0].is_muted else chosen


def _is_within(clip: Strip, frame: float) -> bool:
    if not clip.is_mapped and clip.extrapolation == 'HOLD':
        return True
    if not clip.is_mapped and clip.extrapolation == 'HOLD_FORWARD':
        return frame >= clip.start
    return clip.start <= frame <= clip.end


def _held_clip(track: Track, frame: float) -> tuple[Strip, float] | None:
    if track and frame < track[0].start:
        return (track[0], track[0].start) if track[0].extrapolation == 'HOLD' else None
    before = [clip for clip in track if clip.end < frame]
    if before and before[-1].extrapolation != 'NOTHING':
        return before[-1], before[-1].end
    return None


def _blended(lower: float, default: float, clip: Strip, frame: float) -> float:
    influence = clip.influence_at(frame)
    if influence <= 0.0:
        return lower
    value = cast(bpy.types.FCurve, clip.curve).evaluate(clip.action_time(frame))
    if clip.blend == 'ADD':
        return lower + value * influence
    if clip.blend == 'COMBINE':
        return lower + (value - default) * influence
    if clip.blend == 'SUBTRACT':
        return lower - value * influence
    if clip.blend == 'MULTIPLY':
        return influence * lower * value + (1.0 - influence) * lower
    return influence * value + (1.0 - influence) * lower
