"""Two bones inside joint limits: target first, then pole; against scenarios and brute force."""

from __future__ import annotations

import importlib
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.solvers import joint_limits, two_bone, two_bone_limits
from limb_ik.solvers.bend_plane import Turns
from limb_ik.solvers.chain import FREE_JOINT, Chain, Goal, Joint, JointKind, JointLimits, Solution, Status
from limb_ik.solvers.limited_pose import LimbJoints
from limb_ik.solvers.rotations import rotate
from mathutils import Quaternion, Vector

from chain_rows import ball, hinge

ALONG_Z = Quaternion((math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0))
"""A bone along +Z with roll 0: local axes X=(1,0,0), Y=(0,0,1), Z=(0,-1,0)."""
REACHED = 1e-5
"""Part of the length: the tolerance of two-bone tips."""
WITHIN = math.radians(0.001)
"""Limits are met to float32; scenarios ask for 0.1 degrees."""
FRONT = Vector((0.0, 3.0, 0.0))


def deg(angle: float) -> float:
    return math.radians(angle)


KNEE = hinge(0, 150)
LB61 = ball((-40, 40), (-30, 30), (-5, 5))
LB65 = ball((-10, 60), (-30, 5), (-15, 15))


def limb(
    root: JointLimits = FREE_JOINT,
    mid: JointLimits = FREE_JOINT,
    upper: Quaternion | None = None,
    lower: Quaternion | None = None,
    lengths: tuple[float, float] = (1.0, 1.0),
    follows: bool = True,
) -> Chain:
    """L2S, its bones turned by local rotations."""
    first = ALONG_Z @ (upper or Quaternion())
    second = first @ (lower or Quaternion())
    elbow = first @ Vector((0.0, lengths[0], 0.0))
    end = elbow + second @ Vector((0.0, lengths[1], 0.0))
    joints = (
        Joint(Vector(), first, ALONG_Z, root),
        Joint(elbow, second, first.copy() if follows else ALONG_Z, mid, follows_parent=follows),
    )
    return Chain(joints, end, Vector((1.0, 0.0, 0.0)))


def bent(angle: float, root: JointLimits = FREE_JOINT, mid: JointLimits = FREE_JOINT) -> Chain:
    """L2S, its knee bent about local X, the end kept near the Z axis."""
    return limb(root, mid, Quaternion((1, 0, 0), -0.5 * deg(angle)), Quaternion((1, 0, 0), deg(angle)))


class Measured:
    """A solution's angles and end, by forward kinematics."""

    def __init__(self, chain: Chain, solution: Solution) -> None:
        joints = LimbJoints.of(chain)
        first, second = (tuple(delta) for delta in solution.deltas)
        pose = joints.pose_of(Turns(first, second))
        self.root = joint_limits.measure(chain.joints[0].limits, pose.root)
        self.mid = joint_limits.measure(chain.joints[1].limits, pose.mid)
        limits = [joint.limits for joint in chain.joints]
        self.over = max(joint_limits.excess(limits[0], pose.root), joint_limits.excess(limits[1], pose.mid))
        self.has_twist = min(rotate(local, (0.0, 1.0, 0.0))[1] for local in pose) > -0.9999
        self.end = Vector(joints.end_of(pose))
        upper = solution.deltas[0] @ (chain.joints[1].head - chain.joints[0].head)
        self.elbow = upper - upper.project(self.end) if self.end.length > 1e-6 else upper


def solved(chain: Chain, target: Vector, pole: Vector | None = None) -> tuple[Solution, Measured]:
    solution = two_bone_limits.solve(chain, Goal(target, pole))
    measured = Measured(chain, solution)
    assert (measured.end - target).length == pytest.approx(solution.error, abs=2e-6)  # float32 deltas
    return solution, measured


def turned(first: Solution, second: Solution) -> float:
    """The largest turn between two solutions."""
    pairs = zip(first.deltas, second.deltas, strict=True)
    return max(4.0 * math.asin(min(1.0, 0.5 * min((a - b).magnitude, (a + b).magnitude))) for a, b in pairs)


