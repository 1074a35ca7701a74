"""The same chain on the other side."""

from __future__ import annotations

from typing import Any

import bpy

from ..rig.sentences import listed
from ..rig.setting_up import mirror
from .arguments import OnChains, for_each


class LIMB_IK_OT_mirror_chain(OnChains, bpy.types.Operator):
    """Put the same chain with its limits onto the other side of the body"""

    bl_idname = "limb_ik.mirror_chain"
    bl_label = "Mirror IK Chain"
    bl_options = {'REGISTER', 'UNDO'}

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        tips = self.chosen(context, obj)
        done, problems = for_each(tips, lambda tip: mirror.mirror_chain(context, obj, tip))
        return "; ".join((f"IK mirrored to {listed(done)}", *problems))
