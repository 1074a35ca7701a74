"""FABRIK for chains of any length: the entry ``solve``, and the passes as small functions.

The chain starts from its FK bends scaled to the distance asked for (``chain_start``), is aimed with the side it
bends to (``chain_bend``), and what is left of the error, if anything, goes in backward and forward passes. Joint
limits are ``chain_limits``' work. Every solve stands alone: the same input gives the same pose. No bpy.

Space: armature. Units: armature units and radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from mathutils import Quaternion

from . import chain_limits
from .blending import rise
from .chain import Chain, Goal, Solution, Status
from .chain_bend import Aim, Bend, aim, fk_bend, pole_direction
from .chain_geometry import (
    Row,
    angle_about,
    mean_offset,
    placed,
    posed,
    read,
    spread,
    start_row,
    swings,
    turned,
)
from .chain_start import bends_of, nearest_distance, start
from .rotations import Quat, as_quat, from_axis_angle, rotate, shortest_arc
from .two_bone import REACHED, SAME_DISTANCE, SAME_DISTANCE_FAR, softened
from .vectors import UNIT_Y, ZERO, Vec, as_vec, combined, length, scaled, subtract, unit

__all__ = ["backward", "error_of", "forward", "passes", "pole_direction", "solve"]

LARGEST_TOLERANCE = 1e-3
"""Part of the length that the tolerance never exceeds: captured people can be 150 units tall or 1.5."""
STANDS_OUT = 1e-4
"""Part of the length that keeps the turn to the bend's side defined where FK is straight to rounding error."""
BRANCH_CUT = math.radians(150.0)
"""The side of FK is kept as an angle from -150 to 210 degrees, so that bending straight back is no seam."""
ONE_SIDED = (0.2, 0.6)
"""Mean offset by spread of the joints: 0 for an S, 0.9 for an arc; between these the closing axis goes over."""
ON_LINE = 1e-9
"""Part of the length under which the joints have no side."""


def solve(chain: Chain, goal: Goal) -> Solution:
    """Turn the bones of ``chain`` so that its end reaches the goal's target, bent to the pole's side.

    Without limits every reachable target is met to rounding error; out of reach the chain is straight at the
    target, too near it is folded. With limits see ``chain_limits.solve``. One joint: an aim.

    Space: armature. Units: armature units, radians. Undefined input: a chain without length and figures that are
    not finite are ``INVALID`` and turn nothing; coincident joints turn along with the bone before them; a target on
    the root keeps FK's direction.

    Source: Aristidou and Lasenby (2011) for the passes; the start is ``chain_start``'s.
    """
    row = read(chain)
    fault = _fault(chain, row, goal)
    if fault:
        return Solution((Quaternion(),) * len(chain.joints), Status.INVALID, 0.0, fault)
    aimed = aim(fk_bend(chain, row), row, goal)
    wanted = _wanted_distance(row, aimed.distance, goal)
    deltas = unlimited(chain, row, goal, aimed, wanted)
    if not goal.use_limits or not chain_limits.are_broken(chain, deltas):
        return _solution(row, goal, deltas, _outcome(row, aimed, _missed(row, goal, deltas)))
    point = combined(row.root, 1.0, aimed.bend.line, wanted)
    stop, side = tolerance(row, goal), aimed.bend.side
    limited = chain_limits.solve(chain, row, point, deltas, stop, goal.iterations, side)
    return _solution(row, goal, limited.deltas, _limited_outcome(row, goal, aimed, limited))


def _fault(chain: Chain, row: Row, goal: Goal) -> str:
    figures = [row.total, goal.pole_angle, goal.softness, goal.max_reach, goal.tolerance, *as_vec(goal.target)]
    figures += [part for joint in chain.joints for part in (*as_quat(joint.fk), *as_quat(joint.frame))]
    figures += [*(as_vec(goal.pole) if goal.pole is not None else ()), *as_vec(chain.bend_axis)]
    if not all(math.isfinite(figure) for figure in figures):
        return "a position or rotation is not a number"
    if row.total <= 0.0:
        return "the chain has no length"
    if goal.start is not None and len(goal.start) != len(chain.joints):
        return "the pose to start from has another number of bones"
    return chain_limits.fault(chain) if goal.use_limits else ""


def tolerance(row: Row, goal: Goal) -> float:
    """The error at which iterating stops, in armature units."""
    return min(goal.tolerance, LARGEST_TOLERANCE * row.total)


def unlimited(chain: Chain, row: Row, goal: Goal, aimed: Aim, distance: float) -> tuple[Quat, ...]:
    """The turn of each bone that puts the end ``distance`` along the aimed line where no joint has limits."""
    directions = _aimed(row, start_row(row, goal.start), fk_bend(chain, row), aimed, distance)
    end = scaled(aimed.bend.line, distance)
    points = passes(placed(ZERO, directions, row.lengths), row.lengths, end, tolerance(row, goal), goal.iterations)
    directions = tuple(_direction(a, b, old) for (a, b), old in zip(pairwise(points), directions, strict=True))
    return swings(row, aimed.turn, directions, aimed.bend.axis)


def _wanted_distance(row: Row, distance: float, goal: Goal) -> float:
    """Root to end: the target's distance, FK's where they differ by rounding, held back by softness, in reach."""
    own = length(subtract(row.points[-1], row.root))
    zone = SAME_DISTANCE * row.total + SAME_DISTANCE_FAR * goal.origin_distance
    apart = distance - own
    distance = own + apart * rise(abs(apart), zone, 2.0 * zone)
    reach = row.total * goal.max_reach
    return max(nearest_distance(row.lengths), min(softened(distance, reach, goal.softness), reach))


