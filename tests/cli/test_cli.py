"""The command line: results on stdout, one sentence on stderr, whole files or none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest
from limb_ik.cli import entry as cli
from limb_ik.cli import guard
from limb_ik.cli import jobs as cli_jobs
from limb_ik.files import opening as files
from limb_ik.rig.setting_up import setup
from mathutils import Quaternion

import children
import rigs

FK_KEPT = 1e-4
"""Radians: what the design allows for a pose that went through keys."""
PROCESS_SECONDS = 60

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(blank: None, extension: ModuleType, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process; exit status, stdout, stderr."""

    def command(*words: object) -> tuple[int, str, str]:
        capfd.readouterr()
        status = cli.main([str(word) for word in words])
        out, err = capfd.readouterr()
        return status, out, err

    return command


def run_process(*words: object) -> subprocess.CompletedProcess[str]:
    """Runs a command the way ``limb-ik`` does, in a process of its own."""
    program = [sys.executable, "-c", cli_jobs.WHEEL_CHILD, "limb_ik", str(cli_jobs.FOLDER), *map(str, words)]
    # bpy names its own colour configuration in this process's environment; 5.3 prints it in a child that finds it.
    environment = {name: value for name, value in os.environ.items() if name != "OCIO"}
    return subprocess.run(
        program, capture_output=True, text=True, timeout=PROCESS_SECONDS, check=False, env=environment
    )


def refused(result: tuple[int, str, str], *parts: str) -> None:
    status, out, err = result
    assert (status, out) == (1, "")
    assert err.startswith("limb-ik: ")
    assert err.count("\n") == 1, err
    for part in parts:
        assert part in err


def saved_rig(path: Path, **settings: Any) -> Path:
    """L2B with a target on its end that moves over frames 1 to 10, and a chain."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    arm = rigs.rig("L2B")
    target = rigs.empty("T", (0, -0.4, 1.4))
    rigs.key_location(target, 1)
    rigs.key_location(target, 10, (0, -0.8, 1.0))
    rigs.add_chain_by_properties(arm, "lo", target, rigs.empty("P", (0, 3, 0.8)), end_bone="hand", **settings)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    rigs.update()
    files.save_file(path)
    return path


def give_driver(path: Path, name: str, channel: str, index: int, expression: str, is_hidden: bool = False) -> None:
    """Puts a driver onto an object of a saved file, in another process: a failed one makes Blender 4.5 hang at exit."""
    code = f"""
import bpy, os
bpy.ops.wm.open_mainfile(filepath={str(path)!r}, use_scripts=True)
obj = bpy.data.objects[{name!r}]
obj.animation_data_clear()
obj.driver_add({channel!r}, {index}).driver.expression = {expression!r}
obj.hide_viewport = {is_hidden}
bpy.ops.wm.save_mainfile()
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=PROCESS_SECONDS, check=True)


def rotations(frames: Iterable[int]) -> dict[tuple[int, str], Quaternion]:
    """World rotations of all bones of the only armature."""
    obj = files.armatures()[0]
    found = {}
    for frame in frames:
        rigs.frame_set(frame)
        found |= {(frame, name): pose.rotation for name, pose in rigs.evaluated_pose(obj).items()}
    return found


# Inspect


@children.NEEDS_PACKAGE
@pytest.mark.parametrize("source", ["bvh/makehuman_walk1.bvh", "gltf/RobotExpressive.glb", "rigs/mpfb_default.blend"])
def test_inspect_prints_limbs_as_json(run: Run, data_dir: Path, source: str) -> None:
    status, out, err = run("inspect", data_dir / source)
    assert (status, err) == (0, "")
    known = json.loads((data_dir / "limbs.json").read_text())[source]["armatures"][0]
    (found,) = json.loads(out)["armatures"]
    assert (found["name"], found["bones"], found["chains"]) == (known["armature"], known["bones"], [])
    names = ("kind", "side", "upper", "lower", "end", "between_upper_lower", "between_lower_end")
    limbs = {tuple(str(limb[name]) for name in names) for limb in found["limbs"]}
    assert limbs == {tuple(str(limb[name]) for name in names) for limb in known["limbs"]}


def test_inspect_prints_chains_with_their_status(run: Run, tmp_path: Path) -> None:
    saved_rig(tmp_path / "in.blend", softness=0.1)
    status, out, _ = run("inspect", tmp_path / "in.blend")
    (chain,) = json.loads(out)["armatures"][0]["chains"]
    assert status == 0
    assert (chain["tip"], chain["root"], chain["solver"], chain["status"]) == ("lo", "up", "TWO_BONE", "REACHED")
    assert (chain["target"], chain["pole"], chain["end_bone"]) == ("T", "P", "hand")
    assert chain["softness"] == pytest.approx(0.1)


