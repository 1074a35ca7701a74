"""What an object hangs on: parents, and constraints that hold it like a parent.

A target that hangs rigidly on a solved bone is carried along exactly. What Blender works out
in between through other constraints, shapes or drivers can't be carried; it is named, so that a
person knows. Whether a constraint acts is read from the owner that is given: an evaluated one knows
it for the moment of its evaluation. This module must not solve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import bpy
from mathutils import Matrix

from . import constrained

CHILD_OF_SWITCHES = tuple(
    f"use_{channel}_{axis}" for channel in ("location", "rotation", "scale") for axis in ("x", "y", "z")
)
TURNING_ONLY = frozenset((
    'COPY_ROTATION', 'LIMIT_ROTATION', 'COPY_SCALE', 'LIMIT_SCALE', 'MAINTAIN_VOLUME', 'TRACK_TO', 'DAMPED_TRACK',
    'LOCKED_TRACK',
))  # fmt: skip
"""Constraints that leave an object where it is."""
# Constraints that put their owner onto the shape of their target.
ONTO_SHAPES = {'SHRINKWRAP', 'FOLLOW_PATH'}
# Objects of which a constraint's subtarget is a vertex group.
WITH_VERTEX_GROUPS = {'MESH', 'LATTICE'}


@dataclass(frozen=True, slots=True)
class Hold:
    """An original object, and the bone of it where it is an armature, on which something hangs.

    ``name``: of the constraint; empty where it is the parent.
    """

    obj: bpy.types.Object
    bone: str = ""
    name: str = ""


def acting(owner: Any) -> list[Any]:
    """The constraints of an object or a pose bone that act, in their order."""
    return [one for one in owner.constraints if constrained.acts(one)] if len(owner.constraints) else []


def holds_of(owner: Any) -> Iterator[Hold]:
    """Everything that an object or a pose bone hangs on directly through constraints that act."""
    for constraint in acting(owner):
        yield from holds_by(constraint)


def holds_by(constraint: Any) -> Iterator[Hold]:
    """What the owner of a constraint hangs on by it, whether it acts or not."""
    for target, bone in _targets(constraint):
        yield Hold(target.original, bone, constraint.name)


def _targets(constraint: Any) -> Iterator[tuple[Any, str]]:
    if constraint.type == 'ARMATURE':
        for target in constraint.targets:
            if target.target is not None:
                yield target.target, target.subtarget
    elif getattr(constraint, "target", None) is not None:
        yield constraint.target, getattr(constraint, "subtarget", "")


def carrying(owner: Any) -> Any:
    """The one constraint that holds an object, rigidly; None where there is none, or others act beside it."""
    found = acting(owner)
    return found[0] if len(found) == 1 and _is_rigid(found[0]) else None


def _is_rigid(constraint: Any) -> bool:
    """Whether the constraint holds its owner as a parent would, or its place exactly."""
    if constraint.influence < 1.0 or _is_on_shape(constraint):
        return False
    if constraint.type == 'CHILD_OF':
        return all(getattr(constraint, name) for name in CHILD_OF_SWITCHES)
    if constraint.type in {'COPY_TRANSFORMS', 'COPY_LOCATION'}:
        is_world = constraint.owner_space == constraint.target_space == 'WORLD'
        return bool(is_world and _is_whole_copy(constraint))
    if constraint.type == 'ARMATURE':
        return len(constraint.targets) == 1
    return False


def _is_whole_copy(constraint: Any) -> bool:
    if constraint.type == 'COPY_TRANSFORMS':
        return bool(constraint.mix_mode == 'REPLACE')
    axes = constraint.use_x and constraint.use_y and constraint.use_z
    return bool(
        axes and not (constraint.use_offset or constraint.invert_x or constraint.invert_y or constraint.invert_z)
    )


def _is_on_shape(constraint: Any) -> bool:
    if constraint.type in ONTO_SHAPES:
        return True
    return any(bone and target.type in WITH_VERTEX_GROUPS for target, bone in _targets(constraint))


def frame_of(constraint: Any, target_world: Matrix, rest_arm: Matrix | None, armature_world: Matrix) -> Matrix | None:
    """By what a constraint multiplies the matrix that its owner has without it; None where it sets the whole of it.

    Args:
        constraint: rigid, see ``carrying``.
        target_world: world matrix of its target.
        rest_arm: of a target bone at rest, armature space; None where the target is an object.
        armature_world: world matrix of the target object.
    """
    if constraint.type == 'CHILD_OF':
        return target_world @ cast(Matrix, constraint.inverse_matrix)
    if constraint.type == 'ARMATURE' and rest_arm is not None:
        return target_world @ rest_arm.inverted_safe() @ armature_world.inverted_safe()
    return None


def holds_above(obj: Any) -> Iterator[Hold]:
    """Parent of an object, and the targets of its constraints that act."""
    if obj.parent is not None:
        yield Hold(obj.parent.original, obj.parent_bone if obj.parent_type == 'BONE' else "")
    yield from holds_of(obj)


def links_above(obj: bpy.types.Object, bone_name: str = "") -> list[tuple[bpy.types.Object, str]]:
    """An object or a bone and everything it hangs on, at any depth; by constraints without influence, too.

    Those may get some. Bones of an armature are named where something hangs on them.
    """
    found = [(obj, bone_name)]
    for one, name in found:
        found += [link for link in _linked(one, name) if link not in found]
    return found


def all_above(obj: bpy.types.Object, bone_name: str = "") -> list[bpy.types.Object]:
    """The objects of ``links_above``."""
    return list(dict.fromkeys(one for one, _ in links_above(obj, bone_name)))


def _linked(obj: bpy.types.Object, bone_name: str) -> Iterator[tuple[bpy.types.Object, str]]:
    if obj.parent is not None:
        yield obj.parent, obj.parent_bone if obj.parent_type == 'BONE' else ""
    bone = obj.pose.bones.get(bone_name) if bone_name and obj.pose is not None else None
    for owner in (obj, *([bone, *bone.parent_recursive] if bone is not None else ())):
        for constraint in owner.constraints if len(owner.constraints) else ():
            yield from _targets(constraint)


def shapes_above(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, str]]:
    """The objects on whose shape an object hangs directly, each with the name of the constraint, empty for a parent."""
    parent = obj.parent
    if parent is not None and (obj.parent_type in {'VERTEX', 'VERTEX_3'} or parent.type == 'CURVE'):
        yield parent, ""
    for constraint in obj.constraints if len(obj.constraints) else ():
        if _is_on_shape(constraint):
            yield from ((target, constraint.name) for target, _ in _targets(constraint))


def shapers_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The armature objects that give an object its shape, through others, too."""
    found = [obj]
    for one in found:
        above: list[Any] = [one.parent] if one.parent is not None and one.parent_type == 'ARMATURE' else []
        for modifier in one.modifiers if len(one.modifiers) else ():
            above += [getattr(modifier, name, None) for name in ("object", "target")]
        found += [shaper for shaper in above if isinstance(shaper, bpy.types.Object) and shaper not in found]
    return [one for one in found if one.type == 'ARMATURE']


class Unmoved:
    """Which objects solving can't move, whatever it turns; each parent is looked at once while nothing changes."""

    def __init__(self) -> None:
        self._known: dict[Any, bool] = {}

    def is_free(self, obj: Any) -> bool:
        """Whether an object hangs on no bone and by no constraint, at any depth."""
        if len(obj.constraints):
            return False
        parent = obj.parent
        if parent is None:
            return True
        if obj.parent_type == 'BONE':
            return False
        free = self._known.get(parent)
        if free is None:
            free = self._known[parent] = self.is_free(parent)
        return free
