"""Match and switch: both directions, at a frame and over ranges, without a jump."""

from __future__ import annotations

import random
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from limb_ik.bake.match_fk import match_fk
from limb_ik.bake.match_ik import match_ik
from limb_ik.bake.ranges import frames_between
from limb_ik.operators.over_range import OverRange

import rigs

ops: Any = bpy.ops


@pytest.fixture
def arm(blank: None) -> bpy.types.Object:
    """L2B with a chain on "lo" under a turned, scaled object (the transform of LB-07)."""
    arm = rigs.rig("L2B", name="Arm", location=(3, -2, 1), rotation=(0, 0, 1.5707963), scale=0.01, length=100.0)
    ops.limb_ik.add_chain(armature="Arm", tips="lo")
    rigs.update()
    return arm


def tip(arm: bpy.types.Object) -> Any:
    return arm.pose.bones["lo"]


def pose_randomly(arm: bpy.types.Object, dice: random.Random) -> None:
    rigs.turn(arm, "up", "X", dice.uniform(-1.0, 1.0))
    rigs.turn(arm, "lo", "X", dice.uniform(0.1, 1.5))


def fk_seen(arm: bpy.types.Object) -> dict[str, rigs.BonePose]:
    """The pose with IK off."""
    tip(arm).limb_ik_mute = True
    rigs.update()
    pose = rigs.evaluated_pose(arm)
    tip(arm).limb_ik_mute = False
    rigs.update()
    return pose


def test_round_trips_do_not_drift(arm: bpy.types.Object) -> None:
    """LB-71: joints within 1e-4, twist within 1e-3 rad after the first match and after five round trips."""
    dice = random.Random(3)
    for _ in range(5):
        tip(arm).limb_ik_mute = True
        rigs.update()
        pose_randomly(arm, dice)
        fk = fk_seen(arm)
        for _trip in range(5):
            ops.limb_ik.match_ik(armature="Arm")
            rigs.update()
            ops.limb_ik.match_fk(armature="Arm")
            rigs.update()
            seen = rigs.evaluated_pose(arm)
            assert rigs.joint_distance(fk, seen) < 1e-4
            assert rigs.pose_distance(fk, seen) < 1e-3
        assert rigs.pose_distance(fk, fk_seen(arm)) < 1e-3


def test_match_fk_takes_what_is_seen(arm: bpy.types.Object) -> None:
    tip(arm).limb_ik_target.location.z -= 40.0
    rigs.update()
    seen = rigs.evaluated_pose(arm)
    ops.limb_ik.match_fk(armature="Arm", tips="lo")
    rigs.update()
    assert rigs.pose_distance(seen, rigs.evaluated_pose(arm)) < 1e-5
    assert rigs.pose_distance(seen, fk_seen(arm)) < 1e-5


def test_match_fk_of_offsets_adds_them_once(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="shin.L", motion='FK')
    bone: Any = body.pose.bones["shin.L"]
    bone.limb_ik_target.location.z += 0.15
    rigs.update()
    seen = rigs.evaluated_pose(body)
    ops.limb_ik.match_fk(armature="Body")
    rigs.update()
    assert rigs.pose_distance(seen, rigs.evaluated_pose(body)) < 1e-4
    assert bone.limb_ik_status == 'REACHED'


def test_an_offset_that_a_match_gives_up_is_said(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="shin.L", motion='FK')
    assert match_fk(bpy.context, body).notes == ()
    target = rigs.bone(body, "shin.L").limb_ik_target
    target.location.z += 0.15
    rigs.update()
    (note,) = match_fk(bpy.context, body).notes
    assert note.startswith(f"'{target.name}' was an offset") and "on every frame" in note
    target.location.z += 0.15
    rigs.update()
    (note,) = match_fk(bpy.context, body, frames=[1.0, 2.0]).notes
    assert note.startswith(f"'{target.name}' was an offset") and "outside these frames" in note


@pytest.mark.parametrize("to", ["fk", "ik"])
def test_auto_keying_keys_what_is_matched(arm: bpy.types.Object, to: str) -> None:
    """As Blender's own tools: the pose, or target and pole, on this frame."""
    rigs.frame_set(4)
    tip(arm).limb_ik_target.location.z -= 40.0
    rigs.update()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    seen = rigs.evaluated_pose(arm)
    match: Any = {"fk": match_fk, "ik": match_ik}[to]
    report = match(bpy.context, arm)
    controls = [tip(arm).limb_ik_target, tip(arm).limb_ik_pole]
    keyed = [arm] if to == "fk" else controls
    assert report.keys == sum(len(rigs.keys(one)) for one in keyed) > 0
    assert all([key.co.x for key in curve.keyframe_points] == [4.0] for one in keyed for curve in rigs.curves(one))
    if to == "fk":
        tip(arm).limb_ik_mute = True
        rigs.frame_set(5)
        rigs.frame_set(4)
        assert rigs.pose_distance(seen, rigs.evaluated_pose(arm)) < 1e-5


