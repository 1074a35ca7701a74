"""Match: targets to the FK pose, and the FK pose to what is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty

from ..bake import ranges
from ..bake.match_fk import match_fk_here, match_fk_steps
from ..bake.match_ik import match_ik_here, match_ik_steps
from ..bake.matching import MatchReport, Request
from ..bake.steps import Steps
from ..rig.sentences import counted
from ..rig.setting_up import active
from .in_steps import InSteps
from .on_rigs import OnRigs
from .over_range import OverRange


class Matching(InSteps, OverRange, OnRigs):
    """What both directions share: which chains and which frames. ``WHAT`` is what moves."""

    WHAT = ""

    if TYPE_CHECKING:
        keys_only: bool
    else:
        only_active: BoolProperty(
            name="Only Active", description="Only the chain of the active bone, not all chains of the armatures"
        )
        use_range: BoolProperty(name="Use Range", description="Keyed over these frames, not just at this one")
        keys_only: BoolProperty(
            name="Only at Keys",
            description="Over a range, only at frames that have keys already",
            options={'SKIP_SAVE'},
        )

    def invoke(self, context: Any, _event: bpy.types.Event) -> Any:
        """At this frame at once; over a range it asks first, with that of the animation filled in."""
        if not self.has_range() and not self.keys_only:
            return self.execute(context)
        self.fill_range(context, active.armatures(context))
        return self.ask(context, "Match")

    def draw(self, context: Any) -> None:
        """Which chains and frames."""
        operator: Any = self
        layout = operator.layout
        self.draw_armatures(context, layout)
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "only_active")
        self.draw_range(layout)
        layout.prop(self, "keys_only")

    def steps(self, context: Any) -> Steps[str]:
        requests = [Request(obj, tips, self.frames(context, obj, tips)) for obj, tips in self.asked(context)]
        if requests[0].frames is None:
            return self.said(self.match_here(context, requests))
        return self.said((yield from self.match_steps(context, requests)))

    def frames(self, context: Any, obj: Any, tips: list[str]) -> list[float] | None:
        """The frames to key, None for this frame without keys."""
        if not self.has_range() and not self.keys_only:
            return None
        every = ranges.frames_between(context, obj, *self.bounds())
        return self.keyed(obj, tips, every[0], every[-1]) if self.keys_only else list(every)

    def keyed(self, obj: Any, tips: list[str], first: float, last: float) -> list[float]:
        """The frames of ``keys_only``."""
        raise NotImplementedError

    def match_here(self, context: Any, requests: list[Request]) -> MatchReport:
        """Match at this frame."""
        raise NotImplementedError

    def match_steps(self, context: Any, requests: list[Request]) -> Steps[MatchReport]:
        """Match over frames."""
        raise NotImplementedError

    def said(self, report: MatchReport) -> str:
        """The report in words."""
        of = f" of {report.armatures} armatures" if report.armatures > 1 else ""
        what = f"{self.WHAT} of {counted(report.chains, 'chain')}{of} matched"
        where = f"over {counted(report.frames, 'frame')}: {counted(report.keys, 'key')}"
        here = "at this frame" + (f": {counted(report.keys, 'key')}" if report.keys else "")
        return "; ".join((f"{what} {where if report.frames else here}", *report.notes))


class LIMB_IK_OT_match_ik(Matching, bpy.types.Operator):
    """Put target and pole where the FK pose is, at this frame or keyed over a range"""

    bl_idname = "limb_ik.match_ik"
    bl_label = "Match IK to FK"
    bl_options = {'REGISTER', 'UNDO'}
    WHAT = "Targets"

    def keyed(self, obj: Any, tips: list[str], first: float, last: float) -> list[float]:
        return ranges.bone_keys(obj, tips, first, last)

    def match_here(self, context: Any, requests: list[Request]) -> MatchReport:
        return match_ik_here(context, requests)

    def match_steps(self, context: Any, requests: list[Request]) -> Steps[MatchReport]:
        return match_ik_steps(context, requests)


class LIMB_IK_OT_match_fk(Matching, bpy.types.Operator):
    """Make the FK pose what is seen now, at this frame or keyed over a range"""

    bl_idname = "limb_ik.match_fk"
    bl_label = "Match FK to IK"
    bl_options = {'REGISTER', 'UNDO'}
    WHAT = "FK pose"

    def keyed(self, obj: Any, tips: list[str], first: float, last: float) -> list[float]:
        return ranges.control_keys(obj, tips, first, last)

    def match_here(self, context: Any, requests: list[Request]) -> MatchReport:
        return match_fk_here(context, requests)

    def match_steps(self, context: Any, requests: list[Request]) -> Steps[MatchReport]:
        return match_fk_steps(context, requests)
