"""All clips of a file come out under their names, unchanged; what a format has no room for is said."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest
from limb_ik.cli import entry as cli
from limb_ik.files import clips, still_channels
from limb_ik.files import opening as files
from mathutils import Quaternion

import rigs

TURN = 1e-4
"""Radians: glTF's float32 quaternions, and axes that its importer chooses anew."""
HAS_SLOTS = bpy.app.version >= (4, 4)

Turns = dict[str, list[Quaternion]]


def animation(owner: Any) -> Any:
    return owner.animation_data


def begin(owner: Any, name: str) -> Any:
    """A new action for an owner, which the next keys go to; the one before stays."""
    data = owner.animation_data or owner.animation_data_create()
    if HAS_SLOTS and data.action is not None:
        data.action_slot = None
    data.action = bpy.data.actions.new(name)
    data.action.use_fake_user = True
    return data.action


def swing(arm: bpy.types.Object, bone: str, keys: Sequence[tuple[int, float]]) -> None:
    for frame, angle in keys:
        rigs.key_rotation(rigs.bone(arm, bone), frame, Quaternion((1, 0, 0), angle))


def use(owner: Any, action: Any) -> None:
    data = animation(owner)
    data.action = action
    if HAS_SLOTS:
        data.action_slot = action.slots[0]


def stash(owner: Any, name: str) -> None:
    """The owner's action into a muted track, as the glTF importer does it."""
    data = animation(owner)
    track = data.nla_tracks.new()
    track.name, track.mute = name, True
    strip = track.strips.new(name, 1, data.action)
    if HAS_SLOTS:
        strip.action_slot = data.action_slot


def walk_and_run() -> bpy.types.Object:
    """Walk waits and moves two bones over frames 1 to 30, Run plays and moves one over 1 to 11."""
    arm = rigs.rig("L2B")
    begin(arm, "Walk")
    swing(arm, "up", [(1, 0.0), (30, 0.8)])
    swing(arm, "lo", [(1, 0.3), (30, 0.1)])
    for name in ("up", "lo"):
        rigs.write_rotation(rigs.bone(arm, name), Quaternion())
    begin(arm, "Run")
    swing(arm, "up", [(1, 0.5), (11, -0.5)])
    return arm


def turns(frames: Sequence[int], names: Sequence[str] = ("up", "lo", "hand")) -> Turns:
    """How bones are turned in the world on these frames, against the first of them."""
    found: Turns = {name: [] for name in names}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        now = rigs.evaluated(files.armatures()[0])
        for name in names:
            found[name].append((now.matrix_world @ now.pose.bones[name].matrix).to_quaternion())
    return {name: [one @ rows[0].inverted() for one in rows] for name, rows in found.items()}


def furthest(a: Turns, b: Turns) -> float:
    return max(rigs.rotation_distance(p, q) for name in a for p, q in zip(a[name], b[name], strict=True))


def tracks() -> dict[str, Any]:
    """The clips that an importer made of a file, in its order."""
    data = animation(files.armatures()[0])
    return {track.name: track.strips[0] for track in reversed(data.nla_tracks)}


def play(name: str) -> None:
    """One of the clips that an importer made."""
    strip, data = tracks()[name], animation(files.armatures()[0])
    data.action = strip.action
    if HAS_SLOTS:
        data.action_slot = strip.action_slot


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_a_clip_keeps_its_name(blank: None, tmp_path: Path, suffix: str) -> None:
    arm = rigs.rig("L2B")
    begin(arm, "Stroll")
    swing(arm, "up", [(1, 0.0), (11, 1.0)])
    assert files.save_file(tmp_path / f"out{suffix}") == ""
    files.open_file(tmp_path / f"out{suffix}")
    assert list(tracks()) == ["Stroll"]


def test_an_fbx_names_its_clip(blank: None, tmp_path: Path) -> None:
    walk_and_run()
    assert files.save_file(tmp_path / "out.fbx") == "1 other action is not in out.fbx: 'Walk'"
    files.open_file(tmp_path / "out.fbx")
    assert clips.rows_of(files.armatures()[0]) == [{"name": "Run", "frames": (1, 11), "plays": True}]


