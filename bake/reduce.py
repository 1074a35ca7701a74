"""Few keys for many samples: Bézier curves that stay within a given error of a full bake.

Pure numpy: nothing here knows Blender's data or what the error means; the caller
measures it (as lengths, through forward kinematics). Keys stand on samples and
keep their value exactly; segments are Blender's own Bézier curves, with handles
that a person can edit.

Method: the longest segment that keeps the error, found by galloping and bisection
from left to right. Handles in x from a table of places (that saves 40 % of the keys
against handles at thirds, measured on walks), in y by least squares on frames and
half frames, weighted again by where the error is (Lawson), since the largest error
counts and not the mean. Segments that share a key do not depend on each other, so no later choice
spoils an earlier one. The two handles of a key are free of each other: held in line,
limbs need 1.5 to 1.9 times the keys (measured).

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

from .bezier import THIRD, bernstein, handle_places, parameters

Floats = NDArray[np.float64]
ErrorFunction = Callable[[Floats], Floats]

# Rounds of weighting again: three save up to 8 % of the keys against one, a fourth 1 % (bench/few_keys.py).
_ROUNDS = 3
# A weight that no sample falls below, so that none is let go.
_LEAST_WEIGHT = 1e-2
# A segment this many times over the tolerance isn't tried again with other weights.
_HOPELESS = 3.0
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
        left, right: frame and value of the handles (k × channels × 2).
        error: the largest error at any frame or half frame, in the caller's unit.
        keys_before: keys of the full bake, all channels.
    """

    frames: Floats
    values: Floats
    left: Floats
    right: Floats
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

    Not straight between them: between frames a smooth curve is 1.3 to 3 times nearer
    to captured motion than straight lines (medians of five captures, every second frame left out and
    compared, 12 to 25 frames a second left), and what is smooth needs about half the keys.
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
    start, length = fit.frames[i, None], (fit.frames[i + 1] - fit.frames[i])[:, None]
    places = ((handles[..., 0] - start) / length for handles in (fit.right[i], fit.left[i + 1]))
    weights = bernstein(parameters((at[:, None] - start) / length, *places))
    controls = (fit.values[i], fit.right[i, :, 1], fit.left[i + 1, :, 1], fit.values[i + 1])
    return cast(Floats, np.einsum("sck,ksc->sc", weights, np.array(controls)))


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
    return _assemble(work, values, marks)


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
    """The handles (2 × channels × 2) of the best segment between two frames, and its largest error."""
    samples, frames = work.samples[2 * first : 2 * last + 1], work.frames[[first, last]]
    if last - first < 2:
        return _single_step(samples, frames), 0.0
    at = sample_frames(work.frames[first : last + 1])
    places, table = handle_places((at - at[0]) / (at[-1] - at[0]))
    weights = np.ones(len(at))
    best, least = np.empty(0), np.inf
    for _ in range(_ROUNDS):
        chosen, handles, candidate = _least_squares(table, samples, weights)
        errors = work.errors(candidate, 2 * first, 2 * last)
        largest = float(errors.max())
        if largest < least:
            x = frames[0] + places[chosen].T * (frames[1] - frames[0])
            best, least = np.stack((x, handles), axis=-1), largest
        if largest <= work.tolerance or largest > _HOPELESS * work.tolerance:
            break
        weights = weights * (errors / largest + _LEAST_WEIGHT)
    return best, least


def _single_step(samples: Floats, frames: Floats) -> Floats:
    """Handles of a segment of one frame, through the sample in its middle."""
    chord = (samples[-1] - samples[0]) * THIRD
    rise = (samples[1] - (samples[0] + samples[-1]) / 2.0) / 0.75  # both handles weigh 3/8 in the middle
    step = (frames[1] - frames[0]) * THIRD
    x = np.repeat([[frames[0] + step], [frames[1] - step]], samples.shape[1], axis=1)
    return np.stack((x, (samples[0] + chord + rise, samples[-1] - chord + rise)), axis=-1)


def _least_squares(table: Floats, samples: Floats, weights: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """For each channel the best place of the handles, their values (2 × channels) and the curve, between fixed ends."""
    ends = table[:, :, [0, 3]] @ samples[[0, -1]]
    inner, rest = table[:, :, 1:3], samples - ends
    weighted = np.swapaxes(inner * weights[:, None], 1, 2)
    handles = _solved(weighted @ inner, weighted @ rest)
    curves = inner @ handles
    chosen = np.einsum("psc,s->pc", (rest - curves) ** 2, weights).argmin(axis=0)
    channels = np.arange(samples.shape[1])
    return chosen, handles[chosen, :, channels].T, (ends + curves)[chosen, :, channels].T


def _solved(matrices: Floats, right_sides: Floats) -> Floats:
    """Many 2 × 2 systems at once: 50 times faster than ``numpy.linalg.solve`` (measured)."""
    (a, b), (c, d) = matrices[:, 0].T, matrices[:, 1].T
    inverse = np.array([[d, -b], [-c, a]]) / (a * d - b * c)
    return cast(Floats, np.moveaxis(inverse, -1, 0) @ right_sides)


def _assemble(work: _Work, values: Floats, marks: list[int]) -> Fit:
    kept, frames = values[marks], work.frames[marks]
    left = np.stack(np.broadcast_arrays(frames[:, None], kept), axis=-1)
    right = left.copy()
    for i, (first, last) in enumerate(pairwise(marks)):
        right[i], left[i + 1] = _segment(work, first, last)[0]
    points = np.stack(np.broadcast_arrays(frames[:, None], kept), axis=-1)
    left[0], right[-1] = 2.0 * points[0] - right[0], 2.0 * points[-1] - left[-1]  # no segment uses these two
    found = Fit(frames, kept, left, right, 0.0, values.size)
    errors = work.error(evaluate(found, sample_frames(work.frames)))
    return replace(found, error=float(errors.max()))
