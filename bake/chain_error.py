"""How far a chain's joints and tip are from where they should be, when its rotations are nearly right.

Pure numpy: what ``reduce.fit`` needs to measure candidates as lengths. Nothing here
knows Blender's data; the caller samples the chain on frames and half frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from .reduce import ErrorFunction, Fit, Floats, fit

_AXES = "XYZ"
_NO_TURN = (1.0, 0.0, 0.0, 0.0)
# Shorter quaternions and axes have no direction; Blender too takes them for no turn.
_NO_LENGTH = 1e-12


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


def chain_error(motion: ChainMotion) -> ErrorFunction:
    """A function that gives for candidate channels (samples × all channels) the largest miss of a joint or the tip.

    Bones between the turned ones keep their local rotation. Undefined input: under
    parents that are scaled unevenly the miss is approximate.
    """
    wanted = [to_quaternions(rows, mode) for rows, mode in zip(motion.values, motion.modes, strict=True)]
    frames = [_unit(motion.frames[:, i].astype(np.float64), _NO_TURN) for i in range(len(wanted))]
    back = [_product(_conjugate(q), _conjugate(frame)) for q, frame in zip(wanted, frames, strict=True)]
    splits = np.cumsum([rows.shape[1] for rows in motion.values])[:-1]
    heads = motion.heads.astype(np.float64)  # mathutils gives numpy 32 bits in Blender 5.3
    steps = np.diff(heads, axis=1)
    carried = [(bone, points - heads[:, None, bone]) for bone, points in motion.carried]

    def error(candidate: Floats) -> Floats:
        turn = np.tile(_NO_TURN, (len(candidate), 1))
        miss, largest = np.zeros((len(candidate), 3)), np.zeros(len(candidate))
        for i, rows in enumerate(np.split(candidate, splits, axis=1)):
            local = to_quaternions(rows, motion.modes[i])
            own = _product(frames[i], _product(local, back[i]))
            turn = _product(turn, own) if motion.follows_parent[i] else own
            for arms in (arms for bone, arms in carried if bone == i):
                largest = np.maximum(largest, _carried_miss(turn, miss, arms))
            miss = miss + _rotated(turn, steps[:, i]) - steps[:, i]
            largest = np.maximum(largest, np.linalg.norm(miss, axis=1))
        return largest

    return error


def _carried_miss(turn: Floats, miss: Floats, arms: Floats) -> Floats:
    """The largest miss of points that a bone carries: its head's own, and what its turn adds at the end of each arm."""
    misses = [np.linalg.norm(miss + _rotated(turn, arms[:, i]) - arms[:, i], axis=1) for i in range(arms.shape[1])]
    return cast(Floats, np.max(misses, axis=0))


def fit_bones(frames: Floats, motions: Mapping[str, Floats], error: ErrorFunction, tolerance: float) -> dict[str, Fit]:
    """``reduce.fit`` of several bones together: one set of key frames, one error.

    Args:
        frames: the frames of the bake (n).
        motions: by bone name its channels at ``reduce.sample_frames(frames)``, in the order ``error`` expects.
        error: see ``reduce.fit``.
        tolerance: largest error allowed.
    """
    samples = np.hstack(list(motions.values()))
    whole = fit(frames, samples[::2], error, tolerance, samples)
    stops = np.cumsum([rows.shape[1] for rows in motions.values()])
    widths = zip(motions, motions.values(), stops, strict=True)
    return {name: whole.channels(int(stop) - rows.shape[1], int(stop)) for name, rows, stop in widths}


def to_quaternions(values: Floats, rotation_mode: str) -> Floats:
    """Unit quaternions (w x y z) of rotation channels in one of Blender's modes.

    Units: radians. Undefined input: quaternions and axes without length mean no turn.
    """
    if rotation_mode == 'QUATERNION':
        return _unit(values, _NO_TURN)
    if rotation_mode == 'AXIS_ANGLE':
        half, axes = values[:, :1] / 2.0, _unit(values[:, 1:], (0.0, 1.0, 0.0))
        return np.hstack((np.cos(half), np.sin(half) * axes))
    turns = [_about_axis(values[:, _AXES.index(axis)], _AXES.index(axis)) for axis in rotation_mode]
    return _product(turns[2], _product(turns[1], turns[0]))


def _about_axis(angles: Floats, axis: int) -> Floats:
    turns = np.zeros((len(angles), 4))
    turns[:, 0], turns[:, 1 + axis] = np.cos(angles / 2.0), np.sin(angles / 2.0)
    return turns


def _unit(rows: Floats, fallback: Sequence[float]) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(lengths > _NO_LENGTH, rows / np.maximum(lengths, _NO_LENGTH), fallback)


def _conjugate(q: Floats) -> Floats:
    return q * (1.0, -1.0, -1.0, -1.0)


def _product(p: Floats, q: Floats) -> Floats:
    a, b, c, d = p.T
    e, f, g, h = q.T
    rows = (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )
    return np.column_stack(rows)


def _rotated(q: Floats, vectors: Floats) -> Floats:
    pure = np.column_stack((np.zeros(len(vectors)), vectors))
    return _product(_product(q, pure), _conjugate(q))[:, 1:]
