"""Look-at against geometry worked out by hand: the rig HN, a neck with a head, an eye."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.solvers import look_at
from limb_ik.solvers.chain import FREE_JOINT, Chain, Goal, Joint, JointKind, JointLimits, Solution, Status
from limb_ik.solvers.joint_limits import is_legal
from limb_ik.solvers.rotations import Quat, angle_between, as_quat, conjugate, from_axis_angle, multiply
from mathutils import Euler, Matrix, Quaternion, Vector

UP_Z = Quaternion((1.0, 0.0, 0.0), math.radians(90.0))
"""Orientation of a bone along +Z with roll 0: Y up, Z to -Y."""
EYE = Vector((0.0, 0.05, 1.6))
TOP = Vector((0.0, 0.05, 1.8))
HEAD = UP_Z @ Quaternion((0.0, 1.0, 0.0), math.radians(37.0))
NECK = Quaternion((1.0, 0.0, 0.0), math.radians(63.435))
AIM = HEAD.inverted() @ Vector((0.0, -1.0, 0.0))
ANGLE = 1e-6
"""Float32 quaternions and positions leave some 1e-7 rad."""


def ball(low: float, high: float, swing: float = 180.0) -> JointLimits:
    """Twist from ``low`` to ``high``, swing to +-``swing``, in degrees."""
    reach = math.radians(swing)
    return JointLimits(
        JointKind.BALL,
        swing_x_min=-reach,
        swing_x_max=reach,
        swing_z_min=-reach,
        swing_z_max=reach,
        twist_min=math.radians(low),
        twist_max=math.radians(high),
    )


def head(limits: JointLimits = FREE_JOINT, pose: Quaternion | None = None) -> Chain:
    """HN's head alone; ``pose`` turns the neck, and the head with it, about the neck's head."""
    turn = pose or Quaternion()
    base = Vector((0.0, 0.0, 1.5))
    here, top = (base + turn @ (point - base) for point in (EYE, TOP))
    return Chain((Joint(here, turn @ HEAD, turn @ HEAD, limits),), top)


def spine(*limits: JointLimits) -> Chain:
    """HN's head on as many neck bones as there are limits before the last."""
    count = len(limits)
    joints = []
    for index, limit in enumerate(limits):
        place = EYE - (count - 1 - index) * Vector((0.0, 0.05, 0.1))
        turn = HEAD if index == count - 1 else NECK
        joints.append(Joint(place, turn, turn, limit))
    return Chain(tuple(joints), TOP)


def goal(target: Sequence[float] | Vector) -> Goal:
    return Goal(Vector(target), look_axis=AIM, up_axis=Vector((0.0, 1.0, 0.0)))


def eye_of(chain: Chain, deltas: Sequence[Quaternion]) -> Vector:
    """Forward kinematics: where the tip's head comes to."""
    eye = chain.joints[0].head.copy()
    for before, joint, delta in zip(chain.joints, chain.joints[1:], deltas, strict=False):
        eye += delta @ (joint.head - before.head)
    return eye


def miss(chain: Chain, asked: Goal, solution: Solution) -> float:
    """Angle between the tip's look and the target, in radians."""
    look = solution.deltas[-1] @ chain.joints[-1].fk @ asked.look_axis
    sight = (asked.target - eye_of(chain, solution.deltas)).normalized()
    return math.atan2(look.cross(sight).length, look.dot(sight))


def locals_of(chain: Chain, deltas: Sequence[Quaternion]) -> list[Quat]:
    found: list[Quat] = []
    carried: Quat = (1.0, 0.0, 0.0, 0.0)
    for joint, delta in zip(chain.joints, deltas, strict=True):
        frame = multiply(carried if joint.follows_parent else (1.0, 0.0, 0.0, 0.0), as_quat(joint.frame))
        carried = as_quat(delta)
        found.append(multiply(conjugate(frame), multiply(carried, as_quat(joint.fk))))
    return found


