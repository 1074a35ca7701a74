"""Where a joint may stand when only its swivel about a line is left free; closed form.

A root joint whose limb has to end on a given point can still turn about the line to
that point. Each swing plane then is ``A cos + B sin + C`` of the swivel, each twist
bound the same in half the swivel: their roots are the stops, and between them every
swivel is legal or none is. No chains, no targets, no Blender data (no bpy).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from .chain import JointKind, JointLimits
from .joint_limits import TWO_PI, is_full, is_legal, outside, swing_bounds, swing_excess, twist_of
from .rotations import Quat, from_axis_angle, multiply, rotate
from .vectors import UNIT_Y, Vec, cross, dot

LEGAL = 1e-6
"""Radians outside its limits at which a joint counts as legal: float32 rotations are no better than 2e-7."""
WIDEST_ROLLS = 24
"""Rolls tried over a whole turn where a bone's Y is not on its line, so that no closed form has the answer."""
ROLL_COST = 1e-3
"""Radians of swivel that a radian of roll is worth there: the pole decides, roll only among equals."""

Arc = tuple[float, float]
"""From, to in radians; from = to is a single angle."""
WHOLE_TURN: Arc = (-math.pi, math.pi)


class Swivel(NamedTuple):
    """A joint that turns about a line. Space: its rest frame. ``base``: its local rotation at swivel 0."""

    base: Quat
    line: Vec

    def at(self, angle: float) -> Quat:
        """Local rotation at a swivel in radians."""
        return multiply(from_axis_angle(self.line, angle), self.base)


def plane_angles(swivel: Swivel, normal: Vec) -> list[float]:
    """Swivels at which the bone's Y lies in the plane through the joint with that normal: none or two."""
    y = rotate(swivel.base, UNIT_Y)
    along = dot(swivel.line, y)
    constant = dot(normal, swivel.line) * along
    cosine = dot(normal, y) - constant
    sine = dot(normal, cross(swivel.line, y))
    size = math.hypot(cosine, sine)
    if size == 0.0 or abs(constant) > size + LEGAL:
        return []
    middle, half = math.atan2(sine, cosine), math.acos(max(-1.0, min(1.0, -constant / size)))
    return [math.remainder(middle - half, TWO_PI), math.remainder(middle + half, TWO_PI)]


def twist_angle(swivel: Swivel, twist: float) -> float:
    """The swivel at which the joint has that twist. Undefined input: a twist that never changes gives 0."""
    w, x, y, z = swivel.base
    _, turned_y, _ = cross(swivel.line, (x, y, z))
    w_sine = -dot(swivel.line, (x, y, z))
    y_sine = swivel.line[1] * w + turned_y
    cosine, sine = math.cos(0.5 * twist), math.sin(0.5 * twist)
    return math.remainder(2.0 * math.atan2(w * sine - y * cosine, y_sine * cosine - w_sine * sine), TWO_PI)


def swing_stops(limits: JointLimits, swivel: Swivel) -> Iterator[float]:
    """Swivels at which a swing plane is met: up to eight."""
    for normal, _ in swing_bounds(limits):
        yield from plane_angles(swivel, normal)


def stops(limits: JointLimits, swivel: Swivel) -> Iterator[float]:
    """Swivels at which a ball joint meets a bound: up to ten."""
    yield from swing_stops(limits, swivel)
    if not is_full(limits.twist_min, limits.twist_max):
        yield twist_angle(swivel, limits.twist_min)
        yield twist_angle(swivel, limits.twist_max)


def legal_arcs(limits: JointLimits, swivel: Swivel) -> list[Arc]:
    """All legal swivels of a ball joint, in order: arcs between stops, and single stops that are legal alone."""
    marks = sorted(set(stops(limits, swivel)))
    if not marks:
        return [WHOLE_TURN] if is_legal(limits, swivel.base, LEGAL) else []
    arcs: list[Arc] = []
    for start, end in zip(marks, [*marks[1:], marks[0] + TWO_PI], strict=True):
        if is_legal(limits, swivel.at(0.5 * (start + end)), LEGAL):
            arcs.append((start, end))
    ends = [end for arc in arcs for end in arc]
    alone = [mark for mark in marks if all(abs(math.remainder(mark - end, TWO_PI)) > LEGAL for end in ends)]
    return arcs + [(mark, mark) for mark in alone if is_legal(limits, swivel.at(mark), LEGAL)]


