"""Remove IK chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty

from ..rig.sentences import listed
from ..rig.setting_up import removal
from .arguments import OnChains, check_tips


class LIMB_IK_OT_remove_chain(OnChains, bpy.types.Operator):
    """Remove IK from the chain; its bones take their FK pose again"""

    bl_idname = "limb_ik.remove_chain"
    bl_label = "Remove IK Chain"
    bl_options = {'REGISTER', 'UNDO'}

    if TYPE_CHECKING:
        remove_targets: bool
    else:
        remove_targets: BoolProperty(
            name="Remove Targets", default=True, description="Also delete targets and poles that were made for it"
        )

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        tips = self.chosen(context, obj)
        check_tips(obj, tips)
        stays = removal.remove_chains(context, obj, tips, remove_targets=self.remove_targets)
        return "; ".join((f"IK removed from {listed(tips)}", *stays))
