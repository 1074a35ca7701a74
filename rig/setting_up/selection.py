"""From a selection of bones to the chains they mean, and back: what selecting them takes.

Reads names, parents and selection only. This module must not add a chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import compat, limbs
from ..errors import LimbIKError
from ..limb_finding.names import words
from .setup import ChainPlan

# What solver='AUTO' takes for bones that look at something, in either kind of selection.
LOOKING = {"head", "eye", "eyes", "neck"}
NOTHING_SELECTED = "select two or more bones of one limb, or make its last bone active"


def selected_names(obj: Any) -> list[str]:
    """Selected bones of an armature; the active one where none is."""
    names = [bone.name for bone in obj.pose.bones if compat.bone_is_selected(bone)]
    active = obj.data.bones.active
    return names or ([active.name] if active is not None else [])


def lines_of(obj: Any, names: Sequence[str]) -> list[tuple[str, str]]:
    """Root and tip of each limb that a selection names: of each line from a selected bone up to another.

    Raises:
        LimbIKError: nothing is selected, or two lines share a bone.
    """
    if not names:
        raise LimbIKError(NOTHING_SELECTED)
    chosen = set(names)
    above: dict[str, list[str]] = {name: _parents(obj, name) for name in names}
    tips = [name for name in names if not any(name in row for row in above.values())]
    lines = []
    owners: dict[str, str] = {}
    for tip in tips:
        line = [tip, *(name for name in above[tip] if name in chosen)]
        for name in line:
            if name in owners:
                raise LimbIKError(f"'{name}' leads to both '{owners[name]}' and '{tip}': select bones of one limb")
            owners[name] = tip
        lines.append((line[-1], tip))
    return lines


def _parents(obj: Any, name: str) -> list[str]:
    return [bone.name for bone in obj.pose.bones[name].parent_recursive]


def length_between(obj: Any, root: str, tip: str) -> int:
    """How many bones there are from the tip up to the root, both counted."""
    return [tip, *_parents(obj, tip)].index(root) + 1


def plan_for(
    obj: Any,
    root: str,
    tip: str,
    *,
    solver: str = 'AUTO',
    chain_length: int | None = None,
    target_kind: str = 'EMPTY',
    use_pole: bool = True,
) -> ChainPlan:
    """A plan for a chain from root to tip; ``chain_length`` is taken instead where it is given.

    A lone bone (root and tip are the same) without ``chain_length`` takes its parent along, as Blender's IK does.
    """
    if chain_length is None:
        chain_length = length_between(obj, root, tip)
        if root == tip and solver != 'LOOK_AT' and not _is_looking(tip):
            chain_length = min(2, 1 + len(_parents(obj, tip)))
    is_pair = root != tip and chain_length == length_between(obj, root, tip)
    if solver == 'AUTO':
        solver = _guess_solver(obj, root if is_pair else "", tip, chain_length)
    return ChainPlan(tip, solver, chain_length, None, target_kind, use_pole, kind=_kind(obj, tip))


def _guess_solver(obj: Any, root: str, tip: str, chain_length: int) -> str:
    """Two bones for two, a limb's own for a limb; one bone looks, more are FABRIK's."""
    if chain_length == 1 or _is_looking(tip):
        return 'LOOK_AT'
    limb = _limb_at(obj, tip)
    if limb is not None and limb.upper == root:
        is_long = len(limb.bones) > 2 + len(limb.between_upper_lower)
        return 'LEG' if is_long else 'TWO_BONE'
    return 'TWO_BONE' if chain_length == 2 else 'FABRIK'


def _is_looking(tip: str) -> bool:
    return bool(LOOKING & set(words(tip)))


def _limb_at(obj: Any, tip: str) -> limbs.Limb | None:
    skeleton: Any = limbs.rest_skeleton(obj.data)
    return next((limb for limb in limbs.find_limbs(skeleton) if limb.bones[-1] == tip), None)


def _kind(obj: Any, tip: str) -> str:
    limb = _limb_at(obj, tip)
    return limb.kind if limb is not None else ""
