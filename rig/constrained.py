"""Constraints that move the bones of a rig: which may act, and which one does at a moment.

A constraint without animation acts or doesn't; one whose influence or muting is keyed or
driven is asked at every evaluation. Names and numbers only are kept. This module must
not change a constraint or a pose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from . import channels
from .bone_rows import row_up

CHAINED_CONSTRAINTS = {'IK', 'SPLINE_IK'}
# These have a target that may be left empty.
WITHOUT_TARGET = {'PIVOT'}


@dataclass(frozen=True, slots=True)
class BoneConstraint:
    """A constraint that may move a bone: the number of the bone that has it, and its name.

    ``is_animated``: whether it acts changes with time.
    """

    owner: int
    name: str
    is_animated: bool


ConstraintsOn = Mapping[int, tuple[BoneConstraint, ...]]


def constraints_on(obj: bpy.types.Object, bones: Any, index: Mapping[str, int]) -> ConstraintsOn:
    """By bone number, the constraints that may move it: its own, and native IK from below that reaches up to it.

    Args:
        obj: the armature object.
        bones: its original pose bones.
        index: number of each bone name.
    """
    owners = [bone for bone in bones if len(bone.constraints)]
    paths = [path for path, _ in channels.animated_paths(obj)] if owners else []
    found: dict[int, tuple[BoneConstraint, ...]] = {}
    for bone in owners:
        for constraint in bone.constraints:
            changes = is_animated(constraint, paths)
            if changes or acts(constraint):
                one = BoneConstraint(index[bone.name], constraint.name, changes)
                for number in _reached(bone, constraint, index):
                    found[number] = (*found.get(number, ()), one)
    return found


def acts(constraint: Any) -> bool:
    """Whether a constraint, original or evaluated, acts as it is set now.

    One whose target's bone is missing does: from the target object's own place (measured). One whose target was
    deleted doesn't, but Blender still calls it valid (measured).
    """
    return not constraint.mute and constraint.influence > 0.0 and constraint.is_valid and _has_target(constraint)


def _has_target(constraint: Any) -> bool:
    if constraint.type == 'ARMATURE':
        return any(one.target is not None for one in constraint.targets)
    return constraint.type in WITHOUT_TARGET or getattr(constraint, "target", constraint) is not None


def always_acting(constraints: Sequence[BoneConstraint], bones: Any) -> str:
    """What to say of the first constraint that acts at any time; empty where there is none."""
    return next((_words(one, bones) for one in constraints if not one.is_animated), "")


def acting_now(constraints: Sequence[BoneConstraint], bones: Any) -> str:
    """What to say of the first constraint that acts on these evaluated pose bones; empty where none does."""
    for one in constraints:
        constraint = bones[one.owner].constraints.get(one.name)
        if constraint is not None and acts(constraint):
            return _words(one, bones)
    return ""


def _words(one: BoneConstraint, bones: Any) -> str:
    return f"constraint '{one.name}' on '{bones[one.owner].name}' is active"


def is_animated(constraint: Any, paths: Sequence[str]) -> bool:
    """Whether one of these animated paths gives a constraint its influence, or mutes it."""
    own = constraint.path_from_id() if paths else ""
    return any(path in (f"{own}.influence", f"{own}.mute", f"{own}.enabled") for path in paths)


def _reached(bone: Any, constraint: Any, index: Mapping[str, int]) -> list[int]:
    if constraint.type not in CHAINED_CONSTRAINTS:
        return [index[bone.name]]
    return [index[one.name] for one in row_up(bone, constraint.chain_count)]
