"""What the chains of a crowd have in common from frame to frame, in a row: their plans, joined and kept.

A part of ``crowd``. This module reads no pose, must not solve or write.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...solvers import rows
from .. import marks
from ..chains import ChainSetup, RigSetup
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


class Fixed(NamedTuple):
    """Plans of all rigs in a row, see ``plan.Plan``; bones count through all rigs, from ``starts`` on.

    ``held``: bones whose FK is kept; ``held_by``, ``held_bones``: number of the rig of each, and
    its number there; ``is_held``: whether a bone is one.
    ``counts``: how many chains each rig has; ``columns``: by a rig's session number, its set-up and where its chains
    begin.
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
    turns_end: rows.Mask
    setups: Setups
    held: Numbers
    held_by: Numbers
    held_bones: Numbers
    is_held: rows.Mask


_Key = list[tuple[Plan, list[int], marks.Key]]
_kept: list[tuple[_Key, Fixed]] = []


def fixed_of(members: Sequence[Member]) -> Fixed:
    """What stays from frame to frame while the same chains of the same set-ups are solved; kept for the last ones."""
    key = [(member.plan, member.numbers, member.key) for member in members]
    if len(_kept) != 1 or not _is_same_key(_kept[0][0], key):
        _kept[:] = [(key, _make_fixed(members, key))]
    return _kept[0][1]


def _is_same_key(old: _Key, new: _Key) -> bool:
    return len(old) == len(new) and all(a[0] is b[0] and a[1:] == b[1:] for a, b in zip(old, new, strict=True))


def _make_fixed(members: Sequence[Member], key: _Key) -> Fixed:
    starts = _starts(members)
    pick = [(plan, numbers, start) for (plan, numbers, _), start in zip(key, starts, strict=False)]
    held = np.concatenate([plan.held + start for plan, _, start in pick])
    counts = [len(numbers) for _, numbers, _ in key]
    chains = [plan.chains[number] for plan, numbers, _ in key for number in numbers]
    owners = [one for _, numbers, one in key for _ in numbers]
    return Fixed(
        starts=starts,
        counts=counts,
        chains=chains,
        nodes=[(one, chain.tip) for one, chain in zip(owners, chains, strict=True)],
        columns=_columns(members, counts),
        bones=np.concatenate([plan.bones[numbers] + start for plan, numbers, start in pick]),
        parents=np.concatenate([plan.parents[numbers] + start for plan, numbers, start in pick]),
        is_connected=np.concatenate([plan.is_connected[numbers] for plan, numbers, _ in pick]),
        carriers=np.concatenate([plan.carriers[numbers] + start for plan, numbers, start in pick]),
        is_direct=np.concatenate([plan.is_direct[numbers] for plan, numbers, _ in pick]),
        turns_end=np.concatenate([plan.turns_end[numbers] for plan, numbers, _ in pick]),
        setups=setups_of([(plan, numbers) for plan, numbers, _ in key]),
        held=held,
        is_held=np.isin(np.arange(starts[-1]), held),
        held_bones=np.concatenate([plan.held for plan, _, _ in key]),
        held_by=np.concatenate([np.full(len(plan.held), index) for index, (plan, _, _) in enumerate(pick)]),
    )


def _columns(members: Sequence[Member], counts: list[int]) -> dict[int, tuple[RigSetup, range]]:
    ends = list(itertools.accumulate(counts))
    return {
        member.uid: (member.rig.setup, range(end - count, end))
        for member, count, end in zip(members, counts, ends, strict=True)
    }


def _starts(members: Sequence[Member]) -> list[int]:
    """First row of each rig among all bones; every rig has one row more, the identity. The last number is the end."""
    return list(itertools.accumulate((len(member.rig.setup.names) + 1 for member in members), initial=0))
