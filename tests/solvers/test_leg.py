"""LEG on the legs of Rigify's animals, held by forward kinematics; and on made-up ones at the edges."""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import bpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.solvers import leg, leg_reach, leg_shape, two_bone
from limb_ik.solvers.bend_plane import rest_bend_axis
from limb_ik.solvers.chain import FREE_JOINT, Chain, Goal, Joint, JointKind, JointLimits, Solution, Status
from limb_ik.solvers.joint_limits import is_legal, measure
from limb_ik.solvers.rotations import Quat, angle_between, as_quat, conjugate, from_axis_angle, multiply
from limb_ik.solvers.vectors import as_vec
from mathutils import Matrix, Quaternion, Vector

LEGS = {
    "horse rear": ("horse", "thigh.L lower_leg.L hind_foot.L r_toe.L"),
    "horse rear, 4 bones": ("horse", "thigh.L lower_leg.L hind_foot.L r_toe.L r_hoof.L"),
    "horse front": ("horse", "upper_arm.L forearm.L forefoot.L f_toe.L"),
    "horse front, 4 bones": ("horse", "shoulder.L upper_arm.L forearm.L forefoot.L f_toe.L"),
    "wolf rear": ("wolf", "thigh.L shin.L foot.L toe.L"),
    "wolf front": ("wolf", "front_thigh.L front_shin.L front_foot.L front_toe.L"),
    "cat rear": ("cat", "thigh.L shin.L foot.L r_toe.L"),
    "cat front": ("cat", "upper_arm.L forearm.L hand.L f_toe.L"),
    "bird": ("bird", "thigh.L shin.L foot.L toe.L"),
}
"""The bones that turn, and the one whose head is the end."""
LEAST = {
    "horse rear": 0.254, "horse rear, 4 bones": 0.154, "horse front": 0.262, "horse front, 4 bones": 0.089,
    "wolf rear": 0.232, "wolf front": 0.073, "cat rear": 0.327, "cat front": 0.027, "bird": 0.095,
}  # fmt: skip
"""Part of the length to which each can be folded (measured)."""
TIP = 1e-6
"""Part of the length: float32 quaternions of four bones leave up to 3e-7."""
ALONG = 2e-6
"""Sine of the angle between directions that count as one: float32 joints a tenth of the length apart leave 1e-6."""
STILL = 1e-6
"""Radians that count as unchanged: float32 again."""

Bone = tuple[Vector, Vector, float]

every_leg = pytest.mark.parametrize("name", LEGS)


@cache
def metarig(animal: str) -> dict[str, Bone]:
    """Head, tail and roll of each bone, as the script that ships with Blender writes them down."""
    scripts = Path(bpy.utils.system_resource("SCRIPTS"))
    text = (scripts / "addons_core/rigify/metarigs/Animals" / f"{animal}.py").read_text(encoding="utf-8")
    row = r"edit_bones\.new\('([^']+)'\)\s+bone\.head = (.+)\s+bone\.tail = (.+)\s+bone\.roll = (.+)"
    return {found[1]: (vector_of(found[2]), vector_of(found[3]), float(found[4])) for found in re.finditer(row, text)}


def vector_of(text: str) -> Vector:
    return Vector([float(part) for part in text.split(",")])


def orientation(bone: Bone) -> Quaternion:
    direction = (bone[1] - bone[0]).normalized()
    return Matrix(bpy.types.Bone.MatrixFromAxisRoll(direction, bone[2])).to_quaternion()


@cache
def rigify(name: str) -> Chain:
    animal, names = LEGS[name]
    bones = [metarig(animal)[bone] for bone in names.split()]
    joints = tuple(Joint(bone[0], orientation(bone), orientation(bone)) for bone in bones[:-1])
    return Chain(joints, bones[-1][0], rest_heads=tuple(bone[0] for bone in bones))


def row(*points: Sequence[float], rest: Sequence[Sequence[float]] = ()) -> Chain:
    """Joints at points, all bones unturned: local X across, the leg in the YZ plane."""
    unturned = Quaternion()
    joints = tuple(Joint(Vector(point), unturned, unturned) for point in points[:-1])
    return Chain(joints, Vector(points[-1]), rest_heads=tuple(map(Vector, rest)))


def bent(*degrees: float, rest: Sequence[float] = ()) -> Chain:
    """Bones of length 1 downward, bent at the inner joints about X."""
    return row(*outline(degrees), rest=outline(rest) if rest else ())


def outline(degrees: Sequence[float]) -> list[tuple[float, float, float]]:
    points, heading = [(0.0, 0.0, 0.0)], 0.0
    for bend in (0.0, *degrees):
        heading += math.radians(bend)
        _, y, z = points[-1]
        points.append((0.0, y + math.sin(heading), z - math.cos(heading)))
    return points


def points_of(chain: Chain) -> list[Vector]:
    return [joint.head for joint in chain.joints] + [chain.end]