def test_auto_keying_that_replaces_makes_no_new_keys(arm: bpy.types.Object, capfd: pytest.CaptureFixture[str]) -> None:
    tools = bpy.context.scene.tool_settings
    tools.use_keyframe_insert_auto, tools.auto_keying_mode = True, 'REPLACE_KEYS'
    arm.pose.bones["up"].keyframe_insert("rotation_quaternion", frame=4)
    rigs.frame_set(4)
    assert match_fk(bpy.context, arm).keys == 4
    rigs.frame_set(5)
    assert match_fk(bpy.context, arm).keys == 0
    assert sorted(rigs.keys(arm)) == [
        (arm.pose.bones["up"].path_from_id("rotation_quaternion"), index) for index in range(4)
    ]
    assert "Could not" not in capfd.readouterr().out


def key_fk(arm: bpy.types.Object) -> dict[int, dict[str, rigs.BonePose]]:
    """FK keys at frames 1, 6 and 11; returns the FK pose at each frame."""
    dice = random.Random(4)
    tip(arm).limb_ik_mute = True
    for frame in (1, 6, 11):
        pose_randomly(arm, dice)
        for name in ("up", "lo"):
            arm.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    poses = {}
    for frame in range(1, 12):
        rigs.frame_set(frame)
        poses[frame] = rigs.evaluated_pose(arm)
    tip(arm).limb_ik_mute = False
    return poses


@pytest.mark.parametrize("named", [{"use_range": True}, {"frame_start": 1, "frame_end": 11}])
def test_match_over_a_range_reproduces_fk(arm: bpy.types.Object, named: dict[str, Any]) -> None:
    poses = key_fk(arm)
    ops.limb_ik.match_ik(armature="Arm", **named)
    for frame, pose in poses.items():
        rigs.frame_set(frame)
        assert rigs.pose_distance(pose, rigs.evaluated_pose(arm)) < 1e-4
    assert {len(points) for points in rigs.keys(tip(arm).limb_ik_target).values()} == {11}


def test_keys_only_keys_where_bones_have_keys(arm: bpy.types.Object) -> None:
    key_fk(arm)
    ops.limb_ik.match_ik(armature="Arm", keys_only=True)
    frames = {frame for points in rigs.keys(tip(arm).limb_ik_target).values() for frame, _ in points}
    assert frames == {1.0, 6.0, 11.0}


def test_match_fk_over_a_range(arm: bpy.types.Object) -> None:
    target = tip(arm).limb_ik_target
    start = target.location.copy()
    for frame, lower in ((1, 10.0), (11, 60.0)):
        target.location = start
        target.location.z -= lower
        target.keyframe_insert("location", frame=frame)
    seen = {}
    for frame in range(1, 12):
        rigs.frame_set(frame)
        seen[frame] = rigs.evaluated_pose(arm)
    ops.limb_ik.match_fk(armature="Arm", frame_start=1, frame_end=11)
    tip(arm).limb_ik_mute = True
    for frame, pose in seen.items():
        rigs.frame_set(frame)
        assert rigs.pose_distance(pose, rigs.evaluated_pose(arm)) < 1e-4


def poses_at(arm: bpy.types.Object, frames: list[float]) -> list[dict[str, rigs.BonePose]]:
    found = []
    for frame in frames:
        rigs.frame_set(frame)
        found.append(rigs.evaluated_pose(arm))
    return found


def use_ik_keys(arm: bpy.types.Object) -> list[tuple[float, float]]:
    return rigs.keys(arm)['pose.bones["lo"].limb_ik_use_ik', 0]


def test_arriving_at_ik_is_over_at_this_frame(arm: bpy.types.Object) -> None:
    """0.15 s at 24 fps are 3.6 frames: the key goes 4 before, the old value 5 before."""
    tip(arm).limb_ik_use_ik = False
    rigs.turn(arm, "up", "X", 0.5)
    rigs.frame_set(20)
    planted = rigs.evaluated_pose(arm)
    ops.limb_ik.switch(armature="Arm", to='IK')
    assert use_ik_keys(arm) == [(15.0, 0.0), (16.0, 1.0)]
    assert {point.interpolation for curve in rigs.curves(arm) for point in curve.keyframe_points} == {'CONSTANT'}
    for pose in poses_at(arm, [1, 15, 16, 17.5, 18, 20, 40]):
        assert rigs.pose_distance(planted, pose) < 1e-5
    rigs.frame_set(20)
    assert tip(arm).limb_ik_status == 'REACHED'


