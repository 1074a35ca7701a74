"""Rotations in doubles, held against mathutils and against their own inverses."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from limb_ik.solvers import rotations
from limb_ik.solvers.rotations import IDENTITY, Quat, Vec
from mathutils import Euler, Matrix, Quaternion, Vector

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
FLOAT32 = 2e-6
"""mathutils' answers are float32, made of a few roundings of 6e-8 each."""
DOUBLE = 1e-13
"""Some hundred roundings of 1e-16."""

angles = st.floats(-3.0 * math.pi, 3.0 * math.pi)
numbers = st.floats(-1.0, 1.0)
vectors = st.tuples(numbers, numbers, numbers)
directions = vectors.filter(lambda v: math.hypot(*v) > 1e-3).map(lambda v: _unit(v))
quats = st.tuples(numbers, numbers, numbers, numbers).filter(lambda q: math.hypot(*q) > 1e-3).map(rotations.normalized)
orders = st.sampled_from(ORDERS)


def _unit(v: Vec) -> Vec:
    size = math.hypot(*v)
    return v[0] / size, v[1] / size, v[2] / size


def _apart(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return math.dist(a, b)


def _by_component(a: Quat, b: Quat) -> float:
    """Distance of two quaternions as rotations, by components: independent of ``angle_between``."""
    return min(math.dist(a, b), math.dist(a, tuple(-n for n in b)))


@given(quats, quats)
def test_product_turns_like_mathutils(a: Quat, b: Quat) -> None:
    assert _apart(rotations.multiply(a, b), tuple(Quaternion(a) @ Quaternion(b))) < FLOAT32


@given(quats, vectors)
def test_rotated_vector_is_that_of_mathutils_and_comes_back(q: Quat, v: Vec) -> None:
    turned = rotations.rotate(q, v)
    assert _apart(turned, tuple(Quaternion(q) @ Vector(v))) < FLOAT32
    assert _apart(rotations.rotate(rotations.conjugate(q), turned), v) < DOUBLE


@given(directions, angles)
def test_axis_and_angle_give_the_quaternion_of_mathutils(axis: Vec, angle: float) -> None:
    assert _by_component(rotations.from_axis_angle(axis, angle), tuple(Quaternion(Vector(axis), angle))) < FLOAT32


@given(vectors.map(lambda v: (3.0 * v[0], 3.0 * v[1], 3.0 * v[2])).filter(lambda v: math.hypot(*v) < 3.1))
def test_rotation_vector_comes_back(v: Vec) -> None:
    assert _apart(rotations.to_rotation_vector(rotations.from_rotation_vector(v)), v) < DOUBLE


@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-12, 1e-8, 1e-3])
def test_small_rotation_vectors_lose_nothing(angle: float) -> None:
    back = rotations.to_rotation_vector(rotations.from_rotation_vector((0.0, angle, 0.0)))
    assert back[1] == pytest.approx(angle, rel=1e-12)


@given(directions, directions, directions)
def test_shortest_arc_reaches_and_has_no_roll(a: Vec, b: Vec, axis: Vec) -> None:
    q = rotations.shortest_arc(a, b, axis)
    assert _apart(rotations.rotate(q, a), b) < 1e-8  # OPPOSITE: the directions count as opposite below it
    assert abs(math.hypot(*q) - 1.0) < DOUBLE
    assert abs(q[1] * a[0] + q[2] * a[1] + q[3] * a[2]) < 1e-6


@given(directions, directions)
def test_opposite_directions_turn_about_the_given_axis(a: Vec, axis: Vec) -> None:
    b = (-a[0], -a[1], -a[2])
    q = rotations.shortest_arc(a, b, axis)
    assert _apart(rotations.rotate(q, a), b) < 1e-9  # PARALLEL leaves ten of sixteen figures
    along = sum(m * n for m, n in zip(a, axis, strict=True))
    part = [n - along * m for m, n in zip(a, axis, strict=True)]
    if math.hypot(*part) > 1e-6:
        assert sum(m * n for m, n in zip(q[1:], part, strict=True)) == pytest.approx(math.hypot(*part), abs=1e-9)


@pytest.mark.parametrize("short_of_half_a_turn", [1e-3, 1e-5, 1e-7])
def test_nearly_opposite_directions_are_exact(short_of_half_a_turn: float) -> None:
    angle = math.pi - short_of_half_a_turn
    q = rotations.shortest_arc((1.0, 0.0, 0.0), (math.cos(angle), math.sin(angle), 0.0), (0.0, 1.0, 0.0))
    assert _by_component(q, (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))) < 1e-8


