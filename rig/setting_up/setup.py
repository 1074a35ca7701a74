"""Adding chains: targets and poles appear where the pose stays as it is.

Plain functions; operators and the command line call them. Nothing is changed where an
error is raised. This module must not write keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
from mathutils import Matrix

from .. import carry, chains, dependency, marks, match, posed_chain
from ..errors import LimbIKError
from ..evaluate import Evaluation
from ..made import remember
from ..session import is_in_edit_mode, pose_bones
from ..spaces import matrix_to_armature
from ..this_frame import all_but, evaluate_shown
from . import chain_plan, controls, leavings
from .chain_plan import ChainPlan, guess_end_bone, limb_plans
from .removal import remove_chains

__all__ = [
    "ChainPlan",
    "add_chain",
    "add_chains",
    "check_armature",
    "guess_end_bone",
    "limb_plans",
]

# What made targets and poles are called after their bone, and their display size as a part of the limb's length.
LABELS = {"target": "IK", "pole": "Pole"}
SIZES = {"target": 0.12, "pole": 0.06}
SHAPES = {"target": 'CUBE', "pole": 'SPHERE'}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where FK has a chain's target and pole, and how long the chain is. Space: armature."""

    target_arm: Matrix
    pole_arm: Matrix | None
    length: float


def add_chain(context: bpy.types.Context, obj: bpy.types.Object, plan: ChainPlan) -> str:
    """Add one chain with its target and pole; the pose stays as it is.

    Returns:
        The name of its tip bone.

    Raises:
        LimbIKError: bad input, in one sentence; nothing was changed.
    """
    return add_chains(context, obj, [plan])[0]


def add_chains(context: bpy.types.Context, obj: bpy.types.Object, plans: Sequence[ChainPlan]) -> list[str]:
    """Add several chains at once, all or none; see ``add_chain``."""
    check_armature(obj)
    for plan in plans:
        _check(obj, plan)
    tips = [plan.tip for plan in plans]
    with leavings.set_aside(obj, tips):
        places = _settled(context, obj, plans)
        try:
            for plan, place in zip(plans, places, strict=True):
                _make_controls(context, obj, plan, place)
        except LimbIKError:
            remove_chains(context, obj, tips, keeps_keys=True)
            raise
    dependency.rebuild(obj)
    marks.touch(obj)
    return tips


def _settled(context: bpy.types.Context, obj: bpy.types.Object, plans: Sequence[ChainPlan]) -> list[_Place]:
    """Set chains up without controls, all or none, and find out where those go."""
    tips = [plan.tip for plan in plans]
    try:
        for plan in plans:
            _settle(obj, plan)
        dependency.rebuild(obj)  # a tip that the driver doesn't name would be taken for a copied bone
        marks.mark(obj)
        _refuse_invalid(obj, tips)
        run = evaluate_shown(context, only=all_but({(marks.key_of(obj), tip) for tip in tips}))
        return [_place_of(run, obj, tip) for tip in tips]
    except LimbIKError:
        for tip in tips:
            carry.reset(pose_bones(obj)[tip])
        dependency.rebuild(obj)
        marks.mark(obj)
        raise


def _place_of(run: Evaluation, obj: bpy.types.Object, tip: str) -> _Place:
    """Where FK is, in either target space: what is an offset begins there, too, not at the armature's origin."""
    chain = replace(chains.chain_of(obj, tip), target_space='WORLD')
    rig = match.rig_of(run, obj)
    found = match.matched(run, rig, chain)
    pole = None if found.pole_world is None else _unscaled(rig.state.world, found.pole_world)
    length = posed_chain.length_of(posed_chain.read_chain(rig.state, chain))
    return _Place(_unscaled(rig.state.world, found.target_world), pole, length)


def _unscaled(world: Matrix, matrix_world: Matrix) -> Matrix:
    place_arm = matrix_to_armature(world, matrix_world)
    return Matrix.LocRotScale(place_arm.translation, place_arm.to_quaternion(), None)


def check_armature(obj: bpy.types.Object | None) -> None:
    """Raises a LimbIKError where an object is no armature, or one whose pose may not be written."""
    if obj is None or obj.type != 'ARMATURE':
        raise LimbIKError("no armature: make one active, or name it")
    check_editable(obj)
    if is_in_edit_mode(obj):
        raise LimbIKError(f"'{obj.name}' is in edit mode: leave it first")


