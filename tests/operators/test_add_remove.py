"""Adding and removing chains by operators, headless and by names."""

from __future__ import annotations

import math
from typing import Any

import bpy
import pytest
from limb_ik.operators.arguments import split_names
from limb_ik.rig import compat
from limb_ik.rig.chains import tips
from limb_ik.rig.errors import LimbIKError
from limb_ik.rig.setting_up import controls, setup

import rigs

ops: Any = bpy.ops
# What design promises for a chain that is added: the pose stays within this angle.
STAYS = 1e-5


def select(arm: bpy.types.Object, *names: str, active: str = "") -> None:
    for bone in arm.pose.bones:
        compat.set_bone_selected(bone, bone.name in names)
    arm.data.bones.active = arm.data.bones[active or names[-1]]


@pytest.mark.usefixtures("blank")
def test_a_script_names_armature_and_tip() -> None:
    arm = rigs.rig("L2B", name="Arm")
    before = rigs.evaluated_pose(arm)
    bpy.context.view_layer.objects.active = None
    assert ops.limb_ik.add_chain(armature="Arm", tips="lo") == {'FINISHED'}
    rigs.update()
    bone: Any = arm.pose.bones["lo"]
    assert (bone.limb_ik_solver, bone.limb_ik_chain_length, bone.limb_ik_end_bone) == ('TWO_BONE', 2, "hand")
    assert bone.limb_ik_target.parent == arm and bone.limb_ik_pole.parent == arm
    assert rigs.pose_distance(before, rigs.evaluated_pose(arm)) < STAYS
    assert bone.limb_ik_status == 'REACHED'
    bone.limb_ik_target.location.z -= 0.4
    rigs.update()
    assert rigs.tip_error(arm, "lo", bone.limb_ik_target) < 2e-5  # 1e-5 of a limb of length 2


def test_selected_bones_make_a_chain(body: bpy.types.Object) -> None:
    select(body, "upper_arm.L", "forearm.L")
    assert ops.limb_ik.add_chain() == {'FINISHED'}
    bone: Any = body.pose.bones["forearm.L"]
    assert (bone.limb_ik_solver, bone.limb_ik_chain_length, bone.limb_ik_end_bone) == ('TWO_BONE', 2, "hand.L")
    assert bone.limb_ik_end_rotation == 'KEEP_LOCAL'


def test_two_limbs_selected_make_two_chains(body: bpy.types.Object) -> None:
    select(body, "thigh.L", "shin.L", "thigh.R", "shin.R")
    ops.limb_ik.add_chain()
    assert set(tips(body)) == {"shin.L", "shin.R"}


def test_lines_that_share_a_bone_are_refused(body: bpy.types.Object) -> None:
    select(body, "spine", "upper_arm.L", "upper_arm.R")
    with pytest.raises(RuntimeError, match="'spine' leads to both"):
        ops.limb_ik.add_chain()
    assert not tips(body)


def test_an_active_bone_takes_its_parent_along(body: bpy.types.Object) -> None:
    select(body, active="forearm.R")
    ops.limb_ik.add_chain()
    assert body.pose.bones["forearm.R"].limb_ik_chain_length == 2


@pytest.mark.parametrize(
    ("names", "solver"),
    [(["head"], 'LOOK_AT'), (["root"], 'LOOK_AT'), (["hips", "spine", "upper_arm.L"], 'FABRIK')],
)
def test_the_solver_fits_the_bones(body: bpy.types.Object, names: list[str], solver: str) -> None:
    select(body, *names)
    ops.limb_ik.add_chain()
    tip: Any = body.pose.bones[names[-1]]
    assert tip.limb_ik_solver == solver
    assert tip.limb_ik_chain_length == len(names)


