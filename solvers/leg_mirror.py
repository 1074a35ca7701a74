"""A leg that FK bends the other way than it stands at rest: how it comes round as it folds further.

Every joint may bend against rest together, as a knee does that is pushed through. Such a leg keeps its way as far as
it stands out in FK and turns about its line to rest's zig-zag further out, as a hyperextended limb of two bones does:
so a leg that passes through straight doesn't turn over. Where joints have limits it can't turn out of its plane and
takes rest's way at once. Knows no line, pole or outcome; no Blender data (no bpy).

Space: armature, FK pose. Units: armature units and radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from .bend_plane import OFFSET_CUT, OFFSET_FADE, OFFSET_FADE_RATIO
from .blending import smoothstep
from .leg_reach import EXACT, shape_for
from .leg_shape import Bend, Leg, Shape, rate_of
from .rotations import TWO_PI
from .vectors import Vec, add, combined, dot, scaled

QUARTER = 0.5 * math.pi
MIRRORED_WHOLLY = math.radians(60.0)
"""Phase past a quarter turn from which a leg counts as bent against rest; less is a bend out of its plane."""


class Phase(NamedTuple):
    """What FK's bends have of rest's zig-zag: ``size`` (radians at ratio 1) and ``angle`` about the line from the way
    that rest bends; ``back``: the part of the angle that is to be turned back, 0 up to a quarter turn."""

    size: float
    angle: float
    back: float

    def at(self, angle: float, leg: Leg) -> Vec:
        """Rest's zig-zag at a phase: the bend of a joint of ratio 1."""
        return scaled(_axis(leg, angle), self.size)


def shape_from_fk(leg: Leg, distance: float) -> Shape:
    """The leg's shape whose end is at a distance from its root, on rest's way where it stands out enough for that.

    Space: armature. As ``leg_reach.shape_for`` where FK bends as rest does.
    """
    phase = phase_of(leg)
    if phase.back == 0.0:
        return shape_for(leg, distance)
    part = turned_part(leg, phase, distance)
    if any(bend.limits is not None for bend in leg.bends):
        return _nearest_of(leg, phase, distance, (0.0, 1.0) if part < 0.5 else (1.0, 0.0))
    return shape_for(turned_back(leg, phase, part), distance)


def phase_of(leg: Leg) -> Phase:
    """How far FK's bends follow rest's zig-zag, and with what turn about the line."""
    weights = _weights(leg)
    total = sum(weight * weight for weight in weights)
    if total == 0.0:
        return Phase(0.0, 0.0, 0.0)
    rows = list(zip(leg.bends, weights, strict=True))
    forth = sum(weight * dot(bend.fk, leg.plane.normal) for bend, weight in rows) / total
    across = sum(weight * dot(bend.fk, leg.plane.side) for bend, weight in rows) / total
    angle = math.atan2(across, forth)
    angle = angle + TWO_PI if angle < OFFSET_CUT else angle
    back = angle * smoothstep((abs(angle) - QUARTER) / MIRRORED_WHOLLY)
    return Phase(math.hypot(forth, across), angle, back)


def turned_part(leg: Leg, phase: Phase, distance: float) -> float:
    """How far the leg has come round at a distance: 0 up to FK's, 1 where it stands out clearly further."""
    own = _height(leg.plane.length, _zigzag_distance(leg, phase.size))
    fade = min(own + OFFSET_FADE * leg.plane.length, OFFSET_FADE_RATIO * own)
    beyond = _height(leg.plane.length, distance) - _height(leg.plane.length, leg.plane.distance)
    if beyond <= 0.0:
        return 0.0
    return smoothstep(beyond / fade) if beyond < fade else 1.0


def turned_back(leg: Leg, phase: Phase, part: float) -> Leg:
    """The leg with its zig-zag turned about the line, ``part`` of the way to rest's; what else it bends stays."""
    if part == 0.0:
        change, axis = (0.0, 0.0, 0.0), _axis(leg, phase.back)
    else:
        change = combined(phase.at(phase.angle - part * phase.back, leg), 1.0, phase.at(phase.angle, leg), -1.0)
        axis = _axis(leg, phase.back * (1.0 - part))
    rows = zip(leg.bends, _weights(leg), strict=True)
    return replace(leg, bends=tuple(_moved(bend, scaled(change, weight), axis, part) for bend, weight in rows))


def _moved(bend: Bend, change: Vec, axis: Vec, part: float) -> Bend:
    fk = add(bend.fk, change)
    return replace(bend, fk=fk, rate=rate_of(fk, bend.ratio, axis), is_moved=part > 0.0)


def _nearest_of(leg: Leg, phase: Phase, distance: float, parts: Sequence[float]) -> Shape:
    """The first way that comes to the distance, else the one that comes nearer; for joints that can't turn sideways."""
    shapes = [shape_for(turned_back(leg, phase, part), distance) for part in parts[:1]]
    if abs(shapes[0].distance - distance) > 2.0 * EXACT * leg.plane.length:
        shapes.append(shape_for(turned_back(leg, phase, parts[1]), distance))
    return min(shapes, key=lambda shape: abs(shape.distance - distance))


def _weights(leg: Leg) -> list[float]:
    """Each joint's part of rest's zig-zag; a joint without share keeps what it has in FK."""
    return [bend.ratio * min(bend.share, 1.0) for bend in leg.bends]


def _axis(leg: Leg, angle: float) -> Vec:
    """The hinge turned by ``angle`` about the line."""
    return combined(leg.plane.normal, math.cos(angle), leg.plane.side, math.sin(angle))


def _zigzag_distance(leg: Leg, size: float) -> float:
    """Distance root to end of a leg bent by ``size`` times rest's zig-zag in its plane."""
    x = y = heading = 0.0
    for bone, weight in zip(leg.lengths, [0.0, *_weights(leg)], strict=True):
        heading += weight * size
        x, y = x + bone * math.cos(heading), y + bone * math.sin(heading)
    return math.hypot(x, y)


def _height(total: float, distance: float) -> float:
    """How far a leg of that length stands out at a distance, as if it had one elbow in its middle."""
    return 0.5 * math.sqrt(max((total - distance) * (total + distance), 0.0))
