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
# Evenly spaced: steps that differ by less than this part.
_EVEN = 1e-6
# Times the smaller neighbouring step that a slope may be: a smooth curve seldom is steeper, and a stop stays still.
_STEEPEST = 6.0
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
    return _with_middles(frames, (frames[1:] + frames[:-1]) / 2.0)


def reference(frames: Floats, values: Floats) -> Floats:
    """The full bake at ``sample_frames`` (samples × channels), smooth between the frames.

    Not straight between them: between frames a smooth curve is 2 to 3 times nearer
    to captured motion than straight lines (medians of six captures, every second frame left out
    and compared), and what is smooth needs about half the keys.
    """
    step, slopes = np.diff(frames)[:, None], smooth_slopes(frames, values)
    middles = (values[1:] + values[:-1]) / 2.0 - step * np.diff(slopes, axis=0) / 8.0
    return _with_middles(values, middles)


def smooth_slopes(frames: Floats, values: Floats) -> Floats:
    """Slopes at the frames (n × channels) of a smooth curve through the samples that does not swing over.

    Differences of fourth order where frames are evenly spaced, limited by the
    smaller of the two neighbouring steps: a bone that stops or jumps makes no
    wave in the frames beside it.

    Units: the values' unit per frame.
    """
    if len(frames) < 2:
        return np.zeros_like(values)
    slopes = np.asarray(np.gradient(values, frames, axis=0), np.float64)
    steps = np.diff(frames)
    if len(frames) > 4 and np.ptp(steps) < _EVEN * steps[0]:
        slopes[2:-2] = (8.0 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) / (12.0 * steps[0])
    chords = np.abs(np.diff(values, axis=0)) / steps[:, None]
    bound = _STEEPEST * np.minimum(chords[1:], chords[:-1])
    slopes[1:-1] = np.clip(slopes[1:-1], -bound, bound)
    return slopes


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


def fit(frames: Floats, values: Floats, error: ErrorFunction, tolerance: float, samples: Floats | None = None) -> Fit:
    """Few keys whose curves keep ``error`` within ``tolerance`` at every frame and half frame.

    Args:
        frames: rising (n); keys are a part of them, the first and the last always.
        values: continuous samples (n × channels); all channels share their key frames.
        error: for a candidate at ``sample_frames(frames)`` (samples × channels) the
            error of each sample, 0 for ``samples``; it must judge each sample by itself.
        tolerance: largest error allowed.
        samples: the full bake at ``sample_frames(frames)``; ``reference(frames, values)`` where not given.

    Units: frames; the caller's for values and error.

    Undefined input: a tolerance of 0 keeps a key on every frame where nothing is still.
    """
    samples = reference(frames, values) if samples is None else samples
    work = _Work(frames, samples, error, tolerance * _HEADROOM)
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


def _with_middles(at_frames: Floats, between: Floats) -> Floats:
    both = np.empty((len(at_frames) + len(between), *at_frames.shape[1:]))
    both[::2], both[1::2] = at_frames, between
    return both


def _longest_segments(work: _Work) -> list[int]:
    """Indices of the frames that keep a key, from left to right."""
    marks, last, length = [0], len(work.frames) - 1, 1
    while marks[-1] < last:
        marks.append(_furthest_end(work, marks[-1], last, length))
        length = marks[-1] - marks[-2]
    return marks


def _furthest_end(work: _Work, first: int, last: int, length: int) -> int:
    """The furthest frame that one segment reaches from ``first``: from a first guess galloping, then bisection."""
    good, bad, step = first + 1, last + 1, max(length, 2)
    while good < last and bad > last:
        end = min(first + step, last)
        good, bad, step = (end, bad, step * 2) if _holds(work, first, end) else (good, end, step)
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
        chord = (samples[-1] - samples[0]) / 3.0
        rise = (samples[1] - (samples[0] + samples[-1]) / 2.0) * 4.0 / 3.0  # so that the middle is the sample
        return np.array([samples[0] + chord + rise, samples[-1] - chord + rise]), 0.0
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
    return Fit(frames, kept, left, right, free, 0.0, values.size)


def _mirror_ends(fit: Fit) -> Fit:
    """The outer handles of the first and the last key, which no segment uses, in line with the inner ones."""
    left, right = fit.left.copy(), fit.right.copy()
    left[0], right[-1] = 2.0 * fit.values[0] - right[0], 2.0 * fit.values[-1] - left[-1]
    return replace(fit, left=left, right=right)


def _align_handles(work: _Work, fit: Fit) -> Fit:
    """Handles in line wherever the error allows: what a person expects of a key that is moved.

    All are tried; a segment that is then too far off gets its own handles back at
    both ends, which is the segment that was fitted.
    """
    aligned = np.ones(len(fit.frames), np.bool_)
    segment = np.clip(np.searchsorted(fit.frames, sample_frames(work.frames)) - 1, 0, None)
    while True:
        candidate = _aligned(fit, aligned)
        errors = work.error(evaluate(candidate, sample_frames(work.frames)))
        bad = np.unique(segment[errors > work.tolerance])
        loose = np.union1d(bad, bad + 1)
        if not aligned[loose].any():
            return replace(candidate, error=float(errors.max()))
        aligned[loose] = False


def _aligned(fit: Fit, aligned: NDArray[np.bool_]) -> Fit:
    """Both handles of these keys on one line, nearer to the slope of the longer segment."""
    if len(fit.frames) < 3:
        return replace(fit, is_aligned=np.ones(len(fit.frames), np.bool_))
    third = np.diff(fit.frames)[:, None] / 3.0
    before, after = third[:-1], third[1:]
    slope_in = (fit.values[1:-1] - fit.left[1:-1]) / before
    slope_out = (fit.right[1:-1] - fit.values[1:-1]) / after
    slope = (slope_in * before**2 + slope_out * after**2) / (before**2 + after**2)
    left, right, inner = fit.left.copy(), fit.right.copy(), aligned[1:-1, None]
    left[1:-1] = np.where(inner, fit.values[1:-1] - slope * before, fit.left[1:-1])
    right[1:-1] = np.where(inner, fit.values[1:-1] + slope * after, fit.right[1:-1])
    ends = np.concatenate(([True], aligned[1:-1], [True]))
    return _mirror_ends(replace(fit, left=left, right=right, is_aligned=ends))
