"""The dependency number: what makes Blender evaluate targets for an armature, and follow renames.

A pointer is no dependency for Blender: hidden or excluded targets would be read
stale. So each rig carries one number driven by all its targets and poles (a sum of
transforms, no Python), and a muted twin whose variables name every bone that its
chains mention, because Blender renames bones in drivers but not in texts.

Both lie on the first bone, whichever that is, not on the object: there Blender (its
graph in 4.5, 5.2 and 5.3, not in 4.2 and 4.3) writes the old values of all drivers of
the object back ("un-share") beside those of its bones, so that a driven bone is late now
and then. Drivers of bones and of custom properties have no such effect. Within a group
of settings ours are no channels of that bone, which would make Blender pose it after
the targets.
This module must not evaluate a pose.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import bpy

from . import marks, migrate, upstream
from .bone_rows import tips_of as tips_of
from .session import pose_bones

NUMBER_PATH = "pose.bones[0].limb_ik.dependency"
NAMES_PATH = "pose.bones[0].limb_ik.names"
OWN_PATHS = frozenset((NUMBER_PATH, NAMES_PATH))
FORM_1_PATHS = ("limb_ik.dependency", "limb_ik.names")
"""Where set-ups of form 1 have them, see ``migrate``; overrides get those of their library at each load."""
# The links of a chain, and what was made for it:
# role -> (setting that names the object or None for the rig itself, setting that names the bone)
LINKS = {
    "tip": (None, None),
    "root": (None, "root"),
    "end": (None, "end_bone"),
    "target": ("target", "target_bone"),
    "pole": ("pole", "pole_bone"),
    "ground": ("ground", None),
    "owntarget": ("own_target", "own_target_bone"),
    "ownpole": ("own_pole", "own_pole_bone"),
}
# What the chains of other rigs need, on whose bones those of this rig hang.
ABOVE = "above"


def link_changed(bone: Any, _context: Any) -> None:
    """``update`` callback of the solver, and of everything that says which bones and objects a chain hangs on."""
    if marks.is_quiet():
        return
    with marks.quiet():
        bone.limb_ik_root = root_name(bone) if bone.limb_ik_solver != 'NONE' else ""
    rebuild(bone.id_data)
    marks.touch(bone.id_data)


def root_name(tip: Any) -> str:
    """Name of the bone at which the chain of ``tip`` begins; empty where the chain is longer than its parents."""
    count = tip.limb_ik_chain_length
    bones = [tip, *tip.parent_recursive]
    if count > len(bones):
        return ""
    return str(bones[count - 1 if count else -1].name)


def rebuild(obj: bpy.types.Object) -> None:
    """Make the number and the names of a rig anew from its chains; without chains take them away."""
    is_first = _find_driver(obj, NAMES_PATH) is None
    for path in (*OWN_PATHS, *FORM_1_PATHS):
        _remove_drivers(obj, path)
    tips = tips_of(obj)
    if not tips:
        return
    if is_first:
        migrate.stamp(obj)
    number = _drive(obj, NUMBER_PATH, [(role, tip) for tip in tips for role in upstream.LINKS])
    _read_above(number, _needed_above(obj))
    names = [(role, tip) for tip in tips for role in LINKS]
    _drive(obj, NAMES_PATH, names).mute = True


def follow_upstream(rigs: Iterable[bpy.types.Object]) -> None:
    """Have the numbers of rigs name what is needed for those that they hang on now, which may be hidden.

    Variables alone are changed: a driver that is muted has Blender run the animation again, over the solved pose, where
    a handler does it (measured on 4.2, 4.5 and 5.3).
    """
    for obj in rigs:
        curve = _find_driver(obj, NUMBER_PATH) if obj.is_editable else None
        if curve is None:
            continue
        found, needed = [one for one in curve.driver.variables if one.name.startswith(ABOVE)], _needed_above(obj)
        if [(one.targets[0].id, one.targets[0].bone_target) for one in found] != needed:
            for one in found[::-1]:
                curve.driver.variables.remove(one)
            _read_above(curve, needed)


def _read_above(curve: Any, needed: Iterable[tuple[bpy.types.Object, str]]) -> None:
    for count, (target, bone_name) in enumerate(needed):
        _read_place(curve, f"{ABOVE}_{count}", target, bone_name)


def _needed_above(obj: bpy.types.Object) -> list[tuple[bpy.types.Object, str]]:
    """What the chains of the rigs need that a rig hangs on."""
    links = [
        _link(rig, tip, role) for rig in upstream.rigs_above(obj) for tip in tips_of(rig) for role in upstream.LINKS
    ]
    return list(dict.fromkeys((target, bone_name) for target, bone_name in links if target is not None))


def revalidate(obj: bpy.types.Object) -> None:
    """Blender marks drivers of a property that isn't registered as invalid, and leaves it at that."""
    for path in OWN_PATHS:
        curve = _find_driver(obj, path)
        if curve is not None and not curve.driver.is_valid and obj.is_editable:
            curve.driver.is_valid = True


