"""The report of ``--report``: overwrites nothing of the work, goes into pipes and streams, and loses no result."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from limb_ik.bake import parts
from limb_ik.cli import entry as cli
from limb_ik.cli import jobs as cli_jobs
from limb_ik.cli.json_text import json_text
from limb_ik.files import opening as files
from limb_ik.files import placing
from limb_ik.rig.errors import LimbIKError

import children
import rigs

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


@pytest.fixture
def rig(blank: None, tmp_path: Path) -> Path:
    path = tmp_path / "rig.blend"
    target = rigs.empty("T", (0, -0.4, 1.4))
    rigs.key_location(target, 1)
    rigs.key_location(target, 3, (0, -0.8, 1.0))
    rigs.add_chain_by_properties(rigs.rig("L2B"), "lo", target)
    files.save_file(path)
    return path


@pytest.mark.parametrize(
    ("out", "report", "what"),
    [
        ("out.blend", "rig.blend", "an input"),
        ("out.blend", "link.blend", "an input"),
        ("out.blend", "hard.blend", "an input"),
        ("out.blend", "out.blend", "an output"),
        ("out.blend", "folder/../out.blend", "an output"),
        ("out.gltf", "out.bin", "an output"),
        ("folder", "folder/rig.blend", "an output"),
    ],
)
@pytest.mark.parametrize("command", ["bake", "plant"])
def test_it_never_overwrites_what_is_read_or_written(
    run: Run, rig: Path, tmp_path: Path, command: str, out: str, report: str, what: str
) -> None:
    if command == "plant" and out == "folder":
        return
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.blend").symlink_to(rig)
    os.link(rig, tmp_path / "hard.blend")
    before = rig.read_bytes()
    status, printed, err = run(command, rig, "-o", tmp_path / out, "--report", tmp_path / report)
    assert (status, printed) == (2, "")
    assert f"--report {tmp_path / report} is {what}, which would be overwritten" in err
    assert rig.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "hard.blend", "link.blend", "rig.blend"]


def test_parts_that_are_joined_are_inputs(run: Run, rig: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.json"
    assert run("bake", rig, "-o", part, "--part", "1/1")[0] == 0
    assert run("bake", rig, "-o", tmp_path / "o.blend", "--join", part, "--report", part)[0] == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_it_may_go_to_stdout(run: Run, rig: Path, tmp_path: Path, name: str) -> None:
    status, out, err = run("bake", rig, "-o", tmp_path / "out.blend", "--report", name)
    assert (status, err) == (0, "")
    text, _, said = out.rpartition("}\n")
    assert json.loads(text + "}")["files"][0]["status"] == "done"
    assert said.startswith(f"{tmp_path / 'out.blend'}: Baked 1 chain")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_it_may_go_to_a_file_that_is_open(run: Run, rig: Path, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    assert run("bake", rig, "-o", tmp_path / "out.blend", "--report", f"/dev/fd/{writer}")[0] == 0
    os.close(writer)
    with open(reader, encoding="utf-8") as found:
        assert json.load(found)["files"][0]["status"] == "done"


@pytest.mark.parametrize("command", ["bake", "plant"])
def test_where_it_cant_be_written_the_results_are_said_all_the_same(
    run: Run, rig: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    def full(path: Path, _: str) -> None:
        raise LimbIKError(f"{path} can't be written: no space left on device")

    monkeypatch.setattr(placing, "write_text", full)
    source = rig if command == "bake" else data_dir / "bvh" / "olafhaag_walk01.bvh"
    report = tmp_path / "report.json"
    status, out, err = run(command, source, "-o", tmp_path / "out.blend", "--report", report)
    assert (status, err) == (1, f"limb-ik: {report} can't be written: no space left on device\n")
    assert "out.blend" in out
    assert (tmp_path / "out.blend").exists()


def test_json_is_read_everywhere() -> None:
    value = {"name": "Zoë a\udcff", "error": float("nan"), "rows": [(1.0, float("-inf"))]}
    text = json_text(value)
    assert text.isascii(), "a name that is no text"
    assert json.loads(text) == {"name": "Zoë a\udcff", "error": None, "rows": [[1.0, None]]}
    assert "Zoë" in json_text({"name": "Zoë"})
    assert json_text({"name": "Zoë"}, "ascii").isascii()


def test_an_output_without_content_is_not_done(tmp_path: Path) -> None:
    source, target = tmp_path / "in.blend", tmp_path / "out.blend"
    source.write_text("a rig")
    target.write_text("")
    assert not cli_jobs.is_done(source, target)
    target.write_text("a result")
    assert cli_jobs.is_done(source, target)


@children.NEEDS_PACKAGE
def test_names_that_begin_with_a_dash_or_are_no_text(
    run: Run, rig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["-rig.blend"] if os.name == "nt" else ["-rig.blend", os.fsdecode(b"r\xffg.blend")]
    for name in names:
        (tmp_path / name).write_bytes(rig.read_bytes())
    monkeypatch.chdir(tmp_path)
    status, _, err = run("bake", "-o", "out", "--frames", "1:2", "--report", "r.json", "--", "rig.blend", *names)
    assert (status, err) == (0, "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(["rig.blend", *names])
    entries = json.loads((tmp_path / "r.json").read_text("ascii"))["files"]
    assert [entry["file"] for entry in entries] == ["rig.blend", *names]


@pytest.mark.parametrize("name", ["report.json", "/dev/stdout"])
def test_what_failed_is_in_it_where_there_is_one_file_too(run: Run, tmp_path: Path, name: str) -> None:
    source, report = tmp_path / "in.blend", tmp_path / name
    source.write_text("of another kind")
    status, out, err = run("bake", source, "-o", tmp_path / "out.blend", "--report", report)
    assert status == 1
    assert err.startswith("limb-ik: in.blend ")
    assert err.count("\n") == 1
    told = json.loads(out if name == "/dev/stdout" else report.read_text(encoding="utf-8"))
    assert [(one["status"], one["file"]) for one in told["files"]] == [("failed", str(source))]
    assert f"limb-ik: {told['files'][0]['error']}\n" == err


PART: dict[str, Any] = {
    "form": 1,
    "marks": [{"bones": [0]}],
    "frames": [{"frame": 1.0, "readings": [
        {"turns": [[1.0, 0.0, 0.0, 0.0]], "near": [[1.0, 0.0, 0.0, 0.0]], "places": [], "scale": 1.0, "problems": {}},
    ]}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((0, "readings"), []),
        ((0, "readings"), [*PART["frames"][0]["readings"]] * 2),
        ((0, "readings", 0, "turns"), []),
        ((0, "readings", 0, "near"), []),
        *(((0, "readings", 0, "turns", 0), turn) for turn in ([1.0, 0.0, 0.0], [0.0] * 4, ["x", 0.0, 0.0, 0.0])),
        *(
            ((0, "readings", 0, "turns", 0, 0), number)
            for number in (float("nan"), float("inf"), 1e39, 10**400, None, "1")
        ),
        *(((0, "frame"), number) for number in (float("nan"), "1", 10**400)),
        ((0, "readings", 0, "scale"), [["a"]]),
        ((0, "readings", 0, "problems"), None),
    ],
)
def test_a_part_with_other_contents_is_refused(tmp_path: Path, path: tuple[Any, ...], value: Any) -> None:
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps(PART), encoding="utf-8")
    assert parts.from_file(whole).readings[1.0][0].turns == [(1.0, 0.0, 0.0, 0.0)]
    damaged = json.loads(json.dumps(PART))
    place = damaged["frames"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    whole.write_text(json.dumps(damaged), encoding="utf-8")
    with pytest.raises(LimbIKError, match="is no part of a bake: it is damaged or of another kind"):
        parts.from_file(whole)
