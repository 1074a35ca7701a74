"""Scenarios about bakes with few keys: they stay within what was asked for, between frames, too."""

from __future__ import annotations

import math
from collections.abc import Sequence

import bpy
import numpy as np
import pytest
from limb_ik.bake import reading_works
from limb_ik.bake.baking import read_part
from limb_ik.bake.options import BakeOptions
from mathutils import Quaternion, Vector

import rigs
from bakes import animation, arm_and_hand, baked, limb, put_animation, recorded, waving

pytestmark = pytest.mark.usefixtures("blank")


HALVES = np.arange(1, 30.25, 0.5)


def world_joints(obj: bpy.types.Object, frames: Sequence[float]) -> np.ndarray:
    """Heads and tails of all bones (frames × bones × 6)."""
    poses = recorded(obj, frames)
    return np.array([[(*bone.head, *bone.tail) for bone in pose.values()] for pose in poses]).reshape(len(poses), -1, 3)


def fully_baked(obj: bpy.types.Object) -> np.ndarray:
    """Joints at frames and half frames as a full bake has them; the armature is as before afterwards."""
    own = animation(obj)
    baked(obj, last=30)
    whole = world_joints(obj, HALVES)
    put_animation(obj, own)
    return whole


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
@pytest.mark.parametrize(("scale", "unit"), [(1.0, 1.0), (10.0, 0.01)])
def test_few_keys_stay_within_what_was_asked_for(mode: str, scale: float, unit: float) -> None:
    obj, target = limb(end_rotation="TARGET", end_bone="hand")
    obj.scale = (scale,) * 3
    bpy.context.scene.unit_settings.scale_length = unit
    for bone in obj.pose.bones:
        bone.rotation_mode = mode
    waving(target, Vector((0.3, -0.2, 1.2)) * scale, 0.25 * scale)
    whole = fully_baked(obj)
    asked = 0.005 * scale * unit
    report = baked(obj, last=30, reduce=asked)
    misses = np.linalg.norm(world_joints(obj, HALVES) - whole, axis=2)
    assert misses.max() * unit <= asked
    assert misses.max() * unit == pytest.approx(report.error, rel=0.02, abs=2e-6 * scale * unit)
    length = sum(bone.length for bone in obj.data.bones)
    assert report.error_part * length * scale * unit == pytest.approx(report.error, rel=1e-4)
    assert report.keys_before == 30 * (9 if mode == "XYZ" else 12)
    assert report.keys < 0.7 * report.keys_before
    assert "before reducing" in report.sentence()


def test_few_keys_of_a_chain_on_a_chain_share_what_was_asked_for() -> None:
    obj = rigs.build(rigs.bent(6, 0.5, 0.25))
    spine, hand = rigs.empty("Spine"), rigs.empty("Hand")
    waving(spine, (0, -0.9, 1.0), 0.1)
    waving(hand, (0.3, -1.3, 1.1), 0.2)
    rigs.add_chain_by_properties(obj, "b3", spine, None, chain_length=3, solver="FABRIK")
    rigs.add_chain_by_properties(obj, "b5", hand, None)
    whole = fully_baked(obj)
    report = baked(obj, last=30, reduce=0.02)
    misses = np.linalg.norm(world_joints(obj, HALVES) - whole, axis=2)[:, :5]
    assert report.chains == 2
    assert 0.004 < misses.max() <= report.error <= 0.02
    assert report.keys < report.keys_before


@pytest.mark.parametrize("end_rotation", ["TARGET", "KEEP_LOCAL"])
def test_few_keys_are_read_in_one_go_as_frame_by_frame(end_rotation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    obj = arm_and_hand("XYZ")
    rigs.bone(obj, "lo").limb_ik_end_rotation = end_rotation
    rigs.bone(obj, "lo").limb_ik_weight = 0.7
    options = BakeOptions(1, 30, reduce=0.01)
    together = read_part(bpy.context, [obj], options, 1, 1)
    monkeypatch.setattr(reading_works, "stretches", lambda works: None)
    alone = read_part(bpy.context, [obj], options, 1, 1)
    assert together.readings.keys() == alone.readings.keys()
    for frame, (one,) in together.readings.items():
        (other,) = alone.readings[frame]
        assert one.scale == pytest.approx(other.scale)
        for place, expected in zip(one.places, other.places, strict=True):
            assert np.array(place.heads) == pytest.approx(np.array(expected.heads), abs=3e-6)
            agree = np.abs(np.einsum("ij,ij->i", np.array(place.frames), np.array(expected.frames)))
            assert agree == pytest.approx(np.ones_like(agree), abs=1e-9)


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
@pytest.mark.parametrize("space", ["WORLD", "FK"])
def test_few_keys_of_captured_motion_keep_to_the_full_bake(space: str, interpolation: str) -> None:
    """Keys on every frame, straight as files bring them or not: the full bake counts between frames, too."""
    obj, target = rigs.rig("L2B", root=True), rigs.empty("T", (0.1, -0.5, 1.2))
    for number, name in enumerate(("root", "up", "lo", "hand")):
        for frame in range(1, 31):
            angle = 0.3 * math.sin(frame / 4.0 + number) + 0.03 * math.sin(2.1 * frame)
            rigs.key_rotation(rigs.bone(obj, name), frame, Quaternion((1, 0.2 * number, 0), angle), interpolation)
    for frame in range(1, 31):
        rigs.key_location(target, frame, (0.1, -0.5, 1.2 + 0.2 * math.sin(frame / 3.0)), interpolation)
    rigs.add_chain_by_properties(obj, "lo", target, target_space=space, end_bone="hand", end_rotation="TARGET")
    whole = fully_baked(obj)
    report = baked(obj, last=30, reduce=0.01)
    misses = np.linalg.norm(world_joints(obj, HALVES) - whole, axis=2)
    assert misses.max() <= report.error + 2e-6 <= 0.01
    assert report.keys < report.keys_before
    kinds = {
        key.interpolation for curve in rigs.curves(obj) if '"lo"' in curve.data_path for key in curve.keyframe_points
    }
    assert kinds == {'BEZIER'}
