"""The least number of Bézier segments that could stand for a limb's motion: what no way of choosing keys gets under.

Numpy only. One channel at a time is let off by the whole error while all others are
exact; its segments' four values and both handle places are free, and neighbouring
segments need not even meet. Real keys have less room: channels share the error, and
a key's value ends one segment and begins the next.

For given handle places a segment is a cubic in the curve's parameter, so the best one under the
largest weighted miss is found by Remez' exchange, and the miss on five alternating samples proves
that a place is out (de la Vallée Poussin). A part of a segment is a segment again, so the
longest segment from the left each time gives the least number. Places lie on a grid;
one two and a half times as fine takes off two keys of nineteen at most, most often none (measured on three captures).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from limb_ik.bake import bezier

_PLACES = np.linspace(0.0, 1.0, 25)
_SIGNS = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
# Exchanges; what is undecided then counts as possible, so that the bound stays one.
_EXCHANGES = 40
# Step of a channel for its lever, and the least lever: what moves nothing has room without end.
_STEP, _NO_LEVER = 1e-5, 1e-9


def rooms(values: np.ndarray, error: Callable[[np.ndarray], np.ndarray], tolerance: float) -> np.ndarray:
    """How far each channel alone may be off at each sample (samples × channels) until ``error`` is ``tolerance``."""
    levers = []
    for channel in range(values.shape[1]):
        moved = values.copy()
        moved[:, channel] += _STEP
        levers.append(error(moved) / _STEP)
    return tolerance / np.maximum(np.array(levers).T, _NO_LEVER)


def least_keys(values: np.ndarray, room: np.ndarray, channels: Sequence[int]) -> int:
    """The least number of keys that these channels need on common frames."""
    first = count = 0
    while first < len(values):
        first, count = _furthest(values, room, channels, first), count + 1
    return count + 1


def _furthest(values: np.ndarray, room: np.ndarray, channels: Sequence[int], first: int) -> int:
    """The sample before which the longest segment from ``first`` ends: galloping, then bisection."""

    def holds(stop: int) -> bool:
        part = slice(first, stop)
        return all(_is_possible(values[part, c], room[part, c]) for c in channels)

    good, bad, step = min(first + 4, len(values)), len(values) + 1, 8
    while good < len(values) and bad > len(values):
        stop = min(first + step, len(values))
        good, bad, step = (stop, bad, 2 * step) if holds(stop) else (good, stop, step)
    while bad <= len(values) and bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


@lru_cache(maxsize=512)
def _parameters(count: int) -> np.ndarray:
    """Parameters of evenly spaced samples, for every pair of handle places (places × samples)."""
    pairs = np.array([(a, b) for a in _PLACES for b in _PLACES if a <= b])
    return bezier.parameters(np.linspace(0.0, 1.0, count)[None, :], pairs[:, :1], pairs[:, 1:])


def _is_possible(values: np.ndarray, room: np.ndarray) -> bool:
    """Whether one segment with any handles stays within the room at all samples."""
    if len(values) < len(_SIGNS):
        return True
    t = _parameters(len(values))
    start = np.round((1.0 - np.cos(np.linspace(0.0, np.pi, 5))) / 2.0 * (len(values) - 1)).astype(int)
    five = np.tile(start, (len(t), 1))
    for _ in range(_EXCHANGES):
        at = np.take_along_axis(t, five, 1)
        system = np.concatenate([at[:, :, None] ** np.arange(4), (_SIGNS * room[five])[:, :, None]], axis=2)
        solved = np.linalg.solve(system, values[five][..., None])[..., 0]
        open_places = np.abs(solved[:, 4]) <= 1.0
        t, five, solved = t[open_places], five[open_places], solved[open_places]
        if not len(t):
            return False
        a, b, c, d = solved[:, :4, None].swapaxes(0, 1)
        misses = (values - (((d * t + c) * t + b) * t + a)) / room
        worst = np.abs(misses).argmax(axis=1)
        largest = misses[np.arange(len(t)), worst]
        if (np.abs(largest) <= 1.0 + _NO_LEVER).any():
            return True
        five = _exchanged(five, worst, np.sign(largest), np.sign(solved[:, 4:]) * _SIGNS)
    return True


def _exchanged(five: np.ndarray, worst: np.ndarray, sign: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The five samples with the worst one among them, so that the misses alternate still."""
    rows = np.arange(len(five))
    before = (five < worst[:, None]).sum(axis=1)
    left, right = np.maximum(before - 1, 0), np.minimum(before, 4)
    new = five.copy()
    new[rows, np.where((before > 0) & (signs[rows, left] == sign), left, right)] = worst
    beyond_first = (before == 0) & (signs[:, 0] != sign)
    beyond_last = (before == 5) & (signs[:, 4] != sign)
    new[beyond_first] = np.column_stack((worst, five[:, :4]))[beyond_first]
    new[beyond_last] = np.column_stack((five[:, 1:], worst))[beyond_last]
    return new
