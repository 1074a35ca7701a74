"""Keeps what others print apart from our results: stdout is for results alone.

Must not know files, Blender's data or the commands. Blender prints from C too, so
the file descriptors are turned, and ``sys.stdout`` with them, which may be another
file by then.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

STDOUT_FD, STDERR_FD = 1, 2

_chatter = {"shown": False}


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
