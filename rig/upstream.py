"""Which rigs hang on which: their chains reach for, stand on or hang on what the bones of others move.

What was found is remembered while set-ups stay and nothing in the scene gets new relations.
Pointers alone are read, whatever the influence of a constraint, since that may be animated.
This module must not solve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import bpy

from . import hanging, marks
from .bone_rows import tips_of
from .named_links import EVALUATED, place_of

# By session number of a rig those of the armature objects that it hangs on, itself left out.
_above: dict[int, frozenset[int]] = {}


def forget(obj: bpy.types.Object | None = None) -> None:
    """What a rig hangs on, or all of them, may be others now."""
    if obj is None:
        _above.clear()
    else:
        _above.pop(obj.session_uid, None)


marks.on_change(forget)


def involved(touched: Iterable[bpy.types.Object], rigs: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Of all rigs those that are touched, those that hang on them at any depth, and all that these hang on."""
    above = {rig.session_uid: _known_above(rig) for rig in rigs}
    wanted = {obj.session_uid for obj in touched}
    if any(above.values()):
        wanted = _reached(_reached(wanted, _turned_about(above)), above)
    return [rig for rig in rigs if rig.session_uid in wanted]


def with_upstream(objects: Iterable[bpy.types.Object], rigs: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Of all rigs the given ones and those that they hang on, at any depth."""
    above = {rig.session_uid: _known_above(rig) for rig in rigs}
    wanted = _reached({obj.session_uid for obj in objects}, above)
    return list({rig.session_uid: rig for rig in rigs if rig.session_uid in wanted}.values())


def rigs_above(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The armature objects that a rig hangs on, at any depth; read anew."""
    found = [obj]
    for one in found:
        found += [above for above in _directly_above(one) if above not in found]
    return found[1:]


def _known_above(obj: bpy.types.Object) -> frozenset[int]:
    known = _above.get(obj.session_uid)
    if known is None:
        known = _above[obj.session_uid] = frozenset(one.session_uid for one in _directly_above(obj))
    return known


def _directly_above(obj: bpy.types.Object) -> list[bpy.types.Object]:
    linked = [place_of(tip, role) for tip in tips_of(obj) for role in EVALUATED]
    tops = dict.fromkeys([(obj, ""), *((one, bone_name) for one, bone_name in linked if one is not None)])
    found = dict.fromkeys(one for top in tops for one in hanging.all_above(*top))
    return [one for one in found if one.type == 'ARMATURE' and one != obj]


def _turned_about(above: Mapping[int, frozenset[int]]) -> dict[int, set[int]]:
    """By rig those that hang on it directly."""
    below: dict[int, set[int]] = {}
    for uid, ones in above.items():
        for one in ones:
            below.setdefault(one, set()).add(uid)
    return below


def _reached(uids: Iterable[int], graph: Mapping[int, Iterable[int]]) -> set[int]:
    """These and all that is reached from them."""
    found, waiting = set[int](), list(uids)
    while waiting:
        uid = waiting.pop()
        if uid not in found:
            found.add(uid)
            waiting += graph.get(uid, ())
    return found