def yaw_of(delta: Quaternion) -> float:
    """Turn about Z in degrees, of a turn about Z alone."""
    return math.degrees(math.remainder(2.0 * math.atan2(delta.z, delta.w), 2.0 * math.pi))


def around(degrees: float, elevation: float = 0.0, radius: float = 3.0) -> Vector:
    """A point about HN's eye; 0 is straight ahead (-Y)."""
    a, e = math.radians(degrees), math.radians(elevation)
    return EYE + radius * Vector((math.sin(a) * math.cos(e), -math.cos(a) * math.cos(e), math.sin(e)))


def steps(chain: Chain, targets: Sequence[Vector]) -> Iterator[float]:
    """Largest turn of any bone from one target to the next, in degrees."""
    poses = [[as_quat(delta) for delta in look_at.solve(chain, goal(target)).deltas] for target in targets]
    for before, after in pairwise(poses):
        yield math.degrees(max(angle_between(p, q) for p, q in zip(before, after, strict=True)))


# LB-20


@pytest.mark.parametrize(
    "neck",
    [
        Quaternion(),
        NECK @ Quaternion((0.0, 1.0, 0.0), math.radians(90.0)) @ NECK.inverted(),
        NECK @ Euler((math.radians(30.0), math.radians(40.0), math.radians(-20.0))).to_quaternion() @ NECK.inverted(),
    ],
    ids=["rest", "turned", "xyz"],
)
def test_lb20_aims_whatever_the_neck_does(neck: Quaternion) -> None:
    chain, asked = head(pose=neck), goal((1.0, -2.0, 2.2))
    solution = look_at.solve(chain, asked)
    assert solution.status == Status.REACHED
    assert miss(chain, asked, solution) <= ANGLE


@pytest.mark.parametrize("neck", [Quaternion(), Euler((0.5, 0.7, -0.3)).to_quaternion()], ids=["rest", "turned"])
def test_lb20_right_stays_at_right_angles_to_fk_up(neck: Quaternion) -> None:
    chain, asked = head(pose=neck), goal((1.0, -2.0, 2.2))
    fk = chain.joints[0].fk
    look, up = fk @ asked.look_axis, fk @ asked.up_axis
    right = look_at.solve(chain, asked).deltas[0] @ look.cross(up)
    assert abs(right.dot(up)) <= ANGLE


def test_lb20_turned_armature_gives_the_same_turn() -> None:
    """The same set-up in an armature turned by 60 degrees: the local rotation does not change."""
    back = Quaternion((0.0, 0.0, 1.0), math.radians(-60.0))
    chain = head()
    joint = replace(chain.joints[0], head=back @ EYE, fk=back @ HEAD, frame=back @ HEAD)
    turned = Chain((joint,), back @ TOP)
    plain = look_at.solve(chain, goal((1.0, -2.0, 2.2)))
    moved = look_at.solve(turned, goal(back @ Vector((1.0, -2.0, 2.2))))
    pair = (locals_of(chain, plain.deltas)[0], locals_of(turned, moved.deltas)[0])
    assert angle_between(*pair) <= ANGLE


def test_a_chain_without_parent_keeps_its_neck_when_only_the_head_is_in_it() -> None:
    assert len(look_at.solve(head(), goal((1.0, -2.0, 2.2))).deltas) == 1


# LB-22


@pytest.mark.parametrize("offset", [(0.0, 2.0, 0.0), (0.0, 0.0, 2.0), (0.0, 0.0, -2.0)], ids=["behind", "up", "down"])
def test_lb22_singular_directions_are_ordinary(offset: tuple[float, float, float]) -> None:
    chain, target = head(), EYE + Vector(offset)
    solution = look_at.solve(chain, goal(target))
    assert miss(chain, goal(target), solution) <= ANGLE
    assert abs(solution.deltas[0].magnitude - 1.0) <= 1e-6
    for nudge in (1e-6, -1e-6):
        moved = look_at.solve(chain, goal(target + Vector((nudge, 0.0, 0.0))))
        assert angle_between(as_quat(moved.deltas[0]), as_quat(solution.deltas[0])) <= 1e-4


