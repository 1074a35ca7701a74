"""The limbs of many rigs and what they are asked, as arrays: from ``poses`` to what ``batch`` solves.

A part of ``crowd``; works after a frame change only, where the evaluated pose is FK.
This module must not solve or write.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...solvers import batch, rows
from .. import posed_chain
from . import poses as crowd_poses
from .asked import Asked
from .fixed import Fixed, Member
from .plan import Floats
from .poses import Poses
from .turn import Limbs, Together


def read(members: Sequence[Member], fixed: Fixed, asked: Asked) -> tuple[Limbs, Together]:
    """Everything as arrays. The FK pose is built up in doubles from the bone above the limb."""
    poses, together = crowd_poses.read(members, fixed)
    bones, offsets, turns = fixed.bones, fixed.offsets, poses.turns[fixed.bones]
    locations = np.where(fixed.is_connected[..., None], 0.0, poses.locations[bones])
    bases = rows.local_matrices(locations, turns, poses.scales[bones])
    upper_frame = poses.matrices[fixed.parents] @ offsets[:, 0]
    upper = upper_frame @ bases[:, 0]
    lower_frame = _carrier(poses, fixed, 0, upper) @ offsets[:, 1]
    lower = lower_frame @ bases[:, 1]
    end_frame = _carrier(poses, fixed, 1, lower) @ offsets[:, 2]
    tails = lower[:, :3, 1] * np.array(asked.tails)[:, None] + lower[:, :3, 3]
    ends = np.where(fixed.has_end[:, None], (end_frame @ bases[:, 2])[:, :3, 3], tails)
    worlds = np.array(asked.worlds).reshape(-1, 3, 4).repeat(fixed.counts, axis=0)
    to_arm, origins = rows.inverse(worlds[:, :, :3]), worlds[:, :, 3]
    places = np.array(asked.places).reshape(-1, 2, 3) - origins[:, None]
    places_arm = to_arm @ places.transpose(0, 2, 1)
    scale = np.mean([rows.norm(column) for column in rows.columns(worlds)], axis=0)
    count, locals_ = len(fixed.chains), turns.transpose(1, 2, 0)
    bone_frames = [frame[:, :3, :3] for frame in (upper_frame, lower_frame, end_frame)]
    frames = np.concatenate([*bone_frames, to_arm @ np.array(asked.turns).reshape(-1, 3, 3)])
    with np.errstate(all="ignore"):
        upper_quat, lower_quat, end_quat, target_quat = np.split(rows.from_matrices(frames), 4, axis=1)
        is_even = _is_even(frames[: 3 * count]).reshape(3, count).all(axis=0)
        is_even &= _is_unmirrored(frames[3 * count :]) & (poses.scales[bones] != 0.0).all(axis=(1, 2))
    weights, pole_angle, softness, max_reach = np.array(asked.settings).reshape(-1, 4).T
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


def _is_even(frames: Floats) -> rows.Mask:
    """As ``spaces.shear``, whether within ``NON_UNIFORM``; and not mirrored."""
    x, y, z = rows.columns(frames)
    xx, yy, zz = rows.dot(x, x), rows.dot(y, y), rows.dot(z, z)
    skews = rows.dot(x, y) ** 2 / (xx * yy), rows.dot(x, z) ** 2 / (xx * zz), rows.dot(y, z) ** 2 / (yy * zz)
    least, most = np.minimum(np.minimum(xx, yy), zz), np.maximum(np.maximum(xx, yy), zz)
    is_round = 1.0 - np.sqrt(least / most) <= posed_chain.NON_UNIFORM
    is_square = np.maximum(np.maximum(*skews[:2]), skews[2]) <= posed_chain.NON_UNIFORM**2
    is_even: rows.Mask = is_round & is_square & _is_unmirrored(frames)
    return is_even


def _is_unmirrored(frames: Floats) -> rows.Mask:
    x, y, z = rows.columns(frames)
    is_right: rows.Mask = rows.dot(rows.cross(x, y), z) > 0.0
    return is_right
