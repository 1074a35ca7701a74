"""Arithmetic on arrays of two-bone limbs: pose matrices in, local rotations out.

Columns are limbs, whatever frame and chain they are of. Blender's data is not known here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..solvers import batch, blending, rows
from .key_table import Floats

# A scale above a limb that differs by more along its axes changes lengths as bones turn: not for arrays.
UNEVEN = 1e-3


class Limbs(NamedTuple):
    """What ``batch`` is asked, and what turns its answers into local rotations; columns are limbs.

    Space: armature. ``frames``: upper, lower and end bone at zero local rotation, in FK; ``locals``: their local FK;
    ``end``: the orientation that the end bone is asked for; ``end_tail``: from its head to its tail in FK;
    ``is_fit``: whether this limb may be solved here.
    """

    asked: batch.Limbs
    frames: tuple[rows.Rows, ...]
    locals: tuple[rows.Rows, ...]
    end: rows.Rows
    end_tail: rows.Rows
    weights: rows.Rows
    is_fit: rows.Mask


def is_even(matrices: Floats) -> rows.Mask:
    """Whether matrices (n × 4 × 4) are a rotation with one scale, not mirrored."""
    columns = matrices[:, :3, :3]
    lengths = np.linalg.norm(columns, axis=1)
    products = np.abs(columns.transpose(0, 2, 1) @ columns) / (lengths[:, :, None] * lengths[:, None, :])
    skew = products[:, (0, 0, 1), (1, 2, 2)].max(axis=1)
    off = np.maximum(1.0 - lengths.min(axis=1) / lengths.max(axis=1), skew)
    return np.asarray((off <= UNEVEN) & (np.linalg.det(columns) > 0.0))


class Solved(NamedTuple):
    """Answers for upper, lower and end bone (4 × n each); columns are limbs.

    ``locals``: local rotations, blended by weight. ``frames``: each bone at zero local rotation under its solved
    parent, armature space. ``turns``: from FK, armature space. ``holds``: which columns count.
    """

    locals: tuple[rows.Rows, ...]
    frames: tuple[rows.Rows, ...]
    turns: tuple[rows.Rows, ...]
    holds: rows.Mask


def solve(limbs: Limbs) -> Solved:
    """Each bone is slerped from FK under its solved parent, parents first, as in the one evaluation."""
    posed = batch.solve(limbs.asked)
    upper_frame, lower_frame, end_frame = limbs.frames
    upper_fk, lower_fk, end_fk = (rows.multiply(*pair) for pair in zip(limbs.frames, limbs.locals, strict=True))
    upper = rows.multiply(rows.conjugate(upper_frame), rows.multiply(posed.upper, upper_fk))
    carried = rows.multiply(posed.upper, lower_frame)
    lower = rows.multiply(rows.conjugate(carried), rows.multiply(posed.lower, lower_fk))
    upper = _blended(limbs.locals[0], upper, limbs.weights)
    lower = _blended(limbs.locals[1], lower, limbs.weights)
    upper_turn = rows.multiply(rows.multiply(upper_frame, upper), rows.conjugate(upper_fk))
    lower_now = rows.multiply(upper_turn, lower_frame)
    lower_turn = rows.multiply(rows.multiply(lower_now, lower), rows.conjugate(lower_fk))
    end_now = rows.multiply(lower_turn, end_frame)
    wanted = _blended(end_fk, limbs.end, limbs.weights)
    end = rows.normalized(rows.multiply(rows.conjugate(end_now), wanted))
    frames, turns = (
        (upper_frame, lower_now, end_now),
        (upper_turn, lower_turn, rows.multiply(wanted, rows.conjugate(end_fk))),
    )
    return Solved((upper, lower, end), frames, turns, posed.is_ordinary & limbs.is_fit)


def solved_points(limbs: Limbs, solved: Solved) -> rows.Rows:
    """Heads of upper, lower and end bone and the end bone's tail as solved (points × 3 × n). Space: armature."""
    asked = limbs.asked
    mid = asked.root + rows.rotate(solved.turns[0], asked.mid - asked.root)
    end = mid + rows.rotate(solved.turns[1], asked.end - asked.mid)
    return np.array((asked.root, mid, end, end + rows.rotate(solved.turns[2], limbs.end_tail)))


def _blended(fk: rows.Rows, ik: rows.Rows, weights: rows.Rows) -> rows.Rows:
    """Where the weight is not full, ``blending.blend`` of that limb."""
    ik = rows.normalized(ik)
    for number in np.flatnonzero(weights < 1.0):
        ik[:, number] = blending.blend(tuple(fk[:, number]), tuple(ik[:, number]), float(weights[number]))
    return ik


def beside_fk(asked: batch.Limbs, is_fk: rows.Mask, rest_target: rows.Rows, rest_pole: rows.Rows) -> batch.Limbs:
    """What is asked where target and pole of some limbs are offsets on FK (``target_space`` ``FK``).

    Args:
        asked: with target and pole where they stand now.
        is_fk: which limbs.
        rest_target, rest_pole: where target and pole were set up.

    Space: armature.
    """
    side, length = batch.fk_side(asked)
    target = asked.end + (asked.target - rest_target)
    pole = 0.5 * (asked.root + asked.end) + side * length + (asked.pole - rest_pole)
    return asked._replace(target=np.where(is_fk, target, asked.target), pole=np.where(is_fk, pole, asked.pole))
