"""Why a chain can't be solved as it is set up, in words.

This module must not change anything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy

from ..solvers import joint_limits
from . import constrained, dependency, migrate
from .bone_rows import line_above
from .chain_setup import HINGED, REACHING, ChainSetup, limits_of
from .scenes import is_in_a_scene
from .session import pose_bones


def problem_of(
    obj: bpy.types.Object, tip: Any, turned: list[Any], chain: ChainSetup, constraints: constrained.ConstraintsOn
) -> str:
    """Why a chain can't be solved, in one phrase; empty where it can.

    Args:
        tip: the pose bone at which the chain ends; ``turned``: those that the solver turns, root to tip.
        constraints: those of the rig's bones.
    """
    return migrate.problem(obj) or _length_problem(tip) or _part_problem(obj, tip, turned, chain, constraints)


def _length_problem(tip: Any) -> str:
    available = len(tip.parent_recursive) + 1
    count = tip.limb_ik_chain_length or available
    if count > available:
        bones = "bone" if available == 1 else "bones"
        return f"chain of {count} is longer than the {available} {bones} from '{tip.name}' up"
    if count < 2 and tip.limb_ik_solver in HINGED:
        return "two bones are needed, the chain has one"
    if tip.limb_ik_root and tip.limb_ik_root != dependency.root_name(tip):
        return f"chain changed: it began at '{tip.limb_ik_root}'"
    return ""


def _part_problem(
    obj: bpy.types.Object, tip: Any, turned: list[Any], chain: ChainSetup, constraints: constrained.ConstraintsOn
) -> str:
    if tip.limb_ik_end_bone and chain.end < 0:
        return f"end bone '{tip.limb_ik_end_bone}' is missing"
    if chain.end >= 0 and (words := _end_problem(tip, pose_bones(obj)[chain.end])):
        return words
    for number, bone in zip(chain.turned, turned, strict=True):
        if words := constrained.always_acting(constraints.get(number, ()), pose_bones(obj)):
            return words
        if reason := joint_limits.is_valid(limits_of(bone)):
            return f"limits of '{bone.name}': {reason}"
    if tip.limb_ik_ground is not None and (words := target_problem("ground", tip.limb_ik_ground, "")):
        return words
    return target_problem("target", tip.limb_ik_target, tip.limb_ik_target_bone)


def _end_problem(tip: Any, end: Any) -> str:
    """Why the end bone can't be brought anywhere. One with a constraint may follow the chain without being below it."""
    if end.name in {tip.name, *(bone.name for bone in tip.parent_recursive)}:
        return f"end bone '{end.name}' is part of the chain or above it"
    above = end.parent_recursive
    is_held = any(len(bone.constraints) for bone in (end, *above))
    if tip.limb_ik_solver in REACHING and tip not in above and not is_held:
        return f"end bone '{end.name}' doesn't hang on '{tip.name}'"
    return ""


def target_problem(role: str, target: bpy.types.Object | None, bone_name: str) -> str:
    """Why nothing can reach for a target, pole or ground (``role``); empty where it can."""
    if target is None:
        return f"no {role}"
    if not is_in_a_scene(target):
        return f"{role} '{target.name}' is in no scene"
    if bone_name and (target.pose is None or bone_name not in target.pose.bones):
        return f"{role} bone '{bone_name}' is missing in '{target.name}'"
    return ""


def refuse_shared(found: list[ChainSetup], parents: tuple[int, ...]) -> list[ChainSetup]:
    """One chain turns a bone: of two that would, the one with the deeper tip can't be solved. A muted one doesn't."""
    owners: dict[int, str] = {}
    checked = {}
    for chain in sorted(found, key=lambda chain: len(list(line_above(parents, chain.bones[-1])))):
        taken = next((owners[bone] for bone in chain.turned if bone in owners), "")
        if not chain.problem and taken:
            chain = replace(chain, problem=f"a bone of it is turned by the chain of '{taken}'")
        if not chain.problem and not chain.is_muted:
            owners.update(dict.fromkeys(chain.turned, chain.tip))
        checked[chain.tip] = chain
    return [checked[chain.tip] for chain in found]