def posed(chain: Chain, solution: Solution) -> list[Vector]:
    """Forward kinematics: the joints and the end, in the solved pose."""
    found = [chain.joints[0].head.copy()]
    for (a, b), delta in zip(pairwise(points_of(chain)), solution.deltas, strict=True):
        found.append(found[-1] + delta @ (b - a))
    return found


def length_of(chain: Chain) -> float:
    return sum((b - a).length for a, b in pairwise(points_of(chain)))


def root_of(chain: Chain) -> Vector:
    return chain.joints[0].head


def at(chain: Chain, part: float, direction: Vector | None = None) -> Vector:
    """A target at a part of the chain's length from its root, along FK's line unless said."""
    line = direction or (chain.end - root_of(chain))
    return root_of(chain) + line.normalized() * part * length_of(chain)


def fk_part(chain: Chain) -> float:
    return (chain.end - root_of(chain)).length / length_of(chain)


def signed_bends(points: Sequence[Vector], across: Vector) -> list[float]:
    """Bends of the inner joints in radians, positive about ``across``."""
    directions = [(b - a).normalized() for a, b in pairwise(points)]
    return [math.atan2(a.cross(b).dot(across), a.dot(b)) for a, b in pairwise(directions)]


def turned(a: Solution, b: Solution) -> float:
    """Largest turn of any bone between two answers, in radians."""
    return max(angle_between(as_quat(p), as_quat(q)) for p, q in zip(a.deltas, b.deltas, strict=True))


def locals_of(chain: Chain, solution: Solution) -> Iterator[Quat]:
    carried: Quat = (1.0, 0.0, 0.0, 0.0)
    for joint, delta in zip(chain.joints, solution.deltas, strict=True):
        frame = multiply(carried if joint.follows_parent else (1.0, 0.0, 0.0, 0.0), as_quat(joint.frame))
        carried = as_quat(delta)
        yield multiply(conjugate(frame), multiply(carried, as_quat(joint.fk)))


def hinge(low: float, high: float) -> JointLimits:
    """Hinge about X, in degrees from rest."""
    return JointLimits(JointKind.HINGE, min_angle=math.radians(low), max_angle=math.radians(high))


def with_limits(chain: Chain, *limits: JointLimits) -> Chain:
    joints = tuple(replace(joint, limits=limit) for joint, limit in zip(chain.joints, limits, strict=True))
    return replace(chain, joints=joints)


# Reaching


@every_leg
def test_every_distance_is_met_exactly(name: str) -> None:
    """From folded as far as it goes to straight, in 60 steps and five directions, with a pole."""
    chain = rigify(name)
    size = length_of(chain)
    directions = [Vector(v) for v in ((0, 0, -1), (0, 1, -1), (1, -0.5, -0.3), (-1, 0, 0), (0.1, 0, 1))]
    for step in range(60):
        part = LEAST[name] + (1.0 - LEAST[name]) * step / 60
        for direction in directions:
            goal = Goal(at(chain, part, direction), pole=root_of(chain) + Vector((0.3, -5.0, 1.0)) * size)
            solution = leg.solve(chain, goal)
            assert (posed(chain, solution)[-1] - goal.target).length <= TIP * size
            assert (solution.status, solution.reason) == (Status.REACHED, "")


