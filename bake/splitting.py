"""A key more on a curve that stays the same curve: Bézier segments are divided, handles and all.

What is keyed from some frame on must not bend the animation before it.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..rig import compat
from .key_table import SAME_FRAME, Floats, key_frames
from .writable import action_frame

# Halvings of the parameter after which nothing is left of a double.
HALVINGS = 60


def split(obj: Any, path: str, frame: float) -> bool:
    """Key a property at a frame of the scene as its curves have it there; whether all of them have a key there then.

    Left alone are curves with modifiers, of samples, with handles that cross far, and with other segments than
    Bézier, straight and held ones.
    """
    curves = [one for one in compat.fcurves_of(obj) if one.data_path == path]
    if not curves:
        return False
    at = action_frame(obj.animation_data, frame)
    have_keys = [_split(curve, at) for curve in curves]
    return all(have_keys)


def hold(obj: Any, path: str, frame: float) -> None:
    """From the key at a frame of the scene to the next a property doesn't change."""
    at = action_frame(obj.animation_data, frame)
    for curve in [one for one in compat.fcurves_of(obj) if one.data_path == path]:
        for number in np.flatnonzero(np.abs(key_frames(curve) - at) < SAME_FRAME):
            curve.keyframe_points[int(number)].interpolation = 'CONSTANT'


def _split(curve: bpy.types.FCurve, at: float) -> bool:
    x, points = key_frames(curve), curve.keyframe_points
    if not len(x) or any(not one.mute for one in curve.modifiers):
        return False
    if np.abs(x - at).min() < SAME_FRAME:
        return True
    after = int(np.searchsorted(x, at))
    if after in (0, len(x)):
        return curve.extrapolation == 'CONSTANT' and _insert_flat(curve, at, points[min(after, len(x) - 1)])
    if points[after - 1].interpolation == 'BEZIER':
        if not _divide(points, after, at):
            return False
    elif points[after - 1].interpolation in ('LINEAR', 'CONSTANT'):
        value, interpolation = curve.evaluate(at), points[after - 1].interpolation
        points.insert(at, value, options={'FAST'}).interpolation = interpolation
    else:
        return False
    curve.update()
    return True


def _insert_flat(curve: bpy.types.FCurve, at: float, end: Any) -> bool:
    """A key beyond the first or last one, where the curve holds its value."""
    value = end.co.y
    _free(end)
    if at > end.co.x:
        end.interpolation = 'LINEAR'
    curve.keyframe_points.insert(at, value, options={'FAST'}).interpolation = 'LINEAR'
    curve.update()
    return True


def _divide(points: Any, after: int, at: float) -> bool:
    """Blender moves handles itself as it inserts, not to the same curve: they are set when the key is there."""
    corners = _corners(points[after - 1], points[after])
    outer, inner, place = _divided(corners, at)
    if _is_shortened(corners, outer, inner, at):
        return False
    kept = tuple(points[after - 1].handle_left), tuple(points[after].handle_right)
    points.insert(at, float(place[1]), options={'FAST'})
    left, key, right = (points[after + shift] for shift in (-1, 0, 1))
    for one in (left, key, right):
        _free(one)
    key.interpolation = 'BEZIER'
    left.handle_left, right.handle_right = kept
    left.handle_right, right.handle_left = outer
    key.handle_left, key.handle_right = inner
    return True


def _free(key: Any) -> None:
    """Handles of other types would move with the new neighbour."""
    key.handle_left_type = key.handle_right_type = 'FREE'


def _corners(left: Any, right: Any) -> Floats:
    """Key, handle, handle, key of a segment; handles that reach beyond the other key are shortened as Blender does."""
    corners = np.array([left.co, left.handle_right, right.handle_left, right.co], dtype=np.float64)
    length = corners[3, 0] - corners[0, 0]
    for key, handle in ((0, 1), (3, 2)):
        reach = abs(corners[handle, 0] - corners[key, 0])
        if reach > length:
            corners[handle] = corners[key] + (corners[handle] - corners[key]) * (length / reach)
    return corners


def _is_shortened(corners: Floats, outer: Any, inner: Any, at: float) -> bool:
    """Whether Blender would shorten handles of the parts, as of handles that cross far."""
    parts = (corners[0, 0], outer[0][0], inner[0][0], at), (at, inner[1][0], outer[1][0], corners[3, 0])
    reach = [max(handle - first, last - other) - (last - first) for first, handle, other, last in parts]
    return bool(max(reach) > SAME_FRAME)


def _divided(corners: Floats, at: float) -> tuple[Any, Any, Floats]:
    """De Casteljau at the parameter where x is ``at``: outer handles, handles of the new key, its place."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _levels(corners, middle)[2][0, 0] < at else (low, middle)
    first, second, place = _levels(corners, (low + high) / 2.0)
    return (first[0], first[2]), (second[0], second[1]), place[0]


def _levels(corners: Floats, t: float) -> tuple[Floats, Floats, Floats]:
    first = corners[:-1] + (corners[1:] - corners[:-1]) * t
    second = first[:-1] + (first[1:] - first[:-1]) * t
    return first, second, second[:1] + (second[1:] - second[:1]) * t
