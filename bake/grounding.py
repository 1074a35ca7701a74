"""Feet on a mesh: heights, slopes and stairs as keys of targets, and of one offset of the hips.

Contacts stand still on the ground below them; swings go from one level to the next above
every edge; the hips come down where a leg would be too short. Plain functions; the
operators and the command line call them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..rig import compat
from ..rig.errors import LimbIKError
from ..rig.ground import Ground, check_ground, may_move
from ..rig.sampling import sample
from ..solvers import grounding, rows
from ..solvers.contacts import Floats
from ..solvers.holding import Held
from . import contacts, hips, plant_work, planting
from .contacts import Contact
from .feet import FootMotion, read_feet, read_feet_steps, up_axis
from .plant_work import LimbKeys
from .planting import PlantReport
from .ranges import frames_between
from .steps import Steps, at_once
from .switch_times import is_on_at
from .terrain import Terrain, Walker
from .use_ik_keys import OnSpan

# Part of the leg's length: a floor this near the armature's origin is the origin's height.
FLOOR_AT_ORIGIN = 0.25
# Part of the leg's length: a ground that differs by less below the contacts is level.
UNEVEN = 0.02
# Part of the leg's length: an offset of the hips below it isn't worth a key.
NO_OFFSET = 1e-5


@dataclass(frozen=True, slots=True)
class GroundOptions:
    """How feet stand. ``amount``: 0 leaves feet level, 1 turns them to the slope. ``floor``: height of the floor that
    the motion was made on, world units; None finds it. ``use_hips``: the hips may be lowered (and lifted).
    """

    amount: float = 1.0
    floor: float | None = None
    use_hips: bool = True


@dataclass(frozen=True)
class GroundReport:
    """What was grounded. ``lowest``, ``highest``: offset of the hips, world units. ``deepest``: how far a foot was
    below the ground before and after, parts of its leg's length.
    """

    planted: PlantReport
    hips: str
    lowest: float
    highest: float
    deepest: tuple[float, float]
    notes: tuple[str, ...] = ()

    def sentence(self) -> str:
        """The report in one line for people."""
        text = f"{self.planted.sentence()}; deepest in the ground {self.deepest[0]:.1%} of the leg before, "
        text += f"{self.deepest[1]:.2%} after"
        if self.hips:
            text += f"; '{self.hips}' moved by {self.lowest:.3f} to {self.highest:.3f}"
        return "; ".join((text, *self.notes))


@dataclass(frozen=True)
class _Standing:
    """A foot on the ground: where it is to be, and the height of the ground that it belongs to."""

    foot: FootMotion
    held: Held
    levels: Floats
    contacts: int
    missed: int
    is_over_ground: bool


def ground_steps(
    context: Any,
    obj: Any,
    on: Any,
    tips: Sequence[str] = (),
    first: float | None = None,
    last: float | None = None,
    *,
    options: GroundOptions = GroundOptions(),
    found: Sequence[Contact] | None = None,
) -> Steps[GroundReport]:
    """Put the feet of a motion onto an object's surface, over a range.

    In steps: yields frames read and their number. Closed early it changes nothing.

    Args:
        context: gives scene and frame rate.
        obj: the armature object.
        on: the object to stand on.
        tips: legs by their tips; empty for all.
        first: first frame; None for the animation's.
        last: last frame; None for the animation's.
        options: see ``GroundOptions``.
        found: contacts; None detects them.

    Raises:
        LimbIKError: no ground, no contact, or a key can't be written; nothing was changed.
    """
    check_ground(on)
    chains = planting.ready_chains(obj, [chain.tip for chain in contacts.chosen(obj, tips)])
    frames = np.asarray(frames_between(context, obj, first, last))
    terrain = _terrain(context, obj, on, frames)
    feet = yield from read_feet_steps(context, obj, chains, [float(frame) for frame in frames])
    _check_upright(obj, feet)
    tips = [chain.tip for chain in chains]
    known = contacts.found_in(context, obj, feet) if found is None else [one for one in found if one.tip in tips]
    touching = _inside(known, frames)
    floor = _floor(obj, feet) if options.floor is None else options.floor
    _refuse_grounded(on, feet, touching, terrain)
    standing = [_stand(context, foot, touching, terrain, floor, options.amount) for foot in feet]
    if not any(one.is_over_ground for one in standing):
        raise LimbIKError(f"'{on.name}' is nowhere below the feet of '{obj.name}'")
    ramp = _Ramp.over(context, obj, chains, frames)
    offsets = _hips_offsets(standing, ramp) if options.use_hips else np.zeros(len(frames))
    report = _write(context, obj, standing, offsets, ramp, options)
    after = read_feet(context, obj, planting.ready_chains(obj, [c.tip for c in chains]), [float(f) for f in frames])
    slides = [tuple(contacts.slides(motion, touching)) for motion in (feet, after)]
    deepest = [max(_depth(foot, terrain) for foot in motion) for motion in (feet, after)]
    missed = sum(one.missed for one in standing)
    return replace(
        report,
        planted=replace(report.planted, before=slides[0], after=slides[1]),
        deepest=(deepest[0], deepest[1]),
        notes=(f"no ground below a foot on {missed} frames: the level before was kept",) if missed else (),
    )


ground = at_once(ground_steps)


def _terrain(context: Any, obj: Any, on: Any, frames: Floats) -> Terrain:
    surface = Ground(on, context.evaluated_depsgraph_get())
    if not may_move(on):
        return Terrain(surface, None)
    moments = [float(frame) for frame in frames]
    return Terrain(surface, sample(context, [obj], moments, lambda run: run.world(on).copy(), beside=[on]))


def _check_upright(obj: Any, feet: Sequence[FootMotion]) -> None:
    if up_axis(feet)[2] <= 0.0:
        raise LimbIKError(f"the legs of '{obj.name}' don't stand upright: turn the armature so that +Z is up")


def _refuse_grounded(on: Any, feet: Sequence[FootMotion], found: Sequence[Contact], terrain: Terrain) -> None:
    """Heights would be added twice where the feet of a motion follow this ground already."""
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


def _inside(found: Sequence[Contact], frames: Floats) -> list[Contact]:
    """Contacts within a range, cut to it."""
    begin, end = float(frames[0]), float(frames[-1])
    kept = [one for one in found if one.last >= begin and one.first <= end]
    if not kept:
        raise LimbIKError(f"no contact within frames {begin:g}…{end:g}: detect contacts first")
    return [replace(one, first=max(one.first, begin), last=min(one.last, end)) for one in kept]


def _floor(obj: Any, feet: Sequence[FootMotion]) -> float:
    """Height of the floor that the motion was made on: the armature's origin, unless feet stand far from it."""
    lowest = []
    for foot in feet:
        points = foot.ends if foot.toes is None else np.concatenate((foot.ends, foot.toes))
        lowest.append(float(np.percentile(points[:, 2], 1.0)))
    origin = float(obj.matrix_world.translation.z)
    return origin if abs(min(lowest) - origin) < FLOOR_AT_ORIGIN * feet[0].length else min(lowest)