def test_lb22_target_on_the_head_changes_nothing() -> None:
    for nudge in (0.0, 1e-6, -1e-6):
        solution = look_at.solve(spine(FREE_JOINT, FREE_JOINT), goal(EYE + Vector((nudge, 0.0, 0.0))))
        assert solution.status == Status.TOO_NEAR
        assert solution.reason == "target on the eye"
        assert all(delta == Quaternion() for delta in solution.deltas)


def test_target_through_the_eye_is_continuous() -> None:
    """From 1 mm ahead to 1 mm behind in steps of 2 micrometres on a head of 20 cm: FK's pose at the eye, no flip."""
    targets = [EYE + Vector((1e-5, 1e-6 * k, 1e-5)) for k in range(-1000, 1001, 2)]
    assert max(steps(head(), targets)) <= 2.0


def test_lb22_zenith_sweep_has_its_one_switch_behind_the_zenith() -> None:
    """Documented: up to and over the zenith it pitches 1 degree a step; yaw turns over 3 degrees behind it."""
    circle = [EYE + 3.0 * Vector((0.0, -math.cos(a), math.sin(a))) for a in map(math.radians, range(181))]
    turned = list(steps(head(), circle))
    assert max(turned[:91]) <= 1.001
    assert max(turned[98:]) <= 1.001
    assert sum(step > 1.001 for step in turned[91:98]) == 1


# LB-23


def test_lb23_yaw_limit_holds_then_falls_behind() -> None:
    chain = head(ball(-70.0, 70.0))
    yaws = [yaw_of(look_at.solve(chain, goal(around(k))).deltas[0]) for k in range(181)]
    assert yaws[:71] == pytest.approx(range(71), abs=1e-3)
    assert yaws[70:141] == pytest.approx([70.0] * 71, abs=1e-3)
    assert all(before >= after for before, after in pairwise(yaws[140:]))
    assert yaws[180] == pytest.approx(0.0, abs=1e-3)
    assert max(steps(chain, [around(k) for k in range(361)])) <= 2.7
    """70 degrees over 40 with zero slope at both ends: 1.5 * 70 / 40 = 2.63 a degree at the steepest."""


def test_lb23_partial_weight_is_that_part_of_the_limited_angle() -> None:
    """Weights are applied outside, by slerp of local rotations: no larger turn may hide in the delta."""
    chain = head(ball(-70.0, 70.0))
    for k in range(0, 360, 15):
        whole = look_at.solve(chain, goal(around(k))).deltas[0]
        part = Quaternion().slerp(whole, 0.6)
        assert yaw_of(part) == pytest.approx(0.6 * yaw_of(whole), abs=0.01)


def test_limits_of_one_side_hold_at_the_bound_met_first() -> None:
    """-100 to 20 degrees, target coming round at +: the bound is 20, though -100 is nearer from 140 on."""
    chain = head(ball(-100.0, 20.0))
    yaws = [yaw_of(look_at.solve(chain, goal(around(k))).deltas[0]) for k in range(0, 181, 5)]
    assert yaws[4:29] == pytest.approx([20.0] * 25, abs=1e-3)
    assert all(-0.001 <= yaw <= 20.001 for yaw in yaws)


@pytest.mark.parametrize("elevation", [-40.0, 0.0, 20.0])
@pytest.mark.parametrize(
    "limits",
    [
        (ball(-70.0, 70.0),),
        (ball(-150.0, 150.0),),
        (ball(-100.0, 20.0),),
        (FREE_JOINT, FREE_JOINT, FREE_JOINT),
        (ball(-30.0, 30.0), ball(-70.0, 70.0)),
        (ball(-20.0, 20.0, 20.0), ball(-30.0, 50.0, 25.0), ball(-60.0, 60.0, 40.0)),
    ],
    ids=["70", "150", "one side", "free neck", "neck", "spine"],
)
def test_a_round_of_the_target_is_continuous(limits: tuple[JointLimits, ...], elevation: float) -> None:
    """No step of 1 degree turns a bone by more than 8 (150 degrees falling over 30), and none is legal by chance."""
    chain = spine(*limits)
    assert max(steps(chain, [around(k, elevation) for k in range(361)])) <= 8.0
    for k in range(0, 360, 20):
        found = locals_of(chain, look_at.solve(chain, goal(around(k, elevation))).deltas)
        for joint, local in zip(chain.joints, found, strict=True):
            assert is_legal(joint.limits, local, 1e-6)


