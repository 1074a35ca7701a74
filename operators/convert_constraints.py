"""Blender's IK constraints to chains."""

from __future__ import annotations

from typing import Any

import bpy

from ..rig.sentences import counted, listed
from ..rig.setting_up.convert import convert_constraints
from .arguments import OnArmature, TipsArgument, split_names


class LIMB_IK_OT_convert_constraints(TipsArgument, OnArmature, bpy.types.Operator):
    """Turn the armature's IK constraints into Limb IK chains with the same target, pole and limits"""

    bl_idname = "limb_ik.convert_constraints"
    bl_label = "Convert IK Constraints"
    bl_options = {'REGISTER', 'UNDO'}

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        tips = split_names(self.tips, obj.pose.bones.keys()) if self.tips else []
        done = convert_constraints(context, obj, tips)
        parts = []
        if done.tips:
            parts.append(f"{counted(len(done.tips), 'IK constraint')} converted: {listed(done.tips)}")
        if done.limited:
            parts.append(f"limits of {listed(dict.fromkeys(done.limited))} converted")
        return "; ".join((*parts, *done.notes))