def _stand(
    context: Any, foot: FootMotion, found: Sequence[Contact], terrain: Terrain, floor: float, amount: float
) -> _Standing:
    """One foot's path over the ground."""
    groups = planting.grouped([one for one in found if one.tip == foot.tip])
    holds = [planting.contact_hold(context, foot, group) for group in groups]
    lead = plant_work.lead_of(context, foot.chain)
    flat = plant_work.whole_path(foot, holds, lead) if holds else Held(foot.ends, foot.turns)
    walker = Walker(foot, flat, terrain, floor, [hold.window for hold in holds])
    spans, heights, normals = walker.with_ends(*walker.contact_levels(amount))
    turn = grounding.tilts(len(foot.frames), spans, normals, amount)
    levels = grounding.levels(len(foot.frames), spans, heights)
    lifted = levels + grounding.lift(walker.needed(levels, turn), walker.swings(), lead)
    points = flat.points + lifted[:, None] * np.array((0.0, 0.0, 1.0))
    turns: Floats = rows.multiply(turn.T, flat.turns.T).T
    return _Standing(foot, Held(points, turns), levels, len(holds), len(walker.missed), walker.is_over_ground)


@dataclass(frozen=True)
class _Ramp:
    """How grounding comes and goes at the ends of a range inside of an animation. ``parts``: 0 … 1 per frame."""

    first: float
    last: float
    lead: float
    parts: Floats

    @classmethod
    def over(cls, context: Any, obj: Any, chains: Sequence[Any], frames: Floats) -> _Ramp:
        """At an end of the animation nothing has to be blended."""
        own = compat.animation_range(obj) or (frames[0], frames[-1])
        lead = max(plant_work.lead_of(context, chain) for chain in chains)
        begins, ends = frames[0] <= own[0], frames[-1] >= own[1]
        size = max(lead, 1.0)
        parts = np.ones(len(frames))
        if not begins:
            parts = np.minimum(parts, rows.smoothstep((frames - frames[0]) / size))
        if not ends:
            parts = np.minimum(parts, rows.smoothstep((frames[-1] - frames) / size))
        last = plant_work.off_at(float(frames[-1] - lead * (not ends)), lead)
        return cls(float(frames[0] - lead * begins), last, lead, parts)


