"""Clips of the NLA as one property sees them, and its value on top of all of them.

Follows Blender's own evaluation, from the lowest track up. Reads curves only; which strips
make clips is up to ``nla``. Not covered: F-curve modifiers **of strips** (those of F-curves
are), which Blender applies to every curve of a strip at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import bpy
import numpy as np

# Blender compares strip ends and whole repeats with this tolerance.
_SAME = 1e-6


@dataclass(frozen=True, slots=True)
class Clip:
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


Track = tuple[Clip, ...]


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


def gives(stack: Sequence[Track], frame: float) -> bool:
    """Whether any clip of the stack gives the property a value at a frame of the scene."""
    found = (_clip_at(track, frame) for track in stack)
    return any(one is not None and one[0].curve is not None and one[0].influence_at(one[1]) > 0.0 for one in found)


def _key_frames(curve: bpy.types.FCurve, first: float, last: float) -> list[float]:
    """Frames of the keys within first…last, in the action's own time."""
    co = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", co)
    start, end = np.searchsorted(co[::2], (first - _SAME, last + _SAME))
    return cast("list[float]", co[2 * start : 2 * end : 2].tolist())


def _clip_at(track: Track, frame: float) -> tuple[Clip, float] | None:
    """The clip of a track that plays at a frame, and the frame clamped to it."""
    chosen = next(((clip, frame) for clip in track if _is_within(clip, frame)), None) or _held_clip(track, frame)
    return None if chosen is None or chosen[0].is_muted else chosen


def _is_within(clip: Clip, frame: float) -> bool:
    if not clip.is_mapped and clip.extrapolation == 'HOLD':
        return True
    if not clip.is_mapped and clip.extrapolation == 'HOLD_FORWARD':
        return frame >= clip.start
    return clip.start <= frame <= clip.end


def _held_clip(track: Track, frame: float) -> tuple[Clip, float] | None:
    if track and frame < track[0].start:
        return (track[0], track[0].start) if track[0].extrapolation == 'HOLD' else None
    before = [clip for clip in track if clip.end < frame]
    if before and before[-1].extrapolation != 'NOTHING':
        return before[-1], before[-1].end
    return None


def _blended(lower: float, default: float, clip: Clip, frame: float) -> float:
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
