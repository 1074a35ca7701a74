"""Set-up guesses which way a limb bends: by its motion, its rest pose, or how bodies are made."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.rig.limb_finding.skeleton import Kind, Limb, RestBone
from limb_ik.rig.limbs import find_limbs
from limb_ik.rig.setting_up.bend import (
    BendSample,
    BodyAxes,
    bend_axis,
    bend_axis_from_motion,
    bend_axis_from_rest,
    body_axes,
    body_forward,
    to_bone,
)
from mathutils import Euler, Matrix, Quaternion, Vector

from ..naming import CONVENTIONS, Convention, skeleton

FORWARD, UP = Vector((0.0, -1.0, 0.0)), Vector((0.0, 0.0, 1.0))
FLOAT32 = 2e-6
"""mathutils stores float32: a few roundings of 6e-8 in unit vectors."""


def leg(bend: float, side: Vector) -> tuple[Vector, Vector, Vector]:
    """Hip, knee, ankle of a leg that hangs down, its knee bent by this angle toward a side."""
    hip, down = Vector((0.1, 0.0, 1.0)), Vector((0.0, 0.0, -1.0))
    half = bend / 2
    upper = down * math.cos(half) + side * math.sin(half)
    lower = down * math.cos(half) - side * math.sin(half)
    return hip, hip + upper * 0.5, hip + (upper + lower) * 0.5


def bends_toward(axis: Vector, line: Vector) -> Vector:
    """Side that a limb along the line bends to about a hinge."""
    return line.cross(axis)


def test_straight_knees_bend_forward_and_elbows_back() -> None:
    down, out = Vector((0.0, 0.0, -1.0)), Vector((1.0, 0.0, 0.0))
    knee = bend_axis_from_rest(*leg(0.0, FORWARD), "leg", FORWARD)
    assert bends_toward(knee, down).dot(FORWARD) == pytest.approx(1.0, abs=FLOAT32)
    for line in (out, -out, down):
        elbow = bend_axis_from_rest(Vector(), line, line * 2, "arm", FORWARD)
        assert bends_toward(elbow, line).dot(FORWARD) == pytest.approx(-1.0, abs=FLOAT32)


@settings(deadline=None)
@given(st.floats(8.5, 170.0), st.floats(-3.1, 3.1), st.sampled_from(["arm", "leg"]))
def test_a_clear_rest_bend_is_the_hinge_whichever_way(degrees: float, turn: float, kind: Kind) -> None:
    side = Quaternion(UP, turn) @ FORWARD
    joints = leg(math.radians(degrees), side)
    axis = bend_axis_from_rest(*joints, kind, FORWARD)
    normal = (joints[1] - joints[0]).cross(joints[2] - joints[1]).normalized()
    assert axis.dot(normal) == pytest.approx(1.0, abs=1e-5)


def test_a_weak_rest_bend_turns_the_expected_hinge_as_far_as_it_is_clear() -> None:
    aside = Quaternion(UP, math.radians(40)) @ FORWARD
    ahead = bend_axis_from_rest(*leg(0.0, FORWARD), "leg", FORWARD)
    rests = [leg(math.radians(degrees), aside) for degrees in (0.0, 2.0, 4.0, 6.0, 7.99)]
    angles = [bend_axis_from_rest(*joints, "leg", FORWARD).angle(ahead) for joints in rests]
    assert angles == sorted(angles)
    assert angles[0] == pytest.approx(0.0, abs=1e-3)  # acos near 1 in float32
    assert angles[-1] == pytest.approx(math.radians(40), abs=1e-2)


def test_a_weak_rest_bend_the_wrong_way_does_not_count() -> None:
    wrong = bend_axis_from_rest(*leg(math.radians(5), -FORWARD), "leg", FORWARD)
    assert wrong.dot(bend_axis_from_rest(*leg(0.0, FORWARD), "leg", FORWARD)) == pytest.approx(1.0, abs=FLOAT32)


def test_limbs_along_the_facing_bend_up_and_down() -> None:
    sitting = bend_axis_from_rest(Vector(), FORWARD, FORWARD * 2, "leg", FORWARD, UP)
    assert bends_toward(sitting, FORWARD).dot(UP) == pytest.approx(1.0, abs=FLOAT32)
    reaching = bend_axis_from_rest(Vector(), FORWARD, FORWARD * 2, "arm", FORWARD, UP)
    assert bends_toward(reaching, FORWARD).dot(UP) == pytest.approx(-1.0, abs=FLOAT32)


def test_a_limb_without_length_has_no_hinge() -> None:
    assert bend_axis_from_rest(Vector(), Vector(), Vector(), "leg", FORWARD) == Vector()
    assert bend_axis_from_rest(Vector(), UP, Vector(), "leg", FORWARD).length in (0.0, pytest.approx(1.0))


@settings(deadline=None)
@given(
    st.floats(0.0, 170.0),
    st.tuples(*[st.floats(-3.1, 3.1)] * 3),
    st.floats(-4.0, 4.0),
    st.sampled_from(["arm", "leg"]),
)
def test_the_hinge_turns_with_the_body(
    degrees: float, turn: tuple[float, float, float], power: float, kind: Kind
) -> None:
    joints = leg(math.radians(degrees), Quaternion(UP, 0.3) @ FORWARD)
    place = Euler(turn).to_quaternion()
    there = bend_axis_from_rest(*(place @ j * 10.0**power for j in joints), kind, place @ FORWARD, place @ UP)
    here = bend_axis_from_rest(*joints, kind, FORWARD, UP)
    # a bend of some 1e-4 rad keeps three digits of its direction in float32; it counts by as little
    assert there.dot(place @ here) == pytest.approx(1.0, abs=1e-4)
    assert here.length == pytest.approx(1.0, abs=FLOAT32)


def poses(hinge_bone: Vector, bends: list[float], wobble: float = 0.0) -> list[BendSample]:
    """A limb swung about in space, bending about a hinge of its upper bone."""
    samples = []
    for at, bend in enumerate(bends):
        turn = Euler((0.3 * at, 0.7 * at, -0.4 * at)).to_quaternion()
        hinge = (hinge_bone + Vector((0.0, 0.0, wobble * math.sin(at * 2.4)))).normalized()
        upper = Vector((0.0, 1.0, 0.0))
        lower = Quaternion(hinge, bend) @ upper
        root = Vector((at, 0.0, 1.0))
        samples.append(BendSample(root, root + turn @ upper * 0.4, root + turn @ (upper * 0.4 + lower * 0.3), turn))
    return samples


@settings(deadline=None)
@given(st.floats(-3.1, 3.1), st.lists(st.floats(0.2, 2.5), min_size=1, max_size=30))
def test_motion_gives_the_hinge_in_the_root_bones_space(turn: float, bends: list[float]) -> None:
    hinge = Quaternion((0.0, 1.0, 0.0), turn) @ Vector((1.0, 0.0, 0.0))
    found = bend_axis_from_motion(poses(hinge, bends))
    assert found is not None
    assert found.dot(hinge) == pytest.approx(1.0, abs=1e-5)


def test_far_bends_count_more_than_small_ones() -> None:
    far, near = Vector((1.0, 0.0, 0.0)), Vector((0.0, 0.0, 1.0))
    found = bend_axis_from_motion(poses(far, [1.2] * 5) + poses(near, [0.15] * 5))
    assert found is not None
    assert found.angle(far) < math.radians(10) < math.radians(80) < found.angle(near)


def test_trembling_and_hyperextension_do_not_turn_the_hinge_round() -> None:
    found = bend_axis_from_motion(poses(Vector((1.0, 0.0, 0.0)), [-0.2, 0.05, -0.1, 0.9, 1.2, 0.8, 0.02], wobble=0.2))
    assert found is not None and found.x > 0.97


@pytest.mark.parametrize("bends", [[], [0.0, 0.0], [0.1, 0.05, -0.12]], ids=["no pose", "straight", "trembling"])
def test_motion_without_bends_shows_nothing(bends: list[float]) -> None:
    assert bend_axis_from_motion(poses(Vector((1.0, 0.0, 0.0)), bends)) is None


def test_bends_in_all_directions_show_nothing() -> None:
    around = [Quaternion((0.0, 1.0, 0.0), turn) @ Vector((1.0, 0.0, 0.0)) for turn in (0.0, 1.57, 3.14, 4.71)]
    assert bend_axis_from_motion([sample for hinge in around for sample in poses(hinge, [1.0])]) is None


def turned(bodies: tuple[RestBone, ...], place: Matrix) -> tuple[RestBone, ...]:
    """The skeleton somewhere else."""
    return tuple(
        RestBone(b.name, b.parent, tuple(place @ Vector(b.head)), tuple(place @ Vector(b.tail))) for b in bodies
    )


@pytest.mark.parametrize("convention", CONVENTIONS, ids=lambda convention: convention.name)
def test_bodies_face_where_their_toes_point(convention: Convention) -> None:
    bodies = skeleton(convention)
    axes = body_axes(bodies, find_limbs(bodies))
    assert axes is not None
    # a leg without an end bone ends at its tail, here the tip of the foot: 12° off the ankle
    slack = math.radians(15 if convention.name == "No ends" else 5)
    assert axes.forward.angle(FORWARD) < slack and axes.up.angle(UP) < slack
    assert abs(axes.forward.dot(axes.up)) < FLOAT32


@settings(max_examples=20, deadline=None)
@given(st.tuples(*[st.floats(-3.1, 3.1)] * 3), st.floats(-3.0, 3.0))
def test_facing_turns_with_the_body(turn: tuple[float, float, float], power: float) -> None:
    bodies = skeleton(CONVENTIONS[0])
    limbs = find_limbs(bodies)
    place = Matrix.LocRotScale(None, Euler(turn), Vector((1.0, 1.0, 1.0)) * 10.0**power)
    here, there = body_forward(bodies, limbs), body_forward(turned(bodies, place), limbs)
    assert there.dot(place.to_quaternion() @ here) == pytest.approx(1.0, abs=1e-4)


def _cut(bodies: tuple[RestBone, ...], limbs: list[Limb]) -> tuple[RestBone, ...]:
    """Without what hangs on the limbs' ends."""
    ends = {limb.end for limb in limbs}
    gone: set[str] = set()
    for bone in bodies:
        if bone.parent in ends or bone.parent in gone:
            gone.add(bone.name)
    return tuple(bone for bone in bodies if bone.name not in gone)


