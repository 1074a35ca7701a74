"""three.js's CCD solver, where Node and npm are there: installed into a folder of its own, asked by JSON.

Nothing of it is kept. Space: Blender's in, turned to three's (Y along the straight chain) on the way.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSION = "0.170.0"
SCRIPT = Path(__file__).with_name("ccd.mjs")
INSTALL = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", "."]
INSTALL_LIMIT_S = 120


@dataclass(frozen=True)
class Case:
    """A chain of total length 1 and its targets. ``hinges``: axis, lowest, highest angle of each joint, None: free.
    ``start``: XYZ Euler angles of each joint, from straight."""

    bones: int
    hinges: Sequence[tuple[str, float, float] | None]
    start: Sequence[tuple[float, float, float]]
    targets: Sequence[tuple[float, float, float]]
    iterations: int


@dataclass(frozen=True)
class Answer:
    """Errors by target, and milliseconds per solve."""

    errors: list[float]
    ms: float


def install(folder: Path) -> str:
    """Puts three into a folder; why that can't be had, empty where it can."""
    if not (shutil.which("node") and shutil.which("npm")):
        return "no Node here"
    shutil.copy(SCRIPT, folder / SCRIPT.name)
    done = subprocess.run(
        [*INSTALL, f"three@{VERSION}"], cwd=folder, capture_output=True, text=True, check=False, timeout=INSTALL_LIMIT_S
    )
    return "npm can't install three" if done.returncode else ""


def solve(folder: Path, cases: Sequence[Case]) -> list[Answer]:
    """Every case solved with CCDIKSolver."""
    asked: list[dict[str, Any]] = [
        {**vars(case), "targets": [(x, z, -y) for x, y, z in case.targets]} for case in cases
    ]
    done = subprocess.run(
        ["node", SCRIPT.name], cwd=folder, input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    return [Answer(**one) for one in json.loads(done.stdout)]
