"""Commands for a full Blender: the program itself, not the bpy package (standard library only)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import environments as envs
from environments import ROOT, SetupError

VARIABLE = "LIMB_IK_BLENDER"
SCRIPTED = ("-b", "--factory-startup", "--python-exit-code", "1")
"""In the background, with no settings of the user's, and a script that fails is a failure."""


def programs() -> list[str]:
    """The full Blenders that LIMB_IK_BLENDER names."""
    return [name for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]


def any_program() -> str:
    """One full Blender: of LIMB_IK_BLENDER, else of PATH."""
    program = next(iter([*programs(), *filter(None, [shutil.which("blender")])]), None)
    if program is None:
        raise SetupError(f"no full Blender: name one in {VARIABLE}")
    return program


def works(program: str) -> bool:
    """Whether it starts."""
    if shutil.which(program) is None:
        return False
    return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0


def suite(program: str, pytest_arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The command that runs the test suite inside a full Blender, and the variables that it needs."""
    packages = envs.ensure_blender_packages(_python_version(program))
    script = str(ROOT / "tools" / "run_in_blender.py")
    return [program, *SCRIPTED, "--python", script, "--", *pytest_arguments], {"LIMB_IK_PACKAGES": str(packages)}


def _python_version(program: str) -> str:
    """The x.y of the Python inside."""
    expression = "import sys; print('python %d.%d' % sys.version_info[:2])"
    command = [program, *SCRIPTED, "--python-expr", expression]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    version = next((line[7:] for line in asked.stdout.splitlines() if line.startswith("python ")), None)
    if version is None:
        raise SetupError(f"{program} did not start:\n{asked.stderr}")
    return version


def installing(archive: Path, then: str = "") -> list[str]:
    """Arguments that make a Blender install the zip as it starts."""
    options = f"filepath={str(archive)!r}, repo='user_default', enable_on_install=True"
    expression = f"import bpy; bpy.ops.extensions.package_install_files({options}); {then}"
    return ["--python-exit-code", "1", "--python-expr", expression]
