"""Files are read and written whole, frames one to one, the motion unchanged."""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import bpy
import pytest
from limb_ik.files import formats as file_formats
from limb_ik.files import opening as files
from limb_ik.files.gltf_rate import DEFAULT_RATE, frame_rate
from limb_ik.rig.errors import LimbIKError
from limb_ik.rig.setting_up.controls import COLLECTION
from mathutils import Matrix, Quaternion

import rigs

POSITION = 1e-5
"""Of the armature's size: BVH has no bone directions and glTF stores float32."""
MOTION = {".bvh": 1e-4, ".glb": 1e-4, ".gltf": 1e-4, ".fbx": 5e-4}
"""Radians. Blender's FBX exporter turns float32 matrices into Euler angles, which near the gimbal cost 3.5e-4."""

Poses = dict[int, dict[str, Matrix]]


def poses(frames: Iterable[int], shift: int = 0) -> Poses:
    """World matrices of all bones of the only armature."""
    obj = files.armatures()[0]
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame + shift)
        now = rigs.evaluated(obj)
        found[frame] = {bone.name: now.matrix_world @ bone.matrix for bone in now.pose.bones}
    return found


def some_frames() -> list[int]:
    first, last = bpy.context.scene.frame_start, bpy.context.scene.frame_end
    return sorted({first, first + 1, (first + last) // 2, last})


def size(pose: dict[str, Matrix]) -> float:
    heads = [matrix.translation for matrix in pose.values()]
    return max((a - b).length for a in heads for b in heads)


def largest_turn(a: Poses, b: Poses) -> float:
    pairs = [(m.to_quaternion(), b[f][name].to_quaternion()) for f in a for name, m in a[f].items()]
    return max(rigs.rotation_distance(p, q) for p, q in pairs)


def largest_move(a: Poses, b: Poses) -> float:
    """Of the armature's size."""
    first = next(iter(a.values()))
    return max((m.translation - b[f][n].translation).length for f in a for n, m in a[f].items()) / size(first)


@pytest.mark.parametrize(
    ("source", "suffix"),
    [
        ("bvh/makehuman_walk1.bvh", ".bvh"),
        ("gltf/CesiumMan.glb", ".glb"),
        ("gltf/RobotExpressive.glb", ".gltf"),
        ("gltf/kaykit_Med_MovementBasic.glb", ".glb"),
        ("fbx/ozz_pab_walk.fbx", ".fbx"),
        ("fbx/ozz_pab_walk.fbx", ".glb"),
    ],
)
def test_a_motion_comes_back_as_it_was_on_the_same_frames(
    blank: None, data_dir: Path, tmp_path: Path, source: str, suffix: str
) -> None:
    files.open_file(data_dir / source)
    frames, rate = some_frames(), bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    before = poses(frames)
    files.save_file(tmp_path / f"out{suffix}")
    files.open_file(tmp_path / f"out{suffix}")
    after = poses(frames)
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (frames[0], frames[-1])
    assert math.isclose(bpy.context.scene.render.fps / bpy.context.scene.render.fps_base, rate, rel_tol=1e-5)
    assert largest_move(before, after) < 5 * POSITION
    assert largest_turn(before, after) < MOTION[suffix]


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".fbx"])
def test_motion_before_frame_zero_is_written_from_zero_on_and_that_is_said(
    blank: None, tmp_path: Path, suffix: str
) -> None:
    """No scene's range begins before 0, and exporters write the scene's range."""
    obj = rigs.l2b()
    for frame, angle in ((-20, 0.0), (-11, 1.0)):
        rigs.key_rotation(rigs.bone(obj, "up"), frame, Quaternion((1, 0, 0), angle))
    before = poses([-20, -15, -11])
    out = tmp_path / f"out{suffix}"
    assert files.save_file(out) == f"frames -20…-11 are 0…9 in {suffix}"
    files.open_file(out)
    first = {".bvh": 1, ".fbx": 1, ".glb": 0}[suffix]  # importers have a first frame of their own
    after = poses(before, shift=20 + first)
    assert max((m.translation - before[f][n].translation).length for f in after for n, m in after[f].items()) < POSITION