def test_the_clip_that_plays_comes_first_and_those_that_wait_are_unchanged(blank: None, tmp_path: Path) -> None:
    arm = walk_and_run()
    run_before, walk_frames = turns(range(1, 12)), range(1, 31)
    assert files.save_file(tmp_path / "out.glb") == ""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    arm = walk_and_run()
    use(arm, bpy.data.actions["Walk"])
    walk_before = turns(walk_frames)
    files.open_file(tmp_path / "out.glb")
    assert list(tracks()) == ["Run", "Walk"]
    assert furthest(run_before, turns(range(1, 12))) < TURN
    play("Walk")
    assert tuple(tracks()["Walk"].action.frame_range) == (1.0, 30.0)
    assert furthest(walk_before, turns(walk_frames)) < TURN


@pytest.mark.parametrize("name", ["Run", "Walk"])
def test_a_bone_that_was_posed_stays_so_in_every_clip(blank: None, tmp_path: Path, name: str) -> None:
    arm = walk_and_run()
    rigs.write_rotation(rigs.bone(arm, "hand"), Quaternion((0, 0, 1), 0.7))
    bpy.context.view_layer.update()
    before = bend(arm)
    files.save_file(tmp_path / "out.glb")
    files.open_file(tmp_path / "out.glb")
    play(name)
    bpy.context.scene.frame_set(7)
    assert rigs.rotation_distance(before, bend(files.armatures()[0])) < TURN


def bend(arm: bpy.types.Object) -> Quaternion:
    """How the hand is turned against the bone above it."""
    above, hand = (rigs.bone(arm, name).matrix.to_quaternion() for name in ("lo", "hand"))
    return above.inverted() @ hand


def test_a_thing_follows_the_clip_of_the_armature(blank: None, tmp_path: Path) -> None:
    """It is at another one where --action chose the armature's."""
    arm, prop = rigs.rig("L2B"), rigs.empty("Prop", (0, 0, 0))
    for name, end in (("Idle", 1.0), ("Jump", 3.0)):
        for owner in (arm, prop):
            begin(owner, f"{name}_{owner.name}")
            if owner is arm:
                swing(arm, "up", [(1, 0.0), (11, end / 4)])
            else:
                rigs.key_location(prop, 1, (0, 0, 0))
                rigs.key_location(prop, 11, (0, 0, end))
            stash(owner, name)
    use(prop, bpy.data.actions["Idle_Prop"])
    files.save_file(tmp_path / "out.glb")
    files.open_file(tmp_path / "out.glb")
    assert list(tracks()) == ["Jump", "Idle"]
    bpy.context.scene.frame_set(11)
    assert bpy.data.objects["Prop"].location.z == pytest.approx(3.0, abs=1e-5)


def test_a_clip_may_be_one_pose(blank: None, tmp_path: Path) -> None:
    arm = walk_and_run()
    run = bpy.data.actions["Run"]
    begin(arm, "Pose")
    swing(arm, "up", [(5, 0.4)])
    before = rigs.bone(arm, "up").matrix_basis.to_quaternion().angle
    use(arm, run)
    files.save_file(tmp_path / "out.glb")
    files.open_file(tmp_path / "out.glb")
    play("Pose")
    assert tracks()["Pose"].action.frame_range[0] == 5.0
    for frame in (5, 9):
        bpy.context.scene.frame_set(frame)
        angle = rigs.bone(files.armatures()[0], "up").matrix_basis.to_quaternion().angle
        assert angle == pytest.approx(before, abs=TURN) == pytest.approx(0.4, abs=TURN)


def test_a_clip_of_two_armatures_stays_one(blank: None, tmp_path: Path) -> None:
    for number, name in enumerate(("A", "B")):
        arm = rigs.rig("L2B", name)
        for clip, angle in (("Bow", 0.5), ("Fall", 1.0)):
            begin(arm, f"{clip} of {name}")
            swing(arm, "up", [(1, 0.0), (11, angle + number)])
            stash(arm, clip)
    assert files.save_file(tmp_path / "out.glb") == ""
    files.open_file(tmp_path / "out.glb")
    for number, arm in enumerate(files.armatures()):
        ends = {}
        for track in animation(arm).nla_tracks:
            animation(arm).action = track.strips[0].action
            if HAS_SLOTS:
                animation(arm).action_slot = track.strips[0].action_slot
            bpy.context.scene.frame_set(11)
            ends[track.name] = rigs.read_rotation(rigs.bone(arm, "up")).angle
        assert ends == pytest.approx({"Bow": 0.5 + number, "Fall": 1.0 + number}, abs=TURN)


