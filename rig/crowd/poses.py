"""The evaluated poses of many rigs and the FK that is kept beside their bones, read in bulk.

A part of ``crowd``; works after a frame change only, where the evaluated pose is FK.
This module must not solve or write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...solvers import rows, vectors
from ...solvers.rotations import Quat
from .. import fk_pose
from ..session import pose_bones
from . import stored
from .fixed import Fixed, Member
from .plan import Floats
from .turn import Modes, Singles, Together

IDENTITY_ROW = np.identity(4).reshape(16)


class Poses(NamedTuple):
    """Evaluated poses of all rigs, one row per bone and one more (the identity) per rig."""

    matrices: Floats
    locations: Floats
    scales: Floats
    turns: Floats


class _Channels(NamedTuple):
    """What bones have, one row per bone: as evaluated, and ``original`` rotations with their modes (``own_modes``)."""

    matrices: Singles
    locations: Singles
    scales: Singles
    evaluated: Singles
    modes: Modes
    original: Singles
    own_modes: Modes


def read(members: Sequence[Member], fixed: Fixed) -> tuple[Poses, Together]:
    """Poses as they were evaluated, and what writing needs of them."""
    seen = _read_channels(members, fixed)
    kept = stored.read_back(fixed) or _read_stored(members, fixed)
    fk, is_doubtful = _fk_of(members, fixed, seen, kept)
    is_other = (seen.modes != 0) | (seen.own_modes != 0) | is_doubtful
    others = set(fixed.held_by[is_other[fixed.held]].tolist())
    together = Together(
        fixed=fixed,
        plain={member.uid for number, member in enumerate(members) if number not in others},
        fk=fk,
        evaluated=seen.evaluated,
        original=seen.original,
        wanted=fk.astype(np.float64),
        is_turned=np.zeros(len(seen.evaluated), np.bool_),
        matrices=seen.matrices,
        had_store=kept.numbers != 0,
        kept=kept.written,
    )
    turns = _unit(fk)
    for number in others:
        _put_local(turns, members[number], fixed.starts[number])
    columns = seen.matrices.astype(np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)
    return Poses(columns, seen.locations.astype(np.float64), seen.scales.astype(np.float64), turns), together


def _read_channels(members: Sequence[Member], fixed: Fixed) -> _Channels:
    size = fixed.starts[-1]
    matrices, evaluated, original = (np.zeros((size, width), np.float32) for width in (16, 4, 4))
    locations, scales = np.zeros((size, 3), np.float32), np.ones((size, 3), np.float32)
    modes, own_modes = (np.zeros(size, np.int32) for _ in range(2))
    for member, row in _rows(members, fixed):
        bones = member.rig.bones
        bones.foreach_get("matrix", matrices[row].reshape(-1))
        bones.foreach_get("location", locations[row].reshape(-1))
        bones.foreach_get("scale", scales[row].reshape(-1))
        bones.foreach_get("rotation_quaternion", evaluated[row].reshape(-1))
        bones.foreach_get("rotation_mode", modes[row])
        bones = pose_bones(member.rig.obj)
        bones.foreach_get("rotation_quaternion", original[row].reshape(-1))
        bones.foreach_get("rotation_mode", own_modes[row])
        matrices[row.stop] = IDENTITY_ROW
    return _Channels(matrices, locations, scales, evaluated, modes, original, own_modes)


def _rows(members: Sequence[Member], fixed: Fixed) -> Iterator[tuple[Member, slice]]:
    for member, start, after in zip(members, fixed.starts, fixed.starts[1:], strict=False):
        yield member, slice(start, after - 1)


def _read_stored(members: Sequence[Member], fixed: Fixed) -> fk_pose.Stores:
    """FK and written rotations as the bones keep them."""
    size = fixed.starts[-1]
    found = fk_pose.Stores(*(np.zeros(shape, np.float32) for shape in (size, (size, 4), (size, 4))))
    for member, row in _rows(members, fixed):
        for whole, own in zip(found, fk_pose.read_stores(pose_bones(member.rig.obj)), strict=True):
            whole[row] = own
    return found


def _fk_of(members: Sequence[Member], fixed: Fixed, seen: _Channels, kept: fk_pose.Stores) -> tuple[Singles, rows.Mask]:
    """Raw FK of every bone, and of which it is doubtful.

    It is what was evaluated; where rigs stayed as IK posed them, what is kept while bones hold what was written.
    """
    doubtful = _is_doubtful(seen.evaluated, kept)
    if all(member.rig.is_fresh for member in members):
        return seen.evaluated, doubtful
    stayed = np.repeat([not member.rig.is_fresh for member in members], np.diff(fixed.starts))
    written = np.where(kept.numbers[:, None] == 0, seen.evaluated, kept.written)
    is_changed = (np.abs(seen.original - written) > fk_pose.SAME_RAW).any(axis=1)
    is_other = ~np.isin(kept.numbers, (0, fk_pose.MODE_NUMBERS['QUATERNION']))
    fk = np.where((stayed & (kept.numbers != 0))[:, None], kept.fk, seen.evaluated)
    return fk, np.where(stayed, is_changed | is_other, doubtful)


def _is_doubtful(evaluated: Singles, kept: fk_pose.Stores) -> rows.Mask:
    """Bones that may hold what IK wrote instead of FK: stored in another mode, or the same in a component."""
    is_other = kept.numbers != fk_pose.MODE_NUMBERS['QUATERNION']
    is_same = ((evaluated == kept.written) & (kept.written != kept.fk)).any(axis=1)
    return np.asarray((kept.numbers != 0) & (is_other | is_same))


def _unit(quaternions: Singles) -> Floats:
    """As ``rotations.normalized``: the identity where there is no length."""
    found = quaternions.astype(np.float64)
    sizes = np.sqrt((found * found).sum(axis=1))
    is_none = sizes <= vectors.TINY
    found[is_none], sizes[is_none] = (1.0, 0.0, 0.0, 0.0), 1.0
    turns: Floats = found / sizes[:, None]
    return turns


def _put_local(turns: Floats, member: Member, start: int) -> None:
    """FK of a rig that is read bone by bone: in other rotation modes, or with FK kept in the store."""
    known: dict[int, Quat] = member.rig.state.rotations
    for number in member.numbers:
        for bone in member.plan.bones[number].tolist():
            if bone in known:
                turns[start + bone] = known[bone]
