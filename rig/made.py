"""Which targets and poles set-up made for a chain: only these may go with it.

A chain remembers what was made for it beside what it reaches for, so that something of
the user's own, reached for later, is never taken for it. This module must not make or
remove anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from . import dependency, marks
from .session import armature_data

COLLECTION = "Limb IK Controls"
"""What the collections of made controls are called, of objects and of bones."""
ROLES = ("target", "pole")

Control = tuple[bpy.types.Object, str]
"""An object, or a bone of an armature object (empty: the object itself)."""


def own_control(tip: Any, role: str) -> Control | None:
    """What was made as a chain's target or pole, whatever it reaches for now."""
    own = getattr(tip, f"limb_ik_own_{role}")
    if own is not None:
        return own, getattr(tip, f"limb_ik_own_{role}_bone")
    return _of_older_setup(tip, role)


def _of_older_setup(tip: Any, role: str) -> Control | None:
    """Earlier set-ups say only that a target was made, and not which one: the one reached for, if it looks like it."""
    linked = getattr(tip, f"limb_ik_{role}")
    if linked is None or not getattr(tip, f"limb_ik_made_{role}"):
        return None
    control = linked, getattr(tip, f"limb_ik_{role}_bone")
    return control if is_made(tip.id_data, control) else None


def is_linked(tip: Any, role: str) -> bool:
    """Whether a chain has a target or pole that set-up did not make for it."""
    linked = getattr(tip, f"limb_ik_{role}")
    return linked is not None and own_control(tip, role) != (linked, getattr(tip, f"limb_ik_{role}_bone"))


def remember(tip: Any, role: str, control: Control | None) -> None:
    """Note what was made as a chain's target or pole."""
    with marks.quiet():
        obj, bone_name = control or (None, "")
        setattr(tip, f"limb_ik_own_{role}", obj)
        setattr(tip, f"limb_ik_own_{role}_bone", bone_name)
        tip.property_unset(f"limb_ik_made_{role}")


def settle(obj: bpy.types.Object, tips: Sequence[Any]) -> None:
    """Note which controls were made, where an earlier set-up only says that some were; forget those that are gone."""
    roles = [(tip, role) for tip in tips for role in ROLES]
    older = [one for one in roles if getattr(one[0], f"limb_ik_made_{one[1]}")]
    gone = [one for one in roles if _is_gone(*one)]
    for tip, role in older:
        remember(tip, role, own_control(tip, role))
    for tip, role in gone:
        remember(tip, role, None)
    if older or gone:
        dependency.rebuild(obj)


def _is_gone(tip: Any, role: str) -> bool:
    """Whether a made control was deleted in the viewport after it was replaced: memory alone keeps it in the file."""
    own = getattr(tip, f"limb_ik_own_{role}")
    return own not in (None, tip.id_data, getattr(tip, f"limb_ik_{role}")) and not own.users_collection


def is_made(armature: bpy.types.Object, control: Control) -> bool:
    """Whether something bears the marks of a control that set-up made for an armature, and can be removed."""
    obj, bone_name = control
    if not bone_name:
        settings: Any = obj
        return obj.type == 'EMPTY' and obj.library is None and bool(settings.limb_ik.is_control)
    if obj != armature or obj.override_library is not None or not armature_data(obj).is_editable:
        return False
    collection = armature_data(obj).collections_all.get(COLLECTION)
    return collection is not None and bone_name in collection.bones
