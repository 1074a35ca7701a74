"""A rig's set-up on other armatures with the same bone names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..rig.errors import LimbIKError
from ..rig.sentences import counted
from ..rig.setting_up import active
from ..rig.setting_up.copy_setup import copy_setup
from .arguments import OnChains, for_each, split_names


class LIMB_IK_OT_copy_setup(OnChains, bpy.types.Operator):
    """Copy the IK chains of the active armature to the other selected armatures"""

    bl_idname = "limb_ik.copy_setup"
    bl_label = "Copy IK to Selected Armatures"
    bl_options = {'REGISTER', 'UNDO'}

    if TYPE_CHECKING:
        to: str
    else:
        only_active: BoolProperty(
            name="Only Active", description="Only the chain of the active bone, not all chains of the armature"
        )
        to: StringProperty(
            name="To",
            description="Names of the armature objects that get the chains, with commas between; "
            "the other selected ones where empty",
            options={'SKIP_SAVE', 'HIDDEN'},
        )

    @classmethod
    def poll_in_view(cls, context: Any) -> bool:
        if not super().poll_in_view(context):
            return False
        source = active.active_armature(context)
        if not any(obj != source and obj.type == 'ARMATURE' for obj in context.selected_objects):
            return cls.refuse("Select the armatures that shall get the chains, the one that has them last")
        return True

    def work(self, context: Any) -> str:
        source = self.rig(context)
        tips = self.chosen(context, source)
        targets = self._targets(context, source)
        done, problems = for_each(targets, lambda target: copy_setup(context, source, target, tips))
        text = f"{counted(sum(len(one.tips) for one in done), 'chain')} copied to {counted(len(done), 'armature')}"
        return "; ".join((text, *(note for one in done for note in one.skipped), *problems))

    def _targets(self, context: Any, source: Any) -> list[Any]:
        """The armatures that get the chains, at least one."""
        if self.to:
            known = [obj.name for obj in bpy.data.objects if obj.type == 'ARMATURE']
            return [bpy.data.objects[name] for name in split_names(self.to, known, "armature")]
        chosen = [obj for obj in context.view_layer.objects if obj.type == 'ARMATURE' and obj.select_get()]
        found = [obj for obj in chosen if obj != source]
        if not found:
            raise LimbIKError("no other armature is selected that could get the chains")
        return found
