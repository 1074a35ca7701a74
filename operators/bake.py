"""Bake IK to keyframes."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..bake.baking import bake, bake_steps
from ..bake.options import BakeOptions
from ..rig import active, compat
from .arguments import OnChains, OverRange
from .in_steps import InSteps

AFTER = (
    ('MUTE', "Mute", "The chains are muted and can be turned on again"),
    ('REMOVE', "Remove", "The chains and what was made for them are removed"),
    ('KEEP', "Keep", "The chains stay in play, where that doesn't apply IK twice"),
)


class LIMB_IK_OT_bake(InSteps, OverRange, OnChains, bpy.types.Operator):
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
            name="Only Active", description="Only the chain of the active bone, not all chains of the armature"
        )
        step: IntProperty(name="Step", description="Frames from key to key", default=1, min=1, soft_max=24)
        reduce: FloatProperty(
            name="Reduce",
            description="Length by which fewer keys may miss the exact motion; 0 for a key on every frame",
            default=0.0,
            min=0.0,
            soft_max=0.1,
            precision=4,
            subtype='DISTANCE',
        )
        after: EnumProperty(name="Chains", items=AFTER, default='MUTE', description="What becomes of the chains")

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        """Ask first, with the range of the animation filled in."""
        operator: Any = self
        obj = active.active_armature(context)
        own = compat.animation_range(obj) if obj is not None else None
        first, last = own or (context.scene.frame_start, context.scene.frame_end)
        if not operator.properties.is_property_set("frame_start"):
            self.frame_start, self.frame_end = round(first), round(last)
            self.use_range = self.use_range
        operator.is_asked = True
        return context.window_manager.invoke_props_dialog(operator, confirm_text="Bake")

    def execute(self, context: Any) -> Any:
        """In steps after the dialog; at once from Python and where it is done again with other settings."""
        operator: Any = self
        if not getattr(operator, "is_asked", False) or context.window is None:
            return super().execute(context)
        operator.is_asked = False
        return self.begin(context)

    def draw(self, _context: Any) -> None:
        layout: Any = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "only_active")
        layout.prop(self, "use_range")
        column = layout.column(align=True)
        column.active = self.use_range
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")
        for name in ("step", "reduce", "after"):
            layout.prop(self, name)

    def work(self, context: Any) -> str:
        obj, options = self._asked(context)
        return bake(context, [obj], options).sentence()

    def steps(self, context: Any) -> Generator[tuple[int, int], None, str]:
        obj, options = self._asked(context)
        report = yield from bake_steps(context, [obj], options)
        return report.sentence()

    def _asked(self, context: Any) -> tuple[bpy.types.Object, BakeOptions]:
        obj = self.rig(context)
        first, last = self.bounds()
        return obj, BakeOptions(
            frame_start=first,
            frame_end=last,
            step=self.step,
            tips={obj.name: tuple(self.chosen(context, obj))},
            after=self.after,
            reduce=self.reduce * context.scene.unit_settings.scale_length,
        )
