"""What goes wrong for the person who uses it, said in one sentence."""

from __future__ import annotations


class LimbIKError(Exception):
    """Bad input: its text is one clear sentence; nothing was changed when it is raised."""
