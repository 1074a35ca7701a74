"""Limits of one joint: measured, tested, clamped."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.solvers import joint_limits
from limb_ik.solvers.chain import FREE_JOINT, JointKind, JointLimits
from limb_ik.solvers.rotations import (
    IDENTITY,
    Quat,
    angle_between,
    from_axis_angle,
    multiply,
    normalized,
    rotate,
)
from limb_ik.solvers.vectors import UNIT_X, UNIT_Y, UNIT_Z, Vec, dot, unit

from chain_rows import ball, hinge

EXACT = 1e-9
"""Doubles end to end: what is left is rounding."""

angles = st.floats(-math.pi, math.pi)
parts = st.floats(-1.0, 1.0)
quats = st.tuples(parts, parts, parts, parts).filter(lambda q: math.hypot(*q) > 0.1).map(normalized)


def deg(angle: float) -> float:
    return math.radians(angle)


@st.composite
def balls(draw: st.DrawFn) -> JointLimits:
    """Swing ranges that hold the rest direction, twist anywhere."""
    low = st.floats(-170.0, 0.0)
    high = st.floats(0.0, 170.0)
    middle = draw(st.floats(-200.0, 200.0))
    half = draw(st.floats(0.0, 100.0))
    return ball((draw(low), draw(high)), (draw(low), draw(high)), (middle - half, middle + half))


@st.composite
def hinges(draw: st.DrawFn) -> JointLimits:
    axis = draw(st.tuples(parts, parts, parts).filter(lambda v: math.hypot(*v) > 0.1))
    low = draw(st.floats(-400.0, 400.0))
    return hinge(low, low + draw(st.floats(0.0, 300.0)), axis)


def random_quat(rng: random.Random) -> Quat:
    return normalized((rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1)))


# measure


@given(angles, angles, angles)
def test_swing_and_twist_are_measured_as_documented(first: float, second: float, twist: float) -> None:
    direction = unit((math.sin(first), 0.2 + math.cos(second), math.sin(second)))
    swing = from_axis_angle(unit((direction[2], 0.0, -direction[0])), math.acos(max(-1.0, min(1.0, direction[1]))))
    if abs(direction[1]) > 0.999999:  # the swing's axis is not defined there
        return
    got = joint_limits.measure(FREE_JOINT, multiply(swing, from_axis_angle(UNIT_Y, twist)))
    assert abs(math.remainder(got.swing_x - math.atan2(direction[2], direction[1]), 2.0 * math.pi)) < 1e-6
    assert abs(math.remainder(got.swing_z - math.atan2(-direction[0], direction[1]), 2.0 * math.pi)) < 1e-6
    assert abs(math.remainder(got.twist - twist, 2.0 * math.pi)) < 1e-6


def test_a_positive_swing_is_a_positive_turn_about_its_axis() -> None:
    assert joint_limits.measure(FREE_JOINT, from_axis_angle(UNIT_X, 0.4)).swing_x == pytest.approx(0.4)
    assert joint_limits.measure(FREE_JOINT, from_axis_angle(UNIT_Z, 0.4)).swing_z == pytest.approx(0.4)
    assert joint_limits.measure(FREE_JOINT, from_axis_angle(UNIT_Y, 0.4)).twist == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("low", "high", "angle", "expected"),
    [(-225, -135, 160, -200), (170, 190, -175, 185), (20, 150, -30, -30), (-720, -500, -10, -730), (300, 420, 15, 375)],
)
def test_hinge_angles_are_written_as_their_range_writes_them(
    low: float, high: float, angle: float, expected: float
) -> None:
    got = joint_limits.measure(hinge(low, high), from_axis_angle(UNIT_X, deg(angle)))
    assert math.degrees(got.hinge) == pytest.approx(expected)
    assert got.off_axis == pytest.approx(0.0, abs=EXACT)


def test_off_axis_is_the_turn_off_the_hinge() -> None:
    local = multiply(from_axis_angle(UNIT_Z, deg(0.1)), from_axis_angle(UNIT_X, deg(40)))
    assert math.degrees(joint_limits.measure(hinge(0, 150), local).off_axis) == pytest.approx(0.1, rel=0.1)


# ranges


@pytest.mark.parametrize(
    ("angle", "low", "high", "expected"),
    [
        (160, -225, -135, 0), (-100, -225, -135, 35), (175, 170, 190, 0), (-160, 170, 190, 10), (160, 170, 190, -10),
        (45, 45, 45, 0), (50, 45, 45, 5), (400, 30, 50, 0), (123, -180, 180, 0), (-5, 5, 150, -10), (0, 400, 800, 0),
    ],
)  # fmt: skip
def test_outside_counts_whole_turns_out(angle: float, low: float, high: float, expected: float) -> None:
    assert math.degrees(joint_limits.outside(deg(angle), deg(low), deg(high))) == pytest.approx(expected, abs=1e-9)


@given(st.floats(-10, 10), st.floats(-10, 10), st.floats(0, 6.2))
def test_into_range_gives_the_nearest_angle(angle: float, low: float, width: float) -> None:
    got = joint_limits.into_range(angle, low, low + width)
    assert low - EXACT <= got <= low + width + EXACT
    moved = abs(math.remainder(got - angle, 2.0 * math.pi))
    assert moved == pytest.approx(abs(joint_limits.outside(angle, low, low + width)), abs=EXACT)


# legal and clamped


@settings(max_examples=300)
@given(st.one_of(balls(), hinges()), quats)
def test_clamped_is_legal_unit_and_stays(limits: JointLimits, local: Quat) -> None:
    got = joint_limits.clamp(limits, local)
    assert joint_limits.is_legal(limits, got, 1e-7)  # float64, half angles near 180 degrees of swing
    assert math.hypot(*got) == pytest.approx(1.0, abs=EXACT)
    assert angle_between(joint_limits.clamp(limits, got), got) < 1e-6
    if joint_limits.is_legal(limits, local, 0.0):
        assert got == local


@settings(max_examples=100)
@given(hinges(), quats, st.floats(0.0, 1.0))
def test_no_legal_hinge_turn_is_nearer_than_the_clamped_one(limits: JointLimits, local: Quat, t: float) -> None:
    other = from_axis_angle(
        joint_limits.hinge_axis(limits), limits.min_angle + t * (limits.max_angle - limits.min_angle)
    )
    assert angle_between(joint_limits.clamp(limits, local), local) <= angle_between(other, local) + EXACT


def test_no_legal_direction_is_nearer_than_the_clamped_one() -> None:
    rng = random.Random(4)
    for _ in range(150):
        limits = ball(
            (rng.uniform(-170, 0), rng.uniform(0, 170)), (rng.uniform(-170, 0), rng.uniform(0, 170)), (-180, 180)
        )
        points = [rotate(random_quat(rng), UNIT_Y) for _ in range(300)]
        legal = [point for point in points if joint_limits.swing_excess(limits, point) == 0.0]
        for point in points[:20]:
            got = joint_limits.clamped_direction(limits, point)
            assert joint_limits.swing_excess(limits, got) < EXACT
            assert dot(got, point) >= max((dot(other, point) for other in legal), default=-1.0) - EXACT


@given(balls(), quats)
def test_a_legal_twist_survives_a_clamped_swing(limits: JointLimits, local: Quat) -> None:
    got = joint_limits.clamp(limits, local)
    if rotate(local, UNIT_Y)[1] < -0.999 or rotate(got, UNIT_Y)[1] < -0.999:  # twist is not defined there
        return
    twist = joint_limits.twist_of(local)
    expected = joint_limits.into_range(twist, limits.twist_min, limits.twist_max)
    assert abs(math.remainder(joint_limits.twist_of(got) - expected, 2.0 * math.pi)) < 1e-6


def test_unequal_ranges_are_planes_not_a_cone() -> None:
    """LB-65: each direction has its own bound."""
    limits = ball((-10, 60), (-30, 5), (-15, 15))
    for axis, low, high, name in (
        (UNIT_X, -10, 60, "swing_x"),
        (UNIT_Z, -30, 5, "swing_z"),
        (UNIT_Y, -15, 15, "twist"),
    ):
        for angle, bound in ((-80, low), (80, high)):
            got = joint_limits.measure(limits, joint_limits.clamp(limits, from_axis_angle(axis, deg(angle))))
            assert math.degrees(getattr(got, name)) == pytest.approx(bound, abs=1e-6)


def test_free_joints_are_left_alone() -> None:
    q = normalized((0.1, 0.9, -0.4, 0.3))
    assert joint_limits.clamp(FREE_JOINT, q) == q
    assert joint_limits.is_legal(FREE_JOINT, q)


def test_full_turns_bind_nothing() -> None:
    limits = JointLimits(JointKind.BALL)
    assert joint_limits.is_legal(limits, normalized((0.0, 0.3, 0.9, -0.2)), 0.0)


# LB-63: ranges across 180 degrees, fixed joints


@pytest.mark.parametrize(
    ("low", "high", "angle", "expected"),
    [
        (-225, -135, -200, -200), (-225, -135, 180, 180), (-225, -135, 0, None), (-225, -135, 45, -225),
        (170, 190, -200, 170), (170, 190, 180, 180), (170, 190, 45, 170), (170, 190, -45, 190),
        (45, 45, -200, 45), (45, 45, 180, 45), (45, 45, 0, 45), (45, 45, 45, 45),
    ],
)  # fmt: skip
def test_clamp_counts_modulo_360(low: float, high: float, angle: float, expected: float | None) -> None:
    limits = hinge(low, high)
    got = joint_limits.clamp(limits, from_axis_angle(UNIT_X, deg(angle)))
    assert joint_limits.is_legal(limits, got)
    if expected is not None:
        assert angle_between(got, from_axis_angle(UNIT_X, deg(expected))) < EXACT


# validity


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (hinge(30, -30), "minimum angle of 30° is above its maximum of -30°"),
        (hinge(0, math.nan), "a limit of angle is not a number"),
        (hinge(0, 10, (0.0, 0.0, 0.0)), "the hinge axis has no direction"),
        (hinge(0, 10, (math.nan, 0.0, 0.0)), "the hinge axis has no direction"),
        (ball((10, -10), (-5, 5), (-5, 5)), "minimum swing X of 10° is above its maximum of -10°"),
        (ball((-10, 10), (5, -5), (-5, 5)), "minimum swing Z of 5° is above its maximum of -5°"),
        (ball((-10, 10), (-5, 5), (22.5, 0)), "minimum twist of 22.5° is above its maximum of 0°"),
        (ball((100, 120), (-5, 5), (-5, 5)), "swing X and swing Z leave no legal direction"),
        (hinge(45, 45), ""), (hinge(170, 190), ""), (hinge(-225, -135), ""), (ball((-10, 60), (-30, 5), (0, 0)), ""),
        (FREE_JOINT, ""),
    ],
)  # fmt: skip
def test_faults_are_named(limits: JointLimits, words: str) -> None:
    assert joint_limits.is_valid(limits) == words


@settings(max_examples=200)
@given(
    st.sampled_from(list(JointKind)),
    st.tuples(*[st.floats(-20.0, 20.0)] * 8),
    st.tuples(parts, parts, parts),
    st.one_of(quats, st.sampled_from([IDENTITY, (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0)])),
)
def test_any_numbers_give_finite_unit_rotations(
    kind: JointKind, bounds: tuple[float, ...], axis: Vec, local: Quat
) -> None:
    limits = JointLimits(kind, axis, *bounds)
    got = joint_limits.clamp(limits, local)
    assert math.hypot(*got) == pytest.approx(1.0, abs=EXACT)
    assert got == joint_limits.clamp(limits, local)


# stops


def test_the_stop_is_named() -> None:
    got = joint_limits.stop_at(hinge(20, 150), from_axis_angle(UNIT_X, deg(150)))
    assert got is not None and got.name == "hinge" and joint_limits.degrees(got.angle) == "150°"
    assert joint_limits.stop_at(hinge(20, 150), from_axis_angle(UNIT_X, deg(149))) is None
    limits = ball((-10, 60), (-30, 5), (-15, 15))
    got = joint_limits.stop_at(limits, from_axis_angle(UNIT_Z, deg(5)))
    assert got is not None and got.name == "swing Z" and joint_limits.degrees(got.angle) == "5°"
    assert joint_limits.stop_at(FREE_JOINT, IDENTITY) is None
