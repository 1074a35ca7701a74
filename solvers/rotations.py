"""Rotations as tuples of Python floats: doubles, where mathutils keeps float32.

Quaternions are ``(w, x, y, z)`` and unit length unless a docstring says otherwise;
Euler angles and axis-angle follow Blender's conventions. Nothing here knows limbs
or Blender's data (no bpy).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from .vectors import TINY, ZERO, Numbers, Vec, any_perpendicular, as_vec, cross, dot, perpendicular_part, scaled, unit

__all__ = [
    "IDENTITY", "AxisAngle", "Quat", "Vec", "angle_between", "as_quat", "as_vec", "conjugate", "from_axis_angle",
    "from_euler", "from_frames", "from_matrix", "from_rotation_vector", "multiply", "normalized", "on_hemisphere_of",
    "rotate", "shortest_arc", "slerp", "swing_twist", "to_axis_angle", "to_euler", "to_rotation_vector",
]  # fmt: skip

Quat = tuple[float, float, float, float]
"""w, x, y, z."""
AxisAngle = tuple[float, float, float, float]
"""Angle, axis x, y, z: as in ``PoseBone.rotation_axis_angle``."""


class Matrix3(Protocol):
    """Rows of at least three numbers: a ``mathutils.Matrix``, or tuples of tuples."""

    def __getitem__(self, row: int, /) -> Numbers: ...


IDENTITY: Quat = (1.0, 0.0, 0.0, 0.0)
TWO_PI = 2.0 * math.pi

OPPOSITE = 1e-9
"""Length of a + b under which unit directions count as opposite: their cross product is rounding noise there."""
NEARLY_SAME = 1e-9
"""Angle under which sin(t x) / sin(x) is t to double precision."""
NO_TURN = 5e-7
"""Angle (rad) under which an axis read from float32 rotations is noise; half of what counts as unchanged."""
PARALLEL = 1e-6
"""Part of a direction at right angles to another under which it counts as parallel: float32 is no better."""
GIMBAL = 1e-12
"""Length of a component pair under which its angle is rounding noise; ignoring it turns nothing visibly."""


def as_quat(values: Numbers) -> Quat:
    """The four numbers of a ``mathutils.Quaternion`` or any other row of w, x, y, z; not normalised."""
    row: Any = values
    w, x, y, z = row
    return w, x, y, z


def multiply(a: Quat, b: Quat) -> Quat:
    """Product: ``b`` is applied first."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def conjugate(q: Quat) -> Quat:
    """The inverse of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


def normalized(q: Quat) -> Quat:
    """``q`` at length 1. Undefined input: the zero quaternion gives the identity, as in Blender."""
    size = math.hypot(*q)
    return (q[0] / size, q[1] / size, q[2] / size, q[3] / size) if size > TINY else IDENTITY


def rotate(q: Quat, v: Vec) -> Vec:
    """``v`` turned by ``q``."""
    w, x, y, z = q
    vx, vy, vz = v
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return vx + w * tx + y * tz - z * ty, vy + w * ty + z * tx - x * tz, vz + w * tz + x * ty - y * tx


def from_axis_angle(axis: Vec, angle: float) -> Quat:
    """Turn by ``angle`` (radians) about the unit vector ``axis``."""
    sine = math.sin(0.5 * angle)
    return math.cos(0.5 * angle), axis[0] * sine, axis[1] * sine, axis[2] * sine


def from_rotation_vector(v: Vec) -> Quat:
    """Turn about ``v`` by its length in radians."""
    angle = math.hypot(v[0], v[1], v[2])
    part = math.sin(0.5 * angle) / angle if angle > NEARLY_SAME else 0.5
    return math.cos(0.5 * angle), v[0] * part, v[1] * part, v[2] * part


def to_rotation_vector(q: Quat) -> Vec:
    """Axis times angle (radians), the short way: length 0 to pi."""
    if q[0] < 0.0:
        q = (-q[0], -q[1], -q[2], -q[3])
    sine = math.hypot(q[1], q[2], q[3])
    part = 2.0 * math.atan2(sine, q[0]) / sine if sine > NEARLY_SAME else 2.0
    return q[1] * part, q[2] * part, q[3] * part


def shortest_arc(a: Vec, b: Vec, fallback_axis: Vec) -> Quat:
    """The smallest turn that takes the unit direction ``a`` to the unit direction ``b``; no roll.

    Where they are opposite: half a turn about ``fallback_axis``, made perpendicular to ``a``.

    Undefined input: a fallback axis along ``a``, or of no length, gives a fixed perpendicular one.
    """
    half = (a[0] + b[0], a[1] + b[1], a[2] + b[2])
    size = math.hypot(*half)
    if size < OPPOSITE:
        part = perpendicular_part(unit(fallback_axis), a)
        return (0.0, *(unit(part) if math.hypot(*part) > PARALLEL else any_perpendicular(a)))
    x, y, z = cross(a, b)
    return normalized((0.5 * size, x / size, y / size, z / size))


def slerp(a: Quat, b: Quat, t: float) -> Quat:
    """From ``a`` (t = 0, exactly) to ``b`` (t = 1) the short way, at constant speed; exact near 0 and 180 degrees."""
    b = on_hemisphere_of(b, a)
    angle = _angle_4d(a, b)
    if angle > NEARLY_SAME:
        part_a, part_b = math.sin((1.0 - t) * angle) / math.sin(angle), math.sin(t * angle) / math.sin(angle)
    else:
        part_a, part_b = 1.0 - t, t
    w, x, y, z = (part_a * p + part_b * q for p, q in zip(a, b, strict=True))
    return normalized((w, x, y, z)) if t != 0.0 else a


def angle_between(a: Quat, b: Quat) -> float:
    """The angle of the turn from rotation ``a`` to rotation ``b``: 0 to pi, no loss at either end."""
    return 2.0 * _angle_4d(a, on_hemisphere_of(b, a))


def _angle_4d(a: Quat, b: Quat) -> float:
    apart = math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3])
    together = math.hypot(a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])
    return 2.0 * math.atan2(apart, together)


def on_hemisphere_of(q: Quat, ref: Quat) -> Quat:
    """``q`` or ``-q`` (the same rotation), whichever is nearer to ``ref``."""
    if q[0] * ref[0] + q[1] * ref[1] + q[2] * ref[2] + q[3] * ref[3] < 0.0:
        return -q[0], -q[1], -q[2], -q[3]
    return q


def swing_twist(q: Quat) -> tuple[Quat, Quat]:
    """``(swing, twist)`` with ``q = multiply(swing, twist)``: twist about Y, swing about an axis in the XZ plane.

    Undefined input: swings of exactly 180 degrees have no twist of their own; it is the identity then.
    """
    twist = normalized((q[0], 0.0, q[2], 0.0))
    return multiply(q, conjugate(twist)), twist


_AXES = {
    "XYZ": (0, 1, 2, 1.0),
    "YZX": (1, 2, 0, 1.0),
    "ZXY": (2, 0, 1, 1.0),
    "XZY": (0, 2, 1, -1.0),
    "ZYX": (2, 1, 0, -1.0),
    "YXZ": (1, 0, 2, -1.0),
}
"""Indices of the axes in the order they are applied, and -1.0 where that order is left-handed."""


def from_euler(order: str, angles: Numbers) -> Quat:
    """Rotation of Euler angles (x, y, z in radians) in one of Blender's six orders; "XYZ" turns about X first."""
    values = as_vec(angles)
    first, second, third, sign = _AXES[order]
    a, b, c = 0.5 * sign * values[first], 0.5 * sign * values[second], 0.5 * sign * values[third]
    cos_a, cos_b, cos_c = math.cos(a), math.cos(b), math.cos(c)
    sin_a, sin_b, sin_c = math.sin(a), math.sin(b), math.sin(c)
    parts = [0.0, 0.0, 0.0]
    parts[first] = sign * (cos_c * cos_b * sin_a - sin_c * sin_b * cos_a)
    parts[second] = sign * (cos_c * sin_b * cos_a + sin_c * cos_b * sin_a)
    parts[third] = sign * (sin_c * cos_b * cos_a - cos_c * sin_b * sin_a)
    return cos_c * cos_b * cos_a + sin_c * sin_b * sin_a, parts[0], parts[1], parts[2]


