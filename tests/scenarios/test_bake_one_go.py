"""Scenarios about frames that are read and solved in one go: the same bake as frame by frame."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from limb_ik.bake import reading_works
from limb_ik.rig import chains, solve_chain
from mathutils import Matrix, Quaternion

import rigs
from bakes import EXACT, MODES, arm_and_hand, assert_same, baked, limb, moving, recorded, waving

pytestmark = pytest.mark.usefixtures("blank")


@pytest.mark.parametrize("space", ["WORLD", "FK"])
@pytest.mark.parametrize("mode", MODES)
def test_all_frames_in_one_go_are_as_frame_by_frame(mode: str, space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    obj = arm_and_hand(mode, target_space=space)
    tip = rigs.bone(obj, "lo")
    if space == "FK":
        tip.limb_ik_target_rest = chains.matrix_values(Matrix.Translation((0.2, -0.5, 1.0)))
        tip.limb_ik_pole_rest = chains.matrix_values(Matrix.Translation((1.0, 0.5, 0.3)))
    for frame, weight in ((1, 1.0), (10, 1.0), (20, 0.0), (25, 0.0), (30, 0.6)):
        rigs.key_setting(tip, "weight", frame, weight)
    live = recorded(obj, range(1, 31))
    one_by_one = []
    monkeypatch.setattr(solve_chain, "solve", lambda *arguments: one_by_one.append(arguments))
    baked(obj, last=30)
    assert one_by_one == []
    monkeypatch.undo()
    assert_same(live, recorded(obj, range(1, 31)), 2e-5, 5e-5)  # five units from the origin


def test_frames_near_an_edge_are_evaluated_by_themselves() -> None:
    obj, target = limb(pole=(0.3, -0.2, 0.6))  # on the line root to target at first
    moving(target)
    live = recorded(obj, range(1, 11))
    baked(obj)
    assert_same(live, recorded(obj, range(1, 11)))


@pytest.mark.parametrize("space", ["WORLD", "FK"])
@pytest.mark.parametrize("end_rotation", ["KEEP_LOCAL", "KEEP_FK", "TARGET"])
@pytest.mark.parametrize("has_twist", [False, True])
def test_every_kind_of_limb_is_baked_as_it_is_seen(has_twist: bool, end_rotation: str, space: str) -> None:
    bones = [rigs.BoneSpec("up", (0, 0, 0), (0, 0.6, 0.8))]
    bones += [rigs.BoneSpec("twist", (0, 0.3, 0.4), (0, 0.6, 0.8), "up")] if has_twist else []
    bones += [
        rigs.BoneSpec("lo", (0, 0.6, 0.8), (0, 0, 1.6), bones[-1].name),
        rigs.BoneSpec("hand", (0, 0, 1.6), (0, 0, 1.9), "lo"),
    ]
    obj, target = rigs.build(bones), rigs.empty("T", rotation=(0.2, 0.5, -0.3))
    waving(target, (0.2, -0.3, 1.1), 0.3)
    settings = {"end_bone": "hand", "end_rotation": end_rotation, "target_space": space}
    rigs.add_chain_by_properties(obj, "lo", target, None, chain_length=2 + has_twist, **settings)
    for bone in obj.pose.bones:
        for frame in (1, 15, 30):
            rigs.key_rotation(bone, frame, Quaternion((frame % 4, 1, -0.5), 0.4 * math.sin(frame + len(bone.name))))
    live = recorded(obj, range(1, 31))
    assert rigs.bone(obj, "lo").limb_ik_status in {"REACHED", "TOO_FAR"}
    baked(obj, last=30)
    assert_same(live, recorded(obj, range(1, 31)))


def test_an_armature_scaled_to_nothing_for_some_frames() -> None:
    obj, target = limb()
    moving(target)
    for frame, size in ((4, 1.0), (5, 0.0), (6, 1.0)):
        obj.scale = (size, size, size)
        obj.keyframe_insert("scale", frame=frame)
    rigs.set_interpolation(obj, "CONSTANT", "scale")
    live = recorded(obj, range(1, 11))
    report = baked(obj)
    assert report.frames == 10
    after = recorded(obj, range(1, 11))
    assert_same(live[:4] + live[5:], after[:4] + after[5:])


@pytest.mark.parametrize("is_one_go", [True, False])
def test_connected_bones_with_keyed_locations_bake_as_they_are_seen(
    is_one_go: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blender ignores the location of connected bones, keyed or not."""
    connected = [replace(spec, connected=bool(spec.parent)) for spec in rigs.RIGS["L2B"]]
    obj, target = rigs.build(connected), rigs.empty("T", (0.3, -0.4, 1.1))
    moving(target)
    for frame in (1, 10):
        for name in ("lo", "hand"):
            rigs.bone(obj, name).location = (0.02 * frame, -0.3, 0.1)
            rigs.bone(obj, name).keyframe_insert("location", frame=frame)
    rigs.add_chain_by_properties(obj, "lo", target, end_bone="hand")
    if not is_one_go:
        monkeypatch.setattr(reading_works, "stretches", lambda works: None)
    seen = recorded(obj, range(1, 11))
    baked(obj, last=10)
    for frame, pose in zip(range(1, 11), seen, strict=True):
        rigs.frame_set(frame)
        assert rigs.tip_error(obj, "lo", target, "hand") <= 2e-6
        assert rigs.joint_distance(pose, rigs.evaluated_pose(obj)) <= 2e-6


@pytest.mark.parametrize("is_other_rig", [False, True])
def test_limbs_that_reach_for_bones_are_read_in_one_go_as_frame_by_frame(
    is_other_rig: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Targets and poles that are bones, of the same rig (as set-up makes them) or of another, moved and turned."""
    controls = [
        rigs.BoneSpec("goal", (0.3, -0.4, 1.1), (0.3, -0.4, 1.3)),
        rigs.BoneSpec("side", (0, 3, 0.8), (0, 3, 1)),
    ]
    obj = rigs.build([*rigs.RIGS["L2B"], *([] if is_other_rig else controls)])
    holder = rigs.build(controls, "Controls", location=(0.1, 0, 0), rotation=(0, 0, 0.2)) if is_other_rig else obj
    for frame, angle in ((1, 0.0), (10, 0.7)):
        rigs.bone(holder, "goal").location = (0.01 * frame, 0.02 * frame, 0)
        rigs.bone(holder, "goal").keyframe_insert("location", frame=frame)
        rigs.key_rotation(rigs.bone(holder, "goal"), frame, Quaternion((0, 1, 0), angle))
    rigs.add_chain_by_properties(
        obj, "lo", holder, holder, end_bone="hand", target_bone="goal", pole_bone="side", end_rotation="TARGET"
    )
    seen, one_by_one = recorded(obj, range(1, 11)), []
    sampled = reading_works.sampled
    monkeypatch.setattr(reading_works, "sampled", lambda *a: one_by_one.append(a) or sampled(*a))
    baked(obj, last=10)
    assert not one_by_one
    for frame, pose in zip(range(1, 11), seen, strict=True):
        rigs.frame_set(frame)
        assert rigs.joint_distance(pose, rigs.evaluated_pose(obj)) <= 2e-6
        assert rigs.pose_distance(pose, rigs.evaluated_pose(obj)) <= EXACT
