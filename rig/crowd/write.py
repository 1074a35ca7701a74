"""The rotations of rigs that were solved together into their poses, in bulk.

A part of ``write``, with the same result. This module must not solve.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...solvers import rows
from .. import fk_pose, history, originals
from ..fk_pose import Raw
from ..raw_pose import read_channel, write_channel
from ..session import pose_bones
from . import stored
from .fixed import Fixed
from .turn import Singles, Together

if TYPE_CHECKING:
    from ..evaluate import Evaluation, Rig

QUATERNION = "rotation_quaternion"
QUATERNION_NUMBER = fk_pose.MODE_NUMBERS['QUATERNION']


def is_writable(run: Evaluation, rig: Rig) -> bool:
    """Whether a rig was solved together wholly, and nothing was read or turned bone by bone."""
    return run.together is not None and not rig.is_read and rig.obj.session_uid in run.together.plain


class _Change(NamedTuple):
    """What a write changes, one row per bone.

    ``is_ours``: of the rigs that are written here and held. ``written``: what bones hold after it.
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
    is_ours = fixed.is_held & np.repeat([uid in rigs for uid in fixed.columns], np.diff(fixed.starts))
    # The evaluated pose counts, too: a render of the frame that is shown evaluates FK beside originals that hold IK.
    apart = np.maximum(np.abs(wanted - original), np.abs(wanted - together.evaluated))
    is_changed = is_ours & (apart > fk_pose.SAME_RAW).any(axis=1)
    is_stored = is_ours & (wanted != together.fk).any(axis=1)
    written = np.where(is_changed[:, None], wanted, original).astype(np.float32)
    return _Change(is_ours, is_changed, is_stored, written)


def _keep(bones: Sequence[Any], together: Together, change: _Change, rigs: Collection[int]) -> None:
    """Keep FK beside the bones, and in memory what they keep."""
    _clear(bones, together.fixed, change.is_ours & ~change.is_stored)
    _store(bones, together, change)
    numbers = np.where(change.is_stored, np.float32(QUATERNION_NUMBER), np.float32(0.0))
    stored.keep(together.fixed, fk_pose.Stores(numbers, together.fk, change.written), rigs)
    history.remember_first(rigs, 'QUATERNION', partial(_first, together, change))


def _put(bones: Sequence[Any], together: Together, change: _Change, rigs: Mapping[int, Rig], is_own: bool) -> int:
    """Put what changed into the bones, rig by rig."""
    fixed, uids = together.fixed, list(together.fixed.columns)
    is_shown = _are_shown(together, change.is_ours)
    changed = sorted(set(fixed.held_by[change.is_changed[fixed.held]].tolist()))
    for number in changed:
        row, rig = slice(fixed.starts[number], fixed.starts[number + 1] - 1), rigs[uids[number]]
        values, seen = change.written[row], together.matrices[row]
        if not (is_own and is_shown[number]) and originals.may_differ(rig.evaluated, rig.obj, is_own, seen):
            values = _taken_over(rig, bones[number], values, change.is_ours[row])
        write_channel(bones[number], QUATERNION, values.reshape(-1))
        rig.obj.update_tag(refresh={'OBJECT'})
    return len(changed)


def _are_shown(together: Together, is_held: rows.Mask) -> rows.Mask:
    """Rigs whose originals surely show what was evaluated, seen by what was read before: see ``originals``.

    All rotations are the evaluated ones, and somewhere no longer what IK wrote: so they were copied in this update.
    """
    starts = together.fixed.starts[:-1]
    is_same = (together.original == together.evaluated).all(axis=1)
    is_new = is_held & together.had_store & (together.original != together.kept).any(axis=1)
    shown: rows.Mask = np.logical_and.reduceat(is_same, starts) & np.logical_or.reduceat(is_new, starts)
    return shown


def _clear(bones: Sequence[Any], fixed: Fixed, has_gone: rows.Mask) -> None:
    gone = has_gone[fixed.held]
    for rig, number in zip(fixed.held_by[gone].tolist(), fixed.held_bones[gone].tolist(), strict=True):
        fk_pose.clear_store(bones[rig][number])


def _store(bones: Sequence[Any], together: Together, change: _Change) -> None:
    """Keep FK and what the bone then holds beside it."""
    fixed = together.fixed
    kept = change.is_stored[fixed.held]
    at = fixed.held[kept]
    numbers = np.full(len(at), QUATERNION_NUMBER, np.float32)
    stores = fk_pose.Stores(numbers, together.fk[at], change.written[at]).rows()
    places = zip(fixed.held_by[kept].tolist(), fixed.held_bones[kept].tolist(), strict=True)
    for (rig, number), store in zip(places, stores.tolist(), strict=True):
        bones[rig][number].limb_ik_store = store


def _first(together: Together, change: _Change, uid: int) -> dict[str, tuple[Raw, Raw]]:
    """By bone name, the FK and the written values that a rig's bones keep."""
    number = list(together.fixed.columns).index(uid)
    start, after = together.fixed.starts[number : number + 2]
    names, fk = together.fixed.columns[uid][0].names, together.fk
    at = (np.flatnonzero(change.is_stored[start:after]) + start).tolist()
    return {names[row - start]: (tuple(fk[row].tolist()), tuple(change.written[row].tolist())) for row in at}


def _taken_over(rig: Rig, bones: Any, written: Singles, is_held: rows.Mask) -> Singles:
    """What to write where the original may hold another frame: first all that is animated is copied to it."""
    originals.copy_animated(rig.evaluated, rig.obj)
    values = read_channel(bones, QUATERNION, len(written)).reshape(-1, 4)
    values[is_held] = written[is_held]
    return values
