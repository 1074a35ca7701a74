"""FABRIK without limits: scenarios LB-14, 68, 74, 75, 80, and what holds for every chain."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.solvers import fabrik
from limb_ik.solvers.chain import Chain, Goal, Solution, Status
from limb_ik.solvers.chain_bend import fk_bend
from limb_ik.solvers.chain_geometry import angle_about, mean_offset, read
from limb_ik.solvers.chain_start import nearest_distance, polygon_bends
from limb_ik.solvers.rotations import angle_between, as_quat
from limb_ik.solvers.vectors import as_vec, dot
from mathutils import Quaternion, Vector

from chain_rows import angle, bent, chain_through, heads, posed, random_chain, random_vector, straight, tip, total

FLOAT_NOISE = 1e-6
"""Of the length: deltas and heads are float32 (6e-8), summed over up to thirty bones."""
REACHES = (0.2, 0.5, 0.9, 0.99, 0.999, 0.9999)


def solve(chain: Chain, target: object, pole: object = None, **settings_: object) -> Solution:
    return fabrik.solve(chain, Goal(Vector(target), None if pole is None else Vector(pole), **settings_))


def assert_lengths_kept(chain: Chain, points: list[Vector]) -> None:
    for (a, b), (c, d) in zip(pairwise(heads(chain)), pairwise(points), strict=True):
        assert (d - c).length == pytest.approx((b - a).length, abs=FLOAT_NOISE * total(chain))


# The figures of the design


@pytest.mark.parametrize("count", [1, 2, 3, 6, 10, 30])
@pytest.mark.parametrize("start", ["straight", "folded", "random"])
def test_reachable_targets_are_hit(count: int, start: str) -> None:
    source = random.Random(count)
    chain = {
        "straight": straight(count, 0.5),
        "folded": bent(count, 0.5, 5.0 / count),
        "random": random_chain(count, source),
    }[start]
    for reach in REACHES if count > 1 else (1.0,):
        for pole in (None, random_vector(source)):
            distance = max(reach * total(chain), nearest_distance(read(chain).lengths))
            target = chain.joints[0].head + random_vector(source).normalized() * distance
            solution = solve(chain, target, pole)
            assert (tip(chain, solution) - target).length <= FLOAT_NOISE * total(chain)
            assert solution.status == Status.REACHED
            assert_lengths_kept(chain, posed(chain, solution))


@pytest.mark.parametrize("count", [1, 2, 3, 6, 10])
def test_out_of_reach_is_straight_at_the_target(count: int) -> None:
    chain = bent(count, 0.5, 0.3)
    target = Vector((1.0, 2.0, 3.0)).normalized() * 0.6 * count
    solution = solve(chain, target, (0.0, -3.0, 0.0))
    assert solution.status == Status.TOO_FAR
    assert solution.error == pytest.approx(0.1 * count, abs=1e-6)
    assert (tip(chain, solution) - target.normalized() * 0.5 * count).length <= FLOAT_NOISE * total(chain)


def test_too_near_is_folded() -> None:
    chain = chain_through([(0, 0, 0), (0, 0, 2.0), (0, 0.1, 2.5), (0, 0, 3.0)])
    nearest = nearest_distance(read(chain).lengths)
    solution = solve(chain, (0.3, 0.0, 0.0), (0.0, 3.0, 0.0))
    assert solution.status == Status.TOO_NEAR
    assert solution.error == pytest.approx(nearest - 0.3, abs=1e-6)
    assert (tip(chain, solution) - Vector((nearest, 0.0, 0.0))).length < 1e-5  # float32 at a full fold


def test_one_joint_aims() -> None:
    chain = straight(1, 2.0)
    solution = solve(chain, (2.0, 0.0, 0.0))
    assert (tip(chain, solution) - Vector((2.0, 0.0, 0.0))).length < FLOAT_NOISE
    assert solve(chain, (0.0, 1.0, 0.0)).status == Status.TOO_NEAR
    assert solve(chain, (0.0, 3.0, 0.0)).status == Status.TOO_FAR


# FK comes back


@pytest.mark.parametrize("count", [1, 2, 3, 6, 30])
def test_target_at_fk_end_turns_nothing(count: int) -> None:
    source = random.Random(7)
    for spread in (0.0, 1e-4, 0.1, 0.5):
        chain = random_chain(count, source, spread)
        side = fabrik.pole_direction(chain) * total(chain)
        for pole in (None, chain.joints[0].head + side, chain.end + 0.5 * side):
            for delta in solve(chain, chain.end, pole).deltas:
                assert angle(delta) < 1e-6


def test_the_pole_moved_about_the_line_turns_the_chain_as_a_whole() -> None:
    """As LB-27: roll follows the pole, bones keep their places to each other."""
    chain = bent(6, 0.5, math.radians(20.0))
    axis = chain.end.normalized()
    side = Quaternion(axis, math.radians(90.0)) @ fabrik.pole_direction(chain)
    for delta in solve(chain, chain.end, side * 3.0).deltas:
        assert angle(delta, Quaternion(axis, math.radians(90.0))) < 1e-5


def test_pole_angle_is_a_turn_about_the_line() -> None:
    chain = bent(6, 0.5, math.radians(20.0))
    turned = solve(chain, chain.end, pole_angle=0.3)
    for delta in turned.deltas:
        assert angle(delta, Quaternion(chain.end.normalized(), 0.3)) < 1e-5


def test_deltas_have_no_roll() -> None:
    """Each joint's own turn, in the frame of the bone before it, is a swing at right angles to its bone."""
    chain = random_chain(6, random.Random(3))
    solution = solve(chain, chain.joints[0].head + Vector((0.6, -0.5, 1.0)), (3.0, 1.0, 2.0))
    directions = read(chain).directions
    for (before, own), direction in zip(pairwise(solution.deltas), directions[1:], strict=True):
        swing = before.inverted() @ own
        assert abs(dot(as_vec(swing.axis), direction) * swing.angle) < 1e-5


