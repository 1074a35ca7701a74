"""Selecting what moves a chain, its target and pole, and back: the chain's bones.

Changes selection, active object and mode, nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from .. import compat
from ..errors import LimbIKError
from . import active
from .setup import check_editable


def is_control_active(context: Any, obj: Any) -> bool:
    """Whether the active object or bone is a target or pole of the armature's chains."""
    current = context.view_layer.objects.active
    if current is not None and current != obj:
        return bool(active.active_tip(context, obj))
    name = active.active_bone_name(obj)
    return bool(name) and name in {link[1] for tip in active.tip_names(obj) for link in links_of(obj, tip)}


def links_of(obj: Any, tip: str) -> list[tuple[bpy.types.Object, str]]:
    """Target and pole of a chain: object, and bone where it is one."""
    bone: Any = obj.pose.bones[tip]
    pairs = [(getattr(bone, f"limb_ik_{role}"), getattr(bone, f"limb_ik_{role}_bone")) for role in ("target", "pole")]
    return [(linked, name) for linked, name in pairs if linked is not None]


def select_controls(context: Any, obj: Any, tips: Sequence[str]) -> list[str]:
    """Select targets and poles of chains, the first target active; bones in pose mode, objects in object mode.

    Returns:
        Names of what was selected.

    Raises:
        LimbIKError: there are none, or they are not in the view layer; nothing was changed.
    """
    links = list(dict.fromkeys(link for tip in tips for link in links_of(obj, tip)))
    objects = [linked for linked, name in links if not name]
    if not links:
        raise LimbIKError(f"the chains of '{obj.name}' have neither target nor pole")
    _check_in_layer(context, [linked for linked, _ in links])
    if objects:
        _select_objects(context, objects)
        return [one.name for one in objects]
    return select_bones(context, links[0][0], [name for linked, name in links if linked == links[0][0]])


def select_bones(context: Any, obj: Any, names: Sequence[str]) -> list[str]:
    """Select bones of an armature in pose mode, the first of them active, and no others.

    Raises:
        LimbIKError: it has no pose mode, or isn't in the view layer; nothing was changed.
    """
    _check_in_layer(context, [obj])
    check_editable(obj)  # Blender keeps others out of pose mode
    _select_objects(context, [obj])
    bpy.ops.object.mode_set(mode='POSE')
    chosen = set(names)
    for bone in obj.pose.bones:
        compat.set_bone_selected(bone, bone.name in chosen)
    obj.data.bones.active = obj.data.bones[names[0]]
    return list(names)


def _select_objects(context: Any, objects: Sequence[bpy.types.Object]) -> None:
    layer = context.view_layer
    if layer.objects.active is not None and layer.objects.active.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    for one in layer.objects:
        one.select_set(one in objects)
    layer.objects.active = objects[0]


def _check_in_layer(context: Any, objects: Sequence[bpy.types.Object]) -> None:
    for one in objects:
        if one not in context.view_layer.objects[:]:
            raise LimbIKError(f"'{one.name}' is not in this view layer and can't be selected")
        if not one.visible_get(view_layer=context.view_layer) or one.hide_select:
            raise LimbIKError(f"'{one.name}' is hidden or can't be selected: show it first")