def test_a_file_without_an_armature_is_refused(run: Run, data_dir: Path) -> None:
    refused(run("inspect", data_dir / "gltf" / "three-vrm_test.vrma"), "has no armature")


def put_aside(path: Path, how: str) -> None:
    """The rig and its target in another scene, in none, or in a collection that only an instance shows."""
    objects, scene = [bpy.data.objects["Rig"], bpy.data.objects["T"]], bpy.context.scene
    aside = bpy.data.collections.new("Aside")
    for obj in objects:
        obj.use_fake_user = True
        aside.objects.link(obj)
        scene.collection.objects.unlink(obj)
    if how == "Other":
        bpy.data.scenes.new("Other").collection.children.link(aside)
    if how == "instance":
        instance = rigs.empty("Instance")
        instance.instance_type, instance.instance_collection = 'COLLECTION', aside
    files.save_file(path)


@pytest.mark.parametrize("command", ["inspect", "bake"])
@pytest.mark.parametrize(("how", "said"), [("Other", "'Rig' is in 'Other'"), ("none", "'Rig' is in no scene")])
def test_where_armatures_are_that_the_scene_does_not_have_is_said(
    run: Run, tmp_path: Path, command: str, how: str, said: str
) -> None:
    source = saved_rig(tmp_path / "in.blend")
    put_aside(source, how)
    out = ["-o", tmp_path / "out.blend"] if command == "bake" else []
    refused(run(command, source, *out), f"in.blend has no armature in its scene 'Scene': {said}")


@pytest.mark.parametrize("how", ["instance", "edit mode"])
def test_a_rig_that_only_an_instance_shows_or_in_edit_mode_is_baked(run: Run, tmp_path: Path, how: str) -> None:
    source, baked = saved_rig(tmp_path / "in.blend"), tmp_path / "out.blend"
    expected = rotations((3, 8))
    if how == "instance":
        put_aside(source, how)
    else:
        bpy.context.view_layer.objects.active = bpy.data.objects["Rig"]
        bpy.ops.object.mode_set(mode='EDIT')
        files.save_file(source)
    assert json.loads(run("inspect", source)[1])["armatures"][0]["chains"][0]["status"] == "REACHED"
    assert run("bake", source, "-o", baked, "--frames", "1:10")[0] == 0
    bpy.ops.wm.open_mainfile(filepath=str(baked))
    assert rigs.bone(bpy.data.objects["Rig"], "lo").limb_ik_mute
    found = rotations((3, 8))
    assert max(rigs.rotation_distance(found[key], expected[key]) for key in expected) <= FK_KEPT


def test_armatures_of_other_scenes_are_named(run: Run, tmp_path: Path) -> None:
    saved_rig(tmp_path / "in.blend")
    other = rigs.l2b("Other")
    rigs.add_chain_by_properties(other, "lo", rigs.empty("T other", (0, -0.4, 1.4)))
    for obj in (other, bpy.data.objects["T other"]):
        bpy.context.scene.collection.objects.unlink(obj)
    second = bpy.data.scenes.new("Second")
    second.collection.objects.link(other)
    files.save_file(tmp_path / "in.blend")
    assert json.loads(run("inspect", tmp_path / "in.blend")[1])["elsewhere"] == {"Other": "'Second'"}
    words = ("bake", tmp_path / "in.blend", "-o", tmp_path / "out.blend")
    assert "'Other' in scene 'Second' stays as it is" in run(*words)[1]
    assert "Other" not in run(*words, "--armature", "Rig")[1]
    refused(run(*words, "--armature", "Other"), "'Other' is in 'Second', and the file shows 'Scene'\n")


# Add


def test_ik_is_added_and_baked_and_the_capture_is_what_it_was(run: Run, data_dir: Path, tmp_path: Path) -> None:
    source = data_dir / "bvh" / "olafhaag_walk01.bvh"
    frames = (1, 2, 50, 101)
    files.open_file(source)
    before = rotations(frames)
    status, out, _ = run("add", source, "-o", tmp_path / "rig.blend")
    assert status == 0
    assert "LeftForeArm" in out
    status, out, _ = run("bake", tmp_path / "rig.blend", "-o", tmp_path / "out.bvh", "--report", tmp_path / "r.json")
    assert status == 0
    assert "Baked 4 chains over 101 frames" in out
    files.open_file(tmp_path / "out.bvh")
    after = rotations(frames)
    assert max(rigs.rotation_distance(before[key], after[key]) for key in before) < FK_KEPT
    (entry,) = json.loads((tmp_path / "r.json").read_text())["files"]
    assert (entry["status"], entry["bake"]["chains"], entry["bake"]["frames"]) == ("done", 4, 101)


