"""The test rigs themselves: the facts that every other test takes for granted."""

from __future__ import annotations

import math
from pathlib import Path

import bpy
import pytest
from mathutils import Quaternion, Vector

import rigs


@pytest.mark.parametrize("kind", sorted(rigs.RIGS))
def test_joints_are_where_the_table_says(empty_file: None, kind: str) -> None:
    obj = rigs.rig(kind, location=(3, -2, 1), rotation=(0, 0, math.radians(90)), scale=0.01, length=100.0)
    pose = rigs.evaluated_pose(obj)
    for spec in rigs.RIGS[kind]:
        x, y, z = spec.head
        expected = Vector((3 - y, -2 + x, 1 + z))
        assert (pose[spec.name].head - expected).length < 2e-6  # float32 at a few units


def test_local_x_turns_the_lower_bone_forward(empty_file: None) -> None:
    obj = rigs.l2s()
    rigs.turn(obj, "lo", "X", math.radians(45))
    assert rigs.tip_error(obj, "lo", (0, -math.sqrt(0.5), 1 + math.sqrt(0.5))) < 1e-6


def test_reference_elbow() -> None:
    x, y, z = rigs.reference_elbow((0, 0, 0), (1.2, 0, 0.5), (0, -3, 0), 1, 1)
    assert (x, y, z) == pytest.approx((0.6, -0.759934, 0.25), abs=5e-7)  # as many digits as the base check has


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE"])
def test_keys_play_back_in_every_rotation_mode(empty_file: None, mode: str) -> None:
    obj = rigs.l2b()
    pose_bone = rigs.bone(obj, "up")
    pose_bone.rotation_mode = mode
    rigs.key_rotation(pose_bone, 1, Quaternion((1, 0, 0), 0.2))
    rigs.key_rotation(pose_bone, 21, Quaternion((1, 0, 0), 0.6))
    rigs.frame_set(11)
    angle = rigs.rotation_distance(rigs.local_rotations(obj)["up"], Quaternion())
    assert angle == pytest.approx(0.4, abs=2e-3)  # lerped quaternions are not exactly half way
    assert {path for path, _ in rigs.keys(obj)} == {f'pose.bones["up"].{rigs.rotation_path(pose_bone)}'}


def test_rotation_distance_sees_small_angles() -> None:
    tilted = Quaternion((1.0, 0.5e-6, 0.0, 0.0))
    assert rigs.rotation_distance(Quaternion(), tilted) == pytest.approx(1e-6, rel=1e-3)
    assert rigs.rotation_distance(tilted, -tilted) < 1e-12


def test_blank_file_is_empty(empty_file: None) -> None:
    assert len(bpy.data.objects) == 0


def test_data_folder_has_its_index(data_dir: Path) -> None:
    assert (data_dir / "README.tsv").is_file()