def legal_local(rng: random.Random, limits: JointLimits) -> Quaternion:
    if limits.kind == JointKind.HINGE:
        return Quaternion(limits.hinge_axis, rng.uniform(limits.min_angle, limits.max_angle))
    x, z = rng.uniform(limits.swing_x_min, limits.swing_x_max), rng.uniform(limits.swing_z_min, limits.swing_z_max)
    direction = Vector((-math.tan(z), 1.0, math.tan(x)))
    twist = Quaternion((0, 1, 0), rng.uniform(limits.twist_min, limits.twist_max))
    return Vector((0, 1, 0)).rotation_difference(direction) @ twist


def legal_target(rng: random.Random, root: JointLimits, mid: JointLimits) -> Vector:
    return limb(root, mid, legal_local(rng, root), legal_local(rng, mid)).end


# scenarios


@pytest.mark.parametrize("start", [0.0, 60.0, 150.0, -60.0])
def test_lb16_a_legal_pose_is_found_from_any_start(start: float) -> None:
    chain = limb(mid=KNEE, lower=Quaternion((1, 0, 0), deg(start)))
    wanted = limb(upper=Quaternion((1, 0, 0), deg(20)), lower=Quaternion((1, 0, 0), deg(40))).end
    solution, got = solved(chain, wanted)
    assert solution.status == Status.REACHED
    assert math.degrees(got.mid.hinge) == pytest.approx(40.0, abs=0.01)
    assert got.mid.off_axis < WITHIN


def test_lb61_pole_swept_around_a_limited_root() -> None:
    chain = limb(LB61, KNEE, Quaternion((1, 0, 0), deg(-36.87)), Quaternion((1, 0, 0), deg(73.74)))  # L2B
    met = 0
    for angle in range(0, 360, 5):
        pole = Vector((3.0 * math.sin(deg(angle)), 3.0 * math.cos(deg(angle)), 0.8))
        solution, got = solved(chain, chain.end, pole)
        assert solution.status == Status.REACHED
        assert got.over < WITHIN
        off = got.elbow.angle(pole - pole.project(chain.end))
        free = Measured(chain, two_bone.solve(chain, Goal(chain.end, pole)))
        if free.over < WITHIN:  # limits allow the pole
            met += 1
            assert math.degrees(off) < 0.5
            assert solution.reason == ""
        if math.degrees(off) > 0.5:
            assert solution.reason.startswith("pole not met: root joint at its limit of ")
    assert met >= 1


def test_lb61_targets_out_of_the_cone() -> None:
    chain = limb(LB61, KNEE, Quaternion((1, 0, 0), deg(-36.87)), Quaternion((1, 0, 0), deg(73.74)))
    for x in (-1.5, 0.0, 1.5):
        for y in (-1.5, 1.5):
            solution, got = solved(chain, Vector((x, y, -0.5)), FRONT)
            assert solution.status == Status.LIMITED
            assert "at its limit of" in solution.reason
            assert got.over < WITHIN


@pytest.mark.parametrize(
    ("low", "high", "knee", "reach"),
    [(20, 150, 20.0, 1.969616), (0.5, 180, 0.5, 1.999981), (-150, -20, -20.0, 1.969616)],
)
@pytest.mark.parametrize("z", [2.0, 2.5])
@pytest.mark.parametrize("pole", [None, FRONT, -FRONT])
def test_lb62_a_knee_that_is_never_straight(
    low: float, high: float, knee: float, reach: float, z: float, pole: Vector | None
) -> None:
    solution, got = solved(limb(mid=hinge(low, high)), Vector((0.0, 0.0, z)), pole)
    assert math.degrees(got.mid.hinge) == pytest.approx(knee, abs=0.05)
    assert got.end.length == pytest.approx(reach, abs=1e-6)
    assert got.end.angle(Vector((0.0, 0.0, 1.0))) < 1e-3
    assert solution.error == pytest.approx(z - reach, abs=1e-6)
    if abs(knee) == 20.0:
        assert solution.status == Status.LIMITED
        assert solution.reason == f"mid joint at its limit of {knee:g}°"


