"""How far a chain's joints and tip are from where they should be, when its rotations are nearly right.

Pure numpy: what ``reduce.fit`` needs to measure candidates as lengths, and that for several bones. Nothing here
knows Blender's data; the caller samples the chain on frames and half frames.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from ..solvers.arrays import Floats
from .quaternions import NO_LENGTH, NO_TURN, conjugate, product, rotated, to_quaternions, unit
from .reduce import Fit, evaluate, fit, sample_frames
from .segment import MissFunction, lengths

ErrorFunction = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class ChainMotion:
    """A chain as it was sampled.

    Attributes:
        heads: root joint … last joint, then the tip (samples × (bones + 1) × 3).
        frames: orientation of each bone at zero local rotation under its solved parent (samples × bones × 4).
        values: each bone's rotation channels (samples × 3 or 4), root first, continuous.
        modes: each bone's rotation mode.
        follows_parent: whether each bone turns with the one before (inherit rotation).
        carried: points (samples × n × 3) that hang on the bone with a number, such as the joints of another chain.

    Space: one space for heads and frames, in which the error is measured (armature, or world). Units: its lengths.
    """

    heads: Floats
    frames: Floats
    values: tuple[Floats, ...]
    modes: tuple[str, ...]
    follows_parent: tuple[bool, ...]
    carried: tuple[tuple[int, Floats], ...] = ()


def reshaped(motion: ChainMotion, values: Sequence[Floats]) -> ChainMotion:
    """The motion that a chain has with other rotation channels (as ``values`` of the motion)."""
    count = len(motion.heads)
    heads, frames = motion.heads.astype(np.float64), motion.frames.astype(np.float64).copy()
    steps, turn = np.diff(heads, axis=1), np.tile(NO_TURN, (count, 1))
    carried = [(bone, points - heads[:, None, bone]) for bone, points in motion.carried]
    found: list[tuple[int, Floats]] = []
    for i, (before, after, mode) in enumerate(zip(motion.values, values, motion.modes, strict=True)):
        frame = unit(frames[:, i], NO_TURN)
        frames[:, i] = product(turn, frame) if motion.follows_parent[i] else frame
        old, new = product(frame, to_quaternions(before, mode)), product(frames[:, i], to_quaternions(after, mode))
        turn = product(new, conjugate(old))
        heads[:, i + 1] = heads[:, i] + rotated(turn, steps[:, i])
        for arms in (arms for bone, arms in carried if bone == i):
            points = [heads[:, i] + rotated(turn, arms[:, point]) for point in range(arms.shape[1])]
            found.append((i, np.stack(points, axis=1)))
    return replace(motion, heads=heads, frames=frames, values=tuple(values), carried=tuple(found))


def chain_misses(motion: ChainMotion, side: float = 0.0) -> MissFunction:
    """A function that gives for candidate channels (rows × all channels) and the number of the first sample the misses.

    Rows × points × 3: each joint, the tip, and what is carried. ``side``: also a point beside
    each bone, this part of the chain's length away, by which a bone's twist counts
    where no joint shows it.

    Bones between the turned ones keep their local rotation. Undefined input: under
    parents that are scaled unevenly the miss is approximate.
    """
    wanted = [to_quaternions(rows, mode) for rows, mode in zip(motion.values, motion.modes, strict=True)]
    frames = [unit(motion.frames[:, i].astype(np.float64), NO_TURN) for i in range(len(wanted))]
    back = [product(conjugate(q), conjugate(frame)) for q, frame in zip(wanted, frames, strict=True)]
    splits = np.cumsum([rows.shape[1] for rows in motion.values])[:-1]
    heads = motion.heads.astype(np.float64)  # mathutils gives numpy 32 bits in Blender 5.3
    steps = np.diff(heads, axis=1)
    carried = [(bone, points - heads[:, None, bone]) for bone, points in motion.carried]
    beside = _beside(steps, side) if side else None

    def misses(candidate: Floats, first: int) -> Floats:
        part = slice(first, first + len(candidate))
        turn, miss = np.tile(NO_TURN, (len(candidate), 1)), np.zeros((len(candidate), 3))
        found = []
        for i, rows in enumerate(np.split(candidate, splits, axis=1)):
            own = product(frames[i][part], product(to_quaternions(rows, motion.modes[i]), back[i][part]))
            turn = product(turn, own) if motion.follows_parent[i] else own
            for arms in (arms[part] for bone, arms in carried if bone == i):
                found += [miss + _swept(turn, arms[:, point]) for point in range(arms.shape[1])]
            miss = miss + _swept(turn, steps[part, i])
            found.append(miss)
            if beside is not None:
                found.append(_swept(turn, beside[part, i]))
        return np.stack(found, axis=1)

    return misses


def chain_error(motion: ChainMotion) -> ErrorFunction:
    """A function that gives for candidate channels (samples × all channels) the largest miss of a joint or the tip.

    What is carried counts too. Undefined input: as in ``chain_misses``.
    """
    misses = chain_misses(motion)
    return lambda candidate: cast(Floats, lengths(misses(candidate, 0)).max(axis=1))


def _swept(turn: Floats, arms: Floats) -> Floats:
    """What a turn adds to the ends of arms."""
    return rotated(turn, arms) - arms


def _beside(steps: Floats, part: float) -> Floats:
    """Arms square to the steps (samples × bones × 3), ``part`` of the chain's length long."""
    length = float(np.linalg.norm(steps, axis=2).sum(axis=1).mean())
    axes = np.eye(3)[np.abs(steps).argmin(axis=2)]
    across = np.cross(steps, axes)
    arms = part * length * across / np.maximum(np.linalg.norm(across, axis=2, keepdims=True), NO_LENGTH)
    return cast(Floats, arms)


def fit_bones(frames: Floats, motions: Mapping[str, Floats], misses: MissFunction, tolerance: float) -> dict[str, Fit]:
    """``reduce.fit`` of several bones, each on key frames of its own; those of one bone's channels are common.

    Bones follow each other, each with what those before leave it. It may make up for their misses, so none
    needs a share of its own: that takes 6 % fewer keys than frames common to
    all bones on walking limbs, 20 to 40 % on chains of 5 and 8 bones (measured).

    Args:
        frames: the frames of the bake (n).
        motions: by bone name its channels at ``reduce.sample_frames(frames)``, in the order ``misses`` expects.
        misses: see ``reduce.fit``.
        tolerance: longest miss allowed.
    """
    shown, at, fits, start = np.hstack(list(motions.values())), sample_frames(frames), dict[str, Fit](), 0
    for name, samples in motions.items():
        columns = slice(start, start + samples.shape[1])
        fits[name] = fit(frames, samples, _misses_of(misses, shown.copy(), columns), tolerance)
        shown[:, columns], start = evaluate(fits[name], at), columns.stop
    error = max((one.error for one in list(fits.values())[-1:]), default=0.0)  # measured with all others in place
    return {name: replace(found, error=error) for name, found in fits.items()}


def _misses_of(misses: MissFunction, shown: Floats, columns: slice) -> MissFunction:
    """The misses that come of some channels, while the others are as shown."""

    def of_columns(candidate: Floats, first: int) -> Floats:
        whole = shown[first : first + len(candidate)].copy()
        whole[:, columns] = candidate
        return misses(whole, first)

    return of_columns
