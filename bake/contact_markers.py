"""Contacts as pairs of timeline markers, "foot.L down" and "foot.L up": moving one edits the contact.

The markers are all there is: panels list them, planting reads them. A foot's ball has
markers of its own. Where several armatures have a bone of that name, the armature's
name stands before it. Must not key or plant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..rig.chain_setup import REACHING
from ..rig.chains import ChainSetup, known_setup, setup_of
from ..rig.errors import LimbIKError
from .contacts import END, TOE, Contact, point_name

DOWN, UP = " down", " up"


@dataclass(frozen=True, slots=True)
class Marked:
    """A contact's point and its two markers; ``up`` None: the marker of its end is missing."""

    tip: str
    part: str
    point: str
    down: Any
    up: Any


def put(context: Any, obj: Any, contacts: Sequence[Contact], tips: Sequence[str]) -> int:
    """Replace the markers of the points of some chains by those of contacts; returns how many contacts are marked."""
    remove(context, obj, tips)
    by_tip = {chain.tip: chain for chain in setup_of(obj).chains}
    markers = context.scene.timeline_markers
    for one in contacts:
        label = _label(context, obj, point_name(obj, by_tip[one.tip], one.part))
        for suffix, frame in ((DOWN, one.first), (UP, one.last)):
            markers.new(label + suffix, frame=round(frame))
    return len(contacts)


def remove(context: Any, obj: Any, tips: Sequence[str]) -> int:
    """Remove the markers of the points of some chains; returns how many there were."""
    markers = context.scene.timeline_markers
    own = _own_names(context, obj, tips)
    found = [marker for marker in markers if marker.name in own]
    for marker in found:
        markers.remove(marker)
    return len(found)


def listed(context: Any, obj: Any, tips: Sequence[str] = ()) -> list[Marked]:
    """The marked contacts of an armature in time order; empty ``tips``: of all chains.

    For redraws, too: writes nothing, and knows nothing of a rig whose set-up wasn't read yet.
    """
    points = _points(context, obj, tips) if known_setup(obj) is not None else {}
    if not points:
        return []
    rows: dict[str, list[Any]] = {}
    for marker in context.scene.timeline_markers:
        name = marker.name.removesuffix(DOWN).removesuffix(UP)
        if name != marker.name and name in points:
            rows.setdefault(name, []).append(marker)
    found = [one for name, row in rows.items() for one in _pairs(*points[name], sorted(row, key=_time_order))]
    return sorted(found, key=lambda one: (one.down.frame, one.point))


def has_any(context: Any, obj: Any, tips: Sequence[str] = ()) -> bool:
    """Whether the timeline has a contact of an armature."""
    setup_of(obj)  # read now, where it has to be
    return bool(listed(context, obj, tips))


def _time_order(marker: Any) -> tuple[int, bool]:
    return marker.frame, marker.name.endswith(UP)


def _pairs(tip: str, part: str, point: str, row: Sequence[Any]) -> list[Marked]:
    found, down = [], None
    for marker in row:
        if marker.name.endswith(DOWN):
            if down is not None:
                found.append(Marked(tip, part, point, down, None))
            down = marker
        elif down is not None:
            found.append(Marked(tip, part, point, down, marker))
            down = None
    return found if down is None else [*found, Marked(tip, part, point, down, None)]


def read(context: Any, obj: Any, tips: Sequence[str] = ()) -> list[Contact]:
    """The contacts that the timeline has for an armature.

    Raises:
        LimbIKError: there is none, or a contact has no end.
    """
    setup_of(obj)  # read now, where it has to be
    marked = listed(context, obj, tips)
    for one in marked:
        if one.up is None:
            raise LimbIKError(
                f"the contact of '{one.point}' at frame {one.down.frame} has no end: add a marker '{one.point}{UP}'"
            )
    if not marked:
        raise LimbIKError(f"the timeline has no contact of '{obj.name}': detect contacts, or add markers")
    return [Contact(one.tip, one.part, float(one.down.frame), float(one.up.frame)) for one in marked]


def _points(context: Any, obj: Any, tips: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Tip, part and point's name by every name that markers of these chains may have."""
    found = {}
    for chain in _chains(obj, tips):
        for part in (END, TOE) if chain.end >= 0 else (END,):
            name = point_name(obj, chain, part)
            found[f"{obj.name}: {name}"] = chain.tip, part, name
            if not _is_shared(context, obj, name):
                found[name] = chain.tip, part, name
    return found


def _chains(obj: Any, tips: Sequence[str]) -> list[ChainSetup]:
    return [one for one in setup_of(obj).chains if one.solver in REACHING and (not tips or one.tip in tips)]


def _own_names(context: Any, obj: Any, tips: Sequence[str]) -> set[str]:
    return {name + suffix for name in _points(context, obj, tips) for suffix in (DOWN, UP)}


def _label(context: Any, obj: Any, point: str) -> str:
    return f"{obj.name}: {point}" if _is_shared(context, obj, point) else point


def _is_shared(context: Any, obj: Any, point: str) -> bool:
    bone = point.removesuffix(" toe")
    return any(
        other != obj and other.type == 'ARMATURE' and bone in other.data.bones for other in context.scene.objects
    )