@pytest.mark.parametrize(("low", "high"), [(-225, -135), (170, 190), (45, 45)])
@pytest.mark.parametrize("angle", [-200, 180, 0, 45])
def test_lb63_ranges_across_180_degrees(low: float, high: float, angle: float) -> None:
    chain = limb(mid=hinge(low, high), lower=Quaternion((1, 0, 0), deg(angle)))
    _, got = solved(chain, chain.end)
    assert low - 0.1 <= math.degrees(got.mid.hinge) <= high + 0.1
    assert got.mid.off_axis < WITHIN


def test_lb63_minimum_above_maximum_is_refused() -> None:
    solution = two_bone_limits.solve(limb(mid=hinge(30, -30)), Goal(Vector((0.0, 0.3, 1.2))))
    assert solution.status == Status.INVALID
    assert solution.reason == "mid joint: minimum angle of 30° is above its maximum of -30°"
    assert solution.deltas == (Quaternion(), Quaternion())


@pytest.mark.parametrize("mid", [KNEE, LB65, FREE_JOINT])
def test_lb65_every_legal_target_is_reached(mid: JointLimits) -> None:
    rng = random.Random(1)
    chain = limb(LB65, mid)
    for _ in range(300):
        target = legal_target(rng, LB65, mid if mid.kind != JointKind.FREE else LB65)
        pole = Vector((rng.gauss(0, 2), rng.gauss(0, 2), rng.gauss(0, 2)))
        solution, got = solved(chain, target, pole)
        assert solution.status == Status.REACHED
        assert got.over < WITHIN


@pytest.mark.parametrize("follows", [True, False])
def test_lb65_ranges_hold_for_any_target(follows: bool) -> None:
    rng = random.Random(2)
    chain = limb(LB65, hinge(10, 120), follows=follows)
    for _ in range(100):
        target = Vector((rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1)))
        _, got = solved(chain, target, FRONT)
        assert got.over < WITHIN


@pytest.mark.parametrize(
    ("chain", "target"),
    [
        (bent(60, mid=hinge(20, 150)), Vector((0.3, 0.4, 2.4))),
        (bent(60, LB65, hinge(20, 150)), Vector((1.2, -0.9, -0.4))),
        (bent(60, LB65, LB65), Vector((1.2, -0.9, -0.4))),
        (bent(60, hinge(-10, 40), KNEE), Vector((0.9, 0.9, 0.4))),
    ],
)
def test_lb66_no_trembling_at_a_stop(chain: Chain, target: Vector) -> None:
    first, _ = solved(chain, target, FRONT)
    assert first.status == Status.LIMITED
    rng = random.Random(3)
    for _ in range(10):
        assert two_bone_limits.solve(chain, Goal(target, FRONT)) == first
    for _ in range(30):
        moved = target + Vector((rng.choice((-1e-5, 0, 1e-5)), rng.choice((-1e-5, 1e-5)), rng.choice((-1e-5, 1e-5))))
        assert turned(two_bone_limits.solve(chain, Goal(moved, FRONT)), first) < 1e-3


# against brute force


@pytest.fixture(scope="module")
def brute_force() -> Iterator[ModuleType]:
    folder = str(Path(__file__).resolve().parents[2] / "bench")
    sys.path.insert(0, folder)
    yield importlib.import_module("limits_brute_force")
    sys.path.remove(folder)


def test_brute_force_finds_nothing_better(brute_force: ModuleType) -> None:
    tallies = brute_force.run(cases=200, seed=5)
    for name, tally in tallies.items():
        assert tally.disagreements == 0, (name, tally.faults)
    assert sum(tally.compared_swivels for tally in tallies.values()) > 50
    assert sum(tally.cases - tally.reached for tally in tallies.values()) > 50


def test_no_random_legal_pose_is_nearer_than_the_answer() -> None:
    rng = random.Random(7)
    for root in (LB61, LB65, ball((-60, 80), (-50, 20), (-90, -30))):
        for _ in range(6):
            target = Vector((rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(-1, 1)))
            chain = limb(root, KNEE)
            solution, _ = solved(chain, target, FRONT)
            nearest = min((legal_target(rng, root, KNEE) - target).length for _ in range(500))
            assert solution.error < nearest + 1e-5