def test_bones_as_targets(body: bpy.types.Object) -> None:
    before = rigs.evaluated_pose(body)
    ops.limb_ik.add_chain(armature="Body", tips="forearm.L", target_kind='BONE')
    rigs.update()
    bone: Any = body.pose.bones["forearm.L"]
    made = body.data.bones[bone.limb_ik_target_bone]
    assert bone.limb_ik_target == body and made.parent is None and not made.use_deform
    shapes = {body.pose.bones[name].custom_shape for name in (bone.limb_ik_target_bone, bone.limb_ik_pole_bone)}
    assert {shape.name: len(shape.data.edges) for shape in shapes} == {"Limb IK Target": 12, "Limb IK Pole": 72}
    assert all(shape.name not in bpy.context.scene.objects for shape in shapes)
    assert rigs.pose_distance(before, rigs.evaluated_pose(body), before.keys()) < STAYS
    ops.limb_ik.remove_chain(armature="Body", tips="forearm.L")
    assert set(body.data.bones.keys()) == set(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"armature": "Nobody"}, "There is no armature 'Nobody'"),
        ({"armature": "Body", "tips": "tail"}, "There is no bone 'tail'"),
        ({"armature": "Body", "tips": "forearm.L", "chain_length": 99}, "longer than the"),
        ({"armature": "Body", "tips": "root", "chain_length": 2, "solver": 'TWO_BONE'}, "longer than the"),
        ({"armature": "Body", "tips": "root", "chain_length": 1, "solver": 'TWO_BONE'}, "two bones are needed"),
    ],
)
def test_impossible_chains_are_refused_and_change_nothing(
    body: bpy.types.Object, arguments: dict[str, Any], message: str
) -> None:
    objects = set(bpy.data.objects.keys())
    with pytest.raises(RuntimeError, match=message):
        ops.limb_ik.add_chain(**arguments)
    assert not tips(body)
    assert set(bpy.data.objects.keys()) == objects


def test_chain_length_zero_goes_up_to_the_last_parent(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="forearm.L", chain_length=0)
    bone: Any = body.pose.bones["forearm.L"]
    assert (bone.limb_ik_chain_length, bone.limb_ik_solver, bone.limb_ik_root) == (0, 'FABRIK', "root")


def test_the_same_bone_twice_is_one_chain(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="forearm.L, forearm.L")
    assert len(bpy.data.objects) == 3


def test_targets_that_can_not_be_made_leave_nothing_behind(body: bpy.types.Object) -> None:
    away = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(away)
    for collection in body.users_collection:
        collection.objects.unlink(body)
    away.objects.link(body)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    with pytest.raises(RuntimeError):
        ops.limb_ik.add_chain(armature="Body", tips="forearm.L", target_kind='BONE')
    assert not tips(body)
    assert len(bpy.data.objects) == 1


def test_no_armature_in_the_file(blank: None) -> None:
    assert not ops.limb_ik.add_chain.poll()
    with pytest.raises(RuntimeError, match="no armature in this file"):
        ops.limb_ik.add_limbs()


def test_arms_and_legs(body: bpy.types.Object) -> None:
    before = rigs.evaluated_pose(body)
    assert ops.limb_ik.add_limbs(armature="Body") == {'FINISHED'}
    rigs.update()
    assert set(tips(body)) == {"forearm.L", "forearm.R", "shin.L", "shin.R"}
    assert rigs.pose_distance(before, rigs.evaluated_pose(body)) < STAYS
    bones: Any = body.pose.bones
    assert {bones[tip].limb_ik_end_rotation for tip in tips(body)} == {'TARGET'}
    # Knees bend forward (-Y), elbows back (+Y): that is where the poles are.
    assert bones["shin.L"].limb_ik_pole.matrix_world.translation.y < -0.5
    assert bones["forearm.L"].limb_ik_pole.matrix_world.translation.y > 0.3


