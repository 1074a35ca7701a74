"""Removing chains: the FK pose comes back, and what set-up made goes.

This module must not change chains that stay.
"""

from __future__ import annotations

from typing import Any

import bpy

from .. import carry, chains, dependency, fk_pose, marks
from ..errors import LimbIKError
from ..session import pose_bones
from . import controls, leavings


def remove_chain(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    tip: str,
    *,
    remove_targets: bool = True,
    keeps_keys: bool = False,
) -> None:
    """Remove a chain: the FK pose comes back, and what set-up made for it goes.

    Args:
        context: gives view layer and mode.
        obj: the armature object.
        tip: name of the bone at which the chain ends.
        remove_targets: delete targets and poles that were made for it.
        keeps_keys: leave keys and drivers of its settings and of bones that were made for it.

    Raises:
        LimbIKError: no chain ends there.
    """
    bone: Any = pose_bones(obj).get(tip)
    if bone is None or bone.limb_ik_solver == 'NONE':
        raise LimbIKError(f"no chain ends at '{tip}' of '{obj.name}'")
    made = [
        (marks.key_of(getattr(bone, f"limb_ik_{role}")), getattr(bone, f"limb_ik_{role}_bone"))
        for role in ("target", "pole")
        if getattr(bone, f"limb_ik_made_{role}") and getattr(bone, f"limb_ik_{role}") is not None
    ]
    with marks.quiet():
        fk_pose.restore(obj)
    carry.reset(bone)
    if not keeps_keys:
        leavings.forget_settings(obj, tip)
    dependency.rebuild(obj)
    marks.touch(obj)
    if remove_targets:
        for link in made:
            if not _is_used(link):
                controls.remove(context, obj, link, keeps_keys=keeps_keys)
    if not dependency.tips_of(obj):
        leavings.forget_values(obj)


def _is_used(link: marks.Link) -> bool:
    """Whether another chain reaches for a control."""
    for rig in marks.rigs():
        for chain in chains.setup_of(rig).chains:
            if link in (chain.target_key, chain.pole_key):
                return True
    return False
