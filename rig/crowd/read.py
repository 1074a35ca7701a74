"""The poses of many rigs and what their plain chains are asked, read as arrays.

A part of ``crowd``; works after a frame change only, where the evaluated pose is FK.
This module must not solve or write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...solvers import batch, rows, vectors
from ...solvers.rotations import Quat
from .. import fk_pose, posed_chain
from ..session import pose_bones
from .fixed import Fixed, Member
from .plan import Floats
from .turn import Limbs, Singles, Together

IDENTITY_ROW = np.identity(4).reshape(16)


class Poses(NamedTuple):
    """Evaluated poses of all rigs, one row per bone and one more (the identity) per rig."""

    matrices: Floats
    locations: Floats
    scales: Floats
    turns: Floats


def read(members: Sequence[Member], fixed: Fixed) -> tuple[Limbs, Together]:
    """Everything as arrays. The FK pose is built up in doubles from the bone above the limb."""
    poses, together = _read_poses(members, fixed)
    asked = [one for member in members for one in member.asked]
    bones, offsets, turns = fixed.bones, fixed.offsets, poses.turns[fixed.bones]
    locations = np.where(fixed.is_connected[..., None], 0.0, poses.locations[bones])
    bases = rows.local_matrices(locations, turns, poses.scales[bones])
    upper_frame = poses.matrices[fixed.parents] @ offsets[:, 0]
    upper = upper_frame @ bases[:, 0]
    lower_frame = _carrier(poses, fixed, 0, upper) @ offsets[:, 1]
    lower = lower_frame @ bases[:, 1]
    end_frame = _carrier(poses, fixed, 1, lower) @ offsets[:, 2]
    tails = lower[:, :3, 1] * np.array([one.tail for one in asked])[:, None] + lower[:, :3, 3]
    ends = np.where(fixed.has_end[:, None], (end_frame @ bases[:, 2])[:, :3, 3], tails)
    worlds = np.repeat(_worlds(members), [len(member.asked) for member in members], axis=0)
    to_arm, origins = rows.inverse(worlds[:, :3, :3]), worlds[:, :3, 3]
    targets = np.array([one.target for one in asked]).reshape(-1, 3, 4)
    places = np.stack([targets[:, :, 3], np.array([one.pole for one in asked])], axis=2) - origins[:, :, None]
    places_arm = to_arm @ places
    scale = np.sqrt((worlds[:, :3, :3] ** 2).sum(axis=1)).mean(axis=1)
    count, locals_ = len(asked), turns.transpose(1, 2, 0)
    bone_frames = [frame[:, :3, :3] for frame in (upper_frame, lower_frame, end_frame)]
    frames = np.concatenate([*bone_frames, to_arm @ targets[:, :, :3]])
    with np.errstate(all="ignore"):
        upper_quat, lower_quat, end_quat, target_quat = np.split(rows.from_matrices(frames), 4, axis=1)
        is_even = _is_even(frames[: 3 * count]).reshape(3, count).all(axis=0)
        is_even &= (np.linalg.det(frames[3 * count :]) > 0.0) & (poses.scales[bones] != 0.0).all(axis=(1, 2))
    weights, pole_angle, softness, max_reach = np.array([one.settings for one in asked]).T
    limbs = batch.Limbs(
        root=upper[:, :3, 3].T,
        mid=lower[:, :3, 3].T,
        end=ends.T,
        fk=rows.multiply(upper_quat, locals_[0]),
        hinge=fixed.hinges,
        target=places_arm[:, :, 0].T,
        pole=places_arm[:, :, 1].T,
        pole_angle=pole_angle,
        softness=softness,
        max_reach=max_reach,
        origin_distance=np.linalg.norm(origins, axis=1) / scale,
    )
    end_fk = rows.multiply(end_quat, locals_[2])
    end = _end_orientation(fixed, target_quat, end_fk)
    frame_quats = upper_quat, lower_quat, end_quat
    posed_limbs = _moved_along(limbs, fixed) if fixed.is_offset.any() else limbs
    locals_of = locals_[0], locals_[1], locals_[2]
    return Limbs(posed_limbs, frame_quats, locals_of, end, weights, is_even, scale), together


def _carrier(poses: Poses, fixed: Fixed, number: int, above: Floats) -> Floats:
    """The bone above the lower or the end bone: the limb's own, or one that Blender holds in its place on it."""
    others = np.flatnonzero(~fixed.is_direct[:, number])
    if not others.size:
        return above
    found, seen = above.copy(), poses.matrices
    own, between = fixed.bones[others, number], fixed.carriers[others, number]
    with np.errstate(all="ignore"):
        found[others] = above[others] @ rows.inverse_affine(seen[own]) @ seen[between]
    return found


def _end_orientation(fixed: Fixed, target: rows.Rows, end_fk: rows.Rows) -> rows.Rows:
    """How the end bone is to stand: as ``solve_chain._end_rotations``."""
    wanted = rows.multiply(target, fixed.end_offsets)
    if fixed.is_offset.any():
        moved = rows.multiply(rows.multiply(target, fixed.rest_turns), end_fk)
        wanted = np.where(fixed.is_offset, moved, wanted)
    return np.where(fixed.keeps_end, end_fk, wanted)


