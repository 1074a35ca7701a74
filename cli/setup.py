"""``inspect`` and ``add`` of the command line: what a rig has, and IK put onto it.

Calls the same plain functions as the operators. Must not read arguments' text
and must not print.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import bpy

from ..bake.motion import add_chain, add_chains, add_limbs
from ..files.clips import rows_of
from ..files.opening import BLEND, armatures, armatures_elsewhere, check_writable, open_file, save_file, why_no_armature
from ..properties import CHAIN_SPECS, JOINT_SPECS, PREFIX
from ..rig.chains import setup_of, tips
from ..rig.errors import LimbIKError
from ..rig.limb_finding.skeleton import Limb, rest_skeleton
from ..rig.limbs import find_limbs
from ..rig.session import current_scene, pose_bones
from ..rig.setting_up.selection import plan_for
from ..rig.setting_up.setup import ChainPlan
from . import progress
from .bone_names import bone_named, bones_of_chain, chain_length
from .drivers import refuse_blocked_drivers
from .missing import missing_rig, refuse_missing_links
from .setup_file import read_setup

# Belong to one rig's pose or scene; set-up finds them anew on another rig.
NOT_CARRIED = {
    *("solver", "chain_length", "end_bone", "end_rotation", "bend_axis", "end_offset", "status", "error", "message"),
    *("target", "target_bone", "target_space", "target_rest", "pole", "pole_bone", "pole_rest"),
    "ground",
}

# What inspect leaves out: matrices that mean something in their own file only.
NOT_SHOWN = {"target_rest", "pole_rest"}


def inspect(path: Path, *, trust: bool = False) -> dict[str, Any]:
    """Armatures of a file's scene with clips, limbs and chains, as plain values for JSON; names of those elsewhere."""
    found = open_rig(path, trust=trust)
    scene = current_scene()
    scene.frame_set(scene.frame_current)  # so that the chains' status is of this frame
    elsewhere = armatures_elsewhere()
    return {"armatures": [_armature(obj) for obj in found], **({"elsewhere": elsewhere} if elsewhere else {})}


def add(arguments: argparse.Namespace) -> tuple[str, int]:
    """The command ``add``: what was done in words, and the exit status."""
    check_writable(arguments.output, [BLEND])
    setup = read_setup(arguments.setup) if arguments.setup else None
    objects = chosen(open_rig(arguments.file, trust=arguments.trust), arguments.armature)
    refuse_missing_links(objects)
    refuse_blocked_drivers(objects)
    with progress.doing(f"{arguments.file.name}: adding IK"):
        added = _added(objects, setup, arguments)
    with progress.doing(f"{arguments.output.name}: writing"):
        save_file(arguments.output)
    lines = [f"{name}: IK on {', '.join(found)}" for name, found in added.items() if found]
    lines += left_out(arguments.armature)
    return "\n".join([*lines, f"written: {arguments.output}"]), 0


def _added(
    objects: Sequence[bpy.types.Object], setup: Sequence[Mapping[str, Any]] | None, arguments: argparse.Namespace
) -> dict[str, list[str]]:
    """Adds what is asked for; the tips of the new chains by armature."""
    if arguments.chain:
        return {_only(objects).name: [_add_one(_only(objects), arguments)]}
    if setup is not None:
        return apply_setup(objects, setup, arguments.motion)
    return _add_limbs(objects, arguments)


def open_rig(path: Path, *, trust: bool) -> list[bpy.types.Object]:
    """Opens a file and gives its armature objects, of which there is at least one.

    Raises:
        LimbIKError: the file can't be read or has no armature.
    """
    with progress.doing(f"{path.name}: opening"):
        open_file(path, trust=trust)
    found = armatures()
    if not found and (elsewhere := why_no_armature()):
        raise LimbIKError(f"{path.name} has no armature in its scene '{current_scene().name}': {elsewhere}")
    if not found:
        missing = missing_rig()
        raise LimbIKError(f"{path.name} has no armature{f': {missing}' if missing else ''}")
    if any(obj.mode == 'EDIT' for obj in found):
        bpy.ops.object.mode_set(mode='OBJECT')  # as the file was saved
    return found


def chosen(objects: Sequence[bpy.types.Object], name: str | None) -> list[bpy.types.Object]:
    """The armature of a name, all where none is given.

    Raises:
        LimbIKError: no armature has it.
    """
    found = [obj for obj in objects if name in {None, obj.name}]
    if not found and name in (elsewhere := armatures_elsewhere()):
        raise LimbIKError(f"'{name}' is in {elsewhere[name]}, and the file shows '{current_scene().name}'")
    if not found:
        raise LimbIKError(f"no armature is named '{name}': there is {', '.join(obj.name for obj in objects)}")
    return found


def left_out(name: str | None) -> list[str]:
    """Armatures that other scenes have, each in words, where all are worked on and not one that is named."""
    elsewhere = {} if name is not None else armatures_elsewhere()
    return [f"'{other}' in scene {where} stays as it is" for other, where in elsewhere.items()]


