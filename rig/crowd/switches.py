"""Whether the switches of a crowd's chains are keyed: else nobody has to look for an ease in every frame.

A part of ``crowd``. This module must not solve or write.
"""

from __future__ import annotations

from .. import compat, nla
from .fixed import Member
from .plan import Plan

# By the rig's session number: plan, action and number of F-curves for which a switch was looked for, and the answer.
_known: dict[int, tuple[Plan, int, int, bool]] = {}


def forget() -> None:
    """An action was edited: look for keyed switches anew."""
    _known.clear()


def may_switch(member: Member) -> bool:
    """Whether ``use_ik`` of any of a rig's plain chains may be keyed; asked once per rig, False is certain."""
    obj, plan = member.rig.obj, member.plan
    animation = obj.animation_data
    if animation is None:
        return False
    if nla.uses_strips(animation):
        return True
    curves = compat.fcurves_of(obj)
    action = animation.action.session_uid if animation.action else 0
    known = _known.get(member.uid)
    if known is None or known[0] is not plan or known[1] != action or known[2] != len(curves):
        is_keyed = any(compat.find_in(curves, path) is not None for path in plan.switches)
        known = _known[member.uid] = plan, action, len(curves), is_keyed
    return known[3]
