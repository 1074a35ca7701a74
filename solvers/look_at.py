"""Look-at: a head, a neck or an eye turned so that an axis of the tip bone points at the target.

One turn, split into yaw about FK's up and the pitch that is left, shared along the
chain. It knows no time and no frame before, so playing and jumping give one answer.
Weights are applied outside, on the local rotations. Nothing here knows Blender's data
(no bpy).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mathutils import Quaternion

from .blending import rise
from .chain import Chain, Goal, Solution, Status
from .joint_limits import clamp, degrees, is_valid, local_rotation, stop_at
from .look_geometry import Gaze, Link, Turn, delta_of, eye_at, gaze_of, turn_toward, yaw_of
from .rotations import IDENTITY, Quat, angle_between, as_quat, conjugate, multiply, normalized, rotate, slerp
from .vectors import as_vec, combined, cross, dot, length, scaled, subtract, unit

PASSES = 3
"""The eye moves with the neck, whose part settles to 3e-4 rad in three (1 m off); then the tip is aimed."""
FALL_START = math.radians(140.0)
"""Yaw from which what is held past a limit falls to 0, reached straight behind: the last 40 degrees."""
REFUSED_WHOLLY = math.radians(2.0)
"""Yaw refused from which that fall is complete; a smooth edge for limits that lie inside the last 40 degrees."""
ON_EYE = 1e-4
"""Distance of target and eye, part of the chain's size, under which there is no direction to look: FK's pose."""
NEAR_EYE = 1e-2
"""Distance, part of the chain's size, from which the turn is whole: 2 mm on a head of 20 cm."""
YAW_STEPS = tuple(math.radians(angle) for angle in (35.0, 70.0, 105.0, 140.0, 150.0, 160.0, 170.0))
"""Yaws that a limited joint is tried at on the way, so that it stops at the bound it meets first, not the nearest."""
STEP_REFUSED, STEP_REFUSED_WHOLLY = math.radians(5.0), math.radians(20.0)
"""Yaw refused on the way from which it counts as a bound, in part and wholly; less comes of axes not quite up."""
ON_TARGET = 1e-5
"""Angle (rad) that counts as looking at the target; float32 quaternions leave 1e-7."""
CHANGED = 1e-6
"""Angle (rad) that a limit must take away to count."""


def solve(chain: Chain, goal: Goal) -> Solution:
    """Turn the chain so that the tip's ``look_axis`` points from the tip's head at the target.

    Each joint takes ``share`` / sum of shares of one turn, the tip the rest, exactly. What limits refuse is handed on
    to the joints after, and once to those before. FK that looks at the target already comes back.

    Roll: the turn is yaw about FK's ``up_axis`` direction (at right angles to FK's look), then pitch, so the tip's
    right stays at right angles to FK's up. Within 8.6 degrees of straight up or down that rule is bent, so that both
    are ordinary directions; the one switch lies 3 degrees behind them.

    Past a yaw limit the turn holds, from 140 degrees it falls, to 0 straight behind; so does the share of necks
    without limits, whose tip then takes the whole turn.

    Args:
        chain: Root to tip; the tip's head is the eye.
        goal: ``target``, ``look_axis``, ``up_axis``, ``use_limits``; nothing else counts.

    Returns:
        ``error`` is the distance between the target and the point as far out on the line of sight.

    Space: armature; the axes in the tip bone's local space.
    Units: radians, armature units.
    Undefined input: target on the eye (1e-4 of the chain's size): FK's pose, 'TOO_NEAR', faded in up to 1e-2.
    ``up_axis`` along ``look_axis``: a fixed direction at right angles. Numbers that are not finite: 'INVALID'.
    """
    fault = _fault(chain, goal)
    if fault:
        return Solution(tuple(Quaternion() for _ in chain.joints), Status.INVALID, 0.0, fault)
    gaze = gaze_of(chain, goal)
    whole = rise(length(subtract(gaze.target, gaze.links[-1].head)), ON_EYE * gaze.size, NEAR_EYE * gaze.size)
    deltas: Sequence[Quat] = [IDENTITY] * len(gaze.links)
    for _ in range(PASSES if len(gaze.links) > 1 else 0):
        deltas = _shared(gaze, _wanted(gaze, deltas, whole))
    return _solution(gaze, _tip_aimed(gaze, deltas, whole), whole)


