"""Put the feet of a motion on a mesh: terrain, slopes, stairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, FloatProperty, StringProperty

from ..bake import contact_markers, contacts, grounding
from ..bake.grounding import GroundOptions
from ..bake.steps import Steps
from ..rig.errors import LimbIKError
from ..rig.setting_up import active
from .arguments import TipsArgument, WithChains, split_names
from .in_steps import InSteps
from .over_range import OverRange


class LIMB_IK_OT_ground(InSteps, OverRange, TipsArgument, WithChains, bpy.types.Operator):
    """Put the feet on the surface of an object: targets and one offset of the hips are keyed over the range"""

    bl_idname = "limb_ik.ground"
    bl_label = "Ground Feet"
    bl_options = {'REGISTER', 'UNDO'}
    NO_CHAIN = "The armature has no IK chain: add IK to its legs first"

    if TYPE_CHECKING:
        ground: str
        amount: float
        use_floor: bool
        floor: float
        use_hips: bool
    else:
        ground: StringProperty(
            name="Ground", description="Name of the object that the feet stand on", options={'SKIP_SAVE'}
        )
        amount: FloatProperty(
            name="Slope",
            description="How much feet are turned to the slope of the ground",
            default=1.0,
            min=0.0,
            max=1.0,
            subtype='FACTOR',
        )
        use_floor: BoolProperty(name="Own Floor", description="This floor height instead of the one of the motion")
        floor: FloatProperty(
            name="Floor", description="Height of the floor that the motion was made on", subtype='DISTANCE'
        )
        use_hips: BoolProperty(
            name="Move Hips",
            description="Lower the hips where a leg would be too short, and lift them uphill",
            default=True,
        )

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        """Ask for the ground, the selected mesh being proposed, with the range of the animation filled in."""
        found = bpy.data.objects.get(self.armature) if self.armature else active.active_armature(context)
        self.fill_range(context, [found] if found else [])
        other = [obj for obj in context.selected_objects if obj.type == 'MESH' and obj.parent is None]
        if not self.ground and len(other) == 1:
            self.ground = other[0].name
        return self.ask(context, "Ground")

    def draw(self, context: Any) -> None:
        """What to stand on, and how."""
        layout: Any = self.layout
        layout.use_property_split = True
        layout.prop_search(self, "ground", context.scene, "objects")
        for name in ("amount", "use_hips", "use_floor"):
            layout.prop(self, name)
        row = layout.row()
        row.active = self.use_floor
        row.prop(self, "floor")
        self.draw_range(layout)

    def steps(self, context: Any) -> Steps[str]:
        obj = self.rig(context)
        tips = split_names(self.tips, obj.pose.bones.keys()) if self.tips else []
        first, last = self.bounds()
        operator: Any = self
        has_floor = self.use_floor or operator.properties.is_property_set("floor")
        options = GroundOptions(self.amount, self.floor if has_floor else None, self.use_hips)
        found = contact_markers.read(context, obj, tips) if contact_markers.has_any(context, obj, tips) else None
        on = self._ground()
        report = yield from grounding.ground_steps(context, obj, on, tips, first, last, options=options, found=found)
        return report.sentence() + contacts.left_out(obj, tips)

    def _ground(self) -> Any:
        if not self.ground:
            raise LimbIKError("no ground: name the object that the feet shall stand on")
        found = bpy.data.objects.get(self.ground)
        if found is None:
            raise LimbIKError(f"there is no object '{self.ground}' to stand on")
        return found
