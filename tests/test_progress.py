"""The line that says how far long work is: on a terminal, gone at the end, not written at every frame."""

from __future__ import annotations

import io
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from limb_ik.cli import progress


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
