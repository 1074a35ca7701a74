"""Contacts of feet and hands: found, listed, edited, planted; the ground that they stand on."""

from __future__ import annotations

from typing import Any

import bpy

from ..bake import contact_markers
from ..rig.setting_up import active
from . import words
from .panel import InSidebar

# More contacts than these are edited in the timeline.
MOST_LISTED = 12


class LIMB_IK_PT_feet(InSidebar, bpy.types.Panel):
    """Feet and hands that stay where they touch"""

    bl_label = "Contacts & Ground"
    bl_parent_id = "LIMB_IK_PT_main"
    bl_options = {'DEFAULT_CLOSED'}

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Whether the active armature has chains."""
        obj = active.active_armature(context)
        is_rig = obj is not None and obj.type == 'ARMATURE'
        return super().poll(context) and is_rig and bool(active.tip_names(obj))

    def draw(self, context: Any) -> None:
        obj: Any = active.active_armature(context)
        self.layout.use_property_decorate = False
        row = self.layout.row(align=True)
        row.operator("limb_ik.plant", text="Plant Here", icon='PINNED').mode = 'HERE'
        row.operator("limb_ik.plant", text="Release", icon='UNPINNED').mode = 'RELEASE'
        self.layout.operator("limb_ik.detect_contacts", icon='VIEWZOOM')
        marked = contact_markers.listed(context, obj)
        _list(self.layout, context, marked)
        if marked:
            plant = self.layout.operator("limb_ik.plant", text="Plant Contacts", icon='PINNED')
            plant.mode, plant.only_active = 'CONTACTS', False
        row = self.layout.row()
        row.operator_context = 'INVOKE_DEFAULT'
        row.operator("limb_ik.ground", text="Ground Feet...", icon='MESH_GRID')
        tip = active.active_tip(context, obj)
        if tip and obj.pose.bones[tip].limb_ik_solver != 'LOOK_AT':  # it stands nowhere
            _live_ground(self.layout, obj.pose.bones[tip])


def _live_ground(layout: Any, bone: Any) -> None:
    """The surface that the active chain is kept above while it is solved."""
    column = layout.column(align=True)
    column.use_property_split = True
    column.prop(bone, "limb_ik_ground", text="Live Ground")
    if bone.limb_ik_ground is not None:
        column.prop(bone, "limb_ik_ground_amount", slider=True)
        column.prop(bone, "limb_ik_ground_floor")


def _list(layout: Any, context: Any, marked: list[contact_markers.Marked]) -> None:
    """A row for each contact near the current frame, its two frames being those of its markers."""
    if not marked:
        return
    nearest = sorted(marked, key=lambda one: abs(one.down.frame - context.scene.frame_current))[:MOST_LISTED]
    column = layout.box().column(align=True)
    heading = column.row(align=True)
    for text in ("Contact", "Start", "End"):
        heading.label(text=text)
    for one in (row for row in marked if row in nearest):
        row = column.row(align=True)
        row.alert = one.up is None
        row.label(text=one.point)
        row.prop(one.down, "frame", text="")
        if one.up is not None:
            row.prop(one.up, "frame", text="")
    if len(marked) > len(nearest):
        words.message(layout, context, f"{len(marked)} contacts, the nearest are listed: all are in the timeline")
