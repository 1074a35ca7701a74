"""A skeleton as plain values: bones at rest in armature space, and who hangs on whom.

No bpy: ``rest_skeleton`` only reads attributes of the armature it is given, so that
finding limbs can be tested on numbers from any file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

from mathutils import Matrix, Vector

Point = tuple[float, float, float]
Kind = Literal["arm", "leg"]
Side = Literal["L", "R", ""]


@dataclass(frozen=True, slots=True)
class RestBone:
    """One bone at rest.

    Space: armature. ``matrix``: the rest matrix, 16 numbers row by row, or None.
    """

    name: str
    parent: str | None
    head: Point
    tail: Point
    matrix: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Limb:
    """An arm or a leg, by the names of its bones.

    ``end`` None: the tail of ``lower``, or of the last of ``bones``. ``bones``: root → tip, those that
    a solver may turn; ``(upper, *between_upper_lower, lower)`` for two-bone limbs, and further for
    creatures' legs, whose ``end`` is the paw or hoof.
    """

    kind: Kind
    side: Side
    upper: str
    lower: str
    end: str | None
    between_upper_lower: tuple[str, ...]
    between_lower_end: tuple[str, ...]
    bones: tuple[str, ...]

    @property
    def is_creature(self) -> bool:
        """Whether more than two bones carry the limb, so that the LEG solver fits it."""
        return self.bones[-1] != self.lower

    @property
    def tip(self) -> str:
        """The bone that a chain for this limb lives on."""
        return self.bones[-1]


class BoneLike(Protocol):
    """What is read of a ``bpy.types.Bone``."""

    name: str

    @property
    def parent(self) -> BoneLike | None: ...
    @property
    def head_local(self) -> Sequence[float]: ...
    @property
    def tail_local(self) -> Sequence[float]: ...
    @property
    def matrix_local(self) -> Matrix: ...


class ArmatureLike(Protocol):
    """What is read of a ``bpy.types.Armature``."""

    @property
    def bones(self) -> Iterable[BoneLike]: ...


def rest_skeleton(armature: ArmatureLike) -> tuple[RestBone, ...]:
    """Read the bones of an armature datablock at rest.

    Space: armature. Undefined input: in edit mode Blender still shows the bones
    as they were when it began.
    """
    return tuple(_rest_bone(bone) for bone in armature.bones)


def _rest_bone(bone: BoneLike) -> RestBone:
    return RestBone(
        name=bone.name,
        parent=bone.parent.name if bone.parent is not None else None,
        head=_point(bone.head_local),
        tail=_point(bone.tail_local),
        matrix=tuple(bone.matrix_local[row][column] for row in range(4) for column in range(4)),
    )


def _point(vector: Sequence[float]) -> Point:
    return (vector[0], vector[1], vector[2])


@dataclass(frozen=True)
class Skeleton:
    """Bones in their order, with look-ups; every name occurs once, as in Blender."""

    bones: tuple[RestBone, ...]

    @cached_property
    def by_name(self) -> dict[str, RestBone]:
        """Bone of a name."""
        return {bone.name: bone for bone in self.bones}

    @cached_property
    def order(self) -> dict[str, int]:
        """Place of a bone in the armature's list."""
        return {bone.name: index for index, bone in enumerate(self.bones)}

    @cached_property
    def children(self) -> dict[str | None, tuple[str, ...]]:
        """Names of the children of a bone; under None the roots."""
        found: dict[str | None, list[str]] = {}
        for bone in self.bones:
            found.setdefault(bone.parent if bone.parent in self.by_name else None, []).append(bone.name)
        return {name: tuple(kids) for name, kids in found.items()}

    @cached_property
    def size(self) -> float:
        """Longest side of the box around all heads; 0 where they all lie in one point."""
        if not self.bones:
            return 0.0
        axes = [[bone.head[axis] for bone in self.bones] for axis in range(3)]
        return max(max(values) - min(values) for values in axes)

    def head(self, name: str) -> Vector:
        """Rest head of a bone, armature space."""
        return Vector(self.by_name[name].head)

    def tail(self, name: str) -> Vector:
        """Rest tail of a bone, armature space."""
        return Vector(self.by_name[name].tail)

    def kids(self, name: str | None) -> tuple[str, ...]:
        """Children of a bone."""
        return self.children.get(name, ())

    def ancestry(self, name: str) -> tuple[str, ...]:
        """From the root down to the bone, which is the last."""
        path: list[str] = []
        at: str | None = name
        while at is not None and at in self.by_name:
            path.append(at)
            at = self.by_name[at].parent
        return tuple(reversed(path))

    @cached_property
    def downwards(self) -> tuple[str, ...]:
        """All bones, parents before their children."""
        found: list[str] = []
        waiting = list(reversed(self.kids(None)))
        while waiting:
            found.append(waiting.pop())
            waiting.extend(reversed(self.kids(found[-1])))
        return tuple(found)

    @cached_property
    def below(self) -> dict[str, int]:
        """How many bones hang on each, directly or not."""
        count: dict[str, int] = {}
        for name in reversed(self.downwards):
            count[name] = sum(1 + count[kid] for kid in self.kids(name))
        return count

    @cached_property
    def reach(self) -> dict[str, float]:
        """Way along the joints from each bone's head to the furthest head below it."""
        way: dict[str, float] = {}
        for name in reversed(self.downwards):
            here = self.head(name)
            way[name] = max(((self.head(kid) - here).length + way[kid] for kid in self.kids(name)), default=0.0)
        return way

    def main_path(self, name: str) -> tuple[str, ...]:
        """From a bone down to the leaf that lies furthest along the joints."""
        path = [name]
        while kids := self.kids(path[-1]):
            here = self.head(path[-1])
            path.append(max(kids, key=lambda kid: (self.head(kid) - here).length + self.reach[kid]))
        return tuple(path)

    def between(self, above: str, below: str) -> tuple[str, ...]:
        """Bones strictly between one and a bone below it, from above to below."""
        path = self.ancestry(below)
        return path[path.index(above) + 1 : -1]
