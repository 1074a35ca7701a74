"""A bake with few keys: each chain's curves stay within a length of what live IK shows.

Joins ``reduce`` and ``chain_error`` with what was read at frames and half frames. Where
chains hang on chains, each gets its share of the length, so that the sum holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .chain_error import ChainMotion, chain_error, chain_misses, fit_bones
from .key_table import Floats
from .reading import Reading, Row, Work, above
from .reduce import Fit, evaluate, sample_frames

BESIDE = 0.15
"""How far beside each bone twist counts, as a part of the chain's length: 1e-3 of it lets a bone twist by 0.4°."""


@dataclass(frozen=True, slots=True)
class FewKeys:
    """Fits by bone name; ``error``: the largest miss of any joint, in the unit of the tolerance."""

    fits: dict[str, Fit]
    error: float


def few_keys(
    work: Work, rows: Sequence[Row], readings: Sequence[Reading], table: Mapping[str, Floats], tolerance: float
) -> FewKeys:
    """Few keys for the bones of one armature.

    Args:
        work: what is baked.
        rows: ``rows_of`` it.
        readings: at ``reduce.sample_frames`` of the work's frames.
        table: ``rotation_table`` of these readings.
        tolerance: the largest miss of any joint or tip, in units of the world.

    Undefined input: what hangs on the armature through other objects, and bones below the
    end bone, are not measured; under uneven scale the miss is approximate.
    """
    scale = max(reading.scale for reading in readings) or 1.0
    upstream = [_hangs_on(work.obj, row, rows) for row in rows]
    depths = _depths(upstream)
    frames, fits = np.asarray(work.frames), dict[str, Fit]()
    errors: list[float] = []
    for number, row in enumerate(rows):
        motion = _motion(work.obj, number, rows, upstream, readings, table)
        share = tolerance / scale / depths[number]
        names = [work.obj.pose.bones[bone].name for bone in row.bones]
        found = fit_bones(frames, {name: table[name] for name in names}, chain_misses(motion, BESIDE), share)
        fits |= found
        shown = np.hstack([evaluate(one, sample_frames(frames)) for one in found.values()])
        errors.append(float(chain_error(motion)(shown).max()) * scale)
    total = [errors[i] + sum(errors[above_it] for above_it in upstream[i]) for i in range(len(rows))]
    return FewKeys(fits, max(total, default=0.0))


def _hangs_on(obj: Any, row: Row, rows: Sequence[Row]) -> set[int]:
    """Numbers of the rows that turn something above this row's first bone."""
    over = set(above(obj, row.bones[0]))
    return {i for i, other in enumerate(rows) if other is not row and over & set(other.bones)}


def _depths(upstream: Sequence[set[int]]) -> list[int]:
    """How many rows stand one above the other where this one stands, itself counted."""
    longest = []
    for number in range(len(upstream)):
        families = [{i, *upstream[i]} for i in range(len(upstream)) if i == number or number in upstream[i]]
        longest.append(max(len(family) for family in families))
    return longest


def _motion(
    obj: Any,
    number: int,
    rows: Sequence[Row],
    upstream: Sequence[set[int]],
    readings: Sequence[Reading],
    table: Mapping[str, Floats],
) -> ChainMotion:
    row = rows[number]
    bones = [obj.pose.bones[bone] for bone in row.bones]
    carried = []
    for other in (i for i, over in enumerate(upstream) if number in over):
        over = above(obj, rows[other].bones[0])
        holder = next(i for i, bone in reversed(list(enumerate(row.bones))) if bone in over)
        carried.append((holder, np.array([reading.places[other].heads for reading in readings])))
    return ChainMotion(
        heads=np.array([reading.places[number].heads for reading in readings]),
        frames=np.array([reading.places[number].frames for reading in readings]),
        values=tuple(table[bone.name] for bone in bones),
        modes=tuple(bone.rotation_mode for bone in bones),
        follows_parent=row.follows,
        carried=tuple(carried),
    )
