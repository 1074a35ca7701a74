"""What the program is called and which version it is. Must not import anything of Blender: it is asked without one."""

from __future__ import annotations

import tomllib
from pathlib import Path

PROGRAM = "limb-ik"
_MANIFEST = Path(__file__).resolve().parent.parent / "blender_manifest.toml"
VERSION = f"{PROGRAM} {tomllib.loads(_MANIFEST.read_text(encoding='utf-8'))['version']}"
