"""Scenarios about states in which little can be solved (LB-26, 73, 78): quiet, named once, nothing wrong."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from limb_ik.bake.baking import BakeOptions, bake
from limb_ik.rig import compat

import rigs

pytestmark = pytest.mark.usefixtures("blank")

STILL = (1.0, 0.0, 0.0, 0.0)
TARGET = (0.6, -0.4, 1.2)
# Nothing is fitted on the way: what is posed right is posed to rounding of the evaluated pose.
ON_TARGET = 1e-5


def limb(kind: str = "L2B", *, root: bool = False, **settings: Any) -> tuple[Any, Any, Any]:
    obj = rigs.rig(kind, root=root)
    target = rigs.empty("T", TARGET)
    tip = rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, 3, 0.8)), **settings)
    rigs.update()
    return obj, target, tip


def go_on(capfd: pytest.CaptureFixture[str]) -> None:
    """An edit and five frames, without a line on the console."""
    capfd.readouterr()
    rigs.update()
    for frame in range(2, 7):
        rigs.frame_set(frame)
    written = capfd.readouterr()
    assert written.out + written.err == ""


@pytest.mark.parametrize("end_rotation", ["KEEP_LOCAL", "KEEP_FK", "TARGET"])
@pytest.mark.parametrize("who", ["hand", "target"])
def test_lb_26_an_end_or_target_of_scale_zero_is_reached(
    who: str, end_rotation: str, capfd: pytest.CaptureFixture[str]
) -> None:
    obj, target, tip = limb(end_bone="hand", end_rotation=end_rotation)
    (rigs.bone(obj, "hand") if who == "hand" else target).scale = (0, 0, 0)
    go_on(capfd)
    assert tip.limb_ik_status == "REACHED"
    assert rigs.tip_error(obj, "lo", target, "hand") <= ON_TARGET
    assert ("scale of zero" in tip.limb_ik_message) == (who == "target" and end_rotation == "TARGET")
    (rigs.bone(obj, "hand") if who == "hand" else target).scale = (1, 1, 1)
    rigs.update()
    assert tip.limb_ik_message == ""


@pytest.mark.parametrize("scale", [(0, 0, 0), (0, 1, 1), (1, 0, 1)])
@pytest.mark.parametrize("who", ["root", "object", "parent"])
def test_lb_26_scale_of_zero_above_poses_nothing(
    who: str, scale: tuple[float, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    obj, target, tip = limb(root=True)
    above = rigs.empty("Above")
    obj.parent = above
    scaled = {"root": rigs.bone(obj, "root"), "object": obj, "parent": above}[who]
    scaled.scale = scale
    go_on(capfd)
    assert tip.limb_ik_status == "INVALID"
    assert "scale" in tip.limb_ik_message
    assert {tuple(rigs.bone(obj, name).rotation_quaternion) for name in ("up", "lo", "hand")} == {STILL}
    scaled.scale = (1, 1, 1)
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET


@pytest.mark.parametrize("name", ["up", "lo"])
def test_lb_26_a_bone_of_the_chain_of_scale_zero_is_quiet_and_finite(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    obj, target, tip = limb()
    rigs.bone(obj, name).scale = (0, 0, 0)
    go_on(capfd)
    assert tip.limb_ik_status in {"INVALID", "TOO_FAR"}
    assert rigs.is_finite(obj)
    rigs.bone(obj, name).scale = (1, 1, 1)
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET


@pytest.mark.parametrize("solver", ["TWO_BONE", "FABRIK"])
@pytest.mark.parametrize("length", [0.0, 1e-5])
@pytest.mark.parametrize("is_inside", [True, False])
def test_lb_26_bones_without_length(
    is_inside: bool, length: float, solver: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """4.2 and 4.5 delete a bone of length zero when edit mode ends, 5.3 keeps it."""
    bones = [
        rigs.BoneSpec("up", (0, 0, 0), (0, 0, 1)),
        rigs.BoneSpec("z", (0, 0, 1), (0, 0, 1 + length), "up", True),
        rigs.BoneSpec("lo", (0, 0, 1 + length), (0, 0, 2), "z" if is_inside else "up"),
        rigs.BoneSpec("hand", (0, 0, 2), (0, 0, 2.3), "lo", True),
    ]
    obj = rigs.build(bones)
    target = rigs.empty("T", (1.2, 0, 0.5))
    count = 3 if is_inside and "z" in obj.pose.bones and obj.pose.bones["lo"].parent.name == "z" else 2
    tip = rigs.bone(obj, "lo")
    if tip.parent is None:  # its parent was deleted as it had no length
        count = 1
    rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, -3, 0)), chain_length=count, solver=solver)
    go_on(capfd)
    assert rigs.is_finite(obj)
    assert count == 1 or rigs.tip_error(obj, "lo", target) <= 1e-4


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_target_that_is_nowhere_poses_nothing_wrongly(value: float, capfd: pytest.CaptureFixture[str]) -> None:
    obj, target, tip = limb()
    target.location = (value, 0, 0)
    go_on(capfd)
    assert rigs.is_finite(obj)
    assert tip.limb_ik_status in {"INVALID", "TOO_FAR"}
    assert tip.limb_ik_status == "TOO_FAR" or "short" not in tip.limb_ik_message
    target.location = TARGET
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET


AWAY = {
    "hide_viewport": lambda obj, on: setattr(obj, "hide_viewport", on),
    "hide_set": lambda obj, on: obj.hide_set(on),
    "exclude": lambda obj, on: setattr(bpy.context.view_layer.layer_collection.children["Away"], "exclude", on),
}


@pytest.mark.parametrize("way", AWAY)
def test_a_rig_out_of_sight_is_quiet_and_right_when_it_comes_back(way: str, capfd: pytest.CaptureFixture[str]) -> None:
    obj, target, tip = limb()
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(obj)
    collection.objects.link(obj)
    rigs.update()
    AWAY[way](obj, True)
    go_on(capfd)
    target.location = (0.3, -0.6, 1.1)
    go_on(capfd)
    AWAY[way](obj, False)
    rigs.update()
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET
    tip.limb_ik_mute = True
    rigs.update()
    assert tuple(rigs.bone(obj, "up").rotation_quaternion) == STILL


def test_lb_78_modes_stay_and_the_rig_that_is_not_edited_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    rows = []
    for number, name in enumerate("AB"):
        obj = rigs.l2b(name=name, location=(3 * number, 0, 0))
        target = rigs.empty(f"T{name}", (3 * number + 0.6, -0.4, 1.2))
        rows.append((obj, target, rigs.add_chain_by_properties(obj, "lo", target)))
    rigs.update()
    (a, target_a, _), (b, target_b, tip_b) = rows
    for modes in (("POSE", "POSE"), ("OBJECT", "EDIT")):
        bpy.ops.object.mode_set(mode="OBJECT")
        for obj, mode in zip((a, b), modes, strict=True):
            obj.select_set(mode == modes[1])
        bpy.context.view_layer.objects.active = b
        bpy.ops.object.mode_set(mode=modes[1])
        before = [tuple(bone.head) + tuple(bone.tail) for bone in b.data.edit_bones]
        for step in range(20):
            target_a.location.z = 1.1 + step / 100
            target_b.location.z = 1.1 + step / 100
            rigs.update()
        go_on(capfd)
        assert (a.mode, b.mode) == modes
        assert [tuple(bone.head) + tuple(bone.tail) for bone in b.data.edit_bones] == before
        assert rigs.tip_error(a, "lo", target_a) <= ON_TARGET
        if modes[1] == "EDIT":
            assert "edit mode" in tip_b.limb_ik_message
        else:
            assert rigs.tip_error(b, "lo", target_b) <= ON_TARGET
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("name", ["up", "lo", "hand"])
def test_lb_78_edit_mode_of_an_armature_that_two_share_is_that_of_both(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    a, target, _ = limb()
    b: Any = a.copy()
    bpy.context.scene.collection.objects.link(b)
    rigs.update()
    b.location.x = 3.0
    rigs.update()
    other = rigs.empty("TB", (3.6, -0.4, 1.2))
    rigs.bone(b, "lo").limb_ik_target = other
    bpy.context.view_layer.objects.active = a
    bpy.ops.object.mode_set(mode="EDIT")
    a.data.edit_bones[name].name = "another"
    capfd.readouterr()
    b.update_tag()
    go_on(capfd)
    tips: list[Any] = [next(bone for bone in obj.pose.bones if bone.limb_ik_solver != "NONE") for obj in (a, b)]
    assert [tip.limb_ik_message for tip in tips] == ["armature is in edit mode"] * 2
    with pytest.raises(RuntimeError, match=f"'{b.name}' is in edit mode: leave it first"):
        bpy.ops.limb_ik.remove_chain(armature=b.name, tips=tips[1].name)
    bpy.ops.object.mode_set(mode="OBJECT")
    go_on(capfd)
    for obj, goal in ((a, target), (b, other)):
        tip = next(bone for bone in obj.pose.bones if bone.limb_ik_solver != "NONE")
        assert tip.limb_ik_message == ""
        assert rigs.tip_error(obj, tip.name, goal) <= ON_TARGET


@pytest.mark.parametrize("role", ["target", "pole"])
def test_a_control_bone_that_was_deleted_is_named_and_the_chain_can_still_be_removed(role: str) -> None:
    obj = rigs.l2b()
    bpy.ops.limb_ik.add_chain(armature=obj.name, tips="lo", target_kind='BONE')
    tip: Any = rigs.bone(obj, "lo")
    gone, kept = (getattr(tip, f"limb_ik_{name}_bone") for name in (role, "pole" if role == "target" else "target"))
    bpy.ops.object.mode_set(mode='EDIT')
    obj.data.edit_bones.remove(obj.data.edit_bones[gone])
    bpy.ops.object.mode_set(mode='OBJECT')
    rigs.update()
    tip = rigs.bone(obj, "lo")
    assert tip.limb_ik_message == f"{role} bone '{gone}' is missing in 'Rig'"
    assert tip.limb_ik_status == ("INVALID" if role == "target" else "REACHED")
    assert bpy.ops.limb_ik.remove_chain(armature=obj.name, tips="lo") == {'FINISHED'}
    assert kept not in obj.data.bones
    assert rigs.bone(obj, "lo").limb_ik_solver == "NONE"


def test_an_action_without_keys_above_strips_stops_no_ik() -> None:
    """As it is made for the first key beside strips, and stays when that key goes."""
    obj = rigs.l2b()
    target = rigs.empty("T", (0.6, -0.4, 1.2))
    tip = rigs.add_chain_by_properties(obj, "lo", target)
    for frame, is_on in ((1, False), (5, True)):
        rigs.key_setting(tip, "use_ik", frame, is_on)
    action, slot = obj.animation_data.action, getattr(obj.animation_data, "action_slot", None)
    strip = obj.animation_data.nla_tracks.new().strips.new("Strip", 1, action)
    if slot is not None:
        strip.action_slot = slot
    obj.animation_data.action = bpy.data.actions.new("Empty")
    obj.animation_data.action_extrapolation = "NOTHING"
    rigs.frame_set(40)
    rigs.frame_set(41)
    assert tip.limb_ik_status == "REACHED"
    assert rigs.tip_error(obj, "lo", target) <= 1e-5


def test_a_curve_with_a_number_too_large_stops_no_ik_in_another_scene() -> None:
    """Where values are copied from the evaluated object to its original; Blender passes over such a curve."""
    obj = rigs.l2b()
    target = rigs.empty("T", (0.6, -0.4, 1.2))
    rigs.add_chain_by_properties(obj, "lo", target)
    obj.keyframe_insert("location", frame=1)
    compat.ensure_fcurve(obj, "location", 7).keyframe_points.insert(1, 0.0)
    for frame, place in ((1, (0.6, -0.4, 1.2)), (10, (-0.5, -0.6, 1.0))):
        rigs.key_location(target, frame, place)
    other = bpy.data.scenes.new("Other")
    for one in bpy.context.scene.collection.objects:
        other.collection.objects.link(one)
    rigs.frame_set(1)
    other.frame_set(7)
    seen = obj.evaluated_get(other.view_layers[0].depsgraph)
    goal = target.evaluated_get(other.view_layers[0].depsgraph).matrix_world.translation
    assert (seen.matrix_world @ seen.pose.bones["lo"].tail - goal).length <= 1e-5


# Those that need a target, by Blender's names; of curves and of clips, too.
NEED_TARGET = ("COPY_ROTATION", "COPY_TRANSFORMS", "DAMPED_TRACK", "IK", "SPLINE_IK", "CHILD_OF", "ARMATURE", "ACTION")


@pytest.mark.parametrize("kind", NEED_TARGET)
def test_a_constraint_that_has_no_target_stops_no_ik(kind: Any) -> None:
    obj, target, tip = limb()
    constraint: Any = rigs.bone(obj, "up").constraints.new(kind)
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET and tip.limb_ik_status == "REACHED"
    rigs.frame_set(5)
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET and tip.limb_ik_status == "REACHED"
    if kind in {"COPY_ROTATION", "DAMPED_TRACK"}:
        held = rigs.empty("Held", (1, 2, 3))
        constraint.target = held
        rigs.update()
        assert tip.limb_ik_message == f"constraint '{constraint.name}' on 'up' is active"
        bpy.data.objects.remove(held)
        rigs.update()
        assert rigs.tip_error(obj, "lo", target) <= ON_TARGET and tip.limb_ik_status == "REACHED"


def test_a_constraint_whose_muting_is_keyed_but_has_no_target_stops_no_ik() -> None:
    obj, target, tip = limb()
    constraint = rigs.bone(obj, "up").constraints.new('COPY_ROTATION')
    constraint.keyframe_insert("influence", frame=1)
    rigs.frame_set(3)
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET and tip.limb_ik_status == "REACHED"


def test_a_constraint_whose_bone_is_missing_acts() -> None:
    """Blender takes the object's own place then."""
    obj, _, tip = limb()
    constraint: Any = rigs.bone(obj, "up").constraints.new('COPY_ROTATION')
    constraint.target, constraint.subtarget = rigs.l2b("Other", location=(3, 0, 0)), "nowhere"
    rigs.update()
    assert tip.limb_ik_status == "INVALID"