def test_a_strip_that_is_tweaked_comes_out(blank: None, tmp_path: Path) -> None:
    arm = rigs.rig("L2B")
    begin(arm, "Nod")
    swing(arm, "up", [(1, 0.0), (11, 1.0)])
    stash(arm, "Strips")
    data = animation(arm)
    data.nla_tracks[0].mute = False
    data.action = None
    data.nla_tracks.active, data.nla_tracks[0].strips[0].select = data.nla_tracks[0], True
    data.use_tweak_mode = True
    assert data.use_tweak_mode
    before = turns(range(1, 12))
    files.save_file(tmp_path / "out.glb")
    files.open_file(tmp_path / "out.glb")
    assert list(tracks()) == ["Strips"]
    assert furthest(before, turns(range(1, 12))) < TURN


def test_a_clip_that_waits_may_begin_before_zero(blank: None, tmp_path: Path) -> None:
    arm = rigs.rig("L2B")
    begin(arm, "Early")
    swing(arm, "up", [(-5, 0.0), (5, 1.0)])
    before = turns(range(-5, 6))
    begin(arm, "Plain")
    swing(arm, "up", [(1, 0.0), (4, 0.1)])
    files.save_file(tmp_path / "out.glb")
    files.open_file(tmp_path / "out.glb")
    play("Early")
    assert furthest(before, turns(range(11))) < TURN


def test_clips_that_wait_stay_where_they_are_when_the_motion_is_moved_to_zero(blank: None, tmp_path: Path) -> None:
    arm = walk_and_run()
    begin(arm, "Early")
    swing(arm, "up", [(-5, 0.0), (5, 1.0)])
    assert files.save_file(tmp_path / "out.glb") == "frames -5…5 are 0…10 in .glb"
    files.open_file(tmp_path / "out.glb")
    ranges = {name: tuple(strip.action.frame_range) for name, strip in tracks().items()}
    assert ranges == {"Early": (0.0, 10.0), "Run": (1.0, 11.0), "Walk": (1.0, 30.0)}


@pytest.mark.parametrize("suffix", [".glb", ".fbx"])
@pytest.mark.parametrize("is_on_top", [False, True])
def test_strips_come_out_as_they_play(blank: None, tmp_path: Path, suffix: str, is_on_top: bool) -> None:
    arm = rigs.rig("L2B")
    action = begin(arm, "Nod")
    swing(arm, "up", [(1, 0.0), (11, 1.0)])
    stash(arm, "Strips")
    track = animation(arm).nla_tracks[0]
    track.mute, track.strips[0].frame_start_ui = False, 5
    begin(arm, "Top")
    if is_on_top:
        swing(arm, "lo", [(5, 0.5), (15, 0.7)])
    else:
        use(arm, action)
        animation(arm).action = None
    before = turns(range(5, 16))
    assert abs(before["up"][-1].angle - 1.0) < TURN
    files.save_file(tmp_path / f"out{suffix}")
    files.open_file(tmp_path / f"out{suffix}")
    assert furthest(before, turns(range(5, 16))) < 5 * TURN  # FBX has Euler angles of float32 matrices


def test_a_clip_with_keys_of_ik_stays_out_and_that_is_said(blank: None, extension: ModuleType, tmp_path: Path) -> None:
    arm = walk_and_run()
    run = bpy.data.actions["Run"]
    begin(arm, "Solved")
    swing(arm, "up", [(1, 0.0), (11, 1.0)])
    rigs.key_setting(rigs.bone(arm, "lo"), "weight", 1, 1.0)
    use(arm, run)
    assert files.save_file(tmp_path / "out.glb") == "1 other action is not in out.glb: 'Solved'"
    files.open_file(tmp_path / "out.glb")
    assert list(tracks()) == ["Run", "Walk"]


def test_what_a_bvh_has_no_room_for_is_said(blank: None, tmp_path: Path) -> None:
    arm = walk_and_run()
    begin(arm, "Sit")
    swing(arm, "up", [(1, 0.2), (4, 0.3)])
    assert files.save_file(tmp_path / "out.bvh") == "2 other actions are not in out.bvh: 'Run', 'Walk'"
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    walk_and_run()
    assert files.save_file(tmp_path / "out.blend") == ""


