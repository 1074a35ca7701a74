"""What a bake of a part of the animation means for the frames outside of it: they lose IK, and FK leads to the part.

No key out there changes. But where keys are far apart, or a bone has none, FK outside goes to the baked
pose and comes from it, as with any key that is set. Reads only; asked before and after keys are written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..rig import animated_range, compat, fk_pose, needs, nla
from ..rig.data_paths import rotation_path
from ..rig.session import pose_bones
from ..solvers import rotations
from ..solvers.arrays import Floats
from ..solvers.rotations import Quat
from .key_table import key_frames
from .reading import BakeWork

# Between two keys FK is looked at on every frame, on as many as these in longer gaps.
MOST_SAMPLES = 64
# Radians that can be seen, and that no rounding of keys comes near.
SEEN = math.radians(0.1)


@dataclass(frozen=True, slots=True)
class Outside:
    """FK outside of a bake's frames, before it: by bone the rotations at ``frames``.

    ``first``, ``last``: of all animation that moves its chains, the scene's where there is none.
    """

    work: BakeWork
    first: float
    last: float
    frames: dict[int, Floats]
    turns: dict[int, list[Quat]]

    def notes(self, after: str) -> list[str]:
        """What to say once keys are written; ``after``: what becomes of the chains."""
        begin, end, name = self.work.frames[0], self.work.frames[-1], self.work.obj.name
        sides = [(self.first, begin - 1, begin - 1), (end + 1, self.last, end + 1)]
        sides = [side for side in sides if side[0] <= side[1]]
        if not sides:
            return []
        lost = " and ".join(f"{first:g}…{last:g}" for first, last, _ in sides)
        notes = [f"frames {lost} of '{name}' lose IK"] if after != 'KEEP' else []
        apart = self._apart()
        if apart > SEEN:
            first = " and ".join(f"frame {at:g}" for _, _, at in sides)
            change = f"FK of '{name}' beside the range changes by up to {math.degrees(apart):.2g}°"
            notes.append(f"{change}, leading to the baked pose: key {first} before baking to keep it")
        return notes

    def _apart(self) -> float:
        found = (
            rotations.angle_between(before, now)
            for bone, frames in self.frames.items()
            for before, now in zip(self.turns[bone], fk_turns(self.work.obj, bone, frames), strict=True)
        )
        return max(found, default=0.0)


def outside(context: Any, work: BakeWork) -> Outside:
    """Look at FK outside of a bake's frames, before keys are written."""
    obj, scene = work.obj, context.scene
    whole = float(scene.frame_start), float(scene.frame_end)
    first, last = animated_range.keyed_range(obj) or whole
    anim = obj.animation_data
    is_told = anim is None or not nla.uses_strips(anim)  # what strips give below the action isn't
    frames = {bone: _frames_beside(work, bone, first, last) for bone in work.bones} if is_told else {}
    moved = [ends for block in needs.needed_by([obj]) if (ends := animated_range.keyed_range(block)) is not None] or [
        whole
    ]
    first, last = min(ends[0] for ends in moved), max(ends[1] for ends in moved)
    return Outside(work, first, last, frames, {bone: fk_turns(obj, bone, at) for bone, at in frames.items()})


def _frames_beside(work: BakeWork, bone: int, first: float, last: float) -> Floats:
    """Frames from the last key before the bake to it, and from it to the next one; to the animation's ends at most."""
    begin, end = work.frames[0], work.frames[-1]
    every = [key_frames(curve) for curve in _curves(work.obj, bone) if curve is not None]
    keyed = np.concatenate(every) if every else np.empty(0)
    before = float(keyed[keyed < begin].max(initial=first))
    after = float(keyed[keyed > end].min(initial=last))
    return np.concatenate((_spread(before, begin)[:-1], _spread(end, after)[1:]))


def _spread(first: float, last: float) -> Floats:
    """Frames from the first to the last one, both included; the last alone where there are none between."""
    return (
        np.linspace(first, last, min(math.ceil(last - first), MOST_SAMPLES) + 1) if first < last else np.array([last])
    )


def _curves(obj: Any, bone: int) -> list[Any]:
    """The curves of a bone's rotation by index; None where a component has none that plays."""
    owner = pose_bones(obj)[bone]
    width = fk_pose.WIDTHS[fk_pose.channel(owner.rotation_mode)]
    found = [compat.find_fcurve(obj, rotation_path(owner), index) for index in range(width)]
    return [curve if nla.plays(curve, is_alone=True) else None for curve in found]


def fk_turns(obj: Any, bone: int, frames: Floats) -> list[Quat]:
    """FK of a bone at frames, by its keys; what isn't keyed is what it is now."""
    owner, curves = pose_bones(obj)[bone], _curves(obj, bone)
    own = fk_pose.fk_raw(owner)
    return [
        fk_pose.to_quat(
            [value if curve is None else curve.evaluate(frame) for curve, value in zip(curves, own, strict=True)],
            owner.rotation_mode,
        )
        for frame in frames.tolist()
    ]
