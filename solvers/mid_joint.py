"""What a mid joint (elbow, knee) with limits allows a two-bone limb; closed form.

A hinge's range is an interval of the distance root to end, also where its axis is not
perpendicular to the bones; a ball joint's swing is one too. Knows no target, pole or
root limits (``two_bone_limits`` joins them) and no Blender data (no bpy).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .chain import JointKind, JointLimits
from .joint_limits import TWO_PI, clamp, clamped_direction, hinge_axis, into_range, is_full, measure, outside
from .rotations import Quat, conjugate, from_axis_angle, multiply, rotate, shortest_arc
from .swivel import LEGAL, WHOLE_TURN, Arc, Swivel, legal_arcs
from .vectors import TINY, UNIT_X, Vec, add, cross, dot, length, scaled, subtract, unit

UNMOVED = 1e-9
"""Part of the squared length that a hinge must change the squared distance by, to count as bending the limb."""


class BentLimb(NamedTuple):
    """A limb as its two joints carry it.

    Space: ``upper`` (root to mid) in the root bone's local space, ``lower`` (mid to end) in the mid bone's,
    ``carry``: the mid joint's rest frame in the root bone's local space. ``limits``: the mid joint's.
    """

    upper: Vec
    lower: Vec
    carry: Quat
    limits: JointLimits

    def reach(self, mid: Quat) -> Vec:
        """Root to end for a local rotation of the mid joint. Space: root bone's local."""
        return add(self.upper, rotate(self.carry, rotate(mid, self.lower)))

    @property
    def upper_at_mid(self) -> Vec:
        """Root to mid in the mid joint's rest frame."""
        return rotate(conjugate(self.carry), self.upper)


class HingeTerms(NamedTuple):
    """Squared distance of a hinged limb: ``constant + amplitude * cos(angle - straightest)``."""

    constant: float
    amplitude: float
    straightest: float

    def squared(self, angle: float) -> float:
        """The squared distance at an angle of the hinge."""
        return self.constant + self.amplitude * math.cos(angle - self.straightest)


def hinge_terms(limb: BentLimb) -> HingeTerms:
    """How the distance root to end depends on the hinge, for any axis."""
    axis, upper, lower = hinge_axis(limb.limits), limb.upper_at_mid, limb.lower
    along = dot(upper, axis) * dot(lower, axis)
    cosine, sine = dot(upper, lower) - along, dot(upper, cross(axis, lower))
    constant = dot(upper, upper) + dot(lower, lower) + 2.0 * along
    return HingeTerms(constant, 2.0 * math.hypot(cosine, sine), math.atan2(sine, cosine))


def distances(limb: BentLimb, mid: Quat) -> tuple[float, float]:
    """Shortest and longest distance root to end that the mid joint allows.

    Undefined input: for a ball joint whose Y is not the lower bone's line, those of the clamped extremes of ``mid``.
    """
    if limb.limits.kind == JointKind.HINGE:
        return _hinge_distances(limb)
    if limb.limits.kind == JointKind.BALL:
        return _ball_distances(limb, mid)
    upper, lower = length(limb.upper), length(limb.lower)
    return abs(upper - lower), upper + lower


def _hinge_distances(limb: BentLimb) -> tuple[float, float]:
    terms = hinge_terms(limb)
    low, high = limb.limits.min_angle, limb.limits.max_angle
    turns = [terms.straightest, terms.straightest + math.pi]
    angles = [low, high, *(angle for angle in turns if outside(angle, low, high) == 0.0)]
    squares = [max(terms.squared(angle), 0.0) for angle in angles]
    return math.sqrt(min(squares)), math.sqrt(max(squares))


def stop_distances(limb: BentLimb) -> list[float]:
    """Distances root to end with the hinge at its bounds; none for other joints."""
    if limb.limits.kind != JointKind.HINGE or is_full(limb.limits.min_angle, limb.limits.max_angle):
        return []
    terms = hinge_terms(limb)
    return [math.sqrt(max(terms.squared(angle), 0.0)) for angle in (limb.limits.min_angle, limb.limits.max_angle)]


def _ball_distances(limb: BentLimb, mid: Quat) -> tuple[float, float]:
    line = unit(limb.upper_at_mid)
    folded, straight = (_ball_nearest(limb, mid, scaled(line, way)) for way in (-1.0, 1.0))
    upper, lower = length(limb.upper), length(limb.lower)
    sizes = [length(add(scaled(line, upper), scaled(direction, lower))) for direction in (folded, straight)]
    return min(sizes), max(sizes)