def _fault(chain: Chain, goal: Goal) -> str:
    if not chain.joints:
        return "no joints"
    numbers = [*as_vec(goal.target), *as_vec(goal.look_axis), *as_vec(goal.up_axis), *as_vec(chain.end)]
    for joint in chain.joints:
        numbers += [*as_vec(joint.head), *as_quat(joint.fk), *as_quat(joint.frame), joint.share]
    if not all(map(math.isfinite, numbers)):
        return "a position or rotation is not a number"
    if length(as_vec(goal.look_axis)) == 0.0:
        return "the look axis has no direction"
    if not goal.use_limits:
        return ""
    return next((fault for joint in chain.joints if (fault := is_valid(joint.limits))), "")


def _wanted(gaze: Gaze, deltas: Sequence[Quat], whole: float) -> Turn:
    """The tip's turn that looks at the target from where ``deltas`` put the eye."""
    sight = subtract(gaze.target, eye_at(gaze, deltas))
    if length(sight) <= ON_EYE * gaze.size:
        sight = rotate(deltas[-1], gaze.look)
    turn = turn_toward(gaze, unit(sight))
    return Turn(turn.yaw * whole, scaled(turn.pitch, whole))


def _shared(gaze: Gaze, turn: Turn) -> list[Quat]:
    """The turn shared along the chain, what the tip refuses handed once to the joints before it."""
    neck = 1.0 - rise(abs(turn.yaw), FALL_START, math.pi)
    parts = [link.part * neck for link in gaze.links[:-1]] + [1.0]
    turns = [Turn(turn.yaw * part, scaled(turn.pitch, part)) for part in parts]
    deltas = _limited(gaze, turns)
    if len(deltas) > 1 and _is_refused(gaze, turn, deltas[-1]):
        got = turn_toward(gaze, rotate(deltas[-1], gaze.look))
        left = Turn(turn.yaw - got.yaw, subtract(turn.pitch, got.pitch))
        deltas = _limited(gaze, [_plus(own, left, link.handed) for own, link in zip(turns, gaze.links, strict=True)])
    return deltas


def _plus(own: Turn, left: Turn, part: float) -> Turn:
    return Turn(own.yaw + part * left.yaw, combined(own.pitch, 1.0, left.pitch, part))


def _is_refused(gaze: Gaze, turn: Turn, delta: Quat) -> bool:
    return angle_between(delta_of(gaze, turn.yaw, turn.pitch), delta) > CHANGED


def _limited(gaze: Gaze, turns: Sequence[Turn]) -> list[Quat]:
    """Each joint's turn from FK, within its limits; those after it take up what it refuses, as turns are from FK."""
    deltas: list[Quat] = []
    for link, turn in zip(gaze.links, turns, strict=True):
        deltas.append(_limited_joint(gaze, link, _carrier(link, deltas), turn))
    return deltas


def _carrier(link: Link, deltas: Sequence[Quat]) -> Quat:
    """How far the joint's frame has turned from FK's with the joints before it."""
    return deltas[-1] if deltas and link.follows else IDENTITY


def _limited_joint(gaze: Gaze, link: Link, carrier: Quat, turn: Turn) -> Quat:
    delta = delta_of(gaze, turn.yaw, turn.pitch)
    legal = _clamped(link, carrier, delta)
    if legal is delta:
        return delta
    return _clamped(link, carrier, delta_of(gaze, _held_yaw(gaze, link, carrier, turn), turn.pitch))


def _held_yaw(gaze: Gaze, link: Link, carrier: Quat, turn: Turn) -> float:
    """The turn's yaw, or the bound met first on the way there from where the joint is carried to."""
    start = yaw_of(gaze, carrier)
    way = turn.yaw - start
    held, left = 0.0, 1.0
    for step in (*(step for step in YAW_STEPS if step < abs(way)), abs(way)):
        tried = start + math.copysign(step, way)
        got = yaw_of(gaze, _clamped(link, carrier, delta_of(gaze, tried, turn.pitch)))
        refused = math.remainder(tried - got, 2.0 * math.pi)
        part = left if step == abs(way) else left * rise(abs(refused), STEP_REFUSED, STEP_REFUSED_WHOLLY)
        held, left = held + part * (tried - refused), left - part
        if left == 0.0:
            break
    return held


