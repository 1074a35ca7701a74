"""What goes with a removed chain: what set-up made, where it is that still and nothing else uses it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.operators import arguments, in_steps
from limb_ik.rig import marks
from limb_ik.rig.chain_setup import CHAIN_SETTINGS
from limb_ik.rig.made import COLLECTION

import rigs

pytestmark = pytest.mark.usefixtures("blank")
ops: Any = bpy.ops


def by_operator(name: str) -> str:
    return said(lambda: ops.limb_ik.remove_chain(armature=name))


def by_bake(name: str) -> str:
    return said(lambda: ops.limb_ik.bake(armature=name, use_range=True, frame_start=1, frame_end=2, after='REMOVE'))


def said(call: Callable[[], Any]) -> str:
    assert call() == {'FINISHED'}
    rigs.update()
    return str(REPORTS[-1])


REPORTS: list[str] = []


@pytest.fixture(autouse=True)
def reports(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What operators say, which Blender gives to Python only where they fail."""

    def note(text: str) -> str:
        REPORTS.append(text)
        return text

    monkeypatch.setattr(arguments, "sentence", note)
    monkeypatch.setattr(in_steps, "sentence", note)
    return REPORTS


WAYS = pytest.mark.parametrize("remove", [by_operator, by_bake])


def limb(target_kind: str = "EMPTY", name: str = "Rig") -> tuple[bpy.types.Object, Any]:
    """An arm with a chain by the operator, and its tip."""
    obj = rigs.build((*rigs.RIGS["L2B"], rigs.BoneSpec("mine", (0.5, -0.4, 1.2), (0.5, -0.4, 1.4))), name)
    ops.limb_ik.add_chain(armature=name, tips="lo", target_kind=target_kind)
    return obj, rigs.bone(obj, "lo")


def objects() -> set[str]:
    return set(bpy.data.objects.keys())


def bones(obj: bpy.types.Object) -> set[str]:
    return set(obj.pose.bones.keys()) - {"up", "lo", "hand", "mine"}


@WAYS
def test_what_the_user_let_the_chain_reach_for_stays_and_what_was_made_goes(remove: Any) -> None:
    _, tip = limb()
    tip.limb_ik_target, tip.limb_ik_pole = rigs.empty("Prop", (0.5, -0.4, 1.2)), rigs.empty("Side", (0, 2, 1))
    rigs.update()
    remove("Rig")
    assert objects() == {"Rig", "Prop", "Side"} and COLLECTION not in bpy.data.collections


@WAYS
def test_a_camera_and_another_character_stay(remove: Any) -> None:
    _, tip = limb()
    other = rigs.l2b("Other", location=(2, 0, 0))
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    tip.limb_ik_target, tip.limb_ik_target_bone, tip.limb_ik_pole = other, "hand", camera
    rigs.update()
    remove("Rig")
    assert objects() == {"Rig", "Other", "Camera"} and "hand" in other.pose.bones


def test_the_character_itself_stays() -> None:
    obj, tip = limb()
    tip.limb_ik_target = obj
    rigs.update()
    by_operator("Rig")
    assert objects() == {"Rig"} and tip.limb_ik_solver == 'NONE'


@WAYS
def test_a_bone_of_the_users_own_stays(remove: Any) -> None:
    obj, tip = limb("BONE")
    tip.limb_ik_target_bone = "mine"
    rigs.update()
    remove("Rig")
    assert "mine" in obj.pose.bones and not bones(obj)


@pytest.mark.parametrize("target_kind", ["EMPTY", "BONE"])
def test_a_copy_that_the_user_made_of_a_control_is_the_users(target_kind: str) -> None:
    obj, tip = limb(target_kind)
    if target_kind == "EMPTY":
        copy = tip.limb_ik_target.copy()
        bpy.data.collections[COLLECTION].objects.link(copy)
        tip.limb_ik_target, copied = copy, copy.name
    else:
        bpy.ops.object.mode_set(mode='EDIT')
        for bone in obj.data.edit_bones:
            bone.select = bone.select_head = bone.select_tail = bone.name == "hand_IK"
        bpy.ops.armature.duplicate()
        bpy.ops.object.mode_set(mode='OBJECT')
        tip = rigs.bone(obj, "lo")
        tip.limb_ik_target_bone = copied = "hand_IK.001"
    rigs.update()
    by_operator("Rig")
    assert [name for name in (*objects(), *bones(obj)) if name.endswith("_IK") or "Pole" in name] == []
    assert copied in (*objects(), *bones(obj))


def test_made_controls_are_known_by_their_new_names() -> None:
    obj, tip = limb("BONE")
    obj.data.bones["hand_IK"].name = "reach"
    rigs.update()
    tip.limb_ik_target_bone = "mine"
    obj.data.bones["reach"].name = "goal"
    rigs.update()
    by_operator("Rig")
    assert "mine" in obj.pose.bones and not bones(obj)


