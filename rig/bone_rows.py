"""Bones in a row, from one up through its parents: pose bones of a chain, or numbers in a set-up.

Must not change anything, and knows no set-up beyond a chain's length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def line_above(parents: Sequence[int], bone: int) -> Iterator[int]:
    """A bone and all above it by their numbers, the lowest first; none for -1."""
    while bone >= 0:
        yield bone
        bone = parents[bone]


def row_of(tip: Any) -> list[Any]:
    """The pose bones of the chain that ends at a tip bone, tip first."""
    return row_up(tip, tip.limb_ik_chain_length)


def row_up(bone: Any, count: int) -> list[Any]:
    """So many pose bones from one upward, itself first; as many as there are where ``count`` is 0 or more than that."""
    return [bone, *bone.parent_recursive][: count or None]
