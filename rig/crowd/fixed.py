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
from ..chains import ChainSetup
from .plan import Floats, Numbers, Plan

if TYPE_CHECKING:
    from ..evaluate import Rig


class Asked(NamedTuple):
    """One chain and what is asked of it now. Space: world.

    ``settings``: weight, pole angle, softness, largest reach. ``target``: three rows of its matrix. ``tail``: length of
    the lower bone where its tail is the end.
    """

    rig: Rig
    chain: ChainSetup
    number: int
    settings: tuple[float, float, float, float]
    target: Sequence[float]
    pole: Sequence[float]
    tail: float


class Member(NamedTuple):
    """A rig with the chains that are solved together."""

    rig: Rig
    plan: Plan
    asked: list[Asked]


class Fixed(NamedTuple):
    """Plans of all rigs in a row, see ``plan.Plan``; bones count through all rigs, from ``starts`` on.

    ``held_by``: number of the rig of each held bone.
    """

    starts: list[int]
    bones: Numbers
    parents: Numbers
    is_connected: NDArray[np.bool_]
    carriers: Numbers
    is_direct: NDArray[np.bool_]
    offsets: Floats
    has_end: rows.Mask
    turns_end: rows.Mask
    hinges: Floats
    end_offsets: Floats
    keeps_end: rows.Mask
    is_offset: rows.Mask
    rests: Floats
    rest_turns: Floats
    held: Numbers
    held_by: Numbers


_Key = list[tuple[Plan, list[int]]]
_kept: list[tuple[_Key, Fixed]] = []


def fixed_of(members: Sequence[Member]) -> Fixed:
    """What stays from frame to frame while the same chains of the same set-ups are solved; kept for the last ones."""
    key = [(member.plan, [one.number for one in member.asked]) for member in members]
    if len(_kept) != 1 or not _is_same_key(_kept[0][0], key):
        _kept[:] = [(key, _make_fixed(members, key))]
    return _kept[0][1]


def _is_same_key(old: _Key, new: _Key) -> bool:
    return len(old) == len(new) and all(a[0] is b[0] and a[1] == b[1] for a, b in zip(old, new, strict=True))


def _make_fixed(members: Sequence[Member], key: _Key) -> Fixed:
    starts = _starts(members)
    pick = [(plan, numbers, start) for (plan, numbers), start in zip(key, starts, strict=False)]
    return Fixed(
        starts=starts,
        bones=np.concatenate([plan.bones[numbers] + start for plan, numbers, start in pick]),
        parents=np.concatenate([plan.parents[numbers] + start for plan, numbers, start in pick]),
        is_connected=np.concatenate([plan.is_connected[numbers] for plan, numbers, _ in pick]),
        carriers=np.concatenate([plan.carriers[numbers] + start for plan, numbers, start in pick]),
        is_direct=np.concatenate([plan.is_direct[numbers] for plan, numbers, _ in pick]),
        offsets=np.concatenate([plan.offsets[numbers] for plan, numbers, _ in pick]),
        has_end=np.concatenate([plan.has_end[numbers] for plan, numbers, _ in pick]),
        turns_end=np.concatenate([plan.turns_end[numbers] for plan, numbers, _ in pick]),
        hinges=np.concatenate([plan.hinges[numbers] for plan, numbers, _ in pick]).T,
        end_offsets=np.concatenate([plan.end_offsets[numbers] for plan, numbers, _ in pick]).T,
        keeps_end=np.concatenate([plan.keeps_end[numbers] for plan, numbers, _ in pick]),
        is_offset=np.concatenate([plan.is_offset[numbers] for plan, numbers, _ in pick]),
        rests=np.concatenate([plan.rests[numbers] for plan, numbers, _ in pick]).transpose(1, 2, 0),
        rest_turns=np.concatenate([plan.rest_turns[numbers] for plan, numbers, _ in pick]).T,
        held=np.concatenate([plan.held + start for plan, _, start in pick]),
        held_by=np.concatenate([np.full(len(plan.held), index) for index, (plan, _, _) in enumerate(pick)]),
    )


def _starts(members: Sequence[Member]) -> list[int]:
    """First row of each rig among all bones; every rig has one row more, the identity. The last number is the end."""
    return list(itertools.accumulate((len(member.rig.setup.names) + 1 for member in members), initial=0))