@every_leg
def test_few_evaluations(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 12 shapes for a distance from 40 % of the length up; seven in the mean."""
    measured = leg_shape.leg_of(rigify(name), True)
    counts: list[int] = []

    def counted(*args: object) -> leg_shape.Shape:
        counts[-1] += 1
        return leg_shape.shape_at(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(leg_reach, "shape_at", counted)
    least = 0.45 if name == "horse front, 4 bones" else 0.4  # below that its shoulder is folded and waits
    for step in range(200):
        counts.append(0)
        leg_reach.shape_for(measured, (least + (1.0 - least) * step / 200) * measured.plane.length)
    assert max(counts) <= 12
    assert sum(counts) / len(counts) <= 7.5


@every_leg
def test_distance_falls_as_the_leg_folds(name: str) -> None:
    """The distance is monotone in the factor until the first joint is folded."""
    measured = leg_shape.leg_of(rigify(name), True)
    first = 0.95 * leg_shape.folds(measured)[0] if "front" not in name else 3.0 * leg_shape.folds(measured)[0] / 4.0
    amounts = [-1.0 + step / 50 for step in range(50)] + [first * step / 100 for step in range(101)]
    distances = [leg_shape.shape_at(measured, amount).distance for amount in amounts]
    assert all(a > b for a, b in pairwise(distances))


@every_leg
def test_too_far_is_straight_at_the_target(name: str) -> None:
    chain = rigify(name)
    goal = Goal(at(chain, 1.5, Vector((0.2, 1.0, -1.0))))
    solution = leg.solve(chain, goal)
    assert solution.status == Status.TOO_FAR
    assert solution.error == pytest.approx(0.5 * length_of(chain), rel=1e-5)
    direction = (goal.target - root_of(chain)).normalized()
    for a, b in pairwise(posed(chain, solution)):
        assert (b - a).normalized().cross(direction).length <= ALONG


@every_leg
def test_too_near_is_as_folded_as_it_gets(name: str) -> None:
    chain = rigify(name)
    least = (posed(chain, leg.solve(chain, Goal(at(chain, 0.01))))[-1] - root_of(chain)).length / length_of(chain)
    assert LEAST[name] - 2e-3 <= least <= LEAST[name]
    assert leg.solve(chain, Goal(at(chain, 0.01))).status == Status.TOO_NEAR


def test_target_on_the_root_takes_fk_direction() -> None:
    chain = rigify("wolf rear")
    solution = leg.solve(chain, Goal(root_of(chain)))
    assert (solution.status, solution.reason) == (Status.TOO_NEAR, "target on the root")
    line = (chain.end - root_of(chain)).normalized()
    assert (posed(chain, solution)[-1] - root_of(chain)).normalized().cross(line).length <= ALONG


def test_softness_and_reach_as_for_two_bones() -> None:
    chain = rigify("cat rear")
    size = length_of(chain)
    soft = leg.solve(chain, Goal(at(chain, 1.0), softness=0.1))
    held = 0.1 * math.exp(-1.0) * size
    assert soft.error == pytest.approx(held, rel=1e-4)
    short = leg.solve(chain, Goal(at(chain, 0.9), max_reach=0.8))
    assert (posed(chain, short)[-1] - root_of(chain)).length == pytest.approx(0.8 * size, rel=1e-6)
    assert (short.status, short.reason) == (Status.TOO_FAR, "held back by softness or largest reach")


# FK comes back, without a kink


@every_leg
def test_fk_comes_back(name: str) -> None:
    """Target on FK's end, and the pole where match puts it."""
    chain = rigify(name)
    pole = root_of(chain) + leg.pole_direction(chain) * length_of(chain)
    for goal in (Goal(chain.end.copy()), Goal(chain.end.copy(), pole=pole)):
        solution = leg.solve(chain, goal)
        assert solution.status == Status.REACHED
        assert max(angle_between(as_quat(delta), (1.0, 0.0, 0.0, 0.0)) for delta in solution.deltas) <= STILL


@every_leg
@pytest.mark.parametrize("bend", [1.0, 0.1], ids=["rest", "a tenth of its bends"])
def test_joint_speeds_have_no_kink_at_fk(name: str, bend: float) -> None:
    """Speeds of all inner joints on both sides of the FK pose agree to 1 % (nested triangles: 42-fold)."""
    measured = leg_shape.leg_of(unbent(rigify(name), bend), True)
    distance, step = measured.plane.distance, 1e-3 * (measured.plane.length - measured.plane.distance)
    here, shorter, longer = (leg_reach.shape_for(measured, distance + apart) for apart in (0.0, -step, step))
    for index in range(1, len(measured.lengths)):
        inward, outward = (bend_change(here, there, index) for there in (shorter, longer))
        assert inward == pytest.approx(outward, rel=0.01)
        assert inward > 0.0


def bend_change(here: leg_shape.Shape, there: leg_shape.Shape, index: int) -> float:
    before, after = (multiply(conjugate(s.turns[index - 1]), s.turns[index]) for s in (here, there))
    return angle_between(before, after)


def unbent(chain: Chain, part: float) -> Chain:
    """FK with its bends scaled, rest as it was."""
    measured = leg_shape.leg_of(chain, False)
    shape = leg_shape.shape_at(measured, part - 1.0)
    turns = [Quaternion(turn) for turn in shape.turns]
    points = [root_of(chain)]
    for (a, b), turn in zip(pairwise(points_of(chain)), turns, strict=True):
        points.append(points[-1] + turn @ (b - a))
    joints = tuple(
        replace(joint, head=point, fk=turn @ joint.fk, frame=turn @ joint.frame)
        for joint, point, turn in zip(chain.joints, points, turns, strict=False)
    )
    return replace(chain, joints=joints, end=points[-1])


@every_leg
def test_a_moving_target_moves_the_leg_smoothly(name: str) -> None:
    """From folded, or 20 %, to 99.9 % of the length in steps of 0.1 %: no bone turns by more than 4 degrees a step."""
    chain = rigify(name)
    first = max(LEAST[name] + 0.01, 0.2)
    steps = math.ceil((0.999 - first) / 0.001)
    answers = [leg.solve(chain, Goal(at(chain, 0.999 - (0.999 - first) * step / steps))) for step in range(steps + 1)]
    assert max(turned(a, b) for a, b in pairwise(answers)) <= math.radians(4.0)


def test_float32_targets_do_not_shake_a_straight_leg() -> None:
    """Distances that differ from FK's by rounding count as FK's: without that, 1e-3 rad."""
    chain = bent(0.0, 0.0, rest=(20.0, -30.0))
    for part in (1.0 - 1e-6, 1.0 + 1e-6):
        solution = leg.solve(chain, Goal(chain.end * part))
        assert turned(solution, leg.solve(chain, Goal(chain.end))) <= STILL


# Zig-zag


@every_leg
def test_zigzag_is_kept(name: str) -> None:
    """No joint bends to the other side, and every one bends further, or less, than in FK."""
    chain = rigify(name)
    across = leg.pole_direction(chain).cross(chain.end - root_of(chain)).normalized()
    fk = signed_bends(points_of(chain), across)
    for part in (0.6 * fk_part(chain), 0.9 * fk_part(chain), 0.5 + 0.5 * fk_part(chain)):
        bends = signed_bends(posed(chain, leg.solve(chain, Goal(at(chain, part)))), across)
        for now, before in zip(bends, fk, strict=True):
            assert now * before > 0.0
            assert (abs(now) > abs(before)) == (part < fk_part(chain))


def test_bends_are_scaled_by_one_factor() -> None:
    chain = bent(30.0, -45.0, 20.0)
    bends = signed_bends(posed(chain, leg.solve(chain, Goal(at(chain, 0.7)))), Vector((1.0, 0.0, 0.0)))
    factors = [now / math.radians(before) for now, before in zip(bends, (30.0, -45.0, 20.0), strict=True)]
    assert factors[0] > 1.5
    assert factors == pytest.approx([factors[0]] * 3, rel=1e-5)


def test_share_weighs_the_factor() -> None:
    chain = bent(30.0, -40.0)
    joints = (chain.joints[0], chain.joints[1], replace(chain.joints[2], share=0.5))
    chain = replace(chain, joints=joints)
    bends = signed_bends(posed(chain, leg.solve(chain, Goal(at(chain, 0.7)))), Vector((1.0, 0.0, 0.0)))
    first, last = bends[0] / math.radians(30.0) - 1.0, bends[1] / math.radians(-40.0) - 1.0
    assert last == pytest.approx(0.5 * first, rel=1e-5)
    straight = leg.solve(chain, Goal(at(chain, 2.0)))
    assert signed_bends(posed(chain, straight), Vector((1.0, 0.0, 0.0))) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_a_straight_leg_takes_its_signs_from_rest() -> None:
    for rest in ((20.0, -30.0), (-20.0, 30.0), (25.0, 10.0)):
        chain = bent(0.0, 0.0, rest=rest)
        chain = replace(chain, bend_axis=Vector((math.copysign(1.0, rest[0]), 0.0, 0.0)))
        solution = leg.solve(chain, Goal(at(chain, 0.8)))
        bends = signed_bends(posed(chain, solution), Vector((1.0, 0.0, 0.0)))
        assert [math.copysign(1.0, bend) for bend in bends] == [math.copysign(1.0, bend) for bend in rest]
        assert bends[0] / bends[1] == pytest.approx(rest[0] / rest[1], rel=1e-4)
        assert solution.status == Status.REACHED


@every_leg
def test_a_leg_straight_in_fk_folds_as_it_stands_at_rest(name: str) -> None:
    """With the bend axis that rest shows: straightened in FK, it takes rest's side and signs at half its length."""
    chain = rigify(name)
    root, first, *_, end = (as_vec(point) for point in points_of(chain))
    axis = rest_bend_axis(root, first, end, as_quat(chain.joints[0].fk))
    across = (chain.joints[0].fk @ Vector(axis)).normalized()
    straight = replace(unbent(chain, 0.0), bend_axis=Vector(axis))
    solution = leg.solve(straight, Goal(at(straight, 0.5)))
    assert solution.status == Status.REACHED
    pairs = zip(signed_bends(posed(straight, solution), across), signed_bends(points_of(chain), across), strict=True)
    assert all(bend * at_rest > 0.0 for bend, at_rest in pairs)


def test_fk_signs_win_over_rest_where_fk_is_clearly_bent() -> None:
    """As a hyperextended limb of two bones: past what the hinge can hold (about 24 degrees in all) FK's way counts."""
    chain = bent(-20.0, 20.0, rest=(20.0, -30.0))
    bends = signed_bends(posed(chain, leg.solve(chain, Goal(at(chain, 0.8)))), Vector((1.0, 0.0, 0.0)))
    assert bends[0] < -math.radians(20.0)
    assert bends[1] > math.radians(20.0)


@pytest.mark.parametrize("mirrored", [0.1, 1.5, 3.5, 8.0])
def test_a_leg_pushed_through_straight_comes_round_to_rests_way(mirrored: float) -> None:
    """Kept as it is in FK at FK's distance and further; folded well past that it stands as at rest."""
    chain = replace(bent(-mirrored, mirrored, rest=(20.0, -30.0)), bend_axis=Vector((1.0, 0.0, 0.0)))
    across = Vector((1.0, 0.0, 0.0))
    bends = signed_bends(posed(chain, leg.solve(chain, Goal(at(chain, 0.8)))), across)
    assert bends[0] > math.radians(20.0)
    assert bends[1] < -math.radians(20.0)
    further = leg.solve(chain, Goal(at(chain, 0.5 * (1.0 + fk_part(chain)))))
    assert signed_bends(posed(chain, further), across)[0] <= 0.0
    back = leg.solve(chain, Goal(chain.end))
    assert max(angle_between(as_quat(delta), (1.0, 0.0, 0.0, 0.0)) for delta in back.deltas) <= STILL


STRAIGHT_THROUGH = {
    "as at rest": lambda x: bent(x, -0.875 * x, rest=(40.0, -35.0)),
    "nearly at once": lambda x: bent(x + 0.2, -0.875 * x + 0.1, rest=(40.0, -35.0)),
    "straight at rest": lambda x: bent(x, -x, rest=(0.0, 0.0)),
    "four bones": lambda x: bent(x, -x, 0.8 * x, rest=(30.0, -30.0, 24.0)),
    "out of plane": lambda x: posed_chain(x, rest=(40.0, -35.0)),
}


@pytest.mark.parametrize("name", STRAIGHT_THROUGH)
@pytest.mark.parametrize("part", [0.95, 0.6])
@pytest.mark.parametrize("pole", [None, Vector((0.3, 2.0, -1.0))], ids=["no pole", "pole"])
def test_fk_through_straight_is_continuous_where_all_joints_pass(name: str, part: float, pole: Vector | None) -> None:
    """Swept from 8 to -8 degrees in steps of 0.05: no bone turns by 1 degree (it was 14 to 172 at -1.5)."""
    before = None
    for step in range(-160, 161):
        chain = STRAIGHT_THROUGH[name](step / 20)
        chain = replace(chain, bend_axis=Vector((1.0, 0.0, 0.0)))
        points = posed(chain, leg.solve(chain, Goal(Vector((0.0, 0.0, -part * length_of(chain))), pole)))
        if before is not None:
            moves = ((a - b).length for a, b in zip(points, before, strict=True))
            assert max(moves) <= math.radians(1.0) * length_of(chain)
        before = points


def posed_chain(degrees: float, rest: Sequence[float]) -> Chain:
    """As ``bent``, one joint bent a little sideways besides."""
    flat = outline((degrees, -0.875 * degrees))
    return row(*((0.003 * n * n, y, z) for n, (_, y, z) in enumerate(flat)), rest=outline(rest))


@pytest.mark.parametrize("least", [0.0, -10.0])
def test_hinges_pushed_through_straight_bend_the_way_they_may(least: float) -> None:
    """A leg hyperextended by 2 degrees with hinges of 0 or -10 to 150 folds at once where that reaches."""
    chain = replace(bent(-2.0, 2.0, rest=(20.0, -30.0)), bend_axis=Vector((1.0, 0.0, 0.0)))
    limits = [FREE_JOINT, hinge(least, 150.0), hinge(-150.0, -least)]
    frames = [Quaternion(), Quaternion(), Quaternion((1.0, 0.0, 0.0), math.radians(-2.0))]
    fks = [*frames[1:], Quaternion()]
    joints = [replace(j, limits=own, frame=frame, fk=fk)
              for j, own, frame, fk in zip(chain.joints, limits, frames, fks, strict=True)]  # fmt: skip
    solution = leg.solve(replace(chain, joints=tuple(joints)), Goal(at(chain, 0.6)))
    assert solution.status == Status.REACHED


def test_a_joint_that_hardly_bends_beside_a_folded_one_takes_few_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rest bends of 90 and 0 degrees: the slow joint folds at 1,800 times the amount, and took 1,800 steps to there."""
    calls = []
    original = leg_reach.shape_at
    monkeypatch.setattr(leg_reach, "shape_at", lambda *args: calls.append(0) or original(*args))
    chain = bent(90.0, 0.0, rest=(90.0, 0.0))
    leg.solve(chain, Goal(at(chain, 0.02)))
    assert len(calls) <= 100


def test_without_rest_a_straight_leg_goes_to_and_fro() -> None:
    chain = replace(bent(0.0, 0.0, 0.0), rest_heads=())
    bends = signed_bends(posed(chain, leg.solve(chain, Goal(at(chain, 0.8)))), Vector((1.0, 0.0, 0.0)))
    assert [bend > 0.0 for bend in bends] == [True, False, True]


def test_fk_through_straight_is_continuous_where_one_joint_passes() -> None:
    """A knee swept from 8 to -8 degrees in FK beside a bent hock: no step of 0.05 degrees turns a bone by 1."""
    answers = []
    for step in range(-160, 161):
        chain = bent(step / 20, -40.0, rest=(20.0, -40.0))
        answers.append(leg.solve(replace(chain, bend_axis=Vector((1.0, 0.0, 0.0))), Goal(Vector((0.0, -0.8, -2.0)))))
    assert max(turned(a, b) for a, b in pairwise(answers)) <= math.radians(1.0)


# Pole and roll


@every_leg
def test_the_first_joint_stands_on_the_poles_side(name: str) -> None:
    chain = rigify(name)
    line = Vector((0.2, 0.3, -1.0)).normalized()
    for pole in (Vector((0.0, -1.0, 0.0)), Vector((1.0, 0.2, 0.0)), Vector((-1.0, 1.0, 0.5))):
        goal = Goal(at(chain, 0.7, line), pole=root_of(chain) + pole * length_of(chain))
        knee = posed(chain, leg.solve(chain, goal))[1] - root_of(chain)
        across = line.cross(pole).normalized()
        assert knee.dot(pole - line * pole.dot(line)) > 0.0
        assert abs(knee.normalized().dot(across)) <= (0.13 if "front, 4" in name else 0.06)
        """The metarigs' legs are that far from plane; the horse's shoulder blade is furthest."""


def test_the_poles_side_is_where_the_first_joint_stands() -> None:
    """A knee of 5 degrees before a hock of -60: the hock tilts the line so far that the knee stands behind it."""
    chain = bent(5.0, -60.0, rest=(5.0, -60.0))
    root, first, *_, end = (as_vec(point) for point in points_of(chain))
    chain = replace(chain, bend_axis=Vector(rest_bend_axis(root, first, end, (1.0, 0.0, 0.0, 0.0))))
    knee = chain.joints[1].head - root_of(chain)
    assert leg.pole_direction(chain).dot(knee) > 0.2


def test_pole_angle_turns_about_the_line() -> None:
    chain = rigify("wolf rear")
    goal = Goal(at(chain, 0.7), pole=root_of(chain) + Vector((0.0, -1.0, 0.0)))
    plain, twisted = leg.solve(chain, goal), leg.solve(chain, replace(goal, pole_angle=0.5))
    turn = Quaternion((chain.end - root_of(chain)).normalized(), 0.5)
    for before, after in zip(plain.deltas, twisted.deltas, strict=True):
        assert angle_between(as_quat(turn @ before), as_quat(after)) <= STILL


def test_pole_on_the_line_is_said() -> None:
    chain = rigify("wolf rear")
    solution = leg.solve(chain, Goal(at(chain, 0.7), pole=at(chain, 2.0)))
    assert (solution.status, solution.reason) == (Status.REACHED, "pole on the limb's line")


def test_roll_between_neighbours_is_fk_bend_alone() -> None:
    """A joint turns against the one before about the FK bend's axis: the animated twist survives."""
    chain = rigify("cat rear")
    solution = leg.solve(chain, Goal(at(chain, 0.6, Vector((0.5, 0.5, -1.0))), pole=Vector((0.0, -1.0, 0.0))))
    directions = [(b - a).normalized() for a, b in pairwise(points_of(chain))]
    for (a, b), (before, after) in zip(pairwise(directions), pairwise(solution.deltas), strict=True):
        change = before.inverted() @ after
        axis = Vector((change.x, change.y, change.z)).normalized()
        assert abs(axis.dot(a.cross(b).normalized())) >= 1.0 - 1e-6


# Limits


def test_a_joint_stops_at_its_limit_and_the_others_go_on() -> None:
    """Bends of 30 and -45 degrees in FK; the first may reach 50."""
    chain = with_limits(bent(30.0, -45.0), FREE_JOINT, hinge(-60.0, 20.0), FREE_JOINT)
    solution = leg.solve(chain, Goal(at(chain, 0.6)))
    bends = signed_bends(posed(chain, solution), Vector((1.0, 0.0, 0.0)))
    assert solution.status == Status.REACHED
    assert bends[0] == pytest.approx(math.radians(50.0), abs=1e-5)
    assert -bends[1] > math.radians(50.0 / 30.0 * 45.0)


def test_all_joints_at_their_limits_miss_and_say_so() -> None:
    chain = with_limits(bent(30.0, -45.0), FREE_JOINT, hinge(-60.0, 20.0), hinge(-10.0, 60.0))
    solution = leg.solve(chain, Goal(at(chain, 0.6)))
    assert solution.status == Status.LIMITED
    assert solution.reason == "joint 2 at its limit of 20°"
    bends = signed_bends(posed(chain, solution), Vector((1.0, 0.0, 0.0)))
    assert bends == pytest.approx([math.radians(50.0), math.radians(-55.0)], abs=1e-5)
    assert solution.error == pytest.approx((posed(chain, solution)[-1] - at(chain, 0.6)).length, abs=1e-5)


def test_the_miss_grows_from_nothing_at_a_limit() -> None:
    chain = with_limits(bent(30.0, -45.0), FREE_JOINT, hinge(-60.0, 20.0), hinge(-10.0, 60.0))
    answers = [leg.solve(chain, Goal(at(chain, 0.95 - 0.001 * step))) for step in range(300)]
    assert max(turned(a, b) for a, b in pairwise(answers)) <= math.radians(2.0)
    errors = [answer.error for answer in answers]
    assert max(abs(b - a) for a, b in pairwise(errors)) <= 0.0031  # the target moves by 0.003


def test_the_root_turns_to_the_nearest_side_that_it_may() -> None:
    """Root twist of 20 degrees at most; the pole asks for 60: the end stays on the target."""
    root = JointLimits(JointKind.BALL, twist_min=math.radians(-20.0), twist_max=math.radians(20.0))
    down = Quaternion((1.0, 0.0, 0.0), math.radians(-90.0))
    chain = bent(30.0, -45.0)
    joints = tuple(replace(joint, fk=down, frame=down) for joint in chain.joints)
    chain = with_limits(replace(chain, joints=joints), root, FREE_JOINT, FREE_JOINT)
    line = chain.end.normalized()
    side = Quaternion(line, math.radians(60.0)) @ leg.pole_direction(chain)
    goal = Goal(at(chain, 0.8), pole=side * 3.0)
    solution = leg.solve(chain, goal)
    assert solution.status == Status.REACHED
    local = next(locals_of(chain, solution))
    assert is_legal(root, local, 1e-5)
    assert abs(abs(measure(root, local).twist) - math.radians(20.0)) <= 1e-4


def test_a_root_that_only_swings_in_its_plane_comes_as_near_as_it_can() -> None:
    """A hip that is a hinge across: what the target stands beside the plane is missed, no more, and without a jump."""
    chain = with_limits(bent(30.0, -45.0), hinge(-90.0, 90.0), hinge(-180.0, 180.0), hinge(-180.0, 180.0))
    answers = []
    for step in range(101):
        goal = Goal(Vector((0.01 * step, 0.4, -2.2)))
        solution = leg.solve(chain, goal)
        assert solution.error == pytest.approx(0.01 * step, abs=2e-4)
        assert solution.status == (Status.LIMITED if step else Status.REACHED)
        answers.append(solution)
    assert max(turned(a, b) for a, b in pairwise(answers)) <= math.radians(1.0)


def test_limits_off_changes_nothing() -> None:
    chain = bent(30.0, -45.0)
    limited = with_limits(chain, FREE_JOINT, hinge(-60.0, 5.0), FREE_JOINT)
    goal = Goal(at(chain, 0.6), use_limits=False)
    assert leg.solve(limited, goal) == leg.solve(chain, goal)


# Two bones


@pytest.mark.parametrize("pole", [None, Vector((0.3, 2.0, -1.0))], ids=["no pole", "pole"])
def test_two_bones_are_posed_as_by_the_two_bone_solver(pole: Vector | None) -> None:
    chain = replace(bent(-50.0), bend_axis=Vector((-1.0, 0.0, 0.0)))
    assert (leg.pole_direction(chain) - two_bone.pole_direction(chain)).length <= STILL
    for part in (0.3, 0.6, 0.9, 0.99, 1.2):
        goal = Goal(at(chain, part, Vector((0.4, 0.3, -1.0))), pole=pole)
        mine, theirs = leg.solve(chain, goal), two_bone.solve(chain, goal)
        assert turned(mine, theirs) <= 3e-6  # float32 on both sides
        assert (mine.status, mine.reason) == (theirs.status, theirs.reason)


# Undefined input


@pytest.mark.parametrize(
    ("chain", "goal", "reason"),
    [
        (bent(10.0, 10.0), Goal(Vector((math.inf, 0.0, 0.0))), "a position or rotation is not a number"),
        (
            with_limits(bent(10.0, 10.0), FREE_JOINT, hinge(20.0, -20.0), FREE_JOINT),
            Goal(Vector((0.0, 0.0, -2.0))),
            "joint 2: minimum angle of 20° is above its maximum of -20°",
        ),
        (Chain((), Vector()), Goal(Vector()), "no joints"),
    ],
    ids=["inf", "limits", "empty"],
)
def test_bad_input_is_invalid_and_moves_nothing(chain: Chain, goal: Goal, reason: str) -> None:
    solution = leg.solve(chain, goal)
    assert (solution.status, solution.reason) == (Status.INVALID, reason)
    assert all(delta == Quaternion() for delta in solution.deltas)


def test_one_bone_is_aimed() -> None:
    chain = row((0.0, 0.0, 0.0), (0.0, 0.0, -1.0))
    solution = leg.solve(chain, Goal(Vector((0.6, 0.0, -0.8))))
    assert solution.status == Status.REACHED
    assert (posed(chain, solution)[-1] - Vector((0.6, 0.0, -0.8))).length <= TIP


coordinates = st.floats(-3.0, 3.0) | st.sampled_from([0.0, 1.0, 1e-30, -1e-7, 1e5])
vectors = st.tuples(coordinates, coordinates, coordinates)
angles = st.floats(0.0, 180.0)
limits = st.just(FREE_JOINT) | st.builds(lambda low, high: hinge(-low, high), angles, angles)


@settings(max_examples=150, deadline=None)
@given(
    places=st.lists(vectors, min_size=2, max_size=6),
    target=vectors,
    pole=st.none() | vectors,
    bound=limits,
    share=st.floats(0.0, 2.0),
    rest=st.booleans(),
)
def test_any_input_gives_unit_legal_and_equal_answers(
    places: list[tuple[float, float, float]],
    target: tuple[float, float, float],
    pole: tuple[float, float, float] | None,
    bound: JointLimits,
    share: float,
    rest: bool,
) -> None:
    frames = [Quaternion(from_axis_angle((0.0, 0.6, 0.8), 0.7 * k)) for k in range(len(places))]
    joints = tuple(Joint(Vector(p), q, q, bound, share) for p, q in zip(places[:-1], frames, strict=False))
    heads = tuple(Vector(p) for p in reversed(places)) if rest else ()
    chain = Chain(joints, Vector(places[-1]), rest_heads=heads)
    goal = Goal(Vector(target), pole=Vector(pole) if pole else None)
    solution = leg.solve(chain, goal)
    assert solution == leg.solve(chain, goal)
    assert math.isfinite(solution.error)
    assert all(abs(delta.magnitude - 1.0) <= 1e-6 for delta in solution.deltas)
    assert all(is_legal(bound, local, 1e-5) for local in locals_of(chain, solution))
    side = leg.pole_direction(chain)
    assert abs(side.length - 1.0) <= 1e-6


@settings(max_examples=100, deadline=None)
@given(
    bends=st.lists(st.floats(5.0, 60.0), min_size=2, max_size=4),
    part=st.floats(0.5, 0.9999),
    twist=st.floats(-0.6, 0.6),
)
def test_zigzags_out_of_plane_reach_too(bends: list[float], part: float, twist: float) -> None:
    """Each bone's plane turned against the one before; the end is met and no joint turns over."""
    points, direction, across = [Vector()], Vector((0.0, 0.0, -1.0)), Vector((1.0, 0.0, 0.0))
    for index, bend in enumerate((0.0, *bends)):
        direction = Quaternion(across, math.radians(bend if index % 2 else -bend)) @ direction
        across = Quaternion(direction, twist) @ across
        points.append(points[-1] + direction)
    chain = row(*points)
    goal = Goal(at(chain, part, Vector((0.3, -0.2, -1.0))))
    solution = leg.solve(chain, goal)
    assert solution.status == Status.REACHED
    assert (posed(chain, solution)[-1] - goal.target).length <= TIP * length_of(chain)


# A captured animal


FOX_LEG = ("b_RightLeg01", "b_RightLeg02", "b_RightFoot01", "b_RightFoot02")


def test_a_fox_comes_back_and_reaches(data_dir: Path) -> None:
    """The hind leg of the Khronos sample Fox, as its nodes stand."""
    path = data_dir / "gltf" / "Fox.glb"
    if not path.is_file():
        pytest.skip(f"no {path.name} in the sample data: the Rigify legs stand for it")
    points = node_points(path, FOX_LEG)
    chain = row(*points, rest=points)
    assert turned(leg.solve(chain, Goal(chain.end)), leg.solve(chain, Goal(chain.end.copy()))) <= STILL
    for step in range(40):
        goal = Goal(at(chain, 0.5 + 0.4999 * step / 40, Vector((0.3, 0.1, -1.0))))
        solution = leg.solve(chain, goal)
        assert (posed(chain, solution)[-1] - goal.target).length <= TIP * length_of(chain)


def node_points(path: Path, names: Sequence[str]) -> list[Vector]:
    """World positions of the nodes whose names begin so, in that order."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<I", data, 12)
    nodes = json.loads(data[20 : 20 + size])["nodes"]
    places: dict[str, Vector] = {}

    def visit(index: int, world: Matrix) -> None:
        node = nodes[index]
        x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
        scale = Vector(node.get("scale", (1.0, 1.0, 1.0)))
        here = world @ Matrix.LocRotScale(
            Vector(node.get("translation", (0.0, 0.0, 0.0))), Quaternion((w, x, y, z)), scale
        )
        places[node.get("name", "")] = here.translation
        for child in node.get("children", ()):
            visit(child, here)

    inner = {child for node in nodes for child in node.get("children", ())}
    for index in range(len(nodes)):
        if index not in inner:
            visit(index, Matrix())
    return [next(place for full, place in places.items() if full.startswith(name)) for name in names]
