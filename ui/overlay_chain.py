"""What the overlay shows of a chain, read from the pose that is on the screen.

Reads original objects only, into which Blender puts what it evaluated for the screen; asks no
depsgraph and writes nothing. Draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mathutils import Matrix, Vector

from ..rig import chains, compat, marks
from ..rig.posed_chain import length_along
from ..rig.session import is_in_edit_mode
from ..rig.setting_up import active, select_controls
from ..rig.spaces import frame_of
from . import overlay_shapes as shapes
from .overlay_shapes import Part, Shape

# Of the distance between two joints.
LIMIT_SIZE = 0.4
# Of the limb's length.
DASH_SIZE = 0.02
# Of the limb's length: an offset by less was not made by hand.
UNMOVED = 1e-4
MISSED = {'TOO_FAR': "{} short", 'TOO_NEAR': "{} too near", 'LIMITED': "{} short at a joint limit"}


@dataclass(frozen=True)
class Note:
    """A text at a place in the world."""

    place_world: Vector
    text: str
    length: float


def chosen(context: Any) -> Iterator[tuple[Any, str]]:
    """Armature and tip of the chains to show: the active one, and those with a selected bone, target or pole."""
    current = active.active_armature(context)
    for obj in _candidates(context, current):
        if is_in_edit_mode(obj) or not obj.limb_ik.is_live or not obj.visible_get():
            continue
        wanted = active.active_tip(context, obj) if obj == current else ""
        for tip in active.tip_names(obj):
            if tip == wanted or _is_selected(obj, tip):
                yield obj, tip


def _candidates(context: Any, current: Any) -> list[Any]:
    """The rigs of which something may be chosen, found from the selection: a crowd costs nothing."""
    found = {current: None} if current is not None else {}
    links = set()
    for obj in {*(getattr(context, "objects_in_mode", None) or ()), *context.view_layer.objects.selected}:
        if obj.type == 'ARMATURE':
            found[obj] = None
        elif obj.limb_ik.is_control and obj.parent is not None:
            found[obj.parent] = None
        if obj.type != 'ARMATURE' or obj.mode == 'POSE':
            links.add(marks.key_of(obj))
    if links:
        found.update(dict.fromkeys(active.reaching(links)))
    return [obj for obj in found if obj.type == 'ARMATURE' and marks.is_known(obj)]


def _is_selected(obj: Any, tip: str) -> bool:
    bone = obj.pose.bones[tip]
    if obj.mode == 'POSE' and any(compat.bone_is_selected(one) for one in active.turned_bones(bone)):
        return True
    return any(_is_control_selected(linked, name) for linked, name in select_controls.links_of(obj, tip))


def _is_control_selected(linked: Any, name: str) -> bool:
    if not name:
        return bool(linked.select_get())
    found = linked.pose.bones.get(name) if linked.mode == 'POSE' else None
    return found is not None and compat.bone_is_selected(found)


def of_chain(obj: Any, tip: str) -> tuple[list[Shape], list[Note]]:
    """Shapes and texts of one chain, world space; none of a chain that can't be solved."""
    bone = obj.pose.bones[tip]
    turned = active.turned_bones(bone)
    if not turned or bone.limb_ik_mute or bone.limb_ik_status == 'INVALID':
        return [], []
    joints = _joints_world(obj, bone, turned)
    length = length_along(joints)
    found = [*_limb(bone, joints), *_controls(bone, joints, length)]
    if bone.limb_ik_use_limits:
        found += _limits(obj, turned, joints)
    if bone.limb_ik_status == 'TOO_FAR' and bone.limb_ik_solver != 'LOOK_AT':
        found.append(shapes.reach(joints[0], length * bone.limb_ik_max_reach))
    return found, _notes(bone, joints)


def _joints_world(obj: Any, tip: Any, turned: list[Any]) -> list[Vector]:
    end = obj.pose.bones.get(tip.limb_ik_end_bone)
    heads = [*(one.head for one in turned), end.head if end is not None else tip.tail]
    return [obj.matrix_world @ head for head in heads]


def _limb(bone: Any, joints: list[Vector]) -> list[Shape]:
    is_idle = bone.limb_ik_status == 'IDLE'
    found = [Shape(Part.LINE if is_idle else Part.LIMB, shapes.polyline(joints))]
    if bone.limb_ik_solver != 'LOOK_AT' and len(joints) > 2:
        closing = tuple(p for a, b in pairwise(joints[1:]) for p in (joints[0], a, b))
        found.append(Shape(Part.LINE, (joints[0], joints[-1]), closing))
    return found


