"""An action that takes no keys, because it is linked or a library override: said before a bake is refused.

Reads only; asked by the read-out, never while frames play.
"""

from __future__ import annotations

import bpy

from . import compat


def note(armature: bpy.types.Object) -> str:
    """What an armature's action means for keys, in words; empty where they hold."""
    action = compat.action_and_slot(armature)[0]
    if action is None:
        return ""
    if action.library is not None:
        return f"action '{action.name}' is linked: it takes no keys, by hand or by a bake; make it local first"
    reason = compat.why_not_editable(action)
    return f"{reason}; a bake is refused" if reason else ""