AXES = [Vector(axis) * way for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) for way in (1, -1)]
CONVENTIONS = [(look, up) for look in AXES for up in AXES if look.dot(up) == 0.0]


def yaw_only(look: Vector, up: Vector, most: float, kind: JointKind) -> JointLimits:
    """Yaw about a bone's ``up`` to +-``most`` degrees: as a hinge, or as the swing or twist that it is for a ball."""
    least, most = -math.radians(most), math.radians(most)
    if kind == JointKind.HINGE:
        return JointLimits(kind, tuple(up), least, most)
    if up.y:
        return JointLimits(kind, twist_min=least, twist_max=most)
    if up.x:
        return JointLimits(kind, swing_x_min=least, swing_x_max=most)
    return JointLimits(kind, swing_z_min=least, swing_z_max=most)


@pytest.mark.parametrize("kind", [JointKind.HINGE, JointKind.BALL])
@pytest.mark.parametrize("limits", [(70.0,), (20.0, 15.0, 50.0)], ids=["head", "neck and head"])
def test_holds_and_falls_alike_whatever_the_bones_axes(kind: JointKind, limits: tuple[float, ...]) -> None:
    """All 24 ways a bone can look and stand: exact up to the sum of limits, held to 140 degrees, 0 straight behind."""
    most, falls = (
        sum(limits),
        {150: 0.844, 160: 0.5, 170: 0.156, 179: 0.002, 180: 0.0},
    )  # 1 - smoothstep over 40 degrees
    for look, up in CONVENTIONS:
        axes = Matrix((look, up, look.cross(up))).transposed()
        ahead = Matrix(((0, -1, 0), (0, 0, 1), (-1, 0, 0))).transposed()
        turn = (ahead @ axes.inverted()).to_quaternion()
        joints = tuple(Joint(Vector((0, 0, 0.1 * n)), turn, turn, yaw_only(look, up, own, kind))
                       for n, own in enumerate(limits))  # fmt: skip
        chain, eye = Chain(joints, Vector((0, 0, 1))), joints[-1].head
        for angle in (*range(0, 140, 20), 139, *falls):
            for way in (1.0, -1.0):
                there = math.radians(way * angle)
                target = eye + 3.0 * Vector((math.sin(there), -math.cos(there), 0.0))
                solution = look_at.solve(chain, Goal(target, look_axis=look, up_axis=up))
                sight = solution.deltas[-1] @ Vector((0.0, -1.0, 0.0))
                yaw = way * math.degrees(math.atan2(sight.x, -sight.y))
                if len(limits) == 1 or angle <= 60 or angle >= most:  # between, joints come to their stops in turn
                    assert yaw == pytest.approx(falls.get(angle, 1.0) * min(angle, most), abs=0.1)
                assert abs(yaw) <= most + 0.01


def test_a_head_that_fk_turns_too_far_falls_inside_its_limits() -> None:
    """Straight behind the look falls back to FK, but limits win over that too."""
    turned = HEAD @ Quaternion((0.0, 1.0, 0.0), math.radians(90.0))
    chain = replace(head(ball(-40.0, 40.0)), joints=(Joint(EYE, turned, HEAD, ball(-40.0, 40.0)),))
    look = HEAD.inverted() @ Vector((0.0, -1.0, 0.0))
    for n in range(37):
        way = math.radians(10.0 * n)
        target = EYE + Vector((math.sin(way), math.cos(way), 0.0))
        solution = look_at.solve(chain, Goal(target, look_axis=look, up_axis=Vector((0.0, 1.0, 0.0))))
        local = HEAD.inverted() @ solution.deltas[0] @ turned
        assert is_legal(chain.joints[0].limits, as_quat(local), 1e-5)


