"""Limb IK in Blender's menus: beside the list, in Pose, its context menu and its Inverse Kinematics menu.

What is in a menu is found by the search (F3), too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ..rig.setting_up import active


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
        _matching_over_frames(layout)
        layout.separator()
        layout.operator("limb_ik.remove_chain", text="Remove All IK Chains", icon='X').only_active = False


class LIMB_IK_MT_pose(bpy.types.Menu):
    """Exact IK for limbs and chains"""

    bl_label = "Limb IK"

    def draw(self, _context: Any) -> None:
        layout: Any = self.layout
        layout.operator_context = 'INVOKE_DEFAULT'
        _adding(layout)
        layout.separator()
        layout.operator("limb_ik.select_controls", icon='RESTRICT_SELECT_OFF')
        for to, text in (('TOGGLE', "Switch IK/FK"), ('IK', "Switch to IK"), ('FK', "Switch to FK")):
            layout.operator("limb_ik.switch", text=text).to = to
        layout.separator()
        layout.operator("limb_ik.match_ik", text="Match IK to FK").only_active = True
        layout.operator("limb_ik.match_fk", text="Match FK to IK").only_active = True
        _matching_over_frames(layout)
        layout.separator()
        layout.operator("limb_ik.mirror_chain", icon='MOD_MIRROR')
        layout.operator("limb_ik.copy_setup", icon='COPYDOWN')
        layout.operator("limb_ik.bake", text="Bake IK...", icon='KEYFRAME_HLT')
        layout.separator()
        layout.operator("limb_ik.remove_chain", text="Remove IK Chain", icon='X').only_active = True


def _adding(layout: Any) -> None:
    layout.operator("limb_ik.add_limbs", text="Add IK to Arms and Legs...", icon='ARMATURE_DATA')
    layout.operator("limb_ik.add_chain", text="Add IK to Selected Bones", icon='CON_KINEMATIC')
    layout.operator("limb_ik.convert_constraints", icon='CONSTRAINT_BONE')


def _matching_over_frames(layout: Any) -> None:
    """The dialog asks which frames, and of which chains."""
    layout.operator_context = 'INVOKE_DEFAULT'
    for name, text in (("match_ik", "Match IK to FK over Frames..."), ("match_fk", "Match FK to IK over Frames...")):
        settings = layout.operator(f"limb_ik.{name}", text=text)
        settings.use_range, settings.only_active = True, False


def _in_pose_menu(menu: Any, _context: Any) -> None:
    menu.layout.separator()
    menu.layout.menu("LIMB_IK_MT_pose")


def _in_ik_menu(menu: Any, _context: Any) -> None:
    menu.layout.separator()
    menu.layout.label(text="Limb IK")
    menu.layout.operator_context = 'INVOKE_DEFAULT'
    _adding(menu.layout)


def _in_object_menu(menu: Any, context: Any) -> None:
    obj = active.active_armature(context)
    if obj is not None and obj.type == 'ARMATURE':
        _in_pose_menu(menu, context)


# Blender's menus and what is appended to them.
APPENDED: tuple[tuple[str, Callable[[Any, Any], None]], ...] = (
    ("VIEW3D_MT_pose", _in_pose_menu),
    ("VIEW3D_MT_pose_context_menu", _in_pose_menu),
    ("VIEW3D_MT_pose_ik", _in_ik_menu),
    ("VIEW3D_MT_object_animation", _in_object_menu),
)


def register() -> None:
    """Append to Blender's menus."""
    for name, draw in APPENDED:
        getattr(bpy.types, name).append(draw)


def unregister() -> None:
    """Take what was appended out of Blender's menus."""
    for name, draw in APPENDED:
        getattr(bpy.types, name).remove(draw)