def test_leaving_for_fk_begins_here(arm: bpy.types.Object) -> None:
    rigs.frame_set(30)
    tip(arm).limb_ik_target.location.z -= 40.0
    rigs.update()
    seen = rigs.evaluated_pose(arm)
    ops.limb_ik.switch(armature="Arm", to='FK')
    assert use_ik_keys(arm) == [(29.0, 1.0), (30.0, 0.0)]
    for pose in poses_at(arm, [20, 30, 32, 34, 50]):
        assert rigs.pose_distance(seen, pose) < 1e-5
    rigs.frame_set(34)
    assert tip(arm).limb_ik_status == 'IDLE'


@pytest.mark.parametrize("blend_time", [0.15, 0.0])
def test_arriving_at_fk_keeps_what_is_seen(arm: bpy.types.Object, blend_time: float) -> None:
    """Over at this frame: what was seen while it is blended, and here, is seen still; FK holds it from here on."""
    tip(arm).limb_ik_blend_time = blend_time
    target = tip(arm).limb_ik_target
    start = target.location.z
    for frame, lower in ((1, 10.0), (20, 60.0)):
        target.location.z = start - lower
        target.keyframe_insert("location", frame=frame)
    frames = [3.0, 15.0, 16.0, 17.0, 18.0, 19.0, 20.0]
    seen = poses_at(arm, frames)
    rigs.frame_set(20)
    ops.limb_ik.switch(armature="Arm", to='FK', ease='ARRIVE')
    assert use_ik_keys(arm)[-1] == (16.0 if blend_time else 20.0, 0.0)
    for before, after in zip(seen, poses_at(arm, frames), strict=True):
        assert rigs.pose_distance(before, after) < 1e-4
    for later in poses_at(arm, [21.0, 40.0]):
        assert rigs.pose_distance(seen[-1], later) < 1e-4
    assert tip(arm).limb_ik_status == 'IDLE'


@pytest.mark.parametrize("ease", ['LEAVE', 'ARRIVE'])
def test_an_offset_is_not_added_twice_while_it_goes_over_to_fk(body: bpy.types.Object, ease: str) -> None:
    """FK takes over what is seen, offset included: the offset has no effect from there on."""
    ops.limb_ik.add_chain(armature="Body", tips="shin.L", motion='FK')
    bone: Any = body.pose.bones["shin.L"]
    bone.limb_ik_target.location.z += 0.15
    frames = [1.0, 13.0, 15.0, 16.0, 18.0, 19.5, 20.0, 21.0, 22.0, 23.5, 24.0, 40.0]
    rigs.frame_set(20)
    seen = rigs.evaluated_pose(body)
    ops.limb_ik.switch(armature="Body", tips="shin.L", to='FK', ease=ease)
    for pose in poses_at(body, frames):
        assert rigs.pose_distance(seen, pose) < 1e-4
    assert bone.limb_ik_status == 'IDLE'


@pytest.mark.parametrize("motion", ['FK', 'STILL'])
@pytest.mark.parametrize("ease", ['LEAVE', 'ARRIVE'])
@pytest.mark.parametrize("step", [1.0, 1.25])
def test_captured_motion_is_eased_to_and_keeps_its_keys(
    body: bpy.types.Object, motion: str, ease: str, step: float
) -> None:
    """FK with a key on every frame: none of them is written over, and the pose goes over within the blend time."""
    for number in range(40):
        rigs.turn(body, "thigh.L", "X", 0.01 * number)
        rigs.key_rotation(rigs.bone(body, "thigh.L"), 1.0 + number * step)
    rigs.frame_set(20)
    ops.limb_ik.add_chain(armature="Body", tips="shin.L", motion=motion)
    bone: Any = body.pose.bones["shin.L"]
    frames = [float(frame) for frame in range(10, 32)]
    bone.limb_ik_use_ik = False
    fk = poses_at(body, frames)
    bone.limb_ik_use_ik = True
    bone.limb_ik_target.location.z += 0.15
    seen = poses_at(body, frames)
    before = {path: points for path, points in rigs.keys(body).items() if "limb_ik" not in path[0]}
    rigs.frame_set(20)
    ops.limb_ik.switch(armature="Body", tips="shin.L", to='FK', ease=ease)
    assert {path: points for path, points in rigs.keys(body).items() if "limb_ik" not in path[0]} == before
    assert not rigs.curves(bone.limb_ik_target)
    after = poses_at(body, frames)
    away = max(rigs.pose_distance(a, b) for a, b in zip(fk, seen, strict=True))
    assert max(rigs.pose_distance(a, b) for a, b in pairwise(after)) < 0.5 * away, "a jump"
    start, over = (20.0, 24.0) if ease == 'LEAVE' else (16.0, 20.0)
    for frame, now, on, off in zip(frames, after, seen, fk, strict=True):
        if frame <= start or frame >= over:
            assert rigs.pose_distance(now, on if frame <= start else off) < 1e-4


