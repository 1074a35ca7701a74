"""How many edits there may have been: what is read once holds while the number stays the same.

While frames play and no handler but ours runs, animation alone changes anything. Whatever
may change something else is counted here; nobody has to say what it was.
"""

from __future__ import annotations

from typing import Any

import bpy

from . import marks

_edits = {"count": 0}
_others = {"were there": False}


def note(_obj: Any = None) -> None:
    """Something may have been edited."""
    _edits["count"] += 1


def count() -> int:
    """The number to keep beside what was read, and to compare with before it is used again."""
    return _edits["count"]


def note_other_handlers() -> None:
    """Where others handle frame changes, too, each frame may come with edits that no update tells of."""
    handlers = bpy.app.handlers
    are_there = len(handlers.frame_change_pre) > 1 or len(handlers.frame_change_post) > 1
    if are_there or _others["were there"]:
        note()
    _others["were there"] = are_there


marks.on_change(note)
