"""Rules of the data and the operators that hold for every rig, checked as a script or an animator meets them."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from limb_ik import cli

import rigs

pytestmark = pytest.mark.usefixtures("blank")


def chain_on_lo(**settings: Any) -> tuple[Any, Any, Any]:
    arm = rigs.l2b()
    target, pole = rigs.empty("T", (0.6, -0.4, 1.2)), rigs.empty("P", (0, 3, 0.8))
    tip = rigs.add_chain_by_properties(arm, "lo", target, pole, **settings)
    rigs.update()
    return arm, target, tip


def test_a_constraint_without_influence_leaves_the_chain_and_the_others_at_work() -> None:
    """An exception for one chain would stop every other one, too."""
    arm, target, tip = chain_on_lo()
    limit = tip.constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.influence = True, 0.0
    target.location.x = 0.3
    rigs.update()
    assert tip.limb_ik_status == "REACHED"
    assert rigs.tip_error(arm, "lo", target) < 1e-5


def test_a_constraint_whose_influence_is_keyed_counts_on_the_frames_where_it_acts() -> None:
    arm, target, tip = chain_on_lo()
    limit = tip.constraints.new("LIMIT_ROTATION")
    limit.name, limit.use_limit_x = "Hold", True
    for frame, influence in ((1, 0.0), (10, 1.0)):
        limit.influence = influence
        limit.keyframe_insert("influence", frame=frame)
    rigs.update()
    for frame, status in ((1, "REACHED"), (10, "INVALID"), (1, "REACHED")):
        rigs.frame_set(frame)
        assert tip.limb_ik_status == status
    assert rigs.tip_error(arm, "lo", target) < 1e-5
    rigs.frame_set(10)
    assert "Hold" in tip.limb_ik_message
    shown = rigs.evaluated_pose(arm)["lo"].rotation
    bpy.ops.limb_ik.bake(armature=arm.name, only_active=False, use_range=True, frame_start=1, frame_end=10)
    rigs.frame_set(1)
    assert rigs.tip_error(arm, "lo", target) < 1e-4
    rigs.frame_set(10)
    assert rigs.evaluated_pose(arm)["lo"].rotation.rotation_difference(shown).angle < 1e-3


def test_native_ik_from_below_that_reaches_into_the_chain_is_named() -> None:
    arm, _, tip = chain_on_lo()
    native = rigs.bone(arm, "hand").constraints.new("IK")
    native.name, native.target, native.chain_count = "Old IK", rigs.empty("Old", (0.2, 0, 1.5)), 2
    rigs.update()
    assert tip.limb_ik_status == "INVALID"
    assert "Old IK" in tip.limb_ik_message
    native.mute = True
    rigs.update()
    assert tip.limb_ik_status == "REACHED"


def test_a_muted_chain_turns_no_bone_so_another_may() -> None:
    arm = rigs.c6()
    first, second = rigs.empty("A", (0.5, 0, 1)), rigs.empty("B", (0.5, 0, 2))
    upper = rigs.add_chain_by_properties(arm, "b4", first, solver="FABRIK", chain_length=3)
    lower = rigs.add_chain_by_properties(arm, "b6", second, solver="FABRIK", chain_length=4)
    rigs.update()
    assert (upper.limb_ik_status, lower.limb_ik_status) == ("REACHED", "INVALID")
    upper.limb_ik_mute = True
    rigs.update()
    assert (upper.limb_ik_status, lower.limb_ik_status) == ("IDLE", "REACHED")


@pytest.mark.parametrize("kind", ["EMPTY", "BONE"])
def test_offsets_begin_where_fk_is_not_at_the_armatures_origin(kind: str) -> None:
    arm = rigs.legp(location=(3, 0, 0))
    rigs.bone(arm, "thigh").rotation_quaternion = (1, 0.15, 0, 0)
    rigs.update()
    before = rigs.evaluated_pose(arm)
    bpy.ops.limb_ik.add_limbs(armature=arm.name, arms=False, motion="FK", target_kind=kind)
    rigs.update()
    tip: Any = rigs.bone(arm, "shin")
    pose = rigs.evaluated_pose(arm)

    def place(obj: Any, name: str) -> Any:
        return pose[name].head if name else rigs.world_position(obj)

    assert (place(tip.limb_ik_target, tip.limb_ik_target_bone) - before["foot"].head).length < 1e-5
    assert (place(tip.limb_ik_pole, tip.limb_ik_pole_bone) - before["shin"].head).length > 0.5
    assert max((pose[name].head - before[name].head).length for name in before) < 1e-5


NECKS = (
    rigs.BoneSpec("n1", (0, 0, 1), (0, 0, 1.1)),
    rigs.BoneSpec("n2", (0, 0, 1.1), (0, 0, 1.2), "n1", True),
    rigs.BoneSpec("head", (0, 0, 1.2), (0, 0, 1.4), "n2", True),
)


@pytest.mark.parametrize("motion", ["STILL", "FK"])
def test_look_at_begins_with_the_pose_as_it_is_where_it_looks_across_the_bone(motion: str) -> None:
    """The target stands ahead of the eye, not at the tail of the bone, which lies on another axis."""
    arm = rigs.build(NECKS)
    rigs.bone(arm, "n1").rotation_quaternion = (1, 0.1, 0.05, -0.1)
    rigs.update()
    before = rigs.local_rotations(arm)
    bpy.ops.limb_ik.add_chain(armature=arm.name, tips="head", solver="LOOK_AT", chain_length=3, motion=motion)
    rigs.update()
    tip: Any = rigs.bone(arm, "head")
    assert tip.limb_ik_look_axis == "Z"
    assert tip.limb_ik_status == "REACHED"
    for name, rotation in rigs.local_rotations(arm).items():
        assert rotation.rotation_difference(before[name]).angle < 1e-3, name
    tip.limb_ik_target.location.x += 0.3
    rigs.update()
    assert tip.limb_ik_status == "REACHED"
    assert rigs.local_rotations(arm)["head"].rotation_difference(before["head"]).angle > 0.02


def test_look_at_below_uneven_scale_looks() -> None:
    arm = rigs.build(NECKS)
    rigs.bone(arm, "n1").scale = (1, 1, 1.4)
    target = rigs.empty("T", (0.4, -2, 1.5))
    tip: Any = rigs.add_chain_by_properties(arm, "head", target, solver="LOOK_AT", chain_length=1, look_axis="Z")
    tip.limb_ik_up_axis = "Y"
    rigs.update()
    seen = rigs.evaluated_pose(arm)["head"]
    assert (target.location - seen.head).angle(seen.matrix.to_3x3().col[2]) < 0.15


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("mixamorig:LeftArm", "mixamorig:RightArm"),
        ("J_Bip_L_UpperArm", "J_Bip_R_UpperArm"),
        ("Bip01 L Thigh", "Bip01 R Thigh"),
        ("lShldr", "rShldr"),
        ("arm.L", "arm.R"),
    ],
)
def test_a_chain_is_mirrored_whatever_way_the_rig_says_left(left: str, right: str) -> None:
    bones = [
        rigs.BoneSpec(f"{low}{name}", (x * a, y, 0), (x * b, 0.1 - y, 0), name if low else "", bool(low))
        for name, x in ((left, 1), (right, -1))
        for low, a, b, y in (("", 0.2, 1, 0), ("low ", 1, 2, 0.1))
    ]
    arm = rigs.build(bones)
    before = rigs.local_rotations(arm)
    bpy.ops.limb_ik.add_chain(armature=arm.name, tips=f"low {left}")
    rigs.bone(arm, f"low {left}").limb_ik_blend_time = 0.4
    bpy.ops.limb_ik.mirror_chain(armature=arm.name, tips=f"low {left}")
    rigs.update()
    other: Any = rigs.bone(arm, f"low {right}")
    assert (other.limb_ik_solver, other.limb_ik_status) == ("TWO_BONE", "REACHED")
    assert other.limb_ik_blend_time == pytest.approx(0.4)
    assert all(q.rotation_difference(before[name]).angle < 1e-3 for name, q in rigs.local_rotations(arm).items())


@pytest.mark.parametrize("end", ["", ":rig:Hand"])
def test_bones_of_the_command_line_may_have_a_namespace(end: str, tmp_path: Any) -> None:
    """Every bone of Mixamo is called mixamorig:something."""
    bones = [
        rigs.BoneSpec("rig:Arm", (0, 0, 0), (1, 0.1, 0)),
        rigs.BoneSpec("rig:Fore", (1, 0.1, 0), (2, 0, 0), "rig:Arm", True),
        rigs.BoneSpec("rig:Hand", (2, 0, 0), (2.2, 0, 0), "rig:Fore", True),
    ]
    rigs.build(bones)
    source, out = tmp_path / "in.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    assert cli.main(["add", str(source), "-o", str(out), "--chain", f"rig:Arm:rig:Fore{end}"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    tip: Any = rigs.bone(bpy.data.objects["Rig"], "rig:Fore")
    assert (tip.limb_ik_solver, tip.limb_ik_chain_length) == ("TWO_BONE", 2)
    assert cli.main(["add", str(source), "-o", str(out), "--chain", "rig:Arm:rig:Nope"]) == 1


def linked_and_overridden(tmp_path: Any, is_editable: bool, is_in_scene: bool) -> Any:
    """The override of a rig with a chain whose FK pose is rest."""
    arm = rigs.l2b()
    bpy.ops.limb_ik.add_chain(armature=arm.name, tips="lo")
    collection = bpy.data.collections.new("Character")
    for obj in bpy.data.objects:
        collection.objects.link(obj)
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {collection})
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Character"]
    linked: Any = bpy.data.collections["Character"]
    if is_in_scene:
        bpy.context.scene.collection.children.link(linked)
    else:
        instance = rigs.empty("Instance")
        instance.instance_type, instance.instance_collection = "COLLECTION", linked
    rigs.update()
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=is_editable)
    rigs.update()
    return next(obj for obj in bpy.data.objects if obj.override_library and obj.type == "ARMATURE")


@pytest.mark.parametrize("is_in_scene", [False, True])
@pytest.mark.parametrize("is_editable", [True, False])
def test_an_override_shows_ik_though_blender_refuses_bulk_writes_to_some(
    is_editable: bool, is_in_scene: bool, tmp_path: Any
) -> None:
    """The linked twin, called the same, may be in the scene, too, and must not be taken for the override's target."""
    arm = linked_and_overridden(tmp_path, is_editable, is_in_scene)
    tip: Any = rigs.bone(arm, "lo")
    assert tip.limb_ik_status == "REACHED"
    tip.limb_ik_target.location = (0.2, 0.1, 1.2)
    rigs.update()
    assert (rigs.evaluated_pose(arm)["hand"].head - rigs.world_position(tip.limb_ik_target)).length < 1e-5
    tip.limb_ik_weight = 0.0
    rigs.update()
    assert all(q.angle < 1e-6 for q in rigs.local_rotations(arm).values())


