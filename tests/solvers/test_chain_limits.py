"""FABRIK with joint limits: scenarios LB-14 (hinges), 16, 65, 66, and the design's share of legal targets."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import pytest
from limb_ik.solvers import bounded_least_squares, chain_limits, fabrik
from limb_ik.solvers.chain import FREE_JOINT, Chain, Goal, JointKind, JointLimits, Solution, Status
from limb_ik.solvers.chain_geometry import read
from limb_ik.solvers.joint_limits import excess, measure
from limb_ik.solvers.rotations import as_quat, from_axis_angle, slerp
from limb_ik.solvers.vectors import UNIT_X, as_vec
from mathutils import Vector

from chain_rows import (
    angle,
    ball,
    bent,
    hinge,
    legal_local,
    limited,
    posed,
    posed_by_locals,
    random_legal_poses,
    random_vector,
    straight,
    tip,
    total,
)

LEGAL = chain_limits.BROKEN + 1e-6
"""Radians: an unlimited answer within ``BROKEN`` of the limits stands; float32 deltas are off by 1e-6 more."""

UNEQUAL = ball((-10.0, 60.0), (-30.0, 5.0), (-15.0, 15.0))
CASES: dict[str, list[JointLimits]] = {
    "free root, hinges": [FREE_JOINT, hinge(0, 150), hinge(0, 150)],
    "LB-65": [UNEQUAL] * 3,
    "arm": [ball((-60, 60), (-60, 60), (-30, 30)), hinge(0, 150), hinge(-30, 60)],
    "hinges crosswise": [hinge(-90, 90, (0, 0, 1)), *(hinge(-60, 60, ((0, 0, 1), (1, 0, 0))[n % 2]) for n in range(5))],
    "tail of six": [ball((-30, 30), (-30, 30), (-20, 20))] * 6,
    "neck of ten": [ball((-20, 45), (-30, 30), (-20, 20))] * 10,
}


def solve(chain: Chain, target: object, **settings: object) -> Solution:
    return fabrik.solve(chain, Goal(Vector(target), **settings))


def broken(chain: Chain, solution: Solution) -> float:
    """How far the worst joint is outside its limits (rad)."""
    locals_rest = chain_limits.locals_of(chain, [as_quat(delta) for delta in solution.deltas])
    return max(excess(joint.limits, local) for joint, local in zip(chain.joints, locals_rest, strict=True))


def hinge_angles(chain: Chain, solution: Solution) -> list[float]:
    """Degrees."""
    locals_rest = chain_limits.locals_of(chain, [as_quat(delta) for delta in solution.deltas])
    pairs = zip(chain.joints, locals_rest, strict=True)
    return [math.degrees(measure(j.limits, q).hinge) for j, q in pairs if j.limits.kind == JointKind.HINGE]


@pytest.mark.parametrize("name", CASES)
def test_legal_targets_are_reached(name: str) -> None:
    """Design: 95 % in 10 iterations, 99 % in 40; from a legal pose to the end of another one."""
    rest = limited(straight(len(CASES[name])), CASES[name])
    count, missed = 40, {10: 0, 40: 0}
    ends = [pose.end for pose in random_legal_poses(rest, count, 1)]
    for chain, target in zip(random_legal_poses(rest, count, 2), ends, strict=True):
        for iterations in missed:
            solution = solve(chain, target, iterations=iterations, tolerance=1e-4 * total(chain))
            assert broken(chain, solution) <= LEGAL
            assert (tip(chain, solution) - target).length == pytest.approx(solution.error, abs=1e-5)
            missed[iterations] += solution.error > 1e-4 * total(chain)
    assert missed[10] <= 0.05 * count
    assert missed[40] <= 0.01 * count


def test_error_falls_and_every_iteration_is_legal() -> None:
    source = random.Random(4)
    for name, limits in CASES.items():
        rest = limited(straight(len(limits)), limits)
        for chain in random_legal_poses(rest, 5, 3):
            target = as_vec(random_vector(source).normalized() * source.uniform(0.0, 1.2) * total(rest))
            model = chain_limits.model_of(chain, read(chain), target)
            for start in chain_limits.starts(model, [legal_local(own, source) for own in limits]):
                poses = list(bounded_least_squares.steps(model, start, 12))
                assert all(after.error < before.error for before, after in pairwise(poses))
                for pose in poses:
                    worst = max(map(excess, limits, pose.locals_rest))
                    assert worst <= 1e-8, name  # doubles; clamping is good for 1e-9


def test_more_iterations_never_grow_the_error() -> None:
    source = random.Random(5)
    for limits in CASES.values():
        rest = limited(straight(len(limits)), limits)
        target = random_vector(source).normalized() * 0.7 * total(rest)
        errors = [solve(rest, target, iterations=n, tolerance=0.0).error for n in range(1, 14, 2)]
        for before, after in pairwise(errors):
            # a later start is taken where it is clearly nearer, the earlier where both arrive
            assert after <= before + chain_limits.CLEARLY_BETTER * total(rest)


def test_limits_that_bind_nothing_change_nothing() -> None:
    chain = bent(4, 0.5, 0.3)
    loose = limited(chain, [ball((-180, 180), (-180, 180), (-180, 180))] * 4)
    for target in ((0.5, 0.3, 0.9), (0.0, 0.4, -1.0), (9.0, 0.0, 0.0)):
        assert solve(loose, target) == solve(chain, target)


def test_switched_off_limits_change_nothing() -> None:
    chain = bent(3, 1.0, 0.3)
    tight = limited(chain, [hinge(0, 1)] * 3)
    assert solve(tight, (0.5, 0.3, 0.9), use_limits=False) == solve(chain, (0.5, 0.3, 0.9))


def test_illegal_fk_is_brought_inside() -> None:
    chain = posed_by_locals(limited(straight(3), [FREE_JOINT, hinge(0, 150), hinge(0, 150)]),
                            [from_axis_angle(UNIT_X, math.radians(x)) for x in (0.0, -40.0, 20.0)])  # fmt: skip
    solution = solve(chain, chain.end)
    assert all(-0.1 <= own <= 150.1 for own in hinge_angles(chain, solution))
    assert solution.status == Status.REACHED  # the free root can turn the chain over


def test_invalid_limits_are_named() -> None:
    solution = solve(limited(straight(2), [FREE_JOINT, hinge(30, -30)]), (0.5, 0.5, 0.5))
    assert solution.status == Status.INVALID
    assert "minimum" in solution.reason


@pytest.mark.parametrize("height", [1.8, 0.6, -1.8])
def test_lb14_straight_chain_with_hinges_bends(height: float) -> None:
    chain = limited(straight(3), [FREE_JOINT, hinge(0, 150), hinge(0, 150)])
    solution = solve(chain, (0.0, 0.0, height))
    assert (tip(chain, solution) - Vector((0.0, 0.0, height))).length <= 3e-3
    assert all(-0.1 <= own <= 150.1 for own in hinge_angles(chain, solution))
    for a, b in pairwise(posed(chain, solution)):
        assert (b - a).length == pytest.approx(1.0, abs=1e-6)
    assert solve(chain, (0.0, 0.0, height)) == solution


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (-20.0, 0.0, 0.0), (-20.0, -40.0, -60.0), (10.0, 150.0, 0.0)])
def test_lb16_legal_target_is_reached(start: tuple[float, float, float]) -> None:
    """From rest, mirrored poses, and bone 2 at its stop."""
    rest = limited(straight(3), [FREE_JOINT, hinge(0, 150), hinge(0, 150)])
    chain = posed_by_locals(rest, [from_axis_angle(UNIT_X, math.radians(own)) for own in start])
    solution = solve(chain, (0.0, -2.074071, 0.939693))
    assert solution.status == Status.REACHED
    assert (tip(chain, solution) - Vector((0.0, -2.074071, 0.939693))).length <= 3e-3
    assert all(-0.1 <= own <= 150.1 for own in hinge_angles(chain, solution))
    assert broken(chain, solution) <= math.radians(0.1)


def test_lb65_unequal_ranges_hold() -> None:
    """300 targets, seed 1: half from legal poses, which are reached, half anywhere within reach."""
    chain = limited(straight(3), [UNEQUAL] * 3)
    source = random.Random(1)
    reached = 0
    for pose in random_legal_poses(chain, 150, 1):
        legal = solve(chain, pose.end)
        reached += legal.error <= 1e-3 * 3.0
        assert broken(chain, legal) <= math.radians(0.5)
    for _ in range(20):  # these cost the full search; the rest is in bench/
        anywhere = solve(chain, random_vector(source).normalized() * source.uniform(0.0, 3.0))
        assert broken(chain, anywhere) <= math.radians(0.5)
    assert reached >= 0.95 * 150


def lb66_chain() -> Chain:
    return posed_by_locals(limited(straight(3), [FREE_JOINT, hinge(0, 60), hinge(0, 60)]),
                           [from_axis_angle(UNIT_X, math.radians(own)) for own in (0.0, 60.0, 30.0)])  # fmt: skip


@pytest.mark.parametrize("target", [(0.0, -0.5, 0.4), (0.3, 0.2, 1.0), (0.0, 0.0, 0.2)])
def test_lb66_nothing_trembles_at_a_stop(target: tuple[float, float, float]) -> None:
    chain = lb66_chain()
    source = random.Random(6)
    still = solve(chain, target)
    assert still.status == Status.LIMITED
    assert "limit of 60°" in still.reason
    assert solve(chain, target) == still
    for _ in range(10):
        jittered = solve(chain, Vector(target) + random_vector(source).normalized() * 1e-5)
        for a, b in zip(still.deltas, jittered.deltas, strict=True):
            assert angle(a, b) <= 1e-3


@pytest.mark.parametrize("name", ["free root, hinges", "LB-65", "arm"])
def test_a_path_of_legal_targets_gives_a_path_of_poses(name: str) -> None:
    rest = limited(straight(3), CASES[name])
    source = random.Random(4)
    first, last = ([legal_local(own, source) for own in CASES[name]] for _ in range(2))
    between = ([slerp(a, b, n / 60.0) for a, b in zip(first, last, strict=True)] for n in range(61))
    targets = [posed_by_locals(rest, pose).end for pose in between]
    solutions = [solve(rest, target) for target in targets]
    for (a, b), (before, after) in zip(pairwise(targets), pairwise(solutions), strict=True):
        turn = max(angle(p, q) for p, q in zip(before.deltas, after.deltas, strict=True))
        assert turn <= 5.0 * (b - a).length + 1e-3


@pytest.mark.parametrize("name", ["LB-65", "arm", "tail of six", "hinges crosswise"])
def test_out_of_legal_reach_a_small_move_of_the_target_is_a_small_move_of_the_pose(name: str) -> None:
    """1e-5 of the length: no joint turns by 1e-3 rad (3 of 40 did where steps ended before the nearest pose)."""
    chain = limited(straight(len(CASES[name])), CASES[name])
    source = random.Random(3)
    checked = 0
    for _ in range(12):
        target = random_vector(source).normalized() * source.uniform(0.0, 1.0) * total(chain)
        beside = target + random_vector(source).normalized() * 1e-5 * total(chain)
        before = solve(chain, target)
        if before.status == Status.LIMITED:
            checked += 1
            after = solve(chain, beside)
            assert max(angle(a, b) for a, b in zip(before.deltas, after.deltas, strict=True)) <= 1e-3
    assert checked >= 4


def offset_of(chain: Chain, solution: Solution) -> Vector:
    """Where the inner joints stand off the line from root to end, on the whole."""
    points = posed(chain, solution)
    line = (points[-1] - points[0]).normalized()
    offset = sum((point - points[0] for point in points[1:-1]), Vector())
    return offset - line * offset.dot(line)


@pytest.mark.parametrize(("root", "share"), [(FREE_JOINT, 1.0), (ball((-80, 80), (-80, 80), (-80, 80)), 0.3)])
def test_the_pole_turns_the_chain_as_far_as_the_root_may(root: JointLimits, share: float) -> None:
    """Hinges crosswise break the unlimited pose; its side is taken all the same where the root allows it."""
    rest = limited(straight(6), [root, *CASES["hinges crosswise"][1:]])
    ends = [pose.end for pose in random_legal_poses(rest, 4, 2)]
    met = count = 0
    for chain, target in zip(random_legal_poses(rest, 4, 1), ends, strict=True):
        for n in range(8):
            way = math.radians(45.0 * n)
            pole = target.lerp(chain.joints[0].head, 0.5) + Vector((4.0 * math.sin(way), 4.0 * math.cos(way), 1.0))
            solution, free = (solve(chain, target, pole=pole, use_limits=own) for own in (True, False))
            assert solution.error <= 1e-3 * total(chain)
            assert broken(chain, solution) <= LEGAL
            count += 1
            met += offset_of(chain, solution).angle(offset_of(chain, free)) <= math.radians(2.0)
    assert met >= share * count


def test_too_far_with_limits_points_at_the_target() -> None:
    """As LB-62: a knee that is never quite straight leaves the miss it has to."""
    chain = limited(straight(2), [FREE_JOINT, hinge(20, 150)])
    for height, miss in ((2.0, 0.030384), (2.5, 0.530384)):
        solution = solve(chain, (0.0, 0.0, height))
        assert solution.status == Status.LIMITED
        assert solution.error == pytest.approx(miss, abs=1e-5)
        assert hinge_angles(chain, solution)[0] == pytest.approx(20.0, abs=0.05)
        assert tip(chain, solution).angle(Vector((0.0, 0.0, 1.0))) < 1e-3
        assert "20°" in solution.reason


def test_bones_that_dont_follow_their_parent_keep_their_limits() -> None:
    rest = limited(straight(4), [FREE_JOINT, hinge(-60, 60), hinge(0, 90), hinge(-30, 30)])
    chain = replace(rest, joints=tuple(replace(own, follows_parent=n != 2) for n, own in enumerate(rest.joints)))
    for target in ((0.0, -1.5, 2.0), (0.4, -1.0, 2.2), (0.0, -3.0, 1.0)):
        solution = solve(chain, target, iterations=40)
        assert broken(chain, solution) <= LEGAL
        assert (tip(chain, solution) - Vector(target)).length == pytest.approx(solution.error, abs=1e-5)
    assert solve(chain, (0.0, -1.5, 2.0)).status == Status.REACHED


def test_zero_bones_and_equal_bounds_stay_finite() -> None:
    chain = limited(straight(4, 0.5), [hinge(45, 45), ball((0, 0), (0, 0), (0, 0)), hinge(0, 0), hinge(0, 90)])
    for target in ((0.0, 0.0, 0.0), (0.0, -1.0, 1.0), (1e6, 0.0, 0.0), (0.0, 0.0, 0.5)):
        solution = solve(chain, target)
        assert all(math.isfinite(part) for delta in solution.deltas for part in delta)
        assert broken(chain, solution) <= LEGAL
        assert solve(chain, target) == solution
