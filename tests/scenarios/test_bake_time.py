"""Bakes where time or rotation modes are animated apart from the pose: stretched time, blended NLA, keyed modes."""

from __future__ import annotations

import math
from typing import Any

import bpy
import pytest
from limb_ik.bake.baking import bake
from limb_ik.bake.match_ik import match_ik
from limb_ik.bake.options import BakeOptions
from limb_ik.rig import compat
from limb_ik.rig.errors import LimbIKError
from mathutils import Quaternion

import rigs

pytestmark = pytest.mark.usefixtures("blank", "extension")

# Keys hold 32-bit floats.
EXACT = 1e-5


def limb() -> bpy.types.Object:
    obj = rigs.l2b()
    target = rigs.empty("T")
    rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, 3, 0.8)))
    rigs.key_location(target, 1, (0.6, -0.4, 1.2))
    rigs.key_location(target, 10, (-0.5, -0.9, 0.8))
    for frame, angle in ((1, 0.2), (10, 0.8)):
        rigs.key_rotation(rigs.bone(obj, "up"), frame, Quaternion((1, 0, 0), angle))
    rigs.update()
    return obj


def baked(obj: bpy.types.Object, last: float = 10) -> Any:
    return bake(bpy.context, [obj], BakeOptions(frame_start=1, frame_end=last))


def stretch(old: int, new: int) -> None:
    assert bpy.context.scene is not None
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = old, new


def recorded(obj: bpy.types.Object, frames: Any) -> list[dict[str, rigs.BonePose]]:
    found = []
    for frame in frames:
        rigs.frame_set(frame)
        found.append(rigs.evaluated_pose(obj))
    return found


def apart(a: list[dict[str, rigs.BonePose]], b: list[dict[str, rigs.BonePose]]) -> float:
    return max(rigs.pose_distance(one, other) for one, other in zip(a, b, strict=True))


def nothing(_: bpy.types.Object) -> None:
    pass


def needs_the_scene(obj: bpy.types.Object) -> None:
    """A driver that reads the scene: frames are read in it, not in one of their own."""
    target: Any = rigs.bone(obj, "lo").limb_ik_target
    driver: Any = target.driver_add("delta_location", 2).driver
    driver.type = 'SUM'
    variable = driver.variables.new()
    variable.targets[0].id_type = 'SCENE'
    variable.targets[0].id = bpy.context.scene
    variable.targets[0].data_path = "unit_settings.scale_length"
    rigs.update()


@pytest.mark.parametrize("change", [nothing, needs_the_scene])
@pytest.mark.parametrize(("old", "new"), [(100, 200), (200, 100)])
def test_with_stretched_time_a_bake_shows_what_was_seen(old: int, new: int, change: Any) -> None:
    obj = limb()
    change(obj)
    stretch(old, new)
    frames = [frame * new / old for frame in range(1, 11)]
    rigs.frame_set(4)
    live = recorded(obj, frames)
    rigs.frame_set(4)
    baked(obj)
    assert bpy.context.scene is not None
    assert bpy.context.scene.frame_current == 4
    assert apart(live, recorded(obj, frames)) <= EXACT


def test_with_stretched_time_targets_are_matched_where_fk_is() -> None:
    obj = limb()
    rigs.bone(obj, "lo").limb_ik_mute = True
    stretch(100, 200)
    frames = [2 * frame for frame in range(1, 11)]
    fk = recorded(obj, frames)
    rigs.bone(obj, "lo").limb_ik_mute = False
    match_ik(bpy.context, obj, ["lo"], [float(frame) for frame in range(1, 11)])
    seen = recorded(obj, frames)
    assert max(rigs.joint_distance(one, other) for one, other in zip(fk, seen, strict=True)) <= EXACT


@pytest.mark.parametrize(("blend", "influence"), [('ADD', 1.0), ('COMBINE', 1.0), ('REPLACE', 0.5)])
def test_keys_that_would_be_blended_over_strips_are_refused(blend: str, influence: float) -> None:
    obj = limb()
    anim = obj.animation_data
    assert anim is not None
    action = anim.action
    strip = anim.nla_tracks.new().strips.new("s", 1, action)
    if compat.HAS_SLOTS:
        strip.action_slot = action.slots[0]
    anim.action, anim.action_blend_type, anim.action_influence = None, blend, influence
    with pytest.raises(LimbIKError, match="blended over NLA strips"):
        baked(obj)
    assert anim.action is None
    anim.action_blend_type, anim.action_influence = 'REPLACE', 1.0
    live = recorded(obj, range(1, 11))
    baked(obj)
    assert apart(live, recorded(obj, range(1, 11))) <= EXACT


def test_a_rotation_mode_that_changes_is_refused_and_one_that_is_only_keyed_is_not() -> None:
    obj = limb()
    upper = rigs.bone(obj, "up")
    upper.keyframe_insert("rotation_mode", frame=1)
    live = recorded(obj, range(1, 6))
    baked(obj, last=5)
    rigs.bone(obj, "lo").limb_ik_mute = True
    assert apart(live, recorded(obj, range(1, 6))) <= EXACT
    rigs.bone(obj, "lo").limb_ik_mute = False
    upper.rotation_mode = 'XYZ'
    upper.keyframe_insert("rotation_mode", frame=5)
    before = rigs.keys(obj)
    for frame in (2, 8):
        rigs.frame_set(frame)
        with pytest.raises(LimbIKError, match="rotation mode"):
            baked(obj)
    assert rigs.keys(obj) == before


