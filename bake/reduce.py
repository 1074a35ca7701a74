"""Few keys for many samples: Bézier curves that stay within a given error of a full bake.

Pure numpy: nothing here knows Blender's data or what the error means; the caller
measures it (as lengths, through forward kinematics). Keys stand on samples and
keep their value exactly; segments are Blender's own Bézier curves, with handles
that a person can edit.

Method: the longest segment (``segment``) that keeps the error, found by galloping and bisection
from left to right. Segments that share a key do not depend on each other, so no later choice
spoils an earlier one. Handles are free in x too (that saves 40 % of the keys against handles at
thirds, measured on walks), and the two handles of a key are free of each other: held in line,
limbs need 1.5 to 1.9 times the keys (measured).

Tried and left out, since they save no more than a few of a hundred keys (measured on two walks and a jump): key values
beside the sample, the shortest path through all segments that hold, and taking keys
out again with all handles near them fitted anew, which takes ten times as long.

Blender's own decimation (``graph.decimate``) was tried: it needs an open graph
editor and measures each channel by itself, not the pose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

import numpy as np

from ..solvers.arrays import Floats
from .bezier import bernstein, parameters
from .segment import MissFunction, Task, best_segment, lengths, task_of

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
    """

    frames: Floats
    values: Floats
    left: Floats
    right: Floats
    error: float


def sample_frames(frames: Floats) -> Floats:
    """The frames and the middles between them, rising: where the error is checked."""
    return _with_middles(frames, (frames[1:] + frames[:-1]) / 2.0)


def straight(values: Floats) -> Floats:
    """A full bake of straight segments at ``sample_frames`` (samples × channels)."""
    return _with_middles(values, (values[1:] + values[:-1]) / 2.0)


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


def fit(frames: Floats, samples: Floats, misses: MissFunction, tolerance: float) -> Fit:
    """Few keys whose curves keep every miss within ``tolerance`` at every frame and half frame.

    Args:
        frames: rising (n); keys are a part of them, the first and the last always.
        samples: the full bake at ``sample_frames(frames)`` (2n - 1 × channels), continuous; all
            channels share their key frames. Its misses have to be within the tolerance.
        misses: for candidate rows and the number of the first of them how far each
            sample's points are off (rows × points × 3); it must judge each sample by itself.
        tolerance: the longest miss allowed.

    Units: frames; the caller's for values and misses.

    Undefined input: a tolerance of 0 keeps a key on every frame where nothing is still.
    """
    task = task_of(frames, samples, misses, tolerance * _HEADROOM)
    return _assemble(task, _longest_segments(task))


def _with_middles(at_frames: Floats, between: Floats) -> Floats:
    both = np.empty((len(at_frames) + len(between), *at_frames.shape[1:]))
    both[::2], both[1::2] = at_frames, between
    return both


def _longest_segments(task: Task) -> list[int]:
    """Indices of the frames that keep a key, from left to right."""
    marks, last, length = [0], len(task.frames) - 1, 1
    while marks[-1] < last:
        marks.append(_furthest_end(task, marks[-1], last, length))
        length = marks[-1] - marks[-2]
    return marks


def _furthest_end(task: Task, first: int, last: int, length: int) -> int:
    """The furthest frame that one segment reaches from ``first``: from a first guess galloping, then bisection."""
    good, bad, step = first + 1, last + 1, max(length, 2)
    while good < last and bad > last:
        end = min(first + step, last)
        good, bad, step = (end, bad, step * 2) if _holds(task, first, end) else (good, end, step)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if _holds(task, first, middle) else (good, middle)
    return good


def _holds(task: Task, first: int, last: int) -> bool:
    return best_segment(task, first, last)[1] <= task.tolerance


def _assemble(task: Task, marks: list[int]) -> Fit:
    kept, frames = task.samples[::2][marks], task.frames[marks]
    left = np.stack(np.broadcast_arrays(frames[:, None], kept), axis=-1)
    right, points = left.copy(), left.copy()
    for i, (first, last) in enumerate(pairwise(marks)):
        right[i], left[i + 1] = best_segment(task, first, last)[0]
    left[0], right[-1] = 2.0 * points[0] - right[0], 2.0 * points[-1] - left[-1]  # no segment uses these two
    found = Fit(frames, kept, left, right, 0.0)
    misses = task.misses(evaluate(found, sample_frames(task.frames)), 0)
    return replace(found, error=float(lengths(misses).max(initial=0.0)))
