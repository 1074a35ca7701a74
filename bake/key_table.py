"""The keys of one F-curve as arrays: read, replace inside a range, write back.

Nothing here knows bones, actions or slots, and nothing here calls
``FCurve.update``: that would recalculate the handles of keys outside the range,
which have to stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .reduce import smooth_slopes

Floats = NDArray[np.float64]
Table = dict[str, NDArray[Any]]

SAME_FRAME = 0.01
"""Frames: Blender's own insertion takes keys this near for one key."""

CONSTANT, LINEAR, BEZIER = 0, 1, 2
FREE_HANDLE, ALIGNED_HANDLE, AUTO_CLAMPED_HANDLE = 0, 3, 4

_FLOAT_FIELDS = {"co": 2, "handle_left": 2, "handle_right": 2, "back": 1, "amplitude": 1, "period": 1}
_ENUM_FIELDS = ("interpolation", "easing", "type", "handle_left_type", "handle_right_type")
_BOOL_FIELDS = ("select_control_point", "select_left_handle", "select_right_handle")
_SEGMENT_FIELDS = ("interpolation", "easing", "back", "amplitude", "period")

# What Blender gives the keys that it inserts (measured; only read by the easing interpolations).
_BLENDER_DEFAULTS = {"back": 1.70158, "amplitude": 0.8, "period": 4.1}

# Frames over which a slope is measured; a third of a segment where that is shorter.
_SLOPE_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Keys:
    """New keys of one channel, in action time.

    ``left`` and ``right`` are the handles' frames and values (keys × 2).
    """

    frames: Floats
    values: Floats
    left: Floats
    right: Floats
    interpolation: int
    handle_type: int


def linear_keys(frames: Floats, values: Floats) -> Keys:
    """Keys with straight segments; the handles lie on the segments."""
    steps = np.diff(np.column_stack((frames, values)), axis=0)
    return _keys_with_handles(frames, values, steps, steps, LINEAR, AUTO_CLAMPED_HANDLE)


def smooth_keys(frames: Floats, values: Floats) -> Keys:
    """Keys with Bézier segments, both handles of a key on the slope of the smooth curve through all."""
    slopes, widths = smooth_slopes(frames, values[:, None])[:, 0], np.diff(frames)
    ahead, behind = (np.column_stack((widths, widths * part)) for part in (slopes[:-1], slopes[1:]))
    return _keys_with_handles(frames, values, ahead, behind, BEZIER, ALIGNED_HANDLE)


def _keys_with_handles(
    frames: Floats, values: Floats, ahead: Floats, behind: Floats, interpolation: int, handle_type: int
) -> Keys:
    """Handles a third of what is ``ahead`` of each key but the last and ``behind`` each but the first."""
    points, level = np.column_stack((frames, values)), np.array([[1.0, 0.0]])
    right = points + np.concatenate((ahead, behind[-1:] if len(behind) else level)) / 3.0
    left = points - np.concatenate((ahead[:1] if len(ahead) else level, behind)) / 3.0
    return Keys(frames, values, left, right, interpolation, handle_type)


def key_frames(curve: bpy.types.FCurve) -> Floats:
    """The frames of a curve's keys, in action time."""
    co = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", co)
    return co[::2].astype(np.float64)


def read_table(curve: bpy.types.FCurve) -> Table:
    """Every editable field of every key of a curve."""
    points, count = curve.keyframe_points, len(curve.keyframe_points)
    table: Table = {name: np.empty(count * width, np.float32) for name, width in _FLOAT_FIELDS.items()}
    table |= {name: np.empty(count, np.int32) for name in _ENUM_FIELDS}
    table |= {name: np.empty(count, np.bool_) for name in _BOOL_FIELDS}
    for name, values in table.items():
        points.foreach_get(name, values)
    return {name: values.reshape(-1, _FLOAT_FIELDS.get(name, 1)) for name, values in table.items()}


def replace_range(curve: bpy.types.FCurve, keys: Keys, first: float, last: float) -> None:
    """Puts the keys where the curve's keys within first…last were; all others keep every field.

    The segments that enter and leave the range keep their interpolation, and their slope at the range's ends.
    """
    old = read_table(curve)
    x = old["co"][:, 0]
    before, after = x < first - SAME_FRAME, x > last + SAME_FRAME
    new = _new_table(keys)
    if before.any():
        _keep_entering_segment(curve, old, new, int(before.sum()) - 1)
    if after.any():
        _keep_leaving_segment(curve, old, new, int(len(x) - after.sum()))
    _write_table(curve, {name: np.concatenate((old[name][before], new[name], old[name][after])) for name in new})


def _new_table(keys: Keys) -> Table:
    count = len(keys.frames)
    table: Table = {
        "co": np.column_stack((keys.frames, keys.values)),
        "handle_left": keys.left,
        "handle_right": keys.right,
    }
    table |= {name: np.full((count, 1), value) for name, value in _BLENDER_DEFAULTS.items()}
    table = {name: values.astype(np.float32) for name, values in table.items()}
    table |= {name: np.zeros((count, 1), np.int32) for name in _ENUM_FIELDS}
    table |= {name: np.zeros((count, 1), np.bool_) for name in _BOOL_FIELDS}
    table["interpolation"][:] = keys.interpolation
    table["handle_left_type"][:] = table["handle_right_type"][:] = keys.handle_type
    return table


def _keep_entering_segment(curve: bpy.types.FCurve, old: Table, new: Table, neighbour: int) -> None:
    """``neighbour``: index of the last old key before the range."""
    x, y = (float(value) for value in new["co"][0])
    follower = neighbour + 1
    if follower < len(old["co"]) and abs(old["co"][follower, 0] - x) < SAME_FRAME:
        new["handle_left"][0] = new["co"][0] + old["handle_left"][follower] - old["co"][follower]
        new["handle_left_type"][0] = old["handle_left_type"][follower]
        return
    third = (x - float(old["co"][neighbour, 0])) / 3.0
    step = min(_SLOPE_STEP, third)
    slope = (curve.evaluate(x) - curve.evaluate(x - step)) / step
    new["handle_left"][0] = (x - third, y - slope * third)
    new["handle_left_type"][0] = FREE_HANDLE


def _keep_leaving_segment(curve: bpy.types.FCurve, old: Table, new: Table, neighbour: int) -> None:
    """``neighbour``: index of the first old key after the range; the key before it rules the segment."""
    ruler = neighbour - 1
    if ruler < 0:
        return
    for name in _SEGMENT_FIELDS:
        new[name][-1] = old[name][ruler]
    x, y = (float(value) for value in new["co"][-1])
    if abs(old["co"][ruler, 0] - x) < SAME_FRAME:
        new["handle_right"][-1] = new["co"][-1] + old["handle_right"][ruler] - old["co"][ruler]
        new["handle_right_type"][-1] = old["handle_right_type"][ruler]
        return
    third = (float(old["co"][neighbour, 0]) - x) / 3.0
    step = min(_SLOPE_STEP, third)
    slope = (curve.evaluate(x + step) - curve.evaluate(x)) / step
    new["handle_right"][-1] = (x + third, y + slope * third)
    new["handle_right_type"][-1] = FREE_HANDLE


def _write_table(curve: bpy.types.FCurve, table: Mapping[str, NDArray[Any]]) -> None:
    points = curve.keyframe_points
    count, wanted = len(points), len(table["co"])
    if count > wanted:
        points.clear()
        count = 0
    if wanted > count:
        points.add(wanted - count)
    for name, values in table.items():
        points.foreach_set(name, np.ascontiguousarray(values).ravel())
