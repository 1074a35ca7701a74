"""The command line where there is no Blender: it says how to get one. Must not import anything of Blender."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .version import PROGRAM, VERSION

FAILED = 1
# What the bpy packages from Blender 4.2 on need, the newest first.
BLENDER_BY_PYTHON = {(3, 13): "5.1 and newer", (3, 11): "4.2 to 5.0"}


def main(argv: Sequence[str] | None = None) -> int:
    """Says what is missing; ``--version`` is answered all the same. Ends the process where ``argv`` is None."""
    status = command(sys.argv[1:] if argv is None else argv)
    if argv is None:
        sys.exit(status)
    return status


def command(argv: Sequence[str]) -> int:
    """The exit status: 0 for the version, else 1."""
    if list(argv) == ["--version"]:
        print(VERSION)
        return 0
    own = sys.version_info[:2]
    known = [f"Blender {blender} for Python {a}.{b}" for (a, b), blender in BLENDER_BY_PYTHON.items()]
    here = "" if own in BLENDER_BY_PYTHON else f", not for this one, {own[0]}.{own[1]}"
    versions = ", ".join(known) + here
    sys.stderr.write(
        f"{PROGRAM}: the package bpy, Blender for Python, is not installed: pip install bpy ({versions})\n"
    )
    return FAILED
