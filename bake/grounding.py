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

from ..rig import animated_range
from ..rig.errors import LimbIKError
from ..rig.ground import check_ground
from ..rig.lengths import in_words
from ..solvers import grounding, rows
from ..solvers.arrays import Floats
from . import contacts, hips, plant_work, planting
from .contacts import Contact
from .feet import FootMotion
from .plant_work import LimbKeys
from .planting import PlantReport
from .ranges import frames_between
from .reading_feet import read_feet, read_feet_steps
from .standing import Standing, check_upright, cut_to_range, deepest_in, floor_of, refuse_grounded, stand
from .steps import Steps, at_once
from .switch_times import is_on_at
from .terrain import Terrain
from .use_ik_keys import OnSpan

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
            text += f"; '{self.hips}' moved by {in_words(self.lowest)} to {in_words(self.highest)}"
        return "; ".join((text, *self.notes))


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
    terrain = Terrain.over(context, obj, on, frames)
    feet = yield from read_feet_steps(context, obj, chains, [float(frame) for frame in frames])
    check_upright(obj, feet)
    own = {chain.tip for chain in chains}
    known = contacts.found_in(context, obj, feet) if found is None else [one for one in found if one.tip in own]
    touching = cut_to_range(known, frames)
    refuse_grounded(on, feet, touching, terrain)
    floor = floor_of(obj, feet) if options.floor is None else options.floor
    standing = [stand(context, foot, touching, terrain, floor, options.amount) for foot in feet]
    if not any(one.is_over_ground for one in standing):
        raise LimbIKError(f"'{on.name}' is nowhere below the feet of '{obj.name}'")
    report = _put(context, obj, standing, options)
    after = read_feet(context, obj, planting.ready_chains(obj, [c.tip for c in chains]), [float(f) for f in frames])
    return _measured(report, feet, after, touching, terrain)


ground = at_once(ground_steps)


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
        own = animated_range.animation_range(obj) or (frames[0], frames[-1])
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


def _hips_offsets(standing: Sequence[Standing], ramp: _Ramp) -> Floats:
    wanted = np.mean([one.levels for one in standing], axis=0)
    most = np.min(
        [grounding.most_offset(one.foot.roots, one.held.points, one.foot.reaches) for one in standing], axis=0
    )
    offsets = grounding.hips_offset(wanted, most, max(1.0, ramp.lead)) * ramp.parts
    return offsets if np.abs(offsets).max() > NO_OFFSET * standing[0].foot.length else np.zeros(len(offsets))


def _put(context: Any, obj: Any, standing: Sequence[Standing], options: GroundOptions) -> GroundReport:
    """Key feet, poles and hips; all is checked before anything is written."""
    frames = standing[0].foot.frames
    ramp = _Ramp.over(context, obj, [one.foot.chain for one in standing], frames)
    offsets = _hips_offsets(standing, ramp) if options.use_hips else np.zeros(len(frames))
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
    missed = sum(one.missed for one in standing)
    notes = [f"no ground below a foot on {missed} frames: the level before was kept"] if missed else []
    notes += planting.shared_by(obj, limbs)
    return GroundReport(planted, bone, float(offsets.min()), float(offsets.max()), (0.0, 0.0), tuple(notes))


def _measured(
    report: GroundReport,
    before: Sequence[FootMotion],
    after: Sequence[FootMotion],
    touching: Sequence[Contact],
    terrain: Terrain,
) -> GroundReport:
    """The report with how far feet slid in contacts and were in the ground, before and after."""
    slides = [tuple(contacts.slides(motion, touching)) for motion in (before, after)]
    deepest = [max(deepest_in(terrain, foot) for foot in motion) for motion in (before, after)]
    planted = replace(report.planted, before=slides[0], after=slides[1])
    return replace(report, planted=planted, deepest=(deepest[0], deepest[1]))


def _limb_keys(obj: Any, one: Standing, offsets: Floats, ramp: _Ramp, options: GroundOptions) -> LimbKeys:
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
