"""One Bézier segment for several channels at once: the handles whose largest miss, as a length, is smallest.

Pure numpy: nothing here knows Blender's data or what the lengths mean. Handle places
in x come from a table, by least squares for each channel by itself. Handle values are
then moved for all channels together, since what counts is where they put the joints:
misses of channels are made to cancel (17 % less than one by one, in the median of four walking limbs).

Method: misses are linear in the channels where they are small, so the largest of
them is convex in the handles' values. Newton's method on sums of rising powers of the
misses comes near the smallest one in a few steps (weights after Lawson took three
times as long for a worse one); what counts as good is measured without the linear model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..solvers.arrays import Floats
from .bezier import THIRD, handle_places

MissFunction = Callable[[Floats, int], Floats]

# Powers of the misses, a step each: twice as many steps save half a percent of the keys (bench/few_keys.py).
_POWERS = (4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 32.0)
# A segment this many times over the tolerance is given up: at once, after a step, after _SOON steps.
_HOPELESS_AT_ONCE, _HOPELESS, _HOPELESS_SOON, _SOON = 6.0, 3.0, 1.35, 4
# How much channels are held where they are for their own sake, against the misses: nothing
# else holds a quaternion's length. Less saves 0.5 % of the keys, more costs that.
_HOLD = 1e-4
# Keeps systems solvable where channels move nothing.
_REGULAR = 1e-9
# Step of a channel in which its lever is measured, both ways.
_STEP = 1e-6


@dataclass(frozen=True, slots=True)
class Task:
    """What stays the same through a fit.

    Attributes:
        frames: of the full bake (n).
        samples: the full bake of these channels at frames and half frames (2n - 1 × channels).
        misses: for candidate rows and the number of the first sample the misses (rows × points × 3).
        base: misses where these channels are as in the full bake (samples × points × 3).
        levers: change of the misses with each channel (samples × points × 3 × channels).
        hold: how much channels are held for their own sake, see ``task_of``.
        tolerance: the largest miss allowed.
    """

    frames: Floats
    samples: Floats
    misses: MissFunction
    base: Floats
    levers: Floats
    hold: float
    tolerance: float


def task_of(frames: Floats, samples: Floats, misses: MissFunction, tolerance: float) -> Task:
    """A task with levers that are measured at the full bake."""
    levers = np.empty((*misses(samples, 0).shape, samples.shape[1]))
    for channel in range(samples.shape[1]):
        step = np.zeros(samples.shape[1])
        step[channel] = _STEP
        levers[..., channel] = (misses(samples + step, 0) - misses(samples - step, 0)) / (2.0 * _STEP)
    hold = _HOLD * float((levers**2).sum(axis=2).max(initial=0.0))
    return Task(frames, samples, misses, misses(samples, 0), levers, hold, tolerance)


def lengths(misses: Floats) -> Floats:
    """Lengths of misses (… × 3)."""
    return cast(Floats, np.sqrt(np.einsum("...x,...x->...", misses, misses)))


def best_segment(task: Task, first: int, last: int) -> tuple[Floats, float]:
    """The handles (2 × channels × 2: frame, value) of the best segment between two frames, and its largest miss.

    Values at both frames are those of the full bake. The miss is exact where it is
    within the tolerance, else a lower guess.
    """
    samples, frames = task.samples[2 * first : 2 * last + 1], task.frames[[first, last]]
    if last - first < 2:
        return _single_step(samples, frames), 0.0
    at = np.empty(len(samples))
    at[::2] = (task.frames[first : last + 1] - frames[0]) / (frames[1] - frames[0])
    at[1::2] = (at[:-1:2] + at[2::2]) / 2.0
    places, table = handle_places(at)
    chosen, basis, rest, start = _least_squares(table, samples)
    values, largest = _smallest_miss(task, 2 * first, basis, rest, start)
    x = frames[0] + places[chosen].T * (frames[1] - frames[0])
    return np.stack((x, values.T), axis=-1), largest


def _single_step(samples: Floats, frames: Floats) -> Floats:
    """Handles of a segment of one frame, through the sample in its middle."""
    chord = (samples[-1] - samples[0]) * THIRD
    rise = (samples[1] - (samples[0] + samples[-1]) / 2.0) / 0.75  # both handles weigh 3/8 in the middle
    step = (frames[1] - frames[0]) * THIRD
    x = np.repeat([[frames[0] + step], [frames[1] - step]], samples.shape[1], axis=1)
    return np.stack((x, (samples[0] + chord + rise, samples[-1] - chord + rise)), axis=-1)


def _least_squares(table: Floats, samples: Floats) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
    """For each channel the best place of the handles, their weights, what they have to make up, and their values."""
    inner, rest = table[:, :, 1:3], samples - table[:, :, [0, 3]] @ samples[[0, -1]]
    turned = np.swapaxes(inner, 1, 2)
    handles = _solved(turned @ inner, turned @ rest)
    chosen = ((rest - inner @ handles) ** 2).sum(axis=1).argmin(axis=0)
    channels = np.arange(samples.shape[1])
    return chosen, inner[chosen], rest[chosen, :, channels], handles[chosen, :, channels]


def _solved(matrices: Floats, right_sides: Floats) -> Floats:
    """Many 2 × 2 systems at once: 50 times faster than ``numpy.linalg.solve`` (measured)."""
    (a, b), (c, d) = matrices[:, 0].T, matrices[:, 1].T
    inverse = np.array([[d, -b], [-c, a]]) / (a * d - b * c)
    return cast(Floats, np.moveaxis(inverse, -1, 0) @ right_sides)


def _smallest_miss(task: Task, first: int, basis: Floats, rest: Floats, values: Floats) -> tuple[Floats, float]:
    """Handle values (channels × 2) with the smallest of the largest misses, and that miss.

    ``basis`` (channels × samples × 2) and ``rest`` (channels × samples): the curves are off by basis · values - rest.
    """
    part = slice(first, first + rest.shape[1])
    samples, base, levers = task.samples[part], task.base[part], task.levers[part]
    slopes = np.einsum("sgxc,csk->sgxck", levers, basis).reshape(*base.shape, -1)
    best, least = values, np.inf
    for step, power in enumerate((*_POWERS, 0.0)):
        off = (basis @ values[..., None])[..., 0] - rest
        misses = base + np.einsum("sgxc,cs->sgx", levers, off)
        largest = float(lengths(misses).max())
        if largest <= task.tolerance:
            exact = task.misses(samples + off.T, first)
            base, misses = base + exact - misses, exact
            largest = float(lengths(misses).max())
        if largest < least:
            best, least = values, largest
        if least <= task.tolerance or not power or _is_hopeless(step, least, task.tolerance):
            break
        held = _Held(basis, off / largest, task.hold / largest**2)
        values = values - _newton_step(misses / largest, slopes / largest, held, power)
    return best, least


def _is_hopeless(step: int, least: float, tolerance: float) -> bool:
    """Whether a segment that is this far over the tolerance after some steps is given up."""
    times = _HOPELESS_AT_ONCE if not step else _HOPELESS if step < _SOON else _HOPELESS_SOON
    return least > times * tolerance


@dataclass(frozen=True, slots=True)
class _Held:
    """Curves that are held where they are: how far they are ``off``, and how much that counts."""

    basis: Floats
    off: Floats
    hold: float


def _newton_step(misses: Floats, slopes: Floats, held: _Held, power: float) -> Floats:
    """A step down the sum of powers of the misses, which are 1 at most (channels × 2)."""
    sizes = lengths(misses)
    weights = sizes ** (power - 2.0)
    size = slopes.shape[-1]
    weighted = (slopes * weights[..., None, None]).reshape(-1, size)
    along = np.einsum("sgxp,sgx->sgp", slopes, misses)
    steep = (along * ((power - 2.0) * sizes ** (power - 4.0))[..., None]).reshape(-1, size)
    curvature = weighted.T @ slopes.reshape(-1, size) + steep.T @ along.reshape(-1, size)
    gradient = (weighted.T @ misses.reshape(-1)).reshape(-1, 2)
    hold = held.hold * float(weights.mean())
    turned = hold * np.swapaxes(held.basis, 1, 2)
    channels = np.arange(size // 2)
    curvature.reshape(size // 2, 2, size // 2, 2)[channels, :, channels, :] += turned @ held.basis
    gradient += (turned @ held.off[..., None])[..., 0]
    curvature[np.diag_indices(size)] += _REGULAR * np.trace(curvature) + np.finfo(np.float64).tiny
    return cast(Floats, np.linalg.solve(curvature, gradient.reshape(-1))).reshape(-1, 2)
