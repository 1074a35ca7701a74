"""Blender's Bézier segments in numpy: the same curve for the same keys and handles.

A segment runs from key to key in x (frames, here 0…1) and y (values). Its handles
stand at a and b in x. Blender shortens handles that overlap (a > b), so a ≤ b here.
Nothing here knows Blender's data.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..solvers.arrays import Floats

THIRD = 1.0 / 3.0

# Where handles are tried: 14 places need 1.6 % more keys and take three quarters of the time (measured).
_PLACES = np.linspace(0.03, 0.97, 20)
# Doubles end here; ten steps do but where a handle is nearly upright.
_STEPS, _EXACT = 60, 1e-14
# Cells of the table of parameters: steps from it are short, and it is made in the time of a few segments.
_GRID = 256
# Below this slope of x over the parameter a Newton step would leave the segment.
_FLAT = 1e-3


def bernstein(t: Floats) -> Floats:
    """Weights of key, handle, handle, key for parameters 0…1 (last axis 4)."""
    s = 1.0 - t
    return np.stack((s**3, 3.0 * s * s * t, 3.0 * s * t * t, t**3), axis=-1)


def parameters(x: Floats, a: Floats, b: Floats, start: Floats | None = None) -> Floats:
    """The parameters at which segments with handles at a and b are at x (all 0…1; arrays broadcast).

    ``start``: nearly the answer, where that is known; saves steps.

    Undefined input: a > b, where the segment is not a function of x.
    """
    x, a, b = np.broadcast_arrays(x, a, b)
    low, high, t = np.zeros_like(x), np.ones_like(x), x.copy() if start is None else start
    for _ in range(_STEPS):
        s = 1.0 - t
        miss = 3.0 * a * t * s * s + 3.0 * b * t * t * s + t**3 - x
        if np.abs(miss).max(initial=0.0) < _EXACT:
            break
        low, high = np.where(miss < 0.0, t, low), np.where(miss > 0.0, t, high)
        slope = 3.0 * (a * s * s + 2.0 * (b - a) * s * t + (1.0 - b) * t * t)
        newton = t - miss / np.maximum(slope, _FLAT)
        t = np.where((newton >= low) & (newton <= high), newton, (low + high) / 2.0)
    return t


def handle_places(x: Floats) -> tuple[Floats, Floats]:
    """Handles (places × 2) that are tried, and their weights (places × samples × 4) at samples x (0…1)."""
    return _places(), _weights(np.round(x, 9).tobytes())


@lru_cache(maxsize=1)
def _places() -> Floats:
    pairs = [(a, b) for a in _PLACES for b in _PLACES if a <= b]
    return np.array([(THIRD, 1.0 - THIRD), *pairs])


@lru_cache(maxsize=1)
def _table() -> Floats:
    """Parameters of every place on an even grid of x, from which those of other x are two steps away."""
    places = _places()
    return parameters(np.linspace(0.0, 1.0, _GRID + 1)[None, :], places[:, :1], places[:, 1:])


@lru_cache(maxsize=512)
def _weights(x_bytes: bytes) -> Floats:
    places, x = _places(), np.frombuffer(x_bytes)
    cell = np.minimum((x * _GRID).astype(np.intp), _GRID - 1)
    part, table = x * _GRID - cell, _table()
    start = table[:, cell] * (1.0 - part) + table[:, cell + 1] * part
    return bernstein(parameters(x[None, :], places[:, :1], places[:, 1:], start))
