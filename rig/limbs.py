"""Finding arms and legs on any skeleton: names, place in the chain, else shape.

A limb is three places along one path from the root: upper, lower and, where there is
one, end. Names give each bone the places it may have (``limb_finding/names``); the path decides
which it has. Bones between the three are legal. Skeletons without names go by shape
(``limb_finding/shapes``). Nothing of Blender is read or changed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from mathutils import Vector

from .body_axes import body_axes, end_point
from .limb_finding import shapes
from .limb_finding.names import read, words
from .limb_finding.paths import Named
from .limb_finding.skeleton import Kind, Limb, RestBone, Side, Skeleton, rest_skeleton
from .limb_finding.words import TOE

__all__ = ["Kind", "Limb", "RestBone", "Side", "collapsed", "find_limbs", "rest_skeleton"]

COLLAPSED = 1e-4
"""A bone shorter than this part of its skeleton has no length to solve with; the shortest real one
measured is 2e-3 of it (the shins of RobotExpressive, whose feet hang elsewhere)."""
SAME_PLACE = 0.1
"""Two limbs whose joints lie within this part of their length are copies of one (FK, IK, deform)."""
SAME_MIDDLE = 4
"""Digits, in parts of the skeleton's size, to which palms are compared; importers differ by some 1e-6."""
WORSE_COPY = 0.6
"""A further limb of a kind and side may be named this much less clearly than the best (creatures
with four legs and more); less clear ones are helpers."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    limb: Limb
    clarity: float


def find_limbs(skeleton: Sequence[RestBone]) -> list[Limb]:
    """Find arms and legs.

    Args:
        skeleton: all bones of an armature at rest, see ``rest_skeleton``.

    Returns:
        Arms, then legs; left, right, then those whose side nothing tells; then in the
        armature's order. Empty where there are none (a shark, a prop).

    Space: armature.
    Undefined input: parents that form a circle, which Blender has not.
    """
    body = Skeleton(tuple(skeleton))
    named = Named.of(body)
    limbs = [limb for kind in get_args(Kind) for limb in _by_name(named, kind)]
    limbs = _sides_by_place(body, limbs) if limbs else _by_shape(named)
    return sorted(limbs, key=lambda limb: (limb.kind, "LR".find(limb.side) % 3, body.order[limb.upper]))


def collapsed(limb: Limb, skeleton: Sequence[RestBone]) -> bool:
    """Whether a limb has no length to solve with at rest.

    Args:
        limb: a limb of this skeleton.
        skeleton: its bones at rest; their extent is the measure.

    Space: armature.
    """
    body = Skeleton(tuple(skeleton))
    upper = (body.head(limb.lower) - body.head(limb.upper)).length
    lower = (end_point(body, limb) - body.head(limb.lower)).length
    return min(upper, lower) <= COLLAPSED * body.size


def _by_name(named: Named, kind: Kind) -> list[Limb]:
    """Limbs of one kind by names; names with words that nobody knows count only where no other is clear."""
    for is_lenient in (False, True):
        candidates = list(_candidates(named, kind, is_lenient))
        if candidates:
            return _best(named.skeleton, candidates)
    return []


def _candidates(named: Named, kind: Kind, is_lenient: bool) -> Iterator[_Candidate]:
    """For each upper and lower bone that a path can mean, the best end below them."""
    found: dict[tuple[str, str], _Candidate] = {}
    for last in named.ends_of_paths(kind, is_lenient):
        path = named.read_path(kind, last, is_lenient)
        if path is None:
            continue
        limb = _limb(named.skeleton, kind, named.readings[last].side, path.upper, path.lower, path.end)
        candidate = _Candidate(limb, path.clarity)
        key = (path.upper, path.lower)
        if key not in found or _end_rank(named, candidate) > _end_rank(named, found[key]):
            found[key] = candidate
    yield from found.values()


def _end_rank(named: Named, candidate: _Candidate) -> tuple[float, ...]:
    """Of several ends under one lower bone: the clearest, with most below it, pointing to their middle."""
    end, skeleton = candidate.limb.end, named.skeleton
    if end is None:
        return (0.0,)
    siblings = [_onward(skeleton, kid) for kid in skeleton.kids(skeleton.by_name[end].parent)]
    middle = sum(siblings, Vector()) / max(len(siblings), 1)
    off_middle = (_onward(skeleton, end) - middle).length / (skeleton.size or 1.0)
    below = skeleton.below[end]
    return (1.0, float(below > 0), candidate.clarity, below, -round(off_middle, SAME_MIDDLE), -skeleton.order[end])


def _onward(skeleton: Skeleton, name: str) -> Vector:
    """Where a bone leads: the next joint, or its tail."""
    after = _next_bone(skeleton, name)
    return skeleton.head(after) if after is not None else skeleton.tail(name)


def _best(skeleton: Skeleton, candidates: list[_Candidate]) -> list[Limb]:
    """Keep the clearest of the copies of each limb, and further limbs that are named as clearly."""
    chosen: list[_Candidate] = []
    for one in sorted(candidates, key=lambda c: (-c.clarity, skeleton.order[c.limb.upper])):
        alike = [other for other in chosen if other.limb.side == one.limb.side]
        if alike and alike[0].clarity - one.clarity > WORSE_COPY:
            continue
        if not any(_is_copy(skeleton, one.limb, other.limb) for other in alike):
            chosen.append(one)
    return [one.limb for one in chosen]


def _is_copy(skeleton: Skeleton, one: Limb, other: Limb) -> bool:
    if {one.upper, one.lower, one.end} & {other.upper, other.lower} or (one.end is not None and one.end == other.end):
        return True
    near = SAME_PLACE * (skeleton.head(other.lower) - skeleton.head(other.upper)).length
    pairs = ((one.upper, other.upper), (one.lower, other.lower))
    return all((skeleton.head(a) - skeleton.head(b)).length <= near for a, b in pairs)


def _limb(skeleton: Skeleton, kind: Kind, side: str, upper: str, lower: str, end: str | None) -> Limb:
    between = skeleton.between(upper, lower)
    after = skeleton.between(lower, end) if end else ()
    limb = Limb(kind, _side(side), upper, lower, end, between, after, (upper, *between, lower))
    return _as_creature(skeleton, limb)


def _side(letter: str) -> Side:
    return "L" if letter == "L" else "R" if letter == "R" else ""


def _as_creature(skeleton: Skeleton, limb: Limb) -> Limb:
    """Lengthen a leg that stands on its toes; a bone between would be turned too, so it forbids it.

    What is named as an arm goes on into fingers, unless those are named as toes (a horse's forefoot).
    """
    if limb.end is None or limb.between_upper_lower or limb.between_lower_end:
        return limb
    toe = _next_bone(skeleton, limb.end)
    if toe is None or (limb.kind == "arm" and TOE not in read(toe).leg):
        return limb
    hip, knee, ankle, ground = (skeleton.head(name) for name in (limb.upper, limb.lower, limb.end, toe))
    if not shapes.is_steep_foot(hip, knee, ankle, ground):
        return limb
    tips = [limb.end]
    hoof = _next_bone(skeleton, toe)
    if hoof is not None and "hoof" in words(hoof):
        tips, toe = [limb.end, toe], hoof
    return replace(limb, end=toe, between_lower_end=tuple(tips), bones=(*limb.bones, *tips))


def _next_bone(skeleton: Skeleton, name: str) -> str | None:
    """The child that goes on furthest."""
    path = skeleton.main_path(name)
    return path[1] if len(path) > 1 else None


def _by_shape(named: Named) -> list[Limb]:
    pairs = shapes.find_pairs(named.skeleton, lambda name: named.readings[name].is_silent)
    return [
        _limb(named.skeleton, kind, named.readings[triple[0]].side, *triple)
        for kind, pair in pairs
        for triple in (pair.first, pair.second)
    ]


def _sides_by_place(skeleton: Skeleton, limbs: list[Limb]) -> list[Limb]:
    """Where a named limb's side is not named, the side of the body it stands on."""
    if all(limb.side for limb in limbs):
        return limbs
    axes = body_axes(skeleton, limbs)
    if axes is None:
        return limbs
    middle = sum((skeleton.head(limb.upper) for limb in limbs), Vector()) / len(limbs)
    return [limb if limb.side else replace(limb, side=_place(skeleton, limb, middle, axes.left)) for limb in limbs]


def _place(skeleton: Skeleton, limb: Limb, middle: Vector, left: Vector) -> Side:
    off = (skeleton.head(limb.upper) - middle).dot(left)
    if abs(off) <= COLLAPSED * skeleton.size:
        return ""
    return "L" if off > 0 else "R"
