"""Carrying settings of a chain and of joints from bones to others: same rig, other side, other rig.

Writes settings only, quietly; who calls marks the rig.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import marks
from .chain_setup import CHAIN_SETTINGS, JOINT_SETTINGS

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