def check_editable(obj: bpy.types.Object) -> None:
    """Raises a LimbIKError for linked objects, and for overrides that were only made for others."""
    if not obj.is_editable:
        raise LimbIKError(f"'{obj.name}' is linked: make a library override of it first")
    if obj.override_library is not None and obj.override_library.is_system_override:
        raise LimbIKError(f"'{obj.name}' is a library override that can't be edited: make it editable first")


def _check(obj: bpy.types.Object, plan: ChainPlan) -> None:
    tip = pose_bones(obj).get(plan.tip)
    if tip is None:
        raise LimbIKError(f"'{obj.name}' has no bone '{plan.tip}'")
    if tip.limb_ik_solver != 'NONE':
        raise LimbIKError(f"a chain ends at '{plan.tip}' already")
    if plan.end_bone and plan.end_bone not in pose_bones(obj):
        raise LimbIKError(f"'{obj.name}' has no bone '{plan.end_bone}'")


def _settle(obj: bpy.types.Object, plan: ChainPlan) -> None:
    """Write a plan into the settings of its tip bone, without target and pole."""
    tip: Any = pose_bones(obj)[plan.tip]
    with marks.quiet():
        tip.limb_ik_chain_length = plan.chain_length
        tip.limb_ik_end_bone = guess_end_bone(tip) if plan.end_bone is None else plan.end_bone
        tip.limb_ik_target_space = plan.target_space
        tip.limb_ik_end_rotation = plan.end_rotation
        tip.limb_ik_solver = plan.solver
        tip.limb_ik_root = dependency.root_name(tip)
        if plan.solver == 'LOOK_AT':
            chain_plan.guess_look_axes(tip)
        elif plan.solver != 'FABRIK' or plan.bend_axis is not None:
            hinge = plan.bend_axis or plan.rest_axis
            tip.limb_ik_bend_axis = hinge or chain_plan.rest_bend_axis(obj, tip, plan.kind)


def _refuse_invalid(obj: bpy.types.Object, tips: Sequence[str]) -> None:
    for tip in tips:
        problem = chains.chain_of(obj, tip).problem
        if problem and problem != "no target":
            raise LimbIKError(f"no chain can end at '{tip}': {problem}")
        _refuse_shared(obj, tip)


def _refuse_shared(obj: bpy.types.Object, tip: str) -> None:
    """One chain turns a bone: neither this one nor one that works already may lose its bones to the other."""
    own = chains.chain_of(obj, tip)
    for other in chains.setup_of(obj).chains:
        shared = set(own.turned) & set(other.turned)
        if other.tip != tip and shared and not other.is_muted and other.problem in ("", "no target"):
            name = chains.setup_of(obj).names[min(shared)]
            raise LimbIKError(f"no chain can end at '{tip}': '{name}' is turned by the chain of '{other.tip}'")


def _make_controls(context: bpy.types.Context, obj: bpy.types.Object, plan: ChainPlan, place: _Place) -> None:
    _make_control(context, obj, plan, "target", place.target_arm, place.length)
    if plan.use_pole and place.pole_arm is not None:
        _make_control(context, obj, plan, "pole", place.pole_arm, place.length)


def _make_control(
    context: bpy.types.Context, obj: bpy.types.Object, plan: ChainPlan, role: str, place_arm: Matrix, length: float
) -> None:
    """Make a target or pole, and let the chain reach for it."""
    name = pose_bones(obj)[plan.tip].limb_ik_end_bone or plan.tip
    label, size = controls.control_name(name, LABELS[role]), SIZES[role] * length
    if plan.target_kind == 'BONE':
        made, bone = obj, controls.make_bone(context, obj, label, place_arm, size)
        controls.shape(obj, bone, role)
    else:
        label = label if label.startswith(obj.name) else f"{obj.name}_{label}"
        made, bone = controls.make_empty(context, obj, label, place_arm, size, SHAPES[role]), ""
    controls.colour(made, bone, role)
    tip = pose_bones(obj)[plan.tip]
    with marks.quiet():
        setattr(tip, f"limb_ik_{role}", made)
        setattr(tip, f"limb_ik_{role}_bone", bone)
        setattr(tip, f"limb_ik_{role}_rest", chains.matrix_values(place_arm))
    remember(tip, role, (made, bone))
