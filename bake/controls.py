"""Targets and poles as what has channels: read at the place that FK gives them, put there, or keyed.

This module must not decide which chains or frames are meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..rig import compat, fk_pose, marks, match
from ..rig.chains import ChainSetup
from ..rig.data_paths import bone_path
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation
from ..rig.session import object_at
from ..solvers import rotations
from ..solvers.arrays import Floats
from . import continuity, keys
from .key_table import has_key, key_frames
from .writable import action_frame, check_writable

# Relative to the numbers themselves: keys this near are the same value in float32.
SAME_VALUE = 1e-7
OBJECT_GROUP = "Object Transforms"

Control = marks.Link
"""A target or pole."""


@dataclass(frozen=True, slots=True)
class ControlKeys:
    """Values of one channel of a target or pole, frames × width."""

    obj: bpy.types.Object
    path: str
    values: Floats
    frames: Floats
    group: str


def read_controls(
    run: Evaluation, obj: bpy.types.Object, chains: Sequence[ChainSetup], held: list[str] | None = None
) -> dict[Control, match.Channels]:
    """The channels that put each target and pole where these chains give the pose that the evaluation has.

    ``held`` gets the tips of chains that can't give it, because their largest reach is shorter.
    """
    rig = match.rig_of(run, obj)
    found: dict[Control, match.Channels] = {}
    for chain in chains:
        place = match.matched(run, rig, chain)
        if place.is_held_back and held is not None:
            held.append(chain.tip)
        for link, matrix in ((chain.target_key, place.target_world), (chain.pole_key, place.pole_world)):
            if link is None or matrix is None:
                continue
            evaluated = object_at(link[0]).evaluated_get(run.depsgraph)
            found[link] = match.control_channels(evaluated, link[1], matrix)
    return found


def put_controls(found: Sequence[dict[Control, match.Channels]]) -> None:
    """Write the channels of targets and poles.

    Raises:
        LimbIKError: what is written to one of them would be lost; nothing was changed.
    """
    for owner in control_owners(found):
        if reason := compat.why_not_editable(owner.id_data):
            raise LimbIKError(reason)
    for controls in found:
        for control, channels in controls.items():
            match.put(owner_of_control(control), channels)


def control_owners(found: Sequence[dict[Control, match.Channels]]) -> list[Any]:
    """Objects and pose bones of targets and poles."""
    return [owner_of_control(control) for controls in found for control in controls]


def owner_of_control(control: Control) -> Any:
    """What holds the channels of a target or pole: an object or a pose bone."""
    return match.owner_of(object_at(control[0]), control[1])


def path_to(control: Control) -> str:
    """What the data paths of a target or pole begin with, from its object."""
    return bone_path(control[1]) if control[1] else ""


def key_where_automatic(context: Any, owners: Sequence[Any], has_place: bool = True) -> int:
    """Key objects or pose bones at this frame, rotation and place, where Auto Keying is on; how many channels that are.

    Args:
        context: gives scene and frame.
        owners: original objects or pose bones; those that can't be keyed are left out, as by Blender itself.
        has_place: the location, too.
    """
    tools = context.scene.tool_settings
    if not tools.use_keyframe_insert_auto:
        return 0
    is_replaced = tools.auto_keying_mode == 'REPLACE_KEYS'
    options = {'INSERTKEY_REPLACE'} if is_replaced else set()
    count = 0
    for owner in owners:
        group = OBJECT_GROUP if isinstance(owner, bpy.types.Object) else owner.name
        for path in (*(("location",) if has_place else ()), fk_pose.channel(owner.rotation_mode)):
            if is_replaced and not _has_key(owner, path, context.scene.frame_current_final):
                continue  # Blender prints a warning where there is nothing to replace
            if owner.id_data.is_editable and owner.keyframe_insert(path, group=group, options=options):
                count += len(getattr(owner, path))
    return count


def _has_key(owner: Any, path: str, frame: float) -> bool:
    curve = compat.find_fcurve(owner.id_data, owner.path_from_id(path))
    if curve is None:
        return False
    return has_key(key_frames(curve), action_frame(owner.id_data.animation_data, frame))


def control_keys(samples: Sequence[dict[Control, match.Channels]], frames: Floats) -> list[ControlKeys]:
    """Keys for targets and poles: location and rotation of each, continuous in time."""
    found = []
    for control in samples[0]:
        locations = np.array([sampled[control].location for sampled in samples])
        turns = np.array([sampled[control].rotation for sampled in samples], dtype=np.float64)
        found += _channel_keys(control, frames, locations, turns)
    return found


def keys_along(
    control: Control, frames: Floats, above: Floats, points: Floats, turns: Floats | None
) -> list[ControlKeys]:
    """Keys that put a target or pole on a path.

    Args:
        control: which.
        frames: rising.
        above: frames × 4 × 4, what it hangs on.
        points: frames × 3.
        turns: frames × 4; None leaves its rotation alone.

    Space: world.
    """
    inverse = np.linalg.inv(above)
    locations = np.einsum("nij,nj->ni", inverse[:, :3, :3], points) + inverse[:, :3, 3]
    raw = None if turns is None else _raw_turns(owner_of_control(control), above, turns)
    return _channel_keys(control, frames, locations, raw)


def _raw_turns(owner: Any, above: Floats, turns: Floats) -> Floats:
    mode, near, found = owner.rotation_mode, fk_pose.read_raw(owner), []
    for matrix, turn in zip(above, turns, strict=True):
        under = rotations.conjugate(rotations.from_matrix(Matrix(matrix.tolist())))
        near = fk_pose.to_raw(rotations.normalized(rotations.multiply(under, rotations.as_quat(turn))), mode, near)
        found.append(near)
    return np.array(found, dtype=np.float64)


def _channel_keys(control: Control, frames: Floats, locations: Floats, turns: Floats | None) -> list[ControlKeys]:
    """Keys of the location and, where there are any, of raw rotations, which get continuous in time."""
    obj, prefix, group = object_at(control[0]), path_to(control), control[1] or OBJECT_GROUP
    found = [ControlKeys(obj, f"{prefix}location", locations, frames, group)]
    if turns is not None:
        mode = owner_of_control(control).rotation_mode
        turns = continuity.continuous_rotations(turns, mode)
        found.append(ControlKeys(obj, f"{prefix}{fk_pose.channel(mode)}", turns, frames, group))
    return found


def without_still(one: ControlKeys) -> ControlKeys:
    """The keys but for those between two that are the same; the first and the last stay."""
    size = SAME_VALUE * (1.0 + np.abs(one.values).max())
    changes = np.abs(np.diff(one.values, axis=0)).max(axis=1) > size
    kept: NDArray[np.bool_] = np.concatenate(([True], changes)) | np.concatenate((changes, [True]))
    return replace(one, values=one.values[kept], frames=one.frames[kept])


def check_controls(found: Sequence[ControlKeys]) -> None:
    """Raises a LimbIKError where one of these keys can't be written."""
    for one in found:
        check_writable(one.obj, [one.path], one.frames)


def write_controls(found: Sequence[ControlKeys]) -> int:
    """Key targets and poles; returns how many keys were written.

    Raises:
        LimbIKError: a key can't be written; nothing was changed.
    """
    check_controls(found)
    return sum(keys.write_keys(one.obj, one.path, one.values, one.frames, one.group) for one in found)
