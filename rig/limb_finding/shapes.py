"""What the shape of a skeleton says about its limbs where names say nothing.

Limbs come in mirrored pairs that leave the body at one place; legs leave it nearer
the root. No bpy and no names here: the caller says which bones may take part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from mathutils import Vector

from .skeleton import Kind, Skeleton

LENGTH_MISMATCH = 0.15
"""Largest difference of two mirrored segments, as a part of the longer one."""
MIRROR_MISMATCH = 0.25
"""How far a pair may stand off its mirror plane, as a part of its length (rests are not exact)."""
SHORTEST_LIMB = 0.15
"""A limb shorter than this part of the skeleton is a finger, a strand of hair or an ear."""
SHORTEST_OF_PAIRS = 0.35
"""Nor is a pair a limb that is shorter than this part of the longest pair."""
PARALLEL = math.radians(35)
"""Two pairs that point the same way within this stand on the same ground (creatures)."""
UPRIGHT = math.radians(50)
"""A trunk nearer than this to the line of the legs stands upright on them."""
BONES_MISMATCH = 0.25
"""Largest difference in the number of bones below a limb and its mirror image, as a part of them."""
SIDEWAYS = 0.7
"""Cosine of 45°: a bone nearer than that to the line between left and right leads sideways."""
SEGMENTS = 5
"""Segments from the fork that are looked at: hip or clavicle, upper, lower, and what may follow."""
STEEP_FOOT = math.radians(28)
"""A foot that lies nearer to the line hip → toe is another leg bone. Measured: Rigify's
wolf, cat, horse and the Fox 13°…23°; people from 33° (short-legged toys) to 60°."""
LONG_FOOT = 0.17
"""… where it is also at least this part of the leg's length: those creatures 0.20…0.36, people
up to 0.145, also where the rest pose points their feet straight down (Rokoko)."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two mirrored limbs: bones (upper, lower, end or None) of each. Space: armature."""

    fork_depth: int
    first: tuple[str, str, str | None]
    second: tuple[str, str, str | None]
    length: float
    root: Vector
    direction: Vector


def is_steep_foot(hip: Vector, knee: Vector, ankle: Vector, toe: Vector) -> bool:
    """Whether what follows the ankle is one more bone of a creature's leg, not a foot to stand on."""
    foot = toe - ankle
    whole = (knee - hip).length + (ankle - knee).length + foot.length
    if whole == 0.0 or foot.length < LONG_FOOT * whole:
        return False
    return foot.angle(toe - hip, math.pi) < STEEP_FOOT


def find_pairs(skeleton: Skeleton, may_take_part: Callable[[str], bool]) -> list[tuple[Kind, Pair]]:
    """Find arms and legs by shape.

    Args:
        skeleton: the bones at rest.
        may_take_part: whether a bone can belong to a limb.
    """
    chosen: list[Pair] = []
    for pair in sorted(_pairs(skeleton, may_take_part), key=_clearest_first):
        is_long = pair.length >= max(SHORTEST_LIMB * skeleton.size, SHORTEST_OF_PAIRS * _longest(chosen))
        if is_long and not any(_overlap(skeleton, pair, other) for other in chosen):
            chosen.append(pair)
    return _kinds(skeleton, chosen)


def _clearest_first(pair: Pair) -> tuple[bool, float]:
    """Limbs that a joint ends come before those that only a tail ends, long ones before short ones."""
    return (pair.first[2] is None, -pair.length)


def _longest(pairs: list[Pair]) -> float:
    return max((pair.length for pair in pairs), default=0.0)


def _overlap(skeleton: Skeleton, pair: Pair, other: Pair) -> bool:
    """Whether one pair hangs on the other or shares a bone with it."""
    mine = {name for bone in (pair.first[0], pair.second[0]) for name in skeleton.ancestry(bone)}
    theirs = {name for bone in (other.first[0], other.second[0]) for name in skeleton.ancestry(bone)}
    return bool(mine & {other.first[0], other.second[0]} or theirs & {pair.first[0], pair.second[0]})


def _pairs(skeleton: Skeleton, may_take_part: Callable[[str], bool]) -> Iterator[Pair]:
    for fork, kids in skeleton.children.items():
        able = [kid for kid in kids if may_take_part(kid)]
        depth = len(skeleton.ancestry(fork)) if fork is not None else 0
        for one, two in combinations(able, 2):
            pair = _pair(skeleton, depth, skeleton.main_path(one), skeleton.main_path(two))
            if pair is not None and all(may_take_part(name) for name in (*pair.first[:2], *pair.second[:2])):
                yield pair


def _pair(skeleton: Skeleton, depth: int, one: tuple[str, ...], two: tuple[str, ...]) -> Pair | None:
    size = min(len(one), len(two))
    if size < 2 or not _is_alike(skeleton, one[0], two[0]):
        return None
    a, b = _points(skeleton, one[:size]), _points(skeleton, two[:size])
    at = _limb_start(a, b)
    if at is None or not _is_mirrored(a[at : at + 3], b[at : at + 3]):
        return None
    root = (a[at] + b[at]) / 2
    direction = (a[at + 2] + b[at + 2]) / 2 - root
    return Pair(depth, _names(one, at), _names(two, at), sum(_segments(a[at : at + 3])), root, direction)


