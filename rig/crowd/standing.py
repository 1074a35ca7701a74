"""What holds of a crowd's rigs until something is edited: what their targets hang on, whether switches are keyed.

A part of ``crowd``; looked up once, not in every frame. Parents, constraints, pointers and new curves make Blender
build its dependency graph anew (which updates the scene: measured on 4.2, 4.5 and 5.3) or come with an update that
handlers see; both call ``forget``. This module must not solve or write.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import compat
from .asked import Free
from .fixed import Member
from .plan import Plan


class Standing(NamedTuple):
    """Of a plan. ``is_still``: nothing that is solved moves the rig, and targets and poles of its plain chains.

    ``may_switch``: ``use_ik`` of one of these chains may be keyed; False is certain.
    """

    plan: Plan
    is_still: bool
    may_switch: bool


# By the rig's session number.
_known: dict[int, Standing] = {}


def forget() -> None:
    """Something was edited, or the dependency graph built anew: look again."""
    _known.clear()


def standing_of(member: Member, free: Free) -> Standing:
    """What holds of a rig."""
    known = _known.get(member.uid)
    if known is None or known.plan is not member.plan:
        known = _known[member.uid] = Standing(member.plan, _is_still(member, free), _may_switch(member))
    return known


def _is_still(member: Member, free: Free) -> bool:
    rig, plan = member.rig, member.plan
    links = [key for chain in plan.chains for key in (chain.target_key, chain.pole_key) if key is not None]
    if any(bone for _, bone in links) or not free.is_free(rig.evaluated):
        return False
    tips = [rig.bones[bone] for bone in plan.tips]
    objects = [tip.limb_ik_target for tip in tips]
    objects += [tip.limb_ik_pole for tip, has_pole in zip(tips, plan.has_pole, strict=True) if has_pole]
    return all(one is not None and free.is_free(one) for one in objects)


def _may_switch(member: Member) -> bool:
    animation: Any = member.rig.obj.animation_data
    if animation is None:
        return False
    curves = compat.fcurves_of(member.rig.obj)
    is_keyed = any(compat.find_in(curves, path) is not None for path in member.plan.switches)
    return is_keyed or len(animation.nla_tracks) > 0
