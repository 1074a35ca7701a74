"""The rotations of rigs that were solved together into their poses, in bulk.

A part of ``write``, with the same result. This module must not solve.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...solvers import rows
from .. import fk_pose, history, originals
from ..fk_pose import Raw
from ..raw_pose import write_channel
from ..session import pose_bones
from . import stored
from .buffers import Singles
from .turn import Together

if TYPE_CHECKING:
    from ..evaluate import Evaluation, Rig

QUATERNION = "rotation_quaternion"
QUATERNION_NUMBER = fk_pose.MODE_NUMBERS['QUATERNION']


def is_writable(run: Evaluation, rig: Rig) -> bool:
    """Whether a rig was solved together wholly, and nothing was read or turned bone by bone."""
    return run.together is not None and not rig.is_read and rig.obj.session_uid in run.together.plain


class _Change(NamedTuple):
    """What a write changes, one row per held bone.

    ``is_ours``: of the rigs that are written here. ``written``: what bones hold after it.
    """

    is_ours: rows.Mask
    is_changed: rows.Mask
    is_stored: rows.Mask
    written: Singles


def write(run: Evaluation, rigs: dict[int, Rig], is_own: bool) -> int:
    """Write these rigs (by session number); returns how many changed. Rigs without a change are not tagged."""
    assert run.together is not None
    together = run.together
    change = _change_of(together, rigs)
    bones = [pose_bones(rigs[uid].obj) if uid in rigs else None for uid in together.fixed.columns]
    _keep(bones, together, change, rigs)
    return _put(bones, together, change, rigs, is_own)


def _change_of(together: Together, rigs: Collection[int]) -> _Change:
    fixed, wanted, original = together.fixed, together.wanted, together.original
    is_ours = np.array([uid in rigs for uid in fixed.columns])[fixed.held_by]
    # The evaluated pose counts, too: a render of the frame that is shown evaluates FK beside originals that hold IK.
    apart = np.maximum(np.abs(wanted - original), np.abs(wanted - together.evaluated))
    is_changed = is_ours & (apart > fk_pose.SAME_RAW).any(axis=1)
    is_stored = is_ours & (wanted != together.fk).any(axis=1)
    written = np.where(is_changed[:, None], wanted, original).astype(np.float32)
    return _Change(is_ours, is_changed, is_stored, written)


def _keep(bones: Sequence[Any], together: Together, change: _Change, rigs: Collection[int]) -> None:
    """Keep FK beside the bones, and in memory what they keep."""
    fixed = together.fixed
    numbers = np.where(change.is_stored, np.float32(QUATERNION_NUMBER), np.float32(0.0))
    kept = fk_pose.Stores(numbers, together.fk, change.written)
    places = zip(fixed.held_by.tolist(), fixed.held_names, kept.rows().tolist(), strict=True)
    if change.is_stored.all():
        for owner, name, store in places:
            bones[owner][name].limb_ik_store = store
    else:
        _store_some(bones, places, change.is_ours.tolist())
    stored.keep(fixed, kept, rigs)
    history.remember_first(rigs, 'QUATERNION', partial(_first, together, change))


def _store_some(bones: Sequence[Any], places: Iterable[tuple[int, str, list[float]]], is_ours: Iterable[bool]) -> None:
    """Bones that hold their FK need no store."""
    for (owner, name, store), is_written in zip(places, is_ours, strict=True):
        if is_written and store[0]:
            bones[owner][name].limb_ik_store = store
        elif is_written:
            fk_pose.clear_store(bones[owner][name])


def _put(bones: Sequence[Any], together: Together, change: _Change, rigs: Mapping[int, Rig], is_own: bool) -> int:
    """Put what changed into the bones, rig by rig."""
    fixed, uids = together.fixed, list(together.fixed.columns)
    is_shown, whole = _are_shown(together, change.is_ours), fixed.buffers.all
    np.copyto(whole.written, whole.original)
    whole.written[fixed.held[change.is_changed]] = change.written[change.is_changed]
    changed = np.flatnonzero(np.logical_or.reduceat(change.is_changed, fixed.held_starts)).tolist()
    for number in changed:
        rig, room = rigs[uids[number]], fixed.buffers.of_rig[number]
        is_same = is_own and is_shown[number]
        if not is_same and originals.may_differ(rig.evaluated, rig.obj, is_own, room.matrices):
            _take_over(rig, bones[number], together, change, number)
        write_channel(bones[number], QUATERNION, room.written)
        rig.obj.update_tag(refresh={'OBJECT'})
    return len(changed)


def _are_shown(together: Together, is_held: rows.Mask) -> list[bool]:
    """Rigs whose originals surely show what was evaluated, seen by what was read before: see ``originals``.

    All rotations are the evaluated ones, and somewhere no longer what IK wrote: so they were copied in this update.
    """
    fixed = together.fixed
    is_same = (fixed.buffers.all.original == fixed.buffers.all.evaluated).all(axis=1)
    is_new = is_held & together.had_store & (together.original != together.kept).any(axis=1)
    all_same = np.logical_and.reduceat(is_same, fixed.starts[:-1])
    shown: list[bool] = (all_same & np.logical_or.reduceat(is_new, fixed.held_starts)).tolist()
    return shown


def _first(together: Together, change: _Change, uid: int) -> dict[str, tuple[Raw, Raw]]:
    """By bone name, the FK and the written values that a rig's bones keep."""
    fixed = together.fixed
    number = list(fixed.columns).index(uid)
    places = np.flatnonzero(change.is_stored & (fixed.held_by == number)).tolist()
    return {
        fixed.held_names[place]: (tuple(together.fk[place].tolist()), tuple(change.written[place].tolist()))
        for place in places
    }


def _take_over(rig: Rig, bones: Any, together: Together, change: _Change, number: int) -> None:
    """Where the original may hold another frame, first copy all that is animated to it; the buffer gets that, too."""
    originals.copy_animated(rig.evaluated, rig.obj)
    room, fixed = together.fixed.buffers.of_rig[number], together.fixed
    bones.foreach_get(QUATERNION, room.written)
    own = change.is_ours & (fixed.held_by == number)
    fixed.buffers.all.written[fixed.held[own]] = change.written[own]
