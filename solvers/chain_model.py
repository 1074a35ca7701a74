"""A chain with joint limits as its iterations see it: what stays the same, and a pose of it.

Forward kinematics of local rotations and no more: nothing here iterates, or knows poles and statuses; no bpy.

Space: armature, but ``locals_rest`` (rest frames of the joints) and bone spaces where named. Units: armature units
and radians.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .chain import JointLimits
from .joint_charts import turns
from .joint_limits import clamp
from .rotations import Quat, multiply, normalized, rotate
from .vectors import Vec, add, length, subtract


@dataclass(frozen=True, slots=True)
class JointModel:
    """What stays the same of a joint while it turns.

    ``frame``: its rest frame, in the space of the bone before it where ``follows``, else armature space.
    ``step``: from its head to the next one, in bone space. ``turns``: the directions a free joint turns in (bone
    space), each as long as it turns easily in it.
    """

    frame: Quat
    follows: bool
    step: Vec
    limits: JointLimits
    turns: tuple[Vec, ...]


@dataclass(frozen=True, slots=True)
class Pose:
    """A legal pose: ``locals_rest`` as the limits see them, the rest follows from them."""

    locals_rest: tuple[Quat, ...]
    orientations: tuple[Quat, ...]
    points: tuple[Vec, ...]
    error: float


@dataclass(frozen=True, slots=True)
class Model:
    """A chain with limits, its root, where its end has to go, and its length."""

    joints: tuple[JointModel, ...]
    root: Vec
    target: Vec
    total: float


def joint_model(frame: Quat, follows: bool, step: Vec, limits: JointLimits, may_roll: bool) -> JointModel:
    """Args: may_roll: a free joint may turn about its own bone (later joints have hinges that need it)."""
    return JointModel(frame, follows, step, limits, turns(limits, step, may_roll))


def pose_of(model: Model, locals_rest: Sequence[Quat]) -> Pose:
    """The pose of the local rotations ``locals_rest``, which have to be legal."""
    orientations: list[Quat] = []
    points = [model.root]
    for joint, local in zip(model.joints, locals_rest, strict=True):
        frame = multiply(orientations[-1], joint.frame) if orientations and joint.follows else joint.frame
        orientations.append(normalized(multiply(frame, local)))
        points.append(add(points[-1], rotate(orientations[-1], joint.step)))
    return Pose(tuple(locals_rest), tuple(orientations), tuple(points), length(subtract(points[-1], model.target)))


def legal_pose(model: Model, locals_rest: Sequence[Quat]) -> Pose:
    """As ``pose_of``, each joint clamped to its limits."""
    pairs = zip(model.joints, locals_rest, strict=True)
    return pose_of(model, [clamp(joint.limits, local) for joint, local in pairs])


def levers_of(model: Model, pose: Pose) -> tuple[Vec, ...]:
    """For each joint the arm from it to the end of what turns with it."""
    ends = [pose.points[-1]] * len(model.joints)
    for n in range(len(ends) - 2, -1, -1):
        ends[n] = ends[n + 1] if model.joints[n + 1].follows else pose.points[n + 1]
    return tuple(subtract(end, point) for end, point in zip(ends, pose.points, strict=False))