def to_euler(q: Quat, order: str, previous: Numbers = ZERO) -> Vec:
    """Euler angles (x, y, z in radians) of ``q``, of all that mean the same the nearest to ``previous``.

    Every rotation has two triples, each with whole turns added at will. In the gimbal, where only a sum or
    a difference of two angles is defined, the other stays that of ``previous``. No precision is lost near it.

    Source: sums and differences of half angles, from the product of the three quaternions (see ``from_euler``):
    (q_i + q_k, w - q_j) points along (a + c)/2, (q_k - q_i, w + q_j) along (c - a)/2.
    """
    near = as_vec(previous)
    first, second, third, sign = _AXES[order]
    w, i, j, k = q[0], sign * q[1 + first], sign * q[1 + second], sign * q[1 + third]
    size_sum, size_difference = math.hypot(i + k, w - j), math.hypot(k - i, w + j)
    half_sum, half_difference = math.atan2(i + k, w - j), math.atan2(k - i, w + j)
    if size_sum < GIMBAL:
        half_sum = 0.5 * sign * (near[third] + near[first])
    if size_difference < GIMBAL:
        half_difference = 0.5 * sign * (near[third] - near[first])
    angles = [0.0, 0.0, 0.0]
    angles[first] = sign * (half_sum - half_difference)
    angles[second] = sign * (2.0 * math.atan2(size_difference, size_sum) - 0.5 * math.pi)
    angles[third] = sign * (half_sum + half_difference)
    return _compatible(angles, second, near)