def _hips_offsets(standing: Sequence[_Standing], ramp: _Ramp) -> Floats:
    wanted = np.mean([one.levels for one in standing], axis=0)
    most = np.min(
        [grounding.most_offset(one.foot.roots, one.held.points, one.foot.reaches) for one in standing], axis=0
    )
    offsets = grounding.hips_offset(wanted, most, max(1.0, ramp.lead)) * ramp.parts
    return offsets if np.abs(offsets).max() > NO_OFFSET * standing[0].foot.length else np.zeros(len(offsets))


def _write(
    context: Any, obj: Any, standing: Sequence[_Standing], offsets: Floats, ramp: _Ramp, options: GroundOptions
) -> GroundReport:
    frames = standing[0].foot.frames
    limbs = [_limb_keys(obj, one, offsets, ramp, options) for one in standing]
    moves = bool(offsets.any())
    bone = hips.hips_bone(obj, [one.foot.chain for one in standing]) if moves else ""
    if moves:
        hips.check(obj, bone, frames)
        locations = hips.moved_locations(context, obj, bone, frames, offsets)
    count = plant_work.write(obj, limbs)
    if moves:
        count += hips.write(obj, bone, frames, locations)
    planted = PlantReport(len(limbs), sum(one.contacts for one in standing), count)
    return GroundReport(planted, bone, float(offsets.min()), float(offsets.max()), (0.0, 0.0))


def _limb_keys(obj: Any, one: _Standing, offsets: Floats, ramp: _Ramp, options: GroundOptions) -> LimbKeys:
    foot = one.foot
    if options.amount > 0.0 and foot.chain.end >= 0:
        foot = replace(foot, chain=replace(foot.chain, end_rotation='TARGET'))
    chain = foot.chain
    is_world = chain.target_space != 'FK'
    sides = [is_world and is_on_at(obj, chain, at) for at in (ramp.first - 1.0, ramp.last + 1.0)]
    parts = ramp.parts if any(sides) else np.ones(len(foot.frames))
    held = plant_work.onto_target(foot, one.held, parts if any(sides) else None)
    raised = (offsets + one.levels) / 2.0
    poles = None if foot.poles is None else foot.poles + raised[:, None] * np.array((0.0, 0.0, 1.0))
    inside = np.ones(len(foot.frames), dtype=bool)
    controls = plant_work.controls(replace(foot, poles=poles), held, inside, with_pole=not any(sides))
    spans = () if all(sides) else (OnSpan(ramp.first, ramp.last, stays_on=sides[1]),)
    return LimbKeys(foot, spans, tuple(controls))


def _depth(foot: FootMotion, terrain: Terrain) -> float:
    """How far ankle, ball or toes are below the ground at most, in parts of the leg's length."""
    deepest = 0.0
    for points in (foot.ends, foot.toes, foot.toe_ends):
        for index, point in enumerate(() if points is None else points):
            hit = terrain.below(index, point, float(foot.roots[index, 2]))
            if hit is not None:
                deepest = max(deepest, (hit.point.z - float(point[2])) / foot.length)
    return deepest
