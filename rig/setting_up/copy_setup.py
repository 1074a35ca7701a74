"""A rig's set-up on another armature with the same bone names.

Must not change a pose, nor the armature that is copied from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import carry, chains, made, marks
from ..bone_rows import row_of, row_up
from ..chain_setup import HINGED
from ..errors import LimbIKError
from . import links, setup
from .setup import ChainPlan


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied: tips of the new chains, and what was left out with the reason."""

    tips: tuple[str, ...]
    skipped: tuple[str, ...]


def copy_setup(context: Any, source: Any, target: Any, tips: list[str] | None = None) -> Copied:
    """Put the chains of an armature onto another one, with targets and poles of its own.

    Args:
        context: gives scene and view layer.
        source: the armature object that has the chains.
        target: the armature object that gets them.
        tips: only these chains; None for all.

    Raises:
        LimbIKError: nothing could be copied; nothing was changed.
    """
    setup.check_armature(source)
    setup.check_armature(target)
    if source == target:
        raise LimbIKError(f"'{source.name}' can't be copied onto itself")
    wanted = chains.tips(source) if tips is None else tips
    reasons = {tip: _reason(source, target, tip) for tip in wanted}
    found = [tip for tip in wanted if not reasons[tip]]
    skipped = tuple(f"'{tip}' left out: {reason}" for tip, reason in reasons.items() if reason)
    if not found:
        raise LimbIKError("; ".join(skipped) or f"'{source.name}' has no IK chain")
    setup.add_chains(context, target, [_plan(source, target, tip) for tip in found])
    for tip in found:
        _carry(context, source, target, tip)
    marks.touch(target)
    return Copied(tuple(found), skipped)


def _reason(source: Any, target: Any, tip_name: str) -> str:
    """Why a chain can't be copied, empty where it can."""
    tip, other = source.pose.bones.get(tip_name), target.pose.bones.get(tip_name)
    if tip is None or tip.limb_ik_solver == 'NONE':
        return f"no chain of '{source.name}' ends there"
    if other is None:
        return f"'{target.name}' has no such bone"
    if other.limb_ik_solver != 'NONE':
        return f"a chain of '{target.name}' ends there already"
    row = [bone.name for bone in row_of(tip)]
    if [bone.name for bone in row_up(other, len(row))] != row:
        return f"'{target.name}' has other bones above it"
    if tip.limb_ik_end_bone and tip.limb_ik_end_bone not in target.pose.bones:
        return f"'{target.name}' has no bone '{tip.limb_ik_end_bone}'"
    return ""


def _plan(source: Any, target: Any, tip_name: str) -> ChainPlan:
    tip = source.pose.bones[tip_name]
    return ChainPlan(
        tip=tip_name,
        solver=tip.limb_ik_solver,
        chain_length=len(row_of(tip)),
        end_bone=tip.limb_ik_end_bone,
        target_kind='BONE' if links.uses_bones(tip) else 'EMPTY',
        use_pole=tip.limb_ik_pole is not None,
        target_space=tip.limb_ik_target_space,
        end_rotation=tip.limb_ik_end_rotation,
        bend_axis=_bend_axis(source, target, tip_name),
    )


def _bend_axis(source: Any, target: Any, tip_name: str) -> Any:
    """The hinge as it lies in the armature at rest, in the other root bone's space: rolls may differ."""
    tip = source.pose.bones[tip_name]
    if tip.limb_ik_solver not in HINGED:
        return None
    root = row_of(tip)[-1].bone
    other = target.pose.bones[root.name].bone
    hinge_arm = root.matrix_local.to_3x3() @ chains.chain_of(source, tip_name).bend_axis
    return other.matrix_local.to_3x3().inverted_safe() @ hinge_arm


def _carry(context: Any, source: Any, target: Any, tip_name: str) -> None:
    tip = source.pose.bones[tip_name]
    carry.copy_settings(tip, target.pose.bones[tip_name])
    for bone in row_of(tip):
        carry.copy_joint(bone, target.pose.bones[bone.name])
    for role in ("target", "pole"):
        bone_name = getattr(tip, f"limb_ik_{role}_bone")
        is_own = getattr(tip, f"limb_ik_{role}") == source and bone_name in target.pose.bones
        if is_own and made.is_linked(tip, role):
            links.relink(context, target, tip_name, role, target, bone_name)
