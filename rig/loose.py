"""Constraints and drivers of bones and objects that a chain hangs on, which Blender works out in between.

They see solved bones as they were before the solve, so what they move can't be right in the same
update. Here is what they look at; ``rig/order`` knows whether that is solved. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy

from . import channels, constrained, dependency, hanging, marks, named_links
from .data_paths import split_bone_path

# Spaces of constraints that see nothing of what is above their owner.
BELOW_PARENT = {'LOCAL', 'LOCAL_WITH_PARENT'}
# Of an object's properties those that say where it is with all that it hangs on.
WORKED_OUT = ("matrix_world", "matrix_local")


@dataclass(frozen=True, slots=True)
class Loose:
    """What is looked at between solves, and the sentence to say where it is solved.

    ``key``, ``bone``: an object's, and the name of its bone that is looked at; empty where it is the object, None for
    any bone of an armature that shapes something.
    ``owner``, ``constraint``: what has the constraint that looks, and its name; empty where it is none.
    ``may_be_carried``: nothing is to be said where the constraint is rigid.
    """

    key: marks.Key
    bone: str | None
    text: str
    owner: marks.Link | None = None
    constraint: str = ""
    may_be_carried: bool = False


def loose_of(tip: Any, chain_bones: list[Any]) -> tuple[Loose, ...]:
    """What the bones above and in a chain, its target, pole and ground and what those hang on look at between solves.

    Args:
        tip: the chain's tip, an original pose bone.
        chain_bones: the chain's pose bones, root first.
    """
    own = [*chain_bones, *chain_bones[0].parent_recursive]
    links = hanging.links_above(tip.id_data)
    for role in named_links.EVALUATED:
        linked, bone_name = named_links.place_of(tip, role)
        links += hanging.links_above(linked, bone_name) if linked is not None else []
    objects = list(dict.fromkeys(obj for obj, _ in links))
    bones = list(dict.fromkeys([*own, *(bone for link in links for bone in _line_of(*link))]))
    found = [loose for bone in bones if len(bone.constraints) for loose in _of_constraints(bone, bone not in own)]
    found += [
        loose for obj in objects for loose in _of_drivers(obj, {bone.name for bone in bones if bone.id_data == obj})
    ]
    found += [loose for obj in objects for loose in _of_shapes(obj)]
    return tuple(dict.fromkeys(found))


def _line_of(obj: bpy.types.Object, bone_name: str) -> list[Any]:
    bone: Any = obj.pose.bones.get(bone_name) if bone_name and obj.pose is not None else None
    return [] if bone is None else [bone, *bone.parent_recursive]


def _of_constraints(bone: Any, may_be_carried: bool) -> Iterator[Loose]:
    owner = marks.key_of(bone.id_data), bone.name
    for constraint in bone.constraints:
        if constrained.acts(constraint) or _may_act(constraint):
            text = _text(f"'{bone.name}'", f"constraint '{constraint.name}'")
            for hold in hanging.holds_by(constraint):
                yield Loose(marks.key_of(hold.obj), hold.bone, text, owner, constraint.name, may_be_carried)
            if getattr(constraint, "owner_space", "WORLD") not in BELOW_PARENT:
                yield Loose(owner[0], _carrier(bone, constraint), text, owner, constraint.name, may_be_carried)


def _carrier(bone: Any, constraint: Any) -> str:
    """The bone on which it hangs what a constraint makes of its owner; empty for the armature as a whole.

    Child Of moves its owner with all that its parent does, and is carried along with it.
    """
    parent = None if constraint.type == 'CHILD_OF' else bone.parent
    return "" if parent is None else str(parent.name)


def _may_act(constraint: Any) -> bool:
    return constrained.is_animated(constraint, [path for path, _ in channels.animated_paths(constraint.id_data)])


def _of_shapes(obj: bpy.types.Object) -> Iterator[Loose]:
    for shape, constraint in hanging.shapes_above(obj):
        owner, text = (marks.key_of(obj), ""), _text(f"'{obj.name}'", f"the shape of '{shape.name}'")
        for armature in hanging.shapers_of(shape):
            yield Loose(marks.key_of(armature), None, text, owner if constraint else None, constraint)


def _of_drivers(obj: Any, bone_names: set[str]) -> Iterator[Loose]:
    for curve in obj.animation_data.drivers if obj.animation_data else ():
        owner = split_bone_path(curve.data_path)[0]
        if curve.mute or curve.data_path in dependency.OWN_PATHS or (owner and owner not in bone_names):
            continue
        for variable in curve.driver.variables:
            for target in variable.targets:
                is_property = variable.type == 'SINGLE_PROP'
                bone = split_bone_path(target.data_path)[0] if is_property else target.bone_target
                is_place = bool(bone) or not is_property or target.data_path.startswith(WORKED_OUT)
                if isinstance(target.id, bpy.types.Object) and is_place:
                    text = _text(f"'{owner or obj.name}'", f"a driver of {curve.data_path.rpartition('.')[2]}")
                    yield Loose(marks.key_of(target.id), bone or "", text)


def _text(who: str, how: str) -> str:
    return f"{who} follows solved bones through {how}, which shows them unsolved"
