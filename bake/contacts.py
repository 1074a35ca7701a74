"""Contacts of a motion: found from the clip, kept as pairs of timeline markers, measured.

A contact is a point of a limb (the ankle, the ball of the foot, the wrist) at rest from a
first to a last frame. Must not key anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..rig import animated_range
from ..rig.chain_setup import REACHING
from ..rig.chains import ChainSetup, setup_of
from ..rig.errors import LimbIKError
from ..rig.session import frames_per_second
from ..solvers import contacts as maths
from ..solvers.arrays import Floats
from ..solvers.contacts import Span
from .feet import ARM, LEG, FootMotion, kinds, pinnable, toe_bone, up_axis
from .ranges import frames_between
from .reading_feet import read_feet_steps
from .steps import Steps, at_once

END, TOE = "END", "TOE"
# Fewer frames show neither motion nor rest.
FEWEST_FRAMES = 3


@dataclass(frozen=True, slots=True)
class Contact:
    """A point of a chain's end at rest. ``part``: ``END`` (ankle, wrist) or ``TOE``. Units: frames, both included."""

    tip: str
    part: str
    first: float
    last: float


def point_name(obj: Any, chain: ChainSetup, part: str) -> str:
    """What a contact's point is called: the end bone, the toe bone, or the foot with "toe" where it has none."""
    end = obj.pose.bones[chain.end].name if chain.end >= 0 else chain.tip
    return (toe_bone(obj, chain) or f"{end} toe") if part == TOE else end


def chosen(obj: Any, tips: Sequence[str] = (), *, hands: bool = False) -> list[ChainSetup]:
    """The chains to look at: those named, else all legs, with ``hands`` arms too, but for those in ``left_out``.

    Raises:
        LimbIKError: there is none, or none can be solved.
    """
    if tips:
        return pinnable(obj, tips)
    meant = _meant(obj, hands)
    if not meant:
        what = "leg or arm" if hands else "leg"
        raise LimbIKError(f"no chain of '{obj.name}' is a {what}: name the chains")
    solved = [chain.tip for chain in meant if not chain.problem]
    return pinnable(obj, solved or [meant[0].tip])


def left_out(obj: Any, tips: Sequence[str] = (), *, hands: bool = False) -> str:
    """What to say of the limbs that ``chosen`` leaves out since they can't be solved; empty where there is none."""
    troubled = [] if tips else [chain for chain in _meant(obj, hands) if chain.problem]
    return "".join(f"; '{chain.tip}' left out: {chain.problem}" for chain in troubled)


def _meant(obj: Any, hands: bool) -> list[ChainSetup]:
    wanted, kind_of = ({LEG, ARM} if hands else {LEG}), kinds(obj)
    chains = [chain for chain in setup_of(obj).chains if chain.solver in REACHING]
    return [chain for chain in chains if kind_of.get(chain.tip) in wanted]


def detect_steps(
    context: Any,
    obj: Any,
    tips: Sequence[str] = (),
    *,
    hands: bool = False,
    frames: Sequence[float] | None = None,
    speed: float | None = None,
    shortest_s: float = maths.SHORTEST_S,
) -> Steps[list[Contact]]:
    """Find the frames in which feet (ankle and ball of the foot) and hands are at rest.

    In steps: yields frames read and their number. Closed early it changes nothing.

    Args:
        context: gives scene and frame rate.
        obj: the armature object.
        tips: chains by their tips; empty for all legs, and arms with ``hands``.
        hands: see above.
        frames: rising; None for the animation's range.
        speed: fastest rest in limb lengths a second; None finds it from the clip.
        shortest_s: seconds that a contact has at least.

    Raises:
        LimbIKError: nothing moves, or nothing comes to rest (a swim, a walk in place).
    """
    if frames is None and animated_range.animation_range(obj) is None:
        raise LimbIKError(f"'{obj.name}' has no animation to find contacts in")
    chains = chosen(obj, tips, hands=hands)
    feet = yield from read_feet_steps(context, obj, chains, frames_between(context, obj) if frames is None else frames)
    return found_in(context, obj, feet, speed=speed, shortest_s=shortest_s)


detect = at_once(detect_steps)


def found_in(
    context: Any, obj: Any, feet: Sequence[FootMotion], *, speed: float | None = None,
    shortest_s: float = maths.SHORTEST_S,
) -> list[Contact]:  # fmt: skip
    """``detect`` on a motion that was read.

    Raises:
        LimbIKError: frames are too few, or no foot comes to rest.
    """
    if len(feet[0].frames) < FEWEST_FRAMES:
        raise LimbIKError(f"{len(feet[0].frames)} frames are too few to find contacts in")
    rate = _frame_rate(context, feet[0].frames)
    found: list[Contact] = []
    for part in (END, TOE):
        rows = [(foot, points) for foot in feet if (points := points_of(foot, part)) is not None]
        spans = _rests(rows, up_axis(feet), rate, speed, shortest_s)
        for (foot, _), kept in zip(rows, spans, strict=True):
            at = foot.frames
            found += [Contact(foot.tip, part, float(at[one.first]), float(at[one.last])) for one in kept]
    if not found:
        raise LimbIKError(
            f"no contact found: no foot of '{obj.name}' comes to rest (a swim, a jump, or a walk in place?)"
        )
    return sorted(found, key=lambda one: (one.first, one.tip, one.part))


def points_of(foot: FootMotion, part: str) -> Floats | None:
    """The path of a contact's point, None where the limb has none."""
    return foot.toes if part == TOE else foot.ends


def _frame_rate(context: Any, frames: Floats) -> float:
    """Of the frames that were read, which may be some of all."""
    return float(frames_per_second(context.scene) * (len(frames) - 1) / (frames[-1] - frames[0]))


def _rests(
    rows: Sequence[tuple[FootMotion, Floats]], up: Floats, rate: float, speed: float | None, shortest_s: float
) -> list[list[Span]]:
    """Rests of one kind of point, of each limb; feet that are held up don't count."""
    if not rows:
        return []
    fast = [maths.speeds(points, rate) / foot.length for foot, points in rows]
    limit = maths.speed_limit(fast) if speed is None else speed
    spans = [maths.at_rest(row, limit, rate, shortest_s) for row in fast]
    heights = [points @ up / foot.length for foot, points in rows]
    means = [[(s, float(h[s.first : s.last + 1].mean())) for s in row] for row, h in zip(spans, heights, strict=True)]
    kept = []
    for number, (foot, _) in enumerate(rows):
        beside = [one for i, row in enumerate(means) if i != number and rows[i][0].kind == LEG for one in row]
        is_foot = foot.kind == LEG
        kept.append(maths.on_ground(spans[number], heights[number], beside) if is_foot else spans[number])
    return kept


@dataclass(frozen=True, slots=True)
class Slide:
    """How far a point moves while it should stand. ``part_of_length``: in lengths of its limb."""

    contact: Contact
    length: float
    part_of_length: float


def slides(feet: Sequence[FootMotion], contacts: Sequence[Contact]) -> list[Slide]:
    """Path length of each contact's point within the contact, in the motion that was read."""
    by_tip = {foot.tip: foot for foot in feet}
    found = []
    for contact in contacts:
        foot = by_tip[contact.tip]
        points = points_of(foot, contact.part)
        assert points is not None  # a contact of a point has one
        length = maths.path_length(points[foot.index(contact.first) : foot.index(contact.last) + 1])
        found.append(Slide(contact, length, length / foot.length))
    return found
