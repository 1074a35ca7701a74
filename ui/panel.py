"""The sidebar's main panel: the chains of the active armature, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from .. import preferences
from ..rig import compat, render_lock
from ..rig.sentences import sentence
from ..rig.setting_up import active
from . import words

CATEGORY = "Limb IK"
MODES = {'OBJECT', 'POSE'}
# Part of a row's width that names of chains get; the weight has the rest.
NAME_PART = 0.58


class InSidebar:
    """Where every panel of Limb IK lies."""

    bl_space_type: Any = 'VIEW_3D'
    bl_region_type: Any = 'UI'
    bl_category = CATEGORY

    if TYPE_CHECKING:
        layout: Any

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Object and pose mode."""
        return context.mode in MODES


class LIMB_IK_PT_main(InSidebar, bpy.types.Panel):
    """Chains of the active armature"""

    bl_label = "Limb IK"

    def draw(self, context: Any) -> None:
        obj: Any = active.active_armature(context)
        if obj is None or obj.type != 'ARMATURE':
            words.message(self.layout, context, "Make an armature active to give its limbs IK")
            return
        tips = active.tip_names(obj)
        tip = active.active_tip(context, obj)
        _hints(self.layout, context, obj)
        if tips:
            _list(self.layout, obj, tips, tip)
        _add_buttons(self.layout, obj, has_chains=bool(tips))
        if tip:
            _status(self.layout, context, obj.pose.bones[tip])
        elif tips:
            words.message(self.layout, context, "Click a chain, or select one of its bones, to see its settings")


def _hints(layout: Any, context: Any, obj: Any) -> None:
    """What keeps IK from showing on this armature."""
    if not obj.is_editable:
        words.message(
            layout, context, "The armature is linked: make a library override of it to add IK", 'LIBRARY_DATA_DIRECT'
        )
    elif not obj.limb_ik.is_live:
        words.message(layout, context, "Live is off: the FK pose shows everywhere", 'PAUSE')
    elif obj.data.pose_position == 'REST':
        words.message(layout, context, "The armature is in rest position", 'ARMATURE_DATA')
    if render_lock.needs_locked_interface(context.scene):
        words.message(layout, context, "Renders and the screen share the pose: lock the interface while rendering")
        layout.prop(context.scene.render, "use_lock_interface", toggle=True)
    if compat.HIDES_IK_FROM_MOTION_PATHS and obj.animation_visualization.motion_path.has_motion_paths:
        words.message(layout, context, "Motion paths show the FK pose: bake IK to see its path")


def _list(layout: Any, obj: Any, tips: list[str], active_tip: str) -> None:
    row = layout.row()
    box = row.box().column(align=True)
    for tip in tips:
        _row(box, obj, obj.pose.bones[tip], is_active=tip == active_tip)
    side = row.column(align=True)
    side.operator("limb_ik.add_chain", text="", icon='ADD')
    remove = side.operator("limb_ik.remove_chain", text="", icon='REMOVE')
    remove.only_active = True
    side.separator()
    side.menu("LIMB_IK_MT_chain", text="", icon='DOWNARROW_HLT')
    side.separator()
    side.prop(obj.limb_ik, "is_live", text="", icon='PLAY' if obj.limb_ik.is_live else 'PAUSE')
    settings = preferences.entry()
    if settings is not None:
        side.prop(settings, "show_overlay", text="", icon='OVERLAY')


def _row(column: Any, obj: Any, bone: Any, is_active: bool) -> None:
    row = column.row(align=True)
    row.prop(bone, "limb_ik_mute", text="", icon='HIDE_ON' if bone.limb_ik_mute else 'HIDE_OFF', emboss=False)
    halves = row.split(factor=NAME_PART, align=True)
    name = halves.row(align=True)
    name.alignment = 'LEFT'
    name.alert = bone.limb_ik_status == 'INVALID'
    icon = words.STATUS_ICONS[bone.limb_ik_status]
    text = words.own_name(bone.name)
    button = name.operator("limb_ik.activate_chain", text=text, icon=icon, emboss=is_active, depress=is_active)
    button.armature, button.tips = obj.name, bone.name
    values = halves.row(align=True)
    values.active = not bone.limb_ik_mute
    values.prop(bone, "limb_ik_weight", text="", slider=True)
    values.prop(bone, "limb_ik_use_ik", text="", icon='CON_KINEMATIC')


def _add_buttons(layout: Any, obj: Any, has_chains: bool) -> None:
    if has_chains or not obj.is_editable:
        return
    column = layout.column(align=True)
    column.scale_y = 1.3
    column.operator("limb_ik.add_limbs", text="Add IK to Arms and Legs...", icon='ARMATURE_DATA')
    column.operator("limb_ik.add_chain", text="Add IK to Selected Bones", icon='CON_KINEMATIC')


def _status(layout: Any, context: Any, bone: Any) -> None:
    """Why the active chain isn't where it should be."""
    text = bone.limb_ik_message
    if text:
        is_bad = bone.limb_ik_status == 'INVALID'
        words.message(layout, context, sentence(text), 'ERROR' if is_bad else 'INFO')
