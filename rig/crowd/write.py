"""The rotations of rigs that were solved together into their poses, in bulk.

A part of ``write``, with the same result. This module must not solve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...solvers import rows
from .. import fk_pose, history, originals
from ..fk_pose import Raw
from ..raw_pose import read_channel, write_channel
from ..session import pose_bones
from .turn import Singles

if TYPE_CHECKING:
    from ..evaluate import Evaluation, Rig

QUATERNION = "rotation_quaternion"


def is_writable(run: Evaluation, rig: Rig) -> bool:
    """Whether a rig was solved together wholly, and nothing was read or turned bone by bone."""
    return run.together is not None and not rig.is_read and rig.obj.session_uid in run.together.plain


def write(run: Evaluation, rigs: list[Rig], is_own: bool) -> int:
    """Write these rigs; returns how many changed. Rigs without a change are not tagged."""
    assert run.together is not None
    wanted, original = run.together.wanted, run.together.original
    # The evaluated pose counts, too: a render of the frame that is shown evaluates FK beside originals that hold IK.
    apart = np.maximum(np.abs(wanted - original), np.abs(wanted - run.together.evaluated))
    is_changed = apart.max(axis=1) > fk_pose.SAME_RAW
    is_stored = (wanted != run.together.evaluated).any(axis=1)
    written = np.where(is_changed[:, None], wanted, original).astype(np.float32)
    to_clear = run.together.had_store & ~is_stored
    changed = 0
    for rig in rigs:
        start, held = run.together.starts[rig.obj.session_uid], list(rig.setup.held)
        row = slice(start, start + len(rig.setup.names))
        stored = [bone for bone, is_one in zip(held, is_stored[row][held].tolist(), strict=True) if is_one]
        if to_clear[row].any():
            _clear(rig, to_clear[row])
        if stored:
            _store(rig, stored, run.together.had_store[row], run.together.evaluated[row], written[row])
        if is_changed[row][held].any():
            _write_rig(rig, is_own, run.together.original[row], written[row], run.together.matrices[row])
            changed += 1
    return changed


def _clear(rig: Rig, has_gone: rows.Mask) -> None:
    bones = pose_bones(rig.obj)
    for bone in rig.setup.held:
        if has_gone[bone]:
            fk_pose.clear_store(bones[bone])


def _store(rig: Rig, numbers: list[int], has_mode: rows.Mask, fk: Singles, written: Singles) -> None:
    """Keep FK and what the bone then holds beside it; ``has_mode``: bones beside which FK was kept before."""
    own_bones: Any = pose_bones(rig.obj)
    own, new, is_known = fk[numbers].tolist(), written[numbers].tolist(), has_mode[numbers].tolist()
    for number, fk_raw, raw, has_number in zip(numbers, own, new, is_known, strict=True):
        bone = own_bones[number]
        bone.limb_ik_fk, bone.limb_ik_written = fk_raw, raw
        if not has_number:
            bone.limb_ik_store_mode = fk_pose.MODE_NUMBERS['QUATERNION']
    names = rig.setup.names

    def first() -> dict[str, tuple[Raw, Raw]]:
        return {names[one]: (tuple(a), tuple(b)) for one, a, b in zip(numbers, own, new, strict=True)}

    history.remember_first(rig.obj.session_uid, 'QUATERNION', first)


def _write_rig(rig: Rig, is_own: bool, original: Singles, written: Singles, matrices: Singles) -> None:
    bones: Any = pose_bones(rig.obj)
    held, values = list(rig.setup.held), original
    if not is_own or not originals.hold_the_same(rig.evaluated, rig.obj, matrices):
        originals.copy_animated(rig.evaluated, rig.obj)
        values = read_channel(bones, QUATERNION, len(values)).reshape(-1, 4)
    values[held] = written[held]
    write_channel(bones, QUATERNION, values.reshape(-1))
    rig.obj.update_tag(refresh={'OBJECT'})
