"""Planting: feet and hands stay where they touch, over frames or contacts; nothing else changes.

The target is keyed still (in the world, or on what moves), ``use_ik`` is switched so that its
ease is over at the first frame and begins at the last. Plain functions; the operators
and the command line call them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from mathutils import Matrix

from ..rig import marks, setup
from ..rig.chains import ChainSetup
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation
from ..rig.sampling import sample
from ..solvers import holding, rotations, rows
from ..solvers.contacts import Floats, Span
from ..solvers.holding import Held, Path
from . import plant_keys
from .contacts import END, Contact, Slide, slides
from .feet import FootMotion, blend_frames, pinnable, read_feet
from .plant_keys import ControlKeys, OnSpan
from .ranges import frames_between
from .switching import ROUNDING, is_on_at

# Frames between two contacts of one limb that still count as one.
SAME_CONTACT_GAP = 1.0


@dataclass(frozen=True)
class PlantReport:
    """What was planted: how many holds of how many chains, keys written, and how far points slid before and after."""

    chains: int
    holds: int
    keys: int
    before: tuple[Slide, ...] = ()
    after: tuple[Slide, ...] = ()
    notes: tuple[str, ...] = ()

    def sentence(self) -> str:
        """The report in one line for people."""
        text = f"{counted(self.holds, 'contact')} of {counted(self.chains, 'limb')} planted with {self.keys} keys"
        if self.before:
            worst = [max(one.part_of_length for one in rows) for rows in (self.before, self.after)]
            text += f"; largest slide in a contact {worst[0]:.2%} of the limb before, {worst[1]:.4%} after"
        return "; ".join((text, *self.notes))


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


@dataclass(frozen=True)
class Hold:
    """One uninterrupted contact of a limb with its path; indices into the frames that were read."""

    window: Span
    held: Held


@dataclass(frozen=True)
class Work:
    """One chain's keys, ready to be written."""

    foot: FootMotion
    spans: tuple[OnSpan, ...]
    controls: tuple[ControlKeys, ...]


def plant_contacts(
    context: Any, obj: Any, contacts: Sequence[Contact], *, frames: Sequence[float] | None = None
) -> PlantReport:
    """Plant what touches: ankles and wrists are held where they rest, feet roll over their ball.

    Args:
        context: gives scene and frame rate.
        obj: the armature object.
        contacts: from ``contacts.detect`` or the timeline.
        frames: of the motion; None for the animation's range.

    Raises:
        LimbIKError: there is no contact, or it can't be keyed; nothing was changed.
    """
    if not contacts:
        raise LimbIKError(f"no contact of '{obj.name}' to plant: detect contacts first")
    tips = list(dict.fromkeys(one.tip for one in contacts))
    chains = ready_chains(obj, tips)
    whole = np.asarray(frames or frames_between(context, obj, None, None))
    whole = frames_with(whole, [end for one in contacts for end in (one.first, one.last)])
    feet = read_feet(context, obj, chains, [float(frame) for frame in whole])
    works = []
    for foot in feet:
        own = [one for one in contacts if one.tip == foot.tip]
        works.append(_work(context, obj, foot, [contact_hold(context, foot, group) for group in grouped(own)]))
    keys = write(obj, works)
    after = read_feet(context, obj, ready_chains(obj, tips), [float(frame) for frame in whole])
    holds = sum(len(grouped([one for one in contacts if one.tip == tip])) for tip in tips)
    return PlantReport(len(tips), holds, keys, tuple(slides(feet, contacts)), tuple(slides(after, contacts)))


def frames_with(frames: Floats, more: Sequence[float]) -> Floats:
    return np.unique(np.concatenate((frames, np.asarray(more, dtype=np.float64))))


def plant(
    context: Any,
    obj: Any,
    tips: Sequence[str] = (),
    first: float | None = None,
    last: float | None = None,
    *,
    on: Any = None,
    on_bone: str = "",
) -> PlantReport:
    """Pin ends of chains where they are seen now.

    Args:
        context: gives the current frame, at which the place is taken, and the frame rate.
        obj: the armature object.
        tips: chains by their tips; empty for all that have an end to pin.
        first: first frame of the contact; None for the current one.
        last: its last frame; None until it is released.
        on: an object that the end goes along with; None for the world.
        on_bone: a bone of it.

    Raises:
        LimbIKError: bad input, or it can't be keyed; nothing was changed.
    """
    now = float(context.scene.frame_current_final)
    first = now if first is None else first
    if last is not None and last < first:
        raise LimbIKError(f"the contact ends at frame {last:g}, before it begins at {first:g}")
    chains = ready_chains(obj, tips)
    for chain in chains:
        _check_open(context, obj, chain, last)
    until = _last_read(context, obj, first) if last is None else last
    lead = max(lead_of(context, chain) for chain in chains)
    frames = frames_with(np.arange(first - lead, until + lead + 1.0), [now, until])
    feet = read_feet(context, obj, chains, [float(frame) for frame in frames])
    carriers = _carriers(context, obj, frames, on, on_bone)
    works = []
    for foot in feet:
        window = Span(foot.index(first), foot.index(until))
        held = _pinned(foot, foot.index(now), carriers)
        works.append(_work(context, obj, foot, [Hold(window, held)], is_open=last is None))
    return PlantReport(len(works), len(works), write(obj, works))


