"""Select targets and poles of chains and back, and make a chain of the list active."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty

from ..rig.sentences import listed
from ..rig.setting_up import active, select_controls
from .arguments import OnChains, check_tips

WHAT = (
    ('AUTO', "Automatic", "Target and pole, or the chain's bones where one of those is active"),
    ('CONTROLS', "Target and Pole", "What moves the chain"),
    ('BONES', "Bones", "The bones that the chain turns"),
)


class LIMB_IK_OT_select_controls(OnChains, bpy.types.Operator):
    """Select target and pole of the chain; with one of them active, the chain's bones"""

    bl_idname = "limb_ik.select_controls"
    bl_label = "Select Target & Pole"
    bl_options = {'REGISTER', 'UNDO'}

    if TYPE_CHECKING:
        select: str
    else:
        select: EnumProperty(
            name="Select", items=WHAT, default='AUTO', description="What is selected", options={'SKIP_SAVE'}
        )

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        tips = self.chosen(context, obj)
        check_tips(obj, tips)
        is_named = bool(self.armature or self.tips)
        is_back = self.select == 'BONES' or (
            self.select == 'AUTO' and not is_named and select_controls.is_control_active(context, obj)
        )
        if is_back:
            names = [bone.name for tip in tips for bone in reversed(active.turned_bones(obj.pose.bones[tip]))]
            return f"Selected {listed(select_controls.select_bones(context, obj, names))}"
        return f"Selected {listed(select_controls.select_controls(context, obj, tips))}"


class LIMB_IK_OT_activate_chain(OnChains, bpy.types.Operator):
    """Make this chain the active one and show its settings"""

    bl_idname = "limb_ik.activate_chain"
    bl_label = "Activate IK Chain"
    bl_options = {'UNDO', 'INTERNAL'}

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        tip = self.chosen(context, obj)[0]
        check_tips(obj, [tip])
        current = context.view_layer.objects.active
        if current != obj or obj.mode == 'POSE':
            select_controls.select_bones(context, obj, [tip])
        else:
            obj.data.bones.active = obj.data.bones[tip]
        return f"'{tip}' is active"