def test_without_toes_left_and_right_tell_the_front() -> None:
    bodies = skeleton(CONVENTIONS[0])
    limbs = find_limbs(bodies)
    assert body_forward(_cut(bodies, limbs), limbs).angle(FORWARD) < math.radians(5)


def test_joints_in_the_ankle_do_not_turn_the_front_round() -> None:
    bodies = _cut(skeleton(CONVENTIONS[0]), limbs := find_limbs(skeleton(CONVENTIONS[0])))
    ends = {limb.end: next(b.head for b in bodies if b.name == limb.end) for limb in limbs if limb.kind == "leg"}
    palms = [RestBone(f"palm of {end}", end, (x, y + 0.02, z), (x, y - 0.1, z)) for end, (x, y, z) in ends.items()]
    assert body_forward((*bodies, *palms), limbs).angle(FORWARD) < math.radians(5)


def test_without_anything_bodies_face_as_blenders_do() -> None:
    assert body_forward((), []) == FORWARD
    assert body_axes((), []) is None


def test_the_trunk_tells_the_front_of_a_creature() -> None:
    rows = {"hips": (None, (0.0, 0.0, 1.0))}
    rows |= {"thigh": ("hips", (0.0, 0.0, 1.0)), "shin": ("thigh", (0.0, 0.0, 0.5)), "foot": ("shin", (0.0, 0.0, 0.1))}
    rows |= {
        "upper_arm": ("hips", (1.0, 0.0, 1.0)),
        "forearm": ("upper_arm", (1.0, 0.0, 0.5)),
        "hand": ("forearm", (1.0, 0.0, 0.0)),
    }
    bodies = tuple(RestBone(name, parent, head, head) for name, (parent, head) in rows.items())
    assert body_forward(bodies, find_limbs(bodies)).dot(Vector((1.0, 0.0, 0.0))) == pytest.approx(1.0, abs=FLOAT32)