@pytest.mark.parametrize("source", ["gltf/RobotExpressive.glb", "fbx/ozz_pab_walk.fbx", "gltf/CesiumMan.glb"])
def test_bvh_puts_every_joint_where_it_stands_in_the_world(
    blank: None, data_dir: Path, tmp_path: Path, source: str
) -> None:
    """Objects with a scale of 100 and 0.01, one of them animated: Blender's own exporter leaves all that out."""
    files.open_file(data_dir / source)
    frames = some_frames()
    before = poses(frames)
    files.save_file(tmp_path / "out.bvh")
    files.open_file(tmp_path / "out.bvh")
    assert largest_move(before, poses(frames, shift=1 - frames[0])) < POSITION


def test_bvh_keeps_the_cadence_of_a_moved_turned_and_scaled_object(blank: None, tmp_path: Path) -> None:
    arm = rigs.rig("L2B")
    arm.location, arm.rotation_euler, arm.scale = (0.1, 0.2, 0.3), (0.3, 0.2, 1.0), (0.01, 0.01, 0.01)
    for frame in (3, 9):
        rigs.key_rotation(rigs.turn(arm, "lo", "X", 0.2 * frame), frame)
    files.fit_scene_to_actions(bpy.context.scene)
    before = poses([3, 6, 9])
    files.save_file(tmp_path / "out.bvh")
    files.open_file(tmp_path / "out.bvh")
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (1, 7)
    assert bpy.context.scene.render.fps == 24
    assert bpy.context.scene.render.fps_base == pytest.approx(1.0, abs=1e-6)
    assert largest_move(before, poses([3, 6, 9], shift=-2)) < POSITION


def test_what_set_up_made_stays_out_of_other_formats(blank: None, tmp_path: Path) -> None:
    arm = rigs.rig("L2B")
    made, other = rigs.empty("Made", (0, 0, 1)), rigs.empty("Other", (0, 0, 2))
    made.limb_ik.is_control = True
    bpy.ops.object.mode_set(mode='EDIT')
    bone = arm.data.edit_bones.new("hand_IK")
    bone.tail = (0, 0, 1)
    controls = arm.data.collections.new(COLLECTION)
    controls.assign(bone)
    bpy.ops.object.mode_set(mode='OBJECT')
    files.save_file(tmp_path / "out.glb")
    assert other.name == "Other"
    files.open_file(tmp_path / "out.glb")
    assert "Made" not in bpy.data.objects
    assert "Other" in bpy.data.objects
    assert sorted(files.armatures()[0].pose.bones.keys()) == ["hand", "lo", "up"]


def test_bone_targets_of_a_rig_in_an_excluded_collection_are_left_out_of_other_formats(
    blank: None, tmp_path: Path
) -> None:
    arm = rigs.rig("L2B")
    bpy.ops.limb_ik.add_chain(armature=arm.name, tips="lo", target_kind="BONE")
    away = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(away)
    away.objects.link(arm)
    bpy.context.scene.collection.objects.unlink(arm)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    files.save_file(tmp_path / "out.glb")
    files.open_file(tmp_path / "out.glb")
    assert sorted(files.armatures()[0].pose.bones.keys()) == ["hand", "lo", "up"]


@pytest.mark.parametrize("target_kind", ["EMPTY", "BONE"])
def test_what_hangs_on_a_made_target_stays_where_it_is_in_other_formats(
    blank: None, tmp_path: Path, target_kind: str
) -> None:
    arm = rigs.rig("L2B")
    bpy.ops.limb_ik.add_chain(armature=arm.name, tips="lo", target_kind=target_kind)
    tip = rigs.bone(arm, "lo")
    prop = rigs.empty("Prop", (0, 0.1, 0.2), parent=tip.limb_ik_target)
    if target_kind == "BONE":
        prop.parent_type, prop.parent_bone = 'BONE', tip.limb_ik_target_bone
    rigs.update()
    before = rigs.world_position(prop)
    files.save_file(tmp_path / "out.glb")
    files.open_file(tmp_path / "out.glb")
    rigs.update()
    assert (rigs.world_position(bpy.data.objects["Prop"]) - before).length < POSITION
    assert not [name for name in (*bpy.data.objects.keys(), *files.armatures()[0].pose.bones.keys()) if "Pole" in name]


