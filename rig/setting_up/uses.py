"""What else uses the controls that set-up made: children, constraints, drivers, chains of any rig.

Asked of Blender's own table of users, so that nothing that may point to an object is
forgotten; of bones, by everything that names them. This module must not change anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any, cast

import bpy

from .. import dependency
from ..data_paths import split_bone_path
from ..made import ROLES, Control
from ..session import armature_data, pose_bones

# An object lies in these and is shown by them, which is no use of it.
PLACES = (bpy.types.Collection, bpy.types.Screen, bpy.types.WindowManager, bpy.types.WorkSpace)
# Settings of constraints and modifiers: an object, and a bone of it.
NAMED_BONES = (
    ("target", "subtarget"),
    ("pole_target", "pole_subtarget"),
    ("object", "subtarget"),
    ("object_from", "bone_from"),
    ("object_to", "bone_to"),
)
OWN_PATHS = dependency.OWN_PATHS | set(dependency.FORM_1_PATHS)

Use = tuple[Control, Control | None, str]
"""What is used; the user as an object or a bone, where it is one; its name, in words."""


def still_used(controls: Collection[Control], *, by_chains: bool = True) -> dict[Control, str]:
    """Those of some controls that something else uses, and what does; that one uses another is no reason alone.

    ``by_chains`` false: whatever chains reach for.
    """
    uses = [*_uses_of_objects({obj for obj, bone_name in controls if not bone_name}, by_chains)]
    bones = sorted((one for one in controls if one[1]), key=lambda one: one[0].name)
    for obj, found in groupby(bones, key=lambda one: one[0]):
        uses += _uses_of_bones(obj, {bone_name for _, bone_name in found}, by_chains)
    free, used = set(controls), dict[Control, str]()
    while kept := {control: name for control, user, name in uses if control in free and user not in free}:
        free -= kept.keys()
        used.update(kept)
    return used


def _uses_of_objects(objects: set[bpy.types.Object], by_chains: bool) -> Iterator[Use]:
    users = bpy.data.user_map(subset=cast(Any, objects)) if objects else {}
    for obj in objects:
        for user in sorted(users[obj], key=lambda one: one.name):
            if isinstance(user, bpy.types.Scene):
                if obj in (user.camera, *(marker.camera for marker in user.timeline_markers)):
                    yield (obj, ""), None, f"'{user.name}'"
            elif not isinstance(user, PLACES) and (by_chains or _is_more_than_reached(obj, user)):
                yield (obj, ""), _as_control(user), f"'{user.name}'"


def _is_more_than_reached(obj: bpy.types.Object, user: bpy.types.ID) -> bool:
    """Whether an object is used by more than a rig's chains: what hangs on it, constraints, drivers."""
    if not isinstance(user, bpy.types.Object) or user.type != 'ARMATURE':
        return True
    parts = [*user.constraints, *user.modifiers, *(one for bone in pose_bones(user) for one in bone.constraints)]
    hung = {getattr(one, name, None) for part in parts for one in _with_targets(part) for name, _ in NAMED_BONES}
    read = {owner for owner, _ in _read_by_drivers({obj})}
    return obj in hung or obj == user.parent or user in read


def _with_targets(part: Any) -> tuple[Any, ...]:
    """A constraint or modifier, and the several targets that some have."""
    return (part, *getattr(part, "targets", ()))


def _as_control(user: bpy.types.ID) -> Control | None:
    return (user, "") if isinstance(user, bpy.types.Object) else None


def _uses_of_bones(armature: bpy.types.Object, names: set[str], by_chains: bool) -> Iterator[Use]:
    """Bones are the armature's data, which several objects may share."""
    data = armature_data(armature)
    owners = {obj for obj in bpy.data.objects if obj.data == data}
    for bone in data.bones:
        for other in (bone.parent, bone.bbone_custom_handle_start, bone.bbone_custom_handle_end):
            if other is not None and other.name in names:
                yield (armature, other.name), (armature, bone.name), f"'{bone.name}'"
    for obj in bpy.data.objects:
        for name in _named_by(obj, owners) & names:
            yield (armature, name), (obj, ""), f"'{obj.name}'"
        for posed in pose_bones(obj) if obj.type == 'ARMATURE' and obj.pose is not None else ():
            for name in _named_by_bone(posed, owners, by_chains) & names:
                user = armature if obj in owners else obj
                yield (armature, name), (user, posed.name), f"'{posed.name}' of '{obj.name}'"
    for reader, name in _read_by_drivers(owners):
        if name in names:
            yield (armature, name), _as_control(reader), f"'{reader.name}'"


def _named_by(obj: bpy.types.Object, owners: set[bpy.types.Object]) -> set[str]:
    """The bones that an object hangs on, or that its modifiers use."""
    own = {obj.parent_bone} if obj.parent in owners and obj.parent_type == 'BONE' else set[str]()
    return own | _named_in((*obj.constraints, *obj.modifiers), owners)


def _named_by_bone(posed: Any, owners: set[bpy.types.Object], by_chains: bool) -> set[str]:
    """The bones that a bone's constraints name, that a chain reaches for (one that is switched off, too)."""
    found = _named_in(posed.constraints, owners)
    for role in ROLES if by_chains else ():
        if getattr(posed, f"limb_ik_{role}") in owners:
            found.add(getattr(posed, f"limb_ik_{role}_bone"))
    if posed.custom_shape_transform is not None and posed.id_data in owners:
        found.add(posed.custom_shape_transform.name)
    return found


def _named_in(parts: Sequence[Any], owners: set[bpy.types.Object]) -> set[str]:
    every = [one for part in parts for one in _with_targets(part)]
    return {
        getattr(one, bone)
        for one in every
        for obj, bone in NAMED_BONES
        if hasattr(one, bone) and getattr(one, obj, None) in owners
    }


def _read_by_drivers(owners: set[bpy.types.Object]) -> Iterator[tuple[bpy.types.ID, str]]:
    """Data-blocks with drivers, and the bones that these read; the numbers of ours repeat what chains say."""
    users = bpy.data.user_map(subset=cast(Any, owners))
    for user in {one for found in users.values() for one in found} | owners:
        for block in (user, getattr(user, "node_tree", None)):
            animation = getattr(block, "animation_data", None)
            for curve in animation.drivers if animation is not None else ():
                if curve.data_path not in OWN_PATHS:
                    yield from ((user, name) for name in _read_by(curve.driver, owners))


def _read_by(driver: bpy.types.Driver, owners: set[bpy.types.Object]) -> set[str]:
    """The bones that a driver reads; an empty name stands for the object itself."""
    targets = [target for variable in driver.variables for target in variable.targets if target.id in owners]
    return {one.bone_target or split_bone_path(one.data_path)[0] for one in targets}
