"""Mirror, copy, convert, select: chains that come from others, and what selecting them takes."""

from __future__ import annotations

import math
import random
from typing import Any

import bpy
import pytest
from limb_ik.rig import compat
from limb_ik.rig.chains import limits_of, tips
from limb_ik.rig.reflection import REFLECTION, mirror_joint
from limb_ik.solvers import joint_limits
from limb_ik.solvers.rotations import Quat
from mathutils import Matrix, Quaternion, Vector

import rigs
from body import body_bones

ops: Any = bpy.ops
ROLLS = (0.0, 37.0, 90.0, -135.0, 180.0)
M = REFLECTION


def mirrored_local(bone: Any, other: Any, local: Quat) -> Quat:
    """The local rotation of the other side's bone that gives the mirrored pose, through armature space."""
    rest, other_rest = bone.bone.matrix_local.to_3x3(), other.bone.matrix_local.to_3x3()
    posed_arm: Matrix = rest @ Quaternion(local).to_matrix() @ rest.transposed()  # the turn, armature space
    turned = other_rest.transposed() @ (M @ posed_arm @ M) @ other_rest
    return tuple(turned.to_quaternion())


def limited_pair(roll: float, other_roll: float) -> tuple[Any, Any]:
    arm = rigs.build(
        body_bones(), "Body", rolls={"forearm.L": math.radians(roll), "forearm.R": math.radians(other_roll)}
    )
    return arm.pose.bones["forearm.L"], arm.pose.bones["forearm.R"]


def random_turns(seed: int) -> list[Quat]:
    dice = random.Random(seed)
    return [tuple(Quaternion([dice.gauss(0.0, 1.0) for _ in range(3)], dice.uniform(-3.0, 3.0))) for _ in range(200)]


def driven_muting(arm: bpy.types.Object, constraint: Any) -> None:
    """As Rigify's, by which a property chooses one of two constraints."""
    arm["Pole"] = 0.0
    driver: Any = constraint.driver_add("mute").driver
    driver.type = 'AVERAGE'
    driver.variables.new().targets[0].id = arm
    driver.variables[0].targets[0].data_path = '["Pole"]'


def keyed_muting(_: bpy.types.Object, constraint: Any) -> None:
    constraint.keyframe_insert("enabled", frame=1)


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("muting", [driven_muting, keyed_muting])
@pytest.mark.parametrize("fails", [False, True])
def test_a_constraint_with_animated_muting_is_muted_for_good(muting: Any, fails: bool) -> None:
    """Else it is turned on again, and the chain does nothing; where nothing is converted, it all acts as it did."""
    arm = rigs.rig("L2B", name="Arm")
    native_ik(arm, True, 0.3)
    constraint: Any = arm.pose.bones["lo"].constraints[0]
    muting(arm, constraint)
    if fails:
        second: Any = arm.pose.bones["hand"].constraints.new('IK')
        second.target, second.chain_count = constraint.target, 3
        second.influence = 0.5
    rigs.frame_set(3)
    before = rigs.evaluated_pose(arm)
    if fails:
        with pytest.raises(RuntimeError, match="No chain can end"):
            ops.limb_ik.convert_constraints(armature="Arm")
    else:
        ops.limb_ik.convert_constraints(armature="Arm")
    for frame in (3, 9):
        rigs.frame_set(frame)
        assert rigs.pose_distance(before, rigs.evaluated_pose(arm)) < 1e-3
        assert constraint.mute == (not fails)
    assert rigs.bone(arm, "lo").limb_ik_status == ('IDLE' if fails else 'REACHED')


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("is_within", [True, False])
def test_limit_rotation_beside_ik(is_within: bool) -> None:
    """Becomes joint limits where the pose keeps to it; Blender's IK doesn't: beyond it the pose stays, without."""
    arm = rigs.rig("L2B", name="Arm")
    native_ik(arm, True, 0.3)
    upper: Any = arm.pose.bones["up"].constraints.new('LIMIT_ROTATION')
    upper.owner_space, upper.use_limit_x = 'LOCAL', True
    upper.min_x, upper.max_x = (-3.0, 3.0) if is_within else (-0.1, 0.1)
    rigs.update()
    before = rigs.evaluated_pose(arm)
    ops.limb_ik.convert_constraints(armature="Arm")
    rigs.update()
    assert upper.mute
    assert rigs.pose_distance(before, rigs.evaluated_pose(arm)) < 1e-3
    assert rigs.bone(arm, "up").limb_ik_joint_kind == ('BALL' if is_within else 'FREE')
    assert rigs.bone(arm, "lo").limb_ik_status == 'REACHED'


