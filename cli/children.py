"""Processes that run beside each other and all end when the command is stopped. Must not know what they do."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Mapping, Sequence

from . import stopping


class Children:
    """Processes of a batch; several threads start one each and wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self.has_ended = False

    def run(self, words: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str] | None:
        """Runs a process to its end, its output kept; None where none is to be started any more."""
        with self._lock:
            if self.has_ended:
                return None
            pipe = subprocess.PIPE
            child = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, env=environment
            )
            self._running.add(child)
        out, err = child.communicate()
        with self._lock:
            self._running.discard(child)
        return subprocess.CompletedProcess(words, child.returncode, out, err)

    def end(self) -> None:
        """Ends those that run; none is started any more."""
        with self._lock:
            self.has_ended = True
            running = list(self._running)
        stopping.end(running)
