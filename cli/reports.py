"""The report of ``--report``: where it may go, and how it is written.

Must not know what is in it.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..files import placing
from ..files.opening import check_writable
from ..files.quiet import STDERR_FD, STDOUT_FD
from ..rig.errors import LimbIKError
from .json_text import json_text
from .version import PROGRAM

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_STREAMS = {"/dev/stdout": STDOUT_FD, "/dev/stderr": STDERR_FD}


def check_report(arguments: argparse.Namespace, inputs: Iterable[Path], outputs: Iterable[Path]) -> None:
    """Asks before any work whether the report can be written; what would overwrite another file is wrong usage.

    Raises:
        LimbIKError: no file can be written there.
    """
    report = arguments.report
    if report is None or _descriptor(report) is not None or placing.is_special(report):
        return
    for what, paths in (("an input", inputs), ("an output", outputs)):
        if any(_is_same(report, path) for path in paths):
            arguments.refuse(f"--report {report} is {what}, which would be overwritten")
    check_writable(report, [report.suffix.lower()])


def write_report(report: Path | None, value: Any) -> tuple[str, int]:
    """Writes the report where one is asked for.

    Returns:
        What of it is to be printed on stdout, and the exit status: a report that can't be written is a failure, and
        the work is done all the same.
    """
    if report is None:
        return "", 0
    text, descriptor = json_text(value), _descriptor(report)
    if descriptor == STDOUT_FD:
        return text, 0
    try:
        if descriptor is None:
            placing.write_text(report, f"{text}\n")
        else:
            _write_open(report, descriptor, f"{text}\n")
    except LimbIKError as problem:
        sys.stderr.write(f"{PROGRAM}: {problem}\n")
        return "", 1
    return "", 0


def _write_open(report: Path, descriptor: int, text: str) -> None:
    """To a file that was opened by who started us: opening it anew would begin at its start."""
    with placing.sentences(f"{report} can't be written"), os.fdopen(os.dup(descriptor), "w", encoding="utf-8") as file:
        file.write(text)


def _descriptor(report: Path) -> int | None:
    """The number of an open file that the path is a name of."""
    found = _DESCRIPTOR.fullmatch(str(report))
    return int(found[1]) if found else _STREAMS.get(str(report))


def _is_same(a: Path, b: Path) -> bool:
    if placing.resolved(a) == placing.resolved(b):
        return True
    return a.exists() and b.exists() and a.samefile(b)