def test_one_that_can_not_be_converted_stops_no_other(
    body: bpy.types.Object, capfd: pytest.CaptureFixture[str]
) -> None:
    for side in ("L", "R"):
        constraint: Any = body.pose.bones[f"forearm.{side}"].constraints.new('IK')
        constraint.target, constraint.chain_count = rigs.empty(f"T.{side}", (0.4, -0.3, 1.2)), 2
    body.pose.bones["upper_arm.L"].constraints.new('COPY_SCALE').target = rigs.empty("S")
    rigs.update()
    ops.limb_ik.convert_constraints(armature=body.name)
    assert [rigs.bone(body, f"forearm.{side}").limb_ik_solver for side in "LR"] == ['NONE', 'TWO_BONE']
    assert [body.pose.bones[f"forearm.{side}"].constraints[0].mute for side in "LR"] == [False, True]
    assert "'IK' on 'forearm.L' stays: 'Copy Scale' on 'upper_arm.L' acts" in capfd.readouterr().out


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("roll", ROLLS)
def test_a_hinge_is_mirrored_whatever_the_rolls(roll: float) -> None:
    bone, other = limited_pair(roll, 20.0)
    bone.limb_ik_joint_kind = 'HINGE'
    bone.limb_ik_joint_hinge_axis = (0.6, 0.0, 0.8)
    bone.limb_ik_joint_min_angle, bone.limb_ik_joint_max_angle = 0.1, 2.0
    mirror_joint(bone, other)
    for angle in (-0.5, 0.2, 1.0, 1.9, 2.5):
        local = tuple(Quaternion(Vector((0.6, 0.0, 0.8)), angle))
        assert joint_limits.is_legal(limits_of(bone), local, 1e-5) == (0.1 < angle < 2.0)
        assert joint_limits.is_legal(limits_of(other), mirrored_local(bone, other, local), 1e-5) == (0.1 < angle < 2.0)


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize(("roll", "other_roll"), [(0, 0), (37, -37), (90, -90), (30, 60), (0, 180), (10, 80), (0, 90)])
def test_ball_limits_hold_for_the_mirrored_pose(roll: float, other_roll: float) -> None:
    bone, other = limited_pair(roll, other_roll)
    bone.limb_ik_joint_kind = 'BALL'
    for name, low, high in (("swing_x", -0.3, 1.1), ("swing_z", -0.9, 0.2), ("twist", -0.4, 0.7)):
        setattr(bone, f"limb_ik_joint_{name}_min", low)
        setattr(bone, f"limb_ik_joint_{name}_max", high)
    mirror_joint(bone, other)
    verdicts = [
        # Poses nearer to a bound than float32 frames can tell count for neither side.
        (joint_limits.is_legal(limits_of(bone), local), joint_limits.is_legal(limits_of(other), there))
        for local in (*random_turns(1), *(joint_limits.clamp(limits_of(bone), turn) for turn in random_turns(2)))
        for there in [mirrored_local(bone, other, local)]
        if joint_limits.is_legal(limits_of(bone), local, 1e-5) == joint_limits.is_legal(limits_of(bone), local, -1e-5)
    ]
    assert all(here == there for here, there in verdicts)
    assert len(verdicts) > 100 and not all(here for here, _ in verdicts)


def test_a_mirrored_chain_gives_the_mirrored_pose(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="forearm.L")
    bones: Any = body.pose.bones
    left = bones["forearm.L"]
    left.limb_ik_joint_kind = 'HINGE'
    left.limb_ik_joint_hinge_axis = tuple(left.bone.matrix_local.to_3x3().inverted() @ Vector((0, 0, 1)))
    left.limb_ik_joint_min_angle, left.limb_ik_joint_max_angle = -2.5, 2.5
    left.limb_ik_softness, left.limb_ik_pole_angle = 0.02, 0.3
    assert ops.limb_ik.mirror_chain(armature="Body", tips="forearm.L") == {'FINISHED'}
    right = bones["forearm.R"]
    assert (right.limb_ik_solver, right.limb_ik_end_bone, right.limb_ik_root) == ('TWO_BONE', "hand.R", "upper_arm.R")
    for role in ("target", "pole"):
        place = getattr(left, f"limb_ik_{role}").location
        place += Vector((-0.1, -0.15, -0.2))
        getattr(right, f"limb_ik_{role}").location = M @ place
    rigs.update()
    pose = rigs.evaluated_pose(body)
    for name in ("upper_arm", "forearm", "hand"):
        assert (M @ pose[f"{name}.L"].head - pose[f"{name}.R"].head).length < 1e-5


