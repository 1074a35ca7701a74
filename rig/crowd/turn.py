"""The rotations of all rigs that are solved together, as they were and as they are then written.

A part of ``crowd``. Arithmetic on arrays only: this module reads and writes no pose.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...solvers import rows
from ...solvers.rotations import Quat
from .fixed import Fixed
from .plan import Floats, Numbers

Singles = NDArray[np.float32]
Modes = NDArray[np.int32]


class Together(NamedTuple):
    """Rotations of all rigs that are solved together, one row per bone, as ``fixed`` counts them.

    ``plain``: session numbers of rigs of which nothing has to be read bone by bone, whose ``fk`` is therefore certain.
    ``evaluated``, ``original``: quaternion channels as they are. ``wanted``: what the solve asks for, where
    ``is_turned``. ``matrices``: evaluated, column by column. ``had_store``: bones beside which FK was kept, ``kept``:
    what was written into them with it.
    """

    fixed: Fixed
    plain: set[int]
    fk: Singles
    evaluated: Singles
    original: Singles
    wanted: Floats
    is_turned: rows.Mask
    matrices: Singles
    had_store: NDArray[np.bool_]
    kept: Singles


def put_wanted(together: Together, bones: Numbers, turns: Floats) -> None:
    """Put local rotations (one row per bone) into ``wanted``, on the hemisphere of what they were."""
    near = together.fk[bones].astype(np.float64)
    is_other = (near * turns).sum(axis=1) < 0.0
    together.is_turned[bones] = True
    together.wanted[bones] = np.where(is_other[:, None], -turns, turns)


def turned_of(together: Together, rig: int) -> dict[int, Quat]:
    """The local rotations that the solve gave to bones of a rig (by its number), by bone."""
    row = slice(together.fixed.starts[rig], together.fixed.starts[rig + 1])
    turns: list[Any] = together.wanted[row].tolist()
    return {bone: tuple(turns[bone]) for bone in np.flatnonzero(together.is_turned[row]).tolist()}
