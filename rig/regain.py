"""Chains that something of Blender's changed without calling us: a pasted pose, animation data taken away.

This module must not evaluate a pose.
"""

from __future__ import annotations

from typing import Any

import bpy

from . import carry, dependency, fk_pose, kept, made, marks, rest_edits
from .bone_rows import row_of


def regain(obj: bpy.types.Object, was_set_up: bool) -> None:
    """Mend what pasting a pose, or taking an armature's animation data away, has done to its chains.

    For each of them Blender calls nothing of ours. Pasted bones bring settings along, without their pointers; animation
    data takes the drivers with it, by which targets are evaluated and renames are followed.

    Args:
        obj: the armature object.
        was_set_up: whether it had a set-up's number: what a rig without has was pasted.
    """
    if not obj.is_editable or dependency.is_from_library(obj):
        return
    _undo_paste(obj)
    known, tips = dependency.known_tips(obj), dependency.tips_of(obj)
    strangers = [tip for tip in tips if tip.name not in known]
    pasted = [tip for tip in strangers if tip.limb_ik_target is None and (known or not was_set_up)]
    with marks.quiet():
        for tip in pasted:
            clear_chain(tip)
    if strangers and not known:
        dependency.rebuild(obj)
    tips = dependency.tips_of(obj) if pasted else tips
    made.settle(obj, tips)
    if rest_edits.follow(obj, tips):
        kept.forget(obj)
    kept.keep(obj, tips)


def _undo_paste(obj: bpy.types.Object) -> None:
    lost = dependency.follow_renames(obj)
    for tip in lost:
        kept.put_back(obj, tip)
    if lost:
        dependency.follow_renames(obj)  # what is kept has the names of bones as they were


def clear_chain(tip: Any) -> None:
    """Take a chain away that nobody set up; its bones show their FK."""
    for bone in row_of(tip):
        forget_store(bone)
    carry.reset(tip)


def forget_store(bone: Any) -> None:
    """Give a copied bone its FK: it shows what IK wrote into the one it was copied from, and keeps that one's FK."""
    if fk_pose.has_store(bone):
        setattr(bone, fk_pose.channel(bone.rotation_mode), fk_pose.fk_raw(bone))
        fk_pose.clear_store(bone)