def test_add_takes_the_limbs_that_are_asked_for(run: Run, data_dir: Path, tmp_path: Path) -> None:
    status, _, _ = run("add", data_dir / "rigs" / "mpfb_mixamo.blend", "-o", tmp_path / "out.blend", "--limbs", "legs")
    assert status == 0
    tips = [chain["tip"] for chain in json.loads(run("inspect", tmp_path / "out.blend")[1])["armatures"][0]["chains"]]
    assert sorted(tips) == ["mixamorig:LeftLeg", "mixamorig:RightLeg"]


@pytest.mark.parametrize(
    ("chain", "solver", "length"),
    [("upperarm_l:lowerarm_l:hand_l", "TWO_BONE", 2), ("spine_01:spine_03", "FABRIK", 3), ("head:head", "LOOK_AT", 1)],
)
def test_a_chain_is_named_by_its_bones(
    run: Run, data_dir: Path, tmp_path: Path, chain: str, solver: str, length: int
) -> None:
    status, _, err = run("add", data_dir / "rigs/mpfb_game_engine.blend", "-o", tmp_path / "o.blend", "--chain", chain)
    assert (status, err) == (0, "")
    (found,) = json.loads(run("inspect", tmp_path / "o.blend")[1])["armatures"][0]["chains"]
    root, tip, *end = chain.split(":")
    assert (found["root"], found["tip"], found["chain_length"]) == (root, tip, length)
    assert found["solver"] == solver
    assert not end or found["end_bone"] == end[0]


def test_a_set_up_goes_from_one_rig_to_another(run: Run, data_dir: Path, tmp_path: Path) -> None:
    rig = data_dir / "rigs" / "mpfb_mixamo.blend"
    run("add", rig, "-o", tmp_path / "a.blend", "--limbs", "legs")
    setup = json.loads(run("inspect", tmp_path / "a.blend")[1])
    for chain in setup["armatures"][0]["chains"]:
        chain["softness"] = 0.05
        chain["joints"] = {chain["tip"]: {"joint_kind": "HINGE", "joint_min_angle": 0.1}}
    (tmp_path / "setup.json").write_text(json.dumps(setup))
    assert run("add", rig, "-o", tmp_path / "b.blend", "--setup", tmp_path / "setup.json")[0] == 0
    found = json.loads(run("inspect", tmp_path / "b.blend")[1])["armatures"][0]["chains"]
    assert sorted(chain["tip"] for chain in found) == ["mixamorig:LeftLeg", "mixamorig:RightLeg"]
    for chain in found:
        assert chain["softness"] == pytest.approx(0.05)
        assert chain["joints"][chain["tip"]]["joint_kind"] == "HINGE"
        assert chain["joints"][chain["tip"]]["joint_min_angle"] == pytest.approx(0.1)


ADD_REFUSALS = {
    "no such bone": (["--chain", "LeftArm:LeftForArm"], "no bone 'LeftForArm'; did you mean 'LeftForeArm'?"),
    "no such end": (["--chain", "LeftArm:LeftForeArm:Paw"], "no bone 'Paw'"),
    "turned round": (["--chain", "LeftForeArm:LeftArm"], "'LeftArm' is not below 'LeftForeArm'"),
    "other branch": (["--chain", "LeftArm:RightForeArm"], "'RightForeArm' is not below 'LeftArm'"),
    "no such armature": (["--armature", "Nobody"], "no armature is named 'Nobody': there is olafhaag_walk01"),
    "no such set-up": (["--setup", "nowhere.json"], "nowhere.json can't be read"),
}


@pytest.mark.parametrize("case", ADD_REFUSALS)
def test_add_refuses_and_writes_nothing(run: Run, data_dir: Path, tmp_path: Path, case: str) -> None:
    words, reason = ADD_REFUSALS[case]
    refused(run("add", data_dir / "bvh/olafhaag_walk01.bvh", "-o", tmp_path / "out.blend", *words), reason)
    assert not list(tmp_path.iterdir())


def test_chains_live_in_blend_only(run: Run, data_dir: Path, tmp_path: Path) -> None:
    refused(run("add", data_dir / "bvh/olafhaag_walk01.bvh", "-o", tmp_path / "out.bvh"), "it has to be a .blend")