def test_bones_that_dont_follow_their_parent_reach_too() -> None:
    chain = bent(4, 0.5, 0.2)
    chain = replace(chain, joints=tuple(replace(joint, follows_parent=n != 2) for n, joint in enumerate(chain.joints)))
    solution = solve(chain, (0.5, 0.2, 0.9), (3.0, 0.0, 0.0))
    assert (tip(chain, solution) - Vector((0.5, 0.2, 0.9))).length < FLOAT_NOISE * 2.0
    direction = read(chain).directions[2]
    assert abs(dot(as_vec(solution.deltas[2].axis), direction) * solution.deltas[2].angle) < 1e-5


def test_softness_and_largest_reach_hold_back() -> None:
    chain = straight(4, 0.5)
    held = solve(chain, (0.0, 2.0, 0.0), max_reach=0.9)
    assert held.status == Status.TOO_FAR
    assert tip(chain, held).length == pytest.approx(1.8, abs=1e-6)
    soft = [tip(chain, solve(chain, (0.0, d, 0.0), softness=0.1)).length for d in (1.5, 1.8, 1.9, 2.0, 2.5, 9.0)]
    assert soft[:2] == pytest.approx([1.5, 1.8], abs=1e-6)
    assert soft[2:4] == pytest.approx([1.8 + 0.2 * (1.0 - math.exp(-x)) for x in (0.5, 1.0)], abs=1e-6)
    assert sorted(soft) == soft
    assert soft[-1] <= 2.0 + 1e-6


# The passes


@given(st.integers(2, 12), st.integers(0, 10**6), st.floats(0.0, 1.3))
@settings(max_examples=60, deadline=None)
def test_passes_never_grow_the_error_and_keep_lengths(count: int, seed: int, reach: float) -> None:
    source = random.Random(seed)
    chain = random_chain(count, source)
    row = read(chain)
    target = as_vec(chain.joints[0].head + random_vector(source).normalized() * reach * row.total)
    points = row.points
    for _ in range(12):
        moved = fabrik.forward(fabrik.backward(points, row.lengths, target), row.lengths, row.root)
        assert fabrik.error_of(moved, target) <= fabrik.error_of(points, target) + 1e-12 * row.total  # rounding
        points = moved
    for (a, b), size in zip(pairwise(points), row.lengths, strict=True):
        assert math.dist(a, b) == pytest.approx(size, abs=1e-12)
    assert points[0] == row.root


def test_ten_thousand_random_chains_never_grow_the_error() -> None:
    """Reachable and not; lengths as well."""
    source = random.Random(11)
    for _ in range(10_000):
        points = [(0.0, 0.0, 0.0)]
        for _ in range(source.randint(2, 12)):
            step = random_vector(source).normalized() * source.uniform(0.1, 2.0)
            points.append(as_vec(Vector(points[-1]) + step))
        lengths = [math.dist(a, b) for a, b in pairwise(points)]
        target = as_vec(random_vector(source).normalized() * source.uniform(0.0, 1.3) * sum(lengths))
        error = fabrik.error_of(points, target)
        for _ in range(6):
            points = fabrik.forward(fabrik.backward(points, lengths, target), lengths, (0.0, 0.0, 0.0))
            left = fabrik.error_of(points, target)
            assert left <= error + 1e-12 * sum(lengths)  # rounding
            error = left
        for (a, b), size in zip(pairwise(points), lengths, strict=True):
            assert math.dist(a, b) == pytest.approx(size, abs=1e-6 * sum(lengths))


