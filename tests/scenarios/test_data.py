"""Scenarios about data: undo, overrides, deletion, renames, edits of the skeleton (LB-13, 17, 44, 45, 48, 55, 57)."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest

import rigs

pytestmark = pytest.mark.usefixtures("blank")


def limb(name: str = "Rig", **settings: Any) -> tuple[Any, Any]:
    obj = rigs.l2b(name=name)
    target = rigs.empty("T", (0.6, -0.4, 1.2))
    rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, 3, 0.8)), **settings)
    rigs.update()
    return obj, target


def on_target(name: str = "Rig", target: str = "T", end: str = "") -> bool:
    return rigs.tip_error(bpy.data.objects[name], "lo", bpy.data.objects[target], end) <= 1e-5


def set_weight() -> None:
    rigs.bone(bpy.data.objects["Rig"], "lo").limb_ik_weight = 0.5


def delete_target() -> None:
    bpy.data.objects.remove(bpy.data.objects["T"])


def delete_armature() -> None:
    bpy.data.objects.remove(bpy.data.objects["Rig"])


def add_second_chain() -> None:
    rigs.add_chain_by_properties(
        bpy.data.objects["Rig"], "hand", rigs.empty("T2", (0, 0, 3)), chain_length=1, solver="LOOK_AT"
    )


def remove_chain() -> None:
    rigs.bone(bpy.data.objects["Rig"], "lo").limb_ik_solver = "NONE"


@pytest.mark.parametrize("change", [set_weight, delete_target, delete_armature, add_second_chain, remove_chain])
def test_lb_13_undo_and_redo(change: Callable[[], None]) -> None:
    limb()
    bpy.ops.ed.undo_push(message="Before")
    change()
    rigs.update()
    bpy.ops.ed.undo_push(message="After")
    for _ in range(2):
        bpy.ops.ed.undo()
        rigs.update()
        rigs.frame_set(5)
        assert on_target()
        assert rigs.bone(bpy.data.objects["Rig"], "lo").limb_ik_weight == 1.0
        bpy.ops.ed.redo()
        rigs.update()
        rigs.frame_set(6)
    if change is set_weight:
        assert rigs.bone(bpy.data.objects["Rig"], "lo").limb_ik_weight == 0.5


def test_undo_gives_the_users_own_pose_back() -> None:
    obj, _ = limb(weight=0.5)
    rigs.turn(obj, "up", "X", 0.3)
    rigs.update()
    before = rigs.local_rotations(obj)
    bpy.ops.ed.undo_push(message="Before")
    rigs.turn(obj, "up", "X", 0.9)
    rigs.update()
    bpy.ops.ed.undo_push(message="After")
    bpy.ops.ed.undo()
    rigs.update()
    assert rigs.local_distance(before, rigs.local_rotations(bpy.data.objects["Rig"])) <= 1e-6


def library(tmp_path: Path) -> str:
    limb(weight=0.5)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    return path


def link(path: str, name: str = "Rig") -> bpy.types.Object:
    with bpy.data.libraries.load(path, link=True) as (source, wanted):
        wanted.objects = list(source.objects)
    for obj in wanted.objects:
        bpy.context.scene.collection.objects.link(obj)
    rigs.update()
    return next(obj for obj in wanted.objects if obj.name == name)


def reopen(tmp_path: Path, name: str = "shot.blend") -> None:
    path = str(tmp_path / name)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rigs.update()


def test_lb_17_an_override_keeps_its_edits(tmp_path: Path) -> None:
    linked = link(library(tmp_path))
    override = linked.override_create(remap_local_usages=True)
    if override.name not in bpy.context.scene.collection.objects:
        bpy.context.scene.collection.objects.link(override)
    name = override.name
    goal = rigs.empty("Goal", (0.3, -0.6, 1.1))
    tip = rigs.bone(override, "lo")
    tip.limb_ik_target = goal
    tip.limb_ik_weight = 0.2
    tip.keyframe_insert("limb_ik_weight", frame=1)
    tip.limb_ik_weight = 1.0
    tip.keyframe_insert("limb_ik_weight", frame=10)
    rigs.add_chain_by_properties(override, "hand", rigs.empty("Look", (0, 0, 3)), chain_length=1, solver="LOOK_AT")
    rigs.turn(override, "up", "X", 0.2)
    rigs.frame_set(10)
    assert on_target(name, "Goal")
    pose = rigs.local_rotations(override)
    for _ in range(2):
        reopen(tmp_path)
        found = next(o for o in bpy.data.objects if o.name == name and o.library is None)
        tip = rigs.bone(found, "lo")
        assert tip.limb_ik_target == bpy.data.objects["Goal"]
        assert rigs.bone(found, "hand").limb_ik_solver == "LOOK_AT"
        rigs.frame_set(1)
        assert rigs.bone(rigs.evaluated(found), "lo").limb_ik_weight == pytest.approx(0.2)
        rigs.frame_set(10)
        assert on_target(found.name, "Goal")
        assert rigs.local_distance(pose, rigs.local_rotations(found)) <= 1e-5


def test_lb_17_linked_data_is_never_written_to(tmp_path: Path) -> None:
    path = library(tmp_path)
    linked = link(path)
    shown = {bone.name: tuple(bone.rotation_quaternion) for bone in linked.pose.bones}
    stored = tuple(rigs.bone(linked, "up").limb_ik_store)
    bpy.data.objects["T"].location.x += 0.1
    for frame in (1, 5, 9):
        rigs.frame_set(frame)
    assert {bone.name: tuple(bone.rotation_quaternion) for bone in linked.pose.bones} == shown
    assert tuple(rigs.bone(linked, "up").limb_ik_store) == stored


GONE = {
    "delete": lambda: bpy.data.objects.remove(bpy.data.objects["T"]),
    "unlink": lambda: bpy.context.scene.collection.objects.unlink(bpy.data.objects["T"]),
    "purge": lambda: (
        bpy.context.scene.collection.objects.unlink(bpy.data.objects["T"]),
        bpy.data.orphans_purge(do_recursive=True),
    ),
}


@pytest.mark.parametrize("way", GONE)
def test_lb_44_without_its_target_a_chain_is_idle_and_says_so(way: str, tmp_path: Path) -> None:
    obj, _ = limb()
    fk = dict.fromkeys(("up", "lo"), (1.0, 0.0, 0.0, 0.0))
    GONE[way]()
    obj.update_tag()
    rigs.update()
    rigs.frame_set(3)
    for name, raw in fk.items():
        assert tuple(rigs.bone(obj, name).rotation_quaternion) == raw
    assert rigs.bone(obj, "lo").limb_ik_status == "INVALID"
    assert "target" in rigs.bone(obj, "lo").limb_ik_message
    reopen(tmp_path)
    rigs.frame_set(4)
    assert rigs.bone(bpy.data.objects["Rig"], "lo").limb_ik_status == "INVALID"


def test_lb_44_without_its_pole_the_bend_falls_back() -> None:
    obj, _ = limb()
    bpy.data.objects.remove(bpy.data.objects["P"])
    rigs.update()
    rigs.frame_set(3)
    assert on_target()
    assert rigs.bone(obj, "lo").limb_ik_status == "REACHED"


def test_lb_45_deleting_the_rig_that_another_looks_at() -> None:
    a, _ = limb("A")
    b = rigs.l2b(name="B", location=(2, 0, 0))
    rigs.add_chain_by_properties(b, "lo", a, target_bone="hand")
    c = rigs.l2b(name="C", location=(0, 3, 0))
    goal = rigs.empty("F", (0.3, 2.7, 1.1))
    rigs.add_chain_by_properties(c, "lo", goal)
    rigs.update()
    bpy.data.objects.remove(a)
    bpy.data.armatures.remove(bpy.data.armatures["A"])
    rigs.update()
    for frame in (1, 2, 3):
        rigs.frame_set(frame)
    bpy.data.orphans_purge(do_recursive=True)
    assert rigs.bone(b, "lo").limb_ik_status == "INVALID"
    assert rigs.tip_error(c, "lo", goal) <= 1e-5
    assert len(bpy.data.armatures) == 2


@pytest.mark.parametrize("count", [3, 8])
@pytest.mark.parametrize("role", ["T", "P"])
def test_lb_44_a_target_removed_between_two_frames_costs_the_other_rigs_nothing(role: str, count: int) -> None:
    """A script tells of it by no update; with many limbs these are solved together."""
    made = [limb(f"Rig{number}") for number in range(count)]
    for number, (obj, target) in enumerate(made):
        obj.location.x = target.location.x = 3.0 * number
    rigs.frame_set(2)
    tip = rigs.bone(made[1][0], "lo")
    bpy.data.objects.remove(tip.limb_ik_target if role == "T" else tip.limb_ik_pole)
    for frame in (3, 4):
        rigs.frame_set(frame)
        for number, (obj, target) in enumerate(made):
            if number != 1:
                assert rigs.tip_error(obj, "lo", target) <= 1e-5
    assert tip.limb_ik_status == ("INVALID" if role == "T" else "REACHED")


def edit(obj: bpy.types.Object, change: Callable[[Any], None]) -> None:
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    rigs.update()
    change(obj.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.update()


def tentacle() -> tuple[Any, list[str], Any]:
    obj = rigs.build(rigs.bent(6, 0.5, math.radians(8)))
    names = [bone.name for bone in obj.pose.bones]
    target = rigs.empty("T", (0.6, -0.7, 1.6))
    rigs.add_chain_by_properties(obj, names[-1], target, chain_length=6, solver="FABRIK")
    rigs.update()
    return obj, names, target


def test_lb_48_a_longer_bone_and_a_rolled_bone() -> None:
    obj, names, target = tentacle()
    joints = rigs.evaluated_pose(obj)

    def roll(bones: Any) -> None:
        bones[names[1]].roll += math.pi / 2

    edit(obj, roll)
    assert rigs.joint_distance(joints, rigs.evaluated_pose(obj)) <= 1e-4

    def lengthen(bones: Any) -> None:
        bones[names[2]].length = 0.8

    edit(obj, lengthen)
    assert rigs.tip_error(obj, names[-1], target) <= 1e-3 * 3.3


def test_lb_48_a_broken_parent_chain_is_named() -> None:
    obj, names, _ = tentacle()

    def cut(bones: Any) -> None:
        bones.remove(bones[names[3]])

    edit(obj, cut)
    tip = rigs.bone(obj, names[-1])
    assert tip.limb_ik_status == "INVALID"
    assert tip.limb_ik_message
    for name in names[:3]:
        assert tuple(rigs.bone(obj, name).rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)


def test_a_renamed_bone_or_target_is_followed() -> None:
    obj, target = limb(end_bone="hand")
    tip = rigs.bone(obj, "lo")
    obj.data.bones["hand"].name = "paw"
    rigs.update()
    assert tip.limb_ik_end_bone == "paw"
    obj.data.bones["up"].name = "thigh"
    obj.data.bones["lo"].name = "shin"
    target.name = "Goal"
    obj.name = "Beast"
    target.location.x -= 0.1
    rigs.update()
    tip = rigs.bone(obj, "shin")
    assert (tip.limb_ik_status, tip.limb_ik_message) == ("REACHED", "")
    assert rigs.tip_error(obj, "shin", target, "paw") <= 1e-5


def test_a_renamed_target_bone_is_followed_and_never_swapped() -> None:
    obj, _ = limb()
    other = rigs.l2b(name="Other", location=(0.4, -0.5, -0.4))
    tip = rigs.bone(obj, "lo")
    tip.limb_ik_target, tip.limb_ik_target_bone = other, "hand"
    rigs.update()
    other.data.bones["hand"].name = "wrist"
    other.data.bones["up"].name = "hand"
    rigs.update()
    assert tip.limb_ik_target_bone == "wrist"
    assert rigs.tip_error(obj, "lo", tuple(rigs.evaluated_pose(other)["wrist"].head)) <= 1e-5


def test_lb_55_an_active_constraint_is_named_and_a_driver_kept() -> None:
    obj, _ = limb()
    constraint = rigs.bone(obj, "up").constraints.new("COPY_ROTATION")
    constraint.target = rigs.empty("C")
    rigs.update()
    tip = rigs.bone(obj, "lo")
    assert tip.limb_ik_status == "INVALID"
    assert "Copy Rotation" in tip.limb_ik_message
    constraint.mute = True
    obj.update_tag()
    rigs.update()
    assert on_target()
    rigs.bone(obj, "lo").rotation_mode = "XYZ"
    curve = rigs.bone(obj, "lo").driver_add("rotation_euler", 0)
    curve.driver.expression = "0.25"
    obj.update_tag()
    rigs.update()
    assert "driven" in tip.limb_ik_message
    assert rigs.evaluated(obj).pose.bones["lo"].rotation_euler.x == pytest.approx(0.25)
    assert len(obj.animation_data.drivers) == 3


def test_lb_57_locks_do_not_bind_the_solver_and_come_back() -> None:
    obj = rigs.l2b()
    lo = rigs.bone(obj, "lo")
    lo.rotation_mode = "XYZ"
    lo.rotation_euler = (0.1, 0.2, 0.3)
    lo.lock_rotation = (False, True, True)
    before = tuple(lo.rotation_euler)
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)), rigs.empty("P", (1.5, 3, 0.8)))
    rigs.update()
    assert on_target()
    lo.limb_ik_mute = True
    rigs.update()
    assert tuple(lo.rotation_euler) == before


def test_edit_mode_and_rest_position_pose_nothing() -> None:
    obj, target = limb()
    obj.data.pose_position = "REST"
    rigs.update()
    target.location.x += 0.05
    rigs.update()
    assert "rest" in rigs.bone(obj, "lo").limb_ik_message
    obj.data.pose_position = "POSE"
    rigs.update()
    assert on_target()
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    target.location.x += 0.05
    rigs.update()
    rigs.frame_set(3)
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.update()
    assert on_target()


def test_a_change_of_rotation_mode_converts_the_kept_pose() -> None:
    obj, _ = limb(weight=0.5)
    rigs.turn(obj, "up", "X", 0.4)
    rigs.update()
    before = rigs.evaluated_pose(obj)
    for mode in ("XYZ", "AXIS_ANGLE", "ZXY", "QUATERNION"):
        rigs.bone(obj, "up").rotation_mode = mode
        rigs.update()
        assert rigs.pose_distance(before, rigs.evaluated_pose(obj)) <= 1e-4


@pytest.mark.parametrize("length", [1, 3, 99])
def test_lb_73_impossible_chains_are_named(length: int) -> None:
    obj = rigs.l2b()
    tip = rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)), chain_length=length)
    rigs.update()
    rigs.frame_set(2)
    assert tip.limb_ik_status == "INVALID"
    assert tip.limb_ik_message


def arm(name: str = "Rig") -> bpy.types.Object:
    """A left arm off the middle, as one that is symmetrised."""
    bones = [
        rigs.BoneSpec("chest", (0, 0, 1), (0, 0, 1.4)),
        rigs.BoneSpec("up.L", (0.2, 0, 1.4), (0.6, 0.05, 1.4), "chest"),
        rigs.BoneSpec("lo.L", (0.6, 0.05, 1.4), (1.0, 0, 1.4), "up.L"),
        rigs.BoneSpec("hand.L", (1.0, 0, 1.4), (1.2, 0, 1.4), "lo.L"),
    ]
    return rigs.build(bones, name)


def select_in_edit_mode(obj: bpy.types.Object, names: set[str]) -> None:
    for bone in obj.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name in names


def test_a_duplicated_bone_has_no_chain_of_its_own() -> None:
    obj = arm()
    target = rigs.empty("Goal.L", (0.8, -0.2, 1.5))
    rigs.add_chain_by_properties(obj, "lo.L", target, end_bone="hand.L")
    rigs.update()
    bpy.ops.object.mode_set(mode="EDIT")
    select_in_edit_mode(obj, {"up.L", "lo.L"})
    bpy.ops.armature.duplicate()
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.update()
    rigs.frame_set(2)
    assert [bone.name for bone in obj.pose.bones if bone.limb_ik_solver != "NONE"] == ["lo.L"]
    assert rigs.tip_error(obj, "lo.L", target, "hand.L") <= 1e-5
    copy = next(bone for bone in obj.pose.bones if bone.name.startswith("up.L."))
    assert tuple(copy.rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)


def test_a_symmetrised_chain_gets_the_flipped_names() -> None:
    obj = arm()
    target = rigs.empty("Goal.L", (0.8, -0.2, 1.5))
    other = rigs.empty("Goal.R", (-0.8, -0.2, 1.5))
    rigs.add_chain_by_properties(obj, "lo.L", target, end_bone="hand.L")
    rigs.update()
    bpy.ops.object.mode_set(mode="EDIT")
    select_in_edit_mode(obj, {"up.L", "lo.L", "hand.L"})
    bpy.ops.armature.symmetrize()
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.update()
    tip = rigs.bone(obj, "lo.R")
    assert (tip.limb_ik_end_bone, tip.limb_ik_target) == ("hand.R", other)
    assert rigs.tip_error(obj, "lo.R", other, "hand.R") <= 1e-5
    left, right = rigs.evaluated_pose(obj)["lo.L"].head, rigs.evaluated_pose(obj)["lo.R"].head
    assert tuple(right) == pytest.approx((-left.x, left.y, left.z), abs=1e-5)


def test_an_action_shared_by_two_rigs_and_switched() -> None:
    a, target = limb("A")
    b = rigs.l2b(name="B", location=(2, 0, 0))
    goal = rigs.empty("G", (2.5, 0.3, 1.2))
    rigs.add_chain_by_properties(b, "lo", goal)
    for frame, angle in ((1, 0.1), (10, 0.8)):
        rigs.turn(a, "up", "X", angle)
        rigs.key_rotation(rigs.bone(a, "up"), frame)
    action = a.animation_data.action
    b.animation_data_create().action = action
    if hasattr(b.animation_data, "action_slot"):
        b.animation_data.action_slot = a.animation_data.action_slot
    for frame in (3, 8, 5):
        rigs.frame_set(frame)
        assert rigs.tip_error(a, "lo", target) <= 1e-5
        assert rigs.tip_error(b, "lo", goal) <= 1e-5
    other = bpy.data.actions.new("Other")
    a.animation_data.action = other
    rigs.turn(a, "up", "X", -0.4)
    rigs.key_rotation(rigs.bone(a, "up"), 1)
    rigs.frame_set(2)
    assert rigs.tip_error(a, "lo", target) <= 1e-5
    rigs.bone(a, "lo").limb_ik_mute = True
    rigs.frame_set(4)
    assert rigs.local_rotations(a)["up"].angle == pytest.approx(0.4, abs=1e-5)


@pytest.mark.parametrize("is_tweaked", [False, True])
def test_nla_strips_give_fk(is_tweaked: bool) -> None:
    obj, _ = limb(weight=0.5)
    for frame, angle in ((1, 0.1), (10, 0.8)):
        rigs.turn(obj, "up", "X", angle)
        rigs.key_rotation(rigs.bone(obj, "up"), frame)
    anim = obj.animation_data
    action = anim.action
    slot = getattr(anim, "action_slot", None)
    track = anim.nla_tracks.new()
    strip = track.strips.new("Strip", 11, action)
    if slot is not None:
        strip.action_slot = slot
    anim.action = None
    if is_tweaked:
        track.select = strip.select = True
        anim.nla_tracks.active = track
        anim.use_tweak_mode = True
    rigs.frame_set(20)
    shown = rigs.local_rotations(obj)
    rigs.frame_set(13)
    rigs.frame_set(20)
    assert rigs.local_distance(shown, rigs.local_rotations(obj)) <= 1e-6
    rigs.bone(obj, "lo").limb_ik_mute = True
    rigs.frame_set(20)
    assert rigs.local_rotations(obj)["up"].angle == pytest.approx(0.8, abs=1e-5)
