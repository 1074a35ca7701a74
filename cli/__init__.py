"""The command line, see ``entry``: one module per command, and what they share."""

from __future__ import annotations

try:
    from .entry import command, main
except ModuleNotFoundError as missing:
    if missing.name != "bpy":
        raise
    from .without_blender import command, main

__all__ = ["command", "main"]