def _controls(bone: Any, joints: list[Vector], length: float) -> list[Shape]:
    """Lines to target and pole, red where the target is missed; of offsets on FK how far they were moved."""
    if bone.limb_ik_target_space == 'FK':
        return _offsets(bone, joints, length)
    found = []
    target, pole = _place_world(bone, "target"), _place_world(bone, "pole")
    dash = DASH_SIZE * length
    if target is not None and bone.limb_ik_solver == 'LOOK_AT':
        found.append(Shape(Part.LINE, shapes.dashed(joints[-2], target, dash)))
    elif target is not None and bone.limb_ik_status in MISSED:
        found.append(Shape(Part.MISSED, (joints[-1], target)))
    elif target is not None:
        found.append(Shape(Part.LINE, shapes.dashed(joints[-1], target, dash)))
    if pole is not None and bone.limb_ik_solver != 'LOOK_AT' and len(joints) > 2:
        found.append(Shape(Part.POLE, shapes.dashed(joints[1], pole, dash)))
    return found


def _offsets(bone: Any, joints: list[Vector], length: float) -> list[Shape]:
    """How far target and pole were moved since set-up: at each of them, and where the end of the limb was moved by it.

    The character walks on from where they stand, so a line to them says nothing but which limb they belong to: it is
    drawn to those that are selected.
    """
    found, dash = [], DASH_SIZE * length
    for role, part, joint in (("target", Part.LINE, joints[-1]), ("pole", Part.POLE, joints[1])):
        now, rest = _place_world(bone, role), _rest_world(bone, role)
        if now is None:
            continue
        if (now - rest).length > UNMOVED * length:
            found.append(Shape(part, shapes.dashed(rest, now, dash)))
        if _is_control_selected(getattr(bone, f"limb_ik_{role}"), getattr(bone, f"limb_ik_{role}_bone")):
            found.append(Shape(Part.LINE, shapes.dashed(joint, now, dash)))
    wanted, shift = _wanted_world(bone, joints), _shift_world(bone)
    if wanted is not None and bone.limb_ik_solver != 'LOOK_AT':
        if shift.length > UNMOVED * length:
            found.append(Shape(Part.LINE, shapes.dashed(wanted - shift, wanted, dash)))
        if wanted != joints[-1]:
            found.append(Shape(Part.MISSED, (joints[-1], wanted)))
    return found


def _wanted_world(bone: Any, joints: list[Vector]) -> Vector | None:
    """Where the end is wanted, as far as the pose on the screen tells: of an offset on FK only at full weight."""
    if bone.limb_ik_target_space == 'WORLD':
        return _place_world(bone, "target")
    is_whole = bone.limb_ik_use_ik and bone.limb_ik_weight == 1.0
    if not is_whole or bone.limb_ik_status not in ('REACHED', 'TOO_FAR'):
        return None
    if bone.limb_ik_status == 'REACHED':
        return joints[-1]
    missed: Vector = (joints[-1] - joints[0]).normalized() * bone.limb_ik_error
    return joints[-1] + missed


def _shift_world(bone: Any) -> Vector:
    now, rest = _place_world(bone, "target"), _rest_world(bone, "target")
    return now - rest if now is not None else Vector()


def _rest_world(bone: Any, role: str) -> Vector:
    """Where target or pole stood at set-up."""
    rest: Any = chains.matrix_from(getattr(bone, f"limb_ik_{role}_rest"))
    return Vector(bone.id_data.matrix_world @ rest.translation)


def _place_world(bone: Any, role: str) -> Vector | None:
    linked = getattr(bone, f"limb_ik_{role}")
    if linked is None:
        return None
    name = getattr(bone, f"limb_ik_{role}_bone")
    if not name:
        return Vector(linked.matrix_world.translation)
    found = linked.pose.bones.get(name) if linked.pose is not None else None
    return Vector(linked.matrix_world @ found.head) if found is not None else None


def _limits(obj: Any, turned: list[Any], joints: list[Vector]) -> list[Shape]:
    found: list[Shape] = []
    for number, bone in enumerate(turned):
        if bone.limb_ik_joint_kind == 'FREE':
            continue
        rest = bone.bone.matrix_local
        after = turned[number + 1].bone.head_local if number + 1 < len(turned) else bone.bone.tail_local
        radius = LIMIT_SIZE * (joints[number + 1] - joints[number]).length
        frame = Matrix.LocRotScale(joints[number], (obj.matrix_world @ frame_of(bone)).to_quaternion(), None)
        along = rest.to_3x3().inverted_safe() @ (after - rest.translation)
        found += shapes.limits(frame, along, chains.limits_of(bone), radius)
    return found


def _notes(bone: Any, joints: list[Vector]) -> list[Note]:
    text = MISSED.get(bone.limb_ik_status)
    if text is None or bone.limb_ik_error <= 0.0:
        return []
    wanted = _wanted_world(bone, joints)
    place = (joints[-1] + wanted) / 2.0 if wanted is not None else joints[-1]
    return [Note(place, text, bone.limb_ik_error)]
