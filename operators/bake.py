"""Bake IK to keyframes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..bake.baking import bake_steps
from ..bake.options import BakeOptions
from ..bake.steps import Steps
from ..rig.setting_up import active
from .in_steps import InSteps
from .on_rigs import OnRigs
from .over_range import OverRange

AFTER = (
    ('MUTE', "Mute", "The chains are muted and can be turned on again"),
    ('REMOVE', "Remove", "The chains and what was made for them are removed"),
    ('KEEP', "Keep", "The chains stay in play, where that doesn't apply IK twice"),
)


class LIMB_IK_OT_bake(InSteps, OverRange, OnRigs, bpy.types.Operator):
    """Bake IK to keyframes of the bones; nothing else of the animation changes"""

    bl_idname = "limb_ik.bake"
    bl_label = "Bake IK"
    bl_options = {'REGISTER', 'UNDO'}

    if TYPE_CHECKING:
        step: int
        reduce: float
        after: str
    else:
        only_active: BoolProperty(
            name="Only Active", description="Only the chain of the active bone, not all chains of the armatures"
        )
        step: IntProperty(name="Step", description="Frames from key to key", default=1, min=1, soft_max=24)
        reduce: FloatProperty(
            name="Reduce",
            description="Length by which joints may miss the exact motion with fewer keys; 0 for a key on every frame",
            default=0.0,
            min=0.0,
            soft_max=0.1,
            precision=4,
            subtype='DISTANCE',
        )
        after: EnumProperty(name="Chains", items=AFTER, default='MUTE', description="What becomes of the chains")

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        """Ask first, with the range of the animation filled in."""
        self.fill_range(context, active.armatures(context))
        return self.ask(context, "Bake")

    def draw(self, context: Any) -> None:
        layout: Any = self.layout
        self.draw_armatures(context, layout)
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "only_active")
        self.draw_range(layout)
        for name in ("step", "reduce", "after"):
            layout.prop(self, name)

    def steps(self, context: Any) -> Steps[str]:
        objects, options = self._options(context)
        report = yield from bake_steps(context, objects, options)
        return report.sentence()

    def _options(self, context: Any) -> tuple[list[bpy.types.Object], BakeOptions]:
        asked = self.asked(context)
        first, last = self.bounds()
        return [obj for obj, _ in asked], BakeOptions(
            frame_start=first,
            frame_end=last,
            step=self.step,
            tips={obj.name: tuple(tips) for obj, tips in asked},
            after=self.after,
            reduce=self.reduce * context.scene.unit_settings.scale_length,
        )
