"""Objects that play the same keys: what is written for one is the other's, too.

Two that are worked on at once are refused; of others it is said. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bpy

from ..rig import compat
from ..rig.errors import LimbIKError
from ..rig.sentences import listed


def check_own_keys(objects: Sequence[bpy.types.Object]) -> None:
    """Raises where two of these objects play the same keys: those written for one would be the other's, too.

    Raises:
        LimbIKError: names both and the action.
    """
    owners: dict[tuple[Any, ...], bpy.types.Object] = {}
    for obj in objects:
        action, slot = compat.action_and_slot(obj)
        if action is None or (compat.HAS_SLOTS and slot is None):
            continue
        other = owners.setdefault(_key(action, slot), obj)
        if other != obj:
            raise LimbIKError(
                f"'{other.name}' and '{obj.name}' share the action '{action.name}': give each its own first"
            )


def shared_notes(objects: Iterable[bpy.types.Object]) -> list[str]:
    """What to say where keys were written for these objects and others play them, too."""
    keyed = list(dict.fromkeys(objects))
    found = [(action, _others(obj, action, slot, keyed)) for obj in keyed for action, slot in _shared(obj)]
    return [
        f"{listed(one.name for one in others)} {'plays' if len(others) == 1 else 'play'} the same action "
        f"'{action.name}' and changed with it"
        for action, others in found
        if others
    ]


def _shared(obj: bpy.types.Object) -> list[tuple[bpy.types.Action, Any]]:
    """The object's action and slot where something else may use the action."""
    action, slot = compat.action_and_slot(obj)
    if action is None or (compat.HAS_SLOTS and slot is None):
        return []
    return [(action, slot)] if action.users - action.use_fake_user > 1 else []


def _others(
    obj: bpy.types.Object, action: bpy.types.Action, slot: Any, keyed: Sequence[bpy.types.Object]
) -> list[bpy.types.Object]:
    wanted = _key(action, slot)
    return [one for one in bpy.data.objects if one.type == obj.type and one not in keyed and wanted in _played(one)]


def _played(obj: bpy.types.Object) -> list[tuple[int, int]]:
    """Action and slot of the active action and of every strip."""
    anim = obj.animation_data
    if anim is None:
        return []
    users: list[Any] = [anim, *(strip for track in anim.nla_tracks for strip in track.strips)]
    return [_key(one.action, getattr(one, "action_slot", None)) for one in users if one.action is not None]


def _key(action: bpy.types.Action, slot: Any) -> tuple[int, int]:
    return action.session_uid, 0 if slot is None else slot.handle
