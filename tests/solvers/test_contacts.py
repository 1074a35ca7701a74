"""Contacts out of paths: speeds, limits from the clip, hysteresis, what is held up, what is out of reach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limb_ik.solvers import contacts
from limb_ik.solvers.contacts import Span

RATE = 24.0


def walk(steps: int = 4, stance: int = 14, swing: int = 10, stride: float = 1.4) -> np.ndarray:
    """A foot that stands and swings in turn, ends on straight frames."""
    rows, place = [], 0.0
    for _ in range(steps):
        rows += [(place, 0.0, 0.1)] * stance
        for k in range(1, swing + 1):
            part = k / (swing + 1)
            smooth = part * part * (3.0 - 2.0 * part)
            rows.append((place + stride * smooth, 0.0, 0.1 + 0.15 * np.sin(np.pi * part)))
        place += stride
    return np.array(rows)


def spans_of_walk(points: np.ndarray) -> list[Span]:
    speed = contacts.speeds(points, RATE)
    return contacts.at_rest(speed, contacts.speed_limit([speed]), RATE)


def test_a_walk_has_its_stances() -> None:
    """To a frame: speeds are taken over the frames on both sides."""
    found = spans_of_walk(walk())
    stances = [(0, 13), (24, 37), (48, 61), (72, 85)]
    assert len(found) == len(stances)
    for one, (first, last) in zip(found, stances, strict=True):
        assert 0 <= one.first - first <= 1 and 0 <= last - one.last <= 1


@given(st.floats(0.01, 100.0), st.floats(-50.0, 50.0), st.integers(0, 1000))
def test_noise_scale_and_place_change_nothing(scale: float, shift: float, seed: int) -> None:
    """Capture trembles by millimetres; a step has the same stances wherever it is and in whatever unit."""
    noise = np.random.default_rng(seed).normal(0.0, 0.001, walk().shape)
    points = (walk() + noise) * scale + shift
    speed = contacts.speeds(points, RATE) / scale
    found = contacts.at_rest(speed, contacts.speed_limit([speed]), RATE)
    assert len(found) == 4
    for one, begin in zip(found, (0, 24, 48, 72), strict=True):
        assert abs(one.first - begin) <= 1 and abs(one.last - begin - 13) <= 1


@pytest.mark.parametrize("hertz", [0.5, 1.0, 2.0])
def test_kicks_of_a_swim_are_no_contacts(hertz: float) -> None:
    """Turning points are slow, too, but not for long."""
    t = np.arange(240) / RATE
    points = np.stack([0.0 * t, 0.2 * np.cos(2 * np.pi * hertz * t), 0.3 * np.sin(2 * np.pi * hertz * t)], axis=1)
    assert spans_of_walk(points) == []


def test_a_swim_that_goes_on_has_no_contacts() -> None:
    t = np.arange(240) / RATE
    points = np.stack([1.5 * t, 0.0 * t, 0.2 * np.sin(7.0 * t)], axis=1)
    assert spans_of_walk(points) == []


def test_one_slow_wobble_does_not_end_a_contact() -> None:
    """Hysteresis: between the two limits a contact goes on, but none begins."""
    speed = np.array([2.0] * 5 + [0.1] * 5 + [0.38] * 2 + [0.1] * 5 + [2.0] * 5 + [0.38] * 8 + [2.0] * 5)
    assert contacts.at_rest(speed, 0.4, RATE) == [Span(5, 16)]


def test_short_rests_do_not_count() -> None:
    speed = np.array([2.0] * 5 + [0.0] * 3 + [2.0] * 5)
    assert contacts.at_rest(speed, 0.4, RATE, shortest_s=0.2) == []
    assert contacts.at_rest(speed, 0.4, RATE, shortest_s=0.05) == [Span(5, 7)]


def test_a_contact_cut_off_by_the_clip_reaches_its_end() -> None:
    speed = np.array([0.35] * 3 + [0.1] * 6 + [2.0] * 6 + [0.1] * 6 + [0.35] * 3)
    assert contacts.at_rest(speed, 0.4, RATE) == [Span(0, 8), Span(15, 23)]


def test_a_foot_held_up_is_no_contact() -> None:
    heights = np.full(20, 0.5)
    assert contacts.on_ground([Span(0, 19)], heights, [(Span(5, 9), 0.1)]) == []
    assert contacts.on_ground([Span(0, 19)], heights, [(Span(5, 9), 0.3)]) == [Span(0, 19)]  # a step of a stair
    assert contacts.on_ground([Span(0, 4)], heights, [(Span(5, 9), 0.1)]) == [Span(0, 4)]  # not at the same time


@given(st.integers(0, 10_000))
def test_a_point_within_reach_is_reached_from_every_root(seed: int) -> None:
    source = np.random.default_rng(seed)
    roots = np.array((0.0, 0.0, 0.95)) + source.normal(0.0, 0.03, (12, 3))
    reaches = np.full(12, 1.0)
    found = contacts.within_reach(source.normal(0.0, 0.1, 3), roots, reaches)
    # Projections in turn converge by a factor each: a ten-thousandth of the limb is left where they are stopped.
    assert (np.linalg.norm(found - roots, axis=1) <= reaches * (1.0 + 1e-4)).all()


def test_what_is_within_reach_stays() -> None:
    point = np.array((0.1, 0.2, 0.3))
    assert (contacts.within_reach(point, np.zeros((3, 3)), np.ones(3)) == point).all()


def test_speed_is_exact_on_a_straight_path() -> None:
    points = np.arange(20)[:, None] * np.array((0.03, 0.04, 0.0))
    np.testing.assert_allclose(contacts.speeds(points, 30.0), 1.5, rtol=1e-12)
    assert contacts.path_length(points) == pytest.approx(19 * 0.05, rel=1e-12)
