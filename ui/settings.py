"""Sub-panels with the settings of the active chain, each showing what its solver uses."""

from __future__ import annotations

from typing import Any

import bpy

from ..rig.chain_setup import HINGED, REACHING
from ..rig.setting_up import active
from .panel import InSidebar

WITH_ITERATIONS = {'FABRIK', 'LEG'}
LIMITS: dict[str, tuple[tuple[str, str], ...]] = {
    'FREE': (),
    'HINGE': (("min_angle", "Min"), ("max_angle", "Max")),
    'BALL': (
        ("swing_x_min", "Swing X Min"),
        ("swing_x_max", "Max"),
        ("swing_z_min", "Swing Z Min"),
        ("swing_z_max", "Max"),
        ("twist_min", "Twist Min"),
        ("twist_max", "Max"),
    ),
}


class OfChain(InSidebar):
    """A sub-panel that shows while a chain is active."""

    bl_parent_id = "LIMB_IK_PT_main"

    @classmethod
    def poll(cls, context: Any) -> bool:
        """Whether a chain is active."""
        return super().poll(context) and cls.bone(context) is not None

    @staticmethod
    def bone(context: Any) -> Any:
        """Tip bone of the active chain, or None."""
        obj: Any = active.active_armature(context)
        if obj is None or obj.type != 'ARMATURE':
            return None
        return obj.pose.bones.get(active.active_tip(context, obj))

    def draw(self, context: Any) -> None:
        """Labels to the left, values to the right, decorators, as in Blender's own panels."""
        self.layout.use_property_split = True
        self.draw_chain(self.layout, self.bone(context))

    def draw_chain(self, layout: Any, bone: Any) -> None:
        """Draw the settings of the chain."""
        raise NotImplementedError


def _link(layout: Any, bone: Any, role: str, label: str) -> None:
    """An object picker, with one for a bone below where the object is an armature."""
    column = layout.column(align=True)
    column.prop(bone, f"limb_ik_{role}", text=label)
    linked = getattr(bone, f"limb_ik_{role}")
    if linked is not None and linked.type == 'ARMATURE':
        column.prop_search(bone, f"limb_ik_{role}_bone", linked.data, "bones", text="Bone")


class LIMB_IK_PT_target(OfChain, bpy.types.Panel):
    """Where the chain reaches, and the side it bends to"""

    bl_label = "Target & Pole"

    def draw_chain(self, layout: Any, bone: Any) -> None:
        _link(layout, bone, "target", "Target")
        if bone.limb_ik_solver in REACHING:
            _link(layout, bone, "pole", "Pole Target")
            layout.prop(bone, "limb_ik_pole_angle")
        if bone.limb_ik_solver == 'LOOK_AT':
            layout.prop(bone, "limb_ik_look_axis")
            layout.prop(bone, "limb_ik_up_axis")
        layout.prop(bone, "limb_ik_target_space")
        layout.operator("limb_ik.select_controls", icon='RESTRICT_SELECT_OFF')


class LIMB_IK_PT_weight(OfChain, bpy.types.Panel):
    """How much of IK, and how it comes and goes"""

    bl_label = "Weight & Blend"

    def draw_chain(self, layout: Any, bone: Any) -> None:
        layout.prop(bone, "limb_ik_use_ik")
        column = layout.column()
        column.prop(bone, "limb_ik_weight", slider=True)
        column.prop(bone, "limb_ik_blend_time")
        row = layout.row(align=True)
        for to, text in (('IK', "Switch to IK"), ('FK', "Switch to FK")):
            row.operator("limb_ik.switch", text=text).to = to
        row = layout.row(align=True)
        for name, text in (("match_ik", "Match IK to FK"), ("match_fk", "Match FK to IK")):
            row.operator(f"limb_ik.{name}", text=text).only_active = True


class LIMB_IK_PT_end(OfChain, bpy.types.Panel):
    """The bone whose head reaches the target, such as hand or foot"""

    bl_label = "End Bone"
    bl_options = {'DEFAULT_CLOSED'}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and cls.bone(context).limb_ik_solver in REACHING

    def draw_chain(self, layout: Any, bone: Any) -> None:
        layout.prop_search(bone, "limb_ik_end_bone", bone.id_data.pose, "bones")
        row = layout.row()
        row.active = bool(bone.limb_ik_end_bone)
        row.prop(bone, "limb_ik_end_rotation", text="Rotation")


class LIMB_IK_PT_limits(OfChain, bpy.types.Panel):
    """How far the joints of the chain turn"""

    bl_label = "Limits"
    bl_options = {'DEFAULT_CLOSED'}

    def draw_header(self, context: Any) -> None:
        self.layout.prop(self.bone(context), "limb_ik_use_limits", text="")

    def draw_chain(self, layout: Any, bone: Any) -> None:
        layout.active = bone.limb_ik_use_limits
        layout.operator("limb_ik.take_limits", icon='CON_ROTLIMIT').only_active = True
        joints = active.turned_bones(bone)
        has_share = bone.limb_ik_solver in {'LOOK_AT', 'LEG'}
        for joint in joints:
            column = layout.column(align=True)
            column.prop(joint, "limb_ik_joint_kind", text=joint.name)
            _joint(column, joint)
            if has_share:
                column.prop(joint, "limb_ik_joint_share")


def _joint(layout: Any, joint: Any) -> None:
    if joint.limb_ik_joint_kind == 'HINGE':
        layout.prop(joint, "limb_ik_joint_hinge_axis", text="Axis")
    for name, label in LIMITS[joint.limb_ik_joint_kind]:
        layout.prop(joint, f"limb_ik_joint_{name}", text=label)


class LIMB_IK_PT_solver(OfChain, bpy.types.Panel):
    """How the chain is solved"""

    bl_label = "Solver"
    bl_options = {'DEFAULT_CLOSED'}

    def draw_chain(self, layout: Any, bone: Any) -> None:
        solver = bone.limb_ik_solver
        layout.prop(bone, "limb_ik_solver")
        layout.prop(bone, "limb_ik_chain_length")
        if solver in REACHING:
            layout.prop(bone, "limb_ik_softness", slider=True)
            layout.prop(bone, "limb_ik_max_reach", slider=True)
        if solver in HINGED:
            layout.prop(bone, "limb_ik_bend_axis")
        if solver in WITH_ITERATIONS:
            layout.prop(bone, "limb_ik_iterations")
        if solver == 'FABRIK':
            layout.prop(bone, "limb_ik_tolerance")
            layout.prop(bone, "limb_ik_use_warm_start")


class LIMB_IK_PT_bake(OfChain, bpy.types.Panel):
    """IK to keyframes"""

    bl_label = "Bake"
    bl_options = {'DEFAULT_CLOSED'}

    def draw(self, context: Any) -> None:
        """The active chain, or all chains of the armatures that are selected or in pose mode."""
        count = sum(1 for obj in active.armatures(context) if active.tip_names(obj))
        column = self.layout.column(align=True)
        column.operator_context = 'INVOKE_DEFAULT'
        column.operator("limb_ik.bake", text="Bake Chain...", icon='KEYFRAME_HLT').only_active = True
        text = f"Bake {count} Armatures..." if count > 1 else "Bake Armature..."
        column.operator("limb_ik.bake", text=text).only_active = False
