"""A bake with few keys: each chain's curves stay within a length of the full bake.

Joins ``reduce`` and ``chain_error`` with what was read at frames and half frames. Where
chains hang on chains, each gets its share of the length, so that the sum holds. Reads no pose
and writes no key.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..solvers.arrays import Floats
from .chain_error import ChainMotion, chain_error, chain_misses, fit_bones, reshaped
from .reading import BakeWork, BoneRow, Reading, above, rotation_table
from .reduce import Fit, evaluate, reference, sample_frames, straight
from .segment import MissFunction

BESIDE = 0.15
"""How far beside each bone twist counts, as a part of the chain's length: 1e-3 of it lets a bone twist by 0.4°."""

NEAR_LIVE = 0.5
"""A full bake that is off live IK by less than this part of the tolerance can be kept near to both."""
TINY = 1e-30


@dataclass(frozen=True, slots=True)
class FewKeys:
    """Fits by bone name; ``error``: the largest miss of any joint, in the unit of the tolerance.

    ``part``: the largest miss as a part of its chain's length.
    """

    fits: dict[str, Fit]
    error: float
    part: float


def few_keys(
    work: BakeWork,
    rows: Sequence[BoneRow],
    readings: Sequence[Reading],
    table: Mapping[str, Floats],
    tolerance: float,
    straight_bones: Collection[str] = (),
) -> FewKeys:
    """Few keys for the bones of one armature.

    Args:
        work: what is baked.
        rows: ``rows_of`` it.
        readings: at ``reduce.sample_frames`` of the work's frames.
        table: the full bake: ``rotation_table`` of the readings at the work's frames.
        tolerance: the largest miss of any joint or tip, in units of the world.
        straight_bones: those of which the full bake has straight segments.

    Undefined input: what hangs on the armature through other objects, and bones below the
    end bone, are not measured; under uneven scale the miss is approximate.
    """
    scale = max(reading.scale for reading in readings) or 1.0
    upstream = [_hangs_on(work.obj, row, rows) for row in rows]
    depths, frames = _depths(upstream), np.asarray(work.frames)
    shown_live, fits = rotation_table(work, readings), dict[str, Fit]()
    errors: list[float] = []
    lengths: list[float] = []
    for number, row in enumerate(rows):
        live = _motion(work.obj, number, rows, upstream, readings, shown_live)
        names = [work.obj.pose.bones[bone].name for bone in row.bones]
        full = {one: straight(table[one]) if one in straight_bones else reference(frames, table[one]) for one in names}
        found, error = _fit(frames, live, full, tolerance / scale / depths[number])
        fits |= found
        errors.append(error * scale)
        lengths.append(scale * float(np.linalg.norm(np.diff(live.heads[0], axis=0), axis=1).sum()))
    total = [errors[i] + sum(errors[above_it] for above_it in upstream[i]) for i in range(len(rows))]
    parts = [miss / length for miss, length in zip(total, lengths, strict=True) if length > 0.0]
    return FewKeys(fits, max(total, default=0.0), max(parts, default=0.0))


def _fit(
    frames: Floats, live: ChainMotion, full: Mapping[str, Floats], tolerance: float
) -> tuple[dict[str, Fit], float]:
    """Fits of one chain's bones, and the largest miss from the full bake (by bone at ``sample_frames``)."""
    motion = reshaped(live, list(full.values()))
    misses = _beside_live(chain_misses(motion, BESIDE), live, motion, tolerance)
    found = fit_bones(frames, full, misses, tolerance)
    shown = np.hstack([evaluate(one, sample_frames(frames)) for one in found.values()])
    return found, float(chain_error(motion)(shown).max())


def _beside_live(misses: MissFunction, live: ChainMotion, full: ChainMotion, tolerance: float) -> MissFunction:
    """Misses that count more where the full bake is off live IK between frames, so that both are kept to.

    Where it is far off (targets keyed on every frame with straight segments, near a straight limb), it counts alone.
    """
    off = chain_error(full)(np.hstack(live.values))
    weights = np.where(off < NEAR_LIVE * tolerance, tolerance / np.maximum(tolerance - off, TINY), 1.0)
    return lambda candidate, first: misses(candidate, first) * weights[first : first + len(candidate), None, None]


def _hangs_on(obj: Any, row: BoneRow, rows: Sequence[BoneRow]) -> set[int]:
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
    rows: Sequence[BoneRow],
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
