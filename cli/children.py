"""Processes that run beside each other and all end with the one that started them. Must not know what they do.

Each has a pipe for its stdin, of which the parent holds the other end: where that is closed, however the parent came to
its end, the child ends without writing.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..files import placing
from ..files.quiet import STDIN_FD
from . import leaving, stopping

ORPHANED = 1
"""The exit status of a process whose parent is gone; nobody waits for it."""
# Seconds that the watching thread gets before a result is moved into place: Blender writes without letting it run.
TURN_S = 0.01


@contextmanager
def lifeline() -> Iterator[int]:
    """The end of a pipe that a child gets for its stdin; the other end closes with this process."""
    theirs, ours = os.pipe()
    try:
        yield theirs
    finally:
        os.close(theirs)
        os.close(ours)


def end_with_parent() -> None:
    """Ends this process, which has the end of a lifeline for its stdin, when its parent is gone."""
    threading.Thread(target=_watch_parent, daemon=True).start()
    placing.before_moving.append(lambda: time.sleep(TURN_S))


def _watch_parent() -> None:
    while os.read(STDIN_FD, 1):
        pass
    leaving.leave_at_once(ORPHANED)


class Children:
    """Processes of a batch; several threads start one each and wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self.has_ended = False

    def run(self, words: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str] | None:
        """Runs a process to its end, its output kept; None where none is to be started any more."""
        with lifeline() as stdin:
            child = self._started(words, environment, stdin)
            if child is None:
                return None
            out, err = child.communicate()
        with self._lock:
            self._running.discard(child)
        return subprocess.CompletedProcess(words, child.returncode, out, err)

    def _started(
        self, words: Sequence[str], environment: Mapping[str, str], stdin: int
    ) -> subprocess.Popen[str] | None:
        pipe = subprocess.PIPE
        with self._lock:
            if self.has_ended:
                return None
            child = subprocess.Popen(
                words, stdin=stdin, stdout=pipe, stderr=pipe, text=True, errors="surrogateescape", env=environment
            )
            self._running.add(child)
            return child

    def end(self) -> None:
        """Ends those that run; none is started any more."""
        with self._lock:
            self.has_ended = True
            running = list(self._running)
        stopping.end(running)
