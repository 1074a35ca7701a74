"""Match: targets to the FK pose, and the FK pose to what is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty

from ..bake import ranges
from ..bake.match_fk import match_fk
from ..bake.match_range import MatchReport, match_ik
from .arguments import OnChains, OverRange, counted


class Matching(OverRange, OnChains):
    """What both directions share: which chains and which frames."""

    if TYPE_CHECKING:
        keys_only: bool
    else:
        only_active: BoolProperty(
            name="Only Active", description="Only the chain of the active bone, not all chains of the armature"
        )
        keys_only: BoolProperty(
            name="Only at Keys",
            description="Over a range, only at frames that have keys already",
            options={'SKIP_SAVE'},
        )

    def frames(self, context: Any, obj: Any, tips: list[str]) -> list[float] | None:
        """The frames to key, None for this frame without keys."""
        if not self.has_range() and not self.keys_only:
            return None
        every = ranges.frames_between(context, obj, *self.bounds())
        return self.keyed(obj, tips, every[0], every[-1]) if self.keys_only else list(every)

    def keyed(self, obj: Any, tips: list[str], first: float, last: float) -> list[float]:
        """The frames of ``keys_only``."""
        raise NotImplementedError


def _said(what: str, report: MatchReport) -> str:
    chains = counted(report.chains, "chain")
    said = f"{what} of {chains} matched at this frame"
    if report.frames:
        said = f"{what} of {chains} matched over {counted(report.frames, 'frame')}: {counted(report.keys, 'key')}"
    return "; ".join((said, *report.notes))


class LIMB_IK_OT_match_ik(Matching, bpy.types.Operator):
    """Put target and pole where the FK pose is, at this frame or keyed over a range"""

    bl_idname = "limb_ik.match_ik"
    bl_label = "Match IK to FK"
    bl_options = {'REGISTER', 'UNDO'}

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        tips = self.chosen(context, obj)
        return _said("Targets", match_ik(context, obj, tips, self.frames(context, obj, tips)))

    def keyed(self, obj: Any, tips: list[str], first: float, last: float) -> list[float]:
        return ranges.bone_keys(obj, tips, first, last)


class LIMB_IK_OT_match_fk(Matching, bpy.types.Operator):
    """Make the FK pose what is seen now, at this frame or keyed over a range"""

    bl_idname = "limb_ik.match_fk"
    bl_label = "Match FK to IK"
    bl_options = {'REGISTER', 'UNDO'}

    def work(self, context: Any) -> str:
        obj = self.rig(context)
        tips = self.chosen(context, obj)
        return _said("FK pose", match_fk(context, obj, tips, self.frames(context, obj, tips)))

    def keyed(self, obj: Any, tips: list[str], first: float, last: float) -> list[float]:
        return ranges.control_keys(obj, tips, first, last)