def test_a_rig_without_limbs_is_refused(run: Run, tmp_path: Path) -> None:
    rigs.rig("C6")
    files.save_file(tmp_path / "in.blend")
    refused(run("add", tmp_path / "in.blend", "-o", tmp_path / "out.blend"), "no arm or leg found in Rig")


def test_a_collapsed_limb_is_refused(run: Run, data_dir: Path, tmp_path: Path) -> None:
    """The capture keys all bones into one point."""
    refused(run("add", data_dir / "bvh" / "makehuman_tpose.bvh", "-o", tmp_path / "out.blend"), "collapsed")
    assert not (tmp_path / "out.blend").exists()


def chain_text(**settings: Any) -> str:
    """A set-up of one chain, as JSON."""
    return json.dumps({"armatures": [{"chains": [{"tip": "a", "root": "b", "solver": "LEG", **settings}]}]})


NO_SETUPS = {
    "{": "it is no JSON",
    "": "it is no JSON",
    "[]": "an object with 'armatures' is expected, and there is a list",
    "{}": "'armatures' is missing",
    '{"armatures": {}}': "'armatures' has to be a list, and is an object",
    '{"armatures": [7]}': "an object with 'name' is expected, and there is 7",
    '{"armatures": [{"chains": [{}]}]}': "'tip' is missing",
    '{"armatures": [{"chains": [{"tip": "a", "root": null}]}]}': "'root' has to be text, and is null",
    '{"armatures": [{"chains": [{"tip": "a", "root": "b", "solver": "FAST"}]}]}': "'FAST' is no 'solver'",
    '{"armatures": [{"chains": [{"tip": "a", "root": "b", "solver": "NONE"}]}]}': "'NONE' is no 'solver'",
    '{"armatures": [{"chains": [{"tip": "a", "weight": NaN}]}]}': "NaN is no number",
    '{"armatures": [{"chains": [{"tip": "a", "weight": -Infinity}]}]}': "-Infinity is no number",
    '{"armatures": [{"chains": [{"tip": "a", "weight": 1e400}]}]}': "1e400 is no number",
    json.dumps({"armatures": [{"chains": [{"tip": "a", "root": "b", "solver": "LEG"}] * 2}]}): "'a' has two chains",
    chain_text(weigth=1.0): "'weigth' is no setting of a chain: is weight meant?",
    chain_text(joints={"b": {"max_angle": 1.0}}): "'max_angle' is no setting of a joint: is joint_max_angle meant?",
}


@pytest.mark.parametrize("text", NO_SETUPS)
def test_what_is_no_set_up_is_refused(run: Run, data_dir: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "s.json").write_text(text)
    words = ("add", data_dir / "rigs/mpfb_mixamo.blend", "-o", tmp_path / "o.blend", "--setup", tmp_path / "s.json")
    refused(run(*words), f"s.json is not what inspect prints: {NO_SETUPS[text]}\n")


# Bake


def test_a_bake_reaches_the_target_on_every_frame(run: Run, tmp_path: Path) -> None:
    saved_rig(tmp_path / "in.blend")
    status, out, err = run("bake", tmp_path / "in.blend", "-o", tmp_path / "out.blend", "--after", "remove")
    assert (status, err) == (0, "")
    assert "Baked 1 chain over 10 frames" in out
    files.open_file(tmp_path / "out.blend")
    for frame in range(1, 11):
        rigs.frame_set(frame)
        assert rigs.tip_error(bpy.data.objects["Rig"], "lo", bpy.data.objects["T"], "hand") < 1e-5
    assert bpy.data.objects["Rig"].pose.bones["lo"].limb_ik_solver == 'NONE'


def test_the_input_is_overwritten_only_where_it_is_named(run: Run, tmp_path: Path) -> None:
    path = saved_rig(tmp_path / "in.blend")
    before = path.read_bytes()
    assert run("bake", path, "-o", tmp_path / "out.blend")[0] == 0
    assert path.read_bytes() == before
    refused(run("bake", path, "-o", tmp_path), "is an input, which would be overwritten")
    assert path.read_bytes() == before
    assert run("bake", path, "-o", path)[0] == 0
    assert path.read_bytes() != before


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--frames", "20:10"], "--frames 20:10 is empty"),
        (["--frames", "500:600"], "--frames 500:600 is outside the animation, which has 1:10"),
        (["--frames", "-20:-10"], "--frames -20:-10 is outside"),
        (["--action", "Nope"], "no action is named 'Nope'"),
    ],
)
def test_bake_refuses_and_writes_nothing(run: Run, tmp_path: Path, words: list[str], reason: str) -> None:
    path = saved_rig(tmp_path / "in.blend")
    refused(run("bake", path, "-o", tmp_path / "out.blend", *words), reason)
    assert [found.name for found in tmp_path.iterdir()] == ["in.blend"]


