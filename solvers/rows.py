"""Vectors and quaternions of many limbs at once: one row per component, one column per limb.

The arithmetic of ``vectors`` and ``rotations`` on numpy arrays of doubles, shapes (3, n)
and (4, n). No limbs are known here, no Blender data (no bpy).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]
Mask = NDArray[np.bool_]

# How the 16 products of components (w, x, y, z of the first with those of the second) make up a quaternion product:
# a third of the time of sums written out, for some hundred limbs.
_PRODUCT = np.array([
    (1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1),
    (0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0),
    (0, 0, 1, 0, 0, 0, 0, -1, 1, 0, 0, 0, 0, 1, 0, 0),
    (0, 0, 0, 1, 0, 0, 1, 0, 0, -1, 0, 0, 1, 0, 0, 0),
], np.float64)  # fmt: skip

_DIAGONAL = np.arange(4)


def dot(a: Rows, b: Rows) -> Rows:
    found: Rows = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return found


def norm(v: Rows) -> Rows:
    return np.sqrt(dot(v, v))


def cross(a: Rows, b: Rows) -> Rows:
    found = np.empty_like(a)
    found[0] = a[1] * b[2] - a[2] * b[1]
    found[1] = a[2] * b[0] - a[0] * b[2]
    found[2] = a[0] * b[1] - a[1] * b[0]
    return found


def perpendicular_part(v: Rows, direction: Rows) -> Rows:
    """What is left of ``v`` at right angles to the unit vectors ``direction``."""
    return v - direction * dot(v, direction)


def smoothstep(x: Rows) -> Rows:
    """As ``blending.smoothstep``."""
    clamped = np.clip(x, 0.0, 1.0)
    return clamped * clamped * (3.0 - 2.0 * clamped)


def swivelled(side: Rows, line: Rows, angle: Rows) -> Rows:
    """``side`` turned by ``angle`` (radians) about the unit vectors ``line`` at right angles to it."""
    return side * np.cos(angle) + cross(line, side) * np.sin(angle)


def multiply(a: Rows, b: Rows) -> Rows:
    """Quaternion product: ``b`` is applied first."""
    found: Rows = _PRODUCT @ (a[:, None] * b[None]).reshape(16, -1)
    return found


def conjugate(q: Rows) -> Rows:
    found = -q
    found[0] = q[0]
    return found


def normalized(q: Rows) -> Rows:
    """Quaternions at length 1. Undefined input: zero quaternions."""
    found: Rows = q / np.sqrt(np.einsum("ij,ij->j", q, q))
    return found


def rotate(q: Rows, v: Rows) -> Rows:
    """``v`` turned by the unit quaternions ``q``."""
    twice = 2.0 * cross(q[1:], v)
    found: Rows = v + q[0] * twice + cross(q[1:], twice)
    return found


def shortest_arc(a: Rows, b: Rows) -> Rows:
    """The smallest turn from unit directions ``a`` to ``b``. Undefined input: opposite ones."""
    size = norm(a + b)
    found = np.empty((4, size.size))
    found[0] = 0.5 * size
    found[1:] = cross(a, b) / size
    return normalized(found)


def from_columns(x: Rows, y: Rows, z: Rows) -> Rows:
    """Quaternions of rotation matrices given by columns; each from its largest component, so nothing cancels."""
    found = np.empty((4, 4, x.shape[1]))  # four times the quaternion, each by another component
    plus, minus, total, apart = 1.0 + x[0], 1.0 - x[0], y[1] + z[2], y[1] - z[2]
    found[0, 0], found[1, 1], found[2, 2], found[3, 3] = plus + total, plus - total, minus + apart, minus - apart
    found[0, 1], found[0, 2], found[0, 3] = y[2] - z[1], z[0] - x[2], x[1] - y[0]
    found[1, 2], found[1, 3], found[2, 3] = x[1] + y[0], z[0] + x[2], y[2] + z[1]
    found[1:, 0], found[2:, 1], found[3, 2] = found[0, 1:], found[1, 2:], found[2, 3]
    largest = np.argmax(found[_DIAGONAL, _DIAGONAL], axis=0)
    return normalized(found[largest, :, np.arange(largest.size)].T)


def columns(matrices: Rows) -> Rows:
    """The three columns of matrices (n, 3 or 4, 3 or 4) as rows, contiguous: arithmetic on them is faster."""
    return np.ascontiguousarray(matrices[:, :3, :3].transpose(2, 1, 0))


def from_matrices(matrices: Rows) -> Rows:
    """Quaternions of matrices (n, 3 or 4, 3 or 4), as ``rotations.from_matrix`` takes them.

    Undefined input: mirrored matrices, and those without extent in X or Y.
    """
    x, y, _ = columns(matrices)
    y = y / norm(y)
    x = perpendicular_part(x / norm(x), y)
    x = x / norm(x)
    return from_columns(x, y, cross(x, y))


def determinant(matrices: Rows) -> Rows:
    """Determinant of the first three columns of matrices (n, 3, 3 or more), without LAPACK: see ``inverse``."""
    x, y, z = columns(matrices)
    return dot(cross(x, y), z)


def inverse(matrices: Rows) -> Rows:
    """Inverse of 3 x 3 matrices (n, 3, 3).

    LAPACK, which ``numpy.linalg.inv`` asks, wakes threads for each small matrix: 0.5 ms each beside other work on
    two cores (measured), against 0.1 us here.
    Undefined input: singular matrices give infinities.
    """
    x, y, z = matrices.transpose(2, 1, 0)
    adjugate = np.stack([cross(y, z), cross(z, x), cross(x, y)])
    found: Rows = (adjugate / dot(x, adjugate[0])).transpose(2, 0, 1)
    return found


def inverse_affine(matrices: Rows) -> Rows:
    """Inverse of 4 x 4 matrices (n, 4, 4) whose last row is that of the identity; as ``inverse``."""
    found = np.zeros_like(matrices)
    found[:, :3, :3] = inverse(matrices[:, :3, :3])
    found[:, :3, 3] = -(found[:, :3, :3] @ matrices[:, :3, 3:])[:, :, 0]
    found[:, 3, 3] = 1.0
    return found


def local_matrices(locations: Rows, turns: Rows, scales: Rows) -> Rows:
    """Matrices of local location, rotation (unit quaternion w x y z) and scale; any leading axes."""
    w, x, y, z = np.ascontiguousarray(np.moveaxis(turns, -1, 0))
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    found = np.zeros((*turns.shape[:-1], 4, 4))
    found[..., 0, 0], found[..., 0, 1], found[..., 0, 2] = 1.0 - (yy + zz), xy - wz, xz + wy
    found[..., 1, 0], found[..., 1, 1], found[..., 1, 2] = xy + wz, 1.0 - (xx + zz), yz - wx
    found[..., 2, 0], found[..., 2, 1], found[..., 2, 2] = xz - wy, yz + wx, 1.0 - (xx + yy)
    found[..., :3, :3] *= scales[..., None, :]
    found[..., :3, 3] = locations
    found[..., 3, 3] = 1.0
    return found
