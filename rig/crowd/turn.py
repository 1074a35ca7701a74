"""The rotations of all rigs that are solved together, as they were and as they are then written.

A part of ``crowd``. Arithmetic on arrays only: this module reads and writes no pose.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...solvers import rows
from ...solvers.rotations import Quat
from .buffers import Singles
from .fixed import Fixed
from .plan import Floats


class Together(NamedTuple):
    """Rotations of all rigs that are solved together, one row per held bone, as ``fixed`` has them.

    ``plain``: session numbers of rigs of which nothing has to be read bone by bone, whose ``fk`` is therefore certain.
    ``evaluated``, ``original``: quaternion channels as they are. ``wanted``: what the solve asks for, where
    ``is_turned``. ``had_store``: bones beside which FK was kept, ``kept``: what was written into them with it.
    """

    fixed: Fixed
    plain: set[int]
    fk: Singles
    evaluated: Singles
    original: Singles
    wanted: Floats
    is_turned: rows.Mask
    had_store: rows.Mask
    kept: Singles


def put_wanted(together: Together, turns: Floats, is_turned: rows.Mask) -> None:
    """Put local rotations into ``wanted``, on the hemisphere of what they were.

    Args:
        turns: of the chains' bones (4 x chains x 3).
        is_turned: which of them (chains x 3).
    """
    at = together.fixed.at[is_turned]
    wanted = turns.transpose(1, 2, 0)[is_turned]
    is_other = (together.fk[at] * wanted).sum(axis=1) < 0.0
    wanted[is_other] *= -1.0
    together.is_turned[at] = True
    together.wanted[at] = wanted


def turned_of(together: Together, number: int) -> dict[int, Quat]:
    """The local rotations that the solve gave to bones of a rig (by its number), by bone."""
    fixed = together.fixed
    places = np.flatnonzero(together.is_turned & (fixed.held_by == number))
    turns: list[Any] = together.wanted[places].tolist()
    bones = (fixed.held[places] - fixed.starts[number]).tolist()
    return {bone: tuple(turn) for bone, turn in zip(bones, turns, strict=True)}
