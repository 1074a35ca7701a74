"""Keeps what others print apart from our results: stdout is for results alone.

Must not know files, Blender's data or the commands. Blender prints from C too, so
the file descriptors are turned, and ``sys.stdout`` with them, which may be another
file by then.
"""

from __future__ import annotations

import ctypes
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

STDIN_FD, STDOUT_FD, STDERR_FD = 0, 1, 2

_chatter = {"shown": False}


class _Unfailing(io.FileIO):
    """Where what can't be written is lost: stderr is the last place to say anything."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def make_usable() -> None:
    """Gives a process of ours all three streams, whatever it was started with.

    Of what was closed Python has None, and the next file that is opened would take its place. What stands in for
    stdout can't be written to, so that a result which nobody gets is noticed. Stderr never fails from here on.
    """
    for fd, mode in ((STDIN_FD, os.O_RDONLY), (STDOUT_FD, os.O_RDONLY), (STDERR_FD, os.O_WRONLY)):
        _open_if_closed(fd, mode)
    if not sys.stdout:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(STDOUT_FD, "w", closefd=False)), "utf-8")
    encoding = sys.stderr.encoding if sys.stderr else "utf-8"
    raw = io.BufferedWriter(_Unfailing(STDERR_FD, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(raw, encoding, errors="backslashreplace", line_buffering=True)


def _open_if_closed(fd: int, mode: int) -> None:
    try:
        os.fstat(fd)
    except OSError:
        nowhere = os.open(os.devnull, mode)
        os.dup2(nowhere, fd)  # children inherit it
        if nowhere != fd:
            os.close(nowhere)
        else:
            os.set_inheritable(fd, True)


def give_up_stdout() -> None:
    """What was not written, and never can be, goes nowhere: flushing it would fail again, at the latest at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def show_chatter(shown: bool) -> None:
    """Lets what Blender's importers and exporters print through to stderr, or not."""
    _chatter["shown"] = shown


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """While it lasts, whatever is printed to stdout, by C code too, goes to stderr."""
    with _redirected({STDOUT_FD: STDERR_FD}), redirect_stdout(sys.stderr):
        yield


@contextmanager
def blender_chatter() -> Iterator[None]:
    """While it lasts, stdout and stderr go nowhere, or both to stderr where chatter is shown."""
    if _chatter["shown"]:
        with stdout_to_stderr():
            yield
        return
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        descriptors = {STDOUT_FD: nowhere.fileno(), STDERR_FD: nowhere.fileno()}
        with _redirected(descriptors), redirect_stdout(nowhere), redirect_stderr(nowhere):
            yield


@contextmanager
def _redirected(targets: dict[int, int]) -> Iterator[None]:
    _flush()
    saved = {fd: os.dup(fd) for fd in targets}
    try:
        for fd, target in targets.items():
            os.dup2(target, fd)
        yield
    finally:
        _flush()
        for fd, copy in saved.items():
            os.dup2(copy, fd)
            os.close(copy)


def _flush() -> None:
    """Python's and C's buffers: Blender prints through C's stdout, which Python does not flush."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
