"""What Blender's own IK constraints show of the bones that a chain is made for: rotations, hinge, aim, what they miss.

Must not add chains or touch constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...solvers import rotations
from .. import chains, fk_pose, marks
from ..bone_rows import row_up
from ..posed_chain import length_along
from ..spaces import basis_at
from .chain_plan import ChainPlan

# A bend whose normal is shorter than this (0.06°) has no direction to keep as the hinge.
NO_BEND = 1e-3
# Part of the length: the most that constraints which reach their target are seen to miss it by is 6e-4.
FAR = 0.01
# Cosine of 0.08°: what is aimed lies on the bone's axis.
ALONG = 1.0 - 1e-6


def miss(obj: Any, posed: Any, plan: ChainPlan, constraint: Any) -> str:
    """Says so where the constraint leaves its end away from a target within reach: a chain moves it there."""
    target, subtarget = constraint.target, constraint.subtarget
    place = target.matrix_world @ target.pose.bones[subtarget].head if subtarget else target.matrix_world.translation
    bones = [posed.pose.bones[bone.name] for bone in row(obj, plan)]
    end = posed.pose.bones[plan.end_bone].head if plan.end_bone else bones[0].tail
    joints = [*(posed.matrix_world @ bone.head for bone in reversed(bones)), posed.matrix_world @ end]
    total = length_along(joints)
    away = (joints[-1] - place).length
    if plan.solver == 'LOOK_AT' or away <= FAR * total or (place - joints[0]).length > total:
        return ""
    return f"'{plan.tip}' moves: the constraint missed its target by {away / total:.0%} of the limb"


def row(obj: Any, plan: ChainPlan) -> list[Any]:
    """The pose bones of a chain, tip to root."""
    tip = obj.pose.bones[plan.tip]
    return row_up(tip, plan.chain_length)


def seen_rotations(obj: Any, evaluated: Any, plans: Sequence[ChainPlan]) -> dict[str, fk_pose.Raw]:
    """Raw local rotation of every bone of the chains as constraints have posed it."""
    found = {}
    for plan in plans:
        for bone in row(obj, plan):
            posed = evaluated.pose.bones[bone.name]
            local = rotations.from_matrix(basis_at(posed, posed.matrix))
            found[bone.name] = fk_pose.to_raw(local, bone.rotation_mode, fk_pose.read_raw(bone))
    return found


def with_hinge(evaluated: Any, plan: ChainPlan) -> ChainPlan:
    """The plan with the hinge about which the limb is bent now; straight limbs keep the usual guess."""
    if plan.solver != 'TWO_BONE':
        return plan
    tip = evaluated.pose.bones[plan.tip]
    root = tip.parent_recursive[plan.chain_length - 2]
    end = evaluated.pose.bones[plan.end_bone].head if plan.end_bone else tip.tail
    bend = (tip.head - root.head).normalized().cross((end - tip.head).normalized())
    if bend.length < NO_BEND:
        return plan
    hinge = root.matrix.to_3x3().inverted_safe() @ bend
    return ChainPlan(
        plan.tip, plan.solver, plan.chain_length, plan.end_bone, use_pole=plan.use_pole, bend_axis=hinge.normalized()
    )


def aim_along(tip: Any, plan: ChainPlan) -> str:
    """A single bone looks along the axis that the constraint aims: its own, or nearest to where its child begins."""
    rest = tip.bone.matrix_local.to_3x3()
    end = tip.id_data.pose.bones[plan.end_bone].bone.head_local if plan.end_bone else tip.bone.tail_local
    aim = rest.inverted_safe() @ (end - tip.bone.head_local).normalized()
    axes = {name: rest @ axis for name, axis in chains.AXES.items()}
    with marks.quiet():
        tip.limb_ik_look_axis = look = max(axes, key=lambda name: chains.AXES[name].dot(aim))
        tip.limb_ik_up_axis = max((name for name in axes if name[-1] != look[-1]), key=lambda name: axes[name].z)
    is_beside = chains.AXES[look].dot(aim) < ALONG
    return f"'{tip.name}' looks along its own axis: '{plan.end_bone}' no longer meets the target" if is_beside else ""
