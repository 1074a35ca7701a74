"""How far the bends of a leg have to be scaled for its end to come to a distance from its root.

One unknown, found by a bracketed Newton; no target, no pole, no Blender data (no bpy).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .leg_shape import Leg, Shape, fastest, folds, shape_at, straightest

EXACT = 1e-11
"""Part of the length at which a distance is met: finer than float32 rotations by far."""
EVALUATIONS = 10
"""Shapes tried between two that bracket the answer, which make a dozen with it; Newton needs three to six."""
MARCH = math.radians(90.0)
"""Most that a joint bends in one step toward folding, so that no turning point of the distance is stepped over."""
SHORTEST = 1.0 / 200.0
"""Part of ``MARCH`` that a step comes to at least: Newton's own shrink for ever where the distance only just falls."""
MOST_STEPS = 200
"""Steps toward folding after which a leg stays as it is; real legs take under ten, this bounds hostile ones."""
RESISTANCE = 0.5
"""Part of the shortening that joints may take back before they are held; more where FK has more: no kink there."""
TURNING = 30
"""Halvings that find where a joint is held, to 1e-9 of a step."""
FLAT = 1e-7
"""Gain, part of the length, under which Newton's step is noise."""


class Tried(NamedTuple):
    """A shape at an amount. ``gain``: change of the distance per unit of amount."""

    amount: float
    shape: Shape
    distance: float
    gain: float

    @property
    def resistance(self) -> float:
        """What the joints that lengthen the leg take from those that shorten it: 0 nothing, 1 all."""
        lengthening = sum(gain for gain in self.shape.gains if gain > 0.0)
        shortening = lengthening - self.gain
        if shortening > 0.0:
            return lengthening / shortening
        return math.inf if lengthening > 0.0 else 0.0


def _try(leg: Leg, amount: float, held: Sequence[float] = ()) -> Tried:
    shape = shape_at(leg, amount, held)
    return Tried(amount, shape, shape.distance, sum(shape.gains))


def shape_for(leg: Leg, distance: float) -> Shape:
    """The leg's shape whose end is at a distance from its root, reached from FK without a jump.

    Where none is: the straightest, or where the distance can fall no further.
    """
    fk = _try(leg, 0.0)
    if abs(fk.distance - distance) <= EXACT * leg.plane.length:
        return fk.shape
    if fk.distance > distance:
        return _folded(leg, distance, fk)
    amount = straightest(leg)
    straight = _try(leg, amount)
    if straight.distance <= distance:
        return straight.shape
    return _between(leg, distance, straight, fk, fk, ())


def _folded(leg: Leg, distance: float, fk: Tried) -> Shape:
    """Bent further step by step until the distance is passed.

    Joints that would make the distance grow are held as they come to matter, while the others go on: otherwise the
    distance would come to a stand, and speeds grow without bound before that.
    """
    held = [math.inf] * len(leg.bends)
    at, most, left = fk, min(max(RESISTANCE, 0.5 * (1.0 + fk.resistance)), 1.0), MOST_STEPS
    for amount in folds(leg):
        while at.amount < amount and left > 0:
            left -= 1
            after = _stepped(leg, distance, at, amount, held)
            if after.distance <= distance:
                return _between(leg, distance, at, after, at, held)
            if after.resistance > most or after.distance > at.distance:
                after = _turning(leg, at, after, held, most)
                if after.distance <= distance:
                    return _between(leg, distance, at, after, at, held)
                held = [after.amount if gain > 0.0 else old for old, gain in zip(held, after.shape.gains, strict=True)]
                after = _try(leg, after.amount, held)
            at = after
    return at.shape


def _stepped(leg: Leg, distance: float, at: Tried, end: float, held: Sequence[float]) -> Tried:
    """One step toward ``end``: Newton's with a little more, so that it brackets, but no longer than ``MARCH``."""
    newton = _newton(leg, distance, at)
    speed = fastest(leg, at.amount, held, at.shape.stops)
    step = MARCH / speed if speed > 0.0 else end - at.amount
    if newton is not None and newton > at.amount:
        step = max(min(step, 1.1 * (newton - at.amount)), SHORTEST * step)
    amount = min(end, at.amount + step)
    return _try(leg, amount, held)


def _newton(leg: Leg, distance: float, at: Tried) -> float | None:
    """Newton's amount for the half-chord sqrt(L² - d²), which is all but linear in the bends where d is not."""
    total = leg.plane.length
    half, wanted = _chord(total, at.distance), _chord(total, distance)
    slope = at.distance * at.gain
    if abs(slope) <= FLAT * total * total:
        return None
    return at.amount + (wanted - half) * half / -slope


def _chord(total: float, distance: float) -> float:
    return math.sqrt(max((total - distance) * (total + distance), 0.0))


def _between(leg: Leg, distance: float, far: Tried, near: Tried, start: Tried, held: Sequence[float]) -> Shape:
    """The shape at a distance between those of ``far`` (larger) and ``near``, by Newton from ``start``, bracketed."""
    at, best = start, min(far, near, key=lambda tried: abs(tried.distance - distance))
    for _ in range(EVALUATIONS):
        low, high = sorted((far.amount, near.amount))
        amount = _newton(leg, distance, at)
        if amount is None or not low < amount < high:
            amount = _secant(leg, distance, far, near)
        at = _try(leg, amount, held)
        if abs(at.distance - distance) < abs(best.distance - distance):
            best = at
        if abs(best.distance - distance) <= EXACT * leg.plane.length:
            break
        if at.distance > distance:
            far = at
        else:
            near = at
    return best.shape


def _secant(leg: Leg, distance: float, far: Tried, near: Tried) -> float:
    """Between the two along the half-chord, at least a tenth from either."""
    total = leg.plane.length
    first, last, wanted = _chord(total, far.distance), _chord(total, near.distance), _chord(total, distance)
    part = (wanted - first) / (last - first) if last > first else 0.5
    return far.amount + min(max(part, 0.1), 0.9) * (near.amount - far.amount)


def _turning(leg: Leg, falling: Tried, rising: Tried, held: Sequence[float], most: float) -> Tried:
    """Where the resistance comes to be more than ``most``, between a shape where it is less and one where it isn't."""
    for _ in range(TURNING):
        amount = 0.5 * (falling.amount + rising.amount)
        at = _try(leg, amount, held)
        if at.resistance > most:
            rising = at
        else:
            falling = at
    return rising
