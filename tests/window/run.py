"""Runs the cases inside a full Blender with a window: ``--python tests/window/run.py -- FOLDER [CASE...]``."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import cases_of_several
import driver
from cases import CASES


def main() -> None:
    """Run those named, else all."""
    folder, *names = sys.argv[sys.argv.index("--") + 1 :]
    preferences = bpy.context.preferences
    preferences.view.show_splash = False
    preferences.use_preferences_save = False
    preferences.system.viewport_aa = 'OFF'  # several drawings in one: slow without a graphics card
    chosen = [
        (case.__name__, case) for case in (*CASES, *cases_of_several.CASES) if not names or case.__name__ in names
    ]
    driver.run(chosen, Path(folder))


main()