def _aimed(row: Row, shape: Row, bend: Bend, aimed: Aim, distance: float) -> tuple[Vec, ...]:
    """Directions of the bones, ``distance`` apart at root and end, along the aimed line and on its side."""
    axis = _closing_axis(shape, bend)
    directions = start(bends_of(shape, axis), axis, distance)
    line = unit(subtract(placed(ZERO, directions, row.lengths)[-1], ZERO))
    onto_fk_line = shortest_arc(line if line != ZERO else directions[0], bend.line, bend.axis)
    directions = turned(aimed.turn, turned(onto_fk_line, directions))
    return turned(_turn_to_side(row, directions, bend, aimed.bend), directions)


def _closing_axis(shape: Row, bend: Bend) -> Vec:
    """The axis in which the chain closes further: its own where its joints lie on one side, else the bend's.

    Perpendicular to the first bone.
    """
    offset = mean_offset(shape.points, bend.line)
    out = spread(shape.points, bend.line)
    one_sided = rise(length(offset) / out, *ONE_SIDED) if out > ON_LINE * shape.total else 0.0
    angle = angle_about(bend.line, bend.side, offset) if one_sided > 0.0 else 0.0
    own = rotate(from_axis_angle(bend.line, angle * one_sided), bend.axis)
    return rotate(shortest_arc(bend.line, shape.directions[0], own), own)


def _turn_to_side(row: Row, directions: Sequence[Vec], bend: Bend, to: Bend) -> Quat:
    """The turn about the line that puts the joints on the side asked for, as far as they stand out further than in FK.

    Up to FK's own spread the side that FK has is kept, so FK comes back exactly.
    """
    points = placed(row.root, directions, row.lengths)
    out, fk_out = spread(points, to.line), spread(row.points, bend.line)
    offset = mean_offset(points, to.line)
    if length(offset) <= ON_LINE * row.total:
        return from_axis_angle(to.line, 0.0)
    angle = angle_about(to.line, to.side, offset)
    angle = angle if angle > -BRANCH_CUT else angle + 2.0 * math.pi
    part = rise((out - fk_out) / (fk_out + STANDS_OUT * row.total), 0.0, 1.0)
    return from_axis_angle(to.line, -angle * part)


def backward(points: Sequence[Vec], lengths: Sequence[float], target: Vec) -> tuple[Vec, ...]:
    """FABRIK's first pass: the end goes onto ``target``, each joint follows at its bone's length; the root moves."""
    moved = [target]
    for n in range(len(lengths) - 1, -1, -1):
        old = subtract(points[n], points[n + 1])
        moved.append(combined(moved[-1], 1.0, _direction(moved[-1], points[n], old), lengths[n]))
    return tuple(reversed(moved))


def forward(points: Sequence[Vec], lengths: Sequence[float], root: Vec) -> tuple[Vec, ...]:
    """FABRIK's second pass: the root goes back to ``root``, each joint follows at its bone's length."""
    moved = [root]
    for n, size in enumerate(lengths):
        old = subtract(points[n + 1], points[n])
        moved.append(combined(moved[-1], 1.0, _direction(moved[-1], points[n + 1], old), size))
    return tuple(moved)


def _direction(start_point: Vec, end_point: Vec, old: Vec) -> Vec:
    """Unit direction between two points; that of ``old`` where they coincide, Y where that has none either."""
    step = unit(subtract(end_point, start_point))
    if step != ZERO:
        return step
    old = unit(old)
    return old if old != ZERO else UNIT_Y


def passes(
    points: Sequence[Vec], lengths: Sequence[float], target: Vec, stop: float, iterations: int
) -> tuple[Vec, ...]:
    """Backward and forward until the end is within ``stop`` of ``target``, ``iterations`` times at most.

    The error never grows from one iteration to the next. Source: Aristidou and Lasenby (2011).
    """
    points = tuple(points)
    for _ in range(iterations):
        if error_of(points, target) <= stop:
            break
        points = forward(backward(points, lengths, target), lengths, points[0])
    return points


def error_of(points: Sequence[Vec], target: Vec) -> float:
    """How far the last point is from ``target``."""
    return length(subtract(points[-1], target))


def _missed(row: Row, goal: Goal, deltas: Sequence[Quat]) -> float:
    return error_of(posed(row, deltas), as_vec(goal.target))


def _solution(row: Row, goal: Goal, deltas: Sequence[Quat], outcome: tuple[Status, str]) -> Solution:
    return Solution(tuple(Quaternion(delta) for delta in deltas), outcome[0], _missed(row, goal, deltas), outcome[1])


def _outcome(row: Row, aimed: Aim, missed: float) -> tuple[Status, str]:
    if missed <= REACHED * row.total:
        return Status.REACHED, "pole on the limb's line" if aimed.is_pole_doubtful else ""
    if aimed.distance >= row.total:
        return Status.TOO_FAR, "target out of reach"
    if aimed.is_on_root:
        return Status.TOO_NEAR, "target on the root"
    if aimed.distance <= nearest_distance(row.lengths):
        return Status.TOO_NEAR, "target nearer than the folded chain"
    return Status.TOO_FAR, "held back by softness or largest reach"


def _limited_outcome(row: Row, goal: Goal, aimed: Aim, limited: chain_limits.Limited) -> tuple[Status, str]:
    """As without limits where the pose misses no more than it would then; else the limit it stands at."""
    missed = _missed(row, goal, limited.deltas)
    if limited.error <= REACHED * row.total:
        return _outcome(row, aimed, missed)
    return Status.LIMITED, limited.reason
