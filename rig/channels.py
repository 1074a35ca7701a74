"""Reading animation: which properties are animated, and when a keyed switch changes.

Reads only: no key, no curve and no property is changed here. Everything is a pure
function of the frame that is asked for, whatever frame Blender is at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, cast

import bpy
import numpy as np

from . import compat, nla, nla_clips

# Frames: Blender's own insertion takes keys this near for one key.
SAME_FRAME = 0.01

# Blender sets a boolean from a curve when the value is more than 1 - FLT_EPSILON (measured: 0.99999994 is on,
# 0.9999999 is off), so a straight ramp from 0 to 1 switches at its end and one from 1 to 0 at its start.
_ON = 1.0 - 2.0**-23

# Frames: a switch is looked for between samples this near, so shorter pulses without a key can be missed.
_SAMPLE_STEP = 0.5
# Samples between two keys at most: 1,000 s of blend time are 24,000 frames, and a scene can have 3e9 frames a second.
_MOST_SAMPLES = 4096
# Frames: how exactly a switch without a key is found.
_BISECT_TO = 1e-4
# Frames: how far beside a key its two sides are asked.
_BESIDE = 1e-3

_PATH_AND_INDEX = attrgetter("data_path", "array_index")

Changes = tuple[bool, list[tuple[float, int]]]


def is_driven(id_block: bpy.types.ID, data_path: str, index: int = 0) -> bool:
    """Whether a driver that isn't muted gives the property its value."""
    anim = compat.anim_data(id_block)
    driver = None if anim is None else cast(Any, anim.drivers).find(data_path, index=index)
    return driver is not None and not driver.mute


def given_values(id_block: bpy.types.ID, data_path: str, count: int, frame: float) -> dict[int, float | None]:
    """What animation and drivers give the components of a property at a frame, by index.

    Args:
        id_block: what the path starts at.
        data_path: the property, without an index.
        count: how many components it has.
        frame: of the scene.

    Returns:
        A value for each component that is given one: None where drivers or NLA strips give it, and what is not told.
    """
    anim = compat.anim_data(id_block)
    if anim is None:
        return {}
    found: dict[int, float | None] = {}
    for index in range(count):
        stack = nla.tracks_of(id_block, data_path, index)
        if is_driven(id_block, data_path, index):
            found[index] = None
        elif nla_clips.gives(stack, frame):
            found[index] = None if nla.uses_strips(anim) else nla_clips.value_at(stack, 0.0, frame)
    return found


def animated_paths(id_block: bpy.types.ID) -> list[tuple[str, int]]:
    """Data path and array index of every F-curve, NLA strip curve and driver of a data-block.

    A path can come more than once where strips share it. Not cached: 250 curves cost
    0.05 ms (4.2) to 0.1 ms (5.3), and no key of a cache would notice a bone renamed.
    """
    anim = compat.anim_data(id_block)
    if anim is None:
        return []
    found = list(map(_PATH_AND_INDEX, compat.fcurves_of(id_block)))
    found += map(_PATH_AND_INDEX, anim.drivers)
    for strip in _all_strips(anim):
        found += map(_PATH_AND_INDEX, compat.strip_fcurves(strip))
    return found


def boolean_changes(id_block: bpy.types.ID, data_path: str, frame_from: float, frame_to: float) -> Changes | None:
    """When a keyed boolean property switches, exactly.

    Through the active action or the NLA stack, curve modifiers and mutes, as Blender
    evaluates them at any frame. A switch counts from its frame on: what is on just
    after ``frame_from`` is the start value.

    Args:
        id_block: what the path starts at.
        data_path: a boolean property, such as ``pose.bones["x"].limb_ik_use_ik``.
        frame_from: start of the interval.
        frame_to: end of the interval, not before its start.

    Returns:
        The value at the start and (frame, +1 on or -1 off), rising, within
        (frame_from, frame_to]; None where nothing animates the property or a
        driver does.

    Units: frames of the scene.
    """
    if compat.anim_data(id_block) is None or is_driven(id_block, data_path):
        return None
    stack = nla.tracks_of(id_block, data_path)
    if not any(clip.curve is not None for track in stack for clip in track):
        return None
    if len(stack) == 1 and len(stack[0]) == 1 and not stack[0][0].is_mapped:
        quick = _stepped_changes(cast(bpy.types.FCurve, stack[0][0].curve), frame_from, frame_to)
        if quick is not None:
            return quick
    default = _default(id_block, data_path)

    def is_on(frame: float) -> bool:
        return nla_clips.value_at(stack, default, frame) > _ON

    breaks = _breakpoints(stack, frame_from, frame_to)
    return _changes(is_on, breaks, frame_from, frame_to)


