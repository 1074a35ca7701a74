"""The objects and bones that set-up makes as targets and poles, and their removal.

Empties are parented to the armature object, so they travel with it; bones have no
parent, don't deform and lie in a bone collection of their own. This module must not set a chain up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import Any, cast

import bpy
from mathutils import Matrix

from .. import dependency, marks
from ..errors import LimbIKError
from ..made import COLLECTION, Control, is_made
from ..session import armature_data, pose_bones
from . import leavings
from .uses import still_used

# Of empties where the viewport's wires have objects' colours; of bones one of Blender's colour sets.
COLOURS = {"target": (0.25, 0.75, 1.0, 1.0), "pole": (0.75, 0.55, 1.0, 1.0)}
BONE_COLOURS = {"target": 'THEME04', "pole": 'THEME06'}
# How a bone's name ends that has a side, as Blender flips it.
SIDE = re.compile(r"[._\- ](?:l|r|L|R|left|right|Left|Right|LEFT|RIGHT)$")


def control_name(bone_name: str, what: str) -> str:
    """What a made target or pole is called: after its bone, the side at the end, where Blender flips it."""
    side = SIDE.search(bone_name)
    stem, ending = (bone_name[: side.start()], side.group()) if side else (bone_name, "")
    return f"{stem}_{what}{ending}"


def make_empty(
    context: bpy.types.Context, armature: bpy.types.Object, name: str, place_arm: Matrix, size: float, shape: str
) -> bpy.types.Object:
    """An empty at a place in armature space, a child of the armature object.

    Args:
        place_arm: location and rotation, armature space.
        size: display size in armature units.
        shape: Blender's empty display type.
    """
    empty: Any = bpy.data.objects.new(name, None)
    empty.empty_display_type = shape
    empty.empty_display_size = size
    empty.show_in_front = True
    empty.parent = armature
    empty.matrix_basis = place_arm
    empty.limb_ik.is_control = True
    _collection(cast(bpy.types.Scene, context.scene)).objects.link(empty)
    return cast(bpy.types.Object, empty)


def _collection(scene: bpy.types.Scene) -> bpy.types.Collection:
    """The collection of made controls in a scene; made where there is none."""
    for collection in scene.collection.children:
        if _is_ours(collection):
            return collection
    collection = bpy.data.collections.new(COLLECTION)
    scene.collection.children.link(collection)
    return collection


def _remove_unused_shapes() -> None:
    for name in SHAPE_NAMES.values():
        found = bpy.data.objects.get((name, None))
        if found is not None and not found.users:
            mesh = cast(bpy.types.Mesh, found.data)
            bpy.data.objects.remove(found)
            if not mesh.users:
                bpy.data.meshes.remove(mesh)


def _is_ours(collection: bpy.types.Collection) -> bool:
    return collection.name.startswith(COLLECTION) and collection.library is None


def make_bone(context: bpy.types.Context, armature: bpy.types.Object, name: str, place_arm: Matrix, size: float) -> str:
    """A bone without parent at a place in armature space; returns its name.

    Raises:
        LimbIKError: the armature's bones can't be edited (linked or overridden).
    """
    data = armature_data(armature)
    if not data.is_editable or armature.override_library is not None:
        raise LimbIKError(f"bones can't be added to '{armature.name}': its data is linked; use empties as targets")
    with edit_mode(context, armature):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, size, 0.0)
        bone.matrix = place_arm
        bone.length = size
        bone.use_deform = False
        made = bone.name
    _bone_collection(data).assign(data.bones[made])
    return str(made)


def shape(obj: bpy.types.Object, bone_name: str, role: str) -> None:
    """Give a control bone the outline of its role, as large as the bone: a box for a target, rings for a pole."""
    bone = pose_bones(obj)[bone_name]
    name = SHAPE_NAMES[role]
    found = bpy.data.objects.get((name, None))
    if found is None:
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(*OUTLINES[role](), [])
        found = bpy.data.objects.new(name, mesh)  # in no scene: bones alone show it
    bone.custom_shape = found
    bone.custom_shape_scale_xyz = (0.5, 0.5, 0.5)


def _box() -> tuple[list[tuple[float, float, float]], list[tuple[int, int]]]:
    corners = [(float(x), float(y), float(z)) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    pairs = combinations(range(8), 2)
    return corners, [(a, b) for a, b in pairs if sum(x != y for x, y in zip(corners[a], corners[b], strict=True)) == 1]


def _rings() -> tuple[list[tuple[float, float, float]], list[tuple[int, int]]]:
    """Three circles about the axes."""
    points: list[tuple[float, float, float]] = []
    edges: list[tuple[int, int]] = []
    for axis in range(3):
        start = len(points)
        for number in range(RING_POINTS):
            angle = math.tau * number / RING_POINTS
            flat = [math.cos(angle), math.sin(angle)]
            flat.insert(axis, 0.0)
            points.append((flat[0], flat[1], flat[2]))
            edges.append((start + number, start + (number + 1) % RING_POINTS))
    return points, edges


SHAPE_NAMES = {"target": "Limb IK Target", "pole": "Limb IK Pole"}
OUTLINES = {"target": _box, "pole": _rings}
RING_POINTS = 24


def _bone_collection(data: bpy.types.Armature) -> bpy.types.BoneCollection:
    return data.collections_all.get(COLLECTION) or data.collections.new(COLLECTION)


@contextmanager
def edit_mode(context: bpy.types.Context, armature: bpy.types.Object) -> Iterator[None]:
    """Edit mode on one armature, hidden ones, too; mode, active object and selection as before afterwards."""
    layer = cast(bpy.types.ViewLayer, context.view_layer)
    active, selected = layer.objects.active, [obj for obj in layer.objects if obj.select_get()]
    mode = active.mode if active else 'OBJECT'
    if mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    try:
        with _shown(cast(bpy.types.Scene, context.scene), layer, armature):
            layer.objects.active = armature
            try:
                bpy.ops.object.mode_set(mode='EDIT')
                yield
            finally:
                bpy.ops.object.mode_set(mode='OBJECT')
    finally:
        layer.objects.active = active
        for obj in layer.objects:
            obj.select_set(obj in selected)
        if mode != 'OBJECT' and active is not None:
            bpy.ops.object.mode_set(mode=mode)


@contextmanager
def _shown(scene: bpy.types.Scene, layer: bpy.types.ViewLayer, obj: bpy.types.Object) -> Iterator[None]:
    """Blender edits no object that is hidden, or whose collections are hidden or excluded: shown meanwhile."""
    was_hidden, was_off = obj.hide_get(view_layer=layer), obj.hide_viewport
    obj.hide_viewport = False
    is_added = not obj.visible_get(view_layer=layer) and obj not in scene.collection.objects[:]
    if is_added:
        scene.collection.objects.link(obj)
    obj.hide_set(False, view_layer=layer)
    try:
        yield
    finally:
        obj.hide_set(was_hidden, view_layer=layer)
        if is_added:
            scene.collection.objects.unlink(obj)
        obj.hide_viewport = was_off


def colour(obj: bpy.types.Object, bone_name: str, role: str) -> None:
    """Give a control the colour of its role: target or pole."""
    if not bone_name:
        obj.color = COLOURS[role]
        return
    data: Any = obj.data
    data.bones[bone_name].color.palette = BONE_COLOURS[role]


def remove(
    context: bpy.types.Context, armature: bpy.types.Object, owned: Sequence[Control], *, keeps_keys: bool = False
) -> list[str]:
    """Delete controls that set-up made, empties or bones of the armature itself; their collections, too, if empty.

    What isn't such a control any more stays, and what something else uses.

    Args:
        context: gives scene, view layer and mode.
        armature: the armature object whose chains they were made for.
        owned: what chains remember as made for them.
        keeps_keys: curves and drivers of bones stay.

    Returns:
        What stays because something uses it, in words.
    """
    dependency.follow_upstream(marks.rigs())  # rigs that hang on this one name what its chains needed
    found = [control for control in dict.fromkeys(owned) if is_made(armature, control)]
    used = still_used(found)
    free = [control for control in found if control not in used]
    for obj, bone_name in free:
        if not bone_name:
            _remove_empty(obj)
    _remove_bones(context, armature, [bone_name for _, bone_name in free if bone_name], keeps_keys)
    return [f"'{one[1] or one[0].name}' stays, {used[one]} uses it" for one in found if one in used]


def _remove_empty(empty: bpy.types.Object) -> None:
    collections = [one for one in empty.users_collection if _is_ours(one)]
    bpy.data.objects.remove(empty)
    for own in collections:
        if not len(own.objects) and not len(own.children):
            bpy.data.collections.remove(own)


def _remove_bones(
    context: bpy.types.Context, armature: bpy.types.Object, names: Sequence[str], keeps_keys: bool
) -> None:
    if not names:
        return
    with edit_mode(context, armature):
        bones = armature_data(armature).edit_bones
        for name in names:
            bones.remove(bones[name])
    for name in () if keeps_keys else names:
        leavings.forget_bone(armature, name)
    _remove_unused_shapes()
    data = armature_data(armature)
    collection: Any = data.collections_all.get(COLLECTION)
    if collection is not None and not len(collection.bones) and not len(collection.children):
        data.collections.remove(collection)
