"""What a clip is: parts of one motion, each an action for one object or for one mesh's shape keys.

Reads only. Must not know file formats, nor where clips are found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import bpy

from ..rig import compat, data_paths
from ..rig.chains import setup_of

# Keys that were seconds in a file are this near to whole frames (float32 seconds, a few thousand frames).
FRAME_NOISE = 1e-3


@dataclass(frozen=True, slots=True)
class Part:
    """What a clip makes of one object, or of one mesh's shape keys. ``slot``: None before Blender 4.4."""

    owner: bpy.types.ID
    action: bpy.types.Action
    slot: Any

    @property
    def curves(self) -> Sequence[bpy.types.FCurve]:
        """The F-curves of the clip for this owner."""
        return compat.action_fcurves(self.action, self.slot)


@dataclass(frozen=True, slots=True)
class Clip:
    """One clip: its name, and its parts. The motion that plays has no part where NLA strips play."""

    name: str
    parts: tuple[Part, ...]

    @property
    def is_under_ik(self) -> bool:
        """Whether IK belongs to the motion and its curves alone are not what is seen."""
        return any(_has_live_chain(part.owner) or _has_own_settings(part) for part in self.parts)

    def frames(self) -> tuple[int, int] | None:
        """The whole frames that hold its keys, those of armatures where it has some; None: there are none."""
        armatures = [part for part in self.parts if is_armature(part.owner)]
        return whole_frames(
            tuple(cast(Any, curve.range()))
            for part in armatures or self.parts
            for curve in part.curves
            if len(curve.keyframe_points)
        )


def whole_frames(ranges: Iterable[tuple[float, float]]) -> tuple[int, int] | None:
    """First and last whole frame around all ranges; None where there are none, or one has no number."""
    found = list(ranges)
    if not found or not all(math.isfinite(end) for ends in found for end in ends):
        return None
    return math.floor(min(r[0] for r in found) + FRAME_NOISE), math.ceil(max(r[1] for r in found) - FRAME_NOISE)


def animation_of(owner: bpy.types.ID) -> bpy.types.AnimData:
    """The animation data of an owner of a clip's part, all of which have some."""
    return cast(bpy.types.AnimData, cast(Any, owner).animation_data)


def is_armature(owner: bpy.types.ID) -> bool:
    """Whether an owner of a part is an armature object."""
    return isinstance(owner, bpy.types.Object) and owner.type == 'ARMATURE'


def _has_live_chain(owner: bpy.types.ID) -> bool:
    if not is_armature(owner):
        return False
    return any(not chain.is_muted and not chain.problem for chain in setup_of(cast(Any, owner)).chains)


def _has_own_settings(part: Part) -> bool:
    return any(data_paths.OWN_SETTING in curve.data_path for curve in part.curves)
