"""Plant feet and hands: where they are now, or where the timeline says that they touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, StringProperty

from ..bake import contact_markers, planting
from ..bake.shared_keys import shared_notes
from ..bake.steps import Steps
from ..rig.errors import LimbIKError
from ..rig.sentences import listed
from .arguments import OnChains
from .in_steps import InSteps
from .over_range import OverRange

MODES = (
    ('HERE', "Here", "Pin the end where it is now, from this frame on or over a range"),
    ('CONTACTS', "Contacts", "Plant the contacts that are marked in the timeline"),
    ('RELEASE', "Release", "Let go at this frame: the ease back to the motion begins here"),
)


class LIMB_IK_OT_plant(InSteps, OverRange, OnChains, bpy.types.Operator):
    """Keep feet and hands where they touch: targets stand still and IK is on for as long; nothing else changes"""

    bl_idname = "limb_ik.plant"
    bl_label = "Plant"
    bl_options = {'REGISTER', 'UNDO'}

    if TYPE_CHECKING:
        mode: str
        on: str
        on_bone: str
    else:
        mode: EnumProperty(name="Mode", items=MODES, default='HERE', description="What is planted, or let go")
        on: StringProperty(
            name="On", description="Name of the object that the end goes along with; the world where empty",
            options={'SKIP_SAVE'},
        )  # fmt: skip
        on_bone: StringProperty(
            name="Bone", description="A bone of that object to go along with", options={'SKIP_SAVE'}
        )

    def draw(self, context: Any) -> None:
        """A range and what to stand on, where the end is pinned here."""
        layout: Any = self.layout
        layout.use_property_split = True
        for name in ("mode", "only_active"):
            layout.prop(self, name)
        if self.mode != 'HERE':
            return
        self.draw_range(layout)
        layout.prop_search(self, "on", context.scene, "objects")

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        """In steps, so that reading a long motion can be stopped."""
        return self.execute(context) if context.window is None else self.begin(context)

    def steps(self, context: Any) -> Steps[str]:
        obj = self.rig(context)
        tips = self.chosen(context, obj)
        if self.mode == 'RELEASE':
            released = listed(planting.release(context, obj, tips))
            return "; ".join((f"released: {released}", *shared_notes([obj])))
        if self.mode == 'CONTACTS':
            found = contact_markers.read(context, obj, tips)
            return (yield from planting.plant_contacts_steps(context, obj, found)).sentence()
        first, last = self.bounds()
        on = self._carrier()
        report = yield from planting.plant_steps(context, obj, tips, first, last, on=on, on_bone=self.on_bone)
        return report.sentence()

    def _carrier(self) -> Any:
        if not self.on:
            return None
        found = bpy.data.objects.get(self.on)
        if found is None:
            raise LimbIKError(f"there is no object '{self.on}' to stand on")
        return found