def _ball_nearest(limb: BentLimb, mid: Quat, direction: Vec) -> Vec:
    """The legal direction of the lower bone nearest to one. Space: mid joint's rest frame."""
    along = is_along_y(limb.lower)
    if along:
        return scaled(clamped_direction(limb.limits, scaled(direction, along)), along)
    return rotate(clamp(limb.limits, aimed(mid, limb.lower, direction)), unit(limb.lower))


def is_along_y(direction: Vec) -> float:
    """1 where a direction in a bone's local space is its Y, -1 where it is -Y, else 0."""
    y = unit(direction)[1]
    return math.copysign(1.0, y) if abs(y) > 1.0 - LEGAL * LEGAL else 0.0


def hinge_angles(limb: BentLimb, distance: float, mid: Quat) -> dict[int, float]:
    """The legal hinge angles (radians) that give a distance, by the way the limb bends.

    Keys: +1 where it bends on in the axis' sense from straight, -1 the other way; none where the distance
    is out of the range's interval. A hinge that doesn't bend the limb keeps the turn of ``mid``.
    """
    terms = hinge_terms(limb)
    low, high = limb.limits.min_angle, limb.limits.max_angle
    if terms.amplitude <= UNMOVED * terms.constant:
        return {1: into_range(measure(limb.limits, mid).hinge, low, high)}
    bend = math.acos(max(-1.0, min(1.0, (distance * distance - terms.constant) / terms.amplitude)))
    angles = {side: terms.straightest + side * bend for side in (1, -1)}
    return {side: into_range(a, low, high) for side, a in angles.items() if abs(outside(a, low, high)) <= LEGAL}


def hinged(limb: BentLimb, angle: float) -> Quat:
    """Local rotation of the mid joint at a hinge angle."""
    return from_axis_angle(hinge_axis(limb.limits), angle)


def rolls(limb: BentLimb, mid: Quat) -> list[Arc]:
    """Rolls of the upper bone (about its own line, the lower one left where it is) that keep the mid joint legal.

    ``mid`` is the joint's rotation at roll 0; a roll turns it back about the upper bone. Where the lower bone is the
    joint's Y its twist is left out: that can be taken up by rolling the lower bone (``rolled``).
    """
    if limb.limits.kind == JointKind.FREE:
        return [WHOLE_TURN]
    swivel = Swivel(mid, unit(limb.upper_at_mid))
    limits = limb.limits
    if is_along_y(limb.lower):
        limits = JointLimits(
            JointKind.BALL,
            swing_x_min=limits.swing_x_min, swing_x_max=limits.swing_x_max,
            swing_z_min=limits.swing_z_min, swing_z_max=limits.swing_z_max,
        )  # fmt: skip
    return [(-end, -start) for start, end in legal_arcs(limits, swivel)]


def rolled(limb: BentLimb, mid: Quat, roll: float) -> Quat:
    """The mid joint once the upper bone has rolled under it, its twist made legal."""
    return clamp(limb.limits, multiply(from_axis_angle(unit(limb.upper_at_mid), -roll), mid))


def aimed(mid: Quat, bone: Vec, direction: Vec) -> Quat:
    """``mid`` swung, without roll, so that ``bone`` (its local space) points along ``direction`` (rest frame)."""
    before, after = unit(rotate(mid, bone)), unit(direction)
    if length(before) <= TINY or length(after) <= TINY:
        return mid
    return multiply(shortest_arc(before, after, UNIT_X), mid)


def nearest_to(limb: BentLimb, target: Vec, mid: Quat) -> Quat:
    """The legal rotation of the mid joint that brings the end nearest to a point.

    Space: ``target`` from the root in the root bone's local space. ``mid``: where roll is taken from.
    Exact for a hinge and a free joint; a ball joint is aimed, then clamped.
    """
    wanted = rotate(conjugate(limb.carry), subtract(target, limb.upper))
    if limb.limits.kind != JointKind.HINGE:
        return clamp(limb.limits, aimed(mid, limb.lower, wanted))
    axis = hinge_axis(limb.limits)
    cosine = dot(wanted, limb.lower) - dot(wanted, axis) * dot(limb.lower, axis)
    sine = dot(wanted, cross(axis, limb.lower))
    if math.hypot(cosine, sine) <= UNMOVED * dot(limb.lower, limb.lower):
        return clamp(limb.limits, mid)
    angle = into_range(math.atan2(sine, cosine), limb.limits.min_angle, limb.limits.max_angle)
    return hinged(limb, math.remainder(angle, 2.0 * TWO_PI))