def _stepped_changes(curve: bpy.types.FCurve, first: float, last: float) -> Changes | None:
    """The same for a curve that only jumps at its keys within the interval; None for others."""
    points = curve.keyframe_points
    co, kinds = np.empty(2 * len(points), np.float32), np.empty(len(points), np.int32)
    points.foreach_get("co", co)
    points.foreach_get("interpolation", kinds)
    begin, end = np.searchsorted(co[::2], (first, last), side="right")
    begin = max(begin - 1, 0)
    if len(curve.modifiers) or not len(points) or kinds[begin : max(end, begin + 1)].any():
        return None
    frames = co[2 * begin : 2 * end : 2].tolist() or [first]
    states = [curve.evaluate(frame) > _ON for frame in frames]
    found = [(frames[i], 1 if states[i] else -1) for i in range(1, len(frames)) if states[i] != states[i - 1]]
    return states[0], found


def _changes(is_on: Callable[[float], bool], breaks: Sequence[float], first: float, last: float) -> Changes:
    samples = [first + _BESIDE, *_sample_frames(breaks)]
    states = [is_on(frame) for frame in samples]
    found = []
    for (before, was_on), (after, now_on) in pairwise(zip(samples, states, strict=True)):
        if was_on != now_on:
            frame = _switch_frame(is_on, breaks, before, after, now_on)
            if frame <= last:
                found.append((frame, 1 if now_on else -1))
    return states[0], found


def _breakpoints(stack: Sequence[nla_clips.Track], first: float, last: float) -> list[float]:
    """Where the value can jump, within the interval, with its two ends and the next frame after it."""
    inside = (
        frame
        for track in stack
        for clip in track
        for frame in clip.breakpoints(first, last + 1.0)
        if first < frame < last + 1.0
    )
    return sorted({first, last, last + 1.0, *inside})


def _sample_frames(breaks: Sequence[float]) -> Iterator[float]:
    """Frames inside of the intervals between breakpoints, never on one, ``_SAMPLE_STEP`` apart or nearer.

    In intervals of more than ``_MOST_SAMPLES`` steps they are further apart.
    """
    for start, end in pairwise(breaks):
        count = max(1, min(round((end - start) / _SAMPLE_STEP), _MOST_SAMPLES))
        for i in range(count):
            yield start + (i + 0.5) * (end - start) / count


def _switch_frame(
    is_on: Callable[[float], bool], breaks: Sequence[float], before: float, after: float, state: bool
) -> float:
    """The frame between two samples at which the state becomes ``state``."""
    for frame in breaks:
        if before < frame < after and is_on(frame + _BESIDE) == state and is_on(frame - _BESIDE) != state:
            return frame
    while after - before > _BISECT_TO:
        middle = (before + after) / 2.0
        before, after = (before, middle) if is_on(middle) == state else (middle, after)
    return after


def _default(id_block: bpy.types.ID, data_path: str) -> float:
    """The property's own default, on which NLA strips are blended."""
    owner_path, _, name = data_path.rpartition(".")
    owner = id_block.path_resolve(owner_path) if owner_path else id_block
    return float(cast(Any, owner).bl_rna.properties[name].default)


def _all_strips(anim: bpy.types.AnimData) -> Iterator[bpy.types.NlaStrip]:
    for track in anim.nla_tracks:
        for strip in track.strips:
            yield strip
            yield from strip.strips
