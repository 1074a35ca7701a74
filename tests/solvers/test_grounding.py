"""Levels, tilts, lifts and the hips' offset: bounds that must hold, and nothing on level ground."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from limb_ik.solvers import grounding, holding
from limb_ik.solvers.contacts import Span

SPANS = [Span(3, 8), Span(20, 26), Span(40, 44)]


def test_levels_are_those_of_contacts_and_eased_between() -> None:
    found = grounding.levels(50, SPANS, [0.0, 0.34, 0.17])
    assert (found[:9] == 0.0).all() and (found[20:27] == 0.34).all() and (found[40:] == 0.17).all()
    assert (np.diff(found[8:21]) >= 0.0).all() and (np.diff(found[26:41]) <= 0.0).all()


def test_level_ground_tilts_nothing() -> None:
    up = np.tile((0.0, 0.0, 1.0), (3, 1))
    np.testing.assert_allclose(grounding.tilts(50, SPANS, up, 1.0), np.tile((1.0, 0.0, 0.0, 0.0), (50, 1)), atol=1e-15)


def test_feet_turn_to_the_slope_by_the_amount() -> None:
    normal = np.array((np.sin(0.3), 0.0, np.cos(0.3)))
    full = grounding.tilts(10, [Span(2, 5)], normal[None, :], 1.0)
    up = np.tile((0.0, 0.0, 1.0), (10, 1))
    np.testing.assert_allclose(holding.rotated(full, up), np.tile(normal, (10, 1)), atol=1e-12)
    none = grounding.tilts(10, [Span(2, 5)], normal[None, :], 0.0)
    np.testing.assert_allclose(holding.rotated(none, up), up, atol=1e-12)


@given(st.integers(0, 10_000), st.floats(1.0, 8.0))
def test_a_lift_is_nowhere_less_than_needed_and_never_in_contacts(seed: int, radius: float) -> None:
    source = np.random.default_rng(seed)
    needed = np.maximum(source.normal(-0.05, 0.1, 60), 0.0)
    swings = [Span(5, 20), Span(30, 50)]
    inside = np.zeros(60, dtype=bool)
    inside[5:21] = inside[30:51] = True
    found = grounding.lift(np.where(inside, needed, 0.0), swings, radius)
    assert (found[inside] >= needed[inside]).all()
    assert (found[~inside] == 0.0).all()


@given(st.integers(0, 10_000), st.floats(1.0, 12.0))
def test_hips_are_nowhere_higher_than_the_legs_reach(seed: int, radius: float) -> None:
    source = np.random.default_rng(seed)
    wanted, most = np.cumsum(source.normal(0.0, 0.05, 80)), np.cumsum(source.normal(0.0, 0.05, 80))
    found = grounding.hips_offset(wanted, most, radius)
    # Sums of weights round to 1 within a few units in the last place.
    assert (found <= np.minimum(wanted, most) + 1e-12).all()


@given(st.integers(0, 10_000))
def test_hips_move_smoothly(seed: int) -> None:
    """A step of the ground of 0.2 m is spread over the blend time: no frame takes more than its share."""
    at = np.random.default_rng(seed).integers(20, 60)
    wanted = np.where(np.arange(80) < at, 0.0, 0.2)
    found = grounding.hips_offset(wanted, np.full(80, 1.0), 6.0)
    assert np.abs(np.diff(found)).max() <= 0.2 * 2.0 / 13.0  # a raised cosine's peak is twice its mean of 1/13


def test_most_offset_is_where_the_leg_is_straight() -> None:
    roots = np.array([[0.0, 0.0, 0.9], [0.0, 0.0, 0.9]])
    ends = np.array([[0.3, 0.0, 0.1], [2.0, 0.0, 0.1]])
    most = grounding.most_offset(roots, ends, np.ones(2))
    raised = roots[0] + (0.0, 0.0, most[0])
    assert abs(np.linalg.norm(raised - ends[0]) - 1.0) < 2e-6
    assert np.isclose(most[1], -0.8)  # out of reach sideways: level with the end
