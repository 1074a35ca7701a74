"""A process of its own for what reads or writes other formats than .blend: a crash in there becomes a sentence.

Blender's importers and exporters can bring the whole process down. The command then
runs in a child that has this process's stdout and stderr (0.4 s of processor
time for its start). Must not know what the command does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..files import formats
from . import jobs, stopping
from .children import lifeline
from .version import PROGRAM

# Seconds: the child may have children itself, which it ends first.
GUARD_GRACE_S = 2.0 * stopping.GRACE_S
OTHER_FORMATS = {*formats.READERS, *formats.WRITERS}


def is_needed(words: Iterable[str]) -> bool:
    """Whether a command names a file of another format, and this is not the child already."""
    return jobs.CHILD_VARIABLE not in os.environ and any(map(_is_foreign, words))


def _is_foreign(word: str) -> bool:
    """Whether a word of a command names a file of another format, or such a format as ``--format`` does."""
    return (Path(word).suffix or f".{word.removeprefix('--format=')}").lower() in OTHER_FORMATS


def run(words: Sequence[str]) -> int:
    """Runs a command in a child; its exit status, 1 where it crashed, with a sentence on stderr. Stopped with us."""
    with lifeline() as stdin:
        # What it shall write to may be an open file of ours, as /dev/fd/63 of a shell is.
        child = subprocess.Popen(
            [*jobs.child_program(), *words], stdin=stdin, close_fds=os.name == "nt", env=jobs.child_environment()
        )
        return _ended(child, words)


def _ended(child: subprocess.Popen[bytes], words: Sequence[str]) -> int:
    try:
        with stopping.waiting():
            status = child.wait()
    except stopping.Stopped as stop:
        stopping.end([child], GUARD_GRACE_S)
        status = child.wait()
        if status not in stopping.STATUSES:  # it had not come so far that it would say so itself
            is_begun = not stopping.is_stop(status)
            sys.stderr.write(f"{PROGRAM}: stopped{'' if is_begun else '; nothing was written'}\n")
        return stop.status
    if stopping.is_stop(status):
        return stopping.as_status(status)
    crash = jobs.crash_of(status)
    if not crash:
        return status
    named = ", ".join(Path(word).name.removeprefix("--format=") for word in words if _is_foreign(word))
    sys.stderr.write(f"{PROGRAM}: {crash} while it worked on {named}\n")
    return 1