def test_without_limits_nothing_holds() -> None:
    chain = head(ball(-70.0, 70.0))
    asked = replace(goal(around(170.0)), use_limits=False)
    assert miss(chain, asked, look_at.solve(chain, asked)) <= ANGLE


# Chains


def test_the_turn_is_shared_by_share() -> None:
    """One part neck, three parts head: a far target at 40 degrees turns the neck by 10."""
    chain = spine(FREE_JOINT, FREE_JOINT)
    shares = (replace(chain.joints[0], share=1.0), replace(chain.joints[1], share=3.0))
    solution = look_at.solve(replace(chain, joints=shares), goal(around(40.0, radius=1e4)))
    assert [yaw_of(delta) for delta in solution.deltas] == pytest.approx([10.0, 40.0], abs=0.01)


def test_a_share_of_nothing_leaves_the_turn_to_the_tip() -> None:
    chain = spine(FREE_JOINT, FREE_JOINT)
    joints = tuple(replace(joint, share=0.0) for joint in chain.joints)
    solution = look_at.solve(replace(chain, joints=joints), goal(around(40.0)))
    assert solution.deltas[0] == Quaternion()
    assert yaw_of(solution.deltas[1]) == pytest.approx(40.0, abs=1e-3)


@pytest.mark.parametrize("radius", [0.3, 1.0, 30.0])
def test_three_joints_look_exactly(radius: float) -> None:
    chain = spine(FREE_JOINT, FREE_JOINT, FREE_JOINT)
    for k in range(0, 360, 30):
        for elevation in (-50.0, 0.0, 50.0):
            asked = goal(around(k, elevation, radius))
            solution = look_at.solve(chain, asked)
            assert solution.status == Status.REACHED
            assert miss(chain, asked, solution) <= ANGLE * (1.0 + 1.0 / radius)


def test_what_the_head_refuses_the_neck_takes() -> None:
    """Head to 20 degrees, 50 asked: the neck turns 30, more than its half."""
    chain, asked = spine(FREE_JOINT, ball(-20.0, 20.0)), goal(around(50.0, radius=1e4))
    solution = look_at.solve(chain, asked)
    assert miss(chain, asked, solution) <= 1e-5
    assert yaw_of(solution.deltas[0]) == pytest.approx(30.0, abs=0.01)


def test_what_the_neck_refuses_the_head_takes() -> None:
    chain, asked = spine(ball(-5.0, 5.0, 5.0), FREE_JOINT), goal(around(50.0))
    solution = look_at.solve(chain, asked)
    assert solution.status == Status.REACHED
    assert miss(chain, asked, solution) <= ANGLE


def test_a_limit_is_named() -> None:
    solution = look_at.solve(head(ball(-70.0, 70.0)), goal(around(100.0)))
    assert solution.status == Status.LIMITED
    assert solution.reason == "joint 1 at its limit of 70°"
    assert solution.error == pytest.approx(2.0 * 3.0 * math.sin(math.radians(15.0)), abs=1e-4)


def test_a_hinge_turns_about_its_axis_only() -> None:
    """A camera on a turntable: hinge about the bone's Y; height is missed, the back is reached."""
    table = JointLimits(JointKind.HINGE, hinge_axis=(0.0, 1.0, 0.0))
    for k in (0.0, 80.0, 150.0, 179.0):
        solution = look_at.solve(head(table), goal(around(k, 20.0)))
        assert yaw_of(solution.deltas[0]) == pytest.approx(k, abs=1e-3)
        assert abs(solution.deltas[0].x) + abs(solution.deltas[0].y) <= 1e-6


