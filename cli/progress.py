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
# Of a terminal that doesn't know its size, as one without a window.
USUAL_COLUMNS = 80


@contextmanager
def line() -> Iterator[Callable[[str], None]]:
    """What writes the line, nothing where no one would see it. The line is gone afterwards."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    try:
        yield _write
    finally:
        _write("")


@contextmanager
def doing(text: str) -> Iterator[None]:
    """Says what is done while it lasts, where its steps can't be counted."""
    with line() as say:
        say(text)
        yield


@contextmanager
def frames(
    source: Path, what: str = "", *, then: str = "", per_frame: int = 1
) -> Iterator[Callable[[int, int], None] | None]:
    """What shows the frames of a file that are done; None where no one would see it.

    Args:
        source: The file.
        what: What is done with the frames.
        then: What comes when all are done, and can't be counted.
        per_frame: How many moments are counted for each frame: where keys are reduced also its middle to the next one.
    """
    if not sys.stderr.isatty():
        yield None
        return
    shown = {"at": 0.0}
    begin = f"{source.name}: {what}, " if what else f"{source.name}: "

    def show(done: int, total: int) -> None:
        now = time.monotonic()
        if then and done == total:
            _write(f"{source.name}: {then}")
        elif now - shown["at"] >= PAUSE_S:
            shown["at"] = now
            _write(f"{begin}frame {_whole(done, per_frame)} of {_whole(total, per_frame)}")

    with line():
        yield show


def _whole(count: int, per_frame: int) -> int:
    """Frames that have so many moments; the last frame has none after it."""
    return (count + per_frame - 1) // per_frame


def _write(text: str) -> None:
    width = max(0, _columns() - 1)
    sys.stderr.write(f"\r{text[:width]:<{width}}\r{text[:width]}")
    sys.stderr.flush()


def _columns() -> int:
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:  # Python's own answer for what has no size
        columns = 0
    return columns or USUAL_COLUMNS
