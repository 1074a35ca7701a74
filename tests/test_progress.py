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
