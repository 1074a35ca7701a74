"""Where a planted foot or hand is on each frame: still while it rests, rolling over its ball, never jumping.

Arrays of frames × 3 (points) and frames × 4 (orientations w x y z). Must not know bones, keys or Blender.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import contacts, rows
from .arrays import Floats
from .contacts import Span


@dataclass(frozen=True)
class Path:
    """The motion of a limb's end. Space: any one, the same for all.

    ``ends``: where the ankle or wrist is; ``turns``: orientation of foot or hand; ``toes``: the ball of the
    foot, None where there is none; ``roots`` and ``reaches``: where the limb hangs and how far it reaches.
    """

    ends: Floats
    turns: Floats
    roots: Floats
    reaches: Floats
    toes: Floats | None = None


@dataclass(frozen=True)
class Held:
    """Where the end is to be and how it is turned, on every frame of the path."""

    points: Floats
    turns: Floats


def rotated(turns: Floats, vectors: Floats) -> Floats:
    """Each vector turned by its quaternion."""
    found: Floats = rows.rotate(turns.T, vectors.T).T
    return found


def slerp(a: Floats, b: Floats, parts: Floats) -> Floats:
    """From ``a`` to ``b`` the short way, row by row."""
    near = np.where((a * b).sum(axis=1) < 0.0, -1.0, 1.0)[:, None] * b
    between = rows.multiply(rows.conjugate(a.T), near.T)
    sines = np.linalg.norm(between[1:], axis=0)
    angles = np.arctan2(sines, between[0]) * parts
    safe = np.where(sines > 0.0, sines, 1.0)
    step = np.vstack([np.cos(angles), between[1:] * (np.sin(angles) / safe)])
    found: Floats = rows.normalized(rows.multiply(a.T, step)).T
    return found


def hold(path: Path, window: Span, rests: Sequence[Span], blend: float, *, keeps_turn: bool) -> Held:
    """Hold the end still while it rests and roll the foot over its ball for the other frames of a contact.

    Args:
        path: the motion.
        window: the whole contact, of ankle or ball.
        rests: in it, where the ankle (or wrist) itself rests, rising; may be empty where a foot has toes.
        blend: frames over which the foot's own turn comes back after a rest.
        keeps_turn: the foot's orientation is held while the ankle rests, too; else it is the motion's.

    Returns:
        Points and turns for every frame: those outside the window go on as the contact begins and ends, for
        the time in which IK is blended.
    """
    turns = _held_turns(path, rests, blend) if keeps_turn else path.turns.copy()
    arms = _arms(path, turns, window)
    if not rests:
        assert path.toes is not None  # a contact is one of the ankle or one of the toes
        ball = np.tile(path.toes[window.first : window.last + 1].mean(axis=0), (len(turns), 1))
        return _lifted(Held(ball - arms, turns), ball, path) if keeps_turn else Held(ball - arms, turns)
    points = _over_ball(path, rests, arms)
    held = Held(points, turns)
    if keeps_turn and path.toes is not None:
        held = _lifted(held, points + arms, path)
    return _still_at_ends(held, window, rests)


def _held_turns(path: Path, rests: Sequence[Span], blend: float) -> Floats:
    turns = path.turns.copy()
    at = np.arange(len(turns), dtype=np.float64)
    for rest in rests:
        mean = contacts.mean_rotation(path.turns[rest.first : rest.last + 1])
        away = np.maximum(np.maximum(rest.first - at, at - rest.last), 0.0)
        part = 1.0 - rows.smoothstep(away / max(blend, 1.0))
        touched = part > 0.0
        turns[touched] = slerp(turns[touched], np.tile(mean, (int(touched.sum()), 1)), part[touched])
    return turns


def _arms(path: Path, turns: Floats, window: Span) -> Floats:
    """From ankle to ball on each frame, as the foot is turned then; zero without toes."""
    if path.toes is None:
        return np.zeros_like(path.ends)
    own = rows.rotate(rows.conjugate(path.turns.T), (path.toes - path.ends).T).T
    mean = own[window.first : window.last + 1].mean(axis=0)
    return rotated(turns, np.tile(mean, (len(turns), 1)))


def _over_ball(path: Path, rests: Sequence[Span], arms: Floats) -> Floats:
    """The ankle: still in each rest, around the still ball between and beside them."""
    first = rests[0]
    inside = slice(first.first, first.last + 1)
    place = contacts.within_reach(path.ends[inside].mean(axis=0), path.roots[inside], path.reaches[inside])
    points: Floats = place + arms[first.first] - arms
    for number, rest in enumerate(rests):
        if number:
            place = points[rest.first]
        points[rest.first : rest.last + 1] = place
        points[rest.last + 1 :] = place + arms[rest.last] - arms[rest.last + 1 :]
    return points


def _lifted(held: Held, balls: Floats, path: Path) -> Held:
    """The heel lifted further, around the ball, on frames on which the leg would be too short.

    The ankle turns toward the root of the limb by as much as the cosine law asks; rests are within reach already.
    """
    away, arms = path.roots - balls, held.points - balls
    far, near = np.linalg.norm(away, axis=1), np.linalg.norm(arms, axis=1)
    axes = np.cross(arms, away)
    sines = np.linalg.norm(axes, axis=1)
    reach = path.reaches * (1.0 - contacts.ROUNDING)
    with np.errstate(divide="ignore", invalid="ignore"):
        widest = np.arccos(np.clip((far**2 + near**2 - reach**2) / (2.0 * far * near), -1.0, 1.0))
    angles = np.maximum(np.arctan2(sines, (arms * away).sum(axis=1)) - widest, 0.0)
    too_far = (np.linalg.norm(held.points - path.roots, axis=1) > reach) & (sines > 0.0) & (angles > 0.0)
    angles = np.where(too_far, angles, 0.0) / 2.0
    units = axes / np.where(sines > 0.0, sines, 1.0)[:, None]
    lifts = np.vstack([np.cos(angles), units.T * np.sin(angles)])
    return Held(balls + rotated(lifts.T, arms), rows.multiply(lifts, held.turns.T).T)


def _still_at_ends(held: Held, window: Span, rests: Sequence[Span]) -> Held:
    """A contact that begins or ends with the ankle at rest stays so while IK comes and goes."""
    points, turns = held.points.copy(), held.turns.copy()
    if rests[0].first <= window.first:
        points[: window.first], turns[: window.first] = points[window.first], turns[window.first]
    if rests[-1].last >= window.last:
        points[window.last + 1 :], turns[window.last + 1 :] = points[window.last], turns[window.last]
    return Held(points, turns)


def carried(held: Held, own: Held, first: int, last: int) -> Held:
    """From one contact to the next in a gap too short for IK to go: the motion with the offsets of both ends.

    Args:
        held: the contact before up to ``first`` and the one after from ``last`` on.
        own: the motion.
        first: last frame of the contact before.
        last: first frame of the contact after.
    """
    points, turns = held.points.copy(), held.turns.copy()
    inside = np.arange(first, last + 1)
    part = rows.smoothstep((inside - first) / (last - first))
    offsets = [held.points[i] - own.points[i] for i in (first, last)]
    points[inside] = own.points[inside] + offsets[0] + part[:, None] * (offsets[1] - offsets[0])
    deltas = [rows.multiply(held.turns[i, :, None], rows.conjugate(own.turns[i, :, None])).T for i in (first, last)]
    count = len(inside)
    delta = slerp(np.tile(deltas[0], (count, 1)), np.tile(deltas[1], (count, 1)), part)
    turns[inside] = rows.multiply(delta.T, own.turns[inside].T).T
    return Held(points, turns)


def beyond(held: Held, own: Held, window: Span) -> Held:
    """The motion with the offsets that a path has at the ends of a window, before and after it."""
    points, turns = held.points.copy(), held.turns.copy()
    for end, part in ((window.first, slice(0, window.first)), (window.last, slice(window.last + 1, None))):
        points[part] = own.points[part] + held.points[end] - own.points[end]
        delta = rows.multiply(held.turns[end, :, None], rows.conjugate(own.turns[end, :, None]))
        count = len(own.turns[part])
        turns[part] = rows.multiply(np.tile(delta, (1, count)), own.turns[part].T).T
    return Held(points, turns)


def eased(held: Held, own: Held, parts: Floats) -> Held:
    """The motion's own place and turn where ``parts`` is 0, the held one where it is 1."""
    points = own.points + parts[:, None] * (held.points - own.points)
    return Held(points, slerp(own.turns, held.turns, parts))
