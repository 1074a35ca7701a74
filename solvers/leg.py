"""Zig-zag legs of creatures onto a target: the bends of all joints scaled by one factor.

Decides where the leg points and what the outcome is called; ``leg_shape`` has the
geometry, ``leg_reach`` finds the factor, line, pole and reach are ``two_bone``'s. No
Blender data (no bpy), no memory from frame to frame: equal arguments give equal answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mathutils import Quaternion, Vector

from .chain import Chain, Goal, JointKind, Solution, Status
from .joint_limits import is_valid
from .leg_limits import brought_nearer, stop_reason, within_limits
from .leg_mirror import shape_from_fk
from .leg_shape import Leg, Shape, leg_of
from .rotations import Quat, as_quat, from_axis_angle, from_frames, multiply, normalized, rotate, shortest_arc
from .two_bone import REACHED, Aim, aimed, outcome
from .vectors import ZERO, Vec, add, as_vec, cross, dot, length, scaled, subtract, unit


def solve(chain: Chain, goal: Goal) -> Solution:
    """Pose a leg of any number of joints so that its end is on the target and it bends to the pole's side.

    The bend of joint j is FK's times 1 + share · (k - 1), one k for all: FK's zig-zag stays, FK comes back at its own
    distance, and speeds have no kink there. Joints stop where they are straight, folded or at their limits while the
    others go on; where folding on would lengthen a leg, the joints that do it wait. A joint straighter than 3 degrees
    in FK takes its side from ``rest_heads``; a leg that FK bends against rest as a whole comes round to rest's way as
    it folds further (``leg_mirror``). Where the root's limits refuse the side, the nearest one is taken; where they
    allow none, the legal pose is brought as near as ``iterations`` steps do.

    Args:
        chain: Root to tip. ``bend_axis``: ``bend_plane.rest_bend_axis`` of root, **first** inner joint and end.
        goal: ``start`` and ``tolerance`` don't count; ``iterations`` only where the root stands at a limit.

    Space: armature, the deltas too: a joint's solved orientation is ``delta @ fk``. Between neighbours bones turn about
    FK's bend alone, so that twist survives.
    Units: those of the armature; radians.
    Undefined input: targets on the root take FK's direction; bones of no length turn with the one before; positions
    that are not finite and limits that can't be met give ``INVALID`` and no turn; every answer is finite.
    Source: design of Limb IK, "LEG".
    """
    fault = _fault(chain, goal)
    if fault:
        return Solution((Quaternion(),) * len(chain.joints), Status.INVALID, 0.0, fault)
    leg = leg_of(chain, goal.use_limits)
    aim = aimed(leg.plane, goal)
    shape = shape_from_fk(leg, aim.distance)
    turns = _placed(leg, shape, aim)
    if not goal.use_limits or all(joint.limits.kind == JointKind.FREE for joint in chain.joints):
        return _solution(goal, leg, aim, turns, "")
    legal = within_limits(chain, turns, aim.line)
    if legal.is_cut and _miss(leg, aim, legal.turns) > REACHED * leg.plane.length:
        legal = brought_nearer(chain, legal, add(leg.plane.root, scaled(aim.line, aim.distance)), goal.iterations)
    is_limited = legal.is_cut or bool(shape.stops)
    return _solution(goal, leg, aim, legal.turns, stop_reason(chain, legal.turns, shape.stops) if is_limited else "")


def pole_direction(chain: Chain) -> Vector:
    """Where match and set-up put the pole, seen from the root: the side that the first inner joint stands on.

    Space: armature. Unit length, at right angles to the line root to end in FK.
    """
    return Vector(leg_of(chain, False).plane.side)


def _fault(chain: Chain, goal: Goal) -> str:
    if not chain.joints:
        return "no joints"
    numbers = [*as_vec(goal.target), *as_vec(chain.end), *as_vec(chain.bend_axis)]
    numbers += [goal.pole_angle, goal.softness, goal.max_reach, *as_vec(ZERO if goal.pole is None else goal.pole)]
    for joint in chain.joints:
        numbers += [*as_vec(joint.head), *as_quat(joint.fk), *as_quat(joint.frame), joint.share]
    for point in chain.rest_heads:
        numbers += as_vec(point)
    if not all(map(math.isfinite, numbers)):
        return "a position or rotation is not a number"
    if not goal.use_limits:
        return ""
    faults = (is_valid(joint.limits) for joint in chain.joints)
    return next((f"joint {index}: {fault}" for index, fault in enumerate(faults, start=1) if fault), "")


def _placed(leg: Leg, shape: Shape, aim: Aim) -> list[Quat]:
    """The shape's turns, its end on the aimed line and its bends to the aimed side.

    The leg turns rigidly from FK's line and side to the aimed ones; before that the shape is turned about FK's hinge,
    then by what is left, so that its end is on FK's line.
    """
    plane = leg.plane
    whole = from_frames(plane.line, plane.side, plane.normal, aim.line, aim.side, cross(aim.side, aim.line))
    if shape.distance == 0.0:
        return [multiply(whole, turn) for turn in shape.turns]
    angle = math.atan2(dot(shape.end, plane.side), dot(shape.end, plane.line))
    onto_side = from_axis_angle(plane.normal, angle)
    rest = shortest_arc(unit(rotate(onto_side, shape.end)), plane.line, plane.normal)
    placed = multiply(whole, multiply(rest, onto_side))
    return [multiply(placed, turn) for turn in shape.turns]


def _end(leg: Leg, turns: Sequence[Quat]) -> Vec:
    """Root to end."""
    end = ZERO
    for turn, direction, size in zip(turns, leg.directions, leg.lengths, strict=True):
        end = add(end, scaled(rotate(turn, direction), size))
    return end


def _miss(leg: Leg, aim: Aim, turns: Sequence[Quat]) -> float:
    return length(subtract(scaled(aim.line, aim.distance), _end(leg, turns)))


def _solution(goal: Goal, leg: Leg, aim: Aim, turns: Sequence[Quat], stop: str) -> Solution:
    """``stop``: the limit that the leg stands at, or empty."""
    end, to_target = _end(leg, turns), subtract(as_vec(goal.target), leg.plane.root)
    error = length(subtract(to_target, end))
    without = length(subtract(to_target, scaled(aim.line, aim.distance)))
    deltas = tuple(Quaternion(normalized(turn)) for turn in turns)
    if stop and error > without + REACHED * leg.plane.length:
        return Solution(deltas, Status.LIMITED, error, stop)
    status, reason = outcome(leg.plane, goal, aim._replace(distance=length(end)), error)
    return Solution(deltas, status, error, reason)
