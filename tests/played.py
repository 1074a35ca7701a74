"""The same frames gone through in several ways, and how far apart what they show is. Test helpers only.

``OFF`` puts FK back into every rig before each frame, ``ON`` is the extension as it is, ``ALWAYS`` leaves every rig
as IK posed it, whatever that rig is: what a test of ``rig/staying`` has to tell apart.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import pytest
from limb_ik import handlers
from limb_ik.rig import fk_pose, staying
from limb_ik.rig.crowd import solving as crowd

import rigs

OFF, ON, ALWAYS = "off", "on", "always"
TOGETHER, ONE_BY_ONE = 1, 10**6
"""From how many chains on they are solved together."""
FRAMES = 20


@dataclass
class Shown:
    """What frames showed: evaluated matrices of all bones (at size 1), raw rotations and FK of the originals.

    ``stayed``: how many rigs stayed as IK posed them, frame by frame.
    """

    numbers: list[np.ndarray[Any, Any]] = field(default_factory=list)
    stayed: list[int] = field(default_factory=list)

    def look(self, depsgraph: bpy.types.Depsgraph | None = None, names: Container[str] | None = None) -> None:
        """Note what is shown now. ``names``: of the rigs that the depsgraph has; None for all."""
        depsgraph = depsgraph or bpy.context.evaluated_depsgraph_get()
        looked_at = [obj for obj in armatures() if names is None or obj.name in names]
        found = [row for obj in looked_at for row in _rows(obj, obj.evaluated_get(depsgraph))]
        self.numbers.append(np.concatenate(found))

    def apart(self, other: Shown) -> float:
        """Largest difference of two runs; infinite where they show other bones."""
        pairs = list(zip(self.numbers, other.numbers, strict=True))
        if any(a.shape != b.shape for a, b in pairs):
            return float("inf")
        return max(float(np.abs(a - b).max(initial=0.0)) for a, b in pairs)

    def moved(self) -> float:
        """Largest change from one frame to the next."""
        return Shown(self.numbers[1:]).apart(Shown(self.numbers[:-1]))


def _rows(obj: Any, seen: Any) -> list[Any]:
    world = np.array(seen.matrix_world.to_3x3())
    matrices = np.empty((len(seen.pose.bones), 16), np.float32)
    seen.pose.bones.foreach_get("matrix", matrices.reshape(-1))
    turned = world @ matrices.reshape(-1, 4, 4).transpose(0, 2, 1)[:, :3, :]
    found = [np.array(seen.matrix_world.translation), (turned / (np.abs(world).max() or 1.0)).reshape(-1)]
    if obj.is_editable and obj.mode != "EDIT":
        for bone in obj.pose.bones:
            found += [np.array(fk_pose.fk_raw(bone)), np.array(fk_pose.read_raw(bone))]
    return found


def armatures() -> list[Any]:
    """Armature objects of the scene by name."""
    found = [obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE" and obj.library is None]
    return sorted(found, key=lambda obj: obj.name)


def walk(seed: int, count: int = 6) -> list[float]:
    """Frames as a person goes through them: some that play, jumps, backwards, parts of frames."""
    dice, found = random.Random(seed), [3.0, 4.0, 5.0]
    step = {"play": 1.0, "back": -1.0, "again": 0.0, "quarter": 0.25, "half": 0.5}
    for _ in range(count):
        kind = dice.choice(("jump", *step))
        found.append(found[-1] + step[kind] if kind in step else float(dice.randint(1, FRAMES)))
    return found


def go(shown: Shown, frames: Sequence[float]) -> None:
    """Go through frames and note what each shows."""
    for frame in frames:
        rigs.frame_set(frame)
        shown.stayed.append(len(handlers._stayed))
        shown.look()


def played(patch: pytest.MonkeyPatch, how: str, fewest: int, scene: Callable[[Shown], object]) -> Shown:
    """What a scene shows, played in one way."""
    shown = Shown()
    with patch.context() as patched:
        patched.setattr(crowd, "FEWEST", fewest)
        if how == OFF:
            patched.setattr(staying, "staying", lambda *_: set())
        elif how == ALWAYS:
            patched.setattr(staying, "staying", lambda rigs, _: {obj.session_uid for obj in rigs})
        scene(shown)
    return shown


def clear() -> None:
    """An empty file."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
