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
from mathutils import Matrix, Vector

from ..rig import compat
from ..rig.errors import LimbIKError
from ..rig.ground import Ground, Hit, check_ground, may_move
from ..rig.sampling import sample
from ..solvers import grounding, holding, rows
from ..solvers.contacts import Floats, Span
from ..solvers.holding import Held
from . import contacts, hips, planting
from .contacts import Contact
from .feet import FootMotion, read_feet, up_axis
from .plant_keys import OnSpan
from .planting import PlantReport, Work
from .ranges import frames_between
from .switching import is_on_at

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
class _Terrain:
    """The ground on every frame. ``places``: its matrices where it moves."""

    ground: Ground
    places: Sequence[Matrix] | None

    def below(self, index: int, point: Floats, from_height: float) -> Hit | None:
        if self.places is not None:
            self.ground.place(self.places[index])
        return self.ground.below(Vector(point.tolist()), from_height)


@dataclass(frozen=True)
class _Standing:
    """A foot on the ground: where it is to be, and the height of the ground that it belongs to."""

    foot: FootMotion
    held: Held
    levels: Floats
    contacts: int
    missed: int
    is_over_ground: bool


def ground(
    context: Any,
    obj: Any,
    on: Any,
    tips: Sequence[str] = (),
    first: float | None = None,
    last: float | None = None,
    *,
    options: GroundOptions = GroundOptions(),
    found: Sequence[Contact] | None = None,
) -> GroundReport:
    """Put the feet of a motion onto an object's surface, over a range.

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
    feet = read_feet(context, obj, chains, [float(frame) for frame in frames])
    _check_upright(obj, feet)
    touching = _inside(found if found is not None else contacts.found_in(context, obj, feet), frames)
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


def _terrain(context: Any, obj: Any, on: Any, frames: Floats) -> _Terrain:
    surface = Ground(on, context.evaluated_depsgraph_get())
    if not may_move(on):
        return _Terrain(surface, None)
    moments = [float(frame) for frame in frames]
    return _Terrain(surface, sample(context, [obj], moments, lambda run: run.world(on).copy(), beside=[on]))


def _check_upright(obj: Any, feet: Sequence[FootMotion]) -> None:
    if up_axis(feet)[2] <= 0.0:
        raise LimbIKError(f"the legs of '{obj.name}' don't stand upright: turn the armature so that +Z is up")


def _refuse_grounded(
    on: Any, feet: Sequence[FootMotion], found: Sequence[Contact], terrain: _Terrain
) -> None:
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
    context: Any, foot: FootMotion, found: Sequence[Contact], terrain: _Terrain, floor: float, amount: float
) -> _Standing:
    """One foot's path over the ground."""
    groups = planting.grouped([one for one in found if one.tip == foot.tip])
    holds = [planting.contact_hold(context, foot, group) for group in groups]
    lead = planting.lead_of(context, foot.chain)
    flat = planting.whole_path(foot, holds, lead) if holds else Held(foot.ends, foot.turns)
    walker = _Walker(foot, flat, terrain, floor, [hold.window for hold in holds])
    spans, heights, normals = walker.with_ends(*walker.contact_levels(amount))
    turn = grounding.tilts(len(foot.frames), spans, normals, amount)
    levels = grounding.levels(len(foot.frames), spans, heights)
    lifted = levels + grounding.lift(walker.needed(levels, turn), walker.swings(), lead)
    points = flat.points + lifted[:, None] * np.array((0.0, 0.0, 1.0))
    turns: Floats = rows.multiply(turn.T, flat.turns.T).T
    return _Standing(foot, Held(points, turns), levels, len(holds), len(walker.missed), walker.is_over_ground)