def test_bake_takes_part_of_the_range(run: Run, tmp_path: Path) -> None:
    path = saved_rig(tmp_path / "in.blend")
    assert "over 3 frames" in run("bake", path, "-o", tmp_path / "a.blend", "--frames", "2:4")[1]
    assert "over 5 frames" in run("bake", path, "-o", tmp_path / "b.blend", "--step", "2", "--frames", "1:9")[1]


def test_the_range_is_an_actions_manual_one_and_others_that_are_keyed_are_taken(run: Run, tmp_path: Path) -> None:
    path = saved_rig(tmp_path / "in.blend")
    obj = files.armatures()[0]
    for frame in (1, 30):
        rigs.key_rotation(rigs.bone(obj, "up"), frame)
    action = obj.animation_data.action
    action.use_frame_range = True
    action.frame_start, action.frame_end = 5.0, 8.0
    files.save_file(path)
    assert "over 4 frames" in run("bake", path, "-o", tmp_path / "a.blend")[1]
    assert "over 3 frames" in run("bake", path, "-o", tmp_path / "b.blend", "--frames", "20:22")[1]
    refused(run("bake", path, "-o", tmp_path / "c.blend", "--frames", "31:32"), "outside the animation, which has 1:30")


def test_a_range_that_is_the_scenes_is_said(run: Run, data_dir: Path, tmp_path: Path) -> None:
    path = saved_rig(tmp_path / "in.blend")
    said = run("bake", path, "-o", tmp_path / "out.blend")[1]
    assert "the armature has no animation: baked the scene's frames 1 to 10" in said
    assert "the scene's" not in run("bake", path, "-o", tmp_path / "out.blend", "--frames", "1:10")[1]
    path = saved_rig(tmp_path / "keyed.blend")
    for frame in (2, 5):
        rigs.key_location(bpy.data.objects["Rig"], frame)
    files.save_file(path)
    said = run("bake", path, "-o", tmp_path / "out.blend")[1]
    assert "over 4 frames" in said and "the scene's" not in said


def test_a_linked_rig_beside_others_is_left_and_named(run: Run, tmp_path: Path) -> None:
    """Alone it is refused: IK is never live on linked data."""
    library = saved_rig(tmp_path / "library.blend")
    shots = {}
    for has_own in (False, True):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        if has_own:
            arm = rigs.l2b("Own", location=(3, 0, 0))
            rigs.add_chain_by_properties(arm, "lo", rigs.empty("T own", (3.6, -0.4, 1.2)))
        with bpy.data.libraries.load(str(library), link=True) as (source, wanted):
            wanted.objects = source.objects
        for obj in wanted.objects:
            bpy.context.collection.objects.link(obj)
        shots[has_own] = tmp_path / f"shot {has_own}.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(shots[has_own]))
    refused(run("bake", shots[False], "-o", tmp_path / "out.blend"), "is linked")
    status, out, _ = run("bake", shots[True], "-o", tmp_path / "out.blend")
    assert status == 0
    assert "is linked and stays as it is" in out


def test_what_is_baked_already_is_said_once(run: Run, tmp_path: Path) -> None:
    path = saved_rig(tmp_path / "in.blend")
    other = rigs.l2b("Other", location=(3, 0, 0))
    rigs.add_chain_by_properties(other, "lo", rigs.empty("T other", (3.6, -0.4, 1.2)))
    files.save_file(path)
    assert run("bake", path, "-o", tmp_path / "out.blend")[0] == 0
    again = run("bake", tmp_path / "out.blend", "-o", tmp_path / "again.blend")
    refused(again, "nothing to bake: every chain is muted, as a bake leaves them\n")


def test_a_part_that_is_missing_is_said_to_be(run: Run, tmp_path: Path) -> None:
    path = saved_rig(tmp_path / "in.blend")
    words = ("bake", path, "-o", tmp_path / "out.blend", "--join")
    refused(run(*words, tmp_path / "p.json"), "p.json can't be read: No such file or directory\n")
    (tmp_path / "p.json").write_text("{")
    refused(run(*words, tmp_path / "p.json"), "p.json is no part of a bake: it is damaged or of another kind\n")