def test_blend_keeps_paths_that_are_relative_to_it(blank: None, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    rigs.rig("L2B")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a" / "in.blend"))
    image = bpy.data.images.new("Skin", 4, 4)
    image.source, image.filepath, image.use_fake_user = 'FILE', "//skin.png", True
    files.save_file(tmp_path / "b" / "out.blend")
    files.open_file(tmp_path / "b" / "out.blend")
    where = Path(bpy.path.abspath(bpy.data.images["Skin"].filepath)).resolve()
    assert where == (tmp_path / "a" / "skin.png").resolve()


@pytest.mark.parametrize("suffix", [".blend", ".glb", ".gltf", ".bvh", ".fbx"])
def test_nothing_lies_beside_a_file_that_was_written(blank: None, tmp_path: Path, suffix: str) -> None:
    rigs.rig("L2B")
    files.save_file(tmp_path / f"out{suffix}")
    companions = {"out.bin"} if suffix == ".gltf" else set()
    assert {path.name for path in tmp_path.iterdir()} == {f"out{suffix}", *companions}


def test_a_failed_export_leaves_the_old_file_and_nothing_else(
    blank: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(path: Path, *_: object) -> None:
        path.write_text("half")
        raise RuntimeError("Error: the disk is full\n")

    rigs.rig("L2B")
    (tmp_path / "out.glb").write_text("old")
    monkeypatch.setitem(file_formats.WRITERS, ".glb", half)
    with pytest.raises(LimbIKError, match=r"^.*[/\\]out\.glb can't be written: the disk is full$"):
        files.save_file(tmp_path / "out.glb")
    assert (tmp_path / "out.glb").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.glb"]


def test_one_bvh_holds_one_armature(blank: None, tmp_path: Path) -> None:
    rigs.rig("L2B", "A")
    rigs.rig("C3", "B")
    with pytest.raises(LimbIKError, match="one armature, and here are 2"):
        files.save_file(tmp_path / "out.bvh")
    assert not list(tmp_path.iterdir())


GARBAGE = bytes(range(256)) * 20


@pytest.mark.parametrize("suffix", [".blend", ".bvh", ".fbx", ".glb", ".gltf", ".vrm", ".vrma"])
@pytest.mark.parametrize("content", [b"", b"hello\n", GARBAGE], ids=["empty", "text", "garbage"])
def test_what_is_no_such_file_is_refused_in_one_sentence(
    blank: None, tmp_path: Path, suffix: str, content: bytes
) -> None:
    path = tmp_path / f"in{suffix}"
    path.write_bytes(content)
    with pytest.raises(LimbIKError) as refusal:
        files.open_file(path)
    assert str(refusal.value).startswith(f"in{suffix} can't be read: ")
    assert "\n" not in str(refusal.value)
    assert "Traceback" not in str(refusal.value)
    assert content or str(refusal.value) == f"in{suffix} can't be read: it is empty"


@pytest.mark.parametrize("source", ["bvh/makehuman_walk1.bvh", "gltf/CesiumMan.glb", "fbx/ozz_pab_walk.fbx"])
def test_a_file_that_was_cut_is_refused(blank: None, data_dir: Path, tmp_path: Path, source: str) -> None:
    whole = (data_dir / source).read_bytes()
    path = tmp_path / Path(source).name
    path.write_bytes(whole[: len(whole) * 7 // 10])
    with pytest.raises(LimbIKError, match="can't be read"):
        files.open_file(path)


def test_a_capture_that_ends_early_is_refused_though_its_lines_are_whole(
    blank: None, data_dir: Path, tmp_path: Path
) -> None:
    lines = (data_dir / "bvh" / "makehuman_walk1.bvh").read_text().rstrip().splitlines()
    (tmp_path / "cut.bvh").write_text("\n".join(lines[:-4]) + "\n")
    with pytest.raises(LimbIKError, match="its end is missing: it holds 10 of 14 frames"):
        files.open_file(tmp_path / "cut.bvh")


@pytest.mark.parametrize(("name", "reason"), [("in.txt", r"\.txt is not one of"), ("in", "has no extension")])
def test_unknown_kinds_are_refused_by_name(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(LimbIKError, match=reason):
        files.open_file(tmp_path / name)
    with pytest.raises(LimbIKError, match=reason):
        files.check_writable(tmp_path / name)


def test_folders_are_told_from_files(tmp_path: Path) -> None:
    for check in (files.check_readable, files.check_writable):
        with pytest.raises(LimbIKError, match="is a folder"):
            check(tmp_path)
    with pytest.raises(LimbIKError, match="does not exist"):
        files.check_readable(tmp_path / "no.blend")
    with pytest.raises(LimbIKError, match="its folder does not exist"):
        files.check_writable(tmp_path / "no" / "out.blend")


def test_vrm_is_read_as_gltf(blank: None, data_dir: Path) -> None:
    files.open_file(data_dir / "gltf" / "Godette_vrm_v4.vrm")
    assert len(files.armatures()[0].pose.bones) == 68


def test_reading_adds_no_bone_shapes(blank: None, data_dir: Path) -> None:
    files.open_file(data_dir / "gltf" / "CesiumMan.glb")
    assert "Icosphere" not in bpy.data.objects


def test_importers_and_exporters_are_silent(
    blank: None, data_dir: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files.open_file(data_dir / "bvh" / "makehuman_walk1.bvh")
    files.save_file(tmp_path / "out.fbx")
    files.save_file(tmp_path / "out.blend")
    assert capfd.readouterr() == ("", "")


def gltf(path: Path, times: list[float]) -> Path:
    """A file with one animation that has keys at these seconds; enough for its rate to be read."""
    (path / "times.bin").write_bytes(struct.pack(f"<{len(times)}f", *times))
    document = {
        "buffers": [{"uri": "times.bin", "byteLength": 4 * len(times)}],
        "bufferViews": [{"buffer": 0, "byteLength": 4 * len(times)}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": len(times), "type": "SCALAR"}],
        "animations": [{"samplers": [{"input": 0, "output": 0}], "channels": []}],
    }
    (path / "in.gltf").write_text(json.dumps(document))
    return path / "in.gltf"


@pytest.mark.parametrize("rate", [24, 25, 30, 50, 60, 120])
def test_the_rate_is_the_one_at_which_keys_lie_on_frames(tmp_path: Path, rate: int) -> None:
    assert frame_rate(gltf(tmp_path, [frame / rate for frame in range(1, 2000, 7)])) == rate


def test_keys_that_fit_no_rate_or_every_rate_leave_blenders_own(tmp_path: Path) -> None:
    assert frame_rate(gltf(tmp_path, [0.0, 0.1234, 0.777])) == DEFAULT_RATE
    assert frame_rate(gltf(tmp_path, [0.0, 1.0, 2.0])) == DEFAULT_RATE
    (tmp_path / "in.gltf").write_text("{")
    assert frame_rate(tmp_path / "in.gltf") == DEFAULT_RATE


def test_a_link_is_followed_to_the_file_that_it_names(blank: None, extension: ModuleType, tmp_path: Path) -> None:
    rigs.rig("L2B")
    (tmp_path / "real.blend").write_bytes(b"old")
    os.symlink(tmp_path / "real.blend", tmp_path / "link.blend")
    files.save_file(tmp_path / "link.blend")
    assert (tmp_path / "link.blend").is_symlink()
    assert (tmp_path / "real.blend").read_bytes() != b"old"
