"""Copying what is animated from an evaluated object to its original, before the original is written.

Only in the depsgraph of the screen do originals hold the frame that is evaluated; in a
render or an export they hold another one, which a write would freeze. The test is the
difference, never the kind of depsgraph. This module must not decide what IK writes.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import channels, dependency, edits
from .data_paths import BONES
from .raw_pose import write_channel
from .session import pose_bones

BONE_CHANNELS = {"location": 3, "scale": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4}
Matrices = NDArray[np.float32]


class _Known:
    """Which rigs may be animated, by their session numbers, since the last edit (see ``edits``)."""

    def __init__(self) -> None:
        self.edits = -1
        self.is_animated: dict[int, bool] = {}


_known = _Known()


def is_shown(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether this is the depsgraph of the screen, which Blender copies to the originals as it evaluates."""
    layer = bpy.context.view_layer
    return layer is not None and layer.depsgraph == depsgraph


def may_differ(
    evaluated: bpy.types.Object, original: bpy.types.Object, is_own: bool, seen: Matrices | None = None
) -> bool:
    """Whether something animated may have another value in the original.

    Args:
        is_own: whether this is the depsgraph of the screen.
        seen: as in ``hold_the_same``.
    """
    return _may_be_animated(original) and not (is_own and hold_the_same(evaluated, original, seen))


def _may_be_animated(obj: bpy.types.Object) -> bool:
    """``_is_animated``, asked once while nothing is edited."""
    if _known.edits != edits.count():
        _known.edits, _known.is_animated = edits.count(), {}
    uid = obj.session_uid
    found = _known.is_animated.get(uid)
    if found is None:
        found = _known.is_animated[uid] = _is_animated(obj)
    return found


def _is_animated(obj: bpy.types.Object) -> bool:
    """Whether anything but our own drivers may animate an object."""
    animation = obj.animation_data
    return animation is not None and bool(
        animation.action is not None
        or len(animation.nla_tracks)
        or any(curve.data_path not in dependency.OWN_PATHS for curve in animation.drivers)
    )


def hold_the_same(evaluated: bpy.types.Object, original: bpy.types.Object, seen: Matrices | None = None) -> bool:
    """Whether the original shows the pose and place that were evaluated: only then the depsgraph was copied to it.

    Cheap; asked beside ``is_shown``, because a script can put any view layer into the context.

    Args:
        seen: the evaluated bones' matrices where they were read before.
    """
    if evaluated.matrix_world != original.matrix_world:
        return False
    return np.array_equal(_matrices(evaluated) if seen is None else seen.reshape(-1), _matrices(original))


def _matrices(obj: bpy.types.Object) -> Matrices:
    bones: Any = pose_bones(obj)
    found = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix", found)
    return found


def copy_animated(evaluated: bpy.types.Object, original: bpy.types.Object) -> None:
    """Give the original every animated value of the evaluated object that differs.

    Bone channels go in bulk; the paths of other F-curves, NLA strips and drivers one by one.
    """
    _copy_bone_channels(pose_bones(evaluated), pose_bones(original))
    for path, index in channels.animated_paths(original):
        if not _is_bone_channel(path) and path not in dependency.OWN_PATHS:
            _copy_value(evaluated, original, path, index)


def _is_bone_channel(path: str) -> bool:
    return path.startswith(BONES) and path.rpartition('"].')[2] in BONE_CHANNELS


def _copy_bone_channels(source: Any, goal: Any) -> None:
    for name, width in BONE_CHANNELS.items():
        theirs = np.empty(width * len(source), dtype=np.float32)
        ours = np.empty_like(theirs)
        source.foreach_get(name, theirs)
        goal.foreach_get(name, ours)
        if not np.array_equal(theirs, ours):
            write_channel(goal, name, theirs)


def _copy_value(evaluated: bpy.types.Object, original: bpy.types.Object, path: str, index: int) -> None:
    owner_path, name, is_custom = _split(path)
    try:
        theirs = evaluated.path_resolve(owner_path) if owner_path else evaluated
        ours = original.path_resolve(owner_path) if owner_path else original
        new = theirs[name] if is_custom else getattr(theirs, name)
        old = ours[name] if is_custom else getattr(ours, name)
    except (ValueError, KeyError, AttributeError):
        return  # an F-curve of something that is no longer there; Blender passes over it, too
    if hasattr(new, "__len__") and not isinstance(new, str):
        if index < len(new) and new[index] != old[index]:  # a curve may have a number too large, see above
            old[index] = new[index]
    elif new != old:
        if is_custom:
            ours[name] = new
        else:
            setattr(ours, name, new)


def _split(path: str) -> tuple[str, str, bool]:
    """Owner's path, name of the value in it, and whether that is a custom property."""
    if path.endswith('"]'):
        start = path.rindex('["')
        return path[:start], bpy.utils.unescape_identifier(path[start + 2 : -2]), True
    owner, _, name = path.rpartition(".")
    return owner, name, False
