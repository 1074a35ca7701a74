"""Carrying settings of a chain and of joints from bones to others: same rig, other side, other rig.

Writes settings only, quietly; who calls marks the rig.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import dependency, marks
from .chain_setup import CHAIN_SETTINGS, JOINT_SETTINGS
from .setting_up import controls

# What a chain is asked to do; not what it hangs on, where it was set up, or what was made for it.
CARRIED = (
    "use_ik", "weight", "blend_time", "mute", "softness", "max_reach", "iterations", "tolerance", "use_warm_start",
    "use_limits", "pole_angle", "look_axis", "up_axis",
)  # fmt: skip


def copy_settings(source: Any, target: Any) -> None:
    """Give a tip bone the settings of another chain's tip bone."""
    _copy(source, target, CARRIED, "limb_ik_")


def reset(tip: Any) -> None:
    """Put every chain setting of a tip bone back to its default."""
    with marks.quiet():
        for name in CHAIN_SETTINGS:
            tip.property_unset(f"limb_ik_{name}")


def copy_joint(source: Any, target: Any) -> None:
    """Give a bone the limits and the share of another bone."""
    _copy(source, target, JOINT_SETTINGS, "limb_ik_joint_")


def _copy(source: Any, target: Any, names: Sequence[str], prefix: str) -> None:
    with marks.quiet():
        for name in names:
            setattr(target, prefix + name, getattr(source, prefix + name))


def is_linked(tip: Any, role: str) -> bool:
    """Whether a chain has a target or pole that set-up did not make for it."""
    return getattr(tip, f"limb_ik_{role}") is not None and not getattr(tip, f"limb_ik_made_{role}")


def relink(context: Any, obj: Any, tip_name: str, role: str, linked: Any, bone_name: str) -> None:
    """Let a chain reach for another object or bone (None: for nothing); what set-up made for it goes."""
    tip = obj.pose.bones[tip_name]
    made, made_bone = getattr(tip, f"limb_ik_{role}"), getattr(tip, f"limb_ik_{role}_bone")
    was_made = getattr(tip, f"limb_ik_made_{role}") and made is not None
    with marks.quiet():
        setattr(tip, f"limb_ik_{role}", linked)
        setattr(tip, f"limb_ik_{role}_bone", bone_name)
        setattr(tip, f"limb_ik_made_{role}", False)
    dependency.rebuild(obj)  # before the skeleton is edited: names are read back from drivers then
    if was_made:
        controls.remove(context, obj, (marks.key_of(made), made_bone))
    marks.touch(obj)


def uses_bones(tip: Any) -> bool:
    """Whether a chain's target is a bone."""
    return bool(tip.limb_ik_target_bone)
