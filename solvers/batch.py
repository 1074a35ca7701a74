"""Many two-bone limbs without limits at once: ``two_bone`` on arrays, for crowds in real time.

The same formulas with the same constants as ``two_bone`` and ``bend_plane`` (a test holds
them together). Whatever is near an edge (on the root, folded, pole on the line) is marked
as not ordinary and left to ``two_bone``. No Blender data (no bpy), no memory.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from mathutils import Vector

from . import bend_plane, two_bone
from .chain import Goal, Status
from .rotations import OPPOSITE
from .rows import (
    Mask,
    Rows,
    cross,
    dot,
    from_columns,
    multiply,
    norm,
    perpendicular_part,
    rotate,
    shortest_arc,
    smoothstep,
    swivelled,
)
from .vectors import ZERO

_ORIGIN = Vector()
WELL_FORMED = 1e-5
"""Part of the length that bones, and what directions are made of, must have for the short way here."""


class Limbs(NamedTuple):
    """Limbs in their FK pose and what they are asked; columns are limbs.

    Space: armature, but ``hinge`` (unit, root bone's local space). ``fk``: orientation of the root bone.
    ``pole`` is NaN where there is none. The rest as in ``chain.Goal``.
    """

    root: Rows
    mid: Rows
    end: Rows
    fk: Rows
    hinge: Rows
    target: Rows
    pole: Rows
    pole_angle: Rows
    softness: Rows
    max_reach: Rows
    origin_distance: Rows


class Posed(NamedTuple):
    """Answers: turns of the two bones from FK, as ``Solution.deltas`` but in doubles; length missed.

    Where ``is_ordinary`` is false nothing else counts, and ``two_bone`` has to be asked.
    """

    upper: Rows
    lower: Rows
    error: Rows
    wanted: Rows
    distance: Rows
    length: Rows
    pole_distance: Rows
    is_ordinary: Mask


class Measured(NamedTuple):
    """``bend_plane.FKLimb`` of every limb."""

    upper: Rows
    lower: Rows
    length: Rows
    line: Rows
    side: Rows
    normal: Rows
    distance: Rows
    along: Rows
    height: Rows
    offset: Rows
    is_ordinary: Mask


def solve(limbs: Limbs, fk: Measured | None = None) -> Posed:
    """Pose every limb so that its end is on the target and its elbow on the pole's side.

    ``fk``: what ``measured`` gives of these limbs, where it is known.
    Space, units: as ``two_bone.solve``.
    Undefined input: is not ordinary, see ``Posed``; nothing is raised.
    """
    with np.errstate(all="ignore"):
        if fk is None:
            fk = measured(limbs.root, limbs.mid, limbs.end, limbs.fk, limbs.hinge)
        to_target = limbs.target - limbs.root
        wanted = norm(to_target)
        line = to_target / wanted
        side, pole_distance, has_side = _sides(limbs, fk, line)
        distance = _asked(limbs, fk, wanted)
        upper, lower = _turns(fk, line, side, distance)
        error = norm(to_target - line * distance)
        is_ordinary = fk.is_ordinary & has_side & (wanted > 2.0 * two_bone.ON_ROOT * fk.length)
        is_ordinary &= np.isfinite(upper[0]) & np.isfinite(lower[0]) & np.isfinite(error)
    return Posed(upper, lower, error, wanted, distance, fk.length, pole_distance, is_ordinary)


def measured(root: Rows, mid: Rows, end: Rows, fk: Rows, hinge: Rows) -> Measured:
    """As ``bend_plane.fk_limb``, of the FK pose alone: see ``Limbs``.

    Undefined input: is not ordinary.
    """
    with np.errstate(all="ignore"):
        return _measured(root, mid, end, rotate(fk, hinge))


def _measured(root: Rows, mid: Rows, end: Rows, hinge: Rows) -> Measured:
    """``hinge``: armature space."""
    to_mid, to_end = mid - root, end - root
    mid_to_end = end - mid
    upper, lower, distance = norm(to_mid), norm(mid_to_end), norm(to_end)
    length = upper + lower
    first, second, line = to_mid / upper, mid_to_end / lower, to_end / distance
    bend = cross(first, second)
    angle = np.arctan2(norm(bend), dot(first, second))
    fade = smoothstep((angle - bend_plane.HINGE_FULL) / (bend_plane.HINGE_NONE - bend_plane.HINGE_FULL))
    part = perpendicular_part(hinge * (bend_plane.HINGE_WEIGHT * (1.0 - fade)) + bend, line)
    size = norm(part)
    normal = part / size
    side = cross(line, normal)
    out = perpendicular_part(to_mid, line)
    offset = np.arctan2(-dot(out, normal), dot(out, side))
    offset = np.where(offset < bend_plane.OFFSET_CUT, offset + 2.0 * math.pi, offset)
    is_ordinary = (np.minimum(np.minimum(upper, lower), distance) > WELL_FORMED * length) & (size > WELL_FORMED)
    along, height = dot(to_mid, line), norm(out)
    return Measured(upper, lower, length, line, side, normal, distance, along, height, offset, is_ordinary)


def _sides(limbs: Limbs, fk: Measured, line: Rows) -> tuple[Rows, Rows, Mask]:
    """As ``two_bone._side`` with the pole well off the line; how far off, and whether it is (or there is none)."""
    off_line = perpendicular_part(limbs.pole - limbs.root, line)
    distance = norm(off_line)
    side = off_line / distance
    has_none = np.isnan(limbs.pole[0])
    is_ordinary = has_none | (distance > two_bone.POLE_EXACT * fk.length)
    if has_none.any():
        side = np.where(has_none, rotate(shortest_arc(fk.line, line), fk.side), side)
        is_ordinary &= ~has_none | (norm(fk.line + line) > WELL_FORMED)
    if limbs.pole_angle.any():
        side = swivelled(side, line, limbs.pole_angle)
    return side, distance, is_ordinary


def _asked(limbs: Limbs, fk: Measured, wanted: Rows) -> Rows:
    """As ``two_bone.asked_distance``."""
    longest = limbs.max_reach * fk.length
    soft = limbs.softness * longest
    beyond = wanted - (longest - soft)
    is_soft = (soft > 0.0) & (beyond > 0.0)
    softened = np.where(is_soft, longest - soft * np.exp(-beyond / np.where(is_soft, soft, 1.0)), wanted)
    shortest = np.abs(fk.upper - fk.lower)
    reach = np.maximum(shortest, np.minimum(fk.length, np.minimum(softened, longest)))
    same = two_bone.SAME_DISTANCE * fk.length + two_bone.SAME_DISTANCE_FAR * limbs.origin_distance
    apart = reach - fk.distance
    eased = fk.distance + apart * smoothstep(np.abs(apart) / same - 1.0)
    return np.where(np.abs(apart) >= 2.0 * same, reach, eased)


def _triangle(fk: Measured, distance: Rows) -> tuple[Rows, Rows]:
    """As ``bend_plane.solved_triangle``."""
    difference = fk.upper - fk.lower
    d = np.maximum(np.abs(difference), np.minimum(fk.length, distance))
    product = (fk.length + d) * (fk.length - d) * (d + difference) * (d - difference)
    is_same = distance == fk.distance
    along = np.where(is_same, fk.along, (difference * fk.length + d * d) / (2.0 * d))
    return along, np.where(is_same, fk.height, np.sqrt(np.maximum(0.0, product)) / (2.0 * d))


def _kept_offset(fk: Measured, height: Rows) -> Rows:
    """As ``bend_plane.kept_offset``."""
    excess = height - fk.height
    fade = np.minimum(fk.height + bend_plane.OFFSET_FADE * fk.length, bend_plane.OFFSET_FADE_RATIO * fk.height)
    faded = np.where(fade > 0.0, 1.0 - smoothstep(excess / np.where(fade > 0.0, fade, 1.0)), 0.0)
    return fk.offset * np.where(excess <= 0.0, 1.0, faded)


def _turns(fk: Measured, line: Rows, side: Rows, distance: Rows) -> tuple[Rows, Rows]:
    """As ``bend_plane.limb_turns``; both bones in one row, upper ones first, since most of the time goes by calls."""
    normal = cross(side, line)
    whole = _from_frames((fk.line, fk.side, fk.normal), (line, side, normal))
    along, height = _triangle(fk, distance)
    offset = _kept_offset(fk, height)
    out_before = (side * np.cos(fk.offset) - normal * np.sin(fk.offset)) * fk.height
    out_after = (side * np.cos(offset) - normal * np.sin(offset)) * height
    below = np.maximum(np.abs(fk.upper - fk.lower), np.minimum(fk.length, distance)) - along
    before = np.concatenate((line * fk.along + out_before, line * (fk.distance - fk.along) - out_before), axis=1)
    after = np.concatenate((line * along + out_after, line * below - out_after), axis=1)
    turns = multiply(_swung(before, after, normal), np.concatenate((whole, whole), axis=1))
    upper, lower = turns[:, : whole.shape[1]], turns[:, whole.shape[1] :]
    is_kept = (distance == fk.distance) & (offset == fk.offset)
    if is_kept.any():
        return np.where(is_kept, whole, upper), np.where(is_kept, whole, lower)
    return upper, lower


def _swung(before: Rows, after: Rows, hinge: Rows) -> Rows:
    """The smallest turn between two directions, about the hinge (one for two) where they are opposite."""
    a, b = before / norm(before), after / norm(after)
    turn = shortest_arc(a, b)
    is_opposite = norm(a + b) < 2.0 * OPPOSITE
    if not is_opposite.any():
        return turn
    half_turn = np.vstack([np.zeros_like(hinge[0]), hinge])
    return np.where(is_opposite, np.concatenate((half_turn, half_turn), axis=1), turn)


def _from_frames(old: tuple[Rows, Rows, Rows], new: tuple[Rows, Rows, Rows]) -> Rows:
    """As ``rotations.from_frames``."""
    columns: Rows = np.einsum("kin,kjn->jin", np.stack(new), np.stack(old))
    return from_columns(*columns)


def outcome(posed: Posed, number: int, origin_distance: float) -> tuple[Status, str]:
    """What the miss of one limb is called, and why: ``two_bone.outcome``."""
    length = float(posed.length[number])
    doubt = "pole on the limb's line" if posed.pole_distance[number] < two_bone.POLE_DOUBTFUL * length else ""
    fk = bend_plane.FKLimb(ZERO, length, 0.0, ZERO, ZERO, ZERO, 0.0, 0.0, 0.0, 0.0)
    aim = two_bone.Aim(ZERO, ZERO, float(posed.wanted[number]), float(posed.distance[number]), doubt)
    goal = Goal(_ORIGIN, origin_distance=origin_distance)
    return two_bone.outcome(fk, goal, aim, float(posed.error[number]))