def test_a_bake_of_a_repeated_motion_says_that_it_changes_outside() -> None:
    """Cycles repeat whatever keys there are; within the range the bake is exact all the same."""
    obj = limb()
    for curve in rigs.curves(obj):
        curve.modifiers.new('CYCLES')
    live = recorded(obj, range(1, 31))
    report = baked(obj, last=30)
    assert apart(live, recorded(obj, range(1, 31))) <= EXACT
    assert any('"up"' in note and "repeats" in note for note in report.notes)
    assert not any('"lo"' in note for note in report.notes)


def test_a_manual_range_of_the_action_is_what_is_baked_and_the_rest_is_said() -> None:
    obj = limb()
    for frame in (1, 30):
        rigs.key_rotation(rigs.bone(obj, "up"), frame)
    action = obj.animation_data.action
    action.use_frame_range = True
    action.frame_start, action.frame_end = 5.0, 8.0
    report = bake(bpy.context, [obj], BakeOptions())
    assert report.frames == 4
    assert any("frames 1…4 and 9…30 of 'Rig' lose IK" in note for note in report.notes)
    assert set(range(5, 9)) < {key for keys in rigs.keys(obj).values() for key, _ in keys}


def sparse(interpolation: str = 'BEZIER') -> bpy.types.Object:
    """A limb with FK keys far from the frames that are baked, and from what IK shows there."""
    obj = rigs.l2b()
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)), rigs.empty("P", (0, 3, 0.8)))
    for frame in (-20, 40):
        for name in ("up", "lo"):
            rigs.key_rotation(rigs.bone(obj, name), frame, Quaternion((1, 0.3, 0), 0.02 * frame))
    rigs.set_interpolation(obj, interpolation)
    rigs.update()
    return obj


OUTSIDE = [*range(-20, 1), *range(11, 41)]


@pytest.mark.parametrize("interpolation", ['BEZIER', 'LINEAR', 'CONSTANT', 'ELASTIC'])
def test_a_bake_between_keys_far_apart_says_how_far_fk_changes_beside_it(interpolation: str) -> None:
    obj = sparse(interpolation)
    rigs.bone(obj, "lo").limb_ik_use_ik = False
    rigs.update()
    before = local_at(obj, OUTSIDE)
    rigs.bone(obj, "lo").limb_ik_use_ik = True
    rigs.update()
    (lost, changed) = baked(obj).notes
    assert lost == "frames -20…0 and 11…40 of 'Rig' lose IK"
    after = local_at(obj, OUTSIDE)
    most = max(rigs.local_distance(one, other) for one, other in zip(before, after, strict=True))
    assert changed == (
        f"FK of 'Rig' beside the range changes by up to {math.degrees(most):.2g}°, leading to the baked pose: "
        "key frame 0 and frame 11 before baking to keep it"
    )


def local_at(obj: bpy.types.Object, frames: Any) -> list[dict[str, Quaternion]]:
    found = []
    for frame in frames:
        rigs.frame_set(frame)
        found.append(rigs.local_rotations(obj))
    return found


@pytest.mark.parametrize("is_strip", [False, True])
def test_a_target_that_goes_on_after_the_rigs_own_animation_loses_ik_there_and_it_is_said(is_strip: bool) -> None:
    obj = limb()
    if is_strip:
        anim = obj.animation_data
        action, anim.action = anim.action, None
        assert action is not None
        anim.nla_tracks.new().strips.new("Strip", 1, action)
    assert not any("lose IK" in note for note in baked(obj).notes)
    rigs.bone(obj, "lo").limb_ik_mute = False
    rigs.key_location(rigs.bone(obj, "lo").limb_ik_target, 60, (0.5, -0.9, 0.8))
    rigs.update()
    assert "frames 11…60 of 'Rig' lose IK" in baked(obj).notes


def test_fk_that_is_keyed_beside_the_range_stays_and_nothing_is_said_of_it() -> None:
    obj = sparse()
    for frame in (0, 11):
        rigs.frame_set(frame)
        for name in ("up", "lo"):
            rigs.bone(obj, name).keyframe_insert("rotation_quaternion")
        rigs.update()
    rigs.bone(obj, "lo").limb_ik_use_ik = False
    rigs.update()
    before = local_at(obj, OUTSIDE)
    rigs.bone(obj, "lo").limb_ik_use_ik = True
    rigs.update()
    assert baked(obj).notes == ("frames -20…0 and 11…40 of 'Rig' lose IK",)
    after = local_at(obj, OUTSIDE)
    assert max(rigs.local_distance(one, other) for one, other in zip(before, after, strict=True)) <= EXACT


def test_chains_that_stay_on_lose_nothing_and_an_armature_without_keys_has_the_scenes_range() -> None:
    obj = rigs.l2b()
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)))
    rigs.update()
    bpy.context.scene.frame_end = 20
    (changed,) = bake(bpy.context, [obj], BakeOptions(1, 10, after='KEEP')).notes
    assert changed.startswith("FK of 'Rig' beside the range changes by up to ")
    assert changed.endswith(": key frame 11 before baking to keep it")
    rigs.bone(obj, "lo").limb_ik_solver = 'NONE'
    obj.animation_data.action = None
    rigs.add_chain_by_properties(obj, "lo", bpy.data.objects["T"])
    rigs.update()
    assert bake(bpy.context, [obj], BakeOptions(1, 20)).notes == ()
