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

from ..rig.channels import SAME_FRAME
from ..solvers.arrays import Floats
from .reduce import smooth_slopes

Table = dict[str, NDArray[Any]]

CONSTANT, LINEAR, BEZIER = 0, 1, 2
FREE_HANDLE, ALIGNED_HANDLE, AUTO_CLAMPED_HANDLE = 0, 3, 4

_POINT_FIELDS = ("co", "handle_left", "handle_right")
# What a key has that was just added (measured on 4.2, 4.5 and 5.3): writing it again would take most of the time.
_ADDED: dict[str, float | int | bool] = {
    "back": 0.0,
    "amplitude": 0.0,
    "period": 0.0,
    "interpolation": BEZIER,
    "easing": 0,
    "type": 0,
    "handle_left_type": AUTO_CLAMPED_HANDLE,
    "handle_right_type": AUTO_CLAMPED_HANDLE,
    "select_control_point": True,
    "select_left_handle": True,
    "select_right_handle": True,
}
_SEGMENT_FIELDS = ("interpolation", "easing", "back", "amplitude", "period")
_DTYPES = {float: np.float32, int: np.int32, bool: np.bool_}

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


def linear_keys(frames: Floats, values: Floats) -> list[Keys]:
    """Keys with straight segments, for each channel (values: frames × channels); the handles lie on the segments."""
    steps = np.diff(values, axis=0)
    return _keys_with_handles(frames, values, steps, steps, LINEAR, AUTO_CLAMPED_HANDLE)


def smooth_keys(frames: Floats, values: Floats) -> list[Keys]:
    """Keys with Bézier segments, both handles of a key on the slope of the smooth curve through all; as above."""
    slopes, widths = smooth_slopes(frames, values), np.diff(frames)[:, None]
    return _keys_with_handles(frames, values, widths * slopes[:-1], widths * slopes[1:], BEZIER, ALIGNED_HANDLE)


def _keys_with_handles(
    frames: Floats, values: Floats, ahead: Floats, behind: Floats, interpolation: int, handle_type: int
) -> list[Keys]:
    """Handles a third of the way: values rise by ``ahead`` to the next key, ``behind`` from the one before."""
    widths, level = np.diff(frames) if len(frames) > 1 else np.ones(1), np.zeros((1, values.shape[1]))
    rises = np.concatenate((ahead, behind[-1:] if len(behind) else level)) / 3.0
    falls = np.concatenate((ahead[:1] if len(ahead) else level, behind)) / 3.0
    points = np.empty((3, values.shape[1], len(frames), 2))
    points[0, :, :, 0] = frames - np.append(widths[0], widths)[: len(frames)] / 3.0
    points[1, :, :, 0], points[2, :, :, 0] = frames, frames + np.append(widths, widths[-1])[: len(frames)] / 3.0
    points[0, :, :, 1], points[1, :, :, 1], points[2, :, :, 1] = (values - falls).T, values.T, (values + rises).T
    return [
        Keys(frames, at[:, 1], left, right, interpolation, handle_type) for left, at, right in points.swapaxes(0, 1)
    ]


def key_frames(curve: bpy.types.FCurve) -> Floats:
    """The frames of a curve's keys, in action time."""
    co = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", co)
    return co[::2].astype(np.float64)


def has_key(frames: Floats, at: float) -> bool:
    """Whether there is a key at a frame among those of ``key_frames``."""
    return bool((np.abs(frames - at) < SAME_FRAME).any())


def read_table(curve: bpy.types.FCurve) -> Table:
    """Every editable field of every key of a curve."""
    points, count = curve.keyframe_points, len(curve.keyframe_points)
    table: Table = {name: np.empty((count, 2), np.float32) for name in _POINT_FIELDS}
    table |= {name: np.empty((count, 1), _DTYPES[type(value)]) for name, value in _ADDED.items()}
    for name, values in table.items():
        points.foreach_get(name, values.reshape(-1))
    return table


def replace_range(curve: bpy.types.FCurve, keys: Keys, first: float, last: float) -> None:
    """Puts the keys where the curve's keys within first…last were; all others keep every field.

    The segments that enter and leave the range keep their interpolation, and their slope at the range's ends.
    """
    x = key_frames(curve)
    before, after = x < first - SAME_FRAME, x > last + SAME_FRAME
    if not before.any() and not after.any():
        _write_table(curve, _point_fields(keys) | _told_fields(keys))
        return
    old, new = read_table(curve), _new_table(keys)
    if before.any():
        _keep_entering_segment(curve, old, new, int(before.sum()) - 1)
    if after.any():
        _keep_leaving_segment(curve, old, new, int(len(x) - after.sum()))
    _write_table(curve, {name: np.concatenate((old[name][before], new[name], old[name][after])) for name in new})


def _new_table(keys: Keys) -> Table:
    added: Table = {name: np.full((len(keys.frames), 1), value, _DTYPES[type(value)]) for name, value in _ADDED.items()}
    return _point_fields(keys) | added | _told_fields(keys)


def _point_fields(keys: Keys) -> Table:
    points = (np.column_stack((keys.frames, keys.values)), keys.left, keys.right)
    return {name: values.astype(np.float32) for name, values in zip(_POINT_FIELDS, points, strict=True)}


def _told_fields(keys: Keys) -> Table:
    """What ``Keys`` says beside the points."""
    handle_type = np.full((len(keys.frames), 1), keys.handle_type, np.int32)
    interpolation = np.full((len(keys.frames), 1), keys.interpolation, np.int32)
    return {"interpolation": interpolation, "handle_left_type": handle_type, "handle_right_type": handle_type.copy()}


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
    points.clear()
    points.add(len(table["co"]))
    for name, values in table.items():
        if name in _POINT_FIELDS or (values != _ADDED[name]).any():
            points.foreach_set(name, np.ascontiguousarray(values).reshape(-1))