@pytest.mark.parametrize("axis", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
def test_useless_fallback_axis_still_turns_half(axis: Vec) -> None:
    q = rotations.shortest_arc((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), axis)
    assert _apart(rotations.rotate(q, (1.0, 0.0, 0.0)), (-1.0, 0.0, 0.0)) < DOUBLE


@given(quats, vectors, st.floats(0.0, 1.0))
def test_slerp_turns_by_its_part_the_short_way(a: Quat, v: Vec, t: float) -> None:
    b = rotations.multiply(a, rotations.from_rotation_vector(v))
    expected = rotations.multiply(a, rotations.from_rotation_vector((t * v[0], t * v[1], t * v[2])))
    for end in (b, tuple(-n for n in b)):
        assert _by_component(rotations.slerp(a, rotations.as_quat(end), t), expected) < DOUBLE


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-8, 1e-4, math.pi - 1e-8, math.pi])
def test_slerp_is_exact_near_0_and_180_degrees(angle: float) -> None:
    b = rotations.from_axis_angle((0.0, 0.0, 1.0), angle)
    for t in (0.0, 0.25, 1.0):
        got = rotations.slerp(IDENTITY, b, t)
        assert got[3] == pytest.approx(math.sin(0.5 * t * angle), rel=1e-12, abs=1e-300)


@given(quats, directions, st.floats(0.0, math.pi))
def test_angle_between_is_the_turn(a: Quat, axis: Vec, angle: float) -> None:
    b = rotations.multiply(a, rotations.from_axis_angle(axis, angle))
    assert rotations.angle_between(a, b) == pytest.approx(angle, abs=1e-14, rel=1e-13)
    assert rotations.angle_between(a, rotations.as_quat(-n for n in b)) == pytest.approx(angle, abs=1e-14, rel=1e-13)


@given(quats, quats)
def test_hemisphere_is_the_nearer_one(q: Quat, ref: Quat) -> None:
    got = rotations.on_hemisphere_of(q, ref)
    assert _apart(got, ref) <= _apart(rotations.as_quat(-n for n in got), ref)
    assert _by_component(got, q) == 0.0


@given(quats)
def test_swing_and_twist_make_the_rotation(q: Quat) -> None:
    swing, twist = rotations.swing_twist(q)
    assert _apart(rotations.multiply(swing, twist), q) < DOUBLE
    assert abs(swing[2]) < DOUBLE
    assert (twist[1], twist[3]) == (0.0, 0.0)


def test_half_turn_of_swing_has_no_twist() -> None:
    assert rotations.swing_twist((0.0, 1.0, 0.0, 0.0)) == ((0.0, 1.0, 0.0, 0.0), IDENTITY)


@given(orders, st.tuples(angles, angles, angles))
def test_euler_gives_the_quaternion_of_mathutils(order: str, euler: Vec) -> None:
    assert _by_component(rotations.from_euler(order, euler), tuple(Euler(euler, order).to_quaternion())) < FLOAT32


@given(orders, quats, st.tuples(angles, angles, angles))
def test_euler_angles_mean_the_rotation_whatever_went_before(order: str, q: Quat, previous: Vec) -> None:
    euler = rotations.to_euler(q, order, previous)
    assert _by_component(rotations.from_euler(order, euler), q) < DOUBLE


@given(orders, st.tuples(angles, angles, angles), st.sampled_from([0.0, 1e-13, 1e-10, 1e-7, 1e-4]), st.booleans())
def test_nothing_is_lost_in_the_gimbal(order: str, euler: Vec, off: float, is_up: bool) -> None:
    second = "XYZ".index(order[1])
    locked = list(euler)
    locked[second] = 0.5 * math.pi * (1 if is_up else -1) + off
    q = rotations.from_euler(order, locked)
    assert _by_component(rotations.from_euler(order, rotations.to_euler(q, order)), q) < 3e-12  # GIMBAL


@given(orders, st.tuples(angles, angles, angles), st.tuples(*[st.floats(-0.2, 0.2)] * 3))
def test_euler_angles_stay_near_the_previous_ones(order: str, euler: Vec, step: Vec) -> None:
    second = "XYZ".index(order[1])
    previous = tuple(a + b for a, b in zip(euler, step, strict=True))
    got = rotations.to_euler(rotations.from_euler(order, euler), order, previous)
    if abs(math.cos(euler[second])) > 1e-3:
        assert sum(map(abs, (a - b for a, b in zip(got, previous, strict=True)))) <= sum(map(abs, step)) + 1e-9


