"""Few keys for many samples: Bézier curves that stay within a given error of a full bake.

Pure numpy: nothing here knows Blender's data or what the error means; the caller
measures it (as lengths, through forward kinematics). Keys stand on samples and
keep their value exactly; segments are cubic, with handles a third of the segment
away, so that Blender's own Bézier curves evaluate to the same numbers and a person
can edit them.

Method: the longest segment that keeps the error, found by galloping and bisection
from left to right. Handles by least squares on frames and half frames, weighted
again by where the error is (Lawson), since the largest error counts and not the
mean. Segments that share a key do not depend on each other, so no later choice
spoils an earlier one. Then as many keys as the error allows get handles in line.

Blender's own decimation (``graph.decimate``) was tried: it needs an open graph
editor and measures each channel by itself, not the pose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ErrorFunction = Callable[[Floats], Floats]

# Rounds of weighting again; the gain of a fourth is under 1 % of the keys (measured on walks).
_ROUNDS = 3
# A weight that no sample falls below, so that none is let go.
_LEAST_WEIGHT = 1e-2
# Part of the tolerance that is used: Blender stores keys and handles as 32-bit floats.
_HEADROOM = 0.98


@dataclass(frozen=True, slots=True)
class Fit:
    """Keys and handles that stand for all samples.

    Attributes:
        frames: where the keys are (k).
        values: key values (k × channels).
        left, right: values of the handles (k × channels); they stand a third of the segment away from their key.
        is_aligned: whether both handles of a key are in line, for all channels (k).
        error: the largest error at any frame or half frame, in the caller's unit.
        keys_before: keys of the full bake, all channels.
    """

    frames: Floats
    values: Floats
    left: Floats
    right: Floats
    is_aligned: NDArray[np.bool_]
    error: float
    keys_before: int

    @property
    def keys_after(self) -> int:
        """Keys of all channels."""
        return self.values.size

    def channels(self, start: int, stop: int) -> Fit:
        """The fit of some of the channels; the error is that of all."""
        part = slice(start, stop)
        before = self.keys_before * (stop - start) // self.values.shape[1]
        left, right = self.left[:, part], self.right[:, part]
        return replace(self, values=self.values[:, part], left=left, right=right, keys_before=before)


def sample_frames(frames: Floats) -> Floats:
    """The frames and the middles between them, rising: where the error is checked."""
    samples = np.empty(2 * len(frames) - 1)
    samples[::2], samples[1::2] = frames, (frames[1:] + frames[:-1]) / 2.0
    return samples


def reference(frames: Floats, values: Floats) -> Floats:
    """The full bake (straight between frames) at ``sample_frames``, samples × channels."""
    samples = np.empty((2 * len(frames) - 1, values.shape[1]))
    samples[::2], samples[1::2] = values, (values[1:] + values[:-1]) / 2.0
    return samples


def evaluate(fit: Fit, at: Floats) -> Floats:
    """The fit's curves at any frames, as Blender evaluates them; held outside (at × channels)."""
    if len(fit.frames) == 1:
        return np.repeat(fit.values, len(at), axis=0)
    at = np.clip(at, fit.frames[0], fit.frames[-1])
    i = np.clip(np.searchsorted(fit.frames, at, side="right") - 1, 0, len(fit.frames) - 2)
    t = (at - fit.frames[i]) / (fit.frames[i + 1] - fit.frames[i])
    weights = _bernstein(t)[:, :, None]
    controls = (fit.values[i], fit.right[i], fit.left[i + 1], fit.values[i + 1])
    return cast(Floats, sum(weights[:, k] * control for k, control in enumerate(controls)))


def fit(frames: Floats, values: Floats, error: ErrorFunction, tolerance: float) -> Fit:
    """Few keys whose curves keep ``error`` within ``tolerance`` at every frame and half frame.

    Args:
        frames: rising (n); keys are a part of them, the first and the last always.
        values: continuous samples (n × channels); all channels share their key frames.
        error: for a candidate at ``sample_frames(frames)`` (samples × channels) the
            error of each sample, 0 for ``reference(frames, values)``; it must judge
            each sample by itself.
        tolerance: largest error allowed; one key a frame always is within it at the frames.

    Units: frames; the caller's for values and error.

    Undefined input: a tolerance of 0 keeps a key on every frame.
    """
    work = _Work(frames, reference(frames, values), error, tolerance * _HEADROOM)
    marks = _longest_segments(work)
    found = _assemble(work, values, marks)
    return _align_handles(work, found)


