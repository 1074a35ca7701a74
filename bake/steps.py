"""Long work in steps: between two of them a person sees how far it is, and can stop it.

Must not know what the work is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# Work that yields how many of how many frames are read, and returns its result; closed early it changes nothing.
Steps = Generator[tuple[int, int], None, T]
# Told how many frames are read, of how many; what it raises ends the work without a change.
Progress = Callable[[int, int], None]


def finished(steps: Steps[T], progress: Progress | None = None) -> T:
    """The result of work in steps that is done at once."""
    try:
        while True:
            done, total = next(steps)
            if progress is not None:
                progress(done, total)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        steps.close()


def at_once(steps: Callable[P, Steps[T]]) -> Callable[P, T]:
    """The same work without stops: a function of the same arguments that returns the result."""

    @wraps(steps)
    def whole(*args: P.args, **named: P.kwargs) -> T:
        return finished(steps(*args, **named))

    return whole