def test_passes_stop_at_the_tolerance() -> None:
    row = read(bent(3, 1.0, 0.5))
    target = (0.5, 1.0, 1.0)
    near = fabrik.passes(row.points, row.lengths, target, 0.05, 1000)
    assert 1e-6 < fabrik.error_of(near, target) <= 0.05
    assert fabrik.passes(row.points, row.lengths, target, 0.05, 0) == row.points


def test_polygon_closes() -> None:
    for sizes in ([1.0] * 3, [1.0, 2.0, 1.5, 0.7], [2.9, 1.0, 1.0, 1.0], [1.0, 5.0, 1.0], [0.0, 1.0, 1.0], [1.0, 3.0]):
        x = y = heading = 0.0
        for size, bend in zip(sizes, [*polygon_bends(sizes), 0.0], strict=True):
            x, y = x + size * math.cos(heading), y + size * math.sin(heading)
            heading += bend
        assert math.hypot(x, y) == pytest.approx(nearest_distance(sizes), abs=1e-9), sizes


# Scenarios


@pytest.mark.parametrize("height", [1.8, 0.6, -1.8])
@pytest.mark.parametrize("pole", [None, (2.0, 0.0, 1.0)])
def test_lb14_straight_chain_bends(height: float, pole: tuple[float, float, float] | None) -> None:
    chain = straight(6, 0.5)
    solution = solve(chain, (0.0, 0.0, height), pole)
    points = posed(chain, solution)
    assert (points[-1] - Vector((0.0, 0.0, height))).length <= FLOAT_NOISE * 3.0
    assert_lengths_kept(chain, points)
    assert solve(chain, (0.0, 0.0, height), pole) == solution
    if pole:
        assert sum(point.x for point in points) > 0.1
    else:  # the root bone's X is the hinge: the chain stays in the plane at right angles to it
        assert max(abs(point.x) for point in points) < 1e-6


def test_lb14_stored_bend_axis_decides() -> None:
    for axis in ((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)):
        chain = replace(straight(6, 0.5), bend_axis=Vector(axis))
        points = posed(chain, solve(chain, (0.0, 0.0, 1.8)))
        assert sum(point.y for point in points) * axis[0] > 1.0  # a turn about +X bends +Z towards -Y: joints to +Y


def test_rest_bend_decides_where_nothing_is_stored() -> None:
    for side in (1.0, -1.0):
        chain = replace(
            straight(2, 0.5), rest_heads=(Vector(), Vector((0.0, 0.1 * side, 0.5)), Vector((0.0, 0.0, 1.0)))
        )
        assert posed(chain, solve(chain, (0.0, 0.0, 0.8)))[1].y * side > 0.1


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_lb68_lengths_and_unit_quaternions(seed: int) -> None:
    source = random.Random(seed)
    chain = straight(6, 0.5)
    target = random_vector(source).normalized() * source.uniform(0.0, 5.0)
    solution = solve(chain, target, random_vector(source))
    assert_lengths_kept(chain, posed(chain, solution))
    for delta in solution.deltas:
        assert delta.magnitude == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("tolerance", [0.0, 1e-12, 1e-3])
@pytest.mark.parametrize("iterations", [1, 10, 1000])
@pytest.mark.parametrize("scale", [1.0, 0.001, 1000.0])
def test_lb74_ends_and_arrives(tolerance: float, iterations: int, scale: float) -> None:
    chain = straight(6, 0.5 * scale)
    for distance in (0.01, 0.3, 2.99, 2.999, 3.0):
        target = Vector((0.6, 0.0, 0.8)) * distance * scale
        solution = solve(chain, target, tolerance=tolerance, iterations=iterations)
        assert (tip(chain, solution) - target).length <= FLOAT_NOISE * 3.0 * scale