def test_a_made_control_that_was_replaced_and_deleted_leaves_the_file(tmp_path: Path) -> None:
    _, tip = limb()
    made = tip.limb_ik_target
    tip.limb_ik_target = rigs.empty("Prop", (0.5, -0.4, 1.2))
    rigs.update()
    with bpy.context.temp_override(selected_objects=[made], active_object=made, object=made):
        bpy.ops.object.delete()
    rigs.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert objects() == {"Rig", "Rig_hand_Pole", "Prop"}
    by_operator("Rig")
    assert objects() == {"Rig", "Prop"}


def test_a_chain_switched_off_and_set_up_anew_by_a_script_keeps_what_it_reaches_for() -> None:
    _, tip = limb()
    tip.limb_ik_solver = 'NONE'
    rigs.update()
    tip.limb_ik_target, tip.limb_ik_pole = rigs.empty("Prop", (0.5, -0.4, 1.2)), None
    tip.limb_ik_solver = 'TWO_BONE'
    rigs.update()
    by_operator("Rig")
    assert objects() == {"Rig", "Prop"}


def test_a_pose_pasted_from_another_rig_brings_nothing_that_is_removed() -> None:
    _, tip = limb()
    other, other_tip = limb(name="Other")
    prop = rigs.empty("Prop", (0.5, -0.4, 1.2))
    other_tip.limb_ik_target = prop
    rigs.update()
    with marks.quiet():  # as Blender pastes: without a callback, pointers come out empty
        for name in (f"limb_ik_{one}" for one in CHAIN_SETTINGS):
            value = getattr(tip, name)
            setattr(other_tip, name, None if isinstance(value, bpy.types.Object) else value)
    marks.mark_updated(other)
    other.update_tag()
    rigs.update()
    assert other_tip.limb_ik_target == prop
    by_operator("Other")
    assert objects() == {"Rig", "Rig_hand_IK", "Rig_hand_Pole", "Other", "Prop"}


def older(tip: Any) -> None:
    """As an earlier Limb IK kept it: that target and pole were made, not which they were."""
    for role in ("target", "pole"):
        for name in (f"limb_ik_own_{role}", f"limb_ik_own_{role}_bone"):
            tip.property_unset(name)
        setattr(tip, f"limb_ik_made_{role}", True)
    tip.id_data.update_tag()
    marks.mark_all()


@pytest.mark.parametrize("target_kind", ["EMPTY", "BONE"])
@pytest.mark.parametrize("is_replaced", [False, True])
def test_set_ups_of_earlier_versions_know_what_was_made(target_kind: str, is_replaced: bool) -> None:
    obj, tip = limb(target_kind)
    older(tip)
    rigs.update()
    if is_replaced:
        tip.limb_ik_target, tip.limb_ik_target_bone = rigs.empty("Prop", (0.5, -0.4, 1.2)), ""
        rigs.update()
    by_operator("Rig")
    assert objects() == {"Rig", *(["Prop"] if is_replaced else [])} and not bones(obj)


def test_a_target_replaced_in_an_earlier_version_stays() -> None:
    _, tip = limb()
    tip.limb_ik_target = rigs.empty("Prop", (0.5, -0.4, 1.2))
    older(tip)
    by_operator("Rig")
    assert "Prop" in objects()


def child(control: Any) -> None:
    rigs.empty("User").parent = control


def constraint(control: Any) -> None:
    rigs.empty("User").constraints.new('COPY_LOCATION').target = control


def driver(control: Any) -> None:
    variable = rigs.empty("User").driver_add("location", 0).driver.variables.new()
    variable.type, variable.targets[0].id = 'TRANSFORMS', control


def setting(control: Any) -> None:
    rigs.empty("User")["control"] = control


def broken_chain(control: Any) -> None:
    user = rigs.l2b("User", location=(1, 0, 0))
    rigs.add_chain_by_properties(user, "lo", control, chain_length=99)


def chain_that_is_off(control: Any) -> None:
    rigs.add_chain_by_properties(rigs.l2b("User", location=(1, 0, 0)), "lo", control).limb_ik_solver = 'NONE'


@WAYS
@pytest.mark.parametrize("use", [child, constraint, driver, setting, broken_chain, chain_that_is_off])
def test_a_made_target_that_something_uses_stays(use: Any, remove: Any) -> None:
    _, tip = limb()
    use(tip.limb_ik_target)
    rigs.update()
    assert "'Rig_hand_IK' stays, 'User' uses it" in remove("Rig")
    assert objects() == {"Rig", "Rig_hand_IK", "User"}