def _clamped(link: Link, carrier: Quat, delta: Quat) -> Quat:
    """``delta`` itself where the joint's limits allow it, else the nearest that they do."""
    if link.limits is None:
        return delta
    frame = multiply(carrier, link.frame)
    local = local_rotation(frame, multiply(delta, link.fk))
    legal = clamp(link.limits, local)
    return delta if legal is local else multiply(multiply(frame, legal), conjugate(link.fk))


def _fallen(gaze: Gaze, turn: Turn, deltas: list[Quat]) -> list[Quat]:
    """What is held past a yaw limit, falling to FK's pose over the last 40 degrees before straight behind."""
    yaw = abs(turn.yaw)
    if yaw <= FALL_START or all(link.limits is None for link in gaze.links):
        return deltas
    refused = abs(math.remainder(turn.yaw - yaw_of(gaze, deltas[-1]), 2.0 * math.pi))
    gone = rise(yaw, max(FALL_START, yaw - refused), math.pi) * rise(refused, 0.0, REFUSED_WHOLLY)
    return _faded(gaze, deltas, 1.0 - gone) if gone > 0.0 else deltas


def _faded(gaze: Gaze, deltas: Sequence[Quat], weight: float) -> list[Quat]:
    """Local rotations between FK (weight 0) and ``deltas`` (1); FK as far as limits allow it."""
    out: list[Quat] = []
    for index, link in enumerate(gaze.links):
        mixed = _legal(
            link, slerp(_legal(link, local_rotation(link.frame, link.fk)), _local(link, deltas, index), weight)
        )
        out.append(multiply(multiply(multiply(_carrier(link, out), link.frame), mixed), conjugate(link.fk)))
    return out


def _legal(link: Link, local: Quat) -> Quat:
    return local if link.limits is None else clamp(link.limits, local)


def _local(link: Link, deltas: Sequence[Quat], index: int) -> Quat:
    frame = multiply(_carrier(link, deltas[:index]), link.frame)
    return local_rotation(frame, multiply(deltas[index], link.fk))


def _tip_aimed(gaze: Gaze, deltas: Sequence[Quat], whole: float) -> list[Quat]:
    """The tip aimed once more, from where the eye has come to: exact, unless limited."""
    turn = _wanted(gaze, deltas, whole)
    link, before = gaze.links[-1], list(deltas[:-1])
    return _fallen(gaze, turn, [*before, _limited_joint(gaze, link, _carrier(link, before), turn)])


def _solution(gaze: Gaze, deltas: Sequence[Quat], whole: float) -> Solution:
    sight = subtract(gaze.target, eye_at(gaze, deltas))
    far, look = length(sight), rotate(deltas[-1], gaze.look)
    miss = math.atan2(length(cross(look, sight)), dot(look, sight)) if far > 0.0 else 0.0
    status, reason = Status.REACHED, ""
    if miss > ON_TARGET:
        status, reason = Status.LIMITED, _stops(gaze, deltas)
    if whole < 1.0:
        status, reason = Status.TOO_NEAR, "target on the eye"
    quaternions = tuple(Quaternion(normalized(delta)) for delta in deltas)
    return Solution(quaternions, status, 2.0 * far * math.sin(0.5 * miss), reason)


def _stops(gaze: Gaze, deltas: Sequence[Quat]) -> str:
    """Which limit keeps the tip from looking at the target; the joint nearest to the tip is named."""
    for index in reversed(range(len(gaze.links))):
        link = gaze.links[index]
        if link.limits is None:
            continue
        stop = stop_at(link.limits, _local(link, deltas, index))
        if stop is not None:
            return f"joint {index + 1} at its limit of {degrees(stop.angle)}"
    return "target behind, past the limits" if any(link.limits for link in gaze.links) else "target too near the neck"