def _moved_along(limbs: batch.Limbs, fixed: Fixed) -> batch.Limbs:
    """FK space: what target and pole moved since set-up, added to where FK has the end and the elbow."""
    side, length = batch.fk_side(limbs)
    elbow = 0.5 * (limbs.root + limbs.end) + side * length
    target = np.where(fixed.is_offset, limbs.end + (limbs.target - fixed.rests[0]), limbs.target)
    pole = np.where(fixed.is_offset, elbow + (limbs.pole - fixed.rests[1]), limbs.pole)
    return limbs._replace(target=target, pole=pole)


def _read_poses(members: Sequence[Member], fixed: Fixed) -> tuple[Poses, Together]:
    starts, size = fixed.starts, fixed.starts[-1]
    matrices, evaluated, original, fk, written = (np.zeros((size, width), np.float32) for width in (16, 4, 4, 4, 4))
    locations, scales = np.zeros((size, 3), np.float32), np.ones((size, 3), np.float32)
    modes, own_modes, stores = (np.zeros(size, np.int32) for _ in range(3))
    for member, start, after in zip(members, starts, starts[1:], strict=False):
        bones, row = member.rig.bones, slice(start, after - 1)
        bones.foreach_get("matrix", matrices[row].reshape(-1))
        bones.foreach_get("location", locations[row].reshape(-1))
        bones.foreach_get("scale", scales[row].reshape(-1))
        bones.foreach_get("rotation_quaternion", evaluated[row].reshape(-1))
        bones.foreach_get("rotation_mode", modes[row])
        bones = pose_bones(member.rig.obj)
        bones.foreach_get("rotation_quaternion", original[row].reshape(-1))
        bones.foreach_get("rotation_mode", own_modes[row])
        bones.foreach_get("limb_ik_store_mode", stores[row])
        bones.foreach_get("limb_ik_fk", fk[row].reshape(-1))
        bones.foreach_get("limb_ik_written", written[row].reshape(-1))
        matrices[after - 1] = IDENTITY_ROW
    is_other = (modes != 0) | (own_modes != 0) | _is_doubtful(stores, evaluated, fk, written)
    others = set(fixed.held_by[is_other[fixed.held]].tolist())
    together = Together(
        starts={member.rig.obj.session_uid: start for member, start in zip(members, starts, strict=False)},
        plain={member.rig.obj.session_uid for number, member in enumerate(members) if number not in others},
        evaluated=evaluated,
        original=original,
        wanted=evaluated.astype(np.float64),
        matrices=matrices,
        had_store=stores != 0,
    )
    turns = _unit(evaluated)
    for number in others:
        _put_local(turns, members[number], starts[number])
    columns = matrices.astype(np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)
    return Poses(columns, locations.astype(np.float64), scales.astype(np.float64), turns), together


def _is_doubtful(stores: NDArray[np.int32], evaluated: Singles, fk: Singles, written: Singles) -> rows.Mask:
    """Bones that may hold what IK wrote instead of FK: stored in another mode, or the same in a component."""
    is_other = stores != fk_pose.MODE_NUMBERS['QUATERNION']
    is_same = ((evaluated == written) & (written != fk)).any(axis=1)
    return np.asarray((stores != 0) & (is_other | is_same))


def _unit(quaternions: Singles) -> Floats:
    """As ``rotations.normalized``: the identity where there is no length."""
    found = quaternions.astype(np.float64)
    sizes = np.sqrt((found * found).sum(axis=1))
    is_none = sizes <= vectors.TINY
    found[is_none], sizes[is_none] = (1.0, 0.0, 0.0, 0.0), 1.0
    turns: Floats = found / sizes[:, None]
    return turns


def _put_local(turns: Floats, member: Member, start: int) -> None:
    """FK of a rig that is read bone by bone: in other rotation modes, or with FK kept in the store."""
    known: dict[int, Quat] = member.rig.state.rotations
    for one in member.asked:
        for bone in member.plan.bones[one.number].tolist():
            if bone in known:
                turns[start + bone] = known[bone]


def _worlds(members: Sequence[Member]) -> Floats:
    worlds: list[Any] = [member.rig.evaluated.matrix_world for member in members]
    flat = [[*w[0], *w[1], *w[2], *w[3]] for w in worlds]
    return np.array(flat).reshape(-1, 4, 4)


def _is_even(columns: Floats) -> rows.Mask:
    """As ``spaces.shear``, whether within ``NON_UNIFORM``; and not mirrored."""
    products = columns.transpose(0, 2, 1) @ columns
    squares = products[:, (0, 1, 2), (0, 1, 2)]
    skew = products[:, (0, 0, 1), (1, 2, 2)] ** 2 / (squares[:, (0, 0, 1)] * squares[:, (1, 2, 2)])
    is_round = 1.0 - np.sqrt(squares.min(axis=1) / squares.max(axis=1)) <= posed_chain.NON_UNIFORM
    is_even: rows.Mask = is_round & (skew.max(axis=1) <= posed_chain.NON_UNIFORM**2) & (np.linalg.det(columns) > 0.0)
    return is_even
