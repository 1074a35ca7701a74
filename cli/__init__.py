"""The command line, see ``entry``: one module per command, and what they share."""

from __future__ import annotations

from .entry import command, main

__all__ = ["command", "main"]
