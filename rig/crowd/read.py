"""The limbs of many rigs and what they are asked, as arrays: from ``poses`` to ``limbs``.

A part of ``crowd``; works after a frame change only, where the evaluated pose is FK.
This module must not solve or write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...solvers import rows
from . import poses as crowd_poses
from .asked import Asked
from .fixed import Fixed, Member
from .limbs import Limbs, LimbsInFK, limbs_of
from .plan import Floats
from .poses import Poses
from .turn import Together


def read(members: Sequence[Member], fixed: Fixed, asked: Asked) -> tuple[Limbs, Together]:
    """Everything as arrays."""
    worlds: list[Any] = [member.rig.evaluated.matrix_world for member in members]
    poses, together = crowd_poses.read(members, fixed)
    bones = fixed.bones
    fk = LimbsInFK(
        above=poses.matrices[fixed.parents],
        between=None if fixed.is_direct.all() else _between(poses, fixed),
        locations=np.where(fixed.is_connected[..., None], 0.0, poses.locations[bones]),
        turns=poses.turns[bones],
        scales=poses.scales[bones],
        tails=asked.tails,
        worlds=np.array([one[:3] for one in worlds]).repeat(fixed.counts, axis=0),
        places=asked.places,
        target_turns=asked.turns,
        settings=asked.settings,
    )
    return limbs_of(fixed.setups, fk), together


def _between(poses: Poses, fixed: Fixed) -> Floats:
    """From upper and lower bone to the parents of the bones after them, which Blender holds in place on them."""
    return between(fixed.is_direct, poses.matrices[fixed.bones[:, :2]], poses.matrices[fixed.carriers])


def between(is_direct: rows.Mask, own: Floats, carriers: Floats) -> Floats:
    """From bones to bones that Blender holds in place on them; the identity where they are the same.

    Axes: any, then 4 x 4.
    """
    found = np.broadcast_to(np.identity(4), own.shape).copy()
    with np.errstate(all="ignore"):
        found[~is_direct] = rows.inverse_affine(own[~is_direct]) @ carriers[~is_direct]
    return found
