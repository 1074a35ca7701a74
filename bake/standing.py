"""Feet on a ground: where each is to be along its motion, what can't stand on it, and how deep a foot is in it.

Reads what was evaluated; keys nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..rig.errors import LimbIKError
from ..solvers import grounding, rows
from ..solvers.arrays import Floats
from ..solvers.holding import Held
from . import contacts, plant_work
from .contact_holds import contact_hold, grouped
from .contacts import Contact
from .feet import FootMotion, up_axis
from .terrain import Terrain, Walker

# Part of the leg's length: a floor this near the armature's origin is the origin's height.
FLOOR_AT_ORIGIN = 0.25
# Part of the leg's length: a ground that differs by less below the contacts is level.
UNEVEN = 0.02


@dataclass(frozen=True)
class Standing:
    """A foot on the ground: where it is to be, and the height of the ground that it belongs to."""

    foot: FootMotion
    held: Held
    levels: Floats
    contacts: int
    missed: int
    is_over_ground: bool


def check_upright(obj: Any, feet: Sequence[FootMotion]) -> None:
    """Raises a LimbIKError where legs don't point up."""
    if up_axis(feet)[2] <= 0.0:
        raise LimbIKError(f"the legs of '{obj.name}' don't stand upright: turn the armature so that +Z is up")


def refuse_grounded(on: Any, feet: Sequence[FootMotion], found: Sequence[Contact], terrain: Terrain) -> None:
    """Raises a LimbIKError where the feet follow this ground already: heights would be added twice."""
    by_tip = {foot.tip: foot for foot in feet}
    rows_of = []
    for one in (contact for contact in found if contact.part == contacts.END):
        foot = by_tip[one.tip]
        at = (foot.index(one.first) + foot.index(one.last)) // 2
        hit = terrain.below(at, foot.ends[at], float(foot.roots[at, 2]))
        if hit is not None:
            rows_of.append((float(foot.ends[at, 2]), hit.point.z))
    if not rows_of:
        return
    heights, levels = np.array(rows_of).T
    uneven, above, over_floor = np.ptp(levels), np.ptp(heights - levels), np.ptp(heights)
    if uneven > UNEVEN * feet[0].length and above < over_floor / 2.0:
        raise LimbIKError(f"the feet follow the surface of '{on.name}' already")


def cut_to_range(found: Sequence[Contact], frames: Floats) -> list[Contact]:
    """Contacts within a range, cut to it.

    Raises:
        LimbIKError: there is none.
    """
    begin, end = float(frames[0]), float(frames[-1])
    kept = [one for one in found if one.last >= begin and one.first <= end]
    if not kept:
        raise LimbIKError(f"no contact within frames {begin:g}…{end:g}: detect contacts first")
    return [replace(one, first=max(one.first, begin), last=min(one.last, end)) for one in kept]


def floor_of(obj: Any, feet: Sequence[FootMotion]) -> float:
    """Height of the floor that the motion was made on: the armature's origin, unless feet stand far from it."""
    lowest = []
    for foot in feet:
        points = foot.ends if foot.toes is None else np.concatenate((foot.ends, foot.toes))
        lowest.append(float(np.percentile(points[:, 2], 1.0)))
    origin = float(obj.matrix_world.translation.z)
    return origin if abs(min(lowest) - origin) < FLOOR_AT_ORIGIN * feet[0].length else min(lowest)


def stand(
    context: Any, foot: FootMotion, found: Sequence[Contact], terrain: Terrain, floor: float, amount: float
) -> Standing:
    """One foot's path over the ground.

    Args:
        context: gives the frame rate.
        foot: its motion.
        found: contacts, of other feet, too.
        terrain: the ground.
        floor: height of the floor that the motion was made on, world units.
        amount: 0 leaves the foot level, 1 turns it to the slope.
    """
    groups = grouped([one for one in found if one.tip == foot.tip])
    holds = [contact_hold(context, foot, group) for group in groups]
    lead = plant_work.lead_of(context, foot.chain)
    flat = plant_work.whole_path(foot, holds, lead) if holds else Held(foot.ends, foot.turns)
    walker = Walker(foot, flat, terrain, floor, [hold.window for hold in holds])
    spans, heights, normals = walker.with_ends(*walker.contact_levels(amount))
    turn = grounding.tilts(len(foot.frames), spans, normals, amount)
    levels = grounding.levels(len(foot.frames), spans, heights)
    lifted = levels + grounding.lift(walker.needed(levels, turn), walker.swings(), lead)
    points = flat.points + lifted[:, None] * np.array((0.0, 0.0, 1.0))
    turns: Floats = rows.multiply(turn.T, flat.turns.T).T
    return Standing(foot, Held(points, turns), levels, len(holds), len(walker.missed), walker.is_over_ground)


def deepest_in(terrain: Terrain, foot: FootMotion) -> float:
    """How far ankle, ball or toes are below the ground at most, in parts of the leg's length."""
    deepest = 0.0
    for points in (foot.ends, foot.toes, foot.toe_ends):
        for index, point in enumerate(() if points is None else points):
            hit = terrain.below(index, point, float(foot.roots[index, 2]))
            if hit is not None:
                deepest = max(deepest, (hit.point.z - float(point[2])) / foot.length)
    return deepest