def test_a_rest_pose_with_all_bones_along_one_line_still_has_a_front() -> None:
    rows: dict[str, tuple[str | None, tuple[float, float, float]]] = {"Hips": (None, (0.0, 0.0, 94.0))}
    for side, x, z in (("Left", 8.0, 100.0), ("Right", -8.0, 114.0)):
        rows |= {f"{side}UpLeg": ("Hips", (x, 0.0, 94.0)), f"{side}Leg": (f"{side}UpLeg", (x + 43.0, 0.0, 94.0))}
        rows |= {f"{side}Foot": (f"{side}Leg", (x + 86.0, 0.0, 94.0))}
        rows |= {f"{side}Arm": ("Hips", (49.0, 0.0, z)), f"{side}ForeArm": (f"{side}Arm", (75.0, 0.0, z))}
        rows |= {f"{side}Hand": (f"{side}ForeArm", (104.0, 0.0, z))}
    bodies = tuple(RestBone(name, parent, head, head) for name, (parent, head) in rows.items())
    axes = body_axes(bodies, find_limbs(bodies))
    assert axes is not None
    # left is −Z and the trunk +X; the capture's knees bend about +Z of a leg along +X (seen in its motion)
    assert axes.forward.dot(FORWARD) == pytest.approx(1.0, abs=FLOAT32)
    knee = bend_axis_from_rest(*(Vector(rows[f"Left{b}"][1]) for b in ("UpLeg", "Leg", "Foot")), "leg", axes.forward)
    assert knee.z == pytest.approx(1.0, abs=FLOAT32)


