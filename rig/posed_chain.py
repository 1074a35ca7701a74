"""A chain read from a pose as the solvers take it, and solved turns back as local rotations.

Shared by the solve, match and the bake. This module must not solve or write to Blender's data.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, cast

from mathutils import Quaternion, Vector

from ..solvers import rotations
from ..solvers.chain import Chain, Joint, Solution
from ..solvers.rotations import Quat
from .chains import ChainSetup
from .spaces import PoseState, shear

# A parent scaled by more than this part differently along its axes changes lengths as bones turn.
NON_UNIFORM = 1e-3

# How far in front of the eye a target stands at set-up, in lengths of the chain: 1 m of a head of 20 cm.
LOOK_AHEAD = 5.0

ZERO_SCALE = "scale of zero above the chain"


def scale_problem(state: PoseState, chain: ChainSetup) -> str:
    """Why the scale above the turned bones forbids a solve; empty where it doesn't."""
    if state.is_flat or any(shear(state.frame(bone)) >= 1.0 for bone in chain.turned):
        return ZERO_SCALE
    return ""


def is_uneven(state: PoseState, chain: ChainSetup) -> bool:
    """Whether the scale above a turned bone differs along its axes, so that lengths change as it turns."""
    return any(
        state.bones[bone].bone.inherit_scale != 'ALIGNED' and shear(state.frame(bone)) > NON_UNIFORM
        for bone in chain.turned
    )


def read_chain(state: PoseState, chain: ChainSetup) -> Chain:
    """The chain in its FK pose, armature space, as the solvers take it."""
    joints = tuple(
        Joint(
            head=state.head(bone).copy(),
            fk=Quaternion(state.rotation(bone)),
            frame=Quaternion(state.frame_rotation(bone)),
            limits=limits,
            share=share,
            follows_parent=_follows(state, chain, number),
        )
        for number, (bone, limits, share) in enumerate(zip(chain.turned, chain.limits, chain.shares, strict=True))
    )
    bend_axis = cast(Any, chain.bend_axis)  # a field with a default: the stubs take Vector for a descriptor
    return Chain(joints, end_point(state, chain), bend_axis, rest_heads(state, chain))


def length_along(points: Iterable[Vector]) -> float:
    """Length of a line through points."""
    return sum((b - a).length for a, b in pairwise(points))


def length_of(posed: Chain) -> float:
    """Length of a chain from joint to joint and on to its end."""
    return length_along((*(joint.head for joint in posed.joints), posed.end))


def end_point(state: PoseState, chain: ChainSetup) -> Vector:
    """What has to reach the target: the end bone's head, else the tip's tail; armature space."""
    return (state.head(chain.end) if chain.end >= 0 else state.tail(chain.bones[-1])).copy()


def matched_point(chain: ChainSetup, posed: Chain) -> Vector:
    """Where a target has to be so that the chain gives its FK pose: the end, of look-at a point ahead of the eye.

    Space: armature.
    """
    if chain.solver != 'LOOK_AT':
        return posed.end
    return posed.joints[-1].head + posed.joints[-1].fk @ chain.look_axis * (LOOK_AHEAD * length_of(posed))


def rest_heads(state: PoseState, chain: ChainSetup) -> tuple[Vector, ...]:
    """Heads of the turned bones and then the end in the rest pose, armature space."""
    heads = [state.bones[bone].bone.head_local.copy() for bone in chain.turned]
    tip = state.bones[chain.bones[-1]].bone
    end = state.bones[chain.end].bone.head_local if chain.end >= 0 else tip.tail_local
    return (*heads, end.copy())


def _follows(state: PoseState, chain: ChainSetup, number: int) -> bool:
    """Whether a turned bone's frame turns with the turned bone before it."""
    if number == 0:
        return True
    first = chain.bones.index(chain.turned[number - 1]) + 1
    last = chain.bones.index(chain.turned[number])
    return all(state.bones[bone].bone.use_inherit_rotation for bone in chain.bones[first : last + 1])


def world_scale(state: PoseState) -> float:
    """Units of the world per unit of armature space (the mean of the axes); 1 where the object's scale is zero."""
    lengths = [Vector(column[:3]).length for column in state.world.to_3x3().col]
    return sum(lengths) / 3.0 or 1.0


def local_rotations(state: PoseState, chain: ChainSetup, posed: Chain, solution: Solution) -> dict[int, Quat]:
    """The local rotation of every turned bone at full weight, by bone.

    A bone's delta is taken in its own frame, before the local rotation that ``posed`` was read with: exact
    where nothing is turned, under any scale.

    Args:
        state: the pose that ``posed`` was read from.
        chain: the chain's set-up.
        posed: the chain in that pose.
        solution: what the solver answered, armature space.
    """
    found, above = {}, rotations.IDENTITY
    for bone, joint, delta in zip(chain.turned, posed.joints, solution.deltas, strict=True):
        frame = rotations.as_quat(joint.frame)
        frame_after = rotations.multiply(above, frame) if joint.follows_parent else frame
        above = rotations.normalized(rotations.as_quat(delta))
        turned = rotations.multiply(rotations.multiply(above, frame), _local(state, bone, joint))
        found[bone] = rotations.normalized(rotations.multiply(rotations.conjugate(frame_after), turned))
    return found


def _local(state: PoseState, bone: int, joint: Joint) -> Quat:
    """The local rotation that a joint has in the pose; of a bone that a driver holds, what its orientation says."""
    known = state.rotations.get(bone)
    if known is not None:
        return known
    return rotations.multiply(rotations.conjugate(rotations.as_quat(joint.frame)), rotations.as_quat(joint.fk))