def test_one_frame_is_a_range(run: Run, tmp_path: Path) -> None:
    path = saved_rig(tmp_path / "in.blend")
    assert "over 1 frame:" in run("bake", path, "-o", tmp_path / "out.blend", "--frames", "4")[1]
    helped = " ".join(run("bake", "--help")[1].split())
    assert "--frames A:B or one frame" in helped
    assert "joints of chains are off by this at most" in helped


def test_a_rig_without_chains_is_not_baked(run: Run, data_dir: Path, tmp_path: Path) -> None:
    refused(run("bake", data_dir / "bvh/makehuman_walk1.bvh", "-o", tmp_path / "o.bvh"), "has no IK chain to bake")


USAGE = [
    [],
    ["fly"],
    ["inspect"],
    ["bake", "in.blend"],
    ["bake", "in.blend", "-o", "out.blend", "--step", "0"],
    ["bake", "in.blend", "-o", "out.blend", "--frames", "a:b"],
    ["bake", "in.blend", "-o", "out.blend", "--reduce", "-1"],
    ["bake", "in.blend", "-o", "out.blend", "--jobs", "none"],
    ["bake", "in.blend", "-o", "out.blend", "--after", "never"],
    ["add", "in.blend", "-o", "out.blend", "--limbs", "wings"],
    ["add", "in.blend", "-o", "out.blend", "--chain", "one"],
    ["add", "in.blend", "-o", "out.blend", "--chain", "a:b:c:d"],
    ["add", "in.blend", "-o", "out.blend", "--limbs", "arms", "--chain", "a:b"],
    ["add", "in.blend", "-o", "out.blend", "--solver", "leg"],
    ["add", "in.blend", "-o", "out.blend", "--setup", "s.json", "--solver", "fabrik"],
    ["demo", "--scene", "tail", "--stairs"],
    ["demo", "--scene", "walk", "--stairs"],
    ["plant", "in.blend", "-o", "out.blend", "--slope", "1"],
    ["plant", "in.blend", "-o", "out.blend", "--floor", "0"],
    ["plant", "in.blend", "-o", "out.blend", "--keep-hips"],
    ["plant", "in.blend", "-o", "out.blend", "--ground", "Floor", "--floor", "nan"],
    ["plant", "in.blend", "-o", "out.blend", "--ground", "Floor", "--hands"],
    ["bake", "a.blend", "b.blend", "-o", "out", "--join", "p.json"],
    ["bake", "a.blend", "b.blend", "-o", "p.json", "--part", "1/2"],
    ["bake", "a.blend", "-o", "p.json", "--part", "1/2", "--resume"],
    ["bake", "a.blend", "-o", "p.json", "--part", "1/2", "--report", "r.json"],
    ["bake", "a.blend", "-o", "p.json", "--part", "1/2", "--join", "p.json"],
    ["bake", "a.blend", "-o", "p.json", "--part", "1/2", "--format", "glb"],
    ["bake", "a.blend", "-o", "out", "--format", "vrm"],
    ["bake", "a.blend", "-o", "out.glb", "--format", "fbx"],
]


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_usage_is_status_2_and_on_stderr(run: Run, words: list[str]) -> None:
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert err.startswith("usage: ")
    assert "error: " in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["bake", "in.blend", "-o", "out.blend", "--after", "Foo"], "'Foo' (choose from mute, remove, keep)"),
        (["add", "in.blend", "-o", "out.blend", "--motion", "fok"], "'fok' (choose from auto, fk, keys, still)"),
        (
            ["add", "in.blend", "-o", "out.blend", "--solver", "fab"],
            "'fab' (choose from two_bone, leg, fabrik, look_at)",
        ),
    ],
)
def test_an_invalid_choice_is_said_as_it_was_typed(run: Run, words: list[str], reason: str) -> None:
    status, _, err = run(*words)
    assert status == 2
    assert f"invalid choice: {reason}" in err


@pytest.mark.parametrize("command", ["", "inspect", "add", "bake", "demo"])
def test_help_is_a_result(run: Run, command: str) -> None:
    status, out, err = run(*filter(None, [command]), "--help")
    assert (status, err) == (0, "")
    assert out.startswith("usage: limb-ik")


