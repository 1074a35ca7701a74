"""Bones in a row, from one up through its parents: pose bones of a chain, or numbers in a set-up.

Must not change anything, and knows no set-up beyond a chain's length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from .session import pose_bones


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


def tips_of(obj: bpy.types.Object) -> list[Any]:
    """The pose bones at which chains end, in the order of the pose; none of what is no armature."""
    if obj.pose is None:
        return []
    bones = pose_bones(obj)
    numbers = [0] * len(bones)
    bones.foreach_get("limb_ik_solver", numbers)
    return [bones[index] for index, number in enumerate(numbers) if number]