@dataclass(frozen=True, slots=True)
class _Work:
    """What stays the same through a fit. ``samples``: the full bake on frames and half frames."""

    frames: Floats
    samples: Floats
    error: ErrorFunction
    tolerance: float

    def errors(self, candidate: Floats, first: int, last: int) -> Floats:
        """Errors of a candidate for the samples first…last; elsewhere the full bake stands."""
        whole = self.samples.copy()
        whole[first : last + 1] = candidate
        return self.error(whole)[first : last + 1]


def _bernstein(t: Floats) -> Floats:
    s = 1.0 - t
    return np.column_stack((s**3, 3.0 * s * s * t, 3.0 * s * t * t, t**3))


def _longest_segments(work: _Work) -> list[int]:
    """Indices of the frames that keep a key, from left to right."""
    marks, last = [0], len(work.frames) - 1
    while marks[-1] < last:
        marks.append(_furthest_end(work, marks[-1], last))
    return marks


def _furthest_end(work: _Work, first: int, last: int) -> int:
    """The furthest frame that one segment reaches from ``first``: galloping, then bisection."""
    good, step = first + 1, 2
    while good < last and _holds(work, first, min(first + step, last)):
        good, step = min(first + step, last), step * 2
    bad = min(first + step, last + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if _holds(work, first, middle) else (good, middle)
    return good


def _holds(work: _Work, first: int, last: int) -> bool:
    return _segment(work, first, last)[1] <= work.tolerance


def _segment(work: _Work, first: int, last: int) -> tuple[Floats, float]:
    """The handles (2 × channels) of the best segment between two frames, and its largest error."""
    samples = work.samples[2 * first : 2 * last + 1]
    if last - first < 2:
        return np.array([(2.0 * samples[0] + samples[-1]) / 3.0, (samples[0] + 2.0 * samples[-1]) / 3.0]), 0.0
    at = sample_frames(work.frames[first : last + 1])
    basis = _bernstein((at - at[0]) / (at[-1] - at[0]))
    weights = np.ones(len(at))
    best, least = samples[:2], np.inf
    for _ in range(_ROUNDS):
        handles = _least_squares(basis, samples, weights)
        candidate = basis[:, [0, 3]] @ samples[[0, -1]] + basis[:, 1:3] @ handles
        errors = work.errors(candidate, 2 * first, 2 * last)
        largest = float(errors.max())
        if largest < least:
            best, least = handles, largest
        if largest <= work.tolerance:
            break
        weights = weights * (errors / largest + _LEAST_WEIGHT)
    return best, least


def _least_squares(basis: Floats, samples: Floats, weights: Floats) -> Floats:
    """Handles between fixed ends, for all channels at once."""
    rest = samples - basis[:, [0, 3]] @ samples[[0, -1]]
    weighted = basis[:, 1:3] * weights[:, None]
    return cast(Floats, np.linalg.solve(weighted.T @ basis[:, 1:3], weighted.T @ rest))


def _assemble(work: _Work, values: Floats, marks: list[int]) -> Fit:
    kept = values[marks]
    left, right = kept.copy(), kept.copy()
    for i, (first, last) in enumerate(pairwise(marks)):
        right[i], left[i + 1] = _segment(work, first, last)[0]
    frames = work.frames[marks]
    free = np.zeros(len(marks), np.bool_)
    return _mirror_ends(_measured(work, Fit(frames, kept, left, right, free, 0.0, values.size)))


def _mirror_ends(fit: Fit) -> Fit:
    """The outer handles of the first and the last key, which no segment uses, in line with the inner ones."""
    left, right = fit.left.copy(), fit.right.copy()
    left[0], right[-1] = 2.0 * fit.values[0] - right[0], 2.0 * fit.values[-1] - left[-1]
    aligned = fit.is_aligned.copy()
    aligned[[0, -1]] = True
    return replace(fit, left=left, right=right, is_aligned=aligned)


def _measured(work: _Work, fit: Fit) -> Fit:
    return replace(fit, error=float(work.error(evaluate(fit, sample_frames(work.frames))).max()))


def _align_handles(work: _Work, fit: Fit) -> Fit:
    """Handles in line wherever the error allows: what a person expects of a key that is moved."""
    return fit
