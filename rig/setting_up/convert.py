"""Blender's own IK constraints as chains with the same target, pole and limits; the pose stays as it is.

The pose that a constraint gives becomes the FK pose of bones without keys, where it acts in
full; ``pole_angle`` takes up what lies between the pole and the side the limb bends to. Influence
becomes weight, with its keys or driver. Constraints are muted, never removed. Limit Rotation on
bones of chains becomes joint limits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mathutils import Vector

from ...solvers import rotations
from .. import chains, channels, fk_pose, marks, match, posed_chain, solve_chain
from ..bone_rows import row_of
from ..data_paths import rotation_path
from ..errors import LimbIKError
from ..spaces import to_armature
from ..this_frame import all_but, evaluate_shown
from . import influence, links, setup
from .chain_plan import ChainPlan
from .limits_from import limits_from_ik, limits_from_rotation
from .muting import Muted, is_local_limit, mute
from .native_constraints import Native, is_keyed, native_constraints
from .native_pose import aim_along, miss, row, seen_rotations, with_hinge

# Radians beyond a limit that are rounding of the pose.
BEYOND = 1e-3


@dataclass
class Converted:
    """What was converted: tips of the new chains, bones that got joint limits, what to know."""

    tips: list[str] = field(default_factory=list)
    limited: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def convert_constraints(context: Any, obj: Any, tips: Sequence[str] = ()) -> Converted:
    """Turn active IK constraints into chains, and Limit Rotation on bones of chains into joint limits.

    Args:
        context: gives scene and view layer.
        obj: the armature object.
        tips: only constraints whose chain would end at these bones, or which lie on them; empty for all.

    Raises:
        LimbIKError: there is nothing to convert, or it can't be; nothing was changed.
    """
    setup.check_armature(obj)
    found, notes = native_constraints(obj, set(tips))
    result = Converted(notes=notes)
    if found:
        _convert_all(context, obj, found, result)
    _convert_limits(obj, set(tips), result)
    if not result.tips and not result.limited:
        raise LimbIKError("; ".join(result.notes) or f"'{obj.name}' has no active IK constraint to convert")
    marks.touch(obj)
    return result


def _convert_all(context: Any, obj: Any, found: Sequence[Native], result: Converted) -> None:
    """All or none: a chain that can't be added puts constraints and FK back."""
    with _in_full(context, obj, found):
        posed = obj.evaluated_get(context.evaluated_depsgraph_get())
        plans = [with_hinge(posed, one.plan) for one in found]
        seen = seen_rotations(obj, posed, plans)
        misses = {one.plan.tip: miss(obj, posed, one.plan, one.constraint(obj)) for one in found}
    before = {name: fk_pose.read_raw(obj.pose.bones[name]) for name in seen}
    muted = Muted()
    animated = [one.owner for one in found if mute(obj, one.constraint(obj), muted)]
    if animated:
        result.notes.append(f"keys and drivers of the constraints' muting are muted, too, on {len(animated)} bones")
    limits = _muted_limits(obj, plans, muted)
    _write(obj, {name: raw for name, raw in seen.items() if not _is_animated(obj, name)})
    context.view_layer.update()
    try:
        setup.add_chains(context, obj, plans)
    except LimbIKError:
        _write(obj, before)
        muted.put_back()
        marks.touch(obj)
        raise
    for one in found:
        note = _take_over(context, obj, one)
        result.tips.append(one.plan.tip)
        result.notes.extend(filter(None, (*one.notes, note, misses[one.plan.tip])))
    for bone, constraint in limits:
        _take_limits(bone, constraint, seen[bone.name], result)
    in_part = {bone.name for one in found if one.is_partial for bone in row(obj, one.plan)}
    _write(obj, {name: raw for name, raw in before.items() if name in in_part})
    result.notes.extend(f"'{name}' keeps its keys as FK" for name in seen if _is_animated(obj, name))


@contextmanager
def _in_full(context: Any, obj: Any, found: Sequence[Native]) -> Iterator[None]:
    """Constraints that act in part, or not at this frame, act in full meanwhile: by copies that no animation knows."""
    copies = []
    for one in (one for one in found if one.is_partial):
        owner, constraint = obj.pose.bones[one.owner], one.constraint(obj)
        copies.append((owner, owner.constraints.copy(constraint)))
        copies[-1][1].influence, constraint.mute = 1.0, True
    if copies:
        context.view_layer.update()
    try:
        yield
    finally:
        for owner, copy in copies:
            owner.constraints.remove(copy)


