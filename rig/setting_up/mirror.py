"""The same chain on the other side: names flipped, limits and axes reflected.

This module must not pose anything.
"""

from __future__ import annotations

from typing import Any

import bpy
from mathutils import Vector

from .. import carry, chains, made, marks
from ..bone_rows import row_of, row_up
from ..chain_setup import HINGED
from ..errors import LimbIKError
from ..reflection import mirror_joint, reflected_axes, reflection_between
from . import active, links, setup
from .setup import ChainPlan
from .sides import other_side


def mirror_chain(context: Any, obj: Any, tip_name: str) -> str:
    """Put a chain like the one that ends at a bone onto the other side; one that is there takes its settings.

    Args:
        context: gives scene and view layer.
        obj: the armature object.
        tip_name: where the chain ends that is mirrored.

    Returns:
        The tip on the other side.

    Raises:
        LimbIKError: there is no other side, or it is built differently; nothing was changed.
    """
    bones, tip = obj.pose.bones, active.tip_named(obj, tip_name)
    other = flipped(obj, tip_name)
    names = {bone.name: flipped(obj, bone.name) for bone in row_of(tip)}
    _check_row(bones[other], list(names.values()), tip_name)
    for name, mirrored in names.items():
        _check_frames(bones[name], bones[mirrored])
    if bones[other].limb_ik_solver == 'NONE':
        _add(context, obj, tip_name, other)
    _mirror_settings(bones[tip_name], bones[other])
    for name, mirrored in names.items():
        mirror_joint(bones[name], bones[mirrored])
    marks.touch(obj)
    return other


def flipped(obj: Any, name: str) -> str:
    """Name of the bone on the other side.

    Raises:
        LimbIKError: the name has no side, or there is no such bone.
    """
    other = other_side(name, obj.pose.bones.keys())
    if other == name:
        raise LimbIKError(f"the name '{name}' has no side that could be flipped")
    if other not in obj.pose.bones:
        raise LimbIKError(f"'{obj.name}' has no bone '{other}'")
    return other


def _check_row(tip: Any, names: list[str], source: str) -> None:
    row = [bone.name for bone in row_up(tip, len(names))]
    if row != names:
        raise LimbIKError(f"the bones above '{tip.name}' are not those above '{source}' on the other side")


def _check_frames(bone: Any, other: Any) -> None:
    if bone.limb_ik_joint_kind == 'BALL' and reflected_axes(bone, other) is None:
        raise LimbIKError(f"'{other.name}' is rolled too differently from '{bone.name}' for its limits to be mirrored")


def _add(context: Any, obj: Any, tip_name: str, other: str) -> None:
    tip = obj.pose.bones[tip_name]
    plan = ChainPlan(
        tip=other,
        solver=tip.limb_ik_solver,
        chain_length=tip.limb_ik_chain_length,
        end_bone=flipped(obj, tip.limb_ik_end_bone) if tip.limb_ik_end_bone else "",
        target_kind='BONE' if links.uses_bones(tip) else 'EMPTY',
        use_pole=tip.limb_ik_pole is not None,
        target_space=tip.limb_ik_target_space,
        end_rotation=tip.limb_ik_end_rotation,
        bend_axis=_bend_axis(obj, tip_name),
    )
    setup.add_chain(context, obj, plan)
    for role in ("target", "pole"):
        tip = obj.pose.bones[tip_name]
        if made.is_linked(tip, role):
            _link_other(context, obj, tip, other, role)


def _link_other(context: Any, obj: Any, tip: Any, other: str, role: str) -> None:
    """Where a control of the user's own has a twin on the other side, take that instead of the made one."""
    linked, bone_name = getattr(tip, f"limb_ik_{role}"), getattr(tip, f"limb_ik_{role}_bone")
    if bone_name:
        known = linked.pose.bones.keys() if linked.pose is not None else ()
        twin = other_side(bone_name, known)
        if twin != bone_name and twin in known:
            links.relink(context, obj, other, role, linked, twin)
        return
    twin_object = bpy.data.objects.get(other_side(linked.name, bpy.data.objects.keys()))
    if twin_object is not None and twin_object != linked:
        links.relink(context, obj, other, role, twin_object, "")


def _bend_axis(obj: Any, tip_name: str) -> Vector | None:
    if obj.pose.bones[tip_name].limb_ik_solver not in HINGED:
        return None
    root = row_of(obj.pose.bones[tip_name])[-1]
    hinge = chains.chain_of(obj, tip_name).bend_axis
    return -(reflection_between(root, obj.pose.bones[flipped(obj, root.name)]) @ hinge)


def _mirror_settings(tip: Any, other: Any) -> None:
    carry.copy_settings(tip, other)
    turned = reflection_between(tip, other)
    with marks.quiet():
        other.limb_ik_pole_angle = -tip.limb_ik_pole_angle
        for name in ("limb_ik_look_axis", "limb_ik_up_axis"):
            axis = turned @ chains.AXES[getattr(tip, name)]
            setattr(other, name, max(chains.AXES, key=lambda key: chains.AXES[key].dot(axis)))