@pytest.mark.parametrize("kind", ["EMPTY", "BONE"])
def test_other_formats_hold_the_rig_and_none_of_its_controls(run: Run, tmp_path: Path, kind: str) -> None:
    arm = rigs.rig("L2B")
    rigs.key_rotation(rigs.turn(arm, "up", "X", 0.3), 1)
    setup.add_chain(bpy.context, arm, setup.ChainPlan("lo", end_bone="hand", target_kind=kind))
    assert len(bpy.context.scene.objects) + len(arm.pose.bones) == 1 + 3 + 2
    files.save_file(tmp_path / "in.blend")
    assert run("bake", tmp_path / "in.blend", "-o", tmp_path / "out.glb", "--frames", "1:2")[0] == 0
    files.open_file(tmp_path / "out.glb")
    assert [obj.type for obj in bpy.data.objects] == ['ARMATURE']
    assert sorted(bpy.data.objects[0].pose.bones.keys()) == ["hand", "lo", "up"]


def test_a_fault_of_ours_is_told_in_full_and_has_a_status(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cli.setup, "inspect", lambda *_, **__: 1 // 0)
    status, out, _ = run("inspect", tmp_path)
    assert (status, out) == (1, "")
    assert "ZeroDivisionError" in caplog.text


# Many files


@children.NEEDS_PACKAGE
def test_one_bad_file_costs_the_others_nothing(run: Run, tmp_path: Path) -> None:
    good = [saved_rig(tmp_path / f"{name}.blend") for name in "ab"]
    bad = tmp_path / "bad.blend"
    bad.write_bytes(b"BLENDER, but not really")
    out, report = tmp_path / "out", tmp_path / "report.json"
    words = ("bake", good[0], bad, good[1], "-o", out, "--jobs", "2", "--report", report)
    status, printed, err = run(*words)
    assert status == 1
    assert [line.split(":")[0] for line in printed.splitlines()] == [str(out / "a.blend"), str(out / "b.blend")]
    assert err.startswith(f"limb-ik: failed: {bad} can't be read: ")
    assert [entry["status"] for entry in json.loads(report.read_text())["files"]] == ["done", "failed", "done"]
    assert sorted(path.name for path in out.iterdir()) == ["a.blend", "b.blend"]

    when = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    os.utime(good[1])
    saved_rig(bad)
    assert run(*words, "--resume")[0] == 0
    assert [entry["status"] for entry in json.loads(report.read_text())["files"]] == ["skipped", "done", "done"]
    assert (out / "a.blend").stat().st_mtime_ns == when[out / "a.blend"]
    assert (out / "b.blend").stat().st_mtime_ns > when[out / "b.blend"]


@children.NEEDS_PACKAGE
@pytest.mark.parametrize("count", [1, 2])
def test_a_folder_of_results_has_the_format_that_is_asked_for(run: Run, tmp_path: Path, count: int) -> None:
    shots = [saved_rig(tmp_path / f"shot{number}.blend") for number in range(count)]
    words = ("bake", *shots, "-o", tmp_path / "baked", "--format", "glb", "--frames", "1:3", "--jobs", "2")
    assert run(*words)[0] == 0
    assert sorted(path.name for path in (tmp_path / "baked").iterdir()) == [f"shot{n}.glb" for n in range(count)]
    files.open_file(tmp_path / "baked" / "shot0.glb")
    assert [obj.name for obj in files.armatures()] == ["Rig"]
    assert "there already" in run(*words, "--resume")[1]


def test_another_format_by_its_name_alone_has_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cli_jobs.CHILD_VARIABLE, raising=False)
    for words in (["--format", "glb"], ["--format=FBX"]):
        assert guard.is_needed(["bake", "a.blend", "-o", "out", *words])
    assert not guard.is_needed(["bake", "a.blend", "-o", "out", "--format", "blend"])


@children.NEEDS_PACKAGE
@pytest.mark.parametrize("is_one", [True, False])
def test_the_armature_that_is_named_is_baked_alone(run: Run, tmp_path: Path, is_one: bool) -> None:
    path = saved_rig(tmp_path / "in.blend")
    other = rigs.l2b("--Other", location=(3, 0, 0))
    rigs.add_chain_by_properties(other, "lo", rigs.empty("T other", (3.6, -0.4, 1.2)))
    files.save_file(path)
    shots = [path]
    if not is_one:
        shots.append(tmp_path / "again.blend")
        shots[1].write_bytes(path.read_bytes())
    status, out, err = run("bake", *shots, "-o", tmp_path / "out", "--armature=--Other")
    assert (status, err) == (0, "")
    assert "Baked 1 chain over" in out and "linked" not in out
    files.open_file(tmp_path / "out" / "in.blend")
    muted = {obj.name: obj.pose.bones["lo"].limb_ik_mute for obj in files.armatures()}
    assert muted == {"Rig": False, "--Other": True}
    refused(run("bake", path, "-o", tmp_path / "no.blend", "--armature", "Nobody"), "no armature is named 'Nobody'")