def test_legs_only(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body", arms=False)
    assert set(tips(body)) == {"shin.L", "shin.R"}


def animate(body: bpy.types.Object) -> dict[int, dict[str, rigs.BonePose]]:
    """A step of 20 frames on both legs; returns the pose at some frames."""
    for frame, angle in ((1, -0.5), (11, 0.4), (20, -0.5)):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            rigs.turn(body, f"thigh.{side}", "X", sign * angle)
            rigs.turn(body, f"shin.{side}", "X", 0.5 + 0.4 * math.sin(frame))
            for name in (f"thigh.{side}", f"shin.{side}"):
                body.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    poses = {}
    for frame in (1, 5, 11, 16, 20):
        rigs.frame_set(frame)
        poses[frame] = rigs.evaluated_pose(body)
    return poses


@pytest.mark.parametrize(("motion", "space", "tolerance"), [('AUTO', 'FK', 1e-5), ('KEYS', 'WORLD', 1e-4)])
def test_motion_goes_on(body: bpy.types.Object, motion: str, space: str, tolerance: float) -> None:
    """Live within 1e-5 rad, through keys within 1e-4 rad: the numbers of the design."""
    poses = animate(body)
    ops.limb_ik.add_limbs(armature="Body", arms=False, motion=motion)
    bone: Any = body.pose.bones["shin.L"]
    assert bone.limb_ik_target_space == space
    for frame, pose in poses.items():
        rigs.frame_set(frame)
        assert rigs.pose_distance(pose, rigs.evaluated_pose(body)) < tolerance, frame
    assert bool(rigs.curves(bone.limb_ik_target)) == (motion == 'KEYS')


def test_keys_need_motion(body: bpy.types.Object) -> None:
    with pytest.raises(RuntimeError, match="no animation"):
        ops.limb_ik.add_limbs(armature="Body", motion='KEYS')
    assert not tips(body)


def test_remove_gives_fk_back_and_takes_what_was_made(body: bpy.types.Object) -> None:
    rigs.turn(body, "thigh.L", "X", 0.3)
    rigs.update()
    before, objects = rigs.evaluated_pose(body), set(bpy.data.objects.keys())
    ops.limb_ik.add_limbs(armature="Body")
    body.pose.bones["shin.L"].limb_ik_target.location.z += 0.2
    rigs.update()
    assert rigs.pose_distance(before, rigs.evaluated_pose(body)) > 0.1
    ops.limb_ik.remove_chain(armature="Body")
    rigs.update()
    assert rigs.pose_distance(before, rigs.evaluated_pose(body)) < 1e-6
    assert set(bpy.data.objects.keys()) == objects
    assert controls.COLLECTION not in bpy.data.collections


@pytest.mark.parametrize("target_kind", ["EMPTY", "BONE"])
def test_nothing_of_removed_chains_stays_in_the_file(body: bpy.types.Object, target_kind: str) -> None:
    for frame, angle in ((1, 0.1), (9, 0.4)):
        rigs.turn(body, "thigh.L", "X", angle)
        rigs.key_rotation(rigs.bone(body, "thigh.L"), frame)
    objects, meshes = set(bpy.data.objects.keys()), set(bpy.data.meshes.keys())
    curves = sorted(curve.data_path for curve in rigs.curves(body))
    ops.limb_ik.add_limbs(armature="Body", motion='KEYS', target_kind=target_kind)
    for frame, is_on in ((1, True), (5, False)):
        rigs.key_setting(rigs.bone(body, "shin.L"), "use_ik", frame, is_on)
    rigs.frame_set(6)
    ops.limb_ik.remove_chain(armature="Body")
    rigs.frame_set(7)
    assert sorted(curve.data_path for curve in rigs.curves(body)) == curves
    assert (set(bpy.data.objects.keys()), set(bpy.data.meshes.keys())) == (objects, meshes)
    assert not [bone.name for bone in body.pose.bones if bone.is_property_set("limb_ik_store")]
    assert not list(body.animation_data.drivers)
    ops.limb_ik.add_limbs(armature="Body")
    rigs.frame_set(8)
    assert all(body.pose.bones[tip].limb_ik_use_ik for tip in tips(body))


def test_a_removed_chain_leaves_keys_that_another_rig_plays(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body", target_kind="BONE")
    rigs.key_setting(rigs.bone(body, "shin.L"), "use_ik", 1, True)
    rigs.key_rotation(rigs.bone(body, rigs.bone(body, "shin.L").limb_ik_target_bone), 1)
    other = body.copy()
    bpy.context.scene.collection.objects.link(other)
    rigs.update()
    before = rigs.keys(other)
    ops.limb_ik.remove_chain(armature="Body")
    assert rigs.keys(other) == before


def test_a_bake_that_removes_chains_leaves_all_other_keys(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body", target_kind="BONE")
    tip = rigs.bone(body, "shin.L")
    rigs.key_setting(tip, "use_ik", 1, True)
    rigs.key_rotation(rigs.bone(body, tip.limb_ik_target_bone), 1)
    before = rigs.keys(body)
    ops.limb_ik.bake(armature="Body", use_range=True, frame_start=1, frame_end=3, after='REMOVE')
    after = rigs.keys(body)
    assert not tips(body) and {key: after[key] for key in before} == before


def test_a_chain_begins_without_the_keys_of_an_earlier_one(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    tip = rigs.bone(body, "shin.L")
    rigs.key_setting(tip, "use_ik", 1, False)
    tip.limb_ik_solver = 'NONE'
    rigs.update()
    ops.limb_ik.add_chain(armature="Body", tips="shin.L")
    rigs.frame_set(2)
    assert tip.limb_ik_use_ik and not [one for one in rigs.curves(body) if "use_ik" in one.data_path]


def test_keys_of_an_earlier_chain_turn_nothing_while_the_new_one_is_made(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    tip = rigs.bone(body, "shin.L")
    rigs.update()
    before = rigs.evaluated_pose(body)
    rigs.key_setting(tip, "pole_angle", 1, 1.0)
    tip.limb_ik_solver = 'NONE'
    rigs.update()
    ops.limb_ik.add_chain(armature="Body", tips="shin.L")
    rigs.frame_set(2)
    assert rigs.pose_distance(before, rigs.evaluated_pose(body)) < 1e-5


def test_a_chain_that_is_refused_keeps_the_keys_of_the_earlier_one(
    body: bpy.types.Object, monkeypatch: pytest.MonkeyPatch
) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    tip = rigs.bone(body, "shin.L")
    rigs.key_setting(tip, "use_ik", 1, False)
    tip.limb_ik_solver = 'NONE'
    rigs.update()

    def refuse(*_: Any) -> None:
        raise LimbIKError("no control")

    monkeypatch.setattr(setup, "_make_controls", refuse)
    with pytest.raises(RuntimeError, match="No control"):
        ops.limb_ik.add_chain(armature="Body", tips="shin.L")
    (curve,) = [one for one in rigs.curves(body) if "use_ik" in one.data_path]
    assert not curve.mute and not tip.limb_ik_use_ik and tip.limb_ik_solver == 'NONE'


# Numbers that float32 holds exactly.
LEFT: dict[str, Any] = {
    "weight": 0.25, "use_ik": False, "mute": True, "max_reach": 0.5, "softness": 0.125, "pole_angle": 1.0,
    "tolerance": 0.5, "bend_axis": (0.0, 1.0, 0.0), "end_rotation": 'KEEP_FK',
}  # fmt: skip


def leave(body: bpy.types.Object) -> Any:
    """A chain that was set up, and switched off by a script."""
    ops.limb_ik.add_chain(armature="Body", tips="shin.L")
    tip: Any = rigs.bone(body, "shin.L")
    for name, value in LEFT.items():
        setattr(tip, f"limb_ik_{name}", value)
    tip.limb_ik_solver = 'NONE'
    rigs.update()
    return tip


def test_a_chain_begins_without_the_settings_of_an_earlier_one(body: bpy.types.Object) -> None:
    tip = leave(body)
    before = rigs.evaluated_pose(body)
    ops.limb_ik.add_chain(armature="Body", tips="shin.L", use_pole=False)
    rigs.update()
    assert rigs.pose_distance(before, rigs.evaluated_pose(body)) < STAYS and tip.limb_ik_status == 'REACHED'
    assert tip.limb_ik_pole is None and tip.limb_ik_end_rotation == 'KEEP_LOCAL'
    unset = set(LEFT) - {"bend_axis", "end_rotation"}
    assert not [name for name in unset if tip.is_property_set(f"limb_ik_{name}")]


def test_a_constraint_is_converted_without_the_settings_of_an_earlier_chain(body: bpy.types.Object) -> None:
    tip = leave(body)
    constraint = tip.constraints.new('IK')
    constraint.target, constraint.chain_count = rigs.empty("Goal", (0.1, -0.3, 0.2)), 2
    rigs.update()
    before = rigs.evaluated_pose(body)
    ops.limb_ik.convert_constraints(armature="Body")
    rigs.update()
    assert rigs.pose_distance(before, rigs.evaluated_pose(body)) < 1e-3  # what native IK misses
    assert (tip.limb_ik_pole, tip.limb_ik_pole_angle, tip.limb_ik_mute) == (None, 0.0, False)
    assert tip.limb_ik_use_ik and tip.limb_ik_status == 'REACHED'


def test_a_chain_that_is_refused_leaves_the_settings_of_the_earlier_one(body: bpy.types.Object) -> None:
    tip = leave(body)
    target, pole = tip.limb_ik_target, tip.limb_ik_pole
    thigh: Any = rigs.bone(body, "thigh.L").constraints.new('LIMIT_ROTATION')
    thigh.use_limit_x = True
    with pytest.raises(RuntimeError, match="is active"):
        ops.limb_ik.add_chain(armature="Body", tips="shin.L")
    assert (tip.limb_ik_solver, tip.limb_ik_target, tip.limb_ik_pole) == ('NONE', target, pole)
    found = {name: getattr(tip, f"limb_ik_{name}") for name in LEFT}
    assert {name: tuple(one) if name == "bend_axis" else one for name, one in found.items()} == LEFT


def test_a_collection_of_controls_with_something_else_in_it_stays(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    bpy.data.collections[controls.COLLECTION].objects.link(bpy.data.objects.new("Own", None))
    ops.limb_ik.remove_chain(armature="Body")
    assert [obj.name for obj in bpy.data.collections[controls.COLLECTION].objects] == ["Own"]


def test_remove_takes_the_active_chain_alone(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    body.data.bones.active = body.data.bones["upper_arm.L"]
    ops.limb_ik.remove_chain()
    assert set(tips(body)) == {"forearm.R", "shin.L", "shin.R"}
    body.data.bones.active = body.data.bones["hand.R"]  # the end bone stands for its chain
    ops.limb_ik.remove_chain()
    assert set(tips(body)) == {"shin.L", "shin.R"}


def test_a_target_made_for_another_stays(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="forearm.L, forearm.R")
    bones: Any = body.pose.bones
    bones["forearm.R"].limb_ik_target = bones["forearm.L"].limb_ik_target
    kept = bones["forearm.L"].limb_ik_target.name
    ops.limb_ik.remove_chain(armature="Body", tips="forearm.L")
    assert kept in bpy.data.objects


def test_one_undo_step_each(body: bpy.types.Object) -> None:
    bpy.ops.ed.undo_push(message="body")
    ops.limb_ik.add_limbs(armature="Body")
    bpy.ops.ed.undo_push(message="limbs")
    bpy.ops.ed.undo()
    assert not tips(bpy.data.objects["Body"])
    bpy.ops.ed.redo()
    assert len(tips(bpy.data.objects["Body"])) == 4


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ["a"]),
        ("a, b", ["a", "b"]),
        ("a,b", ["a", "b"]),
        ("x, y", ["x, y"]),
        ("a, x, y ,b", ["a", "x, y", "b"]),
        ("a, a", ["a"]),
    ],
)
def test_names_in_a_text(text: str, names: list[str]) -> None:
    assert split_names(text, ["a", "b", "x, y", "y"]) == names


def test_a_name_that_is_none() -> None:
    with pytest.raises(LimbIKError, match="no bone 'c'"):
        split_names("a, c", ["a"])
