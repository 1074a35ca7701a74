"""Turns of one joint: what is made legal, what is refused, and which way a bound lies."""

from __future__ import annotations

import random

import pytest
from limb_ik.solvers.chain import FREE_JOINT, JointLimits
from limb_ik.solvers.joint_limits import excess
from limb_ik.solvers.joint_turns import stops, turned, turns
from limb_ik.solvers.rotations import angle_between, from_rotation_vector, multiply
from limb_ik.solvers.vectors import ZERO, Vec, add, as_vec, dot, length, scaled, subtract

from chain_rows import ball, hinge, legal_local, random_vector

KINDS = {
    "hinge": hinge(-40, 110, (0.6, 0.8, 0.0)),
    "ball": ball((-10, 60), (-30, 5), (-15, 15)),
    "wide ball": ball((-120, 120), (-180, 180), (-90, 90)),
    "swing alone": ball((-50, 50), (-50, 50), (-180, 180)),
}


def random_turn(limits: JointLimits, source: random.Random, size: float) -> Vec:
    """Along the directions the joint turns in."""
    turn = ZERO
    for way in turns(limits, (0.1, 1.0, 0.0), may_roll=True):
        turn = add(turn, scaled(way, source.gauss(0.0, size)))
    return turn


@pytest.mark.parametrize("name", KINDS)
def test_turned_is_legal_and_what_is_not_refused_is_done(name: str) -> None:
    limits, source = KINDS[name], random.Random(1)
    refusals = 0
    for _ in range(200):
        local = legal_local(KINDS["ball"] if "ball" in name else limits, source)
        turn = random_turn(limits, source, 0.01)
        legal, refused = turned(limits, local, turn)
        assert excess(limits, legal) <= 1e-8  # clamping is good for 1e-9
        done = multiply(local, from_rotation_vector(subtract(turn, refused)))
        assert angle_between(done, legal) <= 4.0 * length(turn) ** 2 + 1e-9  # the same to first order
        refusals += refused != ZERO
    assert (refusals > 0) == (name in {"hinge", "ball", "swing alone"})


@pytest.mark.parametrize("name", KINDS)
def test_stops_lead_out(name: str) -> None:
    limits, source = KINDS[name], random.Random(2)
    found = 0
    for _ in range(100):
        local, _ = turned(limits, legal_local(KINDS["ball"] if "ball" in name else limits, source),
                          random_turn(limits, source, 2.0))  # fmt: skip
        for stop in stops(limits, local):
            assert length(stop) == pytest.approx(1.0)
            assert excess(limits, multiply(local, from_rotation_vector(scaled(stop, 1e-3)))) > 1e-4
            inward, refused = turned(limits, local, scaled(stop, -1e-4))
            assert length(refused) < 1e-4 * (1.0 if len(stops(limits, local)) > 1 else 1e-3)
            assert excess(limits, inward) <= 1e-8
            found += 1
    assert found > 20


def test_free_joints_have_no_stops_and_roll_only_where_asked() -> None:
    local = from_rotation_vector(as_vec(random_vector(random.Random(3))))
    assert stops(FREE_JOINT, local) == ()
    along = (0.0, 2.0, 0.0)
    assert all(dot(way, along) == 0.0 for way in turns(FREE_JOINT, along, may_roll=False))
    assert len(turns(FREE_JOINT, along, may_roll=True)) == 3
    assert turned(FREE_JOINT, local, ZERO) == (local, ZERO)
