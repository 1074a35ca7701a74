"""Scenarios about spaces: every transform, inherit flag and rotation mode (LB-04, 07, 08, 31, 32, 59, 60, 72)."""

from __future__ import annotations

import dataclasses
import itertools
import math

import bpy
import pytest
from mathutils import Euler, Vector

import rigs

pytestmark = pytest.mark.usefixtures("blank")


def test_lb_04_a_long_chain_is_final_after_one_update() -> None:
    obj = rigs.build(rigs.with_root([*rigs.bent(6, 0.5, math.radians(8))]))
    rigs.turn(obj, "root", "Z", math.radians(35))
    tip = [bone.name for bone in obj.pose.bones][-1]
    target = rigs.empty("T", (0.8, -0.9, 1.3))
    rigs.add_chain_by_properties(obj, tip, target, chain_length=6, solver="FABRIK")
    rigs.update()
    first = rigs.local_rotations(obj)
    assert rigs.tip_error(obj, tip, target) <= 3e-3
    for _ in range(2):
        target.location.z += 1e-9
        obj.update_tag()
        rigs.update()
        assert rigs.local_distance(first, rigs.local_rotations(obj)) <= 1e-6


@pytest.mark.parametrize("is_below_parent", [False, True])
@pytest.mark.parametrize("is_target_below", [False, True])
@pytest.mark.parametrize("has_delta", [False, True])
def test_lb_07_object_transforms(is_below_parent: bool, is_target_below: bool, has_delta: bool) -> None:
    obj = rigs.l2s(location=(3, -2, 1), rotation=(0, 0, math.pi / 2), scale=0.01, length=100)
    target, pole = rigs.empty("T", (3, -0.8, 1.5)), rigs.empty("P", (6, -2, 1))
    above = rigs.empty("Above", (0.5, 0.2, -0.3), rotation=[math.radians(a) for a in (20, 30, 40)])
    above.scale = (2, 2, 2)
    if is_below_parent:
        obj.parent = above
    if is_target_below:
        target.parent = above
        target.location = (0.4, -0.3, 0.9)
    if has_delta:
        obj.delta_location = (0.1, 0.2, 0.3)
        obj.delta_rotation_euler = (0.2, 0, 0)
    rigs.add_chain_by_properties(obj, "lo", target, pole)
    rigs.update()
    if rigs.bone(obj, "lo").limb_ik_status == "REACHED":
        length = 2 * (2 if is_below_parent else 1)
        assert rigs.tip_error(obj, "lo", target) <= 1e-5 * length
    if not (is_below_parent or is_target_below or has_delta):
        elbow = rigs.evaluated_pose(obj)["lo"].head
        assert tuple(elbow) == pytest.approx((3.759934, -1.4, 1.25), abs=1e-5)
        assert rigs.bone(obj, "lo").limb_ik_status == "REACHED"
    for bone in obj.pose.bones:
        assert tuple(bone.scale) == (1, 1, 1)
        assert tuple(bone.location) == (0, 0, 0)


MODES = ("QUATERNION", "XYZ", "ZYX", "YXZ", "XZY", "YZX", "ZXY", "AXIS_ANGLE")


def test_lb_08_every_rotation_mode_gives_the_same_pose() -> None:
    obj = rigs.l2b()
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)), rigs.empty("P", (0, 3, 0.8)))
    rigs.update()
    reference = rigs.evaluated_pose(obj)
    for first, second in itertools.product(MODES, ("QUATERNION", "YXZ", "AXIS_ANGLE")):
        rigs.bone(obj, "up").rotation_mode = first
        rigs.bone(obj, "lo").rotation_mode = second
        rigs.update()
        assert rigs.pose_distance(reference, rigs.evaluated_pose(obj)) <= 1e-4
        assert rigs.joint_distance(reference, rigs.evaluated_pose(obj)) <= 2e-6
        assert (rigs.bone(obj, "up").rotation_mode, rigs.bone(obj, "lo").rotation_mode) == (first, second)
        for bone in obj.pose.bones:
            if bone.rotation_mode == "AXIS_ANGLE":
                assert Vector(bone.rotation_axis_angle[1:]).length == pytest.approx(1, abs=1e-6)
        assert rigs.tip_error(obj, "lo", bpy.data.objects["T"]) <= 1e-5


