"""What a crowd was asked last, asked again in bulk: while nothing is edited, only places and animated settings change.

A part of ``crowd``. Holds numbers and set-ups, never references to Blender's data: objects are found
again by their session numbers in the file's list. This module must not read poses, solve or write.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import edits, originals
from .asked import NO_POLE, Asked
from .buffers import Singles
from .fixed import Fixed, Member
from .plan import Floats, Numbers, Plan

if TYPE_CHECKING:
    from ..evaluate import Evaluation

# A file with more objects for each that is asked for costs more to list than it saves.
MOST_OBJECTS = 4

Uids = NDArray[np.int32]


class Recalled(NamedTuple):
    """What holds while the number of ``edits`` stays the same, for these ``plans`` by their rigs' session numbers.

    ``uids``: session numbers of rigs, then of targets, then of poles; 0 where there is no pole. ``takes_turn``: chains
    whose end bone takes the target's. ``animated``: numbers of the rigs whose settings may be animated.
    ``has_animated_modes``: whether rotation modes may be.
    """

    edits: int
    plans: list[tuple[int, Plan]]
    fixed: Fixed
    uids: Uids
    takes_turn: NDArray[np.bool_]
    settings: Floats
    tails: Floats
    animated: list[int]
    has_animated_modes: bool


class Places(NamedTuple):
    """Where everything is in the world: the rigs (rows of their matrices), and what their chains are asked."""

    worlds: Floats
    asked: Asked


class _Memory(threading.local):
    """Of each thread, since a render solves beside the screen.

    ``listed``, ``rows``: where in the file's list of objects what is asked for was found; ``before``: its matrices.
    """

    recalled: Recalled | None = None
    listed: Uids | None = None
    rows: Numbers | None = None
    before: Singles | None = None


_memory = _Memory()


def keep(recalled: Recalled) -> None:
    """Note what is asked, for the frames to come."""
    _memory.recalled, _memory.listed = recalled, None
    _memory.before = _matrices(recalled.uids)


def recall(run: Evaluation, members: Sequence[Member]) -> Recalled | None:
    """What was noted, if these are the same rigs, and nothing was edited since."""
    found = _memory.recalled
    if found is None or not run.is_played or found.edits != edits.count() or len(found.plans) != len(members):
        return None
    is_same = all(
        uid == member.uid and plan is member.plan for (uid, plan), member in zip(found.plans, members, strict=True)
    )
    return found if is_same else None


def ask_again(depsgraph: bpy.types.Depsgraph, recalled: Recalled, settings: Floats) -> Places | None:
    """Places as they are now; None where the originals can't be known to hold them.

    Blender copies what it evaluates for the screen to the originals, all of it; that it has done so for this frame
    is seen where one of them is no longer where it was.

    Args:
        settings: of the chains, as in ``Asked``.
    """
    before, _memory.before = _memory.before, None
    if before is None or not originals.is_shown(depsgraph):
        return None
    now = _memory.before = _matrices(recalled.uids)
    if now is None or (now.view(np.int32) == before.view(np.int32)).all():  # bits: no number equals itself
        return None
    matrices = now.astype(np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)
    rigs, chains = len(recalled.plans), len(recalled.takes_turn)
    worlds, targets, poles = np.split(matrices, (rigs, rigs + chains))
    turns = np.where(recalled.takes_turn[:, None, None], targets[:, :3, :3], np.identity(3))
    places = np.stack((targets[:, :3, 3], poles[:, :3, 3]), axis=1)
    return Places(worlds[:, :3], Asked(settings, places, turns, recalled.tails))


def _matrices(uids: Uids) -> Singles | None:
    """World matrices of original objects, column by column, one of no numbers for 0; None where too many are there."""
    objects: Any = bpy.data.objects
    if len(objects) > MOST_OBJECTS * len(uids):
        return None
    listed = np.empty(len(objects), np.int32)
    objects.foreach_get("session_uid", listed)
    if _memory.rows is None or _memory.listed is None or not np.array_equal(listed, _memory.listed):
        _memory.listed, _memory.rows = listed, _rows_of(listed, uids)
    matrices = np.empty((len(listed) + 1, 16), np.float32)
    objects.foreach_get("matrix_world", matrices[:-1].reshape(-1))
    matrices[-1] = NO_POLE[0]
    return matrices[_memory.rows]


def _rows_of(listed: Uids, uids: Uids) -> Numbers:
    """Where session numbers stand in a list; one past its end for 0."""
    order = np.argsort(listed)
    places = order[np.minimum(np.searchsorted(listed, uids, sorter=order), len(listed) - 1)]
    return np.where(listed[places] == uids, places, len(listed))
