"""One armature in one evaluation: its FK pose, and what is turned in it.

``evaluate`` makes and solves them. Reads from the evaluated and the original bones; this
module must not solve, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import bpy

from ..solvers.rotations import Quat
from . import constrained, fk_pose, overwritten
from .chains import RigSetup
from .fk_pose import Raw
from .raw_pose import RawPose
from .session import pose_bones
from .spaces import PoseState


class Rig:
    """One armature in one evaluation. Not ``is_live``: FK shows.

    ``state``, ``raw``, ``fk`` and ``turned`` are read when one of them is first asked for: rigs whose chains are all
    solved together never are. They are to be asked for before the pose is written.
    """

    def __init__(
        self,
        obj: bpy.types.Object,
        evaluated: bpy.types.Object,
        setup: RigSetup,
        frame: float,
        *,
        is_fresh: bool,
        is_live: bool,
    ) -> None:
        self.obj, self.evaluated, self.setup, self.frame = obj, evaluated, setup, frame
        self.bones: Any = pose_bones(evaluated)
        self.is_fresh, self.is_live = is_fresh, is_live
        self.solved_together: Callable[[], dict[int, Quat]] = dict
        self.is_read = False

    @cached_property
    def state(self) -> PoseState:
        """The pose as it is now: FK, and what chains have turned."""
        return self._read()[0]

    @cached_property
    def raw(self) -> RawPose:
        """Rotations as evaluated."""
        return self._read()[1]

    @cached_property
    def fk(self) -> dict[int, Raw]:
        """Raw FK rotation of every bone that a chain turns."""
        return self._read()[2]

    @cached_property
    def turned(self) -> set[int]:
        """The bones that were given a new local rotation (in ``state.rotations``)."""
        self._read()
        return self.turned

    def _read(self) -> tuple[PoseState, RawPose, dict[int, Raw]]:
        """The pose, FK first, then what is solved together."""
        self.is_read = True
        self.state, self.fk = PoseState(self.setup, self.evaluated), {}
        self.raw = RawPose(self.bones)
        _put_fk(self)
        self._turn()
        return self.state, self.raw, self.fk

    def turn_together(self, turned: Callable[[], dict[int, Quat]]) -> None:
        """Turn bones as ``crowd`` solved them; noted only, until something asks for the pose."""
        self.solved_together = turned
        if self.is_read:
            self._turn()

    def _turn(self) -> None:
        turned = self.solved_together()
        for bone, local in turned.items():
            self.state.turn(bone, local)
        self.turned = set(turned)

    def is_overwritten(self) -> bool:
        """Whether animation gives the FK of every bone that chains turn anew on each frame."""
        return overwritten.is_sure(self.obj, self.setup)

    def constraint_on(self, bone: int) -> str:
        """What to say of the constraint that moves a bone at this moment; empty where none does."""
        return constrained.acting_now(self.setup.constraints.get(bone, ()), self.bones)


def _put_fk(rig: Rig) -> None:
    """Give every bone that chains turn its FK rotation, so that the pose is FK before the first solve."""
    setup, originals = rig.setup, pose_bones(rig.obj)
    stored = set(fk_pose.stored_bones(originals))
    for bone in setup.held:
        if not rig.is_fresh:
            raw = fk_pose.fk_raw(originals[bone], rig.frame)
        elif bone in stored:
            raw = fk_pose.fresh_fk_raw(originals[bone], rig.bones[bone], rig.is_overwritten)
        else:
            raw = rig.raw.raw(bone)
        rig.fk[bone] = raw
        if bone not in setup.is_constrained or not rig.constraint_on(bone):
            rig.state.turn(bone, fk_pose.to_quat(raw, rig.raw.modes[bone]))