class _Walker:
    """Asks the ground below one foot's ankle, ball and toes along its path."""

    def __init__(
        self, foot: FootMotion, flat: Held, terrain: _Terrain, floor: float, windows: Sequence[Span]
    ) -> None:
        self.foot, self.flat, self.terrain, self.floor, self.windows = foot, flat, terrain, floor, list(windows)
        self.missed: set[int] = set()
        self.is_over_ground = False
        # From the ankle to each point, in the foot's own frame.
        self._arms = [_own_arms(foot, points) for points in (foot.ends, foot.toes, foot.toe_ends) if points is not None]
        touching = np.concatenate([np.arange(one.first, one.last + 1) for one in windows or [self._whole()]])
        # How far each point is above the floor: never less than where it rests.
        self._clearances = []
        for arms in self._arms:
            heights = (flat.points + holding.rotated(flat.turns, arms))[:, 2] - floor
            self._clearances.append(np.clip(heights, 0.0, max(0.0, float(heights[touching].min()))))

    def _whole(self) -> Span:
        return Span(0, len(self.foot.frames) - 1)

    def contact_levels(self, amount: float) -> tuple[list[float], Floats]:
        """Height above the floor and normal of the ground in each contact; the toes are above the ground, too."""
        heights: list[float] = []
        normals = []
        for window in self.windows:
            at = (window.first + window.last) // 2
            before = heights[-1] if heights else 0.0
            hit = self._below(at, self.flat.points[at], before)
            normal = np.array((0.0, 0.0, 1.0)) if hit is None else np.array(hit.normal, dtype=np.float64)
            level = before if hit is None else hit.point.z - self.floor
            normals.append(normal)
            inside = np.arange(window.first, window.last + 1)
            turn = grounding.tilts(len(inside), [Span(0, len(inside) - 1)], normal[None, :], amount)
            buried = self._buried(inside, np.full(len(inside), level), turn, first_point=1)
            heights.append(level + float(buried.max()))
        return heights, np.array(normals).reshape(-1, 3)

    def with_ends(self, heights: Sequence[float], normals: Floats) -> tuple[list[Span], list[float], Floats]:
        """The contacts and, where a range begins or ends in a swing, the ground below its first and last frame."""
        spans, levels, ups = list(self.windows), list(heights), list(normals)
        for at in (0, self._whole().last):
            if any(one.first <= at <= one.last for one in spans):
                continue
            nearest = levels[0 if at == 0 else -1] if levels else 0.0
            hit = self._below(at, self.flat.points[at], nearest)
            if hit is not None:
                place = 0 if at == 0 else len(spans)
                spans.insert(place, Span(at, at))
                levels.insert(place, hit.point.z - self.floor)
                ups.insert(place, np.array(hit.normal, dtype=np.float64))
        if not spans:
            return [self._whole()], [0.0], np.array([(0.0, 0.0, 1.0)])
        return spans, levels, np.array(ups)

    def needed(self, levels: Floats, tilts: Floats) -> Floats:
        """By how much the foot would be in the ground on each frame of its swings."""
        found = np.zeros(len(levels))
        for swing in self.swings():
            inside = np.arange(swing.first, swing.last + 1)
            found[inside] = self._buried(inside, levels[inside], tilts[inside], first_point=0)
        return found

    def swings(self) -> list[Span]:
        """Frames without contact."""
        ends = [-1, *(one.last for one in self.windows)]
        begins = [*(one.first for one in self.windows), len(self.foot.frames)]
        return [Span(a + 1, b - 1) for a, b in zip(ends, begins, strict=True) if b - a > 1]

    def _buried(self, inside: Any, levels: Floats, tilts: Floats, first_point: int) -> Floats:
        """By how much points of the foot are in the ground, from the ankle (0) or the ball (1) on."""
        turns = rows.multiply(tilts.T, self.flat.turns[inside].T).T
        ankles = self.flat.points[inside] + levels[:, None] * np.array((0.0, 0.0, 1.0))
        found = np.zeros(len(inside))
        for arms, clearances in list(zip(self._arms, self._clearances, strict=True))[first_point:]:
            points = ankles + holding.rotated(turns, arms[inside])
            for row, index in enumerate(inside):
                hit = self._below(int(index), points[row], float(levels[row]))
                if hit is not None:
                    found[row] = max(found[row], hit.point.z + clearances[index] - points[row, 2])
        return found

    def _below(self, index: int, point: Floats, level: float) -> Hit | None:
        """The ground as seen from the hip above the level that the foot comes from."""
        hit = self.terrain.below(index, point, float(self.foot.roots[index, 2]) + level)
        if hit is None:
            self.missed.add(index)
        self.is_over_ground |= hit is not None
        return hit


def _own_arms(foot: FootMotion, points: Floats) -> Floats:
    """From the ankle to a point that moves with the foot, on each frame, in the foot's frame."""
    own: Floats = rows.rotate(rows.conjugate(foot.turns.T), (points - foot.ends).T).T
    return own


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
        lead = max(planting.lead_of(context, chain) for chain in chains)
        begins, ends = frames[0] <= own[0], frames[-1] >= own[1]
        size = max(lead, 1.0)
        parts = np.ones(len(frames))
        if not begins:
            parts = np.minimum(parts, rows.smoothstep((frames - frames[0]) / size))
        if not ends:
            parts = np.minimum(parts, rows.smoothstep((frames[-1] - frames) / size))
        return cls(float(frames[0] - lead * begins), float(frames[-1] - lead * (not ends)), lead, parts)


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
    works = [_work(obj, one, offsets, ramp, options) for one in standing]
    moves = bool(offsets.any())
    bone = hips.hips_bone(obj, [one.foot.chain for one in standing]) if moves else ""
    if moves:
        hips.check(obj, bone, frames)
        locations = hips.moved_locations(context, obj, bone, frames, offsets)
    count = planting.write(obj, works)
    if moves:
        count += hips.write(obj, bone, frames, locations)
    planted = PlantReport(len(works), sum(one.contacts for one in standing), count)
    return GroundReport(planted, bone, float(offsets.min()), float(offsets.max()), (0.0, 0.0))


def _work(obj: Any, one: _Standing, offsets: Floats, ramp: _Ramp, options: GroundOptions) -> Work:
    foot = one.foot
    if options.amount > 0.0 and foot.chain.end >= 0:
        foot = replace(foot, chain=replace(foot.chain, end_rotation='TARGET'))
    chain = foot.chain
    is_world = chain.target_space != 'FK'
    sides = [is_world and is_on_at(obj, chain, at) for at in (ramp.first - 1.0, ramp.last + 1.0)]
    parts = ramp.parts if any(sides) else np.ones(len(foot.frames))
    held = planting.onto_target(foot, one.held, parts if any(sides) else None)
    raised = (offsets + one.levels) / 2.0
    poles = None if foot.poles is None else foot.poles + raised[:, None] * np.array((0.0, 0.0, 1.0))
    inside = np.ones(len(foot.frames), dtype=bool)
    controls = planting.controls(replace(foot, poles=poles), held, inside, with_pole=not any(sides))
    spans = () if all(sides) else (OnSpan(ramp.first, ramp.last, stays_on=sides[1]),)
    return Work(foot, spans, tuple(controls))


def _depth(foot: FootMotion, terrain: _Terrain) -> float:
    """How far ankle, ball or toes are below the ground at most, in parts of the leg's length."""
    deepest = 0.0
    for points in (foot.ends, foot.toes, foot.toe_ends):
        for index, point in enumerate(() if points is None else points):
            hit = terrain.below(index, point, float(foot.roots[index, 2]))
            if hit is not None:
                deepest = max(deepest, (hit.point.z - float(point[2])) / foot.length)
    return deepest

