"""Scenes that are measured: characters of 33 bones, keyed FK, moving targets; native IK or Limb IK on four limbs.

    PYTHONPATH=.typecheck python bench/table.py

Builds data only; nothing here measures. Space: world, unless a name says otherwise.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import limb_ik
from mathutils import Matrix, Quaternion, Vector

Row = tuple[str, tuple[float, float, float], tuple[float, float, float], str]

CENTRE: tuple[Row, ...] = (
    ("root", (0, 0, 0), (0, 0.2, 0), ""),
    ("hips", (0, 0, 1.0), (0, 0, 1.1), "root"),
    ("spine", (0, 0, 1.1), (0, 0, 1.2), "hips"),
    ("chest", (0, 0, 1.2), (0, 0, 1.35), "spine"),
    ("upper_chest", (0, 0, 1.35), (0, 0, 1.5), "chest"),
    ("neck", (0, 0, 1.5), (0, 0, 1.6), "upper_chest"),
    ("head", (0, 0, 1.6), (0, 0, 1.8), "neck"),
)
SIDE: tuple[Row, ...] = (
    ("clavicle", (0.02, 0, 1.45), (0.15, 0, 1.45), "upper_chest"),
    ("upper_arm", (0.15, 0, 1.45), (0.43, 0.03, 1.45), "clavicle"),
    ("forearm", (0.43, 0.03, 1.45), (0.68, 0, 1.45), "upper_arm"),
    ("hand", (0.68, 0, 1.45), (0.78, 0, 1.45), "forearm"),
    *((f"finger_{i}", (0.78, 0.02 * i - 0.04, 1.45), (0.86, 0.02 * i - 0.04, 1.45), "hand") for i in range(5)),
    ("thigh", (0.1, 0, 0.95), (0.1, -0.03, 0.52), "hips"),
    ("shin", (0.1, -0.03, 0.52), (0.1, 0, 0.1), "thigh"),
    ("foot", (0.1, 0, 0.1), (0.1, -0.12, 0.02), "shin"),
    ("toe", (0.1, -0.12, 0.02), (0.1, -0.2, 0.02), "foot"),
)
LIMBS = (("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot"))
SIDES = (("L", 1.0), ("R", -1.0))
NATIVE_ITERATIONS = 500  # Blender's default


def bone_rows() -> list[Row]:
    """The 33 bones: name, head, tail, parent. Space: armature."""
    rows = list(CENTRE)
    centre = {row[0] for row in CENTRE}
    for letter, sign in SIDES:
        for name, head, tail, parent in SIDE:
            above = parent if parent in centre else f"{parent}.{letter}"
            mirrored = [(sign * x, y, z) for x, y, z in (head, tail)]
            rows.append((f"{name}.{letter}", mirrored[0], mirrored[1], above))
    return rows


def limb_names() -> list[tuple[str, str, str]]:
    """Upper, lower and end bone of the four limbs."""
    return [tuple(f"{name}.{letter}" for name in limb) for letter, _ in SIDES for limb in LIMBS]  # type: ignore[misc]


def reset() -> None:
    """An empty factory file."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


@contextmanager
def registered() -> Iterator[None]:
    """The extension, registered meanwhile: a handler left at exit crashes Blender 4.2."""
    limb_ik.register()
    try:
        yield
    finally:
        limb_ik.unregister()


def armature(name: str, rows: Sequence[Row]) -> bpy.types.Object:
    """An armature object in the scene, made in edit mode once."""
    obj = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode='EDIT')
    for bone_name, head, tail, parent in rows:
        bone = obj.data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        if parent:
            bone.parent = obj.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode='OBJECT')
    return obj


@dataclass
class Character:
    """An armature with one empty as target and one as pole for each limb."""

    obj: bpy.types.Object
    targets: list[bpy.types.Object]
    poles: list[bpy.types.Object]