def test_the_armature_that_is_named_is_that_of_a_bvh(run: Run, tmp_path: Path) -> None:
    path = saved_rig(tmp_path / "in.blend")
    rigs.l2b("Other", location=(3, 0, 0))
    files.save_file(path)
    out = tmp_path / "out.bvh"
    said = "a .bvh file holds one armature, and here are 2: name one with --armature"
    refused(run("bake", path, "-o", out, "--frames", "1:3"), said)
    assert run("bake", path, "-o", out, "--frames", "1:3", "--armature", "Rig")[0] == 0
    files.open_file(out)
    assert rigs.bone(files.armatures()[0], "up").head.length < 1.0


def test_a_pattern_of_shots_may_match_one_file(run: Run, tmp_path: Path) -> None:
    """OUT without an extension is a folder for one file as for many, and the report may lie in it."""
    source, folder = saved_rig(tmp_path / "shot.blend"), tmp_path / "baked"
    status, _, err = run("bake", source, "-o", folder, "--report", folder / "report.json")
    assert (status, err.count("Traceback")) == (0, 0)
    assert sorted(path.name for path in folder.iterdir()) == ["report.json", "shot.blend"]
    status, _, _ = run("bake", source, "-o", tmp_path / "one.blend")
    assert status == 0
    assert (tmp_path / "one.blend").is_file()


@pytest.mark.parametrize("out", ["out.blend", "there"])
def test_several_files_go_into_a_folder(run: Run, tmp_path: Path, out: str) -> None:
    (tmp_path / "there").write_text("a file")
    refused(run("bake", "a.blend", "b.blend", "-o", tmp_path / out), "is not a folder, which it has to be for 2 files")


def test_two_files_never_become_one(run: Run, tmp_path: Path) -> None:
    refused(run("bake", "x/a.blend", "y/a.blend", "-o", tmp_path), "two files would be written as")
    refused(run("bake", "x/a.glb", "y/a.vrm", "-o", tmp_path), "two files would be written as")


# A process of its own


@children.NEEDS_PACKAGE
def test_a_process_prints_results_alone_and_ends(data_dir: Path) -> None:
    done = run_process("inspect", data_dir / "gltf" / "CesiumMan.glb")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["armatures"][0]["limbs"]) == 4


@children.NEEDS_PACKAGE
@pytest.mark.parametrize("is_hidden", [False, True])
def test_a_blocked_python_driver_stops_the_bake_and_is_named(run: Run, tmp_path: Path, is_hidden: bool) -> None:
    path = saved_rig(tmp_path / "in.blend")
    give_driver(path, "T", "location", 2, "len(bpy.data.objects) * 0.4", is_hidden)
    done = run_process("bake", path, "-o", tmp_path / "out.blend")
    assert (done.returncode, done.stdout) == (1, "")
    assert "blocked a Python driver" in done.stderr
    assert "T: location[2] = len(bpy.data.objects) * 0.4" in done.stderr
    assert not (tmp_path / "out.blend").exists()
    done = run_process("bake", path, "-o", tmp_path / "out.blend", "--trust")
    assert done.returncode == 0, done.stderr


@children.NEEDS_PACKAGE
def test_a_driver_that_fails_stops_the_bake_though_scripts_may_run(run: Run, tmp_path: Path) -> None:
    """After a failed driver Blender 4.5 hangs at exit; the command ends all the same."""
    path = saved_rig(tmp_path / "in.blend")
    give_driver(path, "T", "location", 1, "no_such_name + 1")
    done = run_process("bake", path, "-o", tmp_path / "out.blend", "--trust")
    assert done.returncode == 1
    assert "a Python driver that the rig needs fails (T: location[1] = no_such_name + 1)" in done.stderr


@children.NEEDS_PACKAGE
@pytest.mark.parametrize(
    ("name", "expression"), [("Far", "len(bpy.data.objects)"), ("T", "frame * 0.01")], ids=["not needed", "simple"]
)
def test_other_drivers_are_no_hindrance(run: Run, tmp_path: Path, name: str, expression: str) -> None:
    path = saved_rig(tmp_path / "in.blend")
    rigs.empty("Far", (9, 9, 9))
    files.save_file(path)
    give_driver(path, name, "location", 2, expression)
    done = run_process("bake", path, "-o", tmp_path / "out.blend")
    assert done.returncode == 0, done.stderr