@pytest.mark.usefixtures("blank")
def test_symmetrised_bones_get_reflected_limits(capfd: pytest.CaptureFixture[str]) -> None:
    left_half = [bone for bone in body_bones() if not bone.name.endswith(".R")]
    arm = rigs.build(left_half, "Body", rolls={"forearm.L": 0.4})
    ops.limb_ik.add_chain(armature="Body", tips="forearm.L")
    left: Any = arm.pose.bones["forearm.L"]
    left.limb_ik_joint_kind = 'BALL'
    left.limb_ik_joint_swing_z_min, left.limb_ik_joint_swing_z_max = -0.3, 1.0
    left.limb_ik_joint_twist_min, left.limb_ik_joint_twist_max = -0.1, 0.5
    rigs.update()
    ops.object.mode_set(mode='EDIT')
    ops.armature.select_all(action='SELECT')
    ops.armature.symmetrize()
    ops.object.mode_set(mode='OBJECT')
    rigs.update()
    right: Any = arm.pose.bones["forearm.R"]
    limits = limits_of(right)
    assert (limits.swing_z_min, limits.swing_z_max) == pytest.approx((-1.0, 0.3))
    assert (limits.twist_min, limits.twist_max) == pytest.approx((-0.5, 0.1))
    # There is no flipped target yet: better none than the other side's.
    assert right.limb_ik_target is None and left.limb_ik_target.name == "Body_hand_IK.L"
    assert "Error in bpy.app.handlers" not in capfd.readouterr().err


@pytest.mark.parametrize(("name", "message"), [("spine", "no side"), ("thumb.L", "no bone 'thumb.R'")])
def test_no_other_side(body: bpy.types.Object, name: str, message: str) -> None:
    if name not in body.pose.bones:
        body.pose.bones["hand.L"].name = name
    ops.limb_ik.add_chain(armature="Body", tips=name, chain_length=1)
    with pytest.raises(RuntimeError, match=message):
        ops.limb_ik.mirror_chain(armature="Body", tips=name)
    assert tips(body) == [name]


def test_copy_to_an_armature_with_the_same_bones(body: bpy.types.Object) -> None:
    other = rigs.build(body_bones(), "Twin", location=(2, 0, 0), rolls={"thigh.L": 1.0})
    ops.limb_ik.add_limbs(armature="Body")
    body.pose.bones["shin.L"].limb_ik_weight = 0.4
    body.pose.bones["thigh.L"].limb_ik_joint_kind = 'BALL'
    before = rigs.evaluated_pose(other)
    assert ops.limb_ik.copy_setup(armature="Body", to="Twin") == {'FINISHED'}
    rigs.update()
    assert sorted(tips(other)) == sorted(tips(body))
    assert other.pose.bones["shin.L"].limb_ik_weight == pytest.approx(0.4)
    assert other.pose.bones["thigh.L"].limb_ik_joint_kind == 'BALL'
    assert other.pose.bones["shin.L"].limb_ik_target.parent == other
    assert rigs.pose_distance(before, rigs.evaluated_pose(other)) < 1e-5


def test_copy_says_what_is_missing(body: bpy.types.Object) -> None:
    rigs.rig("L2B", name="Other")
    ops.limb_ik.add_limbs(armature="Body")
    with pytest.raises(RuntimeError, match="'Other' has no such bone"):
        ops.limb_ik.copy_setup(armature="Body", to="Other")