def test_a_made_target_that_is_the_scenes_camera_stays() -> None:
    _, tip = limb()
    bpy.context.scene.camera = tip.limb_ik_target
    assert "'Rig_hand_IK' stays, 'Scene' uses it" in by_operator("Rig")


def test_controls_that_use_each_other_go_together() -> None:
    _, tip = limb()
    tip.limb_ik_pole.parent = tip.limb_ik_target
    rigs.update()
    by_operator("Rig")
    assert objects() == {"Rig"}


def test_a_control_stays_with_the_one_that_stays() -> None:
    _, tip = limb()
    tip.limb_ik_pole.parent = tip.limb_ik_target
    rigs.empty("User").parent = tip.limb_ik_pole
    rigs.update()
    by_operator("Rig")
    assert objects() == {"Rig", "Rig_hand_IK", "Rig_hand_Pole", "User"}


def bone_child(obj: bpy.types.Object) -> str:
    bpy.ops.object.mode_set(mode='EDIT')
    obj.data.edit_bones["mine"].parent = obj.data.edit_bones["hand_IK"]
    bpy.ops.object.mode_set(mode='OBJECT')
    return "'mine'"


def bone_parent(obj: bpy.types.Object) -> str:
    user = rigs.empty("User")
    user.parent, user.parent_type, user.parent_bone = obj, 'BONE', "hand_IK"
    return "'User'"


def bone_constraint(obj: bpy.types.Object) -> str:
    one: Any = obj.pose.bones["mine"].constraints.new('COPY_ROTATION')
    one.target, one.subtarget = obj, "hand_IK"
    return "'mine' of 'Rig'"


def armature_constraint(obj: bpy.types.Object) -> str:
    one: Any = rigs.empty("User").constraints.new('ARMATURE').targets.new()
    one.target, one.subtarget = obj, "hand_IK"
    return "'User'"


def hook(obj: bpy.types.Object) -> str:
    user = bpy.data.objects.new("User", bpy.data.meshes.new("User"))
    one: Any = user.modifiers.new("Hook", 'HOOK')
    one.object, one.subtarget = obj, "hand_IK"
    return "'User'"


def bone_driver(obj: bpy.types.Object) -> str:
    target = rigs.empty("User").driver_add("location", 0).driver.variables.new().targets[0]
    target.id, target.data_path = obj, 'pose.bones["hand_IK"]["dial"]'
    return "'User'"


def shape_place(obj: bpy.types.Object) -> str:
    rigs.bone(obj, "mine").custom_shape_transform = rigs.bone(obj, "hand_IK")
    return "'mine' of 'Rig'"


@pytest.mark.parametrize(
    "use", [bone_child, bone_parent, bone_constraint, armature_constraint, hook, bone_driver, shape_place]
)
def test_a_made_bone_that_something_uses_stays(use: Any) -> None:
    obj, _ = limb("BONE")
    name = use(obj)
    rigs.update()
    assert f"'hand_IK' stays, {name} uses it" in by_operator("Rig")
    assert bones(obj) == {"hand_IK"}


@WAYS
def test_bones_of_an_armature_that_another_object_shares_stay_while_that_needs_them(remove: Any) -> None:
    obj, tip = limb("BONE")
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    rigs.update()
    assert "'hand_IK' stays, 'lo' of 'Rig' uses it" in remove(copy.name)
    assert tip.limb_ik_status == 'REACHED' and bones(obj) == {"hand_IK", "hand_Pole"}
    remove("Rig")
    assert not bones(obj)


def excluded(obj: bpy.types.Object) -> None:
    collection = bpy.data.collections.new("Aside")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    bpy.context.view_layer.layer_collection.children["Aside"].exclude = True


def hidden_collection(obj: bpy.types.Object) -> None:
    excluded(obj)
    layer = bpy.context.view_layer.layer_collection.children["Aside"]
    layer.exclude, layer.hide_viewport = False, True


def hidden(obj: bpy.types.Object) -> None:
    obj.hide_viewport = True


def hidden_by_eye(obj: bpy.types.Object) -> None:
    obj.hide_set(True)


@WAYS
@pytest.mark.parametrize("hide", [excluded, hidden_collection, hidden, hidden_by_eye])
def test_made_bones_go_where_the_rig_is_hidden(hide: Any, remove: Any) -> None:
    obj, tip = limb("BONE")
    hide(obj)
    rigs.update()
    before = where(obj)
    remove("Rig")
    assert not bones(obj) and tip.limb_ik_solver == 'NONE' and where(obj) == before


def where(obj: bpy.types.Object) -> list[Any]:
    return [obj.hide_viewport, obj.hide_get(), obj.visible_get(), [one.name for one in obj.users_collection]]
