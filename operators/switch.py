"""Switch between IK and FK by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..bake import switching
from .arguments import OnChains, listed

SIDES = (
    ('IK', "IK", "The target leads"),
    ('FK', "FK", "The bones' own rotations lead"),
    ('TOGGLE', "Toggle", "The other one than now"),
)
EASES = (
    ('AUTO', "Automatic", "Arrive at IK, leave for FK"),
    ('ARRIVE', "Arrive", "Complete at this frame, so that a planted foot doesn't slide"),
    ('LEAVE', "Leave", "Begins at this frame"),
)


class LIMB_IK_OT_switch(OnChains, bpy.types.Operator):
    """Key the change between IK and FK at this frame, eased over the blend time"""

    bl_idname = "limb_ik.switch"
    bl_label = "Switch IK/FK"
    bl_options = {'REGISTER', 'UNDO'}

    if TYPE_CHECKING:
        to: str
        ease: str
        match: bool
    else:
        to: EnumProperty(name="To", items=SIDES, default='TOGGLE', description="What leads from here on")
        ease: EnumProperty(name="Ease", items=EASES, default='AUTO', description="Where the change lies in time")
        match: BoolProperty(
            name="Match", default=True, description="Put the side that is switched to where the other one is first"
        )

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        tips = self.chosen(context, obj)
        done = switching.switch(context, obj, tips, self.to, ease=self.ease, use_match=self.match)
        first = done[0]
        side = "IK" if first.is_on else "FK"
        return f"{side} for {listed(one.chain.tip for one in done)}: frames {first.frame:g} to {first.over:g}"