# continuity


def walk(chain: Chain, start: Vector, end: Vector, steps: int, pole: Vector) -> list[Solution]:
    return [two_bone_limits.solve(chain, Goal(start.lerp(end, n / steps), pole)) for n in range(steps + 1)]


@pytest.mark.parametrize("root", [LB61, LB65, ball((-30, 80), (-40, 40), (-40, 40))])
def test_the_miss_grows_from_zero_as_the_target_leaves(root: JointLimits) -> None:
    rng = random.Random(8)
    for _ in range(3):
        start, end = legal_target(rng, root, KNEE), Vector((rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1)))
        row = walk(limb(root, KNEE), start, end, 60, FRONT)
        step = (end - start).length / 60
        assert row[0].error < 2.0 * REACHED
        for before, after in pairwise(row):
            assert abs(after.error - before.error) <= step + 2e-6  # the nearest pose's miss; float32 targets


@pytest.mark.parametrize(
    ("root", "start", "end"),
    [
        (FREE_JOINT, (0.0, -0.4, 1.5), (0.0, -0.5, 2.6)),  # knee at its least bend
        (FREE_JOINT, (0.0, -0.5, 1.0), (0.0, -0.2, 0.4)),  # at its most
        (LB61, (0.0, -0.3, 1.5), (1.5, -0.3, 1.2)),  # swing Z
        (LB61, (0.0, -0.3, 1.5), (0.2, 1.2, 1.2)),  # swing X
        (LB65, (0.05, -0.9, 1.4), (-0.9, -0.9, 1.0)),  # unequal
    ],
)
def test_joints_move_no_more_than_five_times_as_fast_as_the_target(
    root: JointLimits, start: tuple[float, float, float], end: tuple[float, float, float]
) -> None:
    steps = 200
    row = walk(bent(60, root, hinge(20, 130)), Vector(start), Vector(end), steps, FRONT)
    statuses = {solution.status for solution in row}
    assert Status.LIMITED in statuses
    assert Status.REACHED in statuses
    step = (Vector(end) - Vector(start)).length / steps
    fast = [n for n, (a, b) in enumerate(pairwise(row)) if turned(a, b) > 5.0 * step + 1e-5]
    assert len(fast) <= 1  # the one switch


@pytest.mark.parametrize(("root", "switches"), [(FREE_JOINT, 0), (LB61, 1), (ball((-80, 80), (-80, 80), (-60, 60)), 1)])
def test_a_pole_carried_around_switches_once_at_most(root: JointLimits, switches: int) -> None:
    chain = bent(60, root, KNEE)
    poles = [Vector((3.0 * math.sin(deg(angle)), 3.0 * math.cos(deg(angle)), 0.0)) for angle in range(361)]
    row = [two_bone_limits.solve(chain, Goal(Vector((0.0, 0.0, 1.6)), pole)) for pole in poles]
    assert all(solution.status == Status.REACHED for solution in row)
    assert sum(turned(a, b) > 5.0 * deg(1) for a, b in pairwise(row)) == switches


@pytest.mark.parametrize("knee", [0.0, 1e-4, -1e-4, 0.5, -0.5, -2.0])
@pytest.mark.parametrize("mid", [KNEE, hinge(-10, 150)])
def test_near_full_extension_limits_add_no_turn(knee: float, mid: JointLimits) -> None:
    chain, free = bent(knee, mid=mid), bent(knee)
    for n in range(100):
        goal = Goal(Vector((0.0, 0.0, 2.05 - 0.002 * n)), FRONT)
        limited = two_bone_limits.solve(chain, goal)
        if abs(knee) < 0.1:  # straight FK: nothing but the pole says where to bend
            assert turned(limited, two_bone.solve(free, goal)) < 1e-5
        assert Measured(chain, limited).over < WITHIN
        assert abs(limited.error - two_bone.solve(free, goal).error) < 2.0 * REACHED


