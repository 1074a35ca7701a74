"""Held feet: still ankles, rolling over a still ball, hand-over without a jump."""

from __future__ import annotations

import numpy as np
import pytest
from limb_ik.solvers import holding
from limb_ik.solvers.contacts import Span
from limb_ik.solvers.holding import Held, Path

COUNT = 40
ARM = np.array((0.0, -0.15, -0.08))


def turn_about_x(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angles / 2), np.sin(angles / 2), 0 * angles, 0 * angles], axis=1)


@pytest.fixture
def path() -> Path:
    """A foot that slides forward a little while it stands and lifts its heel late in the contact."""
    at = np.arange(COUNT)
    ends = np.stack([0.002 * at, -0.003 * at, 0.1 + 0.0 * at], axis=1)
    turns = turn_about_x(np.maximum(at - 18, 0) * 0.04)
    roots = ends + np.array((0.0, 0.0, 0.8))
    toes = ends + holding.rotated(turns, np.tile(ARM, (COUNT, 1)))
    return Path(ends, turns, roots, np.ones(COUNT), toes)


def test_ankle_and_ball_stand_still(path: Path) -> None:
    held = holding.hold(path, Span(8, 26), [Span(8, 18)], 4.0, keeps_turn=True)
    rest = held.points[8:19]
    assert np.abs(rest - rest[0]).max() < 1e-15
    balls = (held.points + holding.rotated(held.turns, np.tile(ARM, (COUNT, 1))))[8:27]
    assert np.abs(balls - balls[0]).max() < 1e-12


def test_without_holding_the_turn_the_ball_stands_still_from_the_lift_on(path: Path) -> None:
    held = holding.hold(path, Span(8, 26), [Span(8, 18)], 4.0, keeps_turn=False)
    assert np.abs(held.points[8:19] - held.points[8]).max() < 1e-15
    balls = (held.points + holding.rotated(path.turns, np.tile(ARM, (COUNT, 1))))[18:27]
    assert np.abs(balls - balls[0]).max() < 1e-12
    assert (held.turns == path.turns).all()


def test_a_contact_of_the_toes_alone(path: Path) -> None:
    held = holding.hold(path, Span(20, 26), [], 4.0, keeps_turn=True)
    balls = (held.points + holding.rotated(held.turns, np.tile(ARM, (COUNT, 1))))[20:27]
    assert np.abs(balls - balls[0]).max() < 1e-12


def test_the_heel_lifts_where_the_leg_would_be_too_short(path: Path) -> None:
    short = Path(path.ends, path.turns, path.roots, np.full(COUNT, 0.8), path.toes)
    held = holding.hold(short, Span(8, 30), [Span(8, 18)], 4.0, keeps_turn=True)
    assert (np.linalg.norm(held.points - short.roots, axis=1)[8:31] <= 0.8 * (1 + 1e-6)).all()
    balls = (held.points + holding.rotated(held.turns, np.tile(ARM, (COUNT, 1))))[8:31]
    assert np.abs(balls - balls[0]).max() < 1e-12


def test_a_hand_is_held_where_it_rests_on_average(path: Path) -> None:
    hand = Path(path.ends, path.turns, path.roots, path.reaches)
    held = holding.hold(hand, Span(5, 15), [Span(5, 15)], 4.0, keeps_turn=True)
    np.testing.assert_allclose(held.points, np.tile(path.ends[5:16].mean(axis=0), (COUNT, 1)), atol=1e-12)


def test_between_near_contacts_nothing_jumps(path: Path) -> None:
    own = Held(path.ends, path.turns)
    shifted = Held(path.ends + np.where(np.arange(COUNT) < 20, 0.01, -0.02)[:, None], path.turns)
    joined = holding.carried(shifted, own, 15, 25)
    np.testing.assert_allclose(joined.points[15] - path.ends[15], 0.01, atol=1e-12)
    np.testing.assert_allclose(joined.points[25] - path.ends[25], -0.02, atol=1e-12)
    # The offset of 3 cm is spread over ten frames: a smoothstep is 1.5 times as fast as a straight line at most.
    steps = np.abs(np.diff(joined.points - path.ends, axis=0)[15:25]).max()
    assert steps <= 0.03 * 1.5 / 10


def test_slerp_takes_the_short_way_and_keeps_its_ends() -> None:
    a, b = turn_about_x(np.array([0.0, 0.3])), -turn_about_x(np.array([1.0, 0.3]))
    half = turn_about_x(np.array([0.5, 0.3]))
    np.testing.assert_allclose(holding.slerp(a, b, np.array([0.5, 0.5])), half, atol=1e-12)
    np.testing.assert_allclose(holding.slerp(a, b, np.zeros(2)), a, atol=1e-12)
