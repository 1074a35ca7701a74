"""What animates the settings of a crowd's chains: else nobody has to read them in every frame, or look for an ease.

A part of ``crowd``. This module must not solve or write.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import bpy

from .. import compat, data_paths, dependency, nla
from .fixed import Member
from .plan import Plan

USE_IK = ".limb_ik_use_ik"
ROTATION_MODE = ".rotation_mode"


class Animated(NamedTuple):
    """What may be animated in a rig; False is certain. ``settings``: any of a chain, its switch among them."""

    switch: bool
    settings: bool
    modes: bool


# By the rig's session number: for which plan, action, slot and numbers of curves it was looked for, and the answer.
_known: dict[int, tuple[Plan, tuple[int, ...], Animated]] = {}


def forget() -> None:
    """An action was edited: look for animated settings anew."""
    _known.clear()


def animated(member: Member) -> Animated:
    """What may be animated of a rig's plain chains; its curves are gone through once."""
    obj, plan = member.rig.obj, member.plan
    animation = obj.animation_data
    if animation is None:
        return Animated(switch=False, settings=False, modes=False)
    if nla.uses_strips(animation):
        return Animated(switch=True, settings=True, modes=True)
    curves, (action, slot) = compat.fcurves_of(obj), compat.action_and_slot(obj)
    mark = (
        0 if action is None else action.session_uid,
        0 if slot is None else slot.handle,
        len(curves),
        len(animation.drivers),
    )
    known = _known.get(member.uid)
    if known is None or known[0] is not plan or known[1] != mark:
        known = _known[member.uid] = plan, mark, _look(curves, animation.drivers)
    return known[2]


def _look(curves: Iterable[bpy.types.FCurve], drivers: Iterable[bpy.types.FCurve]) -> Animated:
    keyed = {curve.data_path for curve in curves}
    paths = keyed | {curve.data_path for curve in drivers} - dependency.OWN_PATHS
    return Animated(
        switch=any(path.endswith(USE_IK) for path in keyed),
        settings=any(data_paths.OWN_SETTING in path for path in paths),
        modes=any(path.endswith(ROTATION_MODE) for path in paths),
    )