def two_clips_of_a_node(folder: Path, suffix: str) -> Path:
    """A node at (1, 2, 3): First moves it along X, Second turns it and has no keys of its place."""
    half = math.sqrt(0.5)
    rows = {
        "SCALAR": [0.5, 1.0],
        "VEC3": [5.0, 2.0, 3.0, 9.0, 2.0, 3.0],
        "VEC4": [0.0, 0.0, 0.0, 1.0, 0.0, half, 0.0, half],
    }
    data, views, accessors = b"", [], []
    for kind, values in rows.items():
        floats = struct.pack(f"<{len(values)}f", *values)
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(floats)})
        accessors.append({"bufferView": len(views) - 1, "componentType": 5126, "count": 2, "type": kind})
        data += floats
    accessors[0] |= {"min": [0.5], "max": [1.0]}
    clips_made = [
        {
            "name": name,
            "samplers": [{"input": 0, "output": output}],
            "channels": [{"sampler": 0, "target": {"node": 0, "path": path}}],
        }
        for name, output, path in (("First", 1, "translation"), ("Second", 2, "rotation"))
    ]
    document: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "Node", "translation": [1.0, 2.0, 3.0]}],
        "buffers": [{"byteLength": len(data)}],
        "bufferViews": views,
        "accessors": accessors,
        "animations": clips_made,
    }
    path = folder / f"in a folder{suffix}"
    if suffix == ".gltf":
        document["buffers"][0]["uri"] = "its%20bytes.bin"
        (folder / "its bytes.bin").write_bytes(data)
        path.write_text(json.dumps(document))
        return path
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    return path


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_what_a_clip_does_not_move_stands_where_its_node_does(blank: None, tmp_path: Path, suffix: str) -> None:
    path = two_clips_of_a_node(tmp_path, suffix)
    there = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    files.open_file(path)
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == there
    node = bpy.data.objects["Node"]
    for name, x in (("First", 9.0), ("Second", 1.0)):
        strip = next(track.strips[0] for track in animation(node).nla_tracks if track.name == name)
        animation(node).action = strip.action
        if HAS_SLOTS:
            animation(node).action_slot = strip.action_slot
        bpy.context.scene.frame_set(24)
        assert tuple(node.location) == pytest.approx((x, -3.0, 2.0), abs=1e-6)


def test_an_action_of_another_thing_is_no_clip(blank: None, tmp_path: Path) -> None:
    arm = rigs.rig("L2B")
    begin(arm, "Mine")
    swing(arm, "up", [(1, 0.0), (11, 1.0)])
    target = rigs.empty("Target", (0, 0, 1))
    target.limb_ik.is_control = True
    begin(target, "Reach")
    rigs.key_location(target, 1)
    other = rigs.rig("C3", "Other")
    begin(other, "Theirs")
    swing(other, other.pose.bones[0].name, [(1, 0.0), (4, 1.0)])
    assert [row["name"] for row in clips.rows_of(arm)] == ["Mine"]
    bpy.data.objects.remove(other)
    files.save_file(tmp_path / "out.glb")
    files.open_file(tmp_path / "out.glb")
    assert list(tracks()) == ["Mine"]
    assert "Target" not in bpy.data.objects


def test_an_action_left_for_another_keeps_what_only_that_one_moves(blank: None) -> None:
    """Run has no keys of the bone 'lo', which Walk moves."""
    arm = walk_and_run()
    bpy.context.scene.frame_set(1)
    part = clips.part_named(arm, "Walk")
    assert part is not None
    still_channels.use(part)
    assert animation(arm).action.name == "Walk"
    bpy.context.scene.frame_set(20)
    use(arm, bpy.data.actions["Run"])
    bpy.context.scene.frame_set(5)
    assert rigs.rotation_distance(rigs.read_rotation(rigs.bone(arm, "lo")), Quaternion()) < TURN


def test_an_armature_that_was_still_takes_an_action(blank: None) -> None:
    arm = walk_and_run()
    arm.animation_data_clear()
    part = clips.part_named(arm, "Walk")
    assert part is not None
    still_channels.use(part)
    assert clips.rows_of(arm) == [
        {"name": "Walk", "frames": (1, 30), "plays": True},
        {"name": "Run", "frames": (1, 11), "plays": False},
    ]
    assert clips.part_named(arm, "Nope") is None


