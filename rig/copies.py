"""Chains on bones that came with their properties in an edit of the armature: duplicated, symmetrised, joined.

Blender copies a bone's properties with it. A duplicate would reach for the same target, so it
has no chain; a symmetrised bone gets the chain of the other side, with flipped names. The chains
of an armature that was joined go on.
Which tips were set up is what the muted driver of ``rig/dependency`` names. This module
must not evaluate a pose.
"""

from __future__ import annotations

from typing import Any

import bpy

from . import dependency, made, marks
from .bone_rows import row_of
from .reflection import mirror_joint
from .regain import clear_chain, forget_store
from .session import pose_bones


def settle(obj: bpy.types.Object) -> bool:
    """Give copied tips their own chain or none; returns whether there were any.

    Does nothing where the rig's driver is missing: then nothing says which tips are copies.
    """
    dependency.follow_join(obj)
    known = dependency.known_tips(obj)
    copies = [tip for tip in dependency.tips_of(obj) if tip.name not in known] if known else []
    if not copies:
        return False
    with marks.quiet():
        for tip in copies:
            if bpy.utils.flip_name(tip.name) in known and tip.name != bpy.utils.flip_name(tip.name):
                _flip(obj, tip)
            else:
                clear_chain(tip)
    dependency.rebuild(obj)
    marks.mark(obj)
    return True


def _flip(obj: bpy.types.Object, tip: Any) -> None:
    """The settings of the other side: flipped bones, and flipped objects where they exist."""
    for name in ("end_bone", "target_bone", "pole_bone", "own_target_bone", "own_pole_bone"):
        old = getattr(tip, f"limb_ik_{name}")
        owner = obj if name == "end_bone" else getattr(tip, f"limb_ik_{name.removesuffix('_bone')}")
        flipped = bpy.utils.flip_name(old)
        if owner is not None and owner.pose is not None and flipped in owner.pose.bones:
            setattr(tip, f"limb_ik_{name}", flipped)
    for name in made.ROLES:
        own = made.own_control(tip, name)
        if own is not None and not own[1]:
            made.remember(tip, name, None)  # the other side's; what this one reaches for was not made for it
        target = getattr(tip, f"limb_ik_{name}")
        if target is None or target.type == 'ARMATURE':
            continue
        setattr(tip, f"limb_ik_{name}", bpy.data.objects.get(bpy.utils.flip_name(target.name)))
    tip.limb_ik_root = dependency.root_name(tip)
    axis = tip.limb_ik_bend_axis
    # Mirrored in X a bone's own axes keep Y and Z and turn X about, so a hinge keeps X and turns Y and Z about.
    tip.limb_ik_bend_axis = (axis[0], -axis[1], -axis[2])
    for bone in row_of(tip):
        forget_store(bone)
        other = pose_bones(obj).get(bpy.utils.flip_name(bone.name))
        if other is not None and other != bone:
            mirror_joint(other, bone)
