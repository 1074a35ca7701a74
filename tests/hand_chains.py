"""Chains of the scenarios' rigs, made by hand for the solvers, and a solution's joints by forward kinematics.

No armature is made; only Blender's rule for a bone's roll is asked of ``bpy``. Space: armature. Units: radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import bpy
from limb_ik.solvers.chain import Chain, Joint, Solution
from limb_ik.solvers.rotations import Quat, Vec, as_quat, as_vec, normalized, rotate
from limb_ik.solvers.vectors import add, cross, dot, length, perpendicular_part, scaled, subtract, unit
from mathutils import Matrix, Quaternion, Vector

import rigs


def bone_orientation(direction: Vector, roll: float = 0.0) -> Quaternion:
    """What Blender gives a bone of that direction and roll."""
    return bpy.types.Bone.MatrixFromAxisRoll(direction, roll).to_quaternion()


def limb(
    root: Sequence[float],
    mid: Sequence[float],
    end: Sequence[float],
    *,
    rolls: tuple[float, float] = (0.0, 0.0),
    bend_axis: Sequence[float] = (0.0, 0.0, 0.0),
) -> Chain:
    """A two-bone chain whose bones point from joint to joint, as they lie at rest."""
    points = [Vector(point) for point in (root, mid, end)]
    joints = []
    for head, tail, roll in zip(points, points[1:], rolls, strict=False):
        orientation = bone_orientation(tail - head, roll)
        joints.append(Joint(head, orientation, orientation))
    return Chain(tuple(joints), points[2], Vector(bend_axis), tuple(points))


def rig_limb(name: str, rolls: tuple[float, float] = (0.0, 0.0)) -> Chain:
    """The limb `up` + `lo` of L2S, L2B or L2U."""
    upper, lower, hand = rigs.RIGS[name]
    return limb(upper.head, lower.head, hand.head, rolls=rolls)


def moved(chain: Chain, matrix: Matrix) -> Chain:
    """The whole chain turned, moved and scaled by ``matrix``."""
    turn = matrix.to_quaternion()
    joints = tuple(Joint(matrix @ joint.head, turn @ joint.fk, turn @ joint.frame) for joint in chain.joints)
    return Chain(joints, matrix @ chain.end, chain.bend_axis, tuple(matrix @ head for head in chain.rest_heads))


def bent_limb(angle: float, *, upper: float = 1.0, lower: float = 1.0, bend_axis: Vec = (1.0, 0.0, 0.0)) -> Chain:
    """Upper bone along +Z at no rotation, lower bent by ``angle`` about +X: elbow on +Y; hyperextended where negative.

    Bone axes are those of armature space, so that ``bend_axis`` is too.
    """
    mid = Vector((0.0, 0.0, upper))
    end = mid + lower * Vector((0.0, -math.sin(angle), math.cos(angle)))
    bend = Quaternion((1.0, 0.0, 0.0), angle)
    joints = (Joint(Vector(), Quaternion(), Quaternion()), Joint(mid, bend, Quaternion()))
    return Chain(joints, end, Vector(bend_axis))


def lengths(chain: Chain) -> tuple[float, float]:
    root, mid, end = as_vec(chain.joints[0].head), as_vec(chain.joints[1].head), as_vec(chain.end)
    return length(subtract(mid, root)), length(subtract(end, mid))


def posed(chain: Chain, solution: Solution) -> tuple[Vec, Vec]:
    """Mid joint and end as the deltas place them, in doubles: their rounding to float32 is not added to."""
    root, mid, end = as_vec(chain.joints[0].head), as_vec(chain.joints[1].head), as_vec(chain.end)
    upper, lower = (normalized(as_quat(delta)) for delta in solution.deltas)
    mid_posed = add(root, rotate(upper, subtract(mid, root)))
    return mid_posed, add(mid_posed, rotate(lower, subtract(end, mid)))


def orientations(chain: Chain, solution: Solution) -> tuple[Quat, ...]:
    """Solved orientations of the joints, in doubles."""
    return tuple(
        normalized(as_quat(delta @ joint.fk)) for delta, joint in zip(solution.deltas, chain.joints, strict=True)
    )


def reference_elbow(chain: Chain, target: Sequence[float], pole: Sequence[float]) -> Vec:
    """The elbow by the scenarios' own formula."""
    (a, b), root = lengths(chain), as_vec(chain.joints[0].head)
    to_target = subtract(as_vec(target), root)
    line = unit(to_target)
    d = max(abs(a - b), min(a + b, length(to_target)))
    x = (a * a + d * d - b * b) / (2.0 * d)
    side = unit(perpendicular_part(subtract(as_vec(pole), root), line))
    height = math.sqrt(max(0.0, a * a - x * x))
    return add(root, add(scaled(line, x), scaled(side, height)))


def off_line(point: Vec, root: Vec, end: Vec) -> Vec:
    """What stands out of the line root to end."""
    return perpendicular_part(subtract(point, root), unit(subtract(end, root)))


def bend_normal(root: Vec, mid: Vec, end: Vec) -> Vec:
    return unit(cross(subtract(mid, root), subtract(end, mid)))


def angle_of(a: Vec, b: Vec) -> float:
    return math.atan2(length(cross(a, b)), dot(a, b))