FLAGS = list(
    itertools.product([True, False], [True, False], ["FULL", "NONE", "ALIGNED", "AVERAGE", "NONE_LEGACY", "FIX_SHEAR"])
)


@pytest.mark.parametrize("bone", ["up", "lo"])
@pytest.mark.parametrize(("inherits", "local", "scale"), FLAGS)
def test_lb_31_inherit_flags(bone: str, inherits: bool, local: bool, scale: str) -> None:
    obj = rigs.rig("L2B", root=True)
    rigs.turn(obj, "root", "Z", math.radians(50))
    rigs.bone(obj, "root").scale = (1.5, 1.5, 1.5)
    flagged = obj.data.bones[bone]
    flagged.use_inherit_rotation, flagged.use_local_location, flagged.inherit_scale = inherits, local, scale
    target = rigs.empty("T", (0.4, -0.5, 1.0))
    tip = rigs.add_chain_by_properties(obj, "lo", target)
    for degrees in (50, 80):
        rigs.turn(obj, "root", "Z", math.radians(degrees))
        rigs.update()
        assert (tip.limb_ik_status, tip.limb_ik_message) == ("REACHED", "")
        assert rigs.tip_error(obj, "lo", target) <= 1e-5


@pytest.mark.parametrize(("scale", "elbow"), [("FULL", (1.322876, -1.2, 1.4)), ("NONE", None)])
def test_lb_32_a_scaled_parent(scale: str, elbow: tuple[float, ...] | None) -> None:
    obj = rigs.build(
        [
            rigs.BoneSpec("root", (0, 0, -0.5), (0, 0, 0)),
            rigs.BoneSpec("up", (0, 0, 0), (0, 0, 1), "root"),
            rigs.BoneSpec("lo", (0, 0, 1), (0, 0, 2), "up"),
        ]
    )
    rigs.bone(obj, "root").scale = (2, 2, 2)
    obj.data.bones["up"].inherit_scale = scale
    target = rigs.empty("T", (0, -2.4, 2.3))
    tip = rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (3, 0, 0.5)))
    rigs.update()
    pose = rigs.evaluated_pose(obj)
    if elbow:
        assert tuple(pose["lo"].head) == pytest.approx(elbow, abs=1e-5)
        assert rigs.tip_error(obj, "lo", target) <= 1e-5
    else:
        root = Vector((0, 0, 0.5))
        assert tip.limb_ik_status == "TOO_FAR"
        assert (pose["lo"].tail - root).length == pytest.approx(2, abs=1e-5)
        assert (pose["lo"].tail - root).angle(Vector((0, -2.4, 1.8))) <= 1e-3
    assert tuple(rigs.bone(obj, "root").scale) == (2, 2, 2)


@pytest.mark.parametrize("names", [("A", "B"), ("Z", "B")])
@pytest.mark.parametrize(
    "way", ["bone", "bone_parent", "object_parent", "deep", "CHILD_OF", "COPY_LOCATION", "COPY_TRANSFORMS"]
)
def test_lb_59_a_target_on_another_solved_rig(names: tuple[str, str], way: str) -> None:
    a, b = rigs.l2b(name=names[0], location=(1.0, 0, 0)), rigs.l2b(name=names[1])
    goal = rigs.empty("T", (0.6, -0.4, 1.2))
    for frame, x in ((1, 0.6), (10, -0.2)):
        goal.location.x = x
        goal.keyframe_insert("location", frame=frame)
    rigs.add_chain_by_properties(b, "lo", goal, end_bone="hand")
    hold = rigs.empty("Hold", (0.1, 0, 0))
    if way == "bone":
        rigs.add_chain_by_properties(a, "lo", b, target_bone="hand")
    else:
        if way.isupper():
            constraint = hold.constraints.new(way)
            constraint.target, constraint.subtarget = b, "hand"
        elif way == "object_parent":
            hold.parent = b
            hold.location = (0.3, -0.3, 1.1)
        else:
            inner = hold
            if way == "deep":
                inner = rigs.empty("Inner", (0.05, 0.02, 0))
                hold.parent = inner
            inner.parent, inner.parent_type, inner.parent_bone = b, "BONE", "hand"
        rigs.add_chain_by_properties(a, "lo", hold)
    for frame in [*range(1, 11), 3, 9]:
        rigs.frame_set(frame)
        goal_of_a = rigs.evaluated_pose(b)["hand"].head if way == "bone" else rigs.world_position(hold)
        assert rigs.tip_error(b, "lo", goal, "hand") <= 1e-5
        if rigs.bone(a, "lo").limb_ik_status == "REACHED":
            assert rigs.tip_error(a, "lo", goal_of_a) <= 1e-5
    assert rigs.bone(a, "lo").limb_ik_status == "REACHED"


