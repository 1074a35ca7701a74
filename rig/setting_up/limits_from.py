"""Joint limits out of what Blender's own IK, locks and Limit Rotation have: a range per axis, or a lock.

Space: the bone's rest frame. Units: radians. Writes settings of joints only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import marks
from ..errors import LimbIKError
from . import active

AXES = "xyz"
UNIT_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
# Blender writes a range this narrow (0.06°) where people mean a lock.
LOCKED_RANGE = 1e-3


@dataclass(frozen=True, slots=True)
class AxisRange:
    """How far a bone turns about one of its axes; ``is_limited`` False: all around."""

    low: float = -math.pi
    high: float = math.pi
    is_limited: bool = False

    @property
    def is_locked(self) -> bool:
        """Whether nothing is left to turn."""
        return self.is_limited and self.high - self.low < LOCKED_RANGE


LOCKED = AxisRange(0.0, 0.0, True)


def limits_from_ik(bone: Any) -> None:
    """Joint limits as the bone's own IK settings (locks and limits) say; free where they say nothing."""
    _put(bone, {axis: _ik_range(bone, axis) for axis in AXES})


def take_limits(obj: Any, tips: Sequence[str]) -> list[str]:
    """Joint limits out of the IK limits, IK locks and rotation locks of the bones that chains turn.

    Returns:
        Names of the bones that got limits; those that have none are left as they are.

    Raises:
        LimbIKError: no chain ends at a tip, or no bone has limits or locks; nothing was changed.
    """
    rows = {tip: active.turned_bones(active.tip_named(obj, tip)) for tip in tips}
    ranges = {bone.name: _own_ranges(bone) for row in rows.values() for bone in row}
    found = [name for name, own in ranges.items() if any(one.is_limited for one in own.values())]
    if not found:
        raise LimbIKError(f"no bone of the chain at '{tips[0]}' has IK limits, IK locks or rotation locks")
    with marks.quiet():
        for name in found:
            _put(obj.pose.bones[name], ranges[name])
    marks.touch(obj)
    return found


def _own_ranges(bone: Any) -> dict[str, AxisRange]:
    """What the bone's IK settings say of each axis, where they leave it free its rotation lock."""
    ranges = {axis: _ik_range(bone, axis) for axis in AXES}
    for axis, is_locked in zip(AXES, bone.lock_rotation, strict=True):
        if is_locked and not ranges[axis].is_limited:
            ranges[axis] = LOCKED
    return ranges


def _ik_range(bone: Any, axis: str) -> AxisRange:
    if getattr(bone, f"lock_ik_{axis}"):
        return LOCKED
    if getattr(bone, f"use_ik_limit_{axis}"):
        return AxisRange(getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}"), True)
    return AxisRange()


def limits_from_rotation(bone: Any, constraint: Any) -> None:
    """Joint limits as a Limit Rotation constraint in local space says."""
    ranges = {}
    for axis in AXES:
        is_limited = getattr(constraint, f"use_limit_{axis}")
        low, high = getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")
        ranges[axis] = AxisRange(low, high, True) if is_limited else AxisRange()
    _put(bone, ranges)


def _put(bone: Any, ranges: dict[str, AxisRange]) -> None:
    if not any(one.is_limited for one in ranges.values()):
        return
    turning = [axis for axis in AXES if not ranges[axis].is_locked]
    if len(turning) == 1:
        bone.limb_ik_joint_kind = 'HINGE'
        bone.limb_ik_joint_hinge_axis = UNIT_AXES[turning[0]]
        bone.limb_ik_joint_min_angle = ranges[turning[0]].low
        bone.limb_ik_joint_max_angle = ranges[turning[0]].high
        return
    bone.limb_ik_joint_kind = 'BALL'
    for axis, name in (("x", "swing_x"), ("z", "swing_z"), ("y", "twist")):
        setattr(bone, f"limb_ik_joint_{name}_min", ranges[axis].low)
        setattr(bone, f"limb_ik_joint_{name}_max", ranges[axis].high)
