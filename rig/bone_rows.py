"""Pose bones in a row, from a bone up through its parents: the bones of a chain.

Must not change anything, and knows no set-up beyond a chain's length.
"""

from __future__ import annotations

from typing import Any


def row_of(tip: Any) -> list[Any]:
    """The pose bones of the chain that ends at a tip bone, tip first."""
    return row_up(tip, tip.limb_ik_chain_length)


def row_up(bone: Any, count: int) -> list[Any]:
    """So many pose bones from one upward, itself first; as many as there are where ``count`` is 0 or more than that."""
    return [bone, *bone.parent_recursive][: count or None]
