"""Which frames an operation works on: a range, or the keys that lie in it. Reads only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..rig import chains
from ..rig.animated_range import animation_range
from ..rig.channels import SAME_FRAME
from ..rig.errors import LimbIKError
from ..rig.session import object_at
from . import keyed
from .chosen import solvable

# Blender's own: it has no frame beyond this one, nor before its negative.
LAST_FRAME = 1_048_574


def frames_between(
    context: Any, obj: Any, first: float | None = None, last: float | None = None, *, step: int = 1
) -> tuple[float, ...]:
    """Every ``step`` frames from first to last, the last one included.

    None takes the end of the armature's animation, else of the scene: whole frames around all of it.

    Raises:
        LimbIKError: the range holds no frame.
    """
    own = whole_range(animation_range(obj) or (context.scene.frame_start, context.scene.frame_end))
    start = own[0] if first is None else first
    end = own[1] if last is None else last
    if not (abs(start) <= LAST_FRAME and abs(end) <= LAST_FRAME):
        raise LimbIKError(f"the frames {start:.15g}…{end:.15g} go beyond ±{LAST_FRAME}, where Blender has none")
    if end < start:
        raise LimbIKError(f"the frame range {start:g}…{end:g} holds no frame")
    frames = np.arange(start, end + SAME_FRAME, max(1, step), dtype=np.float64)
    if frames[-1] < end - SAME_FRAME:
        frames = np.append(frames, end)
    return tuple(float(frame) for frame in frames)


def whole_range(ends: tuple[float, float]) -> tuple[int, int]:
    """Whole frames around all of a range."""
    return math.floor(ends[0] + SAME_FRAME), math.ceil(ends[1] - SAME_FRAME)


def bone_keys(obj: Any, tips: Sequence[str], first: float, last: float) -> list[float]:
    """Frames within first…last at which bones of chains have keys.

    Raises:
        LimbIKError: there are none.
    """
    names = chains.setup_of(obj).names
    bones = {names[bone] for chain in solvable(obj, tips) for bone in (*chain.bones, chain.end) if bone >= 0}
    return _some(keyed.keyed_frames(obj, bones, first, last), "bones", first, last)


def control_keys(obj: Any, tips: Sequence[str], first: float, last: float) -> list[float]:
    """Frames within first…last at which targets and poles of chains have keys.

    Raises:
        LimbIKError: there are none.
    """
    found: set[float] = set()
    for chain in solvable(obj, tips):
        for key, bone in filter(None, (chain.target_key, chain.pole_key)):
            owner = object_at(key)
            own = keyed.keyed_frames(owner, [bone], first, last) if bone else keyed.frames_of_place(owner, first, last)
            found.update(own)
    return _some(sorted(found), "targets", first, last)


def _some(frames: list[float], what: str, first: float, last: float) -> list[float]:
    if not frames:
        raise LimbIKError(f"the {what} have no key within frames {first:g}…{last:g}")
    return frames