def test_a_named_action_is_baked_and_the_one_that_played_stays(
    blank: None, extension: ModuleType, tmp_path: Path
) -> None:
    """The target is off the motion: Walk comes out with IK, Run without."""
    arm = walk_and_run()
    animation(arm).action.use_fake_user = False
    run_before = turns(range(1, 12))
    files.save_file(tmp_path / "in.blend")
    assert cli.main(["add", str(tmp_path / "in.blend"), "-o", str(tmp_path / "rig.blend"), "--chain", "up:lo"]) == 0
    files.open_file(tmp_path / "rig.blend")
    lo: Any = rigs.bone(files.armatures()[0], "lo")
    lo.limb_ik_target.location.x += 0.4
    files.save_file(tmp_path / "rig.blend")
    for suffix in (".blend", ".glb"):
        out = tmp_path / f"out{suffix}"
        assert cli.main(["bake", str(tmp_path / "rig.blend"), "-o", str(out), "--action", "Walk"]) == 0
        files.open_file(out)
        rows = clips.rows_of(files.armatures()[0])
        assert [(row["name"], row["frames"], row["plays"]) for row in rows] == [
            ("Walk", (1, 30), True),
            ("Run", (1, 11), False),
        ]
    play("Run")
    assert furthest(run_before, turns(range(1, 12))) < TURN
    heads = []
    for name in ("Walk", "Run"):
        play(name)
        bpy.context.scene.frame_set(1)
        heads.append(rigs.evaluated(files.armatures()[0]).pose.bones["hand"].head.x)
    assert abs(heads[0]) > 0.1 > abs(heads[1])


def test_bake_says_what_it_leaves_out(
    blank: None, extension: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    walk_and_run()
    files.save_file(tmp_path / "in.blend")
    assert cli.main(["add", str(tmp_path / "in.blend"), "-o", str(tmp_path / "rig.blend"), "--chain", "up:lo"]) == 0
    capfd.readouterr()
    assert cli.main(["bake", str(tmp_path / "rig.blend"), "-o", str(tmp_path / "out.bvh")]) == 0
    assert capfd.readouterr().out.endswith("; 1 other action is not in out.bvh: 'Walk'\n")


def test_plant_says_what_it_leaves_out(
    blank: None, extension: ModuleType, data_dir: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["plant", str(data_dir / "gltf" / "Fox.glb"), "-o", str(tmp_path / "fox.bvh")]) == 0
    assert "\n2 other actions are not in fox.bvh: 'Walk', 'Run'\n" in capfd.readouterr().out


def test_inspect_lists_clips(
    blank: None, extension: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    walk_and_run()
    files.save_file(tmp_path / "in.blend")
    assert cli.main(["inspect", str(tmp_path / "in.blend")]) == 0
    (found,) = json.loads(capfd.readouterr().out)["armatures"]
    assert found["clips"] == [
        {"name": "Run", "frames": [1, 11], "plays": True},
        {"name": "Walk", "frames": [1, 30], "plays": False},
    ]


@pytest.mark.parametrize(("name", "count"), [("RobotExpressive", 14), ("Fox", 3), ("CesiumMan", 1)])
def test_clips_of_a_real_file_go_through_ik_and_a_bake(
    blank: None, extension: ModuleType, data_dir: Path, tmp_path: Path, name: str, count: int
) -> None:
    source, rig, out = data_dir / "gltf" / f"{name}.glb", tmp_path / "rig.blend", tmp_path / "out.glb"
    files.open_file(source)
    names = list(tracks())
    joints = [bone.name for bone in files.armatures()[0].pose.bones]
    last = [names[-1], tuple(map(int, tracks()[names[-1]].action.frame_range))]
    play(last[0])
    before = turns(range(last[1][0], last[1][1] + 1), joints)
    assert cli.main(["add", str(source), "-o", str(rig)]) == 0
    assert cli.main(["bake", str(rig), "-o", str(out)]) == 0
    files.open_file(out)
    assert (list(tracks()), len(names)) == (names, count)
    play(last[0])
    assert furthest(before, turns(range(last[1][0], last[1][1] + 1), joints)) < TURN
