"""Limbs of a crowd from arrays to local rotations, and the rigs' rotations as they are then written.

A part of ``crowd``. Arithmetic on arrays only: this module reads and writes no pose.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...solvers import batch, blending, rows
from ...solvers.rotations import Quat
from .fixed import Fixed
from .plan import Floats, Numbers

Singles = NDArray[np.float32]
Modes = NDArray[np.int32]


class Limbs(NamedTuple):
    """What ``batch`` is asked, and what turns its answers into local rotations; columns are limbs.

    Space: armature. ``frames``: upper, lower and end bone at zero local rotation, in FK; ``locals``: their local FK.
    ``end``: how the end bone is to stand. ``is_even``: nothing above is scaled unevenly or mirrored. ``scale``: of the
    armature in the world.
    """

    batch: batch.Limbs
    frames: tuple[rows.Rows, rows.Rows, rows.Rows]
    locals: tuple[rows.Rows, rows.Rows, rows.Rows]
    end: rows.Rows
    weights: rows.Rows
    is_even: rows.Mask
    scale: rows.Rows


class Together(NamedTuple):
    """Rotations of all rigs that are solved together, one row per bone, as ``fixed`` counts them.

    ``plain``: session numbers of rigs. ``evaluated``, ``original``: quaternion channels as they are; where the
    rig is one of them (quaternions only, none of them what IK wrote before) the evaluated ones are FK. ``wanted``:
    what the solve asks for, where ``is_turned``. ``had_store``: bones beside which FK was kept,
    ``kept``: what was written into them with it.
    """

    fixed: Fixed
    plain: set[int]
    evaluated: Singles
    original: Singles
    wanted: Floats
    is_turned: rows.Mask
    matrices: Singles
    had_store: NDArray[np.bool_]
    kept: Singles


def local_rotations(limbs: Limbs, posed: batch.Posed) -> Floats:
    """Local rotations of upper, lower and end bone, blended from FK, parents first: as ``solve_chain`` turns them.

    Shape: bone, limb, component.
    """
    upper_frame, lower_frame, end_frame = limbs.frames
    upper_fk = rows.multiply(upper_frame, limbs.locals[0])
    lower_fk = rows.multiply(lower_frame, limbs.locals[1])
    upper = rows.multiply(rows.conjugate(upper_frame), rows.multiply(posed.upper, upper_fk))
    carried = rows.multiply(posed.upper, lower_frame)
    lower = rows.multiply(rows.conjugate(carried), rows.multiply(posed.lower, lower_fk))
    upper, lower = _blended(limbs.locals[0], upper, limbs.weights), _blended(limbs.locals[1], lower, limbs.weights)
    upper_turn = rows.multiply(rows.multiply(upper_frame, upper), rows.conjugate(upper_fk))
    lower_now = rows.multiply(rows.multiply(upper_turn, lower_frame), lower)
    end_now = rows.multiply(rows.multiply(lower_now, rows.conjugate(lower_fk)), end_frame)
    wanted = _blended(rows.multiply(end_frame, limbs.locals[2]), limbs.end, limbs.weights)
    end = rows.normalized(rows.multiply(rows.conjugate(end_now), wanted))
    return np.stack([upper, lower, end]).transpose(0, 2, 1)


def _blended(fk: rows.Rows, ik: rows.Rows, weights: rows.Rows) -> rows.Rows:
    """Where the weight is not full, ``blending.blend`` of that limb."""
    ik = rows.normalized(ik)
    for number in np.flatnonzero(weights < 1.0):
        ik[:, number] = blending.blend(tuple(fk[:, number]), tuple(ik[:, number]), float(weights[number]))
    return ik


def put_wanted(together: Together, bones: Numbers, turns: Floats) -> None:
    """Put local rotations (one row per bone) into ``wanted``, on the hemisphere of what they were."""
    near = together.evaluated[bones].astype(np.float64)
    is_other = (near * turns).sum(axis=1) < 0.0
    together.is_turned[bones] = True
    together.wanted[bones] = np.where(is_other[:, None], -turns, turns)


def turned_of(together: Together, rig: int) -> dict[int, Quat]:
    """The local rotations that the solve gave to bones of a rig (by its number), by bone."""
    row = slice(together.fixed.starts[rig], together.fixed.starts[rig + 1])
    turns: list[Any] = together.wanted[row].tolist()
    return {bone: tuple(turns[bone]) for bone in np.flatnonzero(together.is_turned[row]).tolist()}
