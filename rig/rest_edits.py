"""Set-ups that follow edits of the rest pose: bones rolled, transforms applied, the origin moved.

The hinge and the end's offset are kept in the space of bones, the places of offsets on FK in
the armature's. Where an edit turns those spaces and leaves the joints where they are, the
character has not changed, so what is set up has to turn back. Rest poses are remembered
in memory from one reading of the set-up to the next. This module must not evaluate a pose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import bpy
from mathutils import Matrix, Quaternion, Vector

from . import marks
from .bone_rows import row_of
from .chain_setup import matrix_from, matrix_values

# Of a bone's length: joints that moved less are where they were; float32 through an object's transform costs 1e-6.
SAME_PLACE = 1e-4
# Radians: float32 bone matrices are apart by less where nobody turned them.
SAME_TURN = 1e-5
BEND, OFFSET, HINGE = "limb_ik_bend_axis", "limb_ik_end_offset", "limb_ik_joint_hinge_axis"
RESTS = ("limb_ik_target_rest", "limb_ik_pole_rest")


@dataclass(frozen=True, slots=True)
class _Bone:
    """A bone at rest. Space: armature."""

    matrix: Matrix
    tail: Vector
    length: float


Settings = dict[tuple[str, str], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class _Rest:
    """A rig at rest: the armature object's world matrix, the bones of its chains, settings by bone and name."""

    world: Matrix
    bones: dict[str, _Bone]
    settings: Settings


_rests: dict[int, _Rest] = {}


def _listen(obj: bpy.types.Object | None) -> None:
    if obj is None:
        _rests.clear()


marks.on_edit(_listen)


def follow(obj: bpy.types.Object, tips: list[Any]) -> bool:
    """Turn settings back where the rest pose was edited since the last time, and remember it.

    Returns whether a setting changed.
    """
    before, now = _rests.get(obj.session_uid), _rest_of(obj, tips)
    _rests[obj.session_uid] = now
    if before is None or (before.world == now.world and before.bones == now.bones):
        return False
    with marks.quiet():
        for tip in tips:
            _follow_rolls(tip, before, now)
        if _was_applied(before, now):
            change = now.world.inverted_safe() @ before.world
            for tip in (tip for tip in tips if tip.limb_ik_target_space == 'FK'):
                for name in RESTS:
                    _turn(tip, name, before, lambda values: matrix_values(change @ matrix_from(values)))
    _rests[obj.session_uid] = replace(now, settings=_settings_of(tips))
    return _rests[obj.session_uid].settings != now.settings


def _settings_of(tips: list[Any]) -> Settings:
    found = {(tip.name, name): tuple(getattr(tip, name)) for tip in tips for name in (BEND, OFFSET, *RESTS)}
    return found | {(bone.name, HINGE): tuple(getattr(bone, HINGE)) for tip in tips for bone in row_of(tip)}


def _turn(bone: Any, name: str, before: _Rest, turned: Callable[[tuple[float, ...]], Sequence[float]]) -> None:
    """Turn a setting, unless it was set since: by a script that knows the new rest pose."""
    values = tuple(getattr(bone, name))
    if before.settings.get((bone.name, name)) == values:
        setattr(bone, name, turned(values))


def _rest_of(obj: bpy.types.Object, tips: list[Any]) -> _Rest:
    bones: Any = obj.pose.bones if obj.pose else {}
    found = {bone.name: bone.bone for tip in tips for bone in row_of(tip)}
    ends = [bones.get(tip.limb_ik_end_bone) for tip in tips]
    found |= {end.name: end.bone for end in ends if end is not None}
    rest = {name: _Bone(bone.matrix_local.copy(), bone.tail_local.copy(), bone.length) for name, bone in found.items()}
    return _Rest(obj.matrix_world.copy(), rest, _settings_of(tips))


def _follow_rolls(tip: Any, before: _Rest, now: _Rest) -> None:
    row = row_of(tip)
    for bone, name, of in ((tip, BEND, row[-1].name), *((bone, HINGE, bone.name) for bone in row)):
        turn = _roll(of, before, now)
        if turn is not None:
            _turn(bone, name, before, partial(_axis_turned, turn))
    turn = _roll(tip.limb_ik_end_bone, before, now)
    if turn is not None:
        _turn(tip, OFFSET, before, partial(_offset_turned, turn))


def _axis_turned(turn: Quaternion, axis: tuple[float, ...]) -> tuple[float, ...]:
    return tuple((turn @ Vector(axis))[:])


def _offset_turned(turn: Quaternion, offset: tuple[float, ...]) -> tuple[float, ...]:
    return tuple((Quaternion(offset) @ turn.inverted())[:])


def _roll(name: str, before: _Rest, now: _Rest) -> Quaternion | None:
    """The turn from a bone's old axes to its new ones, where it was rolled and nothing else; None where not."""
    old, new = before.bones.get(name), now.bones.get(name)
    if old is None or new is None or old.matrix == new.matrix:
        return None
    reach = SAME_PLACE * old.length
    if (old.tail - new.tail).length > reach or (old.matrix.translation - new.matrix.translation).length > reach:
        return None
    turn = new.matrix.to_quaternion().inverted() @ old.matrix.to_quaternion()
    return turn if Quaternion().rotation_difference(turn).angle > SAME_TURN else None


def _was_applied(before: _Rest, now: _Rest) -> bool:
    """Whether the object's transform changed while every bone stayed in its place in the world."""
    if before.world == now.world or not now.bones or before.bones.keys() != now.bones.keys():
        return False
    return all(_is_where_it_was(before, now, name) for name in now.bones)


def _is_where_it_was(before: _Rest, now: _Rest, name: str) -> bool:
    old, new = before.bones[name], now.bones[name]
    head, tail = before.world @ old.matrix.translation, before.world @ old.tail
    reach = SAME_PLACE * (tail - head).length
    apart = (now.world @ new.matrix.translation - head).length, (now.world @ new.tail - tail).length
    return max(apart) <= reach
