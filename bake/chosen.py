"""Which chains of an armature are meant, by the bones at which they end. Reads only."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ..rig.chains import ChainSetup, setup_of
from ..rig.errors import LimbIKError


def chains_named(obj: bpy.types.Object, tips: Sequence[str]) -> list[ChainSetup]:
    """The chains of an armature that end at ``tips``, all of them where it is empty; also what can't be solved.

    Raises:
        LimbIKError: no chain ends at one of them.
    """
    by_tip = {chain.tip: chain for chain in setup_of(obj).chains}
    for tip in tips:
        if tip not in by_tip:
            raise LimbIKError(f"no chain ends at '{tip}' of '{obj.name}'")
    return [by_tip[tip] for tip in tips] if tips else list(by_tip.values())


def solvable(obj: bpy.types.Object, tips: Sequence[str] = ()) -> list[ChainSetup]:
    """``chains_named``, at least one.

    Raises:
        LimbIKError: there is no such chain, or it can't be solved.
    """
    if not setup_of(obj).chains:
        raise LimbIKError(f"'{obj.name}' has no chain")
    chosen = chains_named(obj, tips)
    for chain in chosen:
        if chain.problem:
            raise LimbIKError(f"the chain of '{chain.tip}' can't be solved: {chain.problem}")
    return chosen
