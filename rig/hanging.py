"""What an object hangs on: parents, and constraints that hold it like a parent.

A target that hangs rigidly on a solved bone is carried along exactly. What Blender works out
in between through other constraints or drivers can't be carried; it is named, so that a
person knows. This module must not solve.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy

CHILD_OF_SWITCHES = tuple(
    f"use_{channel}_{axis}" for channel in ("location", "rotation", "scale") for axis in ("x", "y", "z")
)


@dataclass(frozen=True, slots=True)
class Hold:
    """An object, and the bone of it where it is an armature, on which something hangs.

    ``is_rigid``: what hangs follows like a child. ``is_place_only``: only its place follows, and nothing else moves
    that. ``is_whole``: nothing else moves it, its parent neither.
    ``name``: of the constraint.
    """

    obj: bpy.types.Object
    bone: str = ""
    is_rigid: bool = True
    is_place_only: bool = False
    is_whole: bool = False
    name: str = ""


def holds_of(owner: Any) -> Iterator[Hold]:
    """Everything that an object or a pose bone hangs on directly through constraints."""
    for constraint in owner.constraints:
        if constraint.mute or constraint.influence == 0.0:
            continue
        for target, bone in _targets(constraint):
            kind = constraint.type
            is_place_only, is_whole = kind == 'COPY_LOCATION', kind == 'COPY_TRANSFORMS'
            yield Hold(target, bone, _is_rigid(constraint), is_place_only, is_whole, constraint.name)


def _targets(constraint: Any) -> Iterator[tuple[bpy.types.Object, str]]:
    if constraint.type == 'ARMATURE':
        for target in constraint.targets:
            if target.target is not None:
                yield target.target, target.subtarget
    elif getattr(constraint, "target", None) is not None:
        yield constraint.target, getattr(constraint, "subtarget", "")


def _is_rigid(constraint: Any) -> bool:
    """Whether the constraint holds its owner as a parent would, or its place exactly."""
    if constraint.influence < 1.0:
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


def constraint_hold(obj: bpy.types.Object) -> Hold | None:
    """The one rigid constraint that holds an object; None where there is none, or others act beside it."""
    holds = list(holds_of(obj))
    return holds[0] if len(holds) == 1 and holds[0].is_rigid else None


def holds_above(obj: bpy.types.Object) -> Iterator[Hold]:
    """Parent and constraint targets of an object."""
    if obj.parent is not None:
        yield Hold(obj.parent, obj.parent_bone if obj.parent_type == 'BONE' else "")
    if len(obj.constraints):
        yield from holds_of(obj)


def all_above(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """An object and everything it hangs on, at any depth; by constraints without influence, too, which may get some."""
    found = [obj]
    for one in found:
        found += [above for above in _linked(one) if above not in found]
    return found


def _linked(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    if obj.parent is not None:
        yield obj.parent
    for constraint in obj.constraints if len(obj.constraints) else ():
        yield from (target for target, _ in _targets(constraint))


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