def nearest(limits: JointLimits, swivel: Swivel) -> float | None:
    """The legal swivel nearest to 0 (FREE: 0); None where there is none."""
    if is_legal(limits, swivel.base, LEGAL):
        return 0.0
    if limits.kind != JointKind.BALL:
        return None
    for angle in sorted(stops(limits, swivel), key=abs):
        if is_legal(limits, swivel.at(angle), LEGAL):
            return angle
    return None


def nearest_with_roll(limits: JointLimits, swivel: Swivel, axis: Vec, rolls: list[Arc]) -> tuple[float, float] | None:
    """``(swivel, roll)``: the legal swivel nearest to 0 of a joint that may also roll about its own ``axis``.

    Space: ``axis`` in the bone's local space, ``rolls`` the legal rolls in radians. Of the rolls that a
    swivel allows the nearest to 0. Exact where ``axis`` is the bone's Y; elsewhere rolls are tried in steps.
    """
    if limits.kind != JointKind.BALL:
        roll = _nearest_in(rolls, [0.0, *(end for arc in rolls for end in arc)])
        return None if roll is None else (0.0, roll)
    if abs(axis[1]) < 1.0 - LEGAL * LEGAL:
        return _nearest_by_trial(limits, swivel, axis, rolls)
    side = math.copysign(1.0, axis[1])
    angles = [0.0, *swing_stops(limits, swivel)]
    if not is_full(limits.twist_min, limits.twist_max):
        ends = [end for arc in rolls if arc[1] - arc[0] < TWO_PI - LEGAL for end in arc]
        bounds = (limits.twist_min, limits.twist_max)
        angles += [twist_angle(swivel, bound - side * end) for end in ends for bound in bounds]
    for angle in sorted(angles, key=abs):
        roll = _twist_roll(limits, swivel.at(angle), side, rolls)
        if roll is not None:
            return angle, roll
    return None


def _twist_roll(limits: JointLimits, local: Quat, side: float, rolls: list[Arc]) -> float | None:
    """The roll nearest to 0 that keeps the twist and is among the legal ones; None also where the swing is illegal."""
    if swing_excess(limits, rotate(local, UNIT_Y)) > LEGAL:
        return None
    twist = twist_of(local)
    ends = [end for arc in rolls for end in arc]
    windows = [side * math.remainder(bound - twist, TWO_PI) for bound in (limits.twist_min, limits.twist_max)]
    fitting = [
        roll
        for roll in (0.0, *ends, *windows)
        if abs(outside(twist + side * roll, limits.twist_min, limits.twist_max)) <= LEGAL
    ]
    return _nearest_in(rolls, fitting)


def _nearest_in(rolls: list[Arc], candidates: list[float]) -> float | None:
    legal = [roll for roll in candidates if any(abs(outside(roll, *arc)) <= LEGAL for arc in rolls)]
    return min((math.remainder(roll, TWO_PI) for roll in legal), key=abs, default=None)


def _nearest_by_trial(limits: JointLimits, swivel: Swivel, axis: Vec, rolls: list[Arc]) -> tuple[float, float] | None:
    def cost(roll: float) -> tuple[float, float, float]:
        rolled = Swivel(multiply(swivel.base, from_axis_angle(axis, roll)), swivel.line)
        angle = nearest(limits, rolled)
        return (math.inf, 0.0, roll) if angle is None else (abs(angle) + ROLL_COST * abs(roll), angle, roll)

    best = min((cost(roll) for roll in _tried(rolls)), default=(math.inf, 0.0, 0.0))
    step = TWO_PI / WIDEST_ROLLS
    while step > LEGAL and math.isfinite(best[0]):
        beside = [best[2] + turn for turn in (-step, step)]
        best = min(best, *(cost(roll) for roll in beside if _nearest_in(rolls, [roll]) is not None), best)
        step *= 0.5
    return (best[1], best[2]) if math.isfinite(best[0]) else None


def _tried(rolls: list[Arc]) -> Iterator[float]:
    if _nearest_in(rolls, [0.0]) is not None:
        yield 0.0
    for start, end in rolls:
        count = 1 + math.ceil((end - start) / TWO_PI * WIDEST_ROLLS)
        for step in range(count + 1):
            yield math.remainder(start + (end - start) * step / count, TWO_PI)