def test_hyperextension_that_limits_allow_ends_in_one_switch() -> None:
    """A hinge can't pass from -7° to 7° on a target that only comes nearer; it does so once, not through a roll."""
    chain = bent(-5.0, mid=hinge(-10, 150))
    row = [two_bone_limits.solve(chain, Goal(Vector((0.0, 0.0, chain.end.z - 0.001 * n)), FRONT)) for n in range(100)]
    knees = [math.degrees(Measured(chain, solution).mid.hinge) for solution in row]
    jumps = [n for n, (a, b) in enumerate(pairwise(knees)) if abs(b - a) > 5.0]
    assert len(jumps) == 1
    assert abs(knees[jumps[0] + 1] - knees[jumps[0]]) < 20.0
    assert turned(row[jumps[0]], row[jumps[0] + 1]) < deg(12)


# the unlimited answer where no limit binds


@settings(max_examples=60, deadline=None)
@given(st.floats(0.0, 140.0), st.floats(-30.0, 50.0), st.floats(-25.0, 25.0))
def test_a_legal_fk_pose_comes_back_unchanged(knee: float, x: float, z: float) -> None:
    root, mid = ball((-40, 60), (-40, 40), (-60, 60)), hinge(-10, 150)
    upper = Quaternion((1, 0, 0), deg(x)) @ Quaternion((0, 0, 1), deg(z))
    chain = limb(root, mid, upper, Quaternion((1, 0, 0), deg(knee)))
    pole = two_bone.pole_direction(chain) * 3.0
    solution = two_bone_limits.solve(chain, Goal(chain.end.copy(), pole))
    assert turned(solution, Solution((Quaternion(), Quaternion()), Status.REACHED)) < 2e-6


@pytest.mark.parametrize("knee", [-1e-4, -0.5, -5.0, -9.9])
def test_a_legal_hyperextended_pose_comes_back_unchanged(knee: float) -> None:
    chain = bent(knee, mid=hinge(-10, 150))
    solution = two_bone_limits.solve(chain, Goal(chain.end.copy(), two_bone.pole_direction(chain) * 3.0))
    assert turned(solution, Solution((Quaternion(), Quaternion()), Status.REACHED)) < 2e-6


def test_the_same_as_unlimited_where_nothing_binds() -> None:
    rng = random.Random(9)
    chain, wide = bent(60), bent(60, ball((-89, 89), (-89, 89), (-180, 180)), hinge(0, 175))
    for _ in range(50):
        goal = Goal(Vector((0.3 * rng.gauss(0, 1), 0.3 * rng.gauss(0, 1), 1.4)), FRONT)
        free = two_bone.solve(chain, goal)
        if Measured(wide, free).over < 1e-7:
            assert two_bone_limits.solve(wide, goal) == free
        assert two_bone_limits.solve(chain, goal) == free
        assert two_bone_limits.solve(wide, replace(goal, use_limits=False)) == free


def test_too_far_stays_too_far_where_limits_do_not_matter() -> None:
    solution, _ = solved(bent(60, mid=hinge(0, 150)), Vector((0.0, 0.0, 3.0)), FRONT)
    assert solution.status == Status.TOO_FAR
    assert solution.reason == "target out of reach"


def test_off_axis_fk_of_the_knee_is_taken_out() -> None:
    sideways = Quaternion((0, 0, 1), deg(8)) @ Quaternion((1, 0, 0), deg(50)) @ Quaternion((0, 1, 0), deg(20))
    chain = limb(mid=KNEE, lower=sideways)
    for target in (chain.end, Vector((0.4, -0.6, 1.2))):
        solution, got = solved(chain, target, FRONT)
        assert solution.status == Status.REACHED
        assert got.mid.off_axis < WITHIN