def _drive(obj: bpy.types.Object, path: str, links: list[tuple[str, Any]]) -> Any:
    drivers: Any = (obj.animation_data or obj.animation_data_create()).drivers  # driver_add would name the bone
    curve: Any = drivers.new(path)
    curve.driver.type = 'SUM'
    for number, (role, tip) in enumerate(links):
        target, bone_name = _link(obj, tip, role)
        if target is None or (LINKS[role][0] is None and not bone_name):
            continue
        _read_place(curve, f"{role}_{number}", target, bone_name)
    return curve


def _read_place(curve: Any, name: str, target: bpy.types.Object, bone_name: str) -> None:
    variable = curve.driver.variables.new()
    variable.name = name
    variable.type = 'TRANSFORMS'
    variable.targets[0].id = target
    variable.targets[0].bone_target = bone_name
    variable.targets[0].transform_space = 'WORLD_SPACE'


def _remove_drivers(obj: bpy.types.Object, path: str) -> None:
    """Remove every driver of a path: an armature that another was joined into has two."""
    while (curve := _find_driver(obj, path)) is not None:
        cast(Any, obj.animation_data).drivers.remove(curve)


def _link(obj: bpy.types.Object, tip: Any, role: str) -> tuple[bpy.types.Object | None, str]:
    if role == "tip":
        return obj, tip.name
    object_setting, bone_setting = LINKS[role]
    target = getattr(tip, f"limb_ik_{object_setting}") if object_setting else obj
    return target, getattr(tip, f"limb_ik_{bone_setting}") if bone_setting else ""


def follow_renames(obj: bpy.types.Object) -> list[str]:
    """Write into the settings the names that Blender has followed in the muted driver, and objects that got lost.

    A pointer goes without a callback when a pose is pasted, and stays on the other armature when two are joined.

    Returns the tips of chains that had lost their target or pole.
    """
    curve = _find_driver(obj, NAMES_PATH)
    return [] if curve is None or is_from_library(obj) else _follow(obj, curve)


def _follow(obj: bpy.types.Object, curve: Any) -> list[str]:
    tip: Any = None
    lost: dict[str, None] = {}
    with marks.quiet():
        for variable in curve.driver.variables:
            role, target = variable.name.split("_")[0], variable.targets[0]
            if role == "tip":
                tip = pose_bones(obj).get(target.bone_target) if target.id == obj else None
            elif tip is not None:
                object_setting, bone_setting = (name and f"limb_ik_{name}" for name in LINKS[role])
                if object_setting and target.id is not None and getattr(tip, object_setting) != target.id:
                    setattr(tip, object_setting, target.id)
                    lost[tip.name] = None
                if bone_setting and getattr(tip, bone_setting) != target.bone_target:
                    setattr(tip, bone_setting, target.bone_target)
    return list(lost)


def follow_join(obj: bpy.types.Object) -> None:
    """Take over the chains of an armature that was joined into this one: Blender puts its drivers beside."""
    curves = [] if is_from_library(obj) else _names_curves(obj)
    if len(curves) > 1:
        for curve in curves:
            _follow(obj, curve)
        rebuild(obj)


def is_from_library(obj: bpy.types.Object) -> bool:
    """Whether an object is an override: at reload its drivers are the library's again, whatever was set up here."""
    return obj.override_library is not None


def known_tips(obj: bpy.types.Object) -> set[str]:
    """The tips that were set up, by the names that Blender has followed; empty where the rig has no driver of its own.

    "Link Animation Data" gives it another rig's, which names that one's bones.
    """
    curve = _find_driver(obj, NAMES_PATH)
    if curve is None or is_from_library(obj):
        return set()
    tips = [one.targets[0] for one in curve.driver.variables if one.name.startswith("tip_")]
    return {tip.bone_target for tip in tips if tip.id == obj}


def _names_curves(obj: bpy.types.Object) -> list[Any]:
    """Every driver that names the bones of chains: two after a join."""
    drivers: Any = obj.animation_data.drivers if obj.animation_data else ()
    return [curve for curve in drivers if curve.data_path == NAMES_PATH]


def _find_driver(obj: bpy.types.Object, path: str) -> Any:
    """The driver on a path of an object; None where there is none."""
    return obj.animation_data.drivers.find(path) if obj.animation_data else None
