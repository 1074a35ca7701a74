"""The evaluated poses of many rigs and the FK that is kept beside their bones, read in bulk.

A part of ``crowd``; works after a frame change only, where the evaluated pose is FK, or rigs
stayed as they were (``rig/staying``). This module must not solve or write.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...solvers import rows, vectors
from ...solvers.rotations import Quat
from .. import fk_pose
from ..session import pose_bones
from . import stored
from .buffers import Singles
from .fixed import Fixed, Member
from .plan import Floats
from .turn import Together

QUATERNION_NUMBER = fk_pose.MODE_NUMBERS['QUATERNION']


def read(members: Sequence[Member], fixed: Fixed, *, has_modes: bool) -> tuple[Floats, Together]:
    """Fill the buffers; returns FK rotations of the chains' bones (chains x 3 x 4) and what writing needs.

    ``has_modes``: whether rotation modes may be others than when the buffers were filled last.
    """
    _fill(members, fixed)
    if has_modes:
        _fill_modes(members, fixed)
    seen, held = fixed.buffers.all, fixed.held
    evaluated, original = seen.evaluated[held], seen.original[held]
    kept = stored.read_back(fixed) or _read_stored(members)
    fk, is_doubtful = _fk_of(members, fixed, evaluated, original, kept)
    is_other = (seen.modes[held] != 0) | (seen.own_modes[held] != 0) | is_doubtful
    others = set(fixed.held_by[is_other].tolist())
    together = Together(
        fixed=fixed,
        plain={member.uid for number, member in enumerate(members) if number not in others},
        fk=fk,
        evaluated=evaluated,
        original=original,
        wanted=fk.astype(np.float64),
        is_turned=np.zeros(len(held), np.bool_),
        had_store=kept.numbers != 0,
        kept=kept.written,
    )
    turns = seen.evaluated[fixed.bones]
    if fk is not evaluated:
        is_held = fixed.at >= 0
        turns[is_held] = fk[fixed.at[is_held]]
    turns_fk = _unit(turns)
    for number in others:
        _put_local(turns_fk, members[number], fixed, number)
    return turns_fk, together


def _fill(members: Sequence[Member], fixed: Fixed) -> None:
    for member, room in zip(members, fixed.buffers.of_rig, strict=True):
        read_channel = member.rig.bones.foreach_get
        read_channel("matrix", room.matrices)
        read_channel("location", room.locations)
        read_channel("scale", room.scales)
        pose_bones(member.rig.obj).foreach_get("rotation_quaternion", room.original)
        if member.rig.is_fresh:
            read_channel("rotation_quaternion", room.evaluated)
        else:  # it stayed, so no copy of it is another (see ``rig/staying``)
            room.evaluated[:] = room.original


def _fill_modes(members: Sequence[Member], fixed: Fixed) -> None:
    for member, room in zip(members, fixed.buffers.of_rig, strict=True):
        member.rig.bones.foreach_get("rotation_mode", room.modes)
        pose_bones(member.rig.obj).foreach_get("rotation_mode", room.own_modes)


def _read_stored(members: Sequence[Member]) -> fk_pose.Stores:
    """FK and written rotations as the held bones keep them."""
    found = [fk_pose.read_stores(pose_bones(member.rig.obj)).of(member.plan.held) for member in members]
    return fk_pose.Stores(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _fk_of(
    members: Sequence[Member], fixed: Fixed, evaluated: Singles, original: Singles, kept: fk_pose.Stores
) -> tuple[Singles, rows.Mask]:
    """Raw FK of every held bone, and of which it is doubtful.

    It is what was evaluated; where rigs stayed as IK posed them, what is kept while bones hold what was written.
    """
    doubtful = _is_doubtful(evaluated, kept)
    stayed = [not member.rig.is_fresh for member in members]
    if not any(stayed):
        return evaluated, doubtful
    has_stayed = np.array(stayed)[fixed.held_by]
    has_store = kept.numbers != 0
    written = np.where(has_store[:, None], kept.written, evaluated)
    is_changed = (np.abs(original - written) > fk_pose.SAME_RAW).any(axis=1)
    is_other = has_store & (kept.numbers != QUATERNION_NUMBER)
    fk = np.where((has_stayed & has_store)[:, None], kept.fk, evaluated)
    return fk, np.where(has_stayed, is_changed | is_other, doubtful)


def _is_doubtful(evaluated: Singles, kept: fk_pose.Stores) -> rows.Mask:
    """Bones that may hold what IK wrote instead of FK: stored in another mode, or the same in a component."""
    is_other = kept.numbers != QUATERNION_NUMBER
    is_same = ((evaluated == kept.written) & (kept.written != kept.fk)).any(axis=1)
    return np.asarray((kept.numbers != 0) & (is_other | is_same))


def _unit(quaternions: Singles) -> Floats:
    """As ``rotations.normalized``: the identity where there is no length. The last axis is components."""
    found = quaternions.astype(np.float64)
    sizes = np.sqrt((found * found).sum(axis=-1))
    is_none = sizes <= vectors.TINY
    if is_none.any():
        found[is_none], sizes[is_none] = (1.0, 0.0, 0.0, 0.0), 1.0
    found /= sizes[..., None]
    return found


def _put_local(turns: Floats, member: Member, fixed: Fixed, number: int) -> None:
    """FK of a rig that is read bone by bone: in other rotation modes, or with FK kept in the store."""
    known: dict[int, Quat] = member.rig.state.rotations
    for row in fixed.columns[member.uid][1]:
        for place, bone in enumerate((fixed.bones[row] - fixed.starts[number]).tolist()):
            if bone in known:
                turns[row, place] = known[bone]
