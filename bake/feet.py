"""Feet and hands: which chains have one to hold, and the motion of one over a range (read by ``reading_feet``).

Reads only. Space: world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..rig import limbs
from ..rig.chain_setup import REACHING
from ..rig.chains import ChainSetup, setup_of
from ..rig.errors import LimbIKError
from ..rig.session import frames_per_second
from ..solvers.arrays import Floats
from .chosen import solvable

LEG, ARM = "leg", "arm"


@dataclass(frozen=True)
class FootMotion:
    """One chain's end over the frames of a range, as seen.

    Space: world. ``roots``, ``ends``, ``toes``, ``toe_ends``, ``poles``: frames × 3. ``toes``: the ball of a foot,
    or its tail; None for hands; ``toe_ends``: tail of the toe bone; ``poles``: where the pole has to be for the
    bend that is seen, None without pole. ``turns``: orientation of the end bone, frames × 4. ``lengths``: of the
    limb; ``reaches``: how much of it IK uses. ``targets``: matrices of the target as it is, ``above`` those of
    what it hangs on: target = above · location and rotation; ``poles_above`` likewise.
    """

    chain: ChainSetup
    kind: str
    frames: Floats
    roots: Floats
    ends: Floats
    turns: Floats
    lengths: Floats
    reaches: Floats
    targets: Floats
    above: Floats
    toes: Floats | None = None
    toe_ends: Floats | None = None
    poles: Floats | None = None
    poles_above: Floats | None = None

    @property
    def tip(self) -> str:
        """Name of the bone at which the chain ends."""
        return self.chain.tip

    @property
    def length(self) -> float:
        """Length of the limb, world units."""
        return float(self.lengths.max())

    def index(self, frame: float) -> int:
        """Number of the row of a frame, of the nearest one that was read."""
        return int(np.abs(self.frames - frame).argmin())


def kinds(obj: Any) -> dict[str, str]:
    """``leg`` or ``arm`` by the tip of each chain that is one; others are missing."""
    found = limbs.find_limbs(limbs.rest_skeleton(obj.data))
    by_bone = {limb.bones[-1]: limb.kind for limb in found}
    return {chain.tip: by_bone[chain.tip] for chain in setup_of(obj).chains if chain.tip in by_bone}


def pinnable(obj: Any, tips: Sequence[str] = ()) -> list[ChainSetup]:
    """The chains whose end can be pinned.

    Raises:
        LimbIKError: there is no such chain, or a named one is another kind.
    """
    chains = solvable(obj, tips)
    found = [chain for chain in chains if chain.solver in REACHING]
    if not found or (tips and len(found) < len(chains)):
        raise LimbIKError(f"'{obj.name}' has no chain with an end to plant: look-at has none")
    return found


def toe_bone(obj: Any, chain: ChainSetup) -> str:
    """The bone whose head is the ball of a foot; empty where the foot's own tail is."""
    foot = obj.pose.bones[chain.end] if chain.end >= 0 else None
    children = foot.children if foot is not None else ()
    return str(max(children, key=lambda child: len(child.children_recursive)).name) if children else ""


def up_axis(feet: Sequence[FootMotion]) -> Floats:
    """The axis of the world nearest to where legs point up on average: +Z but for captures that came in lying."""
    legs = [foot for foot in feet if foot.kind == LEG]
    if not legs:
        return np.array((0.0, 0.0, 1.0))
    mean = sum((foot.roots - foot.ends).mean(axis=0) / foot.length for foot in legs)
    up = np.zeros(3)
    axis = int(np.abs(mean).argmax())
    up[axis] = np.sign(mean[axis]) or 1.0
    return up


def blend_frames(context: Any, chain: ChainSetup) -> float:
    """The chain's blend time in frames."""
    return chain.blend_time * frames_per_second(context.scene)
