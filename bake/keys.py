"""Writing keys: into the data-block's own action and slot, inside a range, and nowhere else.

What is outside the range, and every other curve, slot and action, stays as it is.
Nothing is written where a key would have no effect or be lost: that is an error
with its reason. This module must not sample, solve or decide which frames to key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, cast

import bpy
import numpy as np

from ..rig import compat, fk_pose
from ..rig.channels import SAME_FRAME
from ..rig.data_paths import rotation_path
from ..rig.errors import LimbIKError
from ..solvers.arrays import Floats
from .key_table import (
    BEZIER,
    FREE_HANDLE,
    Keys,
    linear_keys,
    replace_range,
    smooth_keys,
)
from .reduce import Fit
from .writable import action_frame, check_writable


def write_rotation_keys(
    obj: bpy.types.Object, values: Mapping[str, Floats], frames: Floats, straight: Collection[str] = ()
) -> int:
    """Keys the rotation of bones, every frame given; keys that the range held before are replaced.

    Segments are Bézier whose handles lie on the curve of ``reduce.reference``: between frames, too, that is where
    smooth motion is. Those of the bones in ``straight`` (see ``straight_bones``) are straight.

    Args:
        obj: the armature object.
        values: by bone name, frames × 4 (quaternion w x y z; axis-angle: angle and
            axis) or frames × 3 (Euler), as the bone's rotation mode says.
        frames: rising, in scene time; first and last are the range.
        straight: names of bones, see above.

    Returns:
        How many keys were written.

    Space: the bone's local rotation. Units: radians, frames.

    Raises:
        LimbIKError: a key could not be written or would have no effect; nothing was changed.
    """
    check_rotations(obj, values, frames)
    keys = _keys_of(smooth_keys, values, frames, [name for name in values if name not in straight])
    keys |= _keys_of(linear_keys, values, frames, [name for name in values if name in straight])
    paths = {name: rotation_path(_bone(obj, name)) for name in values}
    for name, index in ((name, index) for name, rows in values.items() for index in range(rows.shape[1])):
        _write_channel(obj, compat.ensure_fcurve(obj, paths[name], index, name), keys[name, index])
    tag(obj)
    return len(keys) * len(frames)


def _keys_of(
    make: Callable[[Floats, Floats], list[Keys]], values: Mapping[str, Floats], frames: Floats, names: list[str]
) -> dict[tuple[str, int], Keys]:
    """The keys of bones by name and channel, made of all channels at once."""
    if not names:
        return {}
    channels = [(name, index) for name in names for index in range(values[name].shape[1])]
    made = make(frames, np.concatenate([values[name] for name in names], axis=1))
    return dict(zip(channels, made, strict=True))


def write_rotation_fits(obj: bpy.types.Object, fits: Mapping[str, Fit]) -> int:
    """Keys the rotation of bones by few keys with Bézier handles, as ``reduce.fit`` found them.

    Channels and replacing as in ``write_rotation_keys``; the range of a bone is that of its fit.

    Raises:
        LimbIKError: a key could not be written or would have no effect; nothing was changed.
    """
    for name, fit in fits.items():
        check_rotations(obj, {name: fit.values}, fit.frames, is_every_frame=False)
    count = 0
    for name, fit in fits.items():
        path = rotation_path(_bone(obj, name))
        for index in range(fit.values.shape[1]):
            curve = compat.ensure_fcurve(obj, path, index, name)
            handles = fit.left[:, index], fit.right[:, index]
            _write_channel(obj, curve, Keys(fit.frames, fit.values[:, index], *handles, BEZIER, FREE_HANDLE))
        count += fit.values.size
    tag(obj)
    return count


def write_keys(id_block: bpy.types.ID, data_path: str, values: Floats, frames: Floats, group: str = "") -> int:
    """Keys any number or array property of a data-block, every frame given, with straight segments.

    Args:
        id_block: what the path starts at.
        data_path: the property.
        values: frames, or frames × channels.
        frames: rising, in scene time; keys that were in this range are replaced.
        group: name of the F-curve group of new curves.

    Returns:
        How many keys were written.

    Raises:
        LimbIKError: a key could not be written or would have no effect; nothing was changed.
    """
    rows = np.asarray(values, np.float64).reshape(len(frames), -1)
    _check_frames(id_block, rows, frames)
    check_writable(id_block, [data_path], frames)
    for index, keys in enumerate(linear_keys(frames, rows)):
        _write_channel(id_block, compat.ensure_fcurve(id_block, data_path, index, group), keys)
    tag(id_block)
    return rows.size


def _bone(obj: bpy.types.Object, name: str) -> bpy.types.PoseBone:
    bone = obj.pose.bones.get(name) if obj.pose else None
    if bone is None:
        raise LimbIKError(f"armature '{obj.name}' has no bone '{name}'")
    return bone


def check_rotations(
    obj: bpy.types.Object, values: Mapping[str, Floats], frames: Floats, is_every_frame: bool = True
) -> None:
    """Raises a LimbIKError where ``write_rotation_keys`` would; arguments as there."""
    for name, rows in values.items():
        bone = _bone(obj, name)
        width = fk_pose.WIDTHS[fk_pose.channel(bone.rotation_mode)]
        if rows.ndim != 2 or rows.shape[1] != width:
            raise LimbIKError(f"bone '{name}' in mode {bone.rotation_mode} needs {width} values a frame")
        _check_frames(obj, rows, frames)
    check_writable(obj, [rotation_path(_bone(obj, name)) for name in values], frames, is_every_frame)


def _check_frames(id_block: bpy.types.ID, rows: Floats, frames: Floats) -> None:
    if not len(frames) or len(rows) != len(frames):
        raise LimbIKError(f"'{id_block.name}': {len(rows)} values for {len(frames)} frames")
    if not np.isfinite(rows).all() or not np.isfinite(frames).all():
        raise LimbIKError(f"'{id_block.name}': a value to key is not a finite number")
    if (np.diff(frames) <= SAME_FRAME).any():
        raise LimbIKError(f"'{id_block.name}': frames to key have to rise by more than {SAME_FRAME}")


def _in_action_time(anim: bpy.types.AnimData, keys: Keys) -> Keys:
    """The keys where the tweaked strip plays them; a reversed strip turns them round."""
    if not anim.use_tweak_mode:
        return keys
    first = float(keys.frames[0])
    last = max(float(keys.frames[-1]), first + 1.0)
    start = action_frame(anim, first)
    pace = (action_frame(anim, last) - start) / (last - first)

    def mapped(points: Floats) -> Floats:
        return np.column_stack((start + (points[:, 0] - first) * pace, points[:, 1]))

    frames = start + (keys.frames - first) * pace
    keys = replace(keys, frames=frames, left=mapped(keys.left), right=mapped(keys.right))
    return keys if pace > 0.0 else _turned_round(keys)


def _turned_round(keys: Keys) -> Keys:
    left, right = keys.right[::-1], keys.left[::-1]
    return replace(keys, frames=keys.frames[::-1], values=keys.values[::-1], left=left, right=right)


def _write_channel(id_block: bpy.types.ID, curve: bpy.types.FCurve, keys: Keys) -> None:
    """``keys`` in scene time."""
    keys = _in_action_time(cast(Any, id_block).animation_data, keys)
    first, last = float(keys.frames[0]), float(keys.frames[-1])
    curve.mute = False
    curve.is_valid = True  # Blender skips a curve whose property was missing once
    replace_range(curve, keys, first, last)
    if any(not modifier.mute for modifier in curve.modifiers):
        # What modifiers add depends on the frame alone: keys that are lower by it give the value asked for.
        added = np.array([curve.evaluate(float(frame)) for frame in keys.frames]) - keys.values
        shift = np.column_stack((0.0 * added, added))
        moved = replace(keys, values=keys.values - added, left=keys.left - shift, right=keys.right - shift)
        replace_range(curve, moved, first, last)


def tag(id_block: bpy.types.ID) -> None:
    """Blender looks at keys again; array writes alone tell it nothing (measured)."""
    action = compat.action_and_slot(id_block)[0]
    if action is not None:
        action.update_tag()
    cast(Any, id_block).update_tag(refresh={'TIME'})
