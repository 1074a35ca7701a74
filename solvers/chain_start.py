"""The exact start of a long chain: its FK bends scaled until root and end are as far apart as asked for.

Further than FK: every bend is scaled toward straight. Nearer: the bends go over into those of the polygon that
closes the chain as far as it can, inscribed in a circle. One number decides how far, found inside a bracket, so
every reachable distance is met to rounding error however long or straight the chain is. Nothing here knows targets,
poles or limits; no bpy.

Space: any; the first direction stays where it is. Units: as the row, and radians.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .blending import rise
from .chain_geometry import Row, placed
from .rotations import (
    IDENTITY,
    conjugate,
    from_rotation_vector,
    multiply,
    rotate,
    shortest_arc,
    to_rotation_vector,
)
from .vectors import ZERO, Vec, add, combined, cross, dot, length, scaled, subtract, unit

SEARCH_STEPS = 100
"""Cap of the search; a bracket in doubles is used up after 60 halvings, the search as a whole takes 5 to 20."""
SEARCH_ENDS = 1e-15
"""Part of the bracket under which doubles can't tell two places apart."""
FOUND = 1e-14
"""Part of the length that a sum of thirty bones in doubles is good for."""
LOOK_AT = (0.001, 0.004, 0.016, 0.064, 0.25, 1.0)
"""Parts of the way at which a change of sign is looked for: close together near FK, whose neighbours shall be found."""
LEAST_GAIN = 0.3
"""Cosine between the way the bends go and what moves the end, at least: plain arcs have 0.9, coils down to -1."""
STEEP = (0.02, 0.1)
"""Lever arms by length between which that counts: near straight they are too short to show a direction."""
LARGEST_TURN = 2.0 * math.pi


@dataclass(frozen=True, slots=True)
class Bends:
    """Bends between neighbouring bones: rotation vectors, each carried back along the chain onto the first bone.

    So the axis of a plane chain is the same in all of them, and straightening joint after joint keeps its meaning.
    """

    first: Vec
    vectors: tuple[Vec, ...]
    lengths: tuple[float, ...]
    total: float


def bends_of(row: Row, bend_axis: Vec) -> Bends:
    """The bends that ``row`` has; one by exactly half a turn is about ``bend_axis``."""
    carried = IDENTITY
    vectors = []
    for before, after in pairwise(row.directions):
        arc = shortest_arc(before, after, bend_axis)
        vectors.append(rotate(conjugate(carried), to_rotation_vector(arc)))
        carried = multiply(arc, carried)
    return Bends(row.directions[0], tuple(vectors), row.lengths, row.total)


def directions_of(bends: Bends, vectors: Sequence[Vec]) -> tuple[Vec, ...]:
    """Directions of the bones where the joints bend by ``vectors``."""
    carried = IDENTITY
    directions = [bends.first]
    for vector in vectors:
        carried = multiply(carried, from_rotation_vector(vector))
        directions.append(rotate(carried, bends.first))
    return tuple(directions)


def end_distance(bends: Bends, vectors: Sequence[Vec]) -> float:
    """Distance of root and end where the joints bend by ``vectors``."""
    end = (0.0, 0.0, 0.0)
    for direction, size in zip(directions_of(bends, vectors), bends.lengths, strict=True):
        end = combined(end, 1.0, direction, size)
    return length(end)


def nearest_distance(lengths: Sequence[float]) -> float:
    """The least distance of root and end: 0, or what the longest bone has over all others."""
    return max(0.0, 2.0 * max(lengths) - math.fsum(lengths))


def start(bends: Bends, bend_axis: Vec, distance: float) -> tuple[Vec, ...]:
    """Directions of the bones that put the end at ``distance`` from the root, with bends as near to FK's as asked.

    Args:
        bend_axis: unit axis in which the chain closes, perpendicular to the first direction.
        distance: anything; past straight and folded it counts as those.

    Source: one-number search on bends; the closed polygon is inscribed in a circle (``polygon_bends``).
    """
    if distance >= bends.total:
        return (bends.first,) * len(bends.lengths)
    closed = polygon_bends(bends.lengths)
    is_further = distance > end_distance(bends, bends.vectors)
    goal = [scaled(bend_axis, 0.0 if is_further else angle) for angle in closed]
    family = _way(bends, goal, 1.0 if is_further else -1.0)
    part = _first_zero(lambda t: end_distance(bends, family(t)) - distance, FOUND * bends.total)
    return directions_of(bends, family(part))


def _way(bends: Bends, goal: Sequence[Vec], sign: float) -> Callable[[float], list[Vec]]:
    """From the bends themselves (0) to ``goal`` (1), leaving in a direction that takes the end the way of ``sign``.

    Straight there where that does; coiled and wavy chains first have to bend by what moves their end, or their
    neighbours would be found far away.
    """
    way = [subtract(to, own) for own, to in zip(bends.vectors, goal, strict=True)]
    slope = _slope(bends)
    size, steep = _norm(way), _norm(slope)
    gain = sign * math.fsum(dot(a, b) for a, b in zip(way, slope, strict=True))
    trust = rise(steep / bends.total, *STEEP)
    missing = trust * max(0.0, LEAST_GAIN * size * steep - gain)
    push = [scaled(own, sign * missing / steep**2 if missing > 0.0 else 0.0) for own in slope]
    return lambda t: [
        add(combined(own, 1.0, step, t), scaled(off, t * (1.0 - t)))
        for own, step, off in zip(bends.vectors, way, push, strict=True)
    ]


