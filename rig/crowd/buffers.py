"""Room for the channels of a crowd's bones, which Blender fills and empties in bulk; used again in every frame.

A part of ``crowd``. What is here holds until the next evaluation: nothing that outlives one may
point to it. This module reads and writes no bone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]
Modes = NDArray[np.int32]

IDENTITY_ROW = np.identity(4).reshape(16)


class Channels(NamedTuple):
    """Channels of bones: as evaluated (``matrices`` in armature space, column by column), and those of originals.

    ``written``: the rotations that originals get. Of many rigs: one row per bone and one more, the identity, per rig;
    of one rig: flat, without that row.
    """

    matrices: Singles
    locations: Singles
    scales: Singles
    evaluated: Singles
    modes: Modes
    original: Singles
    own_modes: Modes
    written: Singles


class Buffers(NamedTuple):
    """The channels of all rigs, and of each rig where they lie among those."""

    all: Channels
    of_rig: list[Channels]


def make_buffers(starts: Sequence[int]) -> Buffers:
    """Room for rigs whose rows begin at ``starts``; the last number is the end."""
    size = starts[-1]
    whole = Channels(
        matrices=np.zeros((size, 16), np.float32),
        locations=np.zeros((size, 3), np.float32),
        scales=np.ones((size, 3), np.float32),
        evaluated=np.zeros((size, 4), np.float32),
        modes=np.zeros(size, np.int32),
        original=np.zeros((size, 4), np.float32),
        own_modes=np.zeros(size, np.int32),
        written=np.zeros((size, 4), np.float32),
    )
    whole.matrices[[after - 1 for after in starts[1:]]] = IDENTITY_ROW
    rigs = [slice(start, after - 1) for start, after in pairwise(starts)]
    views: list[Any] = [[channel[row].reshape(-1) for channel in whole] for row in rigs]
    return Buffers(whole, [Channels(*one) for one in views])