def _check_open(context: Any, obj: Any, chain: ChainSetup, last: float | None) -> None:
    frame = context.scene.frame_current_final
    if last is None and chain.target_space != 'FK' and is_on_at(obj, chain, frame - lead_of(context, chain) - 1.0):
        raise LimbIKError(
            f"'{chain.tip}' is on IK before this frame and follows its target: say at which frame the contact ends"
        )


def _last_read(context: Any, obj: Any, first: float) -> float:
    return max(first, frames_between(context, obj, None, None)[-1])


def release(context: Any, obj: Any, tips: Sequence[str] = ()) -> list[str]:
    """End contacts at the current frame: the ease back to the motion begins here. Returns the released tips.

    Raises:
        LimbIKError: none of the chains is held; nothing was changed.
    """
    frame = float(context.scene.frame_current_final)
    chains = [chain for chain in pinnable(obj, tips) if chain.target_space != 'FK']
    held = [chain for chain in chains if plant_keys.is_keyed(obj, chain) and is_on_at(obj, chain, frame)]
    if not held:
        raise LimbIKError(f"nothing of '{obj.name}' is planted at frame {frame:g}")
    for chain in held:
        plant_keys.check_use_ik(obj, chain, [OnSpan(frame, frame + 1.0)])
    return [chain.tip for chain in held if plant_keys.release_at(obj, chain, frame)]


def ready_chains(obj: Any, tips: Sequence[str]) -> list[ChainSetup]:
    setup.check_armature(obj)
    chains = pinnable(obj, tips)
    for chain in chains:
        if chain.is_muted:
            raise LimbIKError(f"the chain of '{chain.tip}' is muted and can't hold anything")
    return chains


def lead_of(context: Any, chain: ChainSetup) -> float:
    """Whole frames that the ease takes at most."""
    return float(math.ceil(blend_frames(context, chain) - ROUNDING))


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


def contact_hold(context: Any, foot: FootMotion, group: Sequence[Contact]) -> Hold:
    window, rests = spans_in(foot, group)
    blend = blend_frames(context, foot.chain)
    keeps = foot.chain.end_rotation == 'TARGET'
    return Hold(window, holding.hold(path_of_foot(foot), window, rests, blend, keeps_turn=keeps))


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


def _pinned(foot: FootMotion, at: int, carriers: Floats | None) -> Held:
    """Where the end is at one frame, for all frames; on what moves it goes along."""
    count = len(foot.frames)
    points, turns = np.tile(foot.ends[at], (count, 1)), np.tile(foot.turns[at], (count, 1))
    if carriers is None:
        return Held(points, turns)
    moved = carriers @ np.linalg.inv(carriers[at])
    points = np.einsum("nij,nj->ni", moved[:, :3, :3], points) + moved[:, :3, 3]
    own = _turns_of(carriers).T
    delta = rows.multiply(own, rows.conjugate(np.tile(own[:, at : at + 1], (1, count))))
    return Held(points, rows.multiply(delta, turns.T).T)


def _turns_of(matrices: Floats) -> Floats:
    """Orientations of matrices, mirrored ones too: frames × 4."""
    return np.array([rotations.from_matrix(Matrix(one.tolist())) for one in matrices])


def _carriers(context: Any, obj: Any, frames: Floats, on: Any, on_bone: str) -> Floats | None:
    """World matrices of what a contact is on, at each frame."""
    if on is None:
        return None
    if on_bone and (on.pose is None or on_bone not in on.pose.bones):
        raise LimbIKError(f"'{on.name}' has no bone '{on_bone}'")

    def read(run: Evaluation) -> list[list[float]]:
        matrix = run.bone_world(on, on_bone) if on_bone else run.world(on)
        rows_of: Any = matrix
        return [list(row) for row in rows_of]

    found = np.array(sample(context, [obj], [float(f) for f in frames], read, beside=[on]), dtype=np.float64)
    if abs(np.linalg.det(found[:, :3, :3])).min() == 0.0:
        raise LimbIKError(f"'{on.name}' has a scale of zero: nothing can stand on it")
    return found


def _work(context: Any, obj: Any, foot: FootMotion, holds: Sequence[Hold], *, is_open: bool = False) -> Work:
    """Keys for all contacts of one limb; those too near each other for IK to go in between are one span."""
    chain, lead = foot.chain, lead_of(context, foot.chain)
    spans, written = [], []
    for group in _near(foot, holds, 2.0 * lead):
        first, last = foot.frames[group[0].window.first], foot.frames[group[-1].window.last]
        sides = [chain.target_space != 'FK' and is_on_at(obj, chain, at) for at in (first - lead - 1, last + lead + 1)]
        held = _joined(foot, group)
        inside = (foot.frames >= first - lead) & (foot.frames <= last + lead)
        target = onto_target(foot, held, _ease_of(foot, first, last, lead, sides))
        written += controls(foot, target, inside, with_pole=not any(sides))
        if not all(sides):
            ends = last + lead + 1 if sides[1] else last
            spans.append(OnSpan(first - lead, None if is_open else ends, stays_on=sides[1]))
    return Work(foot, tuple(spans), tuple(written))


