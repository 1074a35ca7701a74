"""What was written earlier on this frame, and the FK it was written for.

A drag that is cancelled puts a value back that IK wrote a moment ago; it has to bring
its FK back, too. Kept for one frame only, in memory. This module must not write a pose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

# A drag writes once per move of the pointer; the value that a cancel puts back is found among as many.
LENGTH = 256

Raw = tuple[float, ...]
Place = tuple[int, str, str]
First = Callable[[int], dict[str, tuple[Raw, Raw]]]
_writes: dict[Place, list[tuple[Raw, Raw]]] = {}
_first: dict[tuple[int, str], First] = {}


def remember(place: Place, fk: Raw, written: Raw) -> None:
    """Note that ``written`` was put into a bone whose FK was ``fk``.

    ``place``: the object's session number, the bone's name and its rotation mode.
    """
    writes = _writes.get(place)
    if writes is None:
        _writes[place] = [(fk, written)]
    elif writes[-1][1] != written:
        writes.append((fk, written))
        del writes[:-LENGTH]


def remember_first(uids: Iterable[int], mode: str, first: First) -> None:
    """Note whole rigs' first writes on a frame. ``first``: a rig's by bone name, made when asked for."""
    _first.update({(uid, mode): first for uid in uids})


def past(place: Place) -> Iterable[tuple[Raw, Raw]]:
    """``(fk, written)`` of this frame, the last one first."""
    yield from reversed(_writes.get(place, ()))
    uid, name, mode = place
    if (uid, mode) in _first:
        found = _first[uid, mode](uid).get(name)
        if found is not None:
            yield found


def clear() -> None:
    """Another frame, file or undo step."""
    _writes.clear()
    _first.clear()
