"""Add an IK chain from the active or selected bones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from .. import properties
from ..bake import motion
from ..rig.sentences import listed, sentence
from ..rig.setting_up import active, rigify, selection
from ..rig.setting_up.setup import ChainPlan
from .arguments import OnArmature, split_names
from .new_chains import NewChains

SOLVERS = (
    ('AUTO', "Automatic", "Two bones for a limb, FABRIK for longer chains, look-at for a single bone"),
    *(item for item in properties.SOLVERS if item[0] != 'NONE'),
)


def switched(before: dict[str, float], obj: Any) -> str:
    """What to say where a Rigify rig was switched to its FK controls."""
    after = rigify.switches(obj)
    names = [name for name, value in before.items() if after.get(name) != value]
    return f"; Rigify's IK_FK set to FK on {listed(names)}" if names else ""


class LIMB_IK_OT_add_chain(NewChains, OnArmature, bpy.types.Operator):
    """Add IK to the selected bones, with a target and a pole where the pose stays as it is"""

    bl_idname = "limb_ik.add_chain"
    bl_label = "Add IK Chain"
    bl_options = {'REGISTER', 'UNDO'}

    if TYPE_CHECKING:
        tips: str
        solver: str
        chain_length: int
        use_pole: bool
    else:
        tips: StringProperty(
            name="Tips",
            description="Names of the bones at which the chains shall end, with commas between; "
            "the selected bones where empty",
            options={'SKIP_SAVE', 'HIDDEN'},
        )
        solver: EnumProperty(
            name="Solver", items=SOLVERS, default='AUTO', description="How the chain is solved", options={'SKIP_SAVE'}
        )
        chain_length: IntProperty(
            name="Chain Length",
            description="How many bones are included in the chain, up to all parents where it is 0; "
            "from the selection where it isn't set",
            default=2,
            min=0,
            max=255,
            options={'SKIP_SAVE'},
        )
        use_pole: BoolProperty(
            name="Pole Target", default=True, description="Make a pole that the elbow or knee bends toward"
        )

    @classmethod
    def poll_in_view(cls, context: Any) -> bool:
        if not super().poll_in_view(context):
            return False
        obj = active.active_armature(context)
        if obj is None or obj.data.bones.active is None:
            return cls.refuse(sentence(selection.NOTHING_SELECTED))
        return True

    def invoke(self, context: Any, _event: Any) -> Any:
        """A click or a shortcut: new chains begin with the preferences."""
        self.take_preferences()
        return self.execute(context)

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        before = rigify.switches(obj)
        found = motion.add_chains(context, obj, self._plans(obj), self.motion)
        self.set_blend_time(obj, found)
        return f"IK added to {listed(found)}{switched(before, obj)}"

    def _plans(self, obj: Any) -> list[ChainPlan]:
        if self.tips:
            lines = [(name, name) for name in split_names(self.tips, obj.pose.bones.keys())]
        else:
            lines = selection.lines_of(obj, selection.selected_names(obj))
        is_set = self.properties.is_property_set("chain_length")
        return [
            selection.plan_for(
                obj,
                root,
                tip,
                solver=self.solver,
                chain_length=self.chain_length if is_set else None,
                target_kind=self.target_kind,
                use_pole=self.use_pole,
            )
            for root, tip in lines
        ]
