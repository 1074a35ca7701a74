"""Plain two-bone limbs as arrays: from FK and what they are asked to what ``batch`` solves, and back to rotations.

The one arithmetic of crowds in real time and of bakes over many frames; columns are limbs, of whatever rig and
frame. This module knows no pose and no object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...solvers import batch, blending, rows
from .. import posed_chain
from .plan import Floats, Plan


class Setups(NamedTuple):
    """What limbs have from frame to frame, see ``plan.Plan``; the last axis is limbs, the first of ``offsets``."""

    offsets: Floats
    has_end: rows.Mask
    hinges: Floats
    end_offsets: Floats
    keeps_end: rows.Mask
    is_offset: rows.Mask
    rests: Floats
    rest_turns: Floats


def setups_of(picked: Sequence[tuple[Plan, Sequence[int]]], times: int = 1) -> Setups:
    """Set-ups of some chains of plans, in a row; the whole row so many times."""

    def joined(name: str) -> Floats:
        row: Floats = np.concatenate([getattr(plan, name)[list(numbers)] for plan, numbers in picked])
        return row if times == 1 else np.tile(row, (times, *(1,) * (row.ndim - 1)))

    return Setups(
        offsets=joined("offsets"),
        has_end=joined("has_end").astype(np.bool_),
        hinges=joined("hinges").T,
        end_offsets=joined("end_offsets").T,
        keeps_end=joined("keeps_end").astype(np.bool_),
        is_offset=joined("is_offset").astype(np.bool_),
        rests=joined("rests").transpose(1, 2, 0),
        rest_turns=joined("rest_turns").T,
    )


class LimbsInFK(NamedTuple):
    """Limbs in FK and what they are asked; the first axis is limbs.

    Space: armature. ``above``: matrix of the bone above the upper one. ``between``: from upper and from lower bone to
    the parent of the bone after it; None where those are the bones themselves. ``locations``, ``turns``, ``scales``:
    of upper, lower and end bone. ``tails``: length of the lower bone where its tail is the end.
    ``worlds``: three rows of the armature's matrix. ``places``: of target and pole in the world, ``target_turns``: the
    target's 3 x 3 there. ``settings``: weight, pole angle, softness, largest reach.
    """

    above: Floats
    between: Floats | None
    locations: Floats
    turns: Floats
    scales: Floats
    tails: Floats
    worlds: Floats
    places: Floats
    target_turns: Floats
    settings: Floats


class Standing(NamedTuple):
    """Limbs as they stand in FK; columns are limbs.

    Space: armature. ``frames``: upper, lower and end bone at zero local rotation; ``locals``: their local rotation,
    ``turns``: both together. ``end_axis``: the end bone's Y axis. ``root``, ``mid``, ``end``: as in ``batch``.
    ``is_even``: nothing above is scaled unevenly, mirrored or without size.
    """

    frames: tuple[rows.Rows, rows.Rows, rows.Rows]
    locals: tuple[rows.Rows, rows.Rows, rows.Rows]
    turns: tuple[rows.Rows, rows.Rows, rows.Rows]
    end_axis: rows.Rows
    root: rows.Rows
    mid: rows.Rows
    end: rows.Rows
    is_even: rows.Mask


class Limbs(NamedTuple):
    """What ``batch`` is asked, and what turns its answers into local rotations; columns are limbs.

    Space: armature. ``end``: how the end bone is to stand. ``is_even``: as ``Standing`` has it, nor is the target
    mirrored. ``scale``: of the armature in the world.
    """

    batch: batch.Limbs
    standing: Standing
    measured: batch.Measured
    end: rows.Rows
    weights: rows.Rows
    is_even: rows.Mask
    scale: rows.Rows


class Known(NamedTuple):
    """What FK alone says of limbs: where FK stands still, it needn't be asked again."""

    standing: Standing
    measured: batch.Measured


