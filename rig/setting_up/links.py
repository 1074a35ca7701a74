"""What chains reach for, and reaching for something else instead."""

from __future__ import annotations

from typing import Any

from .. import dependency, made, marks
from . import controls


def relink(context: Any, obj: Any, tip_name: str, role: str, linked: Any, bone_name: str) -> None:
    """Let a chain reach for another object or bone (None: for nothing); what set-up made for it goes."""
    tip = obj.pose.bones[tip_name]
    own = made.own_control(tip, role)
    with marks.quiet():
        setattr(tip, f"limb_ik_{role}", linked)
        setattr(tip, f"limb_ik_{role}_bone", bone_name)
    made.remember(tip, role, None)
    dependency.rebuild(obj)  # before the skeleton is edited: names are read back from drivers then
    if own is not None and own != (linked, bone_name):
        controls.remove(context, obj, [own])
    marks.touch(obj)


def uses_bones(tip: Any) -> bool:
    """Whether a chain's target is a bone."""
    return bool(tip.limb_ik_target_bone)
