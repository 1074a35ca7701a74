"""The right action, slot and curves, on every Blender; what can't be edited says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.rig import animated_range, compat
from limb_ik.rig.errors import LimbIKError

PATH = 'pose.bones["up"].rotation_quaternion'


@pytest.fixture(autouse=True)
def _empty_file() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)


def make_object(name: str = "Rig", data: Any = None) -> bpy.types.Object:
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def make_armature(name: str = "Rig") -> bpy.types.Object:
    obj = make_object(name, bpy.data.armatures.new(name))
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode='EDIT')
    obj.data.edit_bones.new("up").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode='OBJECT')
    return obj


def test_no_animation_has_no_curves() -> None:
    obj = make_object()
    assert compat.action_and_slot(obj) == (None, None)
    assert len(compat.fcurves_of(obj)) == 0
    assert compat.find_fcurve(obj, "location") is None
    assert animated_range.animation_range(obj) is None


def test_a_new_action_looks_like_one_that_blender_makes() -> None:
    by_blender, by_us = make_object("Same"), make_object("Ours")
    by_blender.keyframe_insert("location", frame=1)
    handle = compat.ensure_action(by_us)
    expected, action = by_blender.animation_data.action, handle.action
    assert (expected.name, action.name) == ("SameAction", "OursAction")
    assert (action.users, action.use_fake_user) == (expected.users, expected.use_fake_user)
    assert by_us.animation_data.action == action
    if not compat.HAS_SLOTS:
        assert action.id_root == expected.id_root
        return
    assert by_us.animation_data.action_slot == handle.slot
    assert handle.slot.identifier == "OBOurs"
    assert [layer.name for layer in action.layers] == [layer.name for layer in expected.layers]
    assert len(compat.fcurves_of(by_us)) == 0
    assert len(action.layers[0].strips[0].channelbags) == 1


def test_a_curve_lies_in_the_group_of_its_bone_once() -> None:
    obj = make_armature()
    curve = compat.ensure_fcurve(obj, PATH, 2, "up")
    assert (curve.data_path, curve.array_index, curve.group.name) == (PATH, 2, "up")
    assert compat.ensure_fcurve(obj, PATH, 2, "up") == curve
    assert compat.ensure_fcurve(obj, PATH, 3, "up").group == curve.group
    assert len(compat.fcurves_of(obj)) == 2
    assert compat.find_fcurve(obj, PATH, 2) == curve
    compat.remove_fcurve(obj, curve)
    assert compat.find_fcurve(obj, PATH, 2) is None


@pytest.mark.parametrize("own_slot", [False, True])
def test_an_assigned_action_without_slot_gets_the_slot_that_keying_would_give(own_slot: bool) -> None:
    owner, by_blender, by_us = (make_object(name) for name in ("Owner", "Keyed", "Handed"))
    owner.keyframe_insert("location", frame=1)
    action = owner.animation_data.action
    for obj in (by_blender, by_us):
        if own_slot and compat.HAS_SLOTS:
            action.slots.new('OBJECT', obj.name)
        obj.animation_data_create().action = action
        if compat.HAS_SLOTS:
            obj.animation_data.action_slot = None
    by_blender.keyframe_insert("location", frame=1)
    handle = compat.ensure_action(by_us)
    assert handle.action == action
    if compat.HAS_SLOTS:
        expected = by_blender.animation_data.action_slot.identifier
        assert handle.slot.identifier == expected.replace("Keyed", "Handed")
        assert handle.slot != owner.animation_data.action_slot


def test_two_objects_share_an_action_without_sharing_curves() -> None:
    first, second = make_object("First"), make_object("Second")
    first.keyframe_insert("location", frame=1)
    second.animation_data_create().action = first.animation_data.action
    compat.ensure_fcurve(second, "location", 0)
    assert len(compat.fcurves_of(first)) == 3
    assert len(compat.fcurves_of(second)) == (1 if compat.HAS_SLOTS else 3)


def test_range_is_that_of_the_own_slot() -> None:
    first, second = make_object("First"), make_object("Second")
    first.keyframe_insert("location", frame=5)
    first.keyframe_insert("location", frame=25.5)
    assert animated_range.animation_range(first) == (5.0, 25.5)
    if compat.HAS_SLOTS:
        second.animation_data_create().action = first.animation_data.action
        second.keyframe_insert("location", frame=-3)
        assert animated_range.animation_range(second) == (-3.0, -3.0)
        assert animated_range.animation_range(first) == (5.0, 25.5)


def test_a_manual_range_of_the_action_counts_before_its_keys() -> None:
    obj = make_object()
    obj.keyframe_insert("location", frame=5)
    obj.keyframe_insert("location", frame=25)
    action = obj.animation_data.action
    action.use_frame_range = True
    action.frame_start, action.frame_end = 10.0, 40.0
    assert animated_range.animation_range(obj) == (10.0, 40.0) == tuple(action.frame_range)
    assert animated_range.keyed_range(obj) == (5.0, 25.0)
    anim = obj.animation_data
    anim.action = None
    strip = anim.nla_tracks.new().strips.new("walk", 101, action)
    assert animated_range.animation_range(obj) == (strip.frame_start, strip.frame_end)
    strip.select = True
    anim.nla_tracks.active = anim.nla_tracks[0]
    anim.use_tweak_mode = True
    assert animated_range.animation_range(obj) == (strip.frame_start, strip.frame_end)


def test_a_manual_range_of_an_action_without_keys_for_it_is_none() -> None:
    obj, other = make_object("Obj"), make_object("Other")
    other.keyframe_insert("location", frame=5)
    obj.animation_data_create().action = bpy.data.actions.new("Empty")
    obj.animation_data.action.use_frame_range = True
    assert animated_range.animation_range(obj) is None


def test_range_of_strips_and_in_tweak_mode() -> None:
    obj = make_object()
    obj.keyframe_insert("location", frame=1)
    obj.keyframe_insert("location", frame=21)
    anim = obj.animation_data
    action = anim.action
    anim.action = None
    track = anim.nla_tracks.new()
    strip = track.strips.new("walk", 31, action)
    strip.scale = 2.0
    assert animated_range.animation_range(obj) == (31.0, 71.0)
    strip.select = True
    anim.nla_tracks.active = track
    anim.use_tweak_mode = True
    assert compat.action_and_slot(obj)[0] == action
    assert len(compat.fcurves_of(obj)) == 3
    assert animated_range.animation_range(obj) == (31.0, 71.0)
    anim.use_tweak_mode = False
    assert len(compat.strip_fcurves(strip)) == 3
    track.mute = True
    assert animated_range.animation_range(obj) is None


def test_strips_that_do_not_play_make_it_no_longer() -> None:
    obj = make_object()
    anim = obj.animation_data_create()
    for first, last in ((1, 21), (1, 500)):
        for frame in (first, last):
            obj.keyframe_insert("location", frame=frame)
        action, anim.action = anim.action, None
        anim.nla_tracks.new().strips.new("clip", 1, action)
    assert animated_range.animation_range(obj) == (1.0, 500.0)
    anim.nla_tracks[0].is_solo = True
    assert animated_range.animation_range(obj) == (1.0, 21.0)
    anim.nla_tracks[0].is_solo = False
    anim.use_nla = False
    assert animated_range.animation_range(obj) is None


def test_a_new_action_over_strips_ends_with_its_keys() -> None:
    obj = make_object()
    obj.keyframe_insert("location", frame=1)
    anim = obj.animation_data
    action = anim.action
    anim.action = None
    anim.nla_tracks.new().strips.new("walk", 1, action)
    compat.ensure_action(obj)
    assert anim.action != action
    assert anim.action_extrapolation == 'NOTHING'


def test_linked_data_is_refused_with_a_reason(tmp_path: Path) -> None:
    make_object("Linked").keyframe_insert("location", frame=1)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    linked = bpy.data.objects["Linked"]
    assert "linked" in compat.why_not_editable(linked.animation_data.action)
    with pytest.raises(LimbIKError, match="linked"):
        compat.ensure_action(linked)
    bpy.context.scene.collection.objects.link(linked)
    override = linked.override_create(remap_local_usages=True)
    assert not compat.why_not_editable(override)
    with pytest.raises(LimbIKError, match=r"Action .* linked"):
        compat.ensure_fcurve(override, "location", 0)
    override.override_library.is_system_override = True
    assert "editable" in compat.why_not_editable(override)


def test_bone_selection() -> None:
    bone = make_armature().pose.bones["up"]
    compat.set_bone_selected(bone, True)
    assert compat.bone_is_selected(bone)
    compat.set_bone_selected(bone, False)
    assert not compat.bone_is_selected(bone)
