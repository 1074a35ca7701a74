"""Coordinates of one joint: every legal rotation has them, all inside the bounds are legal, and slopes are right."""

from __future__ import annotations

import random

import pytest
from limb_ik.solvers.chain import FREE_JOINT, JointLimits
from limb_ik.solvers.joint_charts import Chart, chart_of, turns
from limb_ik.solvers.joint_limits import clamp, excess
from limb_ik.solvers.rotations import Quat, angle_between, as_quat, conjugate, multiply, to_rotation_vector
from limb_ik.solvers.vectors import Vec, add, as_vec, cross, dot, length, scaled, subtract
from mathutils import Quaternion

from chain_rows import ball, hinge, random_vector

BONE = (0.1, 1.0, 0.0)
KINDS = {
    "hinge": hinge(-40, 110, (0.6, 0.8, 0.0)),
    "hinge past half a turn": hinge(170, 300),
    "free": FREE_JOINT,
    "unequal": ball((-10, 60), (-30, 5), (-15, 15)),
    "one swing to a quarter turn": ball((-120, 120), (-60, 60), (-40, 40)),
    "one swing past a quarter turn": ball((-30, 150), (-120, 120), (-40, 40)),
    "one swing alone": ball((-180, 180), (-30, 30), (-30, 30)),
    "one swing behind": ball((-180, 180), (-200, -20), (-90, 90)),
    "twist alone": ball((-180, 180), (-180, 180), (100, 200)),
    "no width": ball((20, 20), (-30, 30), (5, 5)),
}


def random_local(limits: JointLimits, source: random.Random) -> Quat:
    """Legal, and not folded back: nothing has a twist there."""
    while True:
        turn = Quaternion(random_vector(source).normalized(), source.uniform(-2.0, 2.0))
        local = clamp(limits, as_quat(turn))
        if local[0] ** 2 + local[2] ** 2 > 0.05:
            return local


def chart_at(limits: JointLimits, local: Quat) -> Chart:
    return chart_of(limits, local, turns(limits, BONE, may_roll=True))


@pytest.mark.parametrize("name", KINDS)
def test_a_legal_rotation_is_at_its_place(name: str) -> None:
    source = random.Random(1)
    for _ in range(100):
        local = random_local(KINDS[name], source)
        chart = chart_at(KINDS[name], local)
        assert angle_between(chart.at(chart.place), local) <= 1e-6
        assert all(low <= own <= high for own, (low, high) in zip(chart.place, chart.bounds, strict=True))


@pytest.mark.parametrize("name", KINDS)
def test_every_place_inside_the_bounds_is_legal(name: str) -> None:
    source = random.Random(2)
    for _ in range(100):
        chart = chart_at(KINDS[name], random_local(KINDS[name], source))
        wide = ((low, high) if high - low < 100.0 else (-1.0, 1.0) for low, high in chart.bounds)
        places = [source.choice((low, high, source.uniform(low, high))) for low, high in wide]
        assert excess(KINDS[name], chart.at(places)) <= 1e-8


@pytest.mark.parametrize("name", KINDS)
def test_axes_are_the_turns_and_bends_their_change(name: str) -> None:
    source = random.Random(3)
    step = 1e-5
    for _ in range(30):
        chart = chart_at(KINDS[name], random_local(KINDS[name], source))
        if any(high - low > 0.0 and min(own - low, high - own) < 10.0 * step
               for own, (low, high) in zip(chart.place, chart.bounds, strict=True)):  # fmt: skip
            continue  # "x" and "z" are clamped at bounds
        arm = as_vec(random_vector(source))
        for n, axis in enumerate(chart.axes(chart.place)):
            before, after = (nudged(chart, n, way * step) for way in (-1.0, 1.0))
            turn = to_rotation_vector(multiply(after, conjugate(before)))
            assert length(subtract(scaled(turn, 0.5 / step), axis)) <= 1e-5 * (1.0 + length(axis))
        rows = chart.bends(chart.place)
        for one, row in enumerate(rows):  # second derivatives are the same in either order
            for two, bend in enumerate(row):
                a, b = chart.axes(chart.place)[one], chart.axes(chart.place)[two]
                there, back = second(bend, a, b, arm), second(rows[two][one], b, a, arm)
                assert abs(dot(there, arm) - dot(back, arm)) <= 1e-3 * length(arm) ** 2 * (1.0 + length(a)) ** 2


def second(bend: Vec, a: Vec, b: Vec, arm: Vec) -> Vec:
    """How the velocity of a point on a bone by one coordinate changes with another."""
    return add(cross(bend, arm), cross(a, cross(b, arm)))


def nudged(chart: Chart, coordinate: int, amount: float) -> Quat:
    places = list(chart.place)
    places[coordinate] += amount
    return chart.at(places)


def test_free_joints_roll_only_where_asked() -> None:
    along = (0.0, 2.0, 0.0)
    assert all(dot(way, along) == 0.0 for way in turns(FREE_JOINT, along, may_roll=False))
    assert len(turns(FREE_JOINT, along, may_roll=True)) == 3
    assert turns(KINDS["hinge"], along, may_roll=True) == ()