def native_ik(arm: bpy.types.Object, use_tail: bool, pole_angle: float | None) -> None:
    target, pole = rigs.empty("T", (0.6, -0.4, 1.2)), rigs.empty("P", (0.4, 3, 0.8))
    constraint: Any = arm.pose.bones["lo" if use_tail else "hand"].constraints.new('IK')
    constraint.target, constraint.chain_count, constraint.use_tail = target, 2, use_tail
    constraint.iterations = 500
    if pole_angle is not None:
        constraint.pole_target, constraint.pole_angle = pole, pole_angle
    rigs.update()


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("use_tail", [True, False])
@pytest.mark.parametrize("pole_angle", [None, 0.3, -1.2, 3.0])
def test_a_converted_constraint_keeps_the_pose(use_tail: bool, pole_angle: float | None) -> None:
    """Within 1e-3 rad: native IK stops up to 6e-4 of the length short of its target, a chain does not."""
    arm = rigs.rig("L2B", name="Arm")
    native_ik(arm, use_tail, pole_angle)
    before = rigs.evaluated_pose(arm)
    ops.limb_ik.convert_constraints(armature="Arm")
    rigs.update()
    bone: Any = arm.pose.bones["lo"]
    assert bone.limb_ik_target.name == "T"
    assert (bone.limb_ik_pole.name if bone.limb_ik_pole else None) == ("P" if pole_angle is not None else None)
    assert all(one.mute for pose_bone in arm.pose.bones for one in pose_bone.constraints)
    assert rigs.pose_distance(before, rigs.evaluated_pose(arm)) < 1e-3
    assert {obj.name for obj in bpy.data.objects} == {"Arm", "T", "P"}
    rigs.frame_set(7)
    assert rigs.pose_distance(before, rigs.evaluated_pose(arm)) < 1e-3


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("roll", [0.0, 1.0, -2.3])
@pytest.mark.parametrize("use_tail", [True, False])
def test_a_single_bone_looks_along_what_was_aimed(roll: float, use_tail: bool) -> None:
    """Its own axis, wherever the front is: it doesn't turn about itself; a target that moves is still aimed at."""
    arm = rigs.rig("L2B", name="Arm", rolls={"lo": roll})
    target = rigs.empty("T", (0.6, -0.4, 2.2))
    constraint: Any = arm.pose.bones["lo" if use_tail else "hand"].constraints.new('IK')
    constraint.target, constraint.chain_count, constraint.use_tail = target, 1, use_tail
    rigs.update()
    before = rigs.evaluated_pose(arm)
    ops.limb_ik.convert_constraints(armature="Arm")
    rigs.update()
    assert rigs.pose_distance(before, rigs.evaluated_pose(arm)) < 1e-3
    target.location = (-0.5, -0.7, 1.4)
    rigs.update()
    lower = rigs.evaluated_pose(arm)["lo"]
    sight = target.matrix_world.translation - lower.head
    assert (lower.tail - lower.head).angle(sight) < 1e-3


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize(("height", "is_said"), [(2.2, True), (9.0, False)])
def test_a_constraint_that_misses_its_target_is_named(
    capfd: pytest.CaptureFixture[str], height: float, is_said: bool
) -> None:
    """A straight chain that Blender's solver can't bend; not one that is out of reach."""
    arm = rigs.rig("C6", name="Arm")
    constraint: Any = arm.pose.bones["b6"].constraints.new('IK')
    constraint.target, constraint.chain_count = rigs.empty("T", (0.5, -0.4, height)), 6
    constraint.pole_target = rigs.empty("P", (0.0, 3.0, 0.8))
    rigs.update()
    ops.limb_ik.convert_constraints(armature="Arm")
    assert ("'b6' moves: the constraint missed its target by" in capfd.readouterr().out) == is_said


def in_part(_: bpy.types.Object, constraint: Any) -> None:
    constraint.influence = 0.5


def keyed_influence(_: bpy.types.Object, constraint: Any) -> None:
    for frame, influence in ((1, 0.0), (5, 1.0), (9, 0.3)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)


def driven_influence(arm: bpy.types.Object, constraint: Any) -> None:
    """As rigs have it: a switch between IK and FK in a custom property."""
    driver: Any = constraint.driver_add("influence").driver
    driver.type = 'AVERAGE'
    driver.variables.new().targets[0].id = arm
    driver.variables[0].targets[0].data_path = '["IK"]'
    for frame, influence in ((1, 0.0), (5, 1.0), (9, 0.3)):
        arm["IK"] = influence
        arm.keyframe_insert('["IK"]', frame=frame)


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("influence", [in_part, keyed_influence, driven_influence])
@pytest.mark.parametrize("at", [1, 3, 5])
def test_influence_becomes_weight_with_its_animation(influence: Any, at: int) -> None:
    """Within 1e-3 rad, as above; FK is what it was without the constraint, not what it showed."""
    arm = rigs.rig("L2B", name="Arm")
    rigs.turn(arm, "up", "X", 0.2)
    native_ik(arm, True, 0.7)
    constraint = arm.pose.bones["lo"].constraints[0]
    influence(arm, constraint)
    before = []
    for frame in range(1, 10):
        rigs.frame_set(frame)
        before.append(rigs.evaluated_pose(arm))
    rigs.frame_set(at)
    ops.limb_ik.convert_constraints(armature="Arm")
    rigs.update()
    assert [one.name for one in arm.pose.bones["lo"].constraints] == [constraint.name]
    for frame, pose in zip(range(1, 10), before, strict=True):
        rigs.frame_set(frame)
        assert rigs.pose_distance(pose, rigs.evaluated_pose(arm)) < 1e-3
    rigs.bone(arm, "lo").limb_ik_mute = True
    rigs.update()
    assert rigs.local_rotations(arm)["up"].angle == pytest.approx(0.2, abs=1e-5)


