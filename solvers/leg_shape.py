"""A creature's leg and the shapes it takes when the bends of its joints are scaled together.

Geometry only: FK bends, how fast each changes, and the shape at a given amount. Which
amount reaches a target, and where the leg points, is ``leg``'s. No Blender data (no
bpy), no memory from frame to frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .bend_plane import FKLimb
from .blending import smoothstep
from .chain import Chain, JointKind, JointLimits
from .joint_limits import clamp, stop_at
from .leg_plane import STRAIGHT, directions_of, plane_of, rest_ratios, swing_between
from .rotations import IDENTITY, Quat, as_quat, conjugate, from_rotation_vector, multiply, normalized, rotate
from .vectors import UNIT_Y, ZERO, Vec, add, as_vec, combined, cross, dot, length, scaled, subtract, unit

FOLDED = math.pi
"""Bend at which a bone lies back on the one before: no joint bends further."""
FOLDED_PASSED = FOLDED * (1.0 + 1e-12)
"""A joint that has just come to be folded still counts as bending: rounding must not decide."""
NO_RATE = 1e-9
"""Change of a bend (rad per unit of amount) under which a joint takes no part."""


@dataclass(frozen=True, slots=True)
class Bend:
    """How an inner joint bends.

    Space: armature, FK pose; rotation vectors in radians. ``fk``: the swing from the bone before to this one;
    ``rate``: how it grows with the amount (FK's own bend, but near straight); ``undo``: FK's bend undone.
    ``ratio``: its bend at rest, against the largest. ``orientation``, ``frame``: the joint's. ``is_moved``: ``fk`` is
    not FK's own any more (``leg_mirror``).
    """

    fk: Vec
    rate: Vec
    ratio: float
    share: float
    undo: Quat
    orientation: Quat
    frame: Quat
    limits: JointLimits | None
    is_moved: bool = False


@dataclass(frozen=True, slots=True)
class Leg:
    """A leg in FK. Space: armature. ``plane``: line, side and normal, root and length as of a two-bone limb."""

    plane: FKLimb
    directions: tuple[Vec, ...]
    lengths: tuple[float, ...]
    bends: tuple[Bend, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A leg at one amount, its root bone as in FK.

    Space: armature. ``turns``: each bone's from FK; ``end``: root to end. ``gains``: change of the distance root to
    end per unit of amount that each inner joint makes. ``stops``: joints (index in the chain) at a limit.
    """

    turns: tuple[Quat, ...]
    end: Vec
    gains: tuple[float, ...]
    stops: tuple[int, ...]

    @property
    def distance(self) -> float:
        """Root to end."""
        return length(self.end)


def leg_of(chain: Chain, use_limits: bool) -> Leg:
    """Measure a chain in FK.

    Undefined input: bones of no length take the direction of the one before (the first: the next, or the root bone's
    Y); without ``rest_heads`` straight joints bend to and fro, in zig-zag.
    """
    points = [as_vec(joint.head) for joint in chain.joints] + [as_vec(chain.end)]
    directions = directions_of(points, rotate(normalized(as_quat(chain.joints[0].fk)), UNIT_Y))
    ratios = rest_ratios(chain)
    swings = [swing_between(before, after, ZERO) for before, after in pairwise(directions)]
    plane = plane_of(chain, points, swings, ratios)
    swings = [swing_between(before, after, plane.normal) for before, after in pairwise(directions)]
    bends = []
    for joint, swing, ratio in zip(chain.joints[1:], swings, ratios, strict=True):
        rate = rate_of(swing, ratio, plane.normal)
        is_bound = use_limits and joint.follows_parent and joint.limits.kind != JointKind.FREE
        orientation, frame = normalized(as_quat(joint.fk)), normalized(as_quat(joint.frame))
        limits = joint.limits if is_bound else None
        undo = conjugate(from_rotation_vector(swing))
        bends.append(Bend(swing, rate, ratio, max(joint.share, 0.0), undo, orientation, frame, limits))
    lengths = tuple(length(subtract(b, a)) for a, b in pairwise(points))
    return Leg(plane, tuple(directions), lengths, tuple(bends))


def rate_of(swing: Vec, ratio: float, axis: Vec) -> Vec:
    """How a joint's bend grows with the amount: as it is bent, near straight as rest is (``ratio`` about ``axis``)."""
    near_straight = 1.0 - smoothstep(length(swing) / STRAIGHT)
    return combined(swing, 1.0, axis, near_straight * STRAIGHT * ratio)


def shape_at(leg: Leg, amount: float, held: Sequence[float] = ()) -> Shape:
    """The leg bent further by ``amount``: 0 FK, negative straighter, -1 straight (at share 1).

    A joint of ``share`` s bends to fk + s · amount · rate; it stops where it is straight or folded, at its limits, and
    at its amount in ``held``. At amount 0 every turn is the identity, exactly, where limits allow FK.
    """
    turn, turns, places, rates, stops = IDENTITY, [IDENTITY], [], [], []
    end = scaled(leg.directions[0], leg.lengths[0])
    for index, bend in enumerate(leg.bends, start=1):
        most = held[index - 1] if held else math.inf
        change, rate, is_stopped = _change(bend, bend.share * min(amount, most))
        rates.append(ZERO if amount > most else rotate(turn, scaled(rate, bend.share)))
        places.append(end)
        turn = multiply(turn, change)
        turns.append(turn)
        end = add(end, scaled(rotate(turn, leg.directions[index]), leg.lengths[index]))
        if is_stopped:
            stops.append(index)
    away = unit(end)
    gains = tuple(dot(away, cross(rate, subtract(end, place))) for rate, place in zip(rates, places, strict=True))
    return Shape(tuple(turns), end, gains, tuple(stops))


def _change(bend: Bend, amount: float) -> tuple[Quat, Vec, bool]:
    """Turn of a joint from FK against the bone before, its change per amount, and whether it stands at a limit."""
    change, rate = IDENTITY, bend.rate
    if (amount != 0.0 or bend.is_moved) and length(bend.rate) >= NO_RATE:
        bent, rate = _bent(bend, amount)
        change = multiply(from_rotation_vector(bent), bend.undo)
    if bend.limits is None:
        return change, rate, False
    local = multiply(conjugate(bend.frame), multiply(change, bend.orientation))
    legal = clamp(bend.limits, local)
    if legal is local:
        return change, rate, False
    change = multiply(multiply(bend.frame, legal), conjugate(bend.orientation))
    is_stopped = stop_at(bend.limits, legal) is not None
    return change, ZERO if is_stopped else rate, is_stopped


def _bent(bend: Bend, amount: float) -> tuple[Vec, Vec]:
    """The bend at an amount and its change per amount.

    Straightening ends at straight; it begins at ``rate``, as folding does: no kink at FK.
    """
    if amount >= 0.0:
        bent = combined(bend.fk, 1.0, bend.rate, amount)
        size = length(bent)
        return (bent, bend.rate) if size <= FOLDED_PASSED else (scaled(bent, FOLDED / size), ZERO)
    left = 1.0 + amount
    if left <= 0.0:
        return ZERO, ZERO
    extra = subtract(bend.rate, bend.fk)
    bent = combined(bend.fk, left, extra, amount * left * left)
    return bent, combined(bend.fk, 1.0, extra, left * (left + 2.0 * amount))


def straightest(leg: Leg) -> float:
    """The amount from which every joint is straight."""
    shares = [bend.share for bend in leg.bends if bend.share > 0.0]
    return -1.0 / min(shares) if shares else 0.0


def folds(leg: Leg) -> list[float]:
    """The amounts at which joints are folded, in order; each joint's own, whatever its limits."""
    return sorted(amount for amount in map(_folds_at, leg.bends) if amount is not None)


def _folds_at(bend: Bend) -> float | None:
    rate = scaled(bend.rate, bend.share)
    speed = dot(rate, rate)
    if math.sqrt(speed) < NO_RATE:
        return None
    along = dot(bend.fk, rate)
    left = max(FOLDED * FOLDED - dot(bend.fk, bend.fk), 0.0)
    return (math.sqrt(along * along + speed * left) - along) / speed


def fastest(leg: Leg, amount: float, held: Sequence[float] = (), stops: Sequence[int] = ()) -> float:
    """Rate of the joint that bends fastest from an amount on, radians per unit of amount.

    Joints that are folded, held or at a limit (``stops``) by then don't count: the slow ones left would take for ever.
    """
    fast = 0.0
    for index, bend in enumerate(leg.bends):
        end = _folds_at(bend)
        if end is not None and amount < end and (not held or amount < held[index]) and index + 1 not in stops:
            fast = max(fast, length(bend.rate) * bend.share)
    return fast
