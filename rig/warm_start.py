"""The pose solved for the frame before, for chains that are asked to start from it.

Kept in memory for the screen's own dependency graph, while frames follow each other by one. A
jump, a reverse step, a new file, an undo, a render, an export and a bake start from FK: then
every frame stands alone. This module must not solve anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
from mathutils import Quaternion

from . import marks

Deltas = tuple[Quaternion, ...]
# Solvers that start from a pose and draw near; the others give their answer at once.
ITERATIVE = {'FABRIK'}


@dataclass(frozen=True, slots=True)
class Solved:
    """A chain's solution at a frame, and what it was started from (None: FK)."""

    graph: int
    frame: float
    start: Deltas | None
    deltas: Deltas


_solved: dict[tuple[int, str], Solved] = {}
_state: dict[str, int] = {"graph": 0}


def _listen(obj: bpy.types.Object | None) -> None:
    if obj is None:
        _solved.clear()


marks.on_change(_listen)


@contextmanager
def allowed(depsgraph: bpy.types.Depsgraph) -> Iterator[None]:
    """Chains may start from the frame before while the screen's own depsgraph is solved; no other one may."""
    layer = depsgraph.view_layer
    is_screens = depsgraph.mode == 'VIEWPORT' and layer is not None and depsgraph == layer.depsgraph
    _state["graph"] = depsgraph.as_pointer() if is_screens else 0
    try:
        yield
    finally:
        _state["graph"] = 0


def start_of(uid: int, tip: str, frame: float, count: int) -> Deltas | None:
    """What a chain starts from: the deltas of the frame before where that was the last one solved, None for FK.

    An edit on a frame starts from what the frame itself was started from.

    Args:
        uid: session number of the armature object.
        count: how many bones the chain turns now.
    """
    last = _solved.get((uid, tip))
    if last is None or last.graph != _state["graph"]:
        return None
    start = last.start if last.frame == frame else last.deltas if last.frame == frame - 1.0 else None
    return start if start is not None and len(start) == count else None


def keep(uid: int, tip: str, frame: float, start: Deltas | None, deltas: Deltas) -> None:
    """Note the solution of a frame; of a depsgraph that isn't the screen's nothing is kept."""
    if _state["graph"]:
        _solved[uid, tip] = Solved(_state["graph"], frame, start, deltas)