def _muted_limits(obj: Any, plans: Sequence[ChainPlan], muted: Muted) -> list[tuple[Any, Any]]:
    """Limit Rotation constraints on bones of the chains to be, muted."""
    bones = {bone.name: bone for plan in plans for bone in row(obj, plan)}
    found = [(bone, one) for bone in bones.values() for one in bone.constraints if is_local_limit(one)]
    for _, constraint in found:
        mute(obj, constraint, muted)
    return found


def _take_limits(bone: Any, constraint: Any, raw: fk_pose.Raw, result: Converted) -> None:
    """Joint limits, but for those that the seen pose is beyond: Blender's IK doesn't keep to this constraint."""
    turn = rotations.to_euler(fk_pose.to_quat(raw, bone.rotation_mode), 'XYZ')
    beyond = [
        axis
        for axis, angle in zip("xyz", turn, strict=True)
        if getattr(constraint, f"use_limit_{axis}")
        and not getattr(constraint, f"min_{axis}") - BEYOND <= angle <= getattr(constraint, f"max_{axis}") + BEYOND
    ]
    if beyond:
        result.notes.append(f"'{constraint.name}' on '{bone.name}' is muted: IK turned the bone beyond it")
        return
    with marks.quiet():
        limits_from_rotation(bone, constraint)
    result.limited.append(bone.name)


def _is_animated(obj: Any, name: str) -> bool:
    bone = obj.pose.bones[name]
    path = rotation_path(bone)
    return any(found == path for found, _ in channels.animated_paths(obj))


def _write(obj: Any, raws: dict[str, fk_pose.Raw]) -> None:
    for name, raw in raws.items():
        bone = obj.pose.bones[name]
        setattr(bone, fk_pose.channel(bone.rotation_mode), raw)


def _take_over(context: Any, obj: Any, native: Native) -> str:
    """Target, pole, weight and limits of the constraint; returns what is to be said about its influence."""
    constraint, tip = native.constraint(obj), native.plan.tip
    links.relink(context, obj, tip, "target", constraint.target, constraint.subtarget)
    if constraint.pole_target is not None:
        links.relink(context, obj, tip, "pole", constraint.pole_target, constraint.pole_subtarget)
    note = aim_along(obj.pose.bones[tip], native.plan) if native.plan.solver == 'LOOK_AT' else ""
    with marks.quiet():
        obj.pose.bones[tip].limb_ik_weight = constraint.influence
        if is_keyed(obj, constraint):
            carried = influence.carry_over(obj, constraint.path_from_id("influence"), tip)
            note = "; ".join(filter(None, (note, carried)))
        for bone in row(obj, native.plan):
            limits_from_ik(bone)
        if constraint.pole_target is not None and native.plan.solver in solve_chain.POLE_DIRECTIONS:
            obj.pose.bones[tip].limb_ik_pole_angle = _pole_angle(context, obj, tip)
    return note


def _pole_angle(context: Any, obj: Any, tip: str) -> float:
    """How far the side that the limb bends to is turned from the pole, about the line root → end."""
    marks.mark(obj)
    run = evaluate_shown(context, only=all_but({(marks.key_of(obj), tip)}))
    rig, chain = match.rig_of(run, obj), chains.chain_of(obj, tip)
    posed = posed_chain.read_chain(rig.state, chain)
    if chain.pole_key is None:
        return 0.0
    line: Vector = (posed.end - posed.joints[0].head).normalized()
    pole = to_armature(run.world(obj), run.linked_world(chain.pole_key).translation) - posed.joints[0].head
    side = solve_chain.POLE_DIRECTIONS[chain.solver](posed)
    toward: Any = pole - pole.project(line)
    return math.atan2(toward.cross(side).dot(line), toward.dot(side))


def _convert_limits(obj: Any, tips: set[str], result: Converted) -> None:
    """Limit Rotation constraints on bones that chains turn."""
    for tip in chains.tips(obj):
        if tips and tip not in tips:
            continue
        for bone in row_of(obj.pose.bones[tip]):
            for constraint in bone.constraints:
                if is_local_limit(constraint):
                    with marks.quiet():
                        limits_from_rotation(bone, constraint)
                    constraint.mute = True
                    result.limited.append(bone.name)
