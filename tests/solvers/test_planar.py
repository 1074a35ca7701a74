"""The mission's planar forms, held against forward kinematics and against each other."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from limb_ik.solvers import planar

ROUNDING = 1e-7
"""acos near 1 and -1 keeps half of a double's figures: 1e-8, times a few."""

sizes = st.floats(0.01, 100.0)
parts = st.floats(0.0, 1.0)
directions = st.floats(-math.pi, math.pi)


def _distance(a: float, b: float, part: float) -> float:
    return abs(a - b) + part * (a + b - abs(a - b))


@given(sizes, sizes, parts, directions, st.booleans())
def test_reachable_targets_are_hit_with_the_elbow_both_ways(
    a: float, b: float, part: float, direction: float, is_flipped: bool
) -> None:
    d = _distance(a, b, part)
    target = (d * math.cos(direction), d * math.sin(direction))
    shoulder, elbow = planar.inverse(target, a, b, is_flipped=is_flipped)
    _, mid, end = planar.forward((0.0, 0.0), (a, b), (shoulder, elbow))
    assert math.dist(end, target) <= ROUNDING * (a + b)
    turned = target[0] * mid[1] - target[1] * mid[0]
    assert turned * (1 if is_flipped else -1) >= -ROUNDING * (a + b) ** 2


@given(sizes, sizes, st.floats(1.0, 1e6), directions)
def test_out_of_reach_is_straight_at_the_target(a: float, b: float, factor: float, direction: float) -> None:
    d = (a + b) * factor
    shoulder, elbow = planar.inverse((d * math.cos(direction), d * math.sin(direction)), a, b)
    end = planar.forward((0.0, 0.0), (a, b), (shoulder, elbow))[-1]
    assert math.dist(end, ((a + b) * math.cos(direction), (a + b) * math.sin(direction))) <= ROUNDING * (a + b)


@given(sizes, sizes, parts)
def test_law_of_cosines_agrees_with_the_triangle(a: float, b: float, part: float) -> None:
    d = _distance(a, b, part)
    along, height = planar.triangle(a, b, d)
    assert math.hypot(along, height) == pytest.approx(a, rel=1e-7)
    assert math.hypot(d - along, height) == pytest.approx(b, rel=1e-7, abs=1e-8 * (a + b))
    assert planar.root_angle(a, b, d) == pytest.approx(math.atan2(height, along), abs=3e-6)
    assert planar.flexion(a, b, d) == pytest.approx(planar.elbow(a, b, d), abs=3e-6)
    assert planar.mid_angle(a, b, d) + planar.flexion(a, b, d) == math.pi


def test_known_triangle() -> None:
    assert planar.triangle(3.0, 4.0, 5.0) == pytest.approx((1.8, 2.4))
    assert planar.mid_angle(3.0, 4.0, 5.0) == pytest.approx(math.pi / 2)
    assert planar.root_angle(3.0, 4.0, 5.0) == pytest.approx(math.atan2(4.0, 3.0))


@pytest.mark.parametrize("short_by", [1e-4, 1e-8, 1e-12])
def test_height_keeps_its_figures_near_straight(short_by: float) -> None:
    # acos would give 0 for the last one; exact: sqrt(1 - (d/2)^2) = sqrt(short_by (1 - short_by / 4))
    expected = math.sqrt(short_by * (1.0 - short_by / 4.0))
    assert planar.triangle(1.0, 1.0, 2.0 - short_by)[1] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("d", [-1.0, 0.0, 0.4, 0.4 - 1e-12, 1.6, 1.6 + 1e-12, 1e9])
@pytest.mark.parametrize("lengths", [(1.0, 0.6), (0.6, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (1.0, 1.0)])
def test_every_distance_and_length_gives_numbers(lengths: tuple[float, float], d: float) -> None:
    a, b = lengths
    numbers = (*planar.triangle(a, b, d), planar.mid_angle(a, b, d), planar.root_angle(a, b, d), planar.elbow(a, b, d))
    assert all(math.isfinite(number) for number in numbers)


@pytest.mark.parametrize(("d", "expected"), [(0.1, 0.4), (1.0, 1.0), (5.0, 1.6)])
def test_reach_is_clamped_at_both_ends(d: float, expected: float) -> None:
    assert planar.clamped_reach(d, 1.0, 0.6) == pytest.approx(expected)


def test_forward_adds_up_the_turns() -> None:
    points = planar.forward((1.0, 1.0), (2.0, 1.0, 3.0), (math.pi / 2, -math.pi / 2, -math.pi / 2))
    assert [pytest.approx(point) for point in points] == [(1.0, 1.0), (1.0, 3.0), (2.0, 3.0), (2.0, 0.0)]


def test_chain_with_missing_angle_is_refused() -> None:
    with pytest.raises(ValueError):
        planar.forward((0.0, 0.0), (1.0, 1.0), (0.5,))
