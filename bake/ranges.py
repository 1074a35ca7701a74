"""Which frames an operation works on: a range, or the keys that lie in it. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..rig import chains
from ..rig.errors import LimbIKError
from ..rig.session import object_at
from . import keyed
from .jobs import chains_named
from .options import BakeOptions
from .plan import frames_of


def frames_between(context: Any, obj: Any, first: float | None, last: float | None) -> tuple[float, ...]:
    """Every frame from first to last; None takes the end of the armature's animation, else of the scene.

    Raises:
        LimbIKError: the range holds no frame.
    """
    return frames_of(context, obj, BakeOptions(frame_start=first, frame_end=last))


def bone_keys(obj: Any, tips: Sequence[str], first: float, last: float) -> list[float]:
    """Frames within first…last at which bones of chains have keys.

    Raises:
        LimbIKError: there are none.
    """
    names = chains.setup_of(obj).names
    bones = {names[bone] for chain in chains_named(obj, tips) for bone in (*chain.bones, chain.end) if bone >= 0}
    return _some(keyed.keyed_frames(obj, bones, first, last), "bones", first, last)


def control_keys(obj: Any, tips: Sequence[str], first: float, last: float) -> list[float]:
    """Frames within first…last at which targets and poles of chains have keys.

    Raises:
        LimbIKError: there are none.
    """
    found: set[float] = set()
    for chain in chains_named(obj, tips):
        for key, bone in filter(None, (chain.target_key, chain.pole_key)):
            owner = object_at(key)
            own = keyed.keyed_frames(owner, [bone], first, last) if bone else keyed.frames_of_place(owner, first, last)
            found.update(own)
    return _some(sorted(found), "targets", first, last)


def _some(frames: list[float], what: str, first: float, last: float) -> list[float]:
    if not frames:
        raise LimbIKError(f"the {what} have no key within frames {first:g}…{last:g}")
    return frames