def known_of(setups: Setups, fk: LimbsInFK) -> Known:
    """The FK pose, built up in doubles from the bone above the limb."""
    frames, (upper, lower, end) = _bones(setups, fk)
    tails = lower[:, :3, 1] * fk.tails[:, None] + lower[:, :3, 3]
    ends = np.where(setups.has_end[:, None], end[:, :3, 3], tails)
    count, locals_ = len(fk.above), np.ascontiguousarray(fk.turns.transpose(1, 2, 0))
    heads = np.ascontiguousarray(np.stack((upper[:, :3, 3], lower[:, :3, 3], ends)).transpose(0, 2, 1))
    with np.errstate(all="ignore"):
        rotations = np.concatenate([frame[:, :3, :3] for frame in frames])
        found = np.split(rows.from_matrices(rotations), 3, axis=1)
        is_even = _is_even(rotations).reshape(3, count).all(axis=0) & (fk.scales != 0.0).all(axis=(1, 2))
    turns = [rows.multiply(frame, local) for frame, local in zip(found, locals_, strict=True)]
    standing = Standing(
        frames=(found[0], found[1], found[2]),
        locals=(locals_[0], locals_[1], locals_[2]),
        turns=(turns[0], turns[1], turns[2]),
        end_axis=end[:, :3, 1].T,
        root=heads[0],
        mid=heads[1],
        end=heads[2],
        is_even=is_even,
    )
    return Known(standing, batch.measured(standing.root, standing.mid, standing.end, turns[0], setups.hinges))


def limbs_of(setups: Setups, fk: LimbsInFK, known: Known | None = None) -> Limbs:
    """What limbs are asked, from FK and the world; ``known``: what ``known_of`` gives of this FK pose, if at hand."""
    standing, measured = known_of(setups, fk) if known is None else known
    with np.errstate(all="ignore"):
        to_arm, origins = rows.inverse(fk.worlds[:, :, :3]), fk.worlds[:, :, 3]
        scale = np.mean([rows.norm(column) for column in rows.columns(fk.worlds)], axis=0)
        places = np.ascontiguousarray((to_arm @ (fk.places - origins[:, None]).transpose(0, 2, 1)).transpose(2, 1, 0))
        target_turns = to_arm @ fk.target_turns
        is_even = standing.is_even & _is_unmirrored(target_turns)
        away = np.linalg.norm(origins, axis=1) / scale
        end = _end_orientation(setups, rows.from_matrices(target_turns), standing.turns[2])
    asked = batch.Limbs(
        root=standing.root,
        mid=standing.mid,
        end=standing.end,
        fk=standing.turns[0],
        hinge=setups.hinges,
        target=places[0],
        pole=places[1],
        pole_angle=fk.settings[:, 1],
        softness=fk.settings[:, 2],
        max_reach=fk.settings[:, 3],
        origin_distance=away,
    )
    return Limbs(
        batch=_beside_fk(asked, setups, measured) if setups.is_offset.any() else asked,
        standing=standing,
        measured=measured,
        end=end,
        weights=fk.settings[:, 0],
        is_even=is_even,
        scale=scale,
    )


def _bones(setups: Setups, fk: LimbsInFK) -> tuple[tuple[Floats, Floats, Floats], tuple[Floats, Floats, Floats]]:
    """Matrices of upper, lower and end bone: at zero local rotation, location and scale, and as they are."""
    offsets, between = setups.offsets, fk.between
    bases = rows.local_matrices(fk.locations, fk.turns, fk.scales)
    upper_frame = fk.above @ offsets[:, 0]
    upper = upper_frame @ bases[:, 0]
    lower_frame = (upper if between is None else upper @ between[:, 0]) @ offsets[:, 1]
    lower = lower_frame @ bases[:, 1]
    end_frame = (lower if between is None else lower @ between[:, 1]) @ offsets[:, 2]
    return (upper_frame, lower_frame, end_frame), (upper, lower, end_frame @ bases[:, 2])


def _end_orientation(setups: Setups, target: rows.Rows, end_fk: rows.Rows) -> rows.Rows:
    """How the end bone is to stand: as ``solve_chain._end_rotations``."""
    wanted = rows.multiply(target, setups.end_offsets)
    if setups.is_offset.any():
        moved = rows.multiply(rows.multiply(target, setups.rest_turns), end_fk)
        wanted = np.where(setups.is_offset, moved, wanted)
    return np.where(setups.keeps_end, end_fk, wanted)


