"""Damaged and foreign input for everything that reads a file: a result or one sentence, nothing else."""

from __future__ import annotations

import copy
import json
import os
import random
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.bake import parts
from limb_ik.cli import entry as cli
from limb_ik.cli import guard as cli_guard
from limb_ik.cli import jobs as cli_jobs
from limb_ik.cli import setup as cli_setup
from limb_ik.cli import setup_file
from limb_ik.files import formats as file_formats
from limb_ik.files import gltf_rate
from limb_ik.files import opening as files
from limb_ik.rig.errors import LimbIKError

import children
import rigs

SOAK = int(os.environ.get("LIMB_IK_SOAK", "1"))
"""Factor on how many random inputs are tried."""
DEEP = "[" * 100_000
NASTY: tuple[Any, ...] = (
    None,
    "",
    "ζ'\"\\",
    "x" * 300,
    10**30,
    -(10**30),
    1e308,
    float("nan"),
    float("inf"),
    True,
    [],
    {},
    [1],
)

pytestmark = pytest.mark.usefixtures("blank")


def said(words: list[object], capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capfd.readouterr()
    status = cli.main([str(word) for word in words])
    return status, capfd.readouterr().err


def is_answer(status: int, err: str) -> bool:
    """Done without a word, or one sentence."""
    is_sentence = err.startswith("limb-ik: ") and err.count("\n") == 1
    return (status, err) == (0, "") or (status == 1 and is_sentence)


def glb(times: bytes) -> bytes:
    document = json.dumps(
        {
            "animations": [{"samplers": [{"input": 0}]}],
            "accessors": [{"componentType": 5126, "bufferView": 0, "count": len(times) // 4}],
            "bufferViews": [{"buffer": 0}],
            "buffers": [{"byteLength": len(times)}],
        }
    ).encode()
    chunks = struct.pack("<I", len(document)) + b"JSON" + document + struct.pack("<I", len(times)) + b"BIN\0" + times
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0, 1e30])
def test_impossible_times_in_a_gltf_leave_the_rate(tmp_path: Path, seconds: float) -> None:
    path = tmp_path / "in.glb"
    path.write_bytes(glb(struct.pack("<2f", 0.0, seconds)))
    assert gltf_rate.frame_rate(path) in gltf_rate.RATES


@pytest.mark.parametrize("text", [DEEP, '{"animations": 5}', '{"animations": [[]]}', '"text"', "[]"])
def test_any_json_leaves_the_rate(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.gltf"
    path.write_text(text)
    assert gltf_rate.frame_rate(path) == gltf_rate.DEFAULT_RATE


@pytest.mark.parametrize("count", ["two", "2\x00", "-3", "1e3", "²"])
def test_a_frame_count_that_is_none_is_left_to_the_importer(tmp_path: Path, count: str) -> None:
    path = tmp_path / "in.bvh"
    path.write_text(f"MOTION\nFrames: {count}\nFrame Time: 0.1\n1 2\n", encoding="utf-8")
    file_formats._refuse_cut_bvh(path)


@pytest.mark.parametrize("reader", [setup_file.read_setup, parts.from_file], ids=["set-up", "part"])
@pytest.mark.parametrize(
    "text", ["", DEEP, "null", "[]", '{"form": 1}', '{"armatures": [[]]}', '{"form": 1, "frames": 5}']
)
def test_json_that_is_something_else_is_refused(tmp_path: Path, reader: Callable[[Path], object], text: str) -> None:
    path = tmp_path / "in.json"
    path.write_text(text)
    with pytest.raises(LimbIKError, match=r"in\.json"):
        reader(path)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in a JSON value."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def damaged(value: Any, dice: random.Random) -> Any:
    """The value with one thing in it replaced or gone."""
    found = copy.deepcopy(value)
    *way, last = dice.choice(list(places(found)))
    place = found
    for key in way:
        place = place[key]
    if isinstance(place, dict) and dice.random() < 0.2:
        del place[last]
    else:
        place[last] = dice.choice(NASTY)
    return found


def test_damaged_set_ups(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arm = rigs.l2b()
    rig_path, setup_path = tmp_path / "rig.blend", tmp_path / "setup.json"
    files.save_file(rig_path)
    rigs.add_chain_by_properties(
        arm, "lo", rigs.empty("T", (0, -0.4, 1.4)), rigs.empty("P", (0, 3, 0.8)), end_bone="hand"
    )
    arm.pose.bones["lo"].limb_ik_joint_kind = 'HINGE'
    rigs.update()
    setup = {"armatures": [cli_setup._armature(arm)]}
    dice = random.Random(1)
    for _ in range(40 * SOAK):
        value = damaged(setup, dice)
        setup_path.write_text(json.dumps(value), encoding="utf-8")
        status, err = said(["add", rig_path, "--setup", setup_path, "-o", tmp_path / "out.blend"], capfd)
        assert is_answer(status, err), (value, err)


@pytest.mark.parametrize("name", ["bvh/makehuman_tpose.bvh", "gltf/three-vrm_test.vrma", "derived/lib_mixamo.blend"])
def test_cut_files_are_refused_in_one_sentence(
    name: str, data_dir: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = (data_dir / name).read_bytes()
    path = tmp_path / Path(name).name
    for share in (0.0, 0.001, 0.5, 0.9, 0.999):
        path.write_bytes(whole[: int(len(whole) * share)])
        status, err = said(["inspect", path], capfd)
        assert is_answer(status, err), (share, err)
        assert status == 1 or share > 0.5


SIGNALS = {"crash": "os.abort()", "killed": "os.kill(os.getpid(), 9)", "odd status": "os._exit(139)"}


@pytest.mark.parametrize("end", SIGNALS.values(), ids=SIGNALS)
def test_a_crash_in_an_importer_is_a_sentence_and_status_1(
    end: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(cli_jobs.CHILD_VARIABLE, raising=False)
    monkeypatch.setattr(cli_jobs, "child_program", lambda: [sys.executable, "-c", f"import os; {end}"])
    assert cli.command(["inspect", "some/walk.bvh"]) == 1
    err = capfd.readouterr().err
    assert err.startswith("limb-ik: Blender crashed (") and err.endswith(") while it worked on walk.bvh\n"), err


@children.NEEDS_PACKAGE
def test_the_process_that_reads_a_foreign_file_is_another_one(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(cli_jobs.CHILD_VARIABLE, raising=False)
    child = children.command(cli_jobs.WHEEL_CHILD, "limb_ik", str(cli_jobs.FOLDER))
    monkeypatch.setattr(cli_jobs, "child_program", lambda: child)
    arm = rigs.l2b()
    assert cli.command(["inspect", str(data_dir / "bvh" / "makehuman_tpose.bvh")]) == 0
    out = capfd.readouterr().out
    assert len(json.loads(out[out.index("{") :])["armatures"][0]["limbs"]) == 4
    assert bpy.data.objects[:] == [arm]
    assert cli.command(["inspect", "missing.bvh"]) == 1
    assert capfd.readouterr().err == "limb-ik: missing.bvh does not exist\n"
    monkeypatch.setenv(cli_jobs.CHILD_VARIABLE, "1")
    assert not cli_guard.is_needed(["inspect", "missing.bvh"])


@pytest.mark.parametrize("kind", sorted(files.READABLE))
def test_a_file_of_another_kind_is_refused(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for number, content in enumerate((b"", b"\0" * 5000, b"PK\x03\x04" + bytes(range(256)) * 20, b"<html>no</html>\n")):
        path = tmp_path / f"in{number}{kind}"
        path.write_bytes(content)
        status, err = said(["inspect", path], capfd)
        assert status == 1 and is_answer(status, err), (content[:9], err)


@pytest.mark.parametrize("frames", ["0:99999999999999", "-99999999999999:1", "1048576:1048577", "1:99999999"])
def test_frames_that_no_file_holds_are_refused(frames: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arm = rigs.l2b()
    rigs.add_chain_by_properties(arm, "lo", rigs.empty("T", (0, -0.4, 1.4)), end_bone="hand")
    rigs.update()
    files.save_file(tmp_path / "in.blend")
    status, err = said(["bake", tmp_path / "in.blend", "-o", tmp_path / "o.blend", "--frames", frames], capfd)
    assert status == 1 and is_answer(status, err), err


@pytest.mark.parametrize(
    "name", ["a.b", "it's \"q\"", "名前のとても長い腕の骨の名前" * 2, "[0]", "\\", "a" * 63, "a:b"]
)
def test_names_of_any_kind(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arm = rigs.l2b(name=name)
    arm.data.bones["lo"].name = name
    tip = next(bone.name for bone in arm.data.bones if bone.name not in {"up", "hand"})
    rigs.key_rotation(rigs.bone(arm, tip), 1)
    rigs.empty(name)
    source, added, baked = (tmp_path / f"{step}.blend" for step in ("in", "added", "baked"))
    files.save_file(source)
    words = ["add", source, "-o", added, "--armature", arm.name]
    if ":" in tip:
        words += ["--setup", tmp_path / "setup.json"]
        chain = {"tip": tip, "root": "up", "solver": "TWO_BONE", "end_bone": "hand"}
        (tmp_path / "setup.json").write_text(json.dumps({"armatures": [{"name": arm.name, "chains": [chain]}]}))
    else:
        words += ["--chain", f"up:{tip}:hand"]
    assert said(words, capfd) == (0, "")
    assert said(["bake", added, "-o", baked, "--frames", "1:3"], capfd) == (0, "")
    files.open_file(baked)
    paths = {curve.data_path for curve in rigs.curves(files.armatures()[0])}
    assert f'pose.bones["{bpy.utils.escape_identifier(tip)}"].rotation_quaternion' in paths
