"""Runs Python code in a fresh Blender of the same kind as this one: the bpy package, or the full program."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import bpy
import pytest

ARGUMENTS_AFTER_DASHES = "import sys; sys.argv = ['-c', *sys.argv[sys.argv.index('--') + 1 :]]\n"
LIMIT_S = 300
"""A child that takes longer hangs."""


def is_full_blender() -> bool:
    """Whether this is the Blender program; the bpy package has no binary of its own."""
    return bool(bpy.app.binary_path)


NEEDS_PACKAGE = pytest.mark.skipif(
    is_full_blender(), reason="starts the Python that imports bpy, which a full Blender does not have"
)


def command(code: str, *arguments: str) -> list[str]:
    """The command that runs ``code`` with ``sys.argv[1:] == arguments``, with factory settings."""
    if not is_full_blender():
        return [sys.executable, "-c", code, *arguments]
    start = [bpy.app.binary_path, "-b", "--factory-startup", "--python-exit-code", "1", "--python-expr"]
    return [*start, ARGUMENTS_AFTER_DASHES + code, "--", *arguments]


def package_folder(folder: Path) -> str:
    """A folder inside ``folder`` from which a child can import this checkout as ``limb_ik``."""
    place = folder / "package"
    place.mkdir()
    (place / "limb_ik").symlink_to(Path(__file__).resolve().parents[1], target_is_directory=True)
    return str(place)


def run(code: str, *arguments: str, variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run and wait; a full Blender adds lines of its own to stdout."""
    environment = {**os.environ, **(variables or {})}
    call = command(code, *arguments)
    return subprocess.run(call, capture_output=True, text=True, check=False, timeout=LIMIT_S, env=environment)
