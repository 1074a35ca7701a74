"""The two-bone solver, held against forward kinematics and the scenarios' own formula for the elbow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from limb_ik.solvers import two_bone
from limb_ik.solvers.bend_plane import fk_limb, rest_bend_axis
from limb_ik.solvers.chain import Chain, Goal, Joint, Solution, Status
from limb_ik.solvers.rotations import (
    IDENTITY,
    angle_between,
    as_quat,
    conjugate,
    from_axis_angle,
    multiply,
    normalized,
    rotate,
)
from limb_ik.solvers.vectors import Vec, add, as_vec, cross, dot, length, scaled, subtract, unit
from mathutils import Euler, Matrix, Quaternion, Vector

from hand_chains import (
    angle_of,
    bend_normal,
    bent_limb,
    lengths,
    limb,
    moved,
    off_line,
    orientations,
    posed,
    reference_elbow,
    rig_limb,
)

TIP = 1e-6
"""Part of the limb's length: the mission's bound; deltas are float32, 6e-8 per component."""
FK_BACK = 1e-6
"""rad: float32 deltas and targets; the same figure as "unchanged" in the scenarios."""
DEAD_ZONE = 2.2 * two_bone.SAME_DISTANCE
"""Part of the length: what counting distances as equal can cost, its smooth edge included."""

numbers = st.floats(-1.0, 1.0)
points = st.tuples(numbers, numbers, numbers)
directions = points.filter(lambda v: math.hypot(*v) > 1e-2).map(unit)
turns = st.tuples(*[st.floats(-math.pi, math.pi)] * 3)


def _solve(chain: Chain, target: Vec, pole: Vec | None = None, **options: float) -> Solution:
    return two_bone.solve(chain, Goal(Vector(target), None if pole is None else Vector(pole), **options))


def _delta_angle(solution: Solution, index: int = 0) -> float:
    return angle_between(normalized(as_quat(solution.deltas[index])), IDENTITY)


def _steps(chain: Chain, solutions: list[Solution]) -> Iterator[float]:
    """How far each bone turns from one solution to the next, in radians; all for the same chain."""
    posed_bones = [orientations(chain, solution) for solution in solutions]
    for before, after in pairwise(posed_bones):
        yield from (angle_between(a, b) for a, b in zip(before, after, strict=True))


@st.composite
def limbs(draw: st.DrawFn) -> Chain:
    """Any limb whose bones are at most ten times as long as each other; its hinge is that of its bend."""
    first, second = draw(directions), draw(directions)
    sizes = draw(st.floats(0.1, 1.0)), draw(st.floats(0.1, 1.0))
    root = draw(points)
    mid = add(root, scaled(first, sizes[0]))
    end = add(mid, scaled(second, sizes[1]))
    bend = cross(first, second)
    assume(length(bend) > 1e-2)
    chain = limb(root, mid, end, rolls=(draw(st.floats(-3, 3)), draw(st.floats(-3, 3))))
    hinge = rest_bend_axis(root, mid, end, normalized(as_quat(chain.joints[0].fk)))
    return Chain(chain.joints, chain.end, Vector(hinge), chain.rest_heads)


# --- reach --------------------------------------------------------------------------------------------------------


def test_base_check_of_the_scenarios() -> None:
    chain = rig_limb("L2S")
    solution = _solve(chain, (1.2, 0.0, 0.5), (0.0, -3.0, 0.0))
    elbow, end = posed(chain, solution)
    assert elbow == pytest.approx((0.6, -0.759934, 0.25), abs=2e-6)
    assert end == pytest.approx((1.2, 0.0, 0.5), abs=2e-6)
    assert (solution.status, solution.reason) == (Status.REACHED, "")
    assert solution.error < 1e-6


@given(limbs(), directions, st.floats(0.0, 1.0), points)
def test_reachable_targets_are_hit_with_the_elbow_on_the_pole_side(
    chain: Chain, direction: Vec, part: float, pole: Vec
) -> None:
    a, b = lengths(chain)
    root = as_vec(chain.joints[0].head)
    d = abs(a - b) + part * (a + b - abs(a - b))
    target = as_vec(Vector(add(root, scaled(direction, d))))
    to_target = length(subtract(target, root))
    assume(to_target > 2 * two_bone.ON_ROOT * (a + b))
    assume(abs(to_target - fk_limb(chain).distance) > 2 * two_bone.SAME_DISTANCE * (a + b))
    pole = as_vec(Vector(add(root, scaled(pole, 3.0))))
    assume(length(off_line(pole, root, target)) > two_bone.POLE_EXACT * (a + b))
    elbow, end = posed(chain, _solve(chain, target, pole))
    # float32 target beyond reach by its rounding: half a unit in the last place of 3
    rounding = max(0.0, to_target - (a + b), abs(a - b) - to_target)
    assert length(subtract(end, target)) <= TIP * (a + b) + rounding
    assert length(subtract(elbow, reference_elbow(chain, target, pole))) <= TIP * (a + b)


@given(limbs(), directions, st.floats(1.001, 1e4), st.one_of(st.none(), points))
def test_unreachable_targets_give_a_straight_limb(
    chain: Chain, direction: Vec, factor: float, pole: Vec | None
) -> None:
    a, b = lengths(chain)
    root = as_vec(chain.joints[0].head)
    target = as_vec(Vector(add(root, scaled(direction, factor * (a + b)))))
    solution = _solve(chain, target, pole)
    elbow, end = posed(chain, solution)
    line = unit(subtract(target, root))
    assert length(subtract(elbow, add(root, scaled(line, a)))) <= TIP * (a + b)
    assert length(subtract(end, add(root, scaled(line, a + b)))) <= TIP * (a + b)
    assert solution.status is Status.TOO_FAR
    assert solution.error == pytest.approx(length(subtract(end, target)), abs=TIP * factor * (a + b))


@given(st.floats(0.0, 150.0), st.floats(-3.0, 3.0))
def test_distances_as_good_as_fk_cost_no_more_than_the_dead_zone(bend: float, off: float) -> None:
    chain = bent_limb(math.radians(bend))
    end = as_vec(chain.end)
    target = scaled(end, 1.0 + off * two_bone.SAME_DISTANCE * 2.0 / length(end))
    _, reached = posed(chain, _solve(chain, target, (0.0, -3.0, 0.0)))
    beyond = max(0.0, length(target) - 2.0)
    assert length(subtract(reached, target)) <= (DEAD_ZONE + TIP) * 2.0 + beyond


def test_dead_zone_has_a_smooth_edge_and_grows_with_the_distance_from_the_origin() -> None:
    fk = fk_limb(bent_limb(1.0))
    goal, far = Goal(Vector()), Goal(Vector(), origin_distance=100.0)
    width = two_bone.SAME_DISTANCE * fk.length
    asked = [
        two_bone.asked_distance(fk, goal, fk.distance + 3.0 * width * step / 300) - fk.distance for step in range(301)
    ]
    assert asked[99] == 0.0
    assert asked[201] == pytest.approx(3.0 * width * 201 / 300, rel=1e-9)
    assert all(-1e-16 <= after - before < 0.03 * width for before, after in pairwise(asked))
    assert two_bone.asked_distance(fk, far, fk.distance + 4e-5) == fk.distance


# --- FK comes back ------------------------------------------------------------------------------------------------


def _matched(chain: Chain, pole_distance: float = 1.0) -> Goal:
    """Target and pole where match puts them."""
    a, b = lengths(chain)
    root, end = as_vec(chain.joints[0].head), as_vec(chain.end)
    middle = scaled(add(root, end), 0.5)
    pole = add(middle, scaled(as_vec(two_bone.pole_direction(chain)), pole_distance * (a + b)))
    return Goal(Vector(end), Vector(pole))


@given(limbs(), st.floats(0.3, 3.0))
def test_matched_target_and_pole_give_fk_back(chain: Chain, pole_distance: float) -> None:
    solution = two_bone.solve(chain, _matched(chain, pole_distance))
    assert max(_delta_angle(solution, 0), _delta_angle(solution, 1)) <= FK_BACK
    assert solution.status is Status.REACHED


@given(
    st.floats(-15.0, 170.0),
    st.floats(0.2, 5.0),
    st.tuples(st.just(1.0), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5)),
    turns,
    points,
)
def test_hyperextended_and_sideways_bends_come_back_too(
    bend: float, lower: float, hinge: Vec, turn: Vec, place: Vec
) -> None:
    chain = bent_limb(math.radians(bend), lower=lower, bend_axis=hinge)
    chain = moved(chain, Matrix.LocRotScale(Vector(place), Euler(turn), None))
    solution = two_bone.solve(chain, _matched(chain))
    assert max(_delta_angle(solution, 0), _delta_angle(solution, 1)) <= FK_BACK
    elbow, end = posed(chain, solution)
    assert length(subtract(elbow, as_vec(chain.joints[1].head))) <= TIP * (1.0 + lower)
    assert length(subtract(end, as_vec(chain.end))) <= TIP * (1.0 + lower)


@pytest.mark.parametrize("bend", [-15.0, -5.0, -0.01, 0.0, 1e-4, 0.01, 5.0, 30.0, 90.0, 179.0, 180.0])
def test_every_bend_comes_back_without_a_pole(bend: float) -> None:
    chain = bent_limb(math.radians(bend), lower=0.8)
    solution = two_bone.solve(chain, Goal(chain.end))
    assert max(_delta_angle(solution, 0), _delta_angle(solution, 1)) <= FK_BACK


def _swept(height: float, pole: Vec | None, tilt: float = 0.0) -> float:
    """Largest turn of a bone (degrees) between 0.01° steps of FK's bend from -20° to 20°, the goal still.

    ``height``: how far off the line the still target lets the elbow stand.
    """
    goal = Goal(Vector((0.0, 0.0, 2.0 * math.sqrt(1.0 - height * height))), None if pole is None else Vector(pole))
    hinge = (math.cos(tilt), 0.0, math.sin(tilt))
    before, largest = None, 0.0
    for step in range(-2000, 2001):
        chain = bent_limb(math.radians(0.01 * step), bend_axis=hinge)
        after = orientations(chain, two_bone.solve(chain, goal))
        if before is not None:
            largest = max(largest, *(angle_between(a, b) for a, b in zip(before, after, strict=True)))
        before = after
    return math.degrees(largest)


@pytest.mark.parametrize("height", [0.0, 0.003, 0.02, 0.1, 0.6])
def test_fk_bend_swept_through_straight_turns_no_bone_more_than_a_tenth_of_a_degree(height: float) -> None:
    assert _swept(height, (0.0, 3.0, 0.8)) <= 0.1


def test_the_sweep_holds_without_pole_and_for_a_hinge_20_degrees_off() -> None:
    assert _swept(0.02, None) <= 0.1
    assert _swept(0.3, (0.0, 3.0, 0.8), math.radians(20.0)) <= 0.1


def test_pole_direction_is_smooth_where_fk_passes_straight() -> None:
    # the cross product of the bones alone flips by 180° here
    sides = [as_vec(two_bone.pole_direction(bent_limb(math.radians(0.1 * step)))) for step in range(-150, 600)]
    assert max(angle_of(a, b) for a, b in pairwise(sides)) < math.radians(0.2)
    assert all(side[1] > 0.7 for side in sides)


@pytest.mark.parametrize("tilt", [-0.05, 0.0, 0.05])
def test_hyperextension_is_far_from_the_branch_cut(tilt: float) -> None:
    offset = math.degrees(fk_limb(bent_limb(math.radians(-15.0), bend_axis=(1.0, 0.0, tilt))).offset)
    assert offset == pytest.approx(180.0, abs=10.0)


def test_hyperextended_limb_stays_so_while_its_elbow_stands_no_further_out_than_in_fk() -> None:
    chain = bent_limb(math.radians(-15.0))
    end = as_vec(chain.end)
    side = as_vec(two_bone.pole_direction(chain))
    away, toward = [], []
    for part in (1.005, 1.002, 0.998, 0.97, 0.8):  # of FK's distance; 1.0086 is straight
        elbow, _ = posed(chain, two_bone.solve(chain, Goal(part * chain.end, Vector(add(end, side)))))
        out = off_line(elbow, (0.0, 0.0, 0.0), end)
        (away if part > 1.0 else toward).append(dot(out, side) / length(out))
    assert away == pytest.approx([-1.0, -1.0], abs=1e-4)
    assert toward == sorted(toward)
    assert toward[0] < -0.99
    assert toward[-1] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("direction", [(0.1, -0.7, 0.3), (1.0, 0.0, 0.0), (-0.3, 0.2, -0.9)])
def test_rounded_target_does_not_bend_a_straight_limb(direction: Vec) -> None:
    line = unit(direction)
    chain = limb((0.0, 0.0, 0.0), scaled(line, 0.7), scaled(line, 1.5))
    target = Vector(scaled(line, 1.5 * (1.0 - 2.5e-6)))  # without a dead zone the elbow leaves the line by 1e-3
    elbow, _ = posed(chain, two_bone.solve(chain, Goal(target)))
    assert length(subtract(elbow, scaled(line, 0.7))) < TIP * 1.5


def test_far_from_the_origin_straight_limbs_stay_as_they_are() -> None:
    for place in (1e2, 1e3):
        chain = moved(rig_limb("L2S"), Matrix.Translation((place, place, place)))
        target = chain.end + Vector((0.0, 0.0, -place * 2.0**-22))  # a few roundings of float32 nearer
        solution = two_bone.solve(chain, Goal(target, chain.end + Vector((0, 2, 0)), origin_distance=place * 3**0.5))
        assert _delta_angle(solution) < 1e-4
        assert solution.status is Status.REACHED


# --- scenarios ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("degrees", "factor"), [(90.0, 3.0), (45.0, 3.0), (10.0, 3.0), (2.0, 20.0), (0.5, 80.0)])
def test_lb_09_trembling_target_near_the_pole_line(degrees: float, factor: float) -> None:
    chain, in_azimuth = rig_limb("L2B"), []
    for azimuth in range(0, 360, 5):
        turn = Quaternion((0.0, 0.0, 1.0), math.radians(azimuth))
        pole = turn @ Vector((2.0 * math.sin(math.radians(degrees)), 0.0, 2.0 * math.cos(math.radians(degrees))))
        elbows = []
        for step in range(20):
            jitter = turn @ Vector((1e-4 * (-1) ** step, 1e-4 * (-1) ** (step // 2), 0.0))
            target = Vector((0.0, 0.0, 1.5)) + jitter
            elbow, end = posed(chain, two_bone.solve(chain, Goal(target, pole)))
            assert length(subtract(end, as_vec(target))) <= 1e-5
            elbows.append(elbow)
        moves = [length(subtract(a, b)) for a, b in pairwise(elbows)]
        # a step of the target is 2e-4 along one axis or both
        assert max(moves) <= factor * 2e-4 * math.sqrt(2.0)
        in_azimuth.append([rotate(normalized(as_quat(turn.inverted())), elbow) for elbow in elbows])
    assert all(length(subtract(a, b)) <= 1e-4 for row in in_azimuth for a, b in zip(row, in_azimuth[0], strict=True))


def test_lb_09_pole_on_the_line_falls_back_to_fk_and_says_so() -> None:
    chain = rig_limb("L2B")
    solution = _solve(chain, (0.0, 0.0, 1.5), (0.0, 0.0, 2.0))
    elbow, end = posed(chain, solution)
    assert end == pytest.approx((0.0, 0.0, 1.5), abs=2e-6)
    assert elbow == pytest.approx((0.0, math.sqrt(1.0 - 0.75**2), 0.75), abs=2e-6)
    assert (solution.status, solution.reason) == (Status.REACHED, "pole on the limb's line")
    assert _solve(chain, (0.0, 0.0, 1.5), (0.0, 0.0, 2.0)) == solution


@pytest.mark.parametrize(
    ("off_line", "is_exact"), [(0.0, False), (1e-4, False), (5e-4, False), (2.1e-3, True), (1.0, True)]
)
def test_the_pole_takes_over_from_fk_as_it_comes_off_the_line(off_line: float, is_exact: bool) -> None:
    chain, solution = rig_limb("L2B"), _solve(rig_limb("L2B"), (0.0, 0.0, 1.5), (off_line, 0.0, 2.0))
    elbow, end = posed(chain, solution)
    assert end == pytest.approx((0.0, 0.0, 1.5), abs=2e-6)
    assert (elbow == pytest.approx((math.sqrt(1.0 - 0.75**2), 0.0, 0.75), abs=2e-6)) is is_exact
    assert (solution.reason != "") is (off_line < 2e-2)


def test_the_side_turns_evenly_as_the_pole_comes_off_the_line() -> None:
    chain, azimuths = rig_limb("L2B"), []
    for step in range(101):
        pole = (2e-3 * step / 100, 0.0, 2.0)
        elbow, _ = posed(chain, _solve(chain, (0.0, 0.0, 1.5), pole))
        azimuths.append(math.degrees(math.atan2(elbow[0], elbow[1])))
    assert azimuths[0] == pytest.approx(0.0, abs=1e-4)
    assert azimuths[-1] == pytest.approx(90.0, abs=1e-4)
    assert all(-1e-4 <= after - before < 3.0 for before, after in pairwise(azimuths))


def _on_sphere(latitude: float, longitude: float) -> Vec:
    return (
        1.2 * math.cos(latitude) * math.cos(longitude),
        1.2 * math.cos(latitude) * math.sin(longitude),
        1.2 * math.sin(latitude),
    )


@pytest.mark.parametrize("pole", [(0.0, 3.0, 0.8), None])
def test_lb_21_no_plane_of_targets_flips_the_bones(pole: Vec | None) -> None:
    chain, checked = rig_limb("L2B"), 0
    singular = [(0.0, 0.0, -1.0)] if pole is None else [unit(pole), scaled(unit(pole), -1.0)]
    for ring in range(30):
        latitude = math.radians(-90.0 + 180.0 * (ring + 0.5) / 30)
        targets = [_on_sphere(latitude, math.radians(6.0 * step)) for step in range(61)]
        solutions = [_solve(chain, target, pole) for target in targets]
        for target, solution in zip(targets, solutions, strict=True):
            assert length(subtract(posed(chain, solution)[1], target)) <= 1e-5
        near = [min(angle_of(target, axis) for axis in singular) < math.radians(10.0) for target in targets]
        for index, (before, after) in enumerate(pairwise(solutions)):
            if not (near[index] or near[index + 1]):
                checked += 1
                assert max(_steps(chain, [before, after])) < math.radians(30.0)
    assert checked > 1500


@pytest.mark.parametrize(
    ("x", "status"),
    [
        (0.2, Status.TOO_NEAR),
        (0.4, Status.REACHED),
        (0.4 - 1e-7, Status.REACHED),
        (0.0, Status.TOO_NEAR),
        (1e-9, Status.TOO_NEAR),
    ],
)
def test_lb_24_nearer_than_the_limb_can_fold(x: float, status: Status) -> None:
    chain = rig_limb("L2U")
    solution = _solve(chain, (x, 0.0, 0.0), (0.0, -3.0, 0.0))
    elbow, end = posed(chain, solution)
    is_on_root = x < 1e-4
    line = (0.0, 0.0, 1.0) if is_on_root else (1.0, 0.0, 0.0)
    # 0.4 is 0.40000001 in float32, and near folding the elbow's height grows with the root of that: 3e-4
    assert elbow == pytest.approx(line, abs=1e-3 if x == 0.4 else 1e-5)
    assert end == pytest.approx(scaled(line, 0.4), abs=1e-5)
    assert solution.status is status
    assert (solution.reason == "target on the root") is is_on_root
    # folding turns the lower bone by half a turn about the hinge, never about another axis
    hinge = cross((0.0, -1.0, 0.0), line)
    for delta in solution.deltas:
        assert rotate(normalized(as_quat(delta)), (1.0, 0.0, 0.0)) == pytest.approx(hinge, abs=1e-5)
    assert solution.error == pytest.approx(length(subtract(end, (x, 0.0, 0.0))), abs=1e-6)


def test_lb_24_sweep_to_the_root_follows_the_triangle() -> None:
    chain, elbows, expected = rig_limb("L2U"), [], []
    for step in range(200):
        target = (0.6 * (1.0 - step / 200), 0.0, 0.0)
        elbows.append(posed(chain, _solve(chain, target, (0.0, -3.0, 0.0)))[0])
        expected.append(reference_elbow(chain, target, (0.0, -3.0, 0.0)))
    # The scenario asks for steps of at most 0.05. The triangle itself takes one of 0.077 where it folds
    # (d = 0.402: elbow height 0.0767, d = 0.399: 0), so that one step is held to the triangle instead.
    moves = [length(subtract(a, b)) for a, b in pairwise(elbows)]
    assert sum(move > 0.05 for move in moves) == 1
    assert max(moves) < 0.08
    # near folding the height grows with the root of d: 1e-7 of float32 becomes 1e-3
    assert all(length(subtract(a, b)) < 1e-3 for a, b in zip(elbows, expected, strict=True))


@pytest.mark.parametrize("rolls", [(0.0, 0.0), (37.0, 90.0), (90.0, -135.0), (-135.0, 37.0)])
@pytest.mark.parametrize("is_turned", [False, True])
def test_lb_27_adding_a_pole_changes_nothing_and_turning_it_turns_the_limb(
    rolls: tuple[float, float], is_turned: bool
) -> None:
    degrees = (20.0, 30.0, 40.0) if is_turned else (0.0, 0.0, 0.0)
    turn = Euler([math.radians(angle) for angle in degrees]).to_matrix().to_4x4()
    chain = moved(rig_limb("L2B", (math.radians(rolls[0]), math.radians(rolls[1]))), turn)
    pole = turn @ Vector((0.0, 3.0, 0.8))
    still = two_bone.solve(chain, Goal(chain.end, pole))
    assert max(_delta_angle(still, 0), _delta_angle(still, 1)) <= FK_BACK
    axis = Vector(unit(as_vec(chain.end)))
    quarter = Quaternion(axis, math.pi / 2)
    turned = two_bone.solve(chain, Goal(chain.end, quarter @ pole))
    expected = from_axis_angle(unit(as_vec(axis)), math.pi / 2)
    for delta in turned.deltas:
        assert angle_between(normalized(as_quat(delta)), expected) < math.radians(0.01)


def test_lb_28_bones_turn_with_the_bend_plane() -> None:
    chain, root = rig_limb("L2B"), (0.0, 0.0, 0.0)
    around = [(3.0 * math.sin(math.radians(a)), 3.0 * math.cos(math.radians(a)), 0.0) for a in range(361)]
    goals = [((0.0, 0.0, 1.5), pole) for pole in around]
    goals += [((-0.8 + 0.01 * step, 0.0, 1.2), (0.0, 3.0, 1.0)) for step in range(161)]
    between = []
    for target, pole in goals:
        solution = _solve(chain, target, pole)
        normal = bend_normal(root, *posed(chain, solution))
        for delta in solution.deltas:  # the rest hinge of both bones is +X
            assert angle_of(rotate(normalized(as_quat(delta)), (1.0, 0.0, 0.0)), normal) <= 1e-3
        upper, lower = orientations(chain, solution)
        between.append(multiply(conjugate(upper), lower))
    assert all(angle_between(one, between[0]) <= 1e-3 for one in between[:361])


AXES = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]


@pytest.mark.parametrize("axis", AXES)
def test_lb_29_the_elbow_stands_on_the_pole_side_whatever_the_bones_are_like(axis: Vec) -> None:
    turn, heights = Vector((0.0, 0.0, 1.0)).rotation_difference(Vector(axis)), []
    for roll in (0.0, math.pi):
        points_arm = [turn @ Vector(point) for point in ((0, 0, 0), (0, 0.6, 0.8), (0, 0, 1.6))]
        chain = limb(*points_arm, rolls=(roll, roll))
        for sign in (1.0, -1.0):
            pole = turn @ Vector((0.0, 3.0 * sign, 0.8))
            elbow, _ = posed(chain, two_bone.solve(chain, Goal(0.8 * chain.end, pole)))
            out = off_line(elbow, (0.0, 0.0, 0.0), as_vec(chain.end))
            assert dot(out, off_line(as_vec(pole), (0.0, 0.0, 0.0), as_vec(chain.end))) > 0.0
            heights.append(length(out))
    assert heights == pytest.approx([math.sqrt(1.0 - 0.64**2)] * 4, abs=1e-5)


@pytest.mark.parametrize("short_by", [1e-2, 1e-4, 1e-6, 0.0, -0.5])
def test_lb_67_the_pole_rolls_a_straight_limb(short_by: float) -> None:
    chain = rig_limb("L2S")
    target = (0.0, 0.0, 2.0 - short_by)
    first, second = _solve(chain, target, (3.0, 0.0, 0.0)), _solve(chain, target, (0.0, 3.0, 0.0))
    quarter = from_axis_angle((0.0, 0.0, 1.0), math.pi / 2)
    for before, after in zip(orientations(chain, first), orientations(chain, second), strict=True):
        assert angle_between(multiply(quarter, before), after) < math.radians(1.0)


def test_lb_67_no_pop_where_the_limb_becomes_straight() -> None:
    chain, solutions = rig_limb("L2S"), []
    for step in range(201):
        d = 1.9 + 0.001 * step
        solutions.append(_solve(chain, (0.0, 0.0, d), (3.0, 0.0, 0.0)))
        height = math.sqrt(max(0.0, 1.0 - d * d / 4.0))
        assert posed(chain, solutions[-1])[0][0] == pytest.approx(height, abs=1e-3)
        # without roll the hinge, +Y for this pole, stays where it is
        for delta in solutions[-1].deltas:
            hinge_before = rotate(conjugate(normalized(as_quat(solutions[0].deltas[0]))), (0.0, 1.0, 0.0))
            assert angle_of(rotate(normalized(as_quat(delta)), hinge_before), (0.0, 1.0, 0.0)) < math.radians(1.0)


# --- pole, softness, words ----------------------------------------------------------------------------------------


@given(limbs(), directions, st.floats(0.3, 0.9), st.floats(-7.0, 7.0))
def test_pole_angle_turns_the_limb_about_its_line(chain: Chain, direction: Vec, part: float, angle: float) -> None:
    a, b = lengths(chain)
    assume(abs(a - b) < part * (a + b))
    root = as_vec(chain.joints[0].head)
    target = add(root, scaled(direction, part * (a + b)))
    plain, turned = _solve(chain, target), _solve(chain, target, pole_angle=angle)
    line = unit(subtract(as_vec(Vector(target)), root))
    for before, after in zip(orientations(chain, plain), orientations(chain, turned), strict=True):
        assert angle_between(multiply(from_axis_angle(line, angle), before), after) < 3e-6


@given(limbs(), turns, st.floats(1e-5, 1e5), directions, st.floats(0.1, 2.0), points)
def test_the_answer_turns_with_the_limb_and_does_not_know_its_size(
    chain: Chain, turn: Vec, size: float, direction: Vec, part: float, pole: Vec
) -> None:
    a, b = lengths(chain)
    root = as_vec(chain.joints[0].head)
    target, pole = add(root, scaled(direction, part * (a + b))), add(root, scaled(pole, 3.0))
    assume(length(off_line(pole, root, target)) > 0.1)
    assume(abs(part - 1.0) > 0.01 and abs(part * (a + b) - abs(a - b)) > 0.01)
    plain = _solve(chain, target, pole)
    matrix = Matrix.LocRotScale(None, Euler(turn), Vector((size, size, size)))
    there = two_bone.solve(moved(chain, matrix), Goal(matrix @ Vector(target), matrix @ Vector(pole)))
    quat = normalized(as_quat(matrix.to_quaternion()))
    for before, after in zip(plain.deltas, there.deltas, strict=True):
        expected = multiply(multiply(quat, normalized(as_quat(before))), conjugate(quat))
        assert angle_between(expected, normalized(as_quat(after))) < 2e-4  # float32 joints, heights near straight
    assert there.status is plain.status


@given(st.floats(0.01, 0.2), st.floats(0.3, 1.0))
def test_softness_holds_back_smoothly_and_only_near_the_end(softness: float, max_reach: float) -> None:
    longest = 2.0 * max_reach
    start = longest * (1.0 - softness)
    eased = [two_bone.softened(start + 0.01 * (step - 50) * longest, longest, softness) for step in range(400)]
    assert eased[:50] == [start + 0.01 * (step - 50) * longest for step in range(50)]
    steps = [after - before for before, after in pairwise(eased)]
    assert all(0.0 <= step <= 0.01 * longest + 1e-12 for step in steps)
    assert eased[-1] <= longest
    assert two_bone.softened(start + 1e-9, longest, softness) == pytest.approx(start + 1e-9, abs=1e-12)


def test_what_softness_and_largest_reach_hold_back_counts_as_missed() -> None:
    chain = rig_limb("L2B")
    soft = _solve(chain, (0.0, 0.0, 1.9), (0.0, 3.0, 0.0), softness=0.2)
    assert soft.status is Status.TOO_FAR
    assert soft.reason == "held back by softness or largest reach"
    assert soft.error == pytest.approx(1.9 - (1.6 + 0.4 * (1.0 - math.exp(-0.75))), abs=1e-6)
    short = _solve(chain, (0.0, 0.0, 1.9), (0.0, 3.0, 0.0), max_reach=0.9)
    assert short.error == pytest.approx(0.1, abs=1e-6)
    assert posed(chain, short)[1] == pytest.approx((0.0, 0.0, 1.8), abs=2e-6)
    inside = _solve(chain, (0.0, 0.0, 1.5), (0.0, 3.0, 0.0), softness=0.2)
    assert (inside.status, inside.error) == (Status.REACHED, pytest.approx(0.0, abs=1e-6))


@pytest.mark.parametrize(
    ("distance", "status"),
    [(1.9, Status.REACHED), (2.0, Status.REACHED), (2.0 + 1e-5, Status.REACHED), (2.0 + 3e-5, Status.TOO_FAR)],
)
def test_reached_means_within_1e_5_of_the_length(distance: float, status: Status) -> None:
    solution = _solve(rig_limb("L2S"), (0.0, distance, 0.0), (3.0, 0.0, 0.0))
    assert solution.status is status
    assert solution.reason == ("" if status is Status.REACHED else "target out of reach")


def test_without_a_pole_the_side_goes_along_by_the_shortest_swing() -> None:
    chain = rig_limb("L2B")
    solution = _solve(chain, (0.0, 1.6, 0.0))
    quarter = from_axis_angle((1.0, 0.0, 0.0), -math.pi / 2)
    assert all(angle_between(normalized(as_quat(delta)), quarter) < 1e-6 for delta in solution.deltas)


def test_hinge_decides_where_a_straight_limb_bends() -> None:
    # a hinge along the bone, or none, is no hinge: local X takes over
    for hinge, elbow_at in (((1, 0, 0), (0, 1)), ((-1, 0, 0), (0, -1)), ((0, 0, 1), (0, 1)), ((0, 0, 0), (0, 1))):
        chain = bent_limb(0.0, bend_axis=hinge)
        elbow, _ = posed(chain, _solve(chain, (0.0, 0.0, 1.2)))
        assert elbow[:2] == pytest.approx((0.8 * elbow_at[0], 0.8 * elbow_at[1]), abs=1e-6)


def test_rest_joints_show_the_hinge() -> None:
    chain = rig_limb("L2B", (0.7, 0.0))
    fk = normalized(as_quat(chain.joints[0].fk))
    axis = rest_bend_axis(*(as_vec(head) for head in chain.rest_heads), fk)
    assert rotate(fk, axis) == pytest.approx((1.0, 0.0, 0.0), abs=1e-6)
    straight = rig_limb("L2S", (0.7, 0.0))
    assert rest_bend_axis(*(as_vec(head) for head in straight.rest_heads), fk) == (1.0, 0.0, 0.0)


# --- degenerate input ---------------------------------------------------------------------------------------------

rough = st.sampled_from([0.0, 1e-20, 1e-6, 1e-5, 1.0, -1.0, 3.0, 1e5, -1e5, 1e6])
rough_points = st.tuples(rough, rough, rough)


@st.composite
def rough_chains(draw: st.DrawFn) -> tuple[Chain, list[Vec]]:
    joints = draw(st.lists(rough_points, min_size=3, max_size=3))
    if draw(st.booleans()):
        joints[draw(st.integers(0, 2))] = joints[draw(st.integers(0, 2))]
    fk = Quaternion(Euler(draw(turns)).to_quaternion())
    chain = Chain(
        (Joint(Vector(joints[0]), fk, fk), Joint(Vector(joints[1]), fk, fk)),
        Vector(joints[2]),
        Vector(draw(rough_points)),
    )
    return chain, joints


@settings(max_examples=400)
@given(
    rough_chains(),
    st.integers(0, 3),
    rough_points,
    st.one_of(st.none(), rough_points),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_degenerate_input_is_finite_unit_and_deterministic(
    made: tuple[Chain, list[Vec]], on_joint: int, target: Vec, pole: Vec | None, softness: float, max_reach: float
) -> None:
    chain, joints = made
    target = (*joints, target)[on_joint]
    solutions = [_solve(chain, target, pole, softness=softness, max_reach=max_reach) for _ in range(2)]
    assert solutions[0] == solutions[1]
    for delta in solutions[0].deltas:
        assert delta.magnitude == pytest.approx(1.0, abs=1e-6)
    assert math.isfinite(solutions[0].error)
    _, end = posed(chain, solutions[0])
    size = sum(lengths(chain)) + length(subtract(target, joints[0])) + max(map(abs, (*joints[0], *target)))
    assert solutions[0].error == pytest.approx(length(subtract(end, target)), abs=1e-5 * size)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_positions_that_are_no_numbers_are_invalid_and_turn_nothing(bad: float) -> None:
    chain = rig_limb("L2B")
    broken = Chain(chain.joints, Vector((bad, 0.0, 0.0)))
    for solution in (
        _solve(chain, (0.0, bad, 0.0)),
        _solve(chain, (0.0, 1.0, 0.0), (bad, 0.0, 0.0)),
        _solve(broken, (0.0, 1.0, 0.0)),
    ):
        assert solution.status is Status.INVALID
        assert solution.reason == "a position is not a number"
        assert solution.deltas == (Quaternion(), Quaternion())


def test_arguments_stay_as_they_were() -> None:
    chain, goal = rig_limb("L2B"), Goal(Vector((0.3, 0.4, 1.2)), Vector((0.0, 3.0, 0.8)), pole_angle=0.3)
    before = repr((chain, goal))
    two_bone.solve(chain, goal)
    two_bone.pole_direction(chain)
    assert repr((chain, goal)) == before
