"""Builds the extension's zip and tries it out in Blenders (standard library only).

The zip is made by Blender's own builder, which is plain Python inside the bpy
wheel, from the files that git tracks: nothing that merely lies about gets in.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from environments import ROOT, SetupError

DIST = ROOT / "dist"


def build(python: Path) -> Path:
    """Build and validate the zip with the builder of the Blender that ``python`` has; answer its path."""
    builder = _builder(python)
    DIST.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="limb-ik-") as folder:
        source = Path(folder) / "limb_ik"
        copy_tracked(source)
        _run([str(python), str(builder), "build", "--source-dir", str(source), "--output-dir", folder])
        built = next(Path(folder).glob("*.zip"))
        _run([str(python), str(builder), "validate", str(built)])
        return Path(shutil.move(str(built), str(DIST / built.name)))


def copy_tracked(target: Path) -> None:
    """Copy the files that git tracks, as they are now in the checkout."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        raise SetupError("building needs a git checkout: the zip is made from tracked files only")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def _builder(python: Path) -> Path:
    found = next(python.parent.parent.glob("**/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"), None)
    if found is None:
        raise SetupError(f"no extension builder in the environment of {python}")
    return found


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"{' '.join(command[1:3])} failed:\n{done.stdout}{done.stderr}")


@contextmanager
def clean_blender() -> Iterator[dict[str, str]]:
    """Environment variables of a Blender that has no settings, extensions or scripts of the user's."""
    with tempfile.TemporaryDirectory(prefix="limb-ik-user-") as folder:
        yield {**os.environ, "BLENDER_USER_RESOURCES": folder, "PYTHONDONTWRITEBYTECODE": "1"}
