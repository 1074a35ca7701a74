"""Where the front and the top of a body are at rest, by its limbs. No bpy, no names.

Knees bend forward and elbows back, so set-up has to know which way that is; captures and
game characters face any axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mathutils import Vector

from .limb_finding.skeleton import Kind, Limb, RestBone, Skeleton

CLEAR_DIRECTION = 0.3
"""A toe has to point this far off the leg's line, as a part of its length, to say where forward is."""

FOLDED = 0.7
"""Cosine of 45°: a trunk nearer than that to where its legs point is how a capture rests, not how a body stands."""
SHORTEST_TOE = 0.03
"""Part of the leg's length below which joints on the foot show no direction (Rigify's palms lie in its ankle)."""


@dataclass(frozen=True, slots=True)
class BodyAxes:
    """Where a body's front and its top are. Space: armature, unit vectors at right angles."""

    forward: Vector
    up: Vector

    @property
    def left(self) -> Vector:
        """The body's own left."""
        return cross(self.up, self.forward)


def body_forward(skeleton: Skeleton | Sequence[RestBone], limbs: Sequence[Limb]) -> Vector:
    """Direction the body faces at rest; −Y, as Blender's characters face, where nothing tells.

    Space: armature, unit length.
    """
    axes = body_axes(skeleton, limbs)
    return axes.forward if axes is not None else Vector((0.0, -1.0, 0.0))


def body_axes(skeleton: Skeleton | Sequence[RestBone], limbs: Sequence[Limb]) -> BodyAxes | None:
    """Front and top of a body at rest.

    Up is against its legs. Forward is where toes point; else across left and right;
    else from hind legs to arms; else where the last bones of the legs point.

    Args:
        skeleton: the bones at rest.
        limbs: what ``find_limbs`` found on them.

    Returns:
        None where nothing tells.

    Space: armature.
    """
    body = skeleton if isinstance(skeleton, Skeleton) else Skeleton(tuple(skeleton))
    up = _up(body, limbs)
    guesses = (
        _mean(_toe(body, limb) for limb in limbs if limb.kind == "leg"),
        cross(_across(body, limbs), up),
        _trunk(body, limbs),
        _mean(_last_bone(body, limb) for limb in limbs if limb.kind == "leg"),
    )
    for guess in guesses:
        flat = guess - up * guess.dot(up)
        if guess.length > 0.0 and flat.length > CLEAR_DIRECTION * guess.length:
            return BodyAxes(flat.normalized(), up)
    return None


def _up(body: Skeleton, limbs: Sequence[Limb]) -> Vector:
    """Against the legs; along the trunk where a rest pose lays legs and trunk along one line (Rokoko)."""
    legs = _mean(body.head(limb.upper) - end_point(body, limb) for limb in limbs if limb.kind == "leg")
    if legs.length == 0.0:
        return Vector((0.0, 0.0, 1.0))
    trunk = _trunk(body, limbs)
    is_folded = trunk.dot(legs) < -FOLDED * trunk.length * legs.length
    return (trunk if is_folded else legs).normalized()


def _trunk(body: Skeleton, limbs: Sequence[Limb]) -> Vector:
    """From the roots of the legs to those of the arms; zero where one of them is missing."""
    if {limb.kind for limb in limbs} != {"arm", "leg"}:
        return Vector()
    return _roots(body, limbs, "arm") - _roots(body, limbs, "leg")


def end_point(body: Skeleton, limb: Limb) -> Vector:
    """Where a limb ends at rest, armature space."""
    return body.head(limb.end) if limb.end is not None else body.tail(limb.tip)


def cross(a: Vector, b: Vector) -> Vector:
    """Cross product; mathutils' own is typed as if it might be a number."""
    return Vector((a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x))


def _mean(vectors: Iterable[Vector]) -> Vector:
    found = list(vectors)
    return sum(found, Vector()) / len(found) if found else Vector()


def _toe(body: Skeleton, limb: Limb) -> Vector:
    """From the foot's head to the furthest joint on it; zero where there is none worth the name."""
    if limb.end is None:
        return Vector()
    toe = body.head(body.main_path(limb.end)[-1]) - body.head(limb.end)
    leg = body.head(limb.end) - body.head(limb.upper)
    return toe if toe.length > SHORTEST_TOE * leg.length else Vector()


def _last_bone(body: Skeleton, limb: Limb) -> Vector:
    last = limb.end if limb.end is not None else limb.tip
    return body.tail(last) - body.head(last)


def _across(body: Skeleton, limbs: Sequence[Limb]) -> Vector:
    """From the right side to the left one."""
    sides = {side: [body.head(limb.upper) for limb in limbs if limb.side == side] for side in "LR"}
    return _mean(sides["L"]) - _mean(sides["R"]) if all(sides.values()) else Vector()


def _roots(body: Skeleton, limbs: Sequence[Limb], kind: Kind) -> Vector:
    return _mean(body.head(limb.upper) for limb in limbs if limb.kind == kind)