@pytest.mark.parametrize("axis", [(1.0, 0.3, 0.0), (0.7, 0.0, 0.7), (1.0, -0.4, 0.5)])
def test_a_hinge_askew_reaches_every_distance_of_its_interval(axis: tuple[float, float, float]) -> None:
    mid = hinge(10, 140, axis)
    ends = [limb(mid=mid, lower=Quaternion(axis, deg(angle))).end.length for angle in range(10, 141)]
    for part in (0.0, 0.3, 0.7, 1.0):
        distance = min(ends) + part * (max(ends) - min(ends))
        solution, got = solved(limb(mid=mid), Vector((0.3, -0.5, 0.9)).normalized() * distance, FRONT)
        assert solution.error < 2.0 * REACHED + 1e-4 * (part in (0.0, 1.0))  # ends are sampled in whole degrees
        assert got.over < WITHIN
        assert math.degrees(got.elbow.angle(FRONT - FRONT.project(got.end))) < 0.5


# degenerate input


sizes = st.one_of(st.sampled_from([0.0, 1e-30, 1e-9]), st.floats(0.01, 10.0))
coordinates = st.one_of(st.sampled_from([0.0, 1e-30, 1e-9, 1.0, -1.0, 1e6]), st.floats(-3.0, 3.0))
points = st.tuples(coordinates, coordinates, coordinates)
all_limits = st.sampled_from(
    [FREE_JOINT, KNEE, hinge(45, 45), hinge(170, 190, (0.0, 1.0, 0.0)), LB61, LB65, ball((0, 0), (0, 0), (0, 0)),
     ball((95, 120), (100, 170), (-300, -200)), ball((-180, 180), (-180, 180), (10, 20)), JointLimits(JointKind.BALL)]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(all_limits, all_limits, sizes, sizes, points, st.one_of(st.none(), points), st.booleans(), points)
def test_any_input_gives_finite_unit_repeatable_turns(
    root: JointLimits, mid: JointLimits, upper: float, lower: float, target: tuple[float, float, float],
    pole: tuple[float, float, float] | None, follows: bool, turn: tuple[float, float, float],
) -> None:  # fmt: skip
    local = Quaternion((1.0, *turn)).normalized()
    chain = limb(root, mid, local, local, (upper, lower), follows)
    goal = Goal(Vector(target), None if pole is None else Vector(pole))
    solution = two_bone_limits.solve(chain, goal)
    assert math.isfinite(solution.error)
    for delta in solution.deltas:
        assert delta.magnitude == pytest.approx(1.0, abs=1e-6)
    measured = Measured(chain, solution)
    assert measured.over < 1e-4 or not measured.has_twist  # at a swing of 180 degrees twist is float32 noise
    assert two_bone_limits.solve(chain, goal) == solution


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_positions_that_are_no_numbers_are_refused(value: float) -> None:
    solution = two_bone_limits.solve(bent(60, LB61, KNEE), Goal(Vector((value, 0.0, 1.0))))
    assert solution.status == Status.INVALID


# the miss where a knee comes to a stop inside of what it can reach


def random_limb(rng: random.Random) -> Chain:
    """A knee that bends both ways under a root with unequal limits, in a legal pose."""
    bound = [rng.uniform(10.0, 70.0) for _ in range(4)]
    twist = rng.uniform(-60.0, 20.0)
    root = ball((-bound[0], bound[1]), (-bound[2], bound[3]), (twist, twist + rng.uniform(20.0, 80.0)))
    mid = hinge(rng.uniform(-20.0, 20.0), rng.uniform(60.0, 120.0))
    lengths = rng.uniform(0.4, 1.0), rng.uniform(0.4, 1.0)
    return limb(root, mid, legal_local(rng, root), legal_local(rng, mid), lengths)


@pytest.mark.parametrize("seed", [57, 132, 0, 1, 2, 3])
def test_the_miss_never_jumps_along_a_path(seed: int) -> None:
    """The least miss grows no faster than the target moves; in the first two it jumped by 1e-3 and 5e-3 at a stop."""
    rng = random.Random(seed)
    chain, pole = random_limb(rng), Vector((rng.gauss(0, 2), rng.gauss(0, 2), rng.gauss(0, 2)))
    end = Vector((rng.gauss(0, 0.7), rng.gauss(0, 0.7), rng.gauss(0, 0.7)))
    row = walk(chain, chain.end, end, 60, pole)
    step = (end - chain.end).length / 60
    assert max(abs(after.error - before.error) for before, after in pairwise(row)) <= step + 2e-6
