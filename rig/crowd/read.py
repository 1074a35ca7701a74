"""The limbs of many rigs and what they are asked, as arrays: from ``poses`` to ``limbs``.

A part of ``crowd``; works after a frame change only, see ``poses``. This module must not solve or write.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from ...solvers import rows
from . import poses
from .fixed import Fixed, Member
from .limbs import Known, Limbs, LimbsInFK, known_of, limbs_of
from .plan import Floats, Numbers
from .recalled import Places
from .turn import Together


def read(members: Sequence[Member], fixed: Fixed, places: Places, *, has_modes: bool) -> tuple[Limbs, Together]:
    """Everything as arrays; ``has_modes``: see ``poses.read``."""
    turns, together = poses.read(members, fixed, has_modes=has_modes)
    seen, bones, asked = fixed.buffers.all, fixed.bones, places.asked
    fk = LimbsInFK(
        above=_matrices(fixed, fixed.parents),
        between=None if fixed.is_all_direct else _between(fixed),
        locations=np.where(fixed.is_connected[..., None], 0.0, seen.locations[bones]),
        turns=turns,
        scales=seen.scales[bones].astype(np.float64),
        tails=asked.tails,
        worlds=places.worlds.repeat(fixed.counts, axis=0),
        places=asked.places,
        target_turns=asked.turns,
        settings=asked.settings,
    )
    return limbs_of(fixed.setups, fk, _known(fixed, fk)), together


class _Last(threading.local):
    """What FK said last, of each thread: it is measured again where any number of it is another."""

    fixed: Fixed | None = None
    fk: LimbsInFK | None = None
    known: Known | None = None


_last = _Last()


def _known(fixed: Fixed, fk: LimbsInFK) -> Known:
    before = _last.fk
    if _last.known is None or before is None or _last.fixed is not fixed or not _is_same_fk(before, fk):
        _last.fixed, _last.fk, _last.known = fixed, fk, known_of(fixed.setups, fk)
    return _last.known


def _is_same_fk(a: LimbsInFK, b: LimbsInFK) -> bool:
    if (a.between is None) != (b.between is None):
        return False
    pairs = ((a.turns, b.turns), (a.above, b.above), (a.locations, b.locations), (a.scales, b.scales))
    if not all(np.array_equal(one, other) for one, other in (*pairs, (a.tails, b.tails))):
        return False
    return a.between is None or b.between is None or np.array_equal(a.between, b.between)


def _matrices(fixed: Fixed, bones: Numbers) -> Floats:
    """Evaluated matrices of bones, armature space."""
    columns = fixed.buffers.all.matrices[bones].astype(np.float64)
    return columns.reshape(*bones.shape, 4, 4).swapaxes(-1, -2)


def _between(fixed: Fixed) -> Floats:
    """From upper and lower bone to the parents of the bones after them, which Blender holds in place on them."""
    return between(fixed.is_direct, _matrices(fixed, fixed.bones[:, :2]), _matrices(fixed, fixed.carriers))


def between(is_direct: rows.Mask, own: Floats, carriers: Floats) -> Floats:
    """From bones to bones that Blender holds in place on them; the identity where they are the same.

    Axes: any, then 4 x 4.
    """
    found = np.broadcast_to(np.identity(4), own.shape).copy()
    with np.errstate(all="ignore"):
        found[~is_direct] = rows.inverse_affine(own[~is_direct]) @ carriers[~is_direct]
    return found