@pytest.mark.parametrize(("first", "second"), [("lo", "hand"), ("hand", "lo")])
def test_a_second_chain_on_a_turned_bone_is_refused_in_either_order(first: str, second: str) -> None:
    arm = rigs.l2b()
    settings: Any = {"armature": arm.name, "solver": "TWO_BONE", "chain_length": 2}
    bpy.ops.limb_ik.add_chain(tips=first, **settings)
    with pytest.raises(RuntimeError, match=f"'lo' is turned by the chain of '{first}'"):
        bpy.ops.limb_ik.add_chain(tips=second, **settings)
    tips: Any = [rigs.bone(arm, name) for name in (first, second)]
    rigs.update()
    assert (tips[0].limb_ik_status, tips[1].limb_ik_solver) == ("REACHED", "NONE")


@pytest.mark.parametrize("held", ["up", "lo"])
def test_what_a_driven_bone_keeps_the_end_from_counts_as_missed(held: str) -> None:
    arm = rigs.l2b()
    curve: Any = rigs.bone(arm, held).driver_add("rotation_quaternion", 1)
    curve.driver.expression = "0.1"
    target = rigs.empty("T", (0.3, 0, 1.2))
    tip: Any = rigs.add_chain_by_properties(arm, "lo", target)
    rigs.update()
    missed = rigs.tip_error(arm, "lo", target)
    assert missed > 0.1
    assert tip.limb_ik_error == pytest.approx(missed, abs=1e-5)
    assert (tip.limb_ik_status, "driven" in tip.limb_ik_message) == ("LIMITED", True)
    tip.limb_ik_weight = 0.5
    rigs.update()
    assert tip.limb_ik_error == pytest.approx(missed, abs=1e-5)