@pytest.mark.parametrize(("parent", "constraint"), [("", ""), ("up", ""), ("lo", ""), ("hand", ""), ("", "lo")])
def test_an_end_bone_that_the_chain_does_not_carry_is_named(parent: str, constraint: str) -> None:
    bones = (*rigs.RIGS["L2B"], rigs.BoneSpec("end", (0.1, 0.1, 1.7), (0.1, 0, 2), parent))
    obj, target = rigs.build(bones), rigs.empty("T", TARGET)
    tip: Any = rigs.add_chain_by_properties(obj, "lo", target, end_bone="end")
    if constraint:
        held: Any = rigs.bone(obj, "end").constraints.new('COPY_LOCATION')
        held.target, held.subtarget, held.head_tail = obj, constraint, 1.0
    rigs.update()
    if parent in ("", "up") and not constraint:
        said = "end bone 'end' doesn't hang on 'lo'"
        assert (tip.limb_ik_status, tip.limb_ik_message) == ("INVALID", said)
    else:
        assert rigs.tip_error(obj, "lo", target, "end") <= ON_TARGET and tip.limb_ik_status == "REACHED"


def test_a_rest_of_the_target_that_is_no_place_costs_the_other_rigs_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    rows = []
    for number in range(7):  # so many that plain limbs are solved together
        obj = rigs.l2b(name=f"R{number}", location=(3 * number, 0, 0))
        target = rigs.empty(f"T{number}", (3 * number + 0.6, -0.4, 1.2))
        rows.append((obj, target, rigs.add_chain_by_properties(obj, "lo", target, end_bone="hand")))
    rigs.update()
    bad: Any = rows[0][2]
    bad.limb_ik_end_rotation, bad.limb_ik_target_space, bad.limb_ik_target_rest = "TARGET", "FK", [0.0] * 16
    go_on(capfd)
    for obj, target, _ in rows[1:]:
        assert rigs.tip_error(obj, "lo", target) <= ON_TARGET


@pytest.mark.parametrize("solver", ["TWO_BONE", "FABRIK"])
def test_a_limb_at_the_end_of_a_rope_of_a_thousand_bones(solver: str, capfd: pytest.CaptureFixture[str]) -> None:
    """More bones in a row than Python nests calls."""
    obj = rigs.build(rigs.bent(1100, 0.05, 0.0))
    target = rigs.empty("T", (0.02, -0.02, 55.0 - 0.03))
    tip: Any = rigs.add_chain_by_properties(obj, "b1100", target, solver=solver)
    go_on(capfd)
    assert tip.limb_ik_status == "REACHED"
    rigs.key_location(target, 1)
    report = bake(bpy.context, [obj], BakeOptions(1, 3))
    assert report.chains == 1
    assert not report.skipped
