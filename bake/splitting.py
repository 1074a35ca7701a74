"""A key more on a curve that stays the same curve: Bézier segments are divided, handles and all.

What is keyed from some frame on must not bend the animation before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..rig import compat
from ..rig.channels import SAME_FRAME
from ..solvers.arrays import Floats
from .key_table import key_frames
from .writable import action_frame

# Halvings of the parameter after which nothing is left of a double.
HALVINGS = 60
# The type of keys that were made beside those of the animator.
MADE = 'MOVING_HOLD'


def split(obj: Any, path: str, frame: float) -> bool:
    """Key a property at a frame of the scene as its curves have it there; whether all of them have a key there then.

    Left alone are curves with modifiers, of samples, with handles that cross far, and with other segments than
    Bézier, straight and held ones.
    """
    curves = _curves(obj, path)
    if not curves:
        return False
    at = action_frame(obj.animation_data, frame)
    have_keys = [_split(curve, at) for curve in curves]
    return all(have_keys)


def has_own_key(obj: Any, path: str, frame: float) -> bool:
    """Whether any channel of a property has a key at a frame of the scene that isn't marked as made."""
    return obj.animation_data is not None and any(key.type != MADE for key in _keys_at(obj, path, frame))


def hold(obj: Any, path: str, frame: float) -> None:
    """From the key at a frame of the scene to the next a property doesn't change."""
    for key in _keys_at(obj, path, frame):
        key.interpolation = 'CONSTANT'


def mark(obj: Any, path: str, frame: float) -> None:
    """Say of a key that it was made beside others', for ``join``; the dope sheet draws it as one that holds."""
    for key in _keys_at(obj, path, frame):
        key.type = MADE


def _keys_at(obj: Any, path: str, frame: float) -> list[Any]:
    at = action_frame(obj.animation_data, frame)
    found = []
    for curve in _curves(obj, path):
        numbers = np.flatnonzero(np.abs(key_frames(curve) - at) < SAME_FRAME)
        found += [curve.keyframe_points[int(number)] for number in numbers]
    return found


def join(
    obj: Any,
    path: str,
    frame: float,
    made: Sequence[float] = (),
    marked: Sequence[float] = (),
    *,
    is_split: bool = False,
) -> dict[int, float]:
    """Take away a key that was made to hold a property at a frame, and those that were made with it.

    Where it divided a segment it is the one that it was. A key there that isn't marked stays, held no more.

    Args:
        obj: what the path starts at.
        path: the property.
        frame: of the scene; where it is held.
        made: frames at which any key goes.
        marked: frames at which a marked key goes.
        is_split: those keys divided segments, too.

    Returns:
        By index what channels were held at of which no key is left.
    """
    if obj.animation_data is None:
        return {}
    at, *others = (action_frame(obj.animation_data, one) for one in (frame, *made, *marked))
    every, only_marked = others[: len(made)], others[len(made) :]
    emptied = {}
    for curve in _curves(obj, path):
        numbers = np.flatnonzero(np.abs(key_frames(curve) - at) < SAME_FRAME)
        if len(numbers) and curve.keyframe_points[int(numbers[0])].interpolation == 'CONSTANT':
            value = curve.keyframe_points[int(numbers[0])].co.y
            _join(curve, int(numbers[0]), _numbers(curve, every, only_marked), is_split)
            if not len(curve.keyframe_points):
                emptied[curve.array_index] = value
                compat.remove_fcurve(obj, curve)
    return emptied


def _curves(obj: Any, path: str) -> list[bpy.types.FCurve]:
    return [one for one in compat.fcurves_of(obj) if one.data_path == path]


def _numbers(curve: bpy.types.FCurve, every: Sequence[float], only_marked: Sequence[float]) -> list[int]:
    """Numbers of the keys at frames of the action, and of marked ones."""
    found = []
    for number, x in enumerate(key_frames(curve)):
        is_marked = curve.keyframe_points[number].type == MADE
        frames = [*every, *(only_marked if is_marked else ())]
        if any(abs(x - at) < SAME_FRAME for at in frames):
            found.append(number)
    return found


def _join(curve: bpy.types.FCurve, held: int, made: Sequence[int], is_split: bool) -> None:
    points: Any = curve.keyframe_points
    kind = points[made[-1] if made else max(held - 1, 0)].interpolation
    for number in made[::-1]:
        _take_out(points, number, kind if is_split else "")
    if points[held].type == MADE:
        _take_out(points, held, kind)
    else:
        points[held].interpolation = points[held - 1].interpolation if held else kind
    curve.update()


def _take_out(points: Any, number: int, kind: str) -> None:
    """Remove a key; two parts of a Bézier segment become one again by the parts' share that the key's handles show."""
    key = points[number]
    behind, ahead = key.co.x - key.handle_left.x, key.handle_right.x - key.co.x
    is_inner = 0 < number < len(points) - 1 and kind == 'BEZIER'
    if is_inner and min(behind, ahead) > 0.0:
        share, before, after = behind / (behind + ahead), points[number - 1], points[number + 1]
        before.handle_right = before.co + (before.handle_right - before.co) / share
        after.handle_left = after.co + (after.handle_left - after.co) / (1.0 - share)
    points.remove(key, fast=True)


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
