"""Switch between IK and FK by keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from ..bake import switching
from ..bake.matching import Request
from ..bake.shared_keys import shared_notes
from ..bake.switch_times import Switch
from ..rig.sentences import listed
from ..rig.session import timeline_frame
from .on_rigs import OnRigs

SIDES = (
    ('IK', "IK", "The target leads"),
    ('FK', "FK", "The bones' own rotations lead"),
    ('TOGGLE', "Toggle", "The other one than now"),
)
EASES = (
    ('AUTO', "Automatic", "Arrive at IK, leave for FK"),
    (
        'ARRIVE',
        "Arrive",
        "Complete at this frame, so that a planted foot doesn't slide; keyed FK motion shows its own pose here",
    ),
    ('LEAVE', "Leave", "Begins at this frame"),
)
# To IK or not, and whether a change is taken back.
KINDS = ((True, False), (False, False), (True, True), (False, True))


class LIMB_IK_OT_switch(OnRigs, bpy.types.Operator):
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
            name="Match",
            default=True,
            description="Put the side that is switched to where the other one is first, so that the pose stays; "
            "offsets on FK and FK motion with keys of its own are eased in as they are",
        )

    def work(self, context: Any) -> str:
        requests = [Request(obj, tips) for obj, tips in self.asked(context)]
        done = switching.switch_all(context, requests, self.to, ease=self.ease, use_match=self.match)
        groups = [[one for one in done if (one.is_on, one.is_back) == kind] for kind in KINDS]
        notes = shared_notes(switching.keyed_by(done, use_match=self.match))
        return "; ".join((*(_said(context, done, own) for own in groups if own), *notes))


def _said(context: Any, done: list[Switch], own: list[Switch]) -> str:
    """What was switched to one side, and over which frames of the timeline."""
    several = len({one.obj.name for one in done}) > 1
    names = listed(f"{one.obj.name}: {one.chain.tip}" if several else one.chain.tip for one in own)
    ends = min(one.frame for one in own), max(one.over for one in own)
    first, over = (timeline_frame(context.scene, end) for end in ends)
    side, other = ('IK', 'FK') if own[0].is_on else ('FK', 'IK')
    if own[0].is_back:
        return f"{side} for {names} as before: the change to {other} at frame {first:g} is taken back"
    return f"{side} for {names}: frames {first:g} to {over:g}"
