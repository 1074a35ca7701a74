"""The line that says how far long work is: on a terminal, gone at the end, not written at every frame."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from limb_ik.cli import jobs as cli_jobs
from limb_ik.cli import progress
from limb_ik.demos import picture, scenes
from limb_ik.files import opening as files

import children
import rigs

if os.name != "nt":
    import pty

LIMIT_S = 60


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    found = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=found))
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((30, 24)))
    return found


def test_a_pipe_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=pipe))
    with progress.frames(Path("walk.bvh")) as show:
        assert show is None
    assert pipe.getvalue() == ""


def test_a_terminal_sees_the_frame_and_no_line_is_left(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 100.01, 100.5])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.frames(Path("folder/walk.bvh")) as show:
        assert show is not None
        for number in (1, 2, 3):
            show(number, 3)
    said = terminal.getvalue()
    assert "walk.bvh: frame 1 of 3" in said and "frame 3 of 3" in said
    assert "frame 2 of 3" not in said, "a hundredth of a second after the first"
    assert said.endswith(f"\r{'':29}\r")


def test_a_narrow_terminal_is_not_wrapped(terminal: Terminal) -> None:
    with progress.frames(Path("a_name_longer_than_the_terminal.fbx")) as show:
        assert show is not None
        show(1, 3)
    assert max(len(part) for part in terminal.getvalue().split("\r")) == 29


@pytest.mark.parametrize("columns", [0, 1, 2])
def test_a_terminal_without_a_size_is_one_like_others(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """One without a window, as ``script`` makes it, reports no columns."""
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((columns, 0)))
    with progress.frames(Path("walk.bvh")) as show:
        assert show is not None
        show(1, 3)
    shown = {part.strip() for part in terminal.getvalue().split("\r")}
    assert "walk.bvh: frame 1 of 3"[: columns - 1 if columns else 80] in shown


def test_what_has_no_size_to_ask_for_is_a_terminal_like_others(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_: int) -> os.terminal_size:
        raise OSError("no such device")

    monkeypatch.setattr(os, "get_terminal_size", unknown)
    with progress.doing("opening walk.bvh"):
        pass
    assert "opening walk.bvh" in terminal.getvalue()


def test_where_keys_are_reduced_frames_are_counted_and_what_comes_then_is_said(terminal: Terminal) -> None:
    with progress.frames(Path("walk.bvh"), then="reducing keys", per_frame=2) as show:
        assert show is not None
        show(1, 5)
        show(5, 5)
    said = terminal.getvalue()
    assert "walk.bvh: frame 1 of 3" in said
    assert "walk.bvh: reducing keys" in said, "though the line has just been written"


def on_a_terminal(*words: object) -> tuple[int, str]:
    """Runs a command on a terminal of its own, which has no size; its status and what is seen."""
    master, slave = pty.openpty()
    call = [sys.executable, "-c", cli_jobs.WHEEL_CHILD, "limb_ik", str(cli_jobs.FOLDER), *map(str, words)]
    environment = {name: value for name, value in os.environ.items() if name != "OCIO"}
    with subprocess.Popen(call, stdin=slave, stdout=slave, stderr=slave, env=environment) as child:
        os.close(slave)
        seen = b"".join(iter(lambda: _read(master), b""))
        status = child.wait(LIMIT_S)
    os.close(master)
    return status, seen.decode()


def _read(master: int) -> bytes:
    try:
        return os.read(master, 4096)
    except OSError:  # the other end is closed
        return b""


@children.NEEDS_PACKAGE
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
@pytest.mark.usefixtures("blank")
def test_every_long_command_shows_what_it_does(tmp_path: Path, data_dir: Path) -> None:
    source, rig, out = data_dir / "bvh" / "olafhaag_walk01.bvh", tmp_path / "rig.blend", tmp_path / "out.blend"
    status, seen = on_a_terminal("add", source, "-o", rig)
    assert status == 0, seen
    assert all(f"olafhaag_walk01.bvh: {what}" in seen for what in ("opening", "adding IK"))
    status, seen = on_a_terminal("bake", rig, "-o", out, "--reduce", "0.01")
    assert status == 0, seen
    assert "rig.blend: frame 1 of " in seen and "rig.blend: reducing keys" in seen and "out.blend: writing" in seen
    status, seen = on_a_terminal("plant", source, "-o", out)
    assert status == 0, seen
    assert "looking for contacts, frame 1 of" in seen and "planting, frame 1 of" in seen
    rigs.rig("L2B")
    files.save_file(tmp_path / "none.blend")
    status, seen = on_a_terminal("bake", tmp_path / "none.blend", rig, "-o", tmp_path / "both")
    assert status == 1, "one has no chains"
    assert "0/2" in seen and "2/2" in seen and "limb-ik: failed: " in seen
    assert "Traceback" not in seen


def test_a_demo_shows_which_picture_it_makes(blank: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though Blender's own words are kept back while it renders."""
    said: list[str] = []
    monkeypatch.setattr(picture, "_render", lambda _, view: np.zeros((view.height_px, view.width_px, 3), np.float32))
    assert scenes.run("reach", tmp_path, said.append)[1] == 0
    count = len(said) - 2
    assert said[0] == "reach: making the scene"
    assert said[2:] == [f"reach.png: picture {number} of {count}" for number in range(1, count + 1)]
