"""Effective weight and blended rotations: pure functions of the frame."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from limb_ik.solvers import rotations
from limb_ik.solvers.blending import blend, effective_weight, rise, smoothstep
from limb_ik.solvers.rotations import IDENTITY, Quat

BLEND_FRAMES = 3.6
"""0.15 s at 24 frames a second."""

frames = st.floats(-1e4, 1e4)
numbers = st.floats(-1.0, 1.0)
quats = st.tuples(numbers, numbers, numbers, numbers).filter(lambda q: math.hypot(*q) > 1e-3).map(rotations.normalized)


def _keyed(
    frame: float, changes: list[tuple[float, int]], first: bool = False, duration: float = BLEND_FRAMES
) -> float:
    """Weight for a channel that starts at ``first`` and changes at the given frames."""
    value_at_start = int(first) + sum(change for at, change in changes if at <= frame - duration)
    return effective_weight(frame, 1.0, bool(value_at_start), changes, duration)


def test_smoothstep_is_flat_at_both_ends_and_half_in_the_middle() -> None:
    assert [smoothstep(part) for part in (-1.0, 0.0, 0.5, 1.0, 2.0)] == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert smoothstep(1e-6) < 1e-11
    assert 1.0 - smoothstep(1.0 - 1e-6) < 1e-11


def test_rise_is_smoothstep_between_two_values_and_a_step_where_they_are_equal() -> None:
    assert [rise(value, 2.0, 4.0) for value in (1.0, 2.0, 3.0, 4.0, 5.0)] == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert [rise(value, 2.0, 2.0) for value in (1.0, 2.0, 2.1)] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(("frame", "expected"), [(9.9, 0.0), (10.0, 0.0), (11.8, 0.5), (13.6, 1.0), (50.0, 1.0)])
def test_switching_on_eases_over_the_blend_time(frame: float, expected: float) -> None:
    assert _keyed(frame, [(10.0, 1)]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("frame", "expected"), [(10.0, 1.0), (11.8, 0.5), (13.6, 0.0)])
def test_switching_off_mirrors_it(frame: float, expected: float) -> None:
    assert _keyed(frame, [(10.0, -1)], first=True) == pytest.approx(expected, abs=1e-12)


def test_change_at_the_start_of_the_window_is_over() -> None:
    # at frame - D exactly the value counts, so the change must not be counted a second time
    assert effective_weight(13.6, 1.0, True, [(10.0, 1)], 3.6) == 1.0


def test_on_and_off_within_one_blend_time_has_no_step() -> None:
    changes = [(10.0, 1), (11.0, -1), (12.0, 1)]
    values = [_keyed(9.0 + 0.01 * step, changes) for step in range(800)]
    assert values[0] == 0.0
    assert values[-1] == 1.0
    assert max(abs(a - b) for a, b in pairwise(values)) < 0.01  # 1.5 / 3.6 a frame, twice


@pytest.mark.parametrize(("is_on", "expected"), [(True, 0.7), (False, 0.0)])
def test_no_blend_time_is_a_cut(is_on: bool, expected: float) -> None:
    assert effective_weight(10.0, 0.7, is_on, [(10.0, 1 if is_on else -1)], 0.0) == expected


@given(
    frames, st.floats(-2.0, 3.0), st.booleans(), st.lists(st.tuples(frames, st.sampled_from([-1, 1]))), st.floats(0, 99)
)
def test_weight_stays_between_0_and_1(
    frame: float, weight: float, is_on: bool, changes: list[tuple[float, int]], duration: float
) -> None:
    assert 0.0 <= effective_weight(frame, weight, is_on, changes, duration) <= 1.0


@given(quats, quats)
def test_no_weight_is_fk_and_full_weight_is_ik_exactly(fk: Quat, ik: Quat) -> None:
    assert blend(fk, ik, 0.0) == fk
    assert blend(fk, ik, 1.0) == ik
    assert blend(fk, ik, -0.5) == fk
    assert blend(fk, ik, 1.5) == ik


@given(quats, quats, st.floats(0.0, 1.0))
def test_blend_turns_the_short_way_by_its_part(fk: Quat, ik: Quat, weight: float) -> None:
    whole = rotations.angle_between(fk, ik)
    for end in (ik, rotations.as_quat(-n for n in ik)):
        part = blend(fk, end, weight)
        assert rotations.angle_between(fk, part) == pytest.approx(weight * whole, abs=1e-12)
        assert rotations.angle_between(part, ik) == pytest.approx((1.0 - weight) * whole, abs=1e-12)


def test_half_of_a_right_angle() -> None:
    right = rotations.from_axis_angle((0.0, 0.0, 1.0), math.pi / 2)
    assert blend(IDENTITY, right, 0.5) == pytest.approx((math.cos(math.pi / 8), 0.0, 0.0, math.sin(math.pi / 8)))