def test_a_hinge_is_stored_in_the_root_bones_space() -> None:
    rest = Euler((0.4, -1.1, 2.0)).to_matrix().to_4x4()
    bone = RestBone("thigh.L", None, (0.0, 0.0, 1.0), (0.0, 0.0, 0.5), tuple(n for row in rest for n in row))
    there = to_bone(Vector((0.0, 1.0, 0.0)), bone)
    assert (rest.to_3x3() @ there - Vector((0.0, 1.0, 0.0))).length < FLOAT32


def test_rest_shows_knees_forward_and_elbows_back() -> None:
    bodies = skeleton(CONVENTIONS[0])
    limbs = find_limbs(bodies)
    arm, leg_l = limbs[0], limbs[2]
    axes = BodyAxes(FORWARD, UP)
    knee = bend_axis(leg_l, bodies, axes)
    assert bends_toward(knee, -UP).dot(FORWARD) > 0.99
    assert bend_axis(leg_l, bodies, None) == knee
    elbow = bend_axis(arm, bodies, axes)
    # these arms rest bent by 8°, a little downwards
    assert bends_toward(elbow, Vector((1.0, 0.0, 0.0))).dot(FORWARD) < -0.95


def test_a_creatures_hinge_is_its_first_bend() -> None:
    heads = {
        "thigh.L": (0.1, 0.34, 0.74),
        "shin.L": (0.1, 0.27, 0.47),
        "foot.L": (0.13, 0.48, 0.25),
        "toe.L": (0.08, 0.41, 0.04),
    }
    parents = dict(zip(heads, [None, *heads], strict=False))
    bodies = tuple(RestBone(name, parents[name], head, head) for name, head in heads.items())
    (limb,) = find_limbs(bodies)
    assert limb.is_creature
    axis = bend_axis(limb, bodies, BodyAxes(FORWARD, UP))
    assert bends_toward(axis, -UP).dot(FORWARD) > 0.9  # the stifle bends forward, the hock back
    joints = [Vector(heads[name]) for name in ("thigh.L", "shin.L", "foot.L")]
    assert axis.dot((joints[1] - joints[0]).cross(joints[2] - joints[1]).normalized()) == pytest.approx(
        1.0, abs=FLOAT32
    )