def _is_alike(skeleton: Skeleton, one: str, two: str) -> bool:
    """A limb and its mirror image carry about as many bones; a leg and the spine don't."""
    few, many = sorted((skeleton.below[one], skeleton.below[two]))
    return many - few <= max(1.0, BONES_MISMATCH * many)


def _points(skeleton: Skeleton, path: tuple[str, ...]) -> list[Vector]:
    """Joints along a path and the tail of its last bone."""
    path = path[: SEGMENTS + 1]
    return [*(skeleton.head(name) for name in path), skeleton.tail(path[-1])]


def _names(path: tuple[str, ...], at: int) -> tuple[str, str, str | None]:
    return path[at], path[at + 1], path[at + 2] if at + 2 < len(path) else None


def _segments(points: list[Vector]) -> list[float]:
    return [(after - before).length for before, after in pairwise(points)]


def _limb_start(a: list[Vector], b: list[Vector]) -> int | None:
    """Where upper and lower begin: the two neighbouring segments whose shorter one is longest.

    A first one that leads sideways to a limb which doesn't is a hip or a clavicle. The last tail
    counts only where no joint ends the limb: importers invent it.
    """
    lengths = [(x + y) / 2 for x, y in zip(_segments(a), _segments(b), strict=True)]
    across = _across(a, b)
    sideways = [abs((after - before).normalized().dot(across)) for before, after in pairwise(a)]
    limbs = [at for at in range(len(lengths) - 1) if not (sideways[at] > SIDEWAYS > sideways[at + 1])]
    jointed = [at for at in limbs if at + 2 < len(a) - 1] or limbs
    return max(jointed, key=lambda at: min(lengths[at], lengths[at + 1]), default=None)


def _across(a: list[Vector], b: list[Vector]) -> Vector:
    """Direction from one of a pair to the other; zero where they lie in one place."""
    return sum(((p - q) for p, q in zip(a, b, strict=True)), Vector()).normalized()


def _is_mirrored(a: list[Vector], b: list[Vector]) -> bool:
    """Same lengths, and one plane between all pairs of joints."""
    for x, y in zip(_segments(a), _segments(b), strict=True):
        if abs(x - y) > LENGTH_MISMATCH * max(x, y) or min(x, y) == 0.0:
            return False
    across = _across(a, b)
    slack = MIRROR_MISMATCH * sum(_segments(a))
    middle = (a[0] + b[0]) / 2
    for p, q in zip(a, b, strict=True):
        off_plane = abs(((p + q) / 2 - middle).dot(across))
        off_line = ((p - q) - across * (p - q).dot(across)).length
        if off_plane > slack or off_line > slack:
            return False
    return across.length > 0.0


def _kinds(skeleton: Skeleton, pairs: list[Pair]) -> list[tuple[Kind, Pair]]:
    """Legs leave the body nearest the root; what stands on the same ground is a leg too.

    Of what is left the clearest pair are the arms, where there is no second pair of legs.
    """
    if not pairs:
        return []
    legs = min(pairs, key=lambda pair: (pair.fork_depth, _height(pair)))
    if len(pairs) == 1:
        return [(_lone_kind(skeleton, legs), legs)]
    kinds: list[tuple[Kind, Pair]] = [("leg" if pair is legs else _kind(pair, legs), pair) for pair in pairs]
    is_creature = sum(kind == "leg" for kind, _ in kinds) > 1
    arms = next((pair for kind, pair in kinds if kind == "arm"), None) if not is_creature else None
    return [(kind, pair) for kind, pair in kinds if kind == "leg" or pair is arms]


def _height(pair: Pair) -> float:
    return (pair.root + pair.direction).z


def _kind(pair: Pair, legs: Pair) -> Kind:
    trunk = pair.root - legs.root
    is_parallel = pair.direction.angle(legs.direction, math.pi) < PARALLEL
    is_upright = trunk.angle(-legs.direction, 0.0) < UPRIGHT
    return "leg" if is_parallel and not is_upright else "arm"


def _lone_kind(skeleton: Skeleton, pair: Pair) -> Kind:
    """One pair alone: legs point away from the rest of the body, or down where there is none."""
    body = sum((skeleton.head(bone.name) for bone in skeleton.bones), Vector()) / len(skeleton.bones) - pair.root
    limb = pair.direction
    is_away = body.length > SHORTEST_LIMB * pair.length and body.angle(limb, 0.0) > math.pi - UPRIGHT
    is_down = limb.angle(Vector((0.0, 0.0, -1.0)), math.pi) < UPRIGHT
    return "leg" if is_away or is_down else "arm"
