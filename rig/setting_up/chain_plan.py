"""What a chain is to be, before it is added, and the guesses that a plan leaves open.

Limbs get their solver, bones and hinge from the skeleton at rest. This module must not
change anything; ``rig/setting_up/setup`` carries a plan out.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, cast

import bpy
from mathutils import Vector

from .. import chains, constrained, limbs
from ..bone_rows import row_of, row_up
from ..errors import LimbIKError
from ..limbs import Limb
from ..session import pose_bones
from . import bend

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """What a chain is to be.

    ``end_bone``: None guesses it, empty takes the tail of the tip. ``kind``: ``arm`` or ``leg`` where known,
    for the side to which a straight limb bends. ``bend_axis``: the hinge, where it is known; ``rest_axis``: what rest
    says of it, which counts where nothing better does.
    """

    tip: str
    solver: str = 'TWO_BONE'
    chain_length: int = 2
    end_bone: str | None = None
    target_kind: str = 'EMPTY'
    use_pole: bool = True
    target_space: str = 'WORLD'
    end_rotation: str = 'KEEP_LOCAL'
    kind: str = ""
    bend_axis: Vector | None = None
    rest_axis: Vector | None = None


def guess_end_bone(tip: Any) -> str:
    """The child of a tip bone that a target should lead: the hand of a forearm; empty where there is none.

    The child whose head is nearest the tail of the tip; of those the one with most bones below it
    (a hand, not a twist bone).
    """
    if not tip.children:
        return ""
    tail, length = tip.bone.tail_local, tip.bone.length
    # Within this part of the bone's length two heads count as the same place.
    near = 0.1 * length

    def rank(child: Any) -> tuple[int, int]:
        distance = (child.bone.head_local - tail).length
        return round(distance / near) if near else 0, -len(child.children_recursive)

    return str(min(tip.children, key=rank).name)


def rest_bend_axis(obj: bpy.types.Object, tip: Any, kind: str) -> Vector:
    """The hinge of a limb from its rest pose, in the root bone's local space; zero where it has no length."""
    row = row_of(tip)
    root, end = row[-1], pose_bones(obj).get(tip.limb_ik_end_bone)
    # LEG counts its first inner joint as the knee, as the solver does; two bones only have the one.
    mid = row[-2] if tip.limb_ik_solver == "LEG" else tip
    end_point = end.bone.head_local if end is not None else tip.bone.tail_local
    skeleton = limbs.rest_skeleton(cast(Any, obj.data))
    axis = bend.bend_axis_from_rest(
        root.bone.head_local,
        mid.bone.head_local,
        end_point,
        'leg' if kind == 'leg' else 'arm',
        bend.body_forward(skeleton, limbs.find_limbs(skeleton)),
    )
    return cast(Vector, root.bone.matrix_local.to_3x3().inverted_safe() @ axis)


def guess_look_axes(tip: Any) -> None:
    """Look along the bone's axis that is level and nearest the front (-Y), up along the most upright of the others."""
    axes = {name: tip.bone.matrix_local.to_3x3() @ axis for name, axis in chains.AXES.items()}
    tip.limb_ik_look_axis = min(axes, key=lambda name: axes[name].y)
    rest = {name: axis for name, axis in axes.items() if name[-1] != tip.limb_ik_look_axis[-1]}
    tip.limb_ik_up_axis = max(rest, key=lambda name: rest[name].z)


def limb_plans(
    obj: bpy.types.Object, *, arms: bool, legs: bool, target_kind: str, target_space: str
) -> list[ChainPlan]:
    """A plan for each arm and leg that the skeleton has.

    Raises:
        LimbIKError: none was found, all have chains or none is free for one, or one is collapsed to zero length.
    """
    skeleton = limbs.rest_skeleton(cast(Any, obj.data))
    wanted = {"arm": arms, "leg": legs}
    found = [limb for limb in limbs.find_limbs(skeleton) if wanted[limb.kind]]
    if not found:
        raise LimbIKError(f"no {' or '.join(name for name, on in wanted.items() if on)} found in '{obj.name}'")
    for limb in found:
        if limbs.collapsed(limb, skeleton):
            raise LimbIKError(f"the {limb.kind} '{limb.upper}' of '{obj.name}' is collapsed to zero length")
    taken = set(chains.tips(obj))
    axes = bend.body_axes(skeleton, limbs.find_limbs(skeleton))
    hinges = {limb.tip: bend.bend_axis(limb, skeleton, axes) for limb in found}
    plans = [_limb_plan(limb, target_kind, target_space, hinges[limb.tip]) for limb in found]
    plans = [plan for plan in plans if plan.tip not in taken]
    if not plans:
        raise LimbIKError(f"every limb of '{obj.name}' has a chain already")
    blocked = {plan.tip: reason for plan in plans if (reason := _blocked(obj, plan))}
    if len(blocked) == len(plans):
        raise LimbIKError(f"no limb of '{obj.name}' is free: {'; '.join(blocked.values())}")
    for reason in blocked.values():
        logger.warning("left out: %s", reason)
    return [plan for plan in plans if plan.tip not in blocked]


def _blocked(obj: bpy.types.Object, plan: ChainPlan) -> str:
    """Why a limb can't have a chain: an active constraint on a bone that would be turned; empty where it can."""
    tip: Any = pose_bones(obj)[plan.tip]
    row = row_up(tip, plan.chain_length)
    bones: Any = pose_bones(obj)
    index = {name: number for number, name in enumerate(bones.keys())}
    constraints = constrained.constraints_on(obj, bones, index)
    for bone in [row[0], row[-1]] if plan.solver == 'TWO_BONE' else row:
        if words := constrained.acting_now(constraints.get(index[bone.name], ()), bones):
            return f"{words}; mute it or convert it first"
    return ""


def _limb_plan(limb: Limb, target_kind: str, target_space: str, hinge: Vector) -> ChainPlan:
    return ChainPlan(
        tip=limb.tip,
        solver='LEG' if limb.is_creature else 'TWO_BONE',
        chain_length=len(limb.bones),
        end_bone=limb.end or "",
        target_kind=target_kind,
        target_space=target_space,
        end_rotation='TARGET' if limb.end else 'KEEP_LOCAL',
        kind=limb.kind,
        rest_axis=hinge,
    )