def steps_of(chain: Chain, pole: object) -> list[tuple[float, float]]:
    """Largest joint step (length) and bone turn (rad) between neighbouring targets of LB-75."""
    targets = [Vector((-0.8 + 0.01 * n, 0.0, 1.5)) for n in range(161)]
    solutions = [solve(chain, target, pole) for target in targets]
    rows = [posed(chain, solution) for solution in solutions]
    moves = [max((a - b).length for a, b in zip(*pair, strict=True)) for pair in pairwise(rows)]
    turns = [max(angle(a, b) for a, b in zip(p.deltas, q.deltas, strict=True)) for p, q in pairwise(solutions)]
    return list(zip(moves, turns, strict=True))


@pytest.mark.parametrize("pole", [(0.0, -3.0, 1.5), None])
def test_lb75_neighbouring_targets_give_neighbouring_poses(pole: object) -> None:
    for move, turn in steps_of(straight(6, 0.5), pole):
        assert move <= 5.0 * 0.01 + 1e-3
        assert turn <= 5.0 * 0.01 + 1e-3


def test_lb75_order_of_visits_does_not_matter() -> None:
    chain = straight(6, 0.5)
    targets = [(-0.8 + 0.1 * n, 0.0, 1.5) for n in range(17)]
    forth = [solve(chain, target) for target in targets]
    back = [solve(chain, target) for target in reversed(targets)]
    assert forth == back[::-1]


@pytest.mark.parametrize("bend", [0.0, 20.0, 90.0, 200.0, 300.0])
@pytest.mark.parametrize("count", [3, 6, 10])
def test_continuity_of_chains_that_bend_one_way(count: int, bend: float) -> None:
    chain = bent(count, 1.0 / count, math.radians(bend / count))
    line = Vector((0.3, 0.5, 1.0)).normalized()
    rows = [posed(chain, solve(chain, line * (0.3 + 0.01 * n), (0.0, -3.0, 0.5))) for n in range(69)]
    for before, after in pairwise(rows):
        assert max((a - b).length for a, b in zip(before, after, strict=True)) <= 5.0 * 0.01


@pytest.mark.parametrize("bend", [8.0, -8.0])
@pytest.mark.parametrize("pole", [(2.0, 0.0, 1.5), (-2.0, 0.0, 1.5), (0.0, 2.0, 1.5)])
def test_lb80_mean_offset_points_to_the_pole(bend: float, pole: tuple[float, float, float]) -> None:
    chain = bent(6, 0.5, math.radians(bend))
    points = posed(chain, solve(chain, (0.0, 0.0, 2.2), pole))
    offset = mean_offset([as_vec(point) for point in points], (0.0, 0.0, 1.0))
    off = angle_about((0.0, 0.0, 1.0), (pole[0] / 2.0, pole[1] / 2.0, 0.0), offset)
    assert abs(off) <= math.radians(0.1)  # asked for: 10 degrees
    assert (points[-1] - Vector((0.0, 0.0, 2.2))).length <= FLOAT_NOISE * 3.0
    assert_lengths_kept(chain, points)


def test_lb80_pole_on_the_line_is_as_without() -> None:
    chain = bent(6, 0.5, math.radians(8.0))
    on_line = solve(chain, (0.0, 0.0, 2.2), (0.0, 0.0, 1.5))
    assert on_line.deltas == solve(chain, (0.0, 0.0, 2.2)).deltas
    assert "line" in on_line.reason


def test_side_does_not_flip_where_fk_bends_through_straight() -> None:
    before = None
    for n in range(-40, 41):
        chain = replace(bent(6, 0.5, math.radians(0.05 * n)), bend_axis=Vector((1.0, 0.0, 0.0)))
        side = Vector(fk_bend(chain, read(chain)).side)
        assert before is None or side.dot(before) > 0.999
        before = side


@pytest.mark.parametrize("count", [6, 10, 30])
def test_neighbours_of_coiled_and_wavy_chains_are_neighbours(count: int) -> None:
    """Bends of about 30 degrees in any direction: for some of these, straightening brings the end nearer at first."""
    source = random.Random(2)
    for _ in range(40):
        chain = random_chain(count, source, 0.5)
        target = chain.end + random_vector(source).normalized() * 1e-4 * total(chain)
        assert max(angle(delta) for delta in solve(chain, target).deltas) < 0.01  # seen: 2.5e-3; elsewhere: up to pi


def test_noise_of_a_straight_chain_does_not_decide() -> None:
    """Float32 joints of a straight chain lie 1e-7 beside the line in any direction."""
    source = random.Random(3)
    exact = posed(straight(6, 0.5), solve(straight(6, 0.5), (0.3, 0.2, 2.0)))
    for _ in range(20):
        chain = chain_through([Vector((0.0, 0.0, 0.5 * n)) + random_vector(source) * 1e-7 for n in range(7)])
        for a, b in zip(exact, posed(chain, solve(chain, (0.3, 0.2, 2.0))), strict=True):
            assert (a - b).length < 1e-5


