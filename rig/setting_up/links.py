"""What chains reach for: which of it set-up made, and reaching for something else instead."""

from __future__ import annotations

from typing import Any

from .. import dependency, marks
from . import controls


def is_linked(tip: Any, role: str) -> bool:
    """Whether a chain has a target or pole that set-up did not make for it."""
    return getattr(tip, f"limb_ik_{role}") is not None and not getattr(tip, f"limb_ik_made_{role}")


def relink(context: Any, obj: Any, tip_name: str, role: str, linked: Any, bone_name: str) -> None:
    """Let a chain reach for another object or bone (None: for nothing); what set-up made for it goes."""
    tip = obj.pose.bones[tip_name]
    made, made_bone = getattr(tip, f"limb_ik_{role}"), getattr(tip, f"limb_ik_{role}_bone")
    was_made = getattr(tip, f"limb_ik_made_{role}") and made is not None
    with marks.quiet():
        setattr(tip, f"limb_ik_{role}", linked)
        setattr(tip, f"limb_ik_{role}_bone", bone_name)
        setattr(tip, f"limb_ik_made_{role}", False)
    dependency.rebuild(obj)  # before the skeleton is edited: names are read back from drivers then
    if was_made:
        controls.remove(context, obj, (marks.key_of(made), made_bone))
    marks.touch(obj)


def uses_bones(tip: Any) -> bool:
    """Whether a chain's target is a bone."""
    return bool(tip.limb_ik_target_bone)