def test_an_eye_whose_bone_points_ahead() -> None:
    """Y ahead, Z up, swing to 30 degrees both ways: yaw is a swing here."""
    fk = Quaternion((0.0, 0.0, 1.0), math.pi)
    chain = Chain((Joint(EYE, fk, fk, ball(0.0, 0.0, 30.0)),), EYE + Vector((0.0, -0.03, 0.0)))
    for degrees, wanted in ((20.0, 20.0), (60.0, 30.0), (-60.0, -30.0), (180.0, 0.0)):
        solution = look_at.solve(chain, Goal(around(degrees)))
        assert yaw_of(solution.deltas[0]) == pytest.approx(wanted, abs=1e-3)


def test_fk_that_looks_at_the_target_comes_back() -> None:
    for limits in (FREE_JOINT, ball(-70.0, 70.0, 40.0)):
        solution = look_at.solve(spine(limits, limits), goal(EYE + Vector((0.0, -2.0, 0.0))))
        assert solution.status == Status.REACHED
        assert all(angle_between(as_quat(delta), (1.0, 0.0, 0.0, 0.0)) <= ANGLE for delta in solution.deltas)


def test_a_joint_that_does_not_inherit_keeps_its_limit_to_its_own_frame() -> None:
    chain = spine(FREE_JOINT, ball(-20.0, 20.0))
    joints = (chain.joints[0], replace(chain.joints[1], follows_parent=False))
    solution = look_at.solve(replace(chain, joints=joints), goal(around(50.0)))
    assert yaw_of(solution.deltas[1]) == pytest.approx(20.0, abs=1e-3)


# Undefined input


@pytest.mark.parametrize(
    ("chain", "asked", "reason"),
    [
        (head(), goal((math.nan, 0.0, 0.0)), "a position or rotation is not a number"),
        (head(), replace(goal((1.0, 0.0, 0.0)), look_axis=Vector()), "the look axis has no direction"),
        (head(ball(10.0, -10.0)), goal((1.0, 0.0, 0.0)), "minimum twist of 10° is above its maximum of -10°"),
        (Chain((), Vector()), goal((1.0, 0.0, 0.0)), "no joints"),
    ],
    ids=["nan", "axis", "limits", "empty"],
)
def test_bad_input_is_invalid_and_moves_nothing(chain: Chain, asked: Goal, reason: str) -> None:
    solution = look_at.solve(chain, asked)
    assert (solution.status, solution.reason) == (Status.INVALID, reason)
    assert all(delta == Quaternion() for delta in solution.deltas)


def test_up_along_look_still_looks() -> None:
    asked = replace(goal((1.0, -2.0, 2.2)), up_axis=AIM)
    assert miss(head(), asked, look_at.solve(head(), asked)) <= ANGLE


coordinates = st.floats(-10.0, 10.0) | st.sampled_from([0.0, 1e-30, -1e-6, 1e6])
vectors = st.tuples(coordinates, coordinates, coordinates)
degrees = st.floats(0.0, 180.0)
limits = st.just(FREE_JOINT) | st.builds(lambda low, high, swing: ball(-low, high, swing), degrees, degrees, degrees)


@settings(max_examples=150, deadline=None)
@given(target=vectors, places=st.lists(vectors, min_size=2, max_size=4), bound=limits, share=st.floats(0.0, 2.0))
def test_any_input_gives_unit_legal_and_equal_answers(
    target: tuple[float, float, float],
    places: list[tuple[float, float, float]],
    bound: JointLimits,
    share: float,
) -> None:
    frames = [Quaternion(from_axis_angle((0.0, 0.6, 0.8), 0.7 * k)) for k in range(len(places))]
    joints = tuple(Joint(Vector(p), q, q, bound, share) for p, q in zip(places[:-1], frames, strict=False))
    chain, asked = Chain(joints, Vector(places[-1])), Goal(Vector(target))
    solution = look_at.solve(chain, asked)
    assert solution == look_at.solve(chain, asked)
    assert math.isfinite(solution.error)
    assert all(abs(delta.magnitude - 1.0) <= 1e-6 for delta in solution.deltas)
    for local in locals_of(chain, solution.deltas):
        assert is_legal(bound, local, 1e-5)