def _compatible(angles: Sequence[float], second: int, near: Vec) -> Vec:
    """Of the two triples of a rotation, whole turns added, the one nearest to ``near``."""
    other = [math.pi - angle if axis == second else angle + math.pi for axis, angle in enumerate(angles)]
    choices = [tuple(map(_nearest_turn, triple, near)) for triple in (angles, other)]
    return as_vec(min(choices, key=lambda triple: sum(abs(a - b) for a, b in zip(triple, near, strict=True))))


def _nearest_turn(angle: float, near: float) -> float:
    return angle + TWO_PI * round((near - angle) / TWO_PI)


def to_axis_angle(q: Quat, previous: Numbers = (0.0, 0.0, 1.0, 0.0)) -> AxisAngle:
    """Angle (radians) and unit axis of ``q``, continuous with ``previous`` (angle, x, y, z).

    The axis points to the side of the previous axis, and keeps it where ``q`` turns nothing; the angle takes
    the whole turns that bring it nearest. Undefined input: a previous axis of no length counts as Y, Blender's.
    """
    near_angle, *axis = as_quat(previous)
    near = unit(as_vec(axis))
    if near == ZERO:
        near = (0.0, 1.0, 0.0)
    v = (q[1], q[2], q[3])
    sine = math.hypot(*v)
    if 2.0 * sine < NO_TURN:
        return (_nearest_turn(0.0, near_angle), *near)
    side = -1.0 if dot(v, near) < 0.0 else 1.0
    angle = 2.0 * math.atan2(side * sine, q[0])
    return (_nearest_turn(angle, near_angle), *scaled(v, side / sine))


def from_matrix(m: Matrix3) -> Quat:
    """Rotation of a 3x3 matrix (or the upper left of a 4x4), its scale and shear taken out in doubles.

    The Y column, a bone's direction, keeps its direction exactly; X is made perpendicular to it. Mirrored
    matrices are negated first, as Blender does.

    Undefined input: a matrix whose X and Y columns are zero or parallel has no rotation: ValueError.
    """
    rows: tuple[Any, Any, Any] = m[0], m[1], m[2]
    (xx, yx, zx, *_), (xy, yy, zy, *_), (xz, yz, zz, *_) = rows
    y = unit((yx, yy, yz))
    part = perpendicular_part(unit((xx, xy, xz)), y)
    if y == ZERO or math.hypot(*part) < PARALLEL:
        raise ValueError("A matrix without extent in X or Y has no rotation")
    x = unit(part)
    z = cross(x, y)
    if dot(z, (zx, zy, zz)) < 0.0:
        x, y = scaled(x, -1.0), scaled(y, -1.0)
    return _from_columns(x, y, z)


def from_frames(x0: Vec, y0: Vec, z0: Vec, x1: Vec, y1: Vec, z1: Vec) -> Quat:
    """The rotation that takes one orthonormal triad of directions to another of the same handedness."""
    columns = (
        (x1[0] * x0[n] + y1[0] * y0[n] + z1[0] * z0[n],
         x1[1] * x0[n] + y1[1] * y0[n] + z1[1] * z0[n],
         x1[2] * x0[n] + y1[2] * y0[n] + z1[2] * z0[n])
        for n in range(3)
    )  # fmt: skip
    return _from_columns(*columns)


def _from_columns(x: Vec, y: Vec, z: Vec) -> Quat:
    """Quaternion of a rotation matrix given by columns; starts from its largest component, so nothing cancels."""
    xx, yy, zz = x[0], y[1], z[2]
    trace = xx + yy + zz
    if trace >= max(xx, yy, zz):
        q = (1.0 + trace, y[2] - z[1], z[0] - x[2], x[1] - y[0])
    elif xx >= yy and xx >= zz:
        q = (y[2] - z[1], 1.0 + xx - yy - zz, x[1] + y[0], z[0] + x[2])
    elif yy >= zz:
        q = (z[0] - x[2], x[1] + y[0], 1.0 + yy - xx - zz, y[2] + z[1])
    else:
        q = (x[1] - y[0], z[0] + x[2], y[2] + z[1], 1.0 + zz - xx - yy)
    return normalized(q)
