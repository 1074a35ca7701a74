"""One click on several armatures: all that are selected or in pose mode, all or none, one report, one undo step."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from limb_ik.bake import match_fk, match_ik, matching
from limb_ik.bake.baking import bake_steps
from limb_ik.bake.options import BakeOptions
from limb_ik.bake.steps import finished
from limb_ik.operators.match import LIMB_IK_OT_match_fk
from limb_ik.rig.setting_up import active

import rigs
from body import body_bones

ops: Any = bpy.ops
NAMES = ("Anna", "Ben")
# Rotations that went through float32 keys.
KEYED = 1e-4


@pytest.fixture
def two(blank: None) -> list[Any]:
    """Two characters with IK on legs and arms, both selected, Anna active; each foot moves its own way."""
    found = [rigs.build(body_bones(), name) for name in NAMES]
    for number, obj in enumerate(found):
        ops.limb_ik.add_limbs(armature=obj.name)
        target = obj.pose.bones["shin.L"].limb_ik_target
        for frame, up in ((1, 0.0), (9, 0.2 + 0.1 * number)):
            target.location.z += up
            target.keyframe_insert("location", frame=frame)
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in found)
    bpy.context.view_layer.objects.active = found[0]
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 9
    rigs.frame_set(5)
    return found


def seen(objects: list[Any]) -> list[dict[str, rigs.BonePose]]:
    return [rigs.evaluated_pose(obj) for obj in objects]


def apart(objects: list[Any], poses: list[dict[str, rigs.BonePose]]) -> float:
    return max(rigs.pose_distance(pose, now) for pose, now in zip(poses, seen(objects), strict=True))


def names() -> list[str]:
    return [obj.name for obj in active.armatures(bpy.context)]


def test_selected_armatures_are_meant_the_active_one_first(two: list[Any]) -> None:
    rigs.build(body_bones(), "Not selected").select_set(False)
    bpy.context.view_layer.objects.active = two[1]
    assert names() == ["Ben", "Anna"]
    for obj in two:
        obj.select_set(False)
    two[0].pose.bones["shin.L"].limb_ik_target.select_set(True)
    assert names() == ["Ben", "Anna"], "a selected target stands for its armature"


def test_in_pose_mode_those_in_it_are_meant(two: list[Any]) -> None:
    ops.object.mode_set(mode='POSE')
    assert names() == ["Anna", "Ben"]
    two[1].pose.bones["shin.L"].limb_ik_target.select_set(True)
    ops.object.mode_set(mode='OBJECT')


@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
def test_one_bake_of_both(two: list[Any], mode: str) -> None:
    ops.object.mode_set(mode=mode)
    before = seen(two)
    assert ops.limb_ik.bake(frame_start=1, frame_end=9) == {'FINISHED'}
    assert all(bone.limb_ik_mute for obj in two for bone in obj.pose.bones if bone.limb_ik_solver != 'NONE')
    for obj in two:
        assert {len(points) for points in rigs.keys(obj).values()} == {9}
    rigs.frame_set(5)
    assert apart(two, before) < KEYED
    ops.object.mode_set(mode='OBJECT')


def test_one_report_for_all(two: list[Any]) -> None:
    steps = bake_steps(bpy.context, two, BakeOptions(frame_start=1, frame_end=9))
    said = finished(steps).sentence()
    assert said.startswith("Baked 8 chains of 2 armatures over 9 frames: ")


def test_named_or_only_active_means_one(two: list[Any]) -> None:
    two[0].data.bones.active = two[0].data.bones["shin.L"]
    ops.limb_ik.bake(only_active=True, frame_start=1, frame_end=3)
    assert rigs.keys(two[0]) and not rigs.keys(two[1])
    ops.limb_ik.bake(armature="Ben", frame_start=1, frame_end=3)
    assert rigs.keys(two[1])
    assert not two[0].pose.bones["forearm.R"].limb_ik_mute


def test_an_armature_without_chains_is_no_hindrance(two: list[Any]) -> None:
    ops.limb_ik.remove_chain(armature="Anna")
    assert ops.limb_ik.bake(frame_start=1, frame_end=3) == {'FINISHED'}
    assert rigs.keys(two[1]) and not rigs.keys(two[0])


def test_one_undo_step(two: list[Any]) -> None:
    bpy.context.preferences.edit.use_global_undo = True
    ops.ed.undo_push(message="Two characters")
    ops.limb_ik.bake(frame_start=1, frame_end=9)
    ops.ed.undo_push(message="Baked")
    ops.ed.undo()
    for name in NAMES:
        obj = bpy.data.objects[name]
        assert not rigs.keys(obj) and not obj.pose.bones["shin.L"].limb_ik_mute


def state(objects: list[Any]) -> list[Any]:
    """Keys and mutes: what a bake or a match over frames changes."""
    keys = [rigs.keys(one) for one in bpy.data.objects if one.animation_data is not None]
    return [keys, [bone.limb_ik_mute for obj in objects for bone in obj.pose.bones]]


def locked(obj: Any) -> None:
    obj.pose.bones["shin.R"].keyframe_insert("rotation_quaternion", frame=1)
    for curve in rigs.curves(obj):
        curve.lock = True


def shared(obj: Any) -> None:
    """Both play one action; of slots, one slot."""
    other = next(bpy.data.objects[name] for name in NAMES if name != obj.name)
    for one in (other, obj):
        one.animation_data_create().action = bpy.data.actions.get("Walk") or bpy.data.actions.new("Walk")
        if hasattr(one.animation_data, "action_slot"):
            slots = one.animation_data.action.slots
            one.animation_data.action_slot = slots[0] if len(slots) else slots.new(id_type='OBJECT', name="Walk")


@pytest.mark.parametrize(("spoil", "reason"), [(locked, "'Ben'.* is locked"), (shared, "share the action 'Walk'")])
@pytest.mark.parametrize("operator", ["bake", "match_fk"])
def test_one_that_refuses_is_named_and_nothing_is_half_done(
    two: list[Any], spoil: Any, reason: str, operator: str
) -> None:
    spoil(two[1])
    before = state(two)
    with pytest.raises(RuntimeError, match=reason):
        getattr(ops.limb_ik, operator)(frame_start=1, frame_end=9)
    assert state(two) == before


@pytest.mark.parametrize("operator", ["match_ik", "match_fk"])
def test_match_both_at_this_frame_and_over_a_range(two: list[Any], operator: str) -> None:
    before = seen(two)
    for obj in two:
        rigs.turn(obj, "thigh.R", "X", 0.3)
    rigs.update()
    match = getattr(ops.limb_ik, operator)
    assert match() == {'FINISHED'}
    assert match(frame_start=1, frame_end=9) == {'FINISHED'}
    for obj in two:
        for bone in obj.pose.bones:
            bone.limb_ik_use_ik = operator == "match_ik"
    rigs.frame_set(5)
    after = seen(two)
    if operator == "match_fk":
        assert apart(two, before) < KEYED
        assert all(len(points) == 9 for obj in two for points in rigs.keys(obj).values())
    else:
        turned = [rigs.pose_distance(a, b, ["thigh.R"]) for a, b in zip(before, after, strict=True)]
        assert min(turned) > 0.2, "the targets did not go where FK is"


def test_switch_of_both(two: list[Any]) -> None:
    before = seen(two)
    assert ops.limb_ik.switch(to='FK', only_active=False) == {'FINISHED'}
    for obj in two:
        assert not obj.pose.bones["shin.L"].limb_ik_use_ik
    rigs.frame_set(5)
    assert apart(two, before) < KEYED
    with pytest.raises(RuntimeError, match="'Anna', 'Ben' are on FK"):
        ops.limb_ik.switch(to='FK', only_active=False)


def matching_ik(requests: list[matching.Request]) -> Any:
    return match_ik.match_ik_steps(bpy.context, requests)


def matching_fk(requests: list[matching.Request]) -> Any:
    return match_fk.match_fk_steps(bpy.context, requests)


def baking(requests: list[matching.Request]) -> Any:
    return bake_steps(bpy.context, [one.obj for one in requests], BakeOptions(frame_start=1, frame_end=9))


@pytest.mark.parametrize(
    ("steps", "stopped_after"),
    [
        (matching_ik, 0),
        (matching_ik, 3),
        (matching_ik, 8),
        (matching_fk, 1),
        (matching_fk, 8),
        (baking, 0),
        (baking, 1),
    ],
)
def test_long_work_shows_how_far_it_is_and_stops_without_a_trace(
    two: list[Any], steps: Any, stopped_after: int
) -> None:
    before, was, frame = seen(two), state(two), bpy.context.scene.frame_current
    scenes, actions = len(bpy.data.scenes), len(bpy.data.actions)
    went = steps([matching.Request(obj, (), range(1, 10)) for obj in two])
    said = [next(went) for _ in range(stopped_after)]
    went.close()
    assert said == [(number, 9) for number in range(1, stopped_after + 1)]
    assert state(two) == was and (len(bpy.data.scenes), len(bpy.data.actions)) == (scenes, actions)
    rigs.update()
    assert bpy.context.scene.frame_current == frame and apart(two, before) < 1e-6


def test_ranges_of_their_own(two: list[Any]) -> None:
    """Each armature is matched at its own frames, in one go."""
    requests = [
        matching.Request(two[0], ("shin.L",), [1.0, 2.0]),
        matching.Request(two[1], ("shin.L",), [2.0, 7.0, 8.5]),
    ]
    report = finished(match_fk.match_fk_steps(bpy.context, requests))
    assert (report.chains, report.frames, report.armatures) == (2, 3, 2)
    frames = [{frame for points in rigs.keys(obj).values() for frame, _ in points} for obj in two]
    assert frames == [{1.0, 2.0}, {2.0, 7.0, 8.5}]


def test_a_match_over_frames_asks_for_the_range_first(two: list[Any]) -> None:
    """In a window the dialog comes with the range of all armatures filled in; at one frame nothing is asked."""
    asked: list[str] = []

    class Stand(LIMB_IK_OT_match_fk.__mro__[1]):  # type: ignore[misc]
        WHAT = "FK pose"
        only_active = keys_only = False
        armature = tips = ""
        use_range, frame_start, frame_end = True, 1, 250
        properties = SimpleNamespace(is_property_set=lambda name: name == "use_range")

        def ask(self, context: Any, confirm: str) -> set[str]:
            asked.append(confirm)
            return {'RUNNING_MODAL'}

        def execute(self, context: Any) -> set[str]:
            return {'FINISHED'}

    stand = Stand()
    two[1].keyframe_insert("location", frame=3)
    two[1].keyframe_insert("location", frame=40)
    assert stand.invoke(bpy.context, None) == {'RUNNING_MODAL'}
    assert (asked, stand.frame_start, stand.frame_end) == (["Match"], 3, 40)
    stand.use_range = False
    assert stand.invoke(bpy.context, None) == {'FINISHED'}