def _slope(bends: Bends) -> list[Vec]:
    """How the distance of root and end grows with each bend, to first order in the bends."""
    directions = directions_of(bends, bends.vectors)
    points = placed(ZERO, directions, bends.lengths)
    line = unit(points[-1])
    slopes = []
    carried = IDENTITY
    for point, vector in zip(points[1:-1], bends.vectors, strict=True):
        halfway = multiply(carried, from_rotation_vector(scaled(vector, 0.5)))
        slopes.append(rotate(conjugate(halfway), cross(subtract(points[-1], point), line)))
        carried = multiply(carried, from_rotation_vector(vector))
    return slopes


def _norm(vectors: Sequence[Vec]) -> float:
    return math.sqrt(math.fsum(dot(vector, vector) for vector in vectors))


def _first_zero(function: Callable[[float], float], close_enough: float) -> float:
    """A zero in 0...1, the one next to 0 as far as ``LOOK_AT`` tells: coiled chains can have several."""
    low, value_low = 0.0, function(0.0)
    for high in LOOK_AT:
        if abs(value_low) <= close_enough:
            return low
        value = function(high)
        if value * value_low <= 0.0:
            return bracketed(function, low, high, close_enough)
        low, value_low = high, value
    return low


def polygon_bends(lengths: Sequence[float]) -> list[float]:
    """Bend at each inner joint of the chain closed to ``nearest_distance`` as a polygon inscribed in a circle.

    Where the longest bone is longer than all others together it is folded flat.

    Undefined input: all lengths zero gives zeros.
    """
    arcs = _arcs(lengths)
    return [0.5 * (before + after) for before, after in pairwise(arcs)]


def _arcs(lengths: Sequence[float]) -> list[float]:
    """The angle at the circle's middle that each bone spans; together a full turn."""
    longest = max(lengths)
    at = list(lengths).index(longest)
    others = [size for n, size in enumerate(lengths) if n != at]
    if longest >= math.fsum(others):
        return [LARGEST_TURN if n == at else 0.0 for n in range(len(lengths))]
    if _spanned(others, 1.0 / longest) >= math.pi:  # the middle lies inside the polygon
        curve = bracketed(lambda c: _spanned(lengths, c) - LARGEST_TURN, 0.0, 1.0 / longest, 0.0)
        return [_arc(size, curve) for size in lengths]
    curve = bracketed(lambda c: (_spanned(others, c) - _arc(longest, c)) / max(c, math.ulp(1.0 / longest)),
                      math.ulp(1.0) / longest, 1.0 / longest, 0.0)  # fmt: skip
    return [LARGEST_TURN - _arc(longest, curve) if n == at else _arc(size, curve) for n, size in enumerate(lengths)]


def _arc(size: float, curve: float) -> float:
    """Angle that a chord of ``size`` spans in a circle of diameter 1 / ``curve``."""
    return 2.0 * math.asin(min(1.0, size * curve))


def _spanned(lengths: Sequence[float], curve: float) -> float:
    return math.fsum(_arc(size, curve) for size in lengths)


def bracketed(function: Callable[[float], float], low: float, high: float, close_enough: float) -> float:
    """A zero of ``function`` between ``low`` and ``high``, whose values there have opposite signs (or are zero).

    Source: Chandrupatla (1997), inverse quadratic interpolation where it is safe, else halving.

    Undefined input: without a change of sign the end with the smaller value.
    """
    a, b, c = high, low, high
    value_a, value_b = function(a), function(b)
    value_c = value_a
    if min(abs(value_a), abs(value_b)) <= close_enough or value_a * value_b > 0.0:
        return a if abs(value_a) <= abs(value_b) else b
    part = 0.5
    for _ in range(SEARCH_STEPS):
        new = a + part * (b - a)
        value = function(new)
        if value * value_a > 0.0:
            c, value_c = a, value_a
        else:
            c, value_c, b, value_b = b, value_b, a, value_a
        a, value_a = new, value
        best, value_best = (a, value_a) if abs(value_a) < abs(value_b) else (b, value_b)
        resolution = 0.5 * SEARCH_ENDS * max(abs(best), abs(high - low)) / abs(b - a) if a != b else 1.0
        if resolution >= 0.5 or abs(value_best) <= close_enough:
            return best
        part = min(1.0 - resolution, max(resolution, _next_part((a, value_a), (b, value_b), (c, value_c))))
    return best


def _next_part(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """How far from ``a`` to ``b`` to look next: inverse quadratic interpolation inside its safe region, else half."""
    (xa, ya), (xb, yb), (xc, yc) = a, b, c
    if yb in {ya, yc} or ya == yc or xc == xb:
        return 0.5
    across, up = (xa - xb) / (xc - xb), (ya - yb) / (yc - yb)
    if not (up * up < across and (1.0 - up) ** 2 < 1.0 - across):
        return 0.5
    return ya / (yb - ya) * yc / (yb - yc) + (xc - xa) / (xb - xa) * ya / (yc - ya) * yb / (yc - yb)
