"""How a limb is held over its contacts: those that overlap or follow each other at once as one.

Arithmetic on a motion that was read; keys nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..solvers import holding
from ..solvers.contacts import Span
from ..solvers.holding import Path
from .contacts import END, Contact
from .feet import FootMotion, blend_frames
from .plant_work import HeldContact

# Frames between two contacts of one limb that still count as one.
SAME_CONTACT_GAP = 1.0


def grouped(contacts: Sequence[Contact]) -> list[list[Contact]]:
    """Contacts of one limb that overlap or follow each other at once, together."""
    found: list[list[Contact]] = []
    for one in sorted(contacts, key=lambda c: (c.first, c.last)):
        if found and one.first <= max(c.last for c in found[-1]) + SAME_CONTACT_GAP:
            found[-1].append(one)
        else:
            found.append([one])
    return found


def path_of_foot(foot: FootMotion) -> Path:
    """The motion as the mathematics of holding takes it."""
    return Path(foot.ends, foot.turns, foot.roots, foot.reaches, foot.toes)


def contact_hold(context: Any, foot: FootMotion, group: Sequence[Contact]) -> HeldContact:
    """How a limb is held over contacts that overlap or follow each other at once."""
    window, rests = spans_in(foot, group)
    blend = blend_frames(context, foot.chain)
    keeps = foot.chain.end_rotation == 'TARGET'
    return HeldContact(window, holding.hold(path_of_foot(foot), window, rests, blend, keeps_turn=keeps))


def spans_in(foot: FootMotion, group: Sequence[Contact]) -> tuple[Span, list[Span]]:
    """The whole contact and the rests of the ankle in it, as indices; rests that overlap are one."""
    window = Span(foot.index(min(one.first for one in group)), foot.index(max(one.last for one in group)))
    rests: list[Span] = []
    for one in (c for c in group if c.part == END):
        span = Span(foot.index(one.first), foot.index(one.last))
        if rests and span.first <= rests[-1].last + 1:
            rests[-1] = Span(rests[-1].first, max(rests[-1].last, span.last))
        else:
            rests.append(span)
    return window, rests
