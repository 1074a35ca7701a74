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
from itertools import zip_longest
from typing import Any, cast

import bpy

from . import marks, migrate, named_links, upstream
from .bone_rows import tips_of as tips_of

NUMBER_PATH = "pose.bones[0].limb_ik.dependency"
NAMES_PATH = "pose.bones[0].limb_ik.names"
OWN_PATHS = frozenset((NUMBER_PATH, NAMES_PATH))
FORM_1_PATHS = ("limb_ik.dependency", "limb_ik.names")
"""Where set-ups of form 1 have them, see ``migrate``; overrides get those of their library at each load."""


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
    for path in FORM_1_PATHS:
        _remove_drivers(obj, path)
    tips = tips_of(obj)
    if not tips:
        for path in OWN_PATHS:
            _remove_drivers(obj, path)
        return
    if is_first:
        migrate.stamp(obj)
    number, names = _emptied(obj, NUMBER_PATH), _emptied(obj, NAMES_PATH)
    if not names.mute:  # Blender would run the animation again, over the solved pose where a handler does it (measured)
        names.mute = True
    named_links.write(tips, number, names)
    named_links.write_above(number, _needed_above(obj))


def _emptied(obj: bpy.types.Object, path: str) -> Any:
    """The one driver of a path, without variables: an armature that another was joined into has two."""
    drivers: Any = (obj.animation_data or obj.animation_data_create()).drivers  # driver_add would name the bone
    found = [curve for curve in drivers if curve.data_path == path]
    for _ in found[1:]:
        drivers.remove(drivers.find(path))
    curve: Any = drivers.find(path) if found else drivers.new(path)
    for variable in [*curve.driver.variables][::-1]:
        curve.driver.variables.remove(variable)
    curve.driver.type = 'SUM'
    return curve


def follow_upstream(rigs: Iterable[bpy.types.Object]) -> None:
    """Have the numbers of rigs name what is needed for those that they hang on now, which may be hidden."""
    for obj in rigs:
        curve = _find_driver(obj, NUMBER_PATH) if obj.is_editable else None
        if curve is not None:
            named_links.write_above(curve, _needed_above(obj))


def _needed_above(obj: bpy.types.Object) -> list[named_links.Place]:
    """What the chains of the rigs need that a rig hangs on."""
    places = [
        named_links.place_of(tip, role)
        for rig in upstream.rigs_above(obj)
        for tip in tips_of(rig)
        for role in named_links.EVALUATED
    ]
    return list(dict.fromkeys(place for place in places if place[0] is not None))


def revalidate(obj: bpy.types.Object) -> None:
    """Blender marks drivers of a property that isn't registered as invalid, and leaves it at that."""
    for path in OWN_PATHS:
        curve = _find_driver(obj, path)
        if curve is not None and not curve.driver.is_valid and obj.is_editable:
            curve.driver.is_valid = True


def _remove_drivers(obj: bpy.types.Object, path: str) -> None:
    """Remove every driver of a path: an armature that another was joined into has two."""
    while (curve := _find_driver(obj, path)) is not None:
        cast(Any, obj.animation_data).drivers.remove(curve)


def follow_renames(obj: bpy.types.Object) -> list[str]:
    """Write into the settings the names that Blender has followed in the muted driver, and objects that got lost.

    A pointer goes without a callback when a pose is pasted, and stays on the other armature when two are joined.

    Returns the tips of chains that had lost their target or pole.
    """
    names = _find_driver(obj, NAMES_PATH)
    if names is None or is_from_library(obj):
        return []
    return _follow(named_links.read(obj, names, _find_driver(obj, NUMBER_PATH)))


def _follow(links: Iterable[named_links.Named]) -> list[str]:
    lost: dict[str, None] = {}
    with marks.quiet():
        for tip, role, target, bone_name in links:
            object_setting, bone_setting = (name and f"limb_ik_{name}" for name in named_links.ROLES[role])
            if object_setting and target is not None and getattr(tip, object_setting) != target:
                setattr(tip, object_setting, target)
                lost[tip.name] = None
            if bone_setting and getattr(tip, bone_setting) != bone_name:
                setattr(tip, bone_setting, bone_name)
    return list(lost)


def follow_join(obj: bpy.types.Object) -> None:
    """Take over the chains of an armature that was joined into this one: Blender puts its drivers beside."""
    every = [] if is_from_library(obj) else _curves(obj, NAMES_PATH)
    if len(every) > 1:
        for names, number in zip_longest(every, _curves(obj, NUMBER_PATH)[: len(every)]):
            _follow(named_links.read(obj, names, number))
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
    return named_links.tips_named(obj, curve)


def _curves(obj: bpy.types.Object, path: str) -> list[Any]:
    """Every driver of a path: two after a join."""
    drivers: Any = obj.animation_data.drivers if obj.animation_data else ()
    return [curve for curve in drivers if curve.data_path == path]


def _find_driver(obj: bpy.types.Object, path: str) -> Any:
    """The driver on a path of an object; None where there is none."""
    return obj.animation_data.drivers.find(path) if obj.animation_data else None
