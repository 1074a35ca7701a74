"""What goes wrong for the person who uses it, said in one sentence.

Faults of the code are no LimbIKError: they stay exceptions of their own kind.
"""

from __future__ import annotations


class LimbIKError(Exception):
    """Bad input: its text is one clear sentence; nothing was changed when it is raised."""
