"""What the last evaluation said of each chain: status, length missed, why, in words.

Kept beside the file, not in it: the read-only properties get their values here.
This module must not solve anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..solvers.chain import Status
from . import linked_action, simulations

STATUS_NUMBERS = {status: number for number, status in enumerate(Status)}


@dataclass(frozen=True, slots=True)
class Readout:
    """Status, length missed (world units) and message of one chain."""

    status: Status = Status.IDLE
    error: float = 0.0
    message: str = ""


IDLE = Readout()
SHOWING_FK = {Status.IDLE, Status.INVALID}
_readouts: dict[tuple[int, str], Readout] = {}
# By a rig's session number: what tells of its chains, by their tips, once somebody asks.
_untold: dict[int, Callable[[int], dict[str, Readout]]] = {}


def put(obj: Any, tip: str, readout: Readout) -> None:
    """Keep what an evaluation found for the chain that ends at ``tip``."""
    _tell(obj.session_uid)
    _readouts[obj.session_uid, tip] = readout


def put_untold(uids: Iterable[int], tell: Callable[[int], dict[str, Readout]]) -> None:
    """Keep what tells of the chains of rigs (by session number); asked when one of them is read."""
    _untold.update(dict.fromkeys(uids, tell))


def _tell(uid: int) -> None:
    tell = _untold.pop(uid, None)
    if tell is not None:
        _readouts.update({(uid, tip): readout for tip, readout in tell(uid).items()})


def get(obj: Any, tip: str) -> Readout:
    """What the last evaluation found; idle where there was none."""
    _tell(obj.session_uid)
    return _readouts.get((obj.session_uid, tip), IDLE)


def clear() -> None:
    """Forget everything: another file, or the extension leaves."""
    _readouts.clear()
    _untold.clear()


def _shown(bone: Any) -> Readout:
    """What is to be read from a bone; of a chain that was taken away nothing."""
    return IDLE if bone.limb_ik_solver == 'NONE' else get(bone.id_data, bone.name)


def get_status(bone: Any) -> int:
    """Getter of ``limb_ik_status``."""
    return STATUS_NUMBERS[_shown(bone).status]


def get_error(bone: Any) -> float:
    """Getter of ``limb_ik_error``, in Blender units of the world."""
    return _shown(bone).error


def get_message(bone: Any) -> str:
    """Getter of ``limb_ik_message``; simulations on FK and actions without keys are said where nothing else is."""
    readout = _shown(bone)
    if readout.message or readout.status in SHOWING_FK:
        return readout.message
    notes = simulations.note(bone.id_data), linked_action.note(bone.id_data)
    return "; ".join(note for note in notes if note)