def _near(foot: FootMotion, holds: Sequence[Hold], gap: float) -> list[list[Hold]]:
    found: list[list[Hold]] = []
    for hold in holds:
        if found and foot.frames[hold.window.first] - foot.frames[found[-1][-1].window.last] < gap:
            found[-1].append(hold)
        else:
            found.append([hold])
    return found


def _joined(foot: FootMotion, group: Sequence[Hold]) -> Held:
    """The paths of several contacts as one."""
    own, total = Held(foot.ends, foot.turns), group[0].held
    for before, after in pairwise(group):
        begin = after.window.first
        points = np.concatenate((total.points[:begin], after.held.points[begin:]))
        turns = np.concatenate((total.turns[:begin], after.held.turns[begin:]))
        total = holding.carried(Held(points, turns), own, before.window.last, begin)
    return total


def _ease_of(foot: FootMotion, first: float, last: float, lead: float, sides: Sequence[bool]) -> Floats | None:
    """How much of a hold counts on each frame where the target has a motion of its own on a side; None: all of it."""
    if not any(sides):
        return None
    at = foot.frames
    before = rows.smoothstep((at - first + lead) / max(lead, ROUNDING)) if sides[0] else np.ones(len(at))
    after = rows.smoothstep((last + lead - at) / max(lead, ROUNDING)) if sides[1] else np.ones(len(at))
    return np.minimum(before, after)


def onto_target(foot: FootMotion, held: Held, parts: Floats | None) -> Held:
    """Where the target goes for an end to be on a path; with ``parts`` eased out of the target's own motion."""
    offset = np.array(foot.chain.end_offset)[:, None]
    turns = rows.multiply(held.turns.T, np.tile(rows.conjugate(offset), (1, len(held.turns)))).T
    found = Held(held.points, turns)
    if parts is None:
        return found
    own = Held(foot.targets[:, :3, 3], _turns_of(foot.targets))
    return holding.eased(found, own, parts)


def whole_path(foot: FootMotion, holds: Sequence[Hold], lead: float) -> Held:
    """The motion with all of a limb's holds, over the whole range: between them it is carried along."""
    first, last = foot.frames[holds[0].window.first], foot.frames[holds[-1].window.last]
    parts = _ease_of(foot, first, last, lead, (True, True))
    assert parts is not None  # both sides are eased
    own = Held(foot.ends, foot.turns)
    window = Span(holds[0].window.first, holds[-1].window.last)
    return holding.eased(holding.beyond(_joined(foot, holds), own, window), own, parts)


def controls(foot: FootMotion, held: Held, inside: Any, *, with_pole: bool) -> list[ControlKeys]:
    """Keys for the frames that ``inside`` has: of the target on a path, and of the pole where FK bends to."""
    chain, frames = foot.chain, foot.frames[inside]
    assert chain.target_key is not None  # chains_named refuses a chain without
    turns = held.turns[inside] if chain.end_rotation == 'TARGET' and chain.end >= 0 else None
    found = [plant_keys.control_keys(chain.target_key, frames, foot.above[inside], held.points[inside], turns)]
    if with_pole and chain.pole_key is not None and foot.poles is not None and foot.poles_above is not None:
        above, points = foot.poles_above[inside], foot.poles[inside]
        found.append(plant_keys.control_keys(chain.pole_key, frames, above, points, None))
    return found


def write(obj: Any, works: Sequence[Work]) -> int:
    """Check everything, then write everything."""
    for work in works:
        if work.spans:
            plant_keys.check_use_ik(obj, work.foot.chain, work.spans)
        for one in work.controls:
            plant_keys.check_control(one)
    count = 0
    for work in works:
        chain = work.foot.chain
        is_layer = chain.target_space == 'FK'
        if is_layer:
            make_world(obj, chain)
        _take_end_rotation(obj, chain)
        count += sum(plant_keys.write_control(one) for one in work.controls)
        if work.spans:
            is_on = not is_layer and is_on_at(obj, chain, work.spans[0].first - 1.0)
            count += plant_keys.key_use_ik(obj, chain, work.spans, is_on_before=is_on)
    marks.touch(obj)
    return count


def _take_end_rotation(obj: Any, chain: ChainSetup) -> None:
    """What grounding asks of the end bone: to turn with the target, and so to the slope."""
    tip: Any = obj.pose.bones[chain.tip]
    if tip.limb_ik_end_rotation != chain.end_rotation:
        tip.limb_ik_end_rotation = chain.end_rotation


def make_world(obj: Any, chain: ChainSetup) -> None:
    """An offset layer that does nothing becomes a chain with its target in the world, off where it isn't keyed on."""
    tip: Any = obj.pose.bones[chain.tip]
    plant_keys.forget_use_ik(obj, chain)
    tip.limb_ik_target_space = 'WORLD'