@pytest.mark.parametrize("interpolation", ['BEZIER', 'LINEAR', 'CONSTANT'])
@pytest.mark.parametrize("ease", ['LEAVE', 'ARRIVE'])
def test_what_was_before_a_switch_stays(body: bpy.types.Object, interpolation: str, ease: str) -> None:
    """FK keyed by hand, target keyed by hand: both are before the switch what they were, to the frame before it."""
    thigh = rigs.bone(body, "thigh.L")
    for frame, angle in ((1, 0.5), (60, -1.0)):
        rigs.turn(body, "thigh.L", "X", angle)
        rigs.key_rotation(thigh, frame)
    ops.limb_ik.add_chain(armature="Body", tips="shin.L", motion='STILL')
    bone: Any = body.pose.bones["shin.L"]
    target = bone.limb_ik_target
    for frame, up in ((1, 0.0), (60, 0.3)):
        target.location.z += up
        target.keyframe_insert("location", frame=frame)
    for obj in (body, target):
        rigs.set_interpolation(obj, interpolation)
    bone.limb_ik_mute = True
    first = 20 if ease == 'LEAVE' else 16
    frames = [1.0, 5.0, 9.5, 14.0, first - 1.25, first - 1.0]
    fk, places = poses_at(body, frames), []
    for frame in frames:
        rigs.frame_set(frame)
        places.append(target.matrix_world.translation.copy())
    bone.limb_ik_mute = False
    for to in ('FK', 'IK'):
        bone.limb_ik_use_ik = to == 'FK'
        rigs.frame_set(20)
        ops.limb_ik.switch(armature="Body", tips="shin.L", to=to, ease=ease)
        for curve in [one for one in rigs.curves(body) if one.data_path.endswith("use_ik")]:
            curve.keyframe_points.clear()
    bone.limb_ik_mute = True
    for before, after in zip(fk, poses_at(body, frames), strict=True):
        assert rigs.pose_distance(before, after) < 1e-5
    for frame, place in zip(frames, places, strict=True):
        rigs.frame_set(frame)
        assert (target.matrix_world.translation - place).length < 1e-5


def test_an_offset_comes_in_as_it_was_made(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="shin.L", motion='FK')
    bone: Any = body.pose.bones["shin.L"]
    bone.limb_ik_target.location.z += 0.15
    rigs.frame_set(20)
    seen = rigs.evaluated_pose(body)
    bone.limb_ik_use_ik = False
    fk = poses_at(body, [16.0])[0]
    rigs.frame_set(20)
    ops.limb_ik.switch(armature="Body", tips="shin.L", to='IK')
    assert not rigs.curves(bone.limb_ik_target)
    for frame, wanted in ((16.0, fk), (20.0, seen), (40.0, seen)):
        assert rigs.pose_distance(wanted, poses_at(body, [frame])[0]) < 1e-4


def test_there_and_back_keeps_what_was_before(arm: bpy.types.Object) -> None:
    """FK, then IK planted from 20, then FK again from 40: each part as it was seen when it was switched."""
    tip(arm).limb_ik_use_ik = False
    rigs.turn(arm, "lo", "X", 0.4)
    rigs.frame_set(20)
    ops.limb_ik.switch(armature="Arm", to='TOGGLE')
    first = poses_at(arm, [1, 10, 20, 30])
    rigs.frame_set(40)
    target = tip(arm).limb_ik_target
    target.location.z -= 30.0
    target.keyframe_insert("location", frame=40)
    moved = poses_at(arm, [20, 40])
    ops.limb_ik.switch(armature="Arm", to='TOGGLE')
    assert [on for _, on in use_ik_keys(arm)] == [0.0, 1.0, 0.0]
    assert rigs.pose_distance(first[0], poses_at(arm, [1])[0]) < 1e-5
    for pose, frame in zip(moved, (20, 40), strict=True):
        assert rigs.pose_distance(pose, poses_at(arm, [frame])[0]) < 1e-5
    assert rigs.pose_distance(moved[1], poses_at(arm, [60])[0]) < 1e-5


