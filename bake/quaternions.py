"""Rotations of many frames as arrays, a row each: quaternions (w x y z) of channels in any of Blender's modes.

Pure numpy: nothing here knows Blender's data. (``solvers/rows`` has a column each, for limbs beside each other.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..solvers.arrays import Floats

NO_TURN = (1.0, 0.0, 0.0, 0.0)
# Shorter quaternions and axes have no direction; Blender too takes them for no turn.
NO_LENGTH = 1e-12
_AXES = "XYZ"


def to_quaternions(values: Floats, rotation_mode: str) -> Floats:
    """Unit quaternions (w x y z) of rotation channels in one of Blender's modes.

    Units: radians. Undefined input: quaternions and axes without length mean no turn.
    """
    if rotation_mode == 'QUATERNION':
        return unit(values, NO_TURN)
    if rotation_mode == 'AXIS_ANGLE':
        half, axes = values[:, :1] / 2.0, unit(values[:, 1:], (0.0, 1.0, 0.0))
        return np.hstack((np.cos(half), np.sin(half) * axes))
    turns = [_about_axis(values[:, _AXES.index(axis)], _AXES.index(axis)) for axis in rotation_mode]
    return product(turns[2], product(turns[1], turns[0]))


def _about_axis(angles: Floats, axis: int) -> Floats:
    turns = np.zeros((len(angles), 4))
    turns[:, 0], turns[:, 1 + axis] = np.cos(angles / 2.0), np.sin(angles / 2.0)
    return turns


def unit(rows: Floats, fallback: Sequence[float]) -> Floats:
    """Rows at length 1; ``fallback`` for those that have none."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(lengths > NO_LENGTH, rows / np.maximum(lengths, NO_LENGTH), fallback)


def conjugate(q: Floats) -> Floats:
    """The inverse of unit quaternions."""
    return q * (1.0, -1.0, -1.0, -1.0)


def product(p: Floats, q: Floats) -> Floats:
    """Product, row by row: ``q`` is applied first."""
    a, b, c, d = p.T
    e, f, g, h = q.T
    rows = (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )
    return np.array(rows).T


def rotated(q: Floats, vectors: Floats) -> Floats:
    """Vectors (rows × 3) turned by unit quaternions."""
    pure = np.column_stack((np.zeros(len(vectors)), vectors))
    return product(product(q, pure), conjugate(q))[:, 1:]
