"""The rotations of rigs that were solved together into their poses, in bulk.

A part of ``write``, with the same result. This module must not solve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import fk_pose, originals
from .crowd_turn import Singles
from .raw_pose import read_channel, write_channel

if TYPE_CHECKING:
    from .evaluate import Evaluation, Rig

QUATERNION = "rotation_quaternion"


def is_writable(run: Evaluation, rig: Rig) -> bool:
    """Whether a rig was solved together wholly, and nothing was read or turned bone by bone."""
    return run.together is not None and not rig.is_read and rig.obj.session_uid in run.together.plain


def write(run: Evaluation, rigs: list[Rig], is_own: bool) -> int:
    """Write these rigs; returns how many changed. Rigs without a change are not tagged."""
    assert run.together is not None
    wanted, original = run.together.wanted, run.together.original
    is_changed = np.abs(wanted - original).max(axis=1) > fk_pose.SAME_RAW
    is_stored = (wanted != run.together.evaluated).any(axis=1)
    written = np.where(is_changed[:, None], wanted, original).astype(np.float32)
    changed = 0
    for rig in rigs:
        start = run.together.starts[rig.obj.session_uid]
        rows = start + np.array(rig.setup.held, dtype=np.intp)
        for bone in (rows[run.together.had_store[rows] & ~is_stored[rows]] - start).tolist():
            fk_pose.clear_store(rig.obj.pose.bones[bone])  # type: ignore[union-attr]
        _store(rig, rows[is_stored[rows]] - start, run.together.evaluated[start:], written[start:])
        if is_changed[rows].any():
            _write_rig(rig, is_own, original[start:], written[start:], run.together.matrices[start:])
            changed += 1
    return changed


def _store(rig: Rig, bones: Any, fk: Singles, written: Singles) -> None:
    """Keep FK and what the bone then holds beside it."""
    own_bones: Any = rig.obj.pose.bones  # type: ignore[union-attr]
    uid, names = rig.obj.session_uid, rig.setup.names
    for bone, own, new in zip(bones.tolist(), fk[bones].tolist(), written[bones].tolist(), strict=True):
        fk_pose.put_store(own_bones[bone], (uid, names[bone], 'QUATERNION'), tuple(own), tuple(new))


def _write_rig(rig: Rig, is_own: bool, original: Singles, written: Singles, matrices: Singles) -> None:
    bones: Any = rig.obj.pose.bones  # type: ignore[union-attr]
    held, count = list(rig.setup.held), len(rig.setup.names)
    values = original[:count].copy()
    if not is_own or not originals.hold_the_same(rig.evaluated, rig.obj, matrices[:count]):
        originals.copy_animated(rig.evaluated, rig.obj)
        values = read_channel(bones, QUATERNION, count).reshape(-1, 4)
    values[held] = written[held]
    write_channel(bones, QUATERNION, values.reshape(-1))
    rig.obj.update_tag(refresh={'OBJECT'})