def test_without_match_only_the_switch_is_keyed(arm: bpy.types.Object) -> None:
    tip(arm).limb_ik_use_ik = False
    rigs.frame_set(10)
    ops.limb_ik.switch(armature="Arm", to='IK', match=False, ease='LEAVE')
    assert use_ik_keys(arm) == [(9.0, 0.0), (10.0, 1.0)]
    assert not rigs.curves(tip(arm).limb_ik_target)


def test_an_earlier_switch_within_the_ease_gives_way(arm: bpy.types.Object) -> None:
    tip(arm).limb_ik_use_ik = False
    rigs.frame_set(10)
    ops.limb_ik.switch(armature="Arm", to='IK', match=False, ease='LEAVE')
    rigs.frame_set(12)
    ops.limb_ik.switch(armature="Arm", to='FK', match=False, ease='ARRIVE')
    assert use_ik_keys(arm)[-1] == (8.0, 0.0)
    rigs.frame_set(12)
    assert not tip(arm).limb_ik_use_ik


def test_a_switch_to_what_is_on_is_refused(arm: bpy.types.Object) -> None:
    with pytest.raises(RuntimeError, match="on IK at frame"):
        ops.limb_ik.switch(armature="Arm", to='IK')
    assert not rigs.curves(arm)


def test_bake_by_operator(arm: bpy.types.Object) -> None:
    """LB-53: keys on the range that is named, from any mode, with nothing selected or active."""
    bpy.context.view_layer.objects.active = None
    tip(arm).limb_ik_target.location.z -= 40.0
    rigs.update()
    seen = rigs.evaluated_pose(arm)
    assert ops.limb_ik.bake(armature="Arm", tips="lo", frame_start=1, frame_end=5) == {'FINISHED'}
    assert {len(points) for points in rigs.keys(arm).values()} == {5}
    assert tip(arm).limb_ik_mute
    rigs.frame_set(3)
    assert rigs.pose_distance(seen, rigs.evaluated_pose(arm)) < 1e-4


def test_bake_refuses_a_range_without_frames(arm: bpy.types.Object) -> None:
    with pytest.raises(RuntimeError, match="holds no frame"):
        ops.limb_ik.bake(armature="Arm", use_range=True, frame_start=5, frame_end=1)
    assert not rigs.curves(arm)


def test_bake_removes_when_asked(arm: bpy.types.Object) -> None:
    ops.limb_ik.bake(armature="Arm", frame_start=1, frame_end=3, after='REMOVE')
    assert tip(arm).limb_ik_solver == 'NONE'
    assert [obj.name for obj in bpy.data.objects] == ["Arm"]


@pytest.mark.parametrize("first", [0.0, 1.0])
def test_matching_an_end_bone_that_a_constraint_holds_for_a_while(blank: None, first: float) -> None:
    obj = rigs.rig("L2B")
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.3, -0.9, 1.0)), end_bone="hand", end_rotation="TARGET")
    constraint = obj.pose.bones["hand"].constraints.new('COPY_ROTATION')
    constraint.target = rigs.empty("R", rotation=(1, 0, 0))
    for frame, influence in ((1, first), (5, 1.0 - first)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    rigs.set_interpolation(obj, "CONSTANT")
    seen = {}
    for frame in range(1, 9):
        rigs.frame_set(frame)
        seen[frame] = rigs.evaluated_pose(obj)
    match_fk(bpy.context, obj, frames=[float(frame) for frame in seen])
    rigs.bone(obj, "lo").limb_ik_mute = True
    for frame, pose in seen.items():
        rigs.frame_set(frame)
        assert rigs.pose_distance(pose, rigs.evaluated_pose(obj)) < 1e-5


def test_a_dialog_opens_with_the_frames_that_are_baked_without_it(arm: Any) -> None:
    for frame in (1.0, 20.4):
        arm.pose.bones[0].keyframe_insert("rotation_quaternion", frame=frame)
    asked = SimpleNamespace(
        properties=SimpleNamespace(is_property_set=lambda _: False), use_range=False, frame_start=0, frame_end=0
    )
    OverRange.fill_range(asked, bpy.context, [arm])
    frames = frames_between(bpy.context, arm)
    assert (asked.frame_start, asked.frame_end) == (frames[0], frames[-1]) == (1, 21)