def test_in_the_gimbal_the_undefined_angle_stays() -> None:
    q = rotations.from_euler("XYZ", (0.9, 0.5 * math.pi, 0.4))
    got = rotations.to_euler(q, "XYZ", (0.7, 0.5 * math.pi, 0.2))
    assert got == pytest.approx((0.7, 0.5 * math.pi, 0.2), abs=1e-9)


@given(orders, quats)
def test_euler_angles_are_those_of_mathutils(order: str, q: Quat) -> None:
    theirs = Quaternion(q).to_euler(order)
    if abs(math.cos(theirs["XYZ".index(order[1])])) > 0.1:  # nearer to the gimbal theirs lose figures
        assert _apart(rotations.to_euler(q, order, tuple(theirs)), tuple(theirs)) < 1e-4


@given(quats, st.tuples(angles, *[numbers] * 3))
def test_axis_angle_means_the_rotation_whatever_went_before(q: Quat, previous: tuple[float, ...]) -> None:
    angle, *axis = rotations.to_axis_angle(q, previous)
    assert math.hypot(*axis) == pytest.approx(1.0, abs=DOUBLE)
    assert _by_component(rotations.from_axis_angle(rotations.as_vec(axis), angle), q) < 3e-7  # NO_TURN / 2
    assert abs(angle - previous[0]) < math.pi + 1e-6


def test_axis_angle_passes_through_rest_and_full_turns() -> None:
    previous = (-8.0, 0.0, 0.6, 0.8)
    for step in range(-800, 801):
        q = rotations.from_axis_angle((0.0, 0.6, 0.8), step / 100)
        previous = rotations.to_axis_angle(q, previous)
        assert previous == pytest.approx((step / 100, 0.0, 0.6, 0.8), abs=1e-9)


def test_no_turn_keeps_the_previous_axis() -> None:
    assert rotations.to_axis_angle(IDENTITY, (6.0, 0.0, 0.0, 2.0)) == pytest.approx((2 * math.pi, 0, 0, 1), abs=DOUBLE)
    assert rotations.to_axis_angle(IDENTITY, (0.0, 0.0, 0.0, 0.0)) == (0.0, 0.0, 1.0, 0.0)


@given(quats)
def test_matrix_gives_its_rotation(q: Quat) -> None:
    columns = [rotations.rotate(q, axis) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    assert _by_component(rotations.from_matrix(tuple(zip(*columns, strict=True))), q) < DOUBLE
    scaled = [tuple(size * n for n in column) for size, column in zip((0.01, 3.0, 700.0), columns, strict=True)]
    assert _by_component(rotations.from_matrix(tuple(zip(*scaled, strict=True))), q) < DOUBLE


@given(quats)
def test_mirrored_matrix_is_read_as_blender_does(q: Quat) -> None:
    mirrored = Quaternion(q).to_matrix() @ Matrix.Diagonal((-1.0, 2.0, 1.0))
    assert _by_component(rotations.from_matrix(mirrored), tuple(mirrored.to_quaternion())) < FLOAT32
    assert _by_component(rotations.from_matrix(mirrored.to_4x4()), tuple(mirrored.to_quaternion())) < FLOAT32


def test_sheared_matrix_keeps_the_bone_direction() -> None:
    q = rotations.from_matrix(((2.0, 1.0, 0.0), (0.0, 3.0, 0.0), (0.0, 0.0, 1.0)))
    assert _apart(rotations.rotate(q, (0.0, 1.0, 0.0)), _unit((1.0, 3.0, 0.0))) < DOUBLE


def test_matrix_without_extent_is_refused() -> None:
    with pytest.raises(ValueError, match="no rotation"):
        rotations.from_matrix(((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))


@given(quats, quats)
def test_frames_give_the_turn_between_them(a: Quat, b: Quat) -> None:
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    before, after = [rotations.rotate(a, axis) for axis in axes], [rotations.rotate(b, axis) for axis in axes]
    expected = rotations.multiply(b, rotations.conjugate(a))
    assert _by_component(rotations.from_frames(*before, *after), expected) < DOUBLE
