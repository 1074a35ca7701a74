"""What is written for planted limbs: paths of targets, keys of poles and of ``use_ik``, prepared, then written.

Must not find contacts or decide where a foot stands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from mathutils import Matrix

from ..rig import marks
from ..rig.chains import ChainSetup
from ..solvers import holding, rotations, rows
from ..solvers.arrays import Floats
from ..solvers.contacts import Span
from ..solvers.holding import Held
from . import use_ik_keys
from .controls import ControlKeys, check_controls, keys_along, without_still, write_controls
from .feet import FootMotion, blend_frames
from .switch_times import ROUNDING, is_on_at
from .use_ik_keys import OnSpan


@dataclass(frozen=True)
class HeldContact:
    """One uninterrupted contact of a limb with its path; indices into the frames that were read."""

    window: Span
    held: Held


@dataclass(frozen=True)
class LimbKeys:
    """One chain's keys, ready to be written."""

    foot: FootMotion
    spans: tuple[OnSpan, ...]
    controls: tuple[ControlKeys, ...]


def lead_of(context: Any, chain: ChainSetup) -> float:
    """Whole frames that the ease takes at most."""
    return float(math.ceil(blend_frames(context, chain) - ROUNDING))


def off_at(last: float, lead: float) -> float:
    """Where ``use_ik`` goes off after the last frame of a contact: there an ease begins, a cut comes a frame later."""
    return last if lead else last + 1.0


def turns_of(matrices: Floats) -> Floats:
    """Orientations of matrices, mirrored ones too: frames × 4."""
    return np.array([rotations.from_matrix(Matrix(one.tolist())) for one in matrices])


def limb_keys(
    context: Any, obj: Any, foot: FootMotion, holds: Sequence[HeldContact], *, is_open: bool = False
) -> LimbKeys:
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
            ends = last + lead + 1 if sides[1] else off_at(last, lead)
            spans.append(OnSpan(first - lead, None if is_open else ends, stays_on=sides[1]))
    return LimbKeys(foot, tuple(spans), tuple(written))


def _near(foot: FootMotion, holds: Sequence[HeldContact], gap: float) -> list[list[HeldContact]]:
    found: list[list[HeldContact]] = []
    for hold in holds:
        if found and foot.frames[hold.window.first] - foot.frames[found[-1][-1].window.last] < gap:
            found[-1].append(hold)
        else:
            found.append([hold])
    return found


def _joined(foot: FootMotion, group: Sequence[HeldContact]) -> Held:
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
    at, size = foot.frames, max(lead, ROUNDING)
    begun, left = (at - first + lead) / size, (last + lead - at) / size
    if not lead:
        begun, left = begun + 1.0, left + 1.0  # a cut: all of it on the first and last frame, too
    before = rows.smoothstep(begun) if sides[0] else np.ones(len(at))
    after = rows.smoothstep(left) if sides[1] else np.ones(len(at))
    return np.minimum(before, after)


def onto_target(foot: FootMotion, held: Held, parts: Floats | None) -> Held:
    """Where the target goes for an end to be on a path; with ``parts`` eased out of the target's own motion."""
    offset = np.array(foot.chain.end_offset)[:, None]
    turns = rows.multiply(held.turns.T, np.tile(rows.conjugate(offset), (1, len(held.turns)))).T
    found = Held(held.points, turns)
    if parts is None:
        return found
    own = Held(foot.targets[:, :3, 3], turns_of(foot.targets))
    return holding.eased(found, own, parts)


def whole_path(foot: FootMotion, holds: Sequence[HeldContact], lead: float) -> Held:
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
    assert chain.target_key is not None  # ``chosen.solvable`` refuses a chain without
    turns = held.turns[inside] if chain.end_rotation == 'TARGET' and chain.end >= 0 else None
    found = keys_along(chain.target_key, frames, foot.above[inside], held.points[inside], turns)
    if with_pole and chain.pole_key is not None and foot.poles is not None and foot.poles_above is not None:
        above, points = foot.poles_above[inside], foot.poles[inside]
        found += keys_along(chain.pole_key, frames, above, points, None)
    return found


def write(obj: Any, limbs: Sequence[LimbKeys]) -> int:
    """Check everything, then write everything."""
    for limb in limbs:
        if limb.spans:
            use_ik_keys.check_spans(obj, limb.foot.chain, limb.spans)
        check_controls(limb.controls)
    count = 0
    for limb in limbs:
        chain = limb.foot.chain
        is_layer = chain.target_space == 'FK'
        if is_layer:
            make_world(obj, chain)
        _take_end_rotation(obj, chain)
        count += write_controls([without_still(one) for one in limb.controls])
        if limb.spans:
            is_on = not is_layer and is_on_at(obj, chain, limb.spans[0].first - 1.0)
            count += use_ik_keys.key_spans(obj, chain, limb.spans, is_on_before=is_on)
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
    use_ik_keys.forget_use_ik(obj, chain)
    tip.limb_ik_target_space = 'WORLD'
