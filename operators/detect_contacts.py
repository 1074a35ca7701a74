"""Find where feet and hands touch, and mark it in the timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, FloatProperty

from ..bake import contact_markers, contacts, planting
from ..bake.ranges import frames_between
from ..bake.steps import Steps
from ..rig.sentences import counted
from ..solvers.contacts import SHORTEST_S
from .arguments import TipsArgument, WithChains, split_names
from .in_steps import InSteps
from .over_range import OverRange


class LIMB_IK_OT_detect_contacts(InSteps, OverRange, TipsArgument, WithChains, bpy.types.Operator):
    """Find the frames in which feet are at rest, from the motion, and mark them in the timeline"""

    bl_idname = "limb_ik.detect_contacts"
    bl_label = "Detect Contacts"
    bl_options = {'REGISTER', 'UNDO'}
    NO_CHAIN = "The armature has no IK chain: add IK to its legs first"

    if TYPE_CHECKING:
        hands: bool
        use_speed: bool
        speed: float
        shortest: float
        plant: bool
    else:
        hands: BoolProperty(name="Hands", description="Look at hands, too, which rest in the air as well")
        use_speed: BoolProperty(name="Own Speed", description="This speed instead of the one found from the motion")
        speed: FloatProperty(
            name="Fastest Rest",
            description="Speed up to which a foot counts as resting, in lengths of the limb a second",
            default=0.4,
            min=0.0,
            soft_max=2.0,
        )
        shortest: FloatProperty(
            name="Shortest",
            description="Seconds that a contact has at least",
            default=SHORTEST_S,
            min=0.0,
            soft_max=1.0,
        )
        plant: BoolProperty(name="Plant", description="Plant what was found at once", options={'SKIP_SAVE'})

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        """In steps, so that reading a long motion can be stopped."""
        return self.execute(context) if context.window is None else self.begin(context)

    def steps(self, context: Any) -> Steps[str]:
        obj = self.rig(context)
        tips = split_names(self.tips, obj.pose.bones.keys()) if self.tips else []
        frames = frames_between(context, obj, *self.bounds())
        operator: Any = self
        is_own = self.use_speed or operator.properties.is_property_set("speed")
        found = yield from contacts.detect_steps(
            context, obj, tips, hands=self.hands, frames=frames, speed=self.speed if is_own else None,
            shortest_s=self.shortest,
        )  # fmt: skip
        looked_at = [chain.tip for chain in contacts.chosen(obj, tips, hands=self.hands)]
        said = f"{counted(len(found), 'contact')} found"
        if self.plant:
            said = (yield from planting.plant_contacts_steps(context, obj, found, frames=frames)).sentence()
        contact_markers.put(context, obj, found, looked_at)
        return said + contacts.left_out(obj, tips, hands=self.hands)
