"""Rotations over time, written so that curves through them don't jump: hemispheres, Euler solutions, axes.

Pure numpy: nothing here knows Blender's data.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from ..solvers.arrays import Floats

# Below this |sin(angle / 2)| an axis-angle's axis is rounding noise.
_NO_AXIS = 1e-6


def continuous_rotations(values: Floats, rotation_mode: str) -> Floats:
    """The same rotations in time order, written so that neighbours are near each other.

    Quaternions on one hemisphere with the one before; Euler angles as the nearer of
    their two solutions, unwrapped; axis-angle with the axis of the one before. The
    first row stays as it is.

    Args:
        values: frames × 3 (Euler) or frames × 4 (quaternion, or angle and axis).
        rotation_mode: Blender's name of the mode.

    Units: radians. Undefined input: zero quaternions and axes stay as they are.
    """
    if len(values) < 2:
        return values.copy()
    if rotation_mode == 'QUATERNION':
        return values * _signs(values)[:, None]
    if rotation_mode == 'AXIS_ANGLE':
        return _continuous_axis_angles(values)
    return _continuous_eulers(values, middle="XYZ".index(rotation_mode[1]))


def _signs(vectors: Floats) -> Floats:
    """Signs that put each vector on the side of the one before."""
    flips = np.where(np.einsum("ij,ij->i", vectors[1:], vectors[:-1]) < 0.0, -1.0, 1.0)
    return np.concatenate(([1.0], np.cumprod(flips)))


def _continuous_axis_angles(values: Floats) -> Floats:
    has_axis = np.abs(np.sin(values[:, 0] / 2.0)) > _NO_AXIS
    if not has_axis.any():
        return values.copy()
    source = np.maximum.accumulate(np.where(has_axis, np.arange(len(values)), int(np.argmax(has_axis))))
    axes = values[source, 1:]
    signs = _signs(axes)[:, None]
    return np.hstack((np.unwrap(values[:, :1] * signs, axis=0), axes * signs))


def _continuous_eulers(values: Floats, middle: int) -> Floats:
    """The other solution is (a + π, π − b, c + π); how near neighbours are doesn't depend on which both take."""
    other = values + np.pi
    other[:, middle] = np.pi - values[:, middle]
    stay, change = (_turn_sum(rows[1:] - values[:-1]) for rows in (values, other))
    takes_other = np.concatenate(([False], np.cumsum(change < stay) % 2 == 1))
    return np.unwrap(np.where(takes_other[:, None], other, values), axis=0)


def _turn_sum(differences: Floats) -> Floats:
    return cast(Floats, np.abs(np.remainder(differences + np.pi, 2.0 * np.pi) - np.pi).sum(axis=1))
