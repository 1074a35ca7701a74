"""Blender's own limits and locks of bones to joint limits."""

from __future__ import annotations

from typing import Any

import bpy

from ..rig.sentences import listed
from ..rig.setting_up.limits_from import take_limits
from .arguments import OnChains


class LIMB_IK_OT_take_limits(OnChains, bpy.types.Operator):
    """Take the joint limits from the IK limits, IK locks and rotation locks that the chain's bones have"""

    bl_idname = "limb_ik.take_limits"
    bl_label = "Limits from Bones"
    bl_options = {'REGISTER', 'UNDO'}

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        return f"limits taken over on {listed(take_limits(obj, self.chosen(context, obj)))}"
