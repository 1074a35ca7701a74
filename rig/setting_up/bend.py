"""Guesses of set-up: about which axis a limb bends (which way a body faces: ``body_axes``).

Pure functions on rest data and sampled poses; no bpy, nothing is written. A limb's
hinge h is the direction of u₁ × u₂, the unit directions of its two bones, when it
bends as it should. It is guessed once, when a chain is added, and stored; the
solvers never guess.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mathutils import Matrix, Quaternion, Vector

from ..body_axes import BodyAxes, body_axes, body_forward, cross, end_point
from ..limb_finding.skeleton import Kind, Limb, RestBone, Skeleton

__all__ = [
    "BendSample",
    "BodyAxes",
    "bend_axis",
    "bend_axis_from_motion",
    "bend_axis_from_rest",
    "body_axes",
    "body_forward",
    "to_bone",
]

WEAK_BEND = math.radians(8)
"""A bend below this is weak evidence: rest poses are made by hand, and captures tremble by a few degrees."""
NO_BEND = 1e-6
"""Sine of a bend below which float32 rest positions give it no direction."""
TOO_PARALLEL = math.sin(math.radians(15))
"""A limb nearer than 15° to where its joint should point leaves the side open; up or down decides."""
LEAST_AGREEMENT = 0.5
"""Captured bends that agree less than this (1: all about one axis, 0: in all directions) show no hinge."""


@dataclass(frozen=True, slots=True)
class BendSample:
    """One captured pose of a limb.

    Space: armature; ``root_rotation`` is the orientation of the root bone.
    """

    root: Vector
    mid: Vector
    end: Vector
    root_rotation: Quaternion


def bend_axis_from_rest(
    root_head: Vector,
    mid_head: Vector,
    end_head: Vector,
    kind: Kind,
    forward_arm: Vector,
    up_arm: Vector | None = None,
) -> Vector:
    """Hinge of a limb from how it rests.

    A clear rest bend is the hinge. One under 8° only turns the expected hinge (knees
    forward, elbows back) as far as it is clear, and not at all where it contradicts it.

    Args:
        root_head, mid_head, end_head: the joints at rest.
        kind: legs bend forward, arms back.
        forward_arm: where the body faces, see ``body_forward``.
        up_arm: the body's up; decides for limbs that lie along ``forward_arm`` (knees up,
            elbows down). None: +Z.

    Returns:
        A unit vector along u₁ × u₂; zero where a limb has no length.

    Space: armature.
    """
    upper, lower = (mid_head - root_head).normalized(), (end_head - mid_head).normalized()
    line = (end_head - root_head).normalized()
    bend = cross(upper, lower)
    angle = math.atan2(bend.length, upper.dot(lower))
    if line.length == 0.0 or upper.length == 0.0 or lower.length == 0.0:
        return bend.normalized()
    if angle >= WEAK_BEND:
        return bend.normalized() if bend.length > NO_BEND else _expected(line, kind, forward_arm, up_arm)
    expected = _expected(line, kind, forward_arm, up_arm)
    if bend.length <= NO_BEND or bend.dot(expected) <= 0.0:
        return expected
    trust = angle / WEAK_BEND
    return (bend.normalized() * trust + expected * (1.0 - trust)).normalized()


def _expected(line: Vector, kind: Kind, forward_arm: Vector, up_arm: Vector | None) -> Vector:
    """Hinge of a straight limb: with the joint on side s of the line û, u₁ × u₂ points along s × û."""
    up = up_arm if up_arm is not None else Vector((0.0, 0.0, 1.0))
    sign = 1.0 if kind == "leg" else -1.0
    for side in (forward_arm * sign, up * sign):
        hinge = cross(side, line)
        if hinge.length > TOO_PARALLEL * side.length and side.length > 0.0:
            return hinge.normalized()
    return line.orthogonal().normalized()


def bend_axis_from_motion(samples: Iterable[BendSample]) -> Vector | None:
    """Hinge of a limb from how it moves: the mean of its bends, each counted by how far it bends.

    Args:
        samples: poses, in any order.

    Returns:
        A unit vector along u₁ × u₂; None where no pose bends by 8° or the bends don't agree.

    Space: root bone's local space.
    """
    total, weight = Vector(), 0.0
    for sample in samples:
        upper, lower = (sample.mid - sample.root).normalized(), (sample.end - sample.mid).normalized()
        bend = cross(upper, lower)
        if math.atan2(bend.length, upper.dot(lower)) >= WEAK_BEND:
            total += sample.root_rotation.inverted() @ bend
            weight += bend.length
    if weight <= NO_BEND or total.length < LEAST_AGREEMENT * weight:
        return None
    return total.normalized()


def to_bone(axis_arm: Vector, bone: RestBone) -> Vector:
    """A direction at rest in a bone's local space.

    Space: armature in, the bone's local space out; unchanged where the bone's rest matrix isn't known.
    """
    if bone.matrix is None:
        return axis_arm.copy()
    rest = Matrix([bone.matrix[at : at + 4] for at in range(0, 16, 4)]).to_quaternion()
    return rest.inverted() @ axis_arm


def bend_axis(
    limb: Limb,
    skeleton: Skeleton | Sequence[RestBone],
    axes: BodyAxes | None,
) -> Vector:
    """The value for ``limb_ik_bend_axis`` that the rest pose gives, where ``bend_axis_from_motion`` gives none.

    Args:
        limb: a limb of the skeleton.
        skeleton: its bones at rest.
        axes: see ``body_axes``; None: Blender's, facing −Y.

    Space: root bone's local space.
    """
    body = skeleton if isinstance(skeleton, Skeleton) else Skeleton(tuple(skeleton))
    known = axes if axes is not None else BodyAxes(Vector((0.0, -1.0, 0.0)), Vector((0.0, 0.0, 1.0)))
    joints = body.head(limb.upper), body.head(limb.lower), _mid_end(body, limb)
    return to_bone(bend_axis_from_rest(*joints, limb.kind, known.forward, known.up), body.by_name[limb.upper])


def _mid_end(body: Skeleton, limb: Limb) -> Vector:
    """Where the second bone ends: a creature's leg goes on from there, the other way round."""
    if limb.is_creature:
        return body.head(limb.bones[2])
    return end_point(body, limb)
