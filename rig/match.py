"""Target and pole where FK is: the positions at which IK gives the FK pose back.

The pole goes on the side that the bend reference names, never on the momentary elbow,
so its track is as smooth as the motion. This module must not write keys.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..solvers import rotations
from ..solvers.vectors import TINY
from . import constrained, fk_pose, marks, posed_chain, solve_chain
from .chain_setup import REACHING, ChainSetup
from .errors import LimbIKError
from .evaluate import Evaluation, Rig
from .scenes import why_not_shown
from .spaces import basis_at

# Part of the length by which FK may be straighter than allowed: the rounding of float32 joints.
STRAIGHT = 1e-6
# Softnesses beyond where softening begins; from there on the end is 5e-5 of a softness from the longest reach.
FURTHEST = 10.0
# A limb this much shorter than at rest has been collapsed into a point by its animation; nothing can be matched there.
COLLAPSED = 1e-3
# They carry what they hold like a parent: its own channels still say where in there it is.
CARRYING_CONSTRAINTS = {'CHILD_OF', 'ARMATURE'}


@dataclass(frozen=True, slots=True)
class Match:
    """Where target and pole of a chain belong at one moment.

    Space: world, with the armature's own scale and shear in it, which cancels for its children.
    ``pole_world`` is None where the chain has no pole. ``scale`` of the target is untouched.
    ``is_held_back``: FK is straighter than the chain's ``max_reach`` allows, so IK can't give it back.
    """

    target_world: Matrix
    pole_world: Matrix | None
    is_held_back: bool = False


def matched(run: Evaluation, rig: Rig, chain: ChainSetup) -> Match:
    """Where target and pole have to be so that the chain gives the pose that the state has now (FK).

    Raises:
        LimbIKError: the limb has no length, or the scale above it forbids a solve.
    """
    if problem := posed_chain.scale_problem(rig.state, chain):
        raise LimbIKError(f"'{chain.tip}' of '{rig.obj.name}': {problem}")
    posed = posed_chain.read_chain(rig.state, chain)
    length = posed_chain.length_of(posed)
    if length <= COLLAPSED * posed_chain.length_along(posed.rest_heads):
        raise LimbIKError(f"the limb that ends at '{chain.tip}' of '{rig.obj.name}' is collapsed to zero length")
    world = run.world(rig.obj)
    has_pole = chain.solver in solve_chain.POLE_DIRECTIONS
    tip = rig.state.bones[chain.bones[-1]]
    place, is_held_back = posed_chain.matched_point(chain, posed), False
    if chain.solver in REACHING:
        held_by = tip.limb_ik_softness, tip.limb_ik_max_reach
        place, is_held_back = _unsoftened(posed.joints[0].head, posed.end, length, *held_by)
    if chain.target_space == 'FK':
        pole = world @ chain.pole_rest if has_pole else None
        return Match(world @ chain.target_rest, pole, is_held_back)
    target = _rotation_matrix(target_rotation(rig, chain))
    target.translation = place
    pole = None
    if has_pole:
        pole = world @ Matrix.Translation(solve_chain.fk_pole_point(chain, posed, tip.limb_ik_pole_angle))
    return Match(world @ target, pole, is_held_back)


def _unsoftened(root: Vector, end: Vector, length: float, softness: float, max_reach: float) -> tuple[Vector, bool]:
    """Where a target is for softness to bring the end to ``end``, and whether ``max_reach`` keeps the end from there.

    Space: armature.
    """
    line = end - root
    distance, longest = line.length, max_reach * length
    soft = softness * longest
    left = longest - distance
    if left < -STRAIGHT * length:
        return end, True
    if soft <= 0.0 or left >= soft:
        return end, False
    beyond = soft * min(-math.log(max(left, TINY) / soft), FURTHEST)
    return root + line * ((longest - soft + beyond) / distance), False


def _rotation_matrix(rotation: rotations.Quat) -> Matrix:
    return Quaternion(rotation).to_matrix().to_4x4()


def target_rotation(rig: Rig, chain: ChainSetup) -> rotations.Quat:
    """Orientation that the target needs for the end bone to keep its own; armature space.

    Raises:
        LimbIKError: a scale of zero above the end bone.
    """
    bone = chain.end if chain.end >= 0 else chain.bones[-1]
    own = rig.state.rotation_if_any(bone)
    if own is None:
        name = f"'{rig.setup.names[bone]}' of '{rig.obj.name}'"
        raise LimbIKError(f"{name}: scale of zero above it leaves it no rotation")
    return rotations.multiply(own, rotations.conjugate(rotations.as_quat(chain.end_offset)))


@dataclass(frozen=True, slots=True)
class Channels:
    """Location and raw rotation (in the owner's own rotation mode) that put a control at a place."""

    location: tuple[float, float, float]
    rotation: fk_pose.Raw


def control_channels(evaluated: Any, bone_name: str, matrix_world: Matrix) -> Channels:
    """The channels that put a target or pole at a place in the world; its scale stays.

    Args:
        evaluated: the evaluated object (of a bone: its armature) at the frame in question.
        bone_name: the bone, or empty for the object itself.
        matrix_world: where to; its scale is ignored.
    """
    owner: Any = evaluated.pose.bones[bone_name] if bone_name else evaluated
    local = _local_matrix(evaluated, bone_name, matrix_world)
    near = fk_pose.read_raw(owner)
    place: Any = local.translation
    turn = rotations.from_matrix(local)
    if not bone_name:  # an object's channels come on top of its deltas
        place = place - owner.delta_location
        turn = rotations.multiply(rotations.conjugate(_delta_rotation(owner)), turn)
    return Channels(tuple(place), fk_pose.to_raw(turn, owner.rotation_mode, near))


def _delta_rotation(obj: Any) -> rotations.Quat:
    if obj.rotation_mode == 'AXIS_ANGLE':
        return rotations.IDENTITY  # its delta can't be set in Blender
    if obj.rotation_mode == 'QUATERNION':
        return rotations.normalized(rotations.as_quat(obj.delta_rotation_quaternion))
    return rotations.from_euler(obj.rotation_mode, tuple(obj.delta_rotation_euler))


def held_by(obj: Any, bone_name: str) -> str:
    """What may keep a control from the place that its channels say, in words; empty where nothing does."""
    owner = owner_of(obj, bone_name)
    for constraint in owner.constraints:
        if constrained.acts(constraint) and constraint.type not in CARRYING_CONSTRAINTS:
            return f"its constraint '{constraint.name}'"
    if bone_name and owner.parent is not None and owner.bone.use_connect:
        return f"its connection to '{owner.parent.name}'"
    paths = {fk_pose.channel(owner.rotation_mode), "location"}
    wanted = {owner.path_from_id(path) if bone_name else path for path in paths}
    drivers: Any = obj.animation_data.drivers if obj.animation_data else ()
    return "a driver" if any(curve.data_path in wanted and not curve.mute for curve in drivers) else ""


def _local_matrix(evaluated: Any, bone_name: str, matrix_world: Matrix) -> Matrix:
    if not bone_name:
        above = evaluated.matrix_world @ evaluated.matrix_basis.inverted_safe()
        return Matrix(above.inverted_safe() @ matrix_world)
    return basis_at(evaluated.pose.bones[bone_name], evaluated.matrix_world.inverted_safe() @ matrix_world)


def owner_of(obj: Any, bone_name: str) -> Any:
    """What holds a control's channels: the object itself or one of its pose bones."""
    return obj.pose.bones[bone_name] if bone_name else obj


def put(owner: Any, channels: Channels) -> None:
    """Write a control's channels (original object or pose bone)."""
    owner.location = channels.location
    setattr(owner, fk_pose.channel(owner.rotation_mode), channels.rotation)


def rig_of(run: Evaluation, obj: bpy.types.Object) -> Rig:
    """The rig of an object in an evaluation.

    Raises:
        LimbIKError: the object isn't evaluated, or is in edit mode or rest position.
    """
    rig = run.rigs.get(marks.key_of(obj))
    if rig is None:
        reason = next((readout.message for (key, _), readout in run.readouts.items() if key == marks.key_of(obj)), "")
        raise LimbIKError(f"'{obj.name}' has no pose to read: {reason or why_not_shown(obj)}")
    return rig
