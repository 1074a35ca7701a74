"""The line that shows how far long work is: on a terminal only, nothing in a pipe.

Must not know what the work is.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Seconds between two changes of the line: writing costs more than a frame.
PAUSE_S = 0.1


@contextmanager
def frames(source: Path) -> Iterator[Callable[[int, int], None] | None]:
    """What shows the frames of a file that are done; None where no one would see it. The line is gone afterwards."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = {"at": 0.0}

    def show(done: int, total: int) -> None:
        now = time.monotonic()
        if now - shown["at"] >= PAUSE_S:
            shown["at"] = now
            _write(f"{source.name}: frame {done} of {total}")

    try:
        yield show
    finally:
        _write("")


def _write(text: str) -> None:
    width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
    sys.stderr.write(f"\r{text[:width]:<{width}}\r{text[:width]}")
    sys.stderr.flush()