def apply_setup(
    objects: Sequence[bpy.types.Object], setup: Sequence[Mapping[str, Any]], motion: str
) -> dict[str, list[str]]:
    """Puts the chains of an ``inspect`` onto armatures: by name, or one onto one.

    Raises:
        LimbIKError: they don't fit; nothing was changed where a bone is missing.
    """
    if not setup:
        raise LimbIKError("the set-up has no chains")
    by_name = {armature.get("name"): armature for armature in setup}
    pairs = [(obj, by_name[obj.name]) for obj in objects if obj.name in by_name]
    if not pairs and len(setup) == 1:
        pairs = [(_only(objects), setup[0])]
    if not pairs:
        raise LimbIKError("the set-up is for other armatures; name one with --armature")
    wanted = [(obj, [_checked(obj, chain) for chain in entry["chains"]]) for obj, entry in pairs]
    return {obj.name: _apply_chains(obj, chains, motion) for obj, chains in wanted}


def limbs_of(obj: bpy.types.Object) -> list[Limb]:
    """The arms and legs that an armature's skeleton has at rest."""
    return find_limbs(rest_skeleton(cast(Any, obj.data)))


def _armature(obj: bpy.types.Object) -> dict[str, Any]:
    return {
        "name": obj.name,
        "bones": len(pose_bones(obj)),
        "clips": rows_of(obj),
        "limbs": [asdict(limb) for limb in limbs_of(obj)],
        "chains": [_chain(obj, tip) for tip in tips(obj)],
    }


def _chain(obj: bpy.types.Object, tip: str) -> dict[str, Any]:
    bone = pose_bones(obj)[tip]
    setup = next((chain for chain in setup_of(obj).chains if chain.tip == tip), None)
    bones = [setup_of(obj).names[number] for number in setup.bones] if setup else []
    settings = {
        spec.name: _plain(getattr(bone, PREFIX + spec.name)) for spec in CHAIN_SPECS if spec.name not in NOT_SHOWN
    }
    joints = {name: found for name in bones if (found := _joint(pose_bones(obj)[name]))}
    return {"tip": tip, "root": bones[0] if bones else tip, **settings, "joints": joints}


def _joint(bone: bpy.types.PoseBone) -> dict[str, Any]:
    """The joint settings that were set."""
    names = [spec.name for spec in JOINT_SPECS if bone.is_property_set(PREFIX + spec.name)]
    return {name: _plain(getattr(bone, PREFIX + name)) for name in names}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.name if isinstance(value, bpy.types.ID) else list(value)


def _only(objects: Sequence[bpy.types.Object]) -> bpy.types.Object:
    if len(objects) != 1:
        raise LimbIKError(f"name one with --armature: there is {', '.join(obj.name for obj in objects)}")
    return objects[0]


def _add_limbs(objects: Sequence[bpy.types.Object], arguments: argparse.Namespace) -> dict[str, list[str]]:
    """Limbs on every armature that has some; an armature without limbs is a fault only where no other has any."""
    kinds = arguments.limbs or {"arms", "legs"}
    wanted = {kind for kind in ("arm", "leg") if f"{kind}s" in kinds}
    limbed = [obj for obj in objects if any(limb.kind in wanted for limb in limbs_of(obj))]
    if not limbed:
        raise LimbIKError(f"no {' or '.join(sorted(wanted))} found in {', '.join(obj.name for obj in objects)}")
    arms, legs = "arm" in wanted, "leg" in wanted
    return {obj.name: add_limbs(bpy.context, obj, arms=arms, legs=legs, motion=arguments.motion) for obj in limbed}


def _add_one(obj: bpy.types.Object, arguments: argparse.Namespace) -> str:
    root, tip, end = bones_of_chain(obj, arguments.chain)
    length = chain_length(obj, root, tip)
    plan = plan_for(obj, root, tip, solver=arguments.solver or 'AUTO', chain_length=length)
    if end:
        plan = replace(plan, end_bone=bone_named(obj, end).name)
    return add_chain(bpy.context, obj, plan, arguments.motion)


def _checked(obj: bpy.types.Object, chain: Mapping[str, Any]) -> Mapping[str, Any]:
    """The chain, when the rig has all its bones: asked for all chains before the first is added."""
    for name in filter(None, (chain.get("end_bone"), *chain.get("joints", {}))):
        bone_named(obj, name)
    chain_length(obj, chain["root"], chain["tip"])
    return chain


def _apply_chains(obj: bpy.types.Object, chains: Sequence[Mapping[str, Any]], motion: str) -> list[str]:
    tips = add_chains(bpy.context, obj, [_plan(obj, chain) for chain in chains], motion)
    for chain in chains:
        _set(pose_bones(obj)[chain["tip"]], {spec.name for spec in CHAIN_SPECS} - NOT_CARRIED, chain)
        for name, joint in chain.get("joints", {}).items():
            _set(pose_bones(obj)[name], {spec.name for spec in JOINT_SPECS}, joint)
    return tips


def _plan(obj: bpy.types.Object, chain: Mapping[str, Any]) -> ChainPlan:
    root, tip = chain["root"], chain["tip"]
    plan = plan_for(obj, root, tip, solver=chain["solver"], chain_length=chain_length(obj, root, tip))
    return replace(
        plan,
        end_bone=chain.get("end_bone", ""),
        target_kind='BONE' if chain.get("target_bone") else 'EMPTY',
        use_pole=bool(chain.get("pole", True)),
        end_rotation=chain.get("end_rotation", plan.end_rotation),
    )


def _set(bone: bpy.types.PoseBone, names: set[str], values: Mapping[str, Any]) -> None:
    for name in sorted(names & values.keys()):
        try:
            setattr(bone, PREFIX + name, values[name])
        except (TypeError, ValueError, OverflowError) as problem:
            raise LimbIKError(f"set-up of '{bone.name}': {name} can't be {values[name]!r}") from problem
