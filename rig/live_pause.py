"""A switch that handlers obey: no live solving while frames are read in a scene of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import edits

_state = {"depth": 0}


@contextmanager
def paused() -> Iterator[None]:
    """Live handlers neither solve nor write inside of this."""
    _state["depth"] += 1
    try:
        yield
    finally:
        _state["depth"] -= 1
        edits.note()


def is_paused() -> bool:
    """Whether live handlers are to do nothing."""
    return _state["depth"] > 0
