"""Add IK to all arms and legs that the skeleton has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..bake import motion
from ..rig import rigify
from .add_chain import MOTIONS, TARGET_KINDS, switched
from .arguments import OnArmature, counted, listed


class LIMB_IK_OT_add_limbs(OnArmature, bpy.types.Operator):
    """Find the arms and legs of the armature and add IK to each; the pose and its motion stay as they are"""

    bl_idname = "limb_ik.add_limbs"
    bl_label = "Add IK to Limbs"
    bl_options = {'REGISTER', 'UNDO'}

    if TYPE_CHECKING:
        arms: bool
        legs: bool
        target_kind: str
        motion: str
    else:
        arms: BoolProperty(name="Arms", default=True, description="Add IK to arms")
        legs: BoolProperty(name="Legs", default=True, description="Add IK to legs")
        target_kind: EnumProperty(
            name="Targets", items=TARGET_KINDS, default='EMPTY', description="What is made as targets and poles"
        )
        motion: EnumProperty(
            name="Motion", items=MOTIONS, default='AUTO', description="What becomes of the armature's animation"
        )

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        before = rigify.switches(obj)
        tips = motion.add_limbs(
            context, obj, arms=self.arms, legs=self.legs, target_kind=self.target_kind, motion=self.motion
        )
        return f"IK added to {counted(len(tips), 'limb')}: {listed(tips)}{switched(before, obj)}"
