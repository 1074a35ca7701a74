"""The FK and the written rotations that a crowd's bones keep, as they were put there last.

A part of ``crowd``: the next frame needn't read back what nobody has changed. It is a memory
of what was written, so nobody takes it for more: it says where the evaluated pose may not be
FK, and every write puts all of it there again. This module reads and writes no bone.
"""

from __future__ import annotations

from collections.abc import Collection

from .. import fk_pose
from .fixed import Fixed

_last: list[tuple[Fixed, fk_pose.Stores]] = []


def keep(fixed: Fixed, stored: fk_pose.Stores, uids: Collection[int]) -> None:
    """Note what the held bones of the rigs with these session numbers keep from now on."""
    _last[:] = [(fixed, stored)]
    fk_pose.touched.clear()
    fk_pose.touched.update(uid for uid in fixed.columns if uid not in uids)


def read_back(fixed: Fixed) -> fk_pose.Stores | None:
    """What was kept last; None where other rigs or set-ups were written then, or since then a bone by itself."""
    if not _last or _last[0][0] is not fixed or not fk_pose.touched.isdisjoint(fixed.columns):
        return None
    return _last[0][1]
