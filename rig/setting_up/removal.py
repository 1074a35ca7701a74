"""Removing chains: the FK pose comes back, and what set-up made goes.

This module must not change chains that stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from .. import carry, dependency, fk_pose, marks
from ..made import ROLES, own_control
from . import active, controls, leavings


def remove_chains(
    context: bpy.types.Context,
    obj: bpy.types.Object,
    tips: Sequence[str],
    *,
    remove_targets: bool = True,
    keeps_keys: bool = False,
) -> list[str]:
    """Remove chains: the FK pose comes back, and what set-up made for them goes, unless something else uses it.

    Args:
        context: gives view layer and mode.
        obj: the armature object.
        tips: names of the bones at which the chains end.
        remove_targets: delete targets and poles that were made for them.
        keeps_keys: leave keys and drivers of their settings and of bones that were made for them.

    Returns:
        Which of the targets and poles stay since something else uses them, in words.

    Raises:
        LimbIKError: no chain ends at one of the bones; nothing was changed.
    """
    bones = [active.tip_named(obj, tip) for tip in tips]
    owned = [control for bone in bones for role in ROLES if (control := own_control(bone, role)) is not None]
    with marks.quiet():
        fk_pose.restore(obj)
    for tip, bone in zip(tips, bones, strict=True):
        carry.reset(bone)
        if not keeps_keys:
            leavings.forget_settings(obj, tip)
    dependency.rebuild(obj)
    marks.touch(obj)
    stays = controls.remove(context, obj, owned, keeps_keys=keeps_keys) if remove_targets else []
    if not dependency.tips_of(obj):
        leavings.forget_values(obj)
    return stays