# Warm start


def test_warm_start_begins_from_the_pose_before() -> None:
    chain = straight(6, 0.5)
    there = solve(chain, (0.5, 0.0, 1.5), (0.0, -3.0, 0.0))
    again = solve(chain, (0.5, 0.0, 1.5), (0.0, -3.0, 0.0), start=there.deltas)
    for a, b in zip(there.deltas, again.deltas, strict=True):
        assert angle(a, b) < 1e-5
    on = solve(chain, (0.51, 0.0, 1.5), (0.0, -3.0, 0.0), start=there.deltas)
    assert on.status == Status.REACHED
    assert max(angle(a, b) for a, b in zip(there.deltas, on.deltas, strict=True)) < 0.05


def test_warm_start_of_another_chain_is_refused() -> None:
    solution = solve(straight(3), (0.5, 0.0, 1.5), start=(Quaternion(),) * 2)
    assert solution.status == Status.INVALID
    assert "number of bones" in solution.reason


# Degenerate input

SIZES = st.sampled_from([0.0, 1e-5, 0.3, 1.0, 1e5])
TARGETS = st.sampled_from(["joint", "root", "behind", "far", "end", "anywhere"])


@given(st.lists(SIZES, min_size=1, max_size=8), TARGETS, st.booleans(), st.integers(0, 10**6))
@settings(max_examples=200, deadline=None)
def test_degenerate_input_gives_unit_rotations(sizes: list[float], where: str, has_pole: bool, seed: int) -> None:
    source = random.Random(seed)
    points = [Vector()]
    for size in sizes:
        points.append(points[-1] + random_vector(source).normalized() * size)
    target = {
        "joint": points[len(points) // 2],
        "root": points[0],
        "behind": points[0] - (points[-1] - points[0]) * 0.5,
        "far": random_vector(source).normalized() * 1e6,
        "end": points[-1],
        "anywhere": random_vector(source) * sum(sizes),
    }[where]
    chain = chain_through(points)
    pole = points[source.randrange(len(points))] if has_pole else None
    solution = solve(chain, target, pole)
    assert all(math.isfinite(part) for delta in solution.deltas for part in delta)
    assert all(delta.magnitude == pytest.approx(1.0, abs=1e-6) for delta in solution.deltas)
    assert math.isfinite(solution.error)
    assert solve(chain, target, pole) == solution
    assert (solution.status == Status.INVALID) == (sum(sizes) == 0.0)
    if solution.status == Status.REACHED:
        # float32 quaternions, and heads up to eight times 1e5 away
        assert (tip(chain, solution) - target).length <= 2e-5 * total(chain)


def test_not_a_number_is_refused() -> None:
    chain = straight(3)
    for solution in (solve(chain, (math.nan, 0.0, 0.0)), solve(chain, (1.0, 0.0, 0.0), (math.inf, 0.0, 0.0))):
        assert solution.status == Status.INVALID
        assert solution.reason
        assert all(angle(delta) == 0.0 for delta in solution.deltas)


def test_arguments_are_not_changed() -> None:
    chain = bent(4, 0.5, 0.2)
    before = [tuple(head) for head in heads(chain)], [tuple(joint.fk) for joint in chain.joints]
    solve(chain, (1.0, 0.2, 0.3), (0.0, 1.0, 0.0))
    assert before == ([tuple(head) for head in heads(chain)], [tuple(joint.fk) for joint in chain.joints])


def test_turned_world_gives_the_turned_pose() -> None:
    """No axis is special where the hinge is stored."""
    chain = replace(bent(5, 0.4, 0.3), bend_axis=Vector((1.0, 0.0, 0.0)))
    turn = Quaternion((0.2, 0.5, 0.8), 2.0).normalized()
    other = Chain(
        tuple(replace(j, head=turn @ j.head, fk=turn @ j.fk, frame=turn @ j.frame) for j in chain.joints),
        turn @ chain.end,
        chain.bend_axis,
    )
    target, pole = Vector((0.4, -0.8, 0.7)), Vector((1.0, 2.0, -1.0))
    for a, b in zip(solve(chain, target, pole).deltas, solve(other, turn @ target, turn @ pole).deltas, strict=True):
        assert angle_between(as_quat(turn @ a @ turn.inverted()), as_quat(b)) < 1e-5