def test_lb_59_rigs_that_wait_for_each_other_are_named_and_stay() -> None:
    a, b = rigs.l2b(name="A", location=(1.0, 0, 0)), rigs.l2b(name="B")
    rigs.add_chain_by_properties(a, "lo", b, target_bone="hand")
    rigs.add_chain_by_properties(b, "lo", a, target_bone="hand")
    c = rigs.l2b(name="C", location=(0, 3, 0))
    free = rigs.empty("F", (0.3, 2.7, 1.1))
    rigs.add_chain_by_properties(c, "lo", free)
    rigs.update()
    before = rigs.local_rotations(a)
    for _ in range(50):
        a.update_tag()
        rigs.update()
    assert rigs.local_distance(before, rigs.local_rotations(a)) <= 1e-6
    for rig in (a, b):
        assert rigs.bone(rig, "lo").limb_ik_status == "INVALID"
        assert "depend" in rigs.bone(rig, "lo").limb_ik_message
    assert rigs.tip_error(c, "lo", free) <= 1e-5


@pytest.mark.parametrize("way", ["own child", "own bone", "parented to own bone", "pole below own bone"])
def test_lb_60_a_target_below_its_own_chain(way: str) -> None:
    obj = rigs.l2b()
    hold = rigs.empty("Hold", (0.1, 0, 0))
    hold.parent, hold.parent_type, hold.parent_bone = obj, "BONE", "lo" if way.startswith("pole") else "up"
    if way == "own child":
        rigs.add_chain_by_properties(obj, "lo", obj, target_bone="hand")
    elif way == "own bone":
        rigs.add_chain_by_properties(obj, "lo", obj, target_bone="lo")
    elif way == "parented to own bone":
        rigs.add_chain_by_properties(obj, "lo", hold)
    else:
        rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.3, -0.3, 1.1)), hold)
    rigs.update()
    before = rigs.local_rotations(obj)
    for _ in range(50):
        obj.update_tag()
        rigs.update()
    assert rigs.local_distance(before, rigs.local_rotations(obj)) <= 1e-6
    assert rigs.bone(obj, "lo").limb_ik_status == "INVALID"


def test_lb_72_far_from_the_origin() -> None:
    near, far = rigs.l2b(name="Near"), rigs.l2b(name="Far", location=(10000, 10000, 0))
    targets = rigs.empty("TN", (0.7, 0.4, 0.85)), rigs.empty("TF", (10000.7, 10000.4, 0.85))
    rigs.add_chain_by_properties(near, "lo", targets[0])
    rigs.add_chain_by_properties(far, "lo", targets[1])
    rigs.update()
    idle = rigs.local_rotations(far)
    for _ in range(30):
        far.update_tag()
        rigs.update()
        assert rigs.local_distance(idle, rigs.local_rotations(far)) <= 1e-7
    for step in range(5):
        for target in targets:
            target.location.z = 0.85 + 0.01 * step
        rigs.update()
        assert rigs.tip_error(far, "lo", targets[1]) <= 2e-3
        assert rigs.local_distance(rigs.local_rotations(near), rigs.local_rotations(far)) <= 2e-3


@pytest.mark.parametrize("scale", [(1, 1, 2), (1, 1.2, 0.8), (1.5, 1, 1)])
@pytest.mark.parametrize("place", ["object", "root"])
def test_lb_56_a_scale_that_differs_along_the_axes_is_reached_or_said(place: str, scale: tuple[float, ...]) -> None:
    obj = rigs.rig("L2B", root=True)
    if place == "object":
        obj.scale = scale
    else:
        rigs.bone(obj, "root").scale = scale
    target = rigs.empty("T", (0, -1.0, 1.3))
    tip = rigs.add_chain_by_properties(obj, "lo", target)
    rigs.update()
    assert rigs.is_finite(obj)
    assert tip.limb_ik_status == "REACHED"
    assert rigs.tip_error(obj, "lo", target) <= 1e-5 * 2


