"""What the chains of a crowd have in common from frame to frame, in a row: their plans, joined and kept.

A part of ``crowd``. This module reads no pose, must not solve or write.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...solvers import rows
from .. import marks
from ..chains import ChainSetup, RigSetup
from .buffers import Buffers, make_buffers
from .limbs import Setups, setups_of
from .plan import Numbers, Plan

if TYPE_CHECKING:
    from ..evaluate import Rig


class Member(NamedTuple):
    """A rig with the chains that are solved together, by their numbers in its plan."""

    key: marks.Key
    rig: Rig
    uid: int
    plan: Plan
    numbers: list[int]

    def whole(self) -> Member:
        """With all plain chains of the rig."""
        return self._replace(numbers=list(range(len(self.plan.chains))))


class Fixed(NamedTuple):
    """Plans of all rigs in a row, see ``plan.Plan``; bones count through all rigs, from ``starts`` on.

    ``counts``: how many chains each rig has; ``columns``: by a rig's session number, its set-up and where its chains
    begin.
    ``is_turned``: which of the ``bones`` the solve turns.
    ``held``: bones whose FK is kept, rig by rig from ``held_starts`` on; ``held_by``: number of the rig of each,
    ``held_names``: its name. ``at``: which of those the ``bones`` of the chains are; -1 where not held.
    """

    starts: list[int]
    counts: list[int]
    chains: list[ChainSetup]
    nodes: list[tuple[marks.Key, str]]
    columns: dict[int, tuple[RigSetup, range]]
    bones: Numbers
    parents: Numbers
    is_connected: NDArray[np.bool_]
    carriers: Numbers
    is_direct: NDArray[np.bool_]
    is_all_direct: bool
    is_turned: rows.Mask
    setups: Setups
    held: Numbers
    held_starts: Numbers
    held_by: Numbers
    held_names: list[str]
    at: Numbers
    buffers: Buffers


_Key = list[tuple[Plan, list[int], marks.Key]]


class _Last(threading.local):
    """What was made last; of each thread, since a render solves beside the screen and buffers are not shared."""

    key: _Key | None = None
    fixed: Fixed | None = None


_last = _Last()


def fixed_of(members: Sequence[Member]) -> Fixed:
    """What stays from frame to frame while the same chains of the same set-ups are solved; kept for the last ones."""
    key = [(member.plan, member.numbers, member.key) for member in members]
    if _last.fixed is None or _last.key is None or not _is_same_key(_last.key, key):
        _last.key, _last.fixed = key, _make_fixed(members, key)
    return _last.fixed


def _is_same_key(old: _Key, new: _Key) -> bool:
    return len(old) == len(new) and all(a[0] is b[0] and a[1:] == b[1:] for a, b in zip(old, new, strict=True))


def _make_fixed(members: Sequence[Member], key: _Key) -> Fixed:
    starts = _starts(members)
    pick = [(plan, numbers, start) for (plan, numbers, _), start in zip(key, starts, strict=False)]
    held = np.concatenate([plan.held + start for plan, _, start in pick])
    held_counts = [len(plan.held) for plan, _, _ in key]
    bones = np.concatenate([plan.bones[numbers] + start for plan, numbers, start in pick])
    is_direct = np.concatenate([plan.is_direct[numbers] for plan, numbers, _ in pick])
    turns_end = np.concatenate([plan.turns_end[numbers] for plan, numbers, _ in pick])
    counts = [len(numbers) for _, numbers, _ in key]
    chains = [plan.chains[number] for plan, numbers, _ in key for number in numbers]
    owners = [one for _, numbers, one in key for _ in numbers]
    return Fixed(
        starts=starts,
        counts=counts,
        chains=chains,
        nodes=[(one, chain.tip) for one, chain in zip(owners, chains, strict=True)],
        columns=_columns(members, counts),
        bones=bones,
        parents=np.concatenate([plan.parents[numbers] + start for plan, numbers, start in pick]),
        is_connected=np.concatenate([plan.is_connected[numbers] for plan, numbers, _ in pick]),
        carriers=np.concatenate([plan.carriers[numbers] + start for plan, numbers, start in pick]),
        is_direct=is_direct,
        is_all_direct=bool(is_direct.all()),
        is_turned=np.column_stack([np.ones_like(turns_end), np.ones_like(turns_end), turns_end]),
        setups=setups_of([(plan, numbers) for plan, numbers, _ in key]),
        held=held,
        held_starts=np.cumsum([0, *held_counts[:-1]]),
        held_by=np.repeat(np.arange(len(key)), held_counts),
        held_names=[member.rig.setup.names[bone] for member in members for bone in member.plan.held.tolist()],
        at=_places_in(held, bones),
        buffers=make_buffers(starts),
    )


def _places_in(held: Numbers, bones: Numbers) -> Numbers:
    """At which place bones stand in rising ``held``; -1 where they don't."""
    places = np.minimum(np.searchsorted(held, bones), len(held) - 1)
    return np.where(held[places] == bones, places, -1)


def _columns(members: Sequence[Member], counts: list[int]) -> dict[int, tuple[RigSetup, range]]:
    ends = list(itertools.accumulate(counts))
    return {
        member.uid: (member.rig.setup, range(end - count, end))
        for member, count, end in zip(members, counts, ends, strict=True)
    }


def _starts(members: Sequence[Member]) -> list[int]:
    """First row of each rig among all bones; every rig has one row more, the identity. The last number is the end."""
    return list(itertools.accumulate((len(member.rig.setup.names) + 1 for member in members), initial=0))
