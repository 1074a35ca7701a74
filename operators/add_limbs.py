"""Add IK to all arms and legs that the skeleton has; a click shows first what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, StringProperty

from ..bake import motion
from ..rig import limbs
from ..rig.errors import LimbIKError
from ..rig.sentences import counted, listed, sentence
from ..rig.setting_up import rigify, setup
from .add_chain import switched
from .arguments import OnArmature
from .new_chains import NewChains

DIALOG_WIDTH = 360
SIDES = {'L': "Left ", 'R': "Right ", '': ""}


class LimbIKFoundLimb(bpy.types.PropertyGroup):
    """A limb that was found, and whether it gets IK"""

    if TYPE_CHECKING:
        name: str
        label: str
        bones: str
        is_on: bool
    else:
        label: StringProperty(options={'SKIP_SAVE'})
        bones: StringProperty(options={'SKIP_SAVE'})
        is_on: BoolProperty(name="Add IK", description="Add IK to this limb", default=True, options={'SKIP_SAVE'})


class LIMB_IK_OT_add_limbs(NewChains, OnArmature, bpy.types.Operator):
    """Find the arms and legs of the armature and add IK to each; the pose and its motion stay as they are"""

    bl_idname = "limb_ik.add_limbs"
    bl_label = "Add IK to Limbs"
    bl_options = {'REGISTER', 'UNDO'}

    if TYPE_CHECKING:
        arms: bool
        legs: bool
        found: Any
    else:
        arms: BoolProperty(name="Arms", default=True, description="Add IK to arms", options={'SKIP_SAVE'})
        legs: BoolProperty(name="Legs", default=True, description="Add IK to legs", options={'SKIP_SAVE'})
        found: CollectionProperty(
            type=LimbIKFoundLimb,
            name="Limbs",
            description="The limbs found, with a tick each; all of them where empty",
            options={'SKIP_SAVE'},
        )

    def invoke(self, context: Any, _event: Any) -> Any:
        """A click: what was found, with a tick for each, before anything is made."""
        operator: Any = self
        self.take_preferences()
        try:
            self._find(self.rig(context))
        except LimbIKError as problem:
            operator.report({'ERROR'}, sentence(str(problem)))
            return {'CANCELLED'}
        return context.window_manager.invoke_props_dialog(self, width=DIALOG_WIDTH, confirm_text="Add IK")

    def _find(self, obj: Any) -> None:
        plans = setup.limb_plans(
            obj, arms=self.arms, legs=self.legs, target_kind=self.target_kind, target_space='WORLD'
        )
        by_tip = {limb.tip: limb for limb in limbs.find_limbs(limbs.rest_skeleton(obj.data))}
        self.found.clear()
        for plan in plans:
            limb, one = by_tip[plan.tip], self.found.add()
            one.name = plan.tip
            one.label = sentence(f"{SIDES[limb.side]}{limb.kind}".lower())
            ends = [limb.end] if limb.end else []
            one.bones = " › ".join([*(limb.bones or (limb.upper, limb.lower)), *ends])

    def draw(self, _context: Any) -> None:
        """The limbs with their ticks, then what is made."""
        layout: Any = self.layout
        column = layout.column(align=True)
        for one in self.found:
            row = column.split(factor=0.28, align=True)
            row.prop(one, "is_on", text=one.label)
            names = row.row()
            names.active = one.is_on
            names.label(text=one.bones)
        layout.separator()
        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        for name in (() if self.found else ("arms", "legs")) + ("target_kind", "motion", "blend_time"):
            column.prop(self, name)

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        before = rigify.switches(obj)
        tips = motion.add_limbs(
            context,
            obj,
            arms=self.arms,
            legs=self.legs,
            target_kind=self.target_kind,
            motion=self.motion,
            only={one.name for one in self.found if one.is_on} if self.found else None,
        )
        self.set_blend_time(obj, tips)
        return f"IK added to {counted(len(tips), 'limb')}: {listed(tips)}{switched(before, obj)}"