def _beside_fk(asked: batch.Limbs, setups: Setups, measured: batch.Measured) -> batch.Limbs:
    """FK space: what target and pole moved since set-up, added to where FK has the end and the elbow."""
    elbow = 0.5 * (asked.root + asked.end) + measured.side * measured.length
    target = np.where(setups.is_offset, asked.end + (asked.target - setups.rests[0]), asked.target)
    pole = np.where(setups.is_offset, elbow + (asked.pole - setups.rests[1]), asked.pole)
    return asked._replace(target=target, pole=pole)


def _is_even(frames: Floats) -> rows.Mask:
    """As ``spaces.shear``, whether within ``NON_UNIFORM``; and not mirrored."""
    found = rows.columns(frames)
    squares = np.einsum("kin,kin->kn", found, found)
    x, y, z = found
    skews = np.stack((rows.dot(x, y), rows.dot(x, z), rows.dot(y, z))) ** 2 / (squares[[0, 0, 1]] * squares[[1, 2, 2]])
    is_round = 1.0 - np.sqrt(squares.min(axis=0) / squares.max(axis=0)) <= posed_chain.NON_UNIFORM
    is_square = skews.max(axis=0) <= posed_chain.NON_UNIFORM**2
    is_even: rows.Mask = is_round & is_square & (rows.dot(rows.cross(x, y), z) > 0.0)
    return is_even


def _is_unmirrored(frames: Floats) -> rows.Mask:
    x, y, z = rows.columns(frames)
    is_right: rows.Mask = rows.dot(rows.cross(x, y), z) > 0.0
    return is_right


class Turned(NamedTuple):
    """Upper, lower and end bone as solved (4 x limbs each).

    ``locals``: local rotations, blended by weight. ``frames``: each bone at zero local rotation under its solved
    parent, ``turns``: from FK, both in armature space.
    """

    locals: tuple[rows.Rows, rows.Rows, rows.Rows]
    frames: tuple[rows.Rows, rows.Rows, rows.Rows]
    turns: tuple[rows.Rows, rows.Rows, rows.Rows]


def turned(limbs: Limbs, posed: batch.Posed) -> Turned:
    """Each bone is blended from FK under its solved parent, parents first: as ``solve_chain`` turns them."""
    standing = limbs.standing
    (upper_frame, lower_frame, end_frame), (upper_fk, lower_fk, end_fk) = standing.frames, standing.turns
    upper = rows.multiply(rows.conjugate(upper_frame), rows.multiply(posed.upper, upper_fk))
    carried = rows.multiply(posed.upper, lower_frame)
    lower = rows.multiply(rows.conjugate(carried), rows.multiply(posed.lower, lower_fk))
    upper, lower = (_blended(fk, ik, limbs.weights) for fk, ik in zip(standing.locals[:2], (upper, lower), strict=True))
    upper_turn = rows.multiply(rows.multiply(upper_frame, upper), rows.conjugate(upper_fk))
    lower_now = rows.multiply(upper_turn, lower_frame)
    lower_turn = rows.multiply(rows.multiply(lower_now, lower), rows.conjugate(lower_fk))
    end_now = rows.multiply(lower_turn, end_frame)
    wanted = _blended(end_fk, limbs.end, limbs.weights)
    end = rows.normalized(rows.multiply(rows.conjugate(end_now), wanted))
    end_turn = rows.multiply(wanted, rows.conjugate(end_fk))
    return Turned((upper, lower, end), (upper_frame, lower_now, end_now), (upper_turn, lower_turn, end_turn))


def _blended(fk: rows.Rows, ik: rows.Rows, weights: rows.Rows) -> rows.Rows:
    """Where the weight is not full, ``blending.blend`` of that limb."""
    ik = rows.normalized(ik)
    for number in np.flatnonzero(weights < 1.0):
        ik[:, number] = blending.blend(tuple(fk[:, number]), tuple(ik[:, number]), float(weights[number]))
    return ik
