"""What the plain chains of many rigs are asked at this moment: settings, targets, poles, as flat lists.

A part of ``crowd``. Settings and places are read from the evaluated rig, whose pointers lead to
evaluated objects. This module must not read poses, solve or write.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import marks
from ..chains import ChainSetup
from ..hanging import Unmoved
from ..session import pose_bones

if TYPE_CHECKING:
    from ..evaluate import Evaluation, Rig

NO_POLE = (float("nan"),) * 3
UNTURNED = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(slots=True)
class Asked:
    """Chain after chain, in the order of the rigs. Space: world.

    ``settings``: weight, pole angle, softness, largest reach. ``places``: of target and pole, not a number where there
    is no pole. ``turns``: the target's 3 x 3, row by row; the identity where it turns nothing. ``tails``: length of the
    lower bone where its tail is the end. ``worlds``: three rows of each rig's matrix.
    """

    settings: list[float] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)
    tails: list[float] = field(default_factory=list)
    worlds: list[float] = field(default_factory=list)

    def add(self, free: Free, tip: Any, chain: ChainSetup, weight: float) -> bool:
        """Add a chain; False where solving might move its target or pole: then nothing is added."""
        target = free.world(tip.limb_ik_target, chain.target_key)
        pole = tip.limb_ik_pole if chain.pole_key is not None else None
        pole_world = None if pole is None else free.world(pole, chain.pole_key)
        if target is None or (pole is not None and pole_world is None):
            return False
        self.settings += (weight, tip.limb_ik_pole_angle, tip.limb_ik_softness, tip.limb_ik_max_reach)
        self.places += target.translation[:]
        self.places += NO_POLE if pole_world is None else pole_world.translation[:]
        self.turns += _turn_rows(target) if chain.end_rotation == 'TARGET' else UNTURNED
        self.tails.append(tip.bone.length if chain.end < 0 else 0.0)
        return True

    def add_world(self, world: Any) -> None:
        """Add a rig's own matrix."""
        self.worlds += (*world[0], *world[1], *world[2])


def _turn_rows(world: Any) -> tuple[float, ...]:
    x, y, z, _ = world
    return (*x[:3], *y[:3], *z[:3])


class Free(Unmoved):
    """What solving can't move in one evaluation, and where that is."""

    def __init__(self, run: Evaluation) -> None:
        super().__init__()
        self.run = run

    def world(self, evaluated: Any, link: tuple[marks.Key, str] | None) -> Any:
        """World matrix of a target or pole; None where solving might move it."""
        if evaluated is None or not self.is_free(evaluated):
            return None
        bone_name = link[1] if link else ""
        if not bone_name:
            return evaluated.matrix_world
        rig = self.run.rigs.get(marks.key_of(evaluated))
        if rig is not None and _is_held(rig, bone_name):
            return None
        return evaluated.matrix_world @ pose_bones(evaluated)[bone_name].matrix


def _is_held(rig: Rig, bone_name: str) -> bool:
    """Whether a chain of the rig turns a bone or one above it."""
    bone, held = rig.setup.index.get(bone_name, -1), rig.setup.held
    while bone >= 0 and bone not in held:
        bone = rig.setup.parents[bone]
    return bone >= 0


def weight_of(tip: Any) -> float:
    """How much of IK a chain has whose switch isn't keyed."""
    return float(tip.limb_ik_weight) if tip.limb_ik_use_ik else 0.0
