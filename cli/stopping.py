"""How a command ends that is stopped, by Ctrl-C or by SIGTERM: at once, with one line, and nothing half written.

While Blender works the process ends within the signal's handler: an exception would go through Blender's own
code, which prints it or takes it for a fault of an importer, and goes on. While we only wait for other processes
it is the exception ``Stopped``. Must not know what a command does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from ..files.quiet import STDERR_FD
from . import leaving
from .version import PROGRAM

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SIGNAL_STATUS = 128
"""An exit status says by this much more which signal a process ended for, as shells have it."""
STATUSES = frozenset(SIGNAL_STATUS + number for number in SIGNALS)
# Seconds that other processes have to end by themselves; what Blender is in the middle of, it finishes first.
GRACE_S = 3.0
# Wide enough to wipe the line of progress, on a terminal.
WIPED = f"\r{'':79}\r"

Files = dict[Path, int]


class Stopped(BaseException):
    """Raised where we wait for other processes. ``status``: the exit status to end with."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class _State:
    """What the signal's handler needs to know."""

    is_waiting = False
    stderr = STDERR_FD
    output: Path | None = None
    before: Files = {}  # replaced, never changed


@contextmanager
def on_signals() -> Iterator[None]:
    """While it lasts, signals end the command as is said above. For a process that is ours alone."""
    _State.stderr = os.dup(STDERR_FD)  # what Blender prints is kept back by turning the descriptor
    before = {number: signal.signal(number, _on_signal) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            # Blender's own, which Python gives as None, can't be put back; the default ends the process as well.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        os.close(_State.stderr)
        _State.stderr = STDERR_FD


@contextmanager
def waiting() -> Iterator[None]:
    """While it lasts, a signal raises ``Stopped``: there is nothing of Blender between here and its handler."""
    _State.is_waiting = True
    try:
        yield
    finally:
        _State.is_waiting = False


def watch(output: Path | None) -> None:
    """Tells where the command writes, so that one that is stopped can say whether it did."""
    _State.output = output
    _State.before = _files(output)


def is_stop(status: int) -> bool:
    """Whether another process ended since it was told to."""
    return status in STATUSES or -status in SIGNALS


def as_status(status: int) -> int:
    """The exit status for a process that was stopped; what ended by a signal itself has its negative."""
    return SIGNAL_STATUS - status if status < 0 else status


def end(children: Iterable[subprocess.Popen[Any]], grace_s: float = GRACE_S) -> None:
    """Ends other processes: by themselves, and by force those that don't in time. Others wait for them, too."""
    left = [child for child in children if child.poll() is None]
    for child in left:
        child.terminate()
    until = time.monotonic() + grace_s
    while left and time.monotonic() < until:
        time.sleep(0.02)
        left = [child for child in left if child.poll() is None]
    for child in left:
        child.kill()


def _on_signal(number: int, _frame: FrameType | None) -> None:
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    if _State.is_waiting:
        raise Stopped(SIGNAL_STATUS + number)
    try:
        leaving.clean()
        wiped = WIPED if os.isatty(_State.stderr) else ""
        os.write(_State.stderr, f"{wiped}{PROGRAM}: {_sentence()}\n".encode())
    finally:
        os._exit(SIGNAL_STATUS + number)


def _sentence() -> str:
    if _State.output is None:
        return "stopped"
    written = sorted(path.name for path, when in _files(_State.output).items() if _State.before.get(path) != when)
    return f"stopped after {', '.join(written)} was written" if written else "stopped; nothing was written"


def _files(output: Path | None) -> Files:
    """The time of change of a file, or of those in a folder; hidden ones are not whole yet."""
    if output is None:
        return {}
    found = output.iterdir() if output.is_dir() else [output]
    return {path: path.stat().st_mtime_ns for path in found if not path.name.startswith(".") and path.is_file()}
