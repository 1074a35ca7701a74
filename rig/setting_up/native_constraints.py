"""Which of Blender's own IK constraints can become chains, and the chain that each makes.

Reads only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import influence
from .chain_plan import ChainPlan
from .muting import other_constraint


@dataclass(frozen=True, slots=True)
class Native:
    """One of Blender's IK constraints, and the chain it makes; ``is_partial``: its influence is animated or below 1."""

    owner: str
    name: str
    plan: ChainPlan
    notes: tuple[str, ...] = ()
    is_partial: bool = False

    def constraint(self, obj: Any) -> Any:
        """The constraint itself, on the armature object."""
        return obj.pose.bones[self.owner].constraints[self.name]


def native_constraints(obj: Any, tips: set[str]) -> tuple[list[Native], list[str]]:
    """The IK constraints of an armature that act and can become chains; and why others stay, in words.

    Args:
        obj: the armature object.
        tips: only constraints whose chain would end at these bones, or which lie on them; empty for all.
    """
    found, notes = [], []
    for bone in obj.pose.bones:
        for constraint in bone.constraints:
            if constraint.type != 'IK' or constraint.mute or not (constraint.influence or is_keyed(obj, constraint)):
                continue
            tip = bone if constraint.use_tail else bone.parent
            if tips and not tips & {bone.name, tip.name if tip is not None else ""}:
                continue
            if reason := _why_not(constraint, tip) or other_constraint(_turned(constraint, tip)):
                notes.append(f"'{constraint.name}' on '{bone.name}' stays: {reason}")
            else:
                found.append(_native(obj, bone, constraint, tip))
    return found, notes


def is_keyed(obj: Any, constraint: Any) -> bool:
    """Whether a constraint's influence has keys or a driver."""
    return influence.is_animated(obj, constraint.path_from_id("influence"))


def _why_not(constraint: Any, tip: Any) -> str:
    """Why a constraint can't become a chain; empty where it can."""
    if constraint.target is None or not constraint.is_valid:
        return "it has no target"
    if constraint.ik_type != 'COPY_POSE' or not constraint.use_location:
        return "only constraints that bring the bone to the target can be converted"
    if tip is None:
        return "its bone has no parent that it could turn"
    if tip.limb_ik_solver != 'NONE':
        return f"an IK chain ends at '{tip.name}' already"
    return ""


def _turned(constraint: Any, tip: Any) -> list[Any]:
    """The bones that a constraint's chain turns, tip to root."""
    above = [tip, *tip.parent_recursive]
    return above[: constraint.chain_count or len(above)]


def _native(obj: Any, bone: Any, constraint: Any, tip: Any) -> Native:
    turned = _turned(constraint, tip)
    solver = {1: 'LOOK_AT', 2: 'TWO_BONE'}.get(len(turned), 'FABRIK')
    end = "" if constraint.use_tail else bone.name
    plan = ChainPlan(tip.name, solver, len(turned), end, use_pole=constraint.pole_target is not None)
    notes = []
    if constraint.use_stretch and any(one.ik_stretch > 0.0 for one in turned):
        notes.append(f"'{tip.name}' no longer stretches")
    if constraint.use_rotation:
        notes.append(f"'{tip.name}' no longer turns with the target")
    is_partial = is_keyed(obj, constraint) or constraint.influence < 1.0
    if is_partial and constraint.pole_target is None:
        notes.append(f"'{tip.name}' has no pole and acts in part: it may bend to another side than it did")
    return Native(bone.name, constraint.name, plan, tuple(notes), is_partial)
