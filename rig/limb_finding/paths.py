"""Places of a limb along a path from the root, by what the names on it may mean.

The same word names different bones, so no bone is placed alone: the path decides. What
makes a limb of the places, and which of several is taken, is up to ``limbs``. No bpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .names import Reading, noise, read
from .skeleton import Kind, Skeleton
from .words import END, LOWER, UPPER, Slots

MOST_BETWEEN = 6
"""Bones between two places of a limb at most; three twist bones are common, more are another limb."""
MOST_NAMED = 24
"""Bones of one kind and side on a path at most; what lies deeper in a tentacle of ``arm`` is not read again."""
OFF_LINE = 0.87
"""Radians (50°). Where two bones are named as the upper one (``hip``, ``hip``), and the first turns off this
far from the second, it leads to the limb; the two halves of MakeHuman's thigh lie within 10°."""


@dataclass(frozen=True, slots=True)
class LimbPath:
    """The bones of a limb on one path. ``clarity``: how plainly names say so; compare, nothing more."""

    upper: str
    lower: str
    end: str | None
    clarity: float


@dataclass(frozen=True, slots=True)
class Named:
    """A skeleton with what its names say."""

    skeleton: Skeleton
    readings: dict[str, Reading]

    @staticmethod
    def of(skeleton: Skeleton) -> Named:
        """Read all names."""
        ignored = noise(bone.name for bone in skeleton.bones)
        return Named(skeleton, {bone.name: read(bone.name, ignored) for bone in skeleton.bones})

    def slots(self, name: str, kind: Kind, is_lenient: bool) -> Slots:
        """Places that a bone may have; lenient: also where its name has words that nobody knows."""
        reading = self.readings[name]
        return reading.slots(kind) if reading.is_exact or is_lenient else {}

    def ends_of_paths(self, kind: Kind, is_lenient: bool) -> Iterator[str]:
        """Bones that may be the last of a limb."""
        for bone in self.skeleton.bones:
            if not self.slots(bone.name, kind, is_lenient).keys().isdisjoint((LOWER, END)):
                yield bone.name

    def read_path(self, kind: Kind, last: str, is_lenient: bool) -> LimbPath | None:
        """The limb that the path from the root down to ``last`` holds; None where it holds none."""
        side = self.readings[last].side
        path = [name for name in self.skeleton.ancestry(last) if self.readings[name].side == side]
        path = [name for name in path if self.slots(name, kind, is_lenient)]
        if len(path) > MOST_NAMED:
            return None
        weight, places = settle([self.slots(name, kind, is_lenient) for name in path])
        if UPPER not in places or LOWER not in places:
            return None
        lower = path[places.index(LOWER)]
        upper = _first_upper(
            self.skeleton, [name for name, place in zip(path, places, strict=True) if place == UPPER], lower
        )
        end = path[places.index(END)] if END in places else None
        joints = [upper, lower, *([end] if end else [])]
        if any(len(self.skeleton.between(a, b)) > MOST_BETWEEN for a, b in pairwise(joints)):
            return None
        return LimbPath(upper, lower, end, weight + min(self.readings[name].preference for name in joints))


def settle(row: list[Slots]) -> tuple[float, list[int]]:
    """Give each bone of a path one of its places, never going back up the limb.

    The clearest reading wins, of equal ones that which goes on soonest; each place counts once, by
    its first bone. Of readings that have used the same places only the best is kept.
    """
    best: dict[tuple[int, ...], tuple[float, list[int]]] = {(): (0.0, [])}
    for slots in row:
        longer: dict[tuple[int, ...], tuple[float, list[int]]] = {}
        for used, (worth, places) in best.items():
            for place, weight in slots.items():
                if used and place < used[-1]:
                    continue
                is_new = place not in used
                key = (*used, place) if is_new else used
                reading = (worth + weight * is_new, [*places, place])
                longer[key] = max(longer.get(key, (-1.0, [])), reading, key=_soonest)
        best = longer
    whole = [reading for used, reading in best.items() if UPPER in used and LOWER in used]
    return max(whole, key=_soonest, default=(-1.0, []))


def _soonest(reading: tuple[float, list[int]]) -> tuple[float, list[int]]:
    """Rank of a reading; weights are decimals, so that sums in another order differ by some 1e-16."""
    return (round(reading[0], 6), reading[1])


def _first_upper(skeleton: Skeleton, uppers: list[str], lower: str) -> str:
    """The first of several upper bones that lies along the limb."""
    for name, after in zip(uppers, [*uppers[1:], lower], strict=True):
        if after == lower:
            return name
        here, onward = skeleton.head(after) - skeleton.head(name), skeleton.head(lower) - skeleton.head(after)
        if here.angle(onward, 0.0) < OFF_LINE:
            return name
    return uppers[-1]