def characters(count: int, frames: int = 250, *, keyed: str = 'ALL', is_parented: bool = True) -> list[Character]:
    """Characters with keyed targets, each with actions of its own, and no IK yet.

    ``keyed``: FK of ``ALL`` bones (of the hips their location, too), that of the ``LIMBS``, or ``NONE``.

    ``is_parented``: targets and poles are children of the armature object, as set-up makes them.
    """
    source = random.Random(1)
    first = armature("Character", bone_rows())
    rigs = [first]
    for _ in range(count - 1):
        copy = first.copy()
        bpy.context.scene.collection.objects.link(copy)
        rigs.append(copy)
    made = []
    for number, obj in enumerate(rigs):
        obj.location = (2.0 * (number % 10), 2.0 * (number // 10), 0.0)
        _key_pose(obj, frames, source, keyed)
        made.append(_with_targets(obj, frames, source, is_parented))
    bpy.context.view_layer.update()
    return made


def _key_pose(obj: bpy.types.Object, frames: int, source: random.Random, keyed: str) -> None:
    limb_bones = {name for limb in limb_names() for name in limb[:2]}
    for bone in obj.pose.bones:
        bone.rotation_mode = 'QUATERNION'
        if keyed == 'NONE' or (keyed == 'LIMBS' and bone.name not in limb_bones):
            continue
        for frame in (1, frames // 2, frames):
            axis = Vector((source.gauss(0, 1), source.gauss(0, 1), source.gauss(0, 1))).normalized()
            bone.rotation_quaternion = Quaternion(axis, source.uniform(0.0, 0.5))
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    if keyed == 'ALL':
        for frame in (1, frames):
            bone = obj.pose.bones["hips"]
            bone.location = (0.0, 0.002 * frame, 0.0)
            bone.keyframe_insert("location", frame=frame)


def _with_targets(obj: bpy.types.Object, frames: int, source: random.Random, is_parented: bool) -> Character:
    """Targets within reach, moving; poles in front of knees and behind elbows, still."""
    targets, poles = [], []
    parent, away = (obj, Vector()) if is_parented else (None, obj.location.copy())
    for upper, lower, end in limb_names():
        goal = obj.data.bones[end].head_local + away
        target = _empty(parent, f"{end} target", goal)
        for frame in (1, frames // 2, frames):
            target.location = goal + 0.15 * Vector((source.uniform(-1, 1), source.uniform(-1, 1), source.random()))
            target.keyframe_insert("location", frame=frame)
        side = -1.0 if upper.startswith("thigh") else 1.0
        poles.append(_empty(parent, f"{end} pole", obj.data.bones[lower].head_local + away + Vector((0.0, side, 0.0))))
        targets.append(target)
    return Character(obj, targets, poles)


def _empty(parent: bpy.types.Object | None, name: str, location: Vector) -> bpy.types.Object:
    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    empty.parent, empty.location = parent, location
    return empty


def add_native(made: Sequence[Character]) -> None:
    """Blender's IK constraint on every limb, as it comes."""
    for one in made:
        for (_, lower, _), target, pole in zip(limb_names(), one.targets, one.poles, strict=True):
            constraint = one.obj.pose.bones[lower].constraints.new('IK')
            constraint.target, constraint.pole_target = target, pole
            constraint.chain_count, constraint.iterations = 2, NATIVE_ITERATIONS
    bpy.context.view_layer.update()


def add_limb_ik(made: Sequence[Character], **settings: Any) -> None:
    """A chain of Limb IK on every limb, by properties."""
    for one in made:
        for (_, lower, end), target, pole in zip(limb_names(), one.targets, one.poles, strict=True):
            bone: Any = one.obj.pose.bones[lower]
            bone.limb_ik_end_bone, bone.limb_ik_target, bone.limb_ik_pole = end, target, pole
            for name, value in settings.items():
                setattr(bone, f"limb_ik_{name}", value)
            bone.limb_ik_solver = 'TWO_BONE'
    bpy.context.view_layer.update()


def evaluated(obj: bpy.types.Object) -> bpy.types.Object:
    """The object as last evaluated."""
    return obj.evaluated_get(bpy.context.evaluated_depsgraph_get())


def world_heads(obj: bpy.types.Object) -> dict[str, Vector]:
    """Heads of all bones in the evaluated pose, in the world."""
    seen = evaluated(obj)
    return {bone.name: seen.matrix_world @ bone.head for bone in seen.pose.bones}


def random_matrix(source: random.Random, scale: float = 1.0, away: float = 1.0) -> Matrix:
    """A random place, turn and uniform scale."""
    location = Vector((source.uniform(-away, away), source.uniform(-away, away), source.uniform(-away, away)))
    axis = Vector((source.gauss(0, 1), source.gauss(0, 1), source.gauss(0, 1))).normalized()
    return Matrix.LocRotScale(location, Quaternion(axis, source.uniform(0, math.pi)), Vector((scale,) * 3))