def test_lb_56_nothing_moves_where_the_target_is_on_the_end() -> None:
    obj = rigs.rig("L2B", root=True)
    rigs.bone(obj, "root").scale = (1, 1.4, 0.7)
    rigs.turn(obj, "up", "X", 0.4)
    rigs.turn(obj, "lo", "Z", 0.2)
    rigs.update()
    before = rigs.local_rotations(obj)
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", rigs.evaluated_pose(obj)["hand"].head), end_bone="hand")
    rigs.update()
    assert rigs.local_distance(before, rigs.local_rotations(obj)) <= 1e-5


def test_rotated_parents_do_not_matter_to_the_end() -> None:
    obj = rigs.legp()
    rigs.bone(obj, "pelvis").rotation_mode = "XYZ"
    rigs.bone(obj, "pelvis").rotation_euler = Euler((0.2, 0.4, -0.3))
    target = rigs.empty("T", (0.15, -0.2, 0.35))
    rigs.add_chain_by_properties(obj, "shin", target, end_bone="foot", end_rotation="KEEP_LOCAL")
    rigs.turn(obj, "foot", "X", math.radians(25))
    rigs.update()
    assert rigs.tip_error(obj, "shin", target, "foot") <= 1e-5
    assert rigs.local_rotations(obj)["foot"].angle == pytest.approx(math.radians(25), abs=1e-6)


def test_what_hangs_loosely_on_solved_bones_is_named() -> None:
    a, b = rigs.l2b(name="A", location=(1.0, 0, 0)), rigs.l2b(name="B")
    rigs.add_chain_by_properties(b, "lo", rigs.empty("T", (0.6, -0.4, 1.2)))
    hold = rigs.empty("Hold", (0.5, -0.2, 1.1))
    for kind in ("CHILD_OF", "LIMIT_LOCATION"):
        constraint = hold.constraints.new(kind)
    constraint = hold.constraints["Child Of"]
    constraint.target, constraint.subtarget, constraint.influence = b, "hand", 0.5
    rigs.add_chain_by_properties(a, "lo", hold)
    rigs.update()
    assert "Child Of" in rigs.bone(a, "lo").limb_ik_message


def test_constraints_in_a_circle_do_not_hang() -> None:
    obj = rigs.l2b()
    one, two = rigs.empty("One", (0.5, -0.2, 1.1)), rigs.empty("Two")
    for a, b in ((one, two), (two, one)):
        a.constraints.new("CHILD_OF").target = b
    rigs.add_chain_by_properties(obj, "lo", one)
    rigs.update()
    assert rigs.is_finite(obj)


@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("solver", ["TWO_BONE", "FABRIK"])
def test_blender_ignores_the_location_of_connected_bones_and_so_does_ik(solver: str, count: int) -> None:
    """Imported curves often move connected bones: the numbers are there, the bones stay. One rig and a crowd."""
    connected = [dataclasses.replace(spec, connected=bool(spec.parent)) for spec in rigs.RIGS["L2B"]]
    made = [rigs.build(connected, f"Rig {number}", location=(2.0 * number, 0, 0)) for number in range(count)]
    targets = [rigs.empty("T", (2.0 * number + 0.3, -0.4, 1.1)) for number in range(count)]
    for obj, target in zip(made, targets, strict=True):
        for name in ("lo", "hand"):
            rigs.bone(obj, name).location = (0.2, -0.3, 0.1)
        rigs.add_chain_by_properties(obj, "lo", target, end_bone="hand", solver=solver)
    for go in (rigs.update, lambda: rigs.frame_set(2)):
        go()
        for obj, target in zip(made, targets, strict=True):
            assert rigs.bone(obj, "lo").limb_ik_status == "REACHED"
            assert rigs.tip_error(obj, "lo", target, "hand") <= 2e-6