@pytest.mark.usefixtures("blank")
def test_limits_come_along() -> None:
    arm = rigs.rig("L2B", name="Arm")
    native_ik(arm, True, None)
    lower: Any = arm.pose.bones["lo"]
    lower.lock_ik_y = lower.lock_ik_z = True
    lower.use_ik_limit_x, lower.ik_min_x, lower.ik_max_x = True, -2.0, 1.5
    upper: Any = arm.pose.bones["up"].constraints.new('LIMIT_ROTATION')
    upper.owner_space, upper.use_limit_y, upper.min_y, upper.max_y = 'LOCAL', True, -0.2, 0.4
    upper.mute = True
    ops.limb_ik.convert_constraints(armature="Arm")
    assert lower.limb_ik_joint_kind == 'HINGE'
    assert lower.limb_ik_joint_min_angle == pytest.approx(-2.0)
    assert lower.limb_ik_joint_max_angle == pytest.approx(1.5)
    upper.mute = False
    ops.limb_ik.convert_constraints(armature="Arm")
    root: Any = arm.pose.bones["up"]
    assert upper.mute and root.limb_ik_joint_kind == 'BALL'
    assert root.limb_ik_joint_twist_max == pytest.approx(0.4)


def test_nothing_to_convert(body: bpy.types.Object) -> None:
    with pytest.raises(RuntimeError, match="no active IK constraint"):
        ops.limb_ik.convert_constraints(armature="Body")


def test_a_constraint_that_can_not_be_converted_stays(body: bpy.types.Object) -> None:
    constraint: Any = body.pose.bones["forearm.L"].constraints.new('IK')
    with pytest.raises(RuntimeError, match="it has no target"):
        ops.limb_ik.convert_constraints(armature="Body")
    assert not constraint.mute


def test_select_controls_and_back(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="shin.L")
    bone: Any = body.pose.bones["shin.L"]
    bpy.context.view_layer.objects.active = body
    ops.object.mode_set(mode='POSE')
    body.data.bones.active = body.data.bones["thigh.L"]
    ops.limb_ik.select_controls()
    selected = {obj.name for obj in bpy.context.view_layer.objects if obj.select_get()}
    assert selected == {bone.limb_ik_target.name, bone.limb_ik_pole.name}
    assert bpy.context.view_layer.objects.active == bone.limb_ik_target and body.mode == 'OBJECT'
    ops.limb_ik.select_controls()
    assert bpy.context.view_layer.objects.active == body and body.mode == 'POSE'
    assert [b.name for b in body.pose.bones if compat.bone_is_selected(b)] == ["thigh.L", "shin.L"]
    assert body.data.bones.active.name == "shin.L"


def test_select_bones_as_controls_and_back(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="shin.L", target_kind='BONE')
    bone: Any = body.pose.bones["shin.L"]
    controls = {bone.limb_ik_target_bone, bone.limb_ik_pole_bone}
    bpy.context.view_layer.objects.active = body
    body.data.bones.active = body.data.bones["shin.L"]
    ops.limb_ik.select_controls()
    assert body.mode == 'POSE'
    assert {b.name for b in body.pose.bones if compat.bone_is_selected(b)} == controls
    ops.limb_ik.select_controls()
    assert {b.name for b in body.pose.bones if compat.bone_is_selected(b)} == {"thigh.L", "shin.L"}
    ops.object.mode_set(mode='OBJECT')


def test_hidden_controls_are_named(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="shin.L")
    body.pose.bones["shin.L"].limb_ik_pole.hide_set(True)
    with pytest.raises(RuntimeError, match=r"_Pole\.L' is hidden"):
        ops.limb_ik.select_controls(armature="Body", tips="shin.L")
