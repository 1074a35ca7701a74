"""What else can be done with chains: the menu beside their list."""

from __future__ import annotations

from typing import Any

import bpy


class LIMB_IK_MT_chain(bpy.types.Menu):
    """More for IK chains"""

    bl_label = "IK Chain Specials"

    def draw(self, _context: Any) -> None:
        layout: Any = self.layout
        layout.operator("limb_ik.add_limbs", text="Add IK to Arms and Legs", icon='ARMATURE_DATA')
        layout.operator("limb_ik.convert_constraints", icon='CONSTRAINT_BONE')
        layout.separator()
        layout.operator("limb_ik.mirror_chain", icon='MOD_MIRROR')
        layout.operator("limb_ik.copy_setup", icon='COPYDOWN')
        layout.separator()
        layout.operator("limb_ik.match_ik", text="Match All IK to FK").only_active = False
        layout.operator("limb_ik.match_fk", text="Match All FK to IK").only_active = False
        layout.separator()
        layout.operator("limb_ik.remove_chain", text="Remove All IK Chains", icon='X').only_active = False
