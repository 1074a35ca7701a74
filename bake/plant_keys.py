"""Keys of planting: controls held along a path of the world, and ``use_ik`` on over spans of frames.

Everything is checked before anything is written. Must not decide where a foot is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..rig import compat, fk_pose, marks, match
from ..rig.chains import ChainSetup
from ..rig.data_paths import bone_path
from ..rig.session import object_at
from ..solvers import rotations
from . import continuity, keys
from .key_table import SAME_FRAME, Floats
from .switch_times import is_on_at, path_of
from .writable import action_frame, check_writable

# Relative to the numbers themselves: keys this near are the same value in float32.
SAME_VALUE = 1e-7


@dataclass(frozen=True)
class ControlKeys:
    """A control's location and, where it turns, raw rotation on rising frames."""

    obj: Any
    bone: str
    frames: Floats
    locations: Floats
    turns: Floats | None


def control_keys(
    link: tuple[marks.Key, str], frames: Floats, above: Floats, points: Floats, turns: Floats | None
) -> ControlKeys:
    """The keys that put a target or pole on a path.

    Args:
        link: the control's object and bone.
        frames: rising.
        above: frames × 4 × 4, what it hangs on.
        points: frames × 3.
        turns: frames × 4, None leaves its rotation alone.

    Space: world.
    """
    obj: Any = object_at(link[0])
    inverse = np.linalg.inv(above)
    locations = np.einsum("nij,nj->ni", inverse[:, :3, :3], points) + inverse[:, :3, 3]
    raw = None if turns is None else _raw_turns(match.owner_of(obj, link[1]), above, turns)
    return ControlKeys(obj, link[1], frames, locations, raw)


def _raw_turns(owner: Any, above: Floats, turns: Floats) -> Floats:
    mode, near, found = owner.rotation_mode, fk_pose.read_raw(owner), []
    for matrix, turn in zip(above, turns, strict=True):
        under = rotations.conjugate(rotations.from_matrix(Matrix(matrix.tolist())))
        near = fk_pose.to_raw(rotations.normalized(rotations.multiply(under, rotations.as_quat(turn))), mode, near)
        found.append(near)
    return continuity.continuous_rotations(np.array(found, dtype=np.float64), mode)


def _tables(one: ControlKeys) -> list[tuple[str, Floats]]:
    prefix = bone_path(one.bone) if one.bone else ""
    tables = [(f"{prefix}location", one.locations)]
    if one.turns is not None:
        mode = match.owner_of(one.obj, one.bone).rotation_mode
        tables.append((f"{prefix}{fk_pose.channel(mode)}", one.turns))
    return tables


def check_control(one: ControlKeys) -> None:
    """Raises a LimbIKError where these keys can't be written."""
    check_writable(one.obj, [path for path, _ in _tables(one)], one.frames)


def write_control(one: ControlKeys) -> int:
    """Write them; frames between which nothing changes get no keys of their own. Returns the number of keys."""
    count = 0
    for path, values in _tables(one):
        needed = _needed(values)
        count += keys.write_keys(one.obj, path, values[needed], one.frames[needed], one.bone or "Object Transforms")
    return count


def _needed(values: Floats) -> NDArray[np.intp]:
    """Rows that differ from the one before or after; the first and the last."""
    size = SAME_VALUE * (1.0 + np.abs(values).max())
    changes = np.abs(np.diff(values, axis=0)).max(axis=1) > size
    return np.flatnonzero(np.concatenate(([True], changes)) | np.concatenate((changes, [True])))


@dataclass(frozen=True, slots=True)
class OnSpan:
    """``use_ik`` is on from ``first`` up to ``last``, where it goes off; None: for good. Units: frames.

    ``stays_on``: at ``last`` it is on anyway, only keys before go.
    """

    first: float
    last: float | None
    stays_on: bool = False


def check_use_ik(obj: Any, chain: ChainSetup, spans: Sequence[OnSpan]) -> None:
    """Raises a LimbIKError where ``use_ik`` can't be keyed."""
    ends = [one.first - 1.0 for one in spans] + [one.last for one in spans if one.last is not None]
    check_writable(obj, [path_of(chain)], np.array(sorted(ends)))


def key_use_ik(obj: Any, chain: ChainSetup, spans: Sequence[OnSpan], *, is_on_before: bool) -> int:
    """Key ``use_ik`` on over spans, off at their ends; keys inside of them go. Returns how many were written.

    Args:
        obj: the armature object.
        chain: whose.
        spans: rising, apart.
        is_on_before: what holds before the first of its keys.
    """
    curve = compat.ensure_fcurve(obj, path_of(chain), 0, chain.tip)
    anim, points, count = obj.animation_data, curve.keyframe_points, 0
    for span in spans:
        first = action_frame(anim, span.first)
        last = action_frame(anim, span.last) if span.last is not None else np.inf
        for point in [p for p in points if first - SAME_FRAME <= p.co.x <= last + SAME_FRAME][::-1]:
            points.remove(point, fast=True)
        preceding = [p for p in points if p.co.x < first - SAME_FRAME]
        if not preceding or preceding[-1].interpolation != 'CONSTANT':
            count += _insert(points, action_frame(anim, span.first - 1.0), is_on_before)
        count += _insert(points, first, True)
        if span.last is not None and not span.stays_on:
            count += _insert(points, last, False)
        curve.update()
    _tag(obj)
    return count


def release_at(obj: Any, chain: ChainSetup, frame: float) -> bool:
    """Key ``use_ik`` off at a frame in place of where it would go off next; False where it is off already."""
    if not is_on_at(obj, chain, frame):
        return False
    curve = compat.ensure_fcurve(obj, path_of(chain), 0, chain.tip)
    points, at = curve.keyframe_points, action_frame(obj.animation_data, frame)
    after = sorted((p.co.x, p.co.y) for p in points if p.co.x >= at - SAME_FRAME)
    over = next((x for x, value in after if value < 1.0), None)
    if over is not None:
        for point in [p for p in points if at - SAME_FRAME <= p.co.x <= over + SAME_FRAME][::-1]:
            points.remove(point, fast=True)
    if not len(points):
        _insert(points, at - 1.0, True)
    _insert(points, at, False)
    curve.update()
    _tag(obj)
    return True


def is_keyed(obj: Any, chain: ChainSetup) -> bool:
    """Whether ``use_ik`` has keys of its own."""
    curve = compat.find_fcurve(obj, path_of(chain))
    return curve is not None and len(curve.keyframe_points) > 0


def forget_use_ik(obj: Any, chain: ChainSetup) -> None:
    """Take all keys of ``use_ik`` away: of a chain whose switch made no difference."""
    curve = compat.find_fcurve(obj, path_of(chain))
    if curve is not None:
        compat.remove_fcurve(obj, curve)


def _insert(points: Any, frame: float, is_on: bool) -> int:
    key = points.insert(frame, float(is_on), options={'FAST'})
    key.interpolation = 'CONSTANT'
    return 1


def _tag(obj: Any) -> None:
    compat.ensure_action(obj).action.update_tag()
    obj.update_tag(refresh={'TIME'})