def test_with_the_last_bone_made_as_a_target_its_bone_collection_goes() -> None:
    arm = rigs.l2b()
    before = [collection.name for collection in rigs.armature_of(arm).collections]
    bpy.ops.limb_ik.add_chain(armature=arm.name, tips="lo", target_kind="BONE")
    assert len(rigs.armature_of(arm).collections) == len(before) + 1
    bpy.ops.limb_ik.remove_chain(armature=arm.name, tips="lo")
    assert [collection.name for collection in rigs.armature_of(arm).collections] == before


def test_an_end_bone_follows_the_target_on_the_frames_where_its_constraint_rests() -> None:
    """A hand that a keyed constraint holds for a while: live and baked it is the target's before."""
    arm = rigs.legp()
    copy: Any = rigs.bone(arm, "foot").constraints.new("COPY_ROTATION")
    copy.target = rigs.empty("Hold", rotation=(0.5, 0.4, 0.3))
    for frame, influence in ((1, 0.0), (5, 0.0), (10, 1.0)):
        copy.influence = influence
        copy.keyframe_insert("influence", frame=frame)
    rigs.frame_set(1)
    bpy.ops.limb_ik.add_limbs(armature=arm.name, arms=False, motion="STILL")
    target = rigs.bone(arm, "shin").limb_ik_target
    target.rotation_mode = "XYZ"
    target.rotation_euler.x += 0.5
    rigs.update()
    wanted = target.matrix_world.to_quaternion()
    live = {}
    for frame in (1, 5, 10):
        rigs.frame_set(frame)
        live[frame] = rigs.evaluated_pose(arm)["foot"].rotation
    rest = rigs.armature_of(arm).bones["foot"].matrix_local.to_quaternion()
    assert live[1].rotation_difference(wanted).angle < 1e-3
    assert live[1].rotation_difference(rest).angle > 0.4
    assert live[10].rotation_difference(copy.target.matrix_world.to_quaternion()).angle < 1e-3
    bpy.ops.limb_ik.bake(armature=arm.name, only_active=False, use_range=True, frame_start=1, frame_end=10)
    for frame, rotation in live.items():
        rigs.frame_set(frame)
        assert rigs.evaluated_pose(arm)["foot"].rotation.rotation_difference(rotation).angle < 1e-3, frame


def test_a_target_rest_without_rotation_stops_no_chain() -> None:
    arm, target, tip = chain_on_lo(end_bone="hand", end_rotation="TARGET", target_space="FK")
    tip.limb_ik_target_rest = [0.0] * 16
    target.location = (0.1, 0.0, 0.0)
    rigs.update()
    assert tip.limb_ik_status in {"REACHED", "TOO_FAR"}
    assert abs(rigs.evaluated_pose(arm)["hand"].head.x - 0.1) < 0.1
