"""Two bones onto a target, exactly and without iterations (law of cosines).

Decides what to ask of a limb (line, side, distance) and what the outcome is called;
``bend_plane`` has the geometry, ``two_bone_limits`` what joints allow. No Blender data
(no bpy), no memory from frame to frame: equal arguments give equal answers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from mathutils import Quaternion, Vector

from .bend_plane import FKLimb, Turns, carried_side, fk_limb, limb_turns, swivelled
from .blending import smoothstep
from .chain import Chain, Goal, Solution, Status
from .planar import clamped_reach
from .vectors import TINY, Vec, as_vec, cross, dot, length, perpendicular_part, scaled, subtract

SAME_DISTANCE = 3e-6
"""Part of the limb's length under which a distance counts as FK's: on a straight limb the rounding of float32
targets would cost 1e-3 rad otherwise."""
SAME_DISTANCE_FAR = 5e-7
"""The same per distance from the world's origin, where float32 positions are that much coarser."""
ON_ROOT = 1e-4
"""Part of the length nearer than which a target shows no direction; FK's is taken."""
POLE_LOST = 1e-4
"""Part of the length: with the pole as near to the line as that, FK's side has taken over."""
POLE_EXACT = 1e-3
"""Part of the length: with the pole further off the line than that, the elbow is on the pole's side exactly."""
POLE_DOUBTFUL = 1e-2
"""Part of the length under which the pole moves the elbow so much that the user should know."""
REACHED = 1e-5
"""Part of the length that a reached target may be missed by."""


class Aim(NamedTuple):
    """What is asked of a limb.

    Space: armature. ``line`` (unit) goes from the root to the target, ``side`` (unit, at right angles) to where the
    elbow shall stand. ``wanted`` is the target's distance, ``distance`` the one asked for: within reach, softened, and
    FK's own where they are equal to float32. ``doubt``: what is doubtful, in words; empty where nothing is.
    """

    line: Vec
    side: Vec
    wanted: float
    distance: float
    doubt: str


def solve(chain: Chain, goal: Goal) -> Solution:
    """Pose a chain of two joints so that its end is on the target and its elbow on the pole's side.

    Joint limits are not looked at here (``two_bone_limits`` does).

    Space: armature, the deltas too: a joint's solved orientation is ``delta @ fk``. Joints between the two are
    expected to keep their FK rotation, so that distances between joints hold.
    Units: those of the armature; ``pole_angle`` in radians.
    Undefined input: targets on the root take FK's direction, bones of no length turn with the limb, positions that
    are not finite give ``INVALID`` and no turn; every answer is finite.
    Source: design of Limb IK, "Two bones".
    """
    fk = fk_limb(chain)
    if not is_solvable(fk, goal):
        unturned = Quaternion()
        return Solution((unturned, unturned), Status.INVALID, 0.0, "a position is not a number")
    aim = aimed(fk, goal)
    return solution(fk, goal, aim, limb_turns(fk, aim.line, aim.side, aim.distance))


def pole_direction(chain: Chain) -> Vector:
    """Where match and set-up put the pole, seen from the root: the side the limb bends to, never its momentary elbow.

    Space: armature. Unit length, at right angles to the line root to end in FK.
    """
    return Vector(fk_limb(chain).side)


def is_solvable(fk: FKLimb, goal: Goal) -> bool:
    """Whether every position that counts is a finite number."""
    numbers = sum(as_vec(goal.target)) + sum(fk.root) + fk.length
    return math.isfinite(numbers if goal.pole is None else numbers + sum(as_vec(goal.pole)))


def aimed(fk: FKLimb, goal: Goal) -> Aim:
    """Line, side and distance that a goal asks of a limb in FK."""
    to_target = subtract(as_vec(goal.target), fk.root)
    wanted = math.hypot(*to_target)
    is_on_root = wanted <= ON_ROOT * fk.length
    line = fk.line if is_on_root or wanted <= TINY else scaled(to_target, 1.0 / wanted)
    side, doubt = _side(fk, goal, line)
    return Aim(line, side, wanted, asked_distance(fk, goal, wanted), "target on the root" if is_on_root else doubt)


def asked_distance(fk: FKLimb, goal: Goal, wanted: float) -> float:
    """The target's distance softened, held within reach, and FK's own where it differs by rounding alone."""
    longest = goal.max_reach * fk.length
    reach = clamped_reach(min(softened(wanted, longest, goal.softness), longest), fk.upper, fk.lower)
    same = SAME_DISTANCE * fk.length + SAME_DISTANCE_FAR * goal.origin_distance
    apart = reach - fk.distance
    if abs(apart) >= 2.0 * same:
        return reach
    if abs(apart) <= same:
        return fk.distance
    return fk.distance + apart * smoothstep(abs(apart) / same - 1.0)


def softened(distance: float, longest: float, softness: float) -> float:
    """``distance``, its last part before ``longest`` eased, so that a limb does not pop straight.

    ``softness`` is a part of ``longest``; 0 changes nothing.
    """
    soft = softness * longest
    beyond = distance - (longest - soft)
    if soft <= 0.0 or beyond <= 0.0:
        return distance
    return longest - soft * math.exp(-beyond / soft)


def _side(fk: FKLimb, goal: Goal, line: Vec) -> tuple[Vec, str]:
    """Side of the pole; FK's without one, or where the pole is on the line."""
    if goal.pole is None:
        return swivelled(carried_side(fk, line), line, goal.pole_angle), ""
    off_line = perpendicular_part(subtract(as_vec(goal.pole), fk.root), line)
    distance = math.hypot(*off_line)
    if distance > POLE_EXACT * fk.length:
        side = scaled(off_line, 1.0 / distance)
    else:
        side = _doubtful_side(fk, line, off_line, distance)
    doubt = "pole on the limb's line" if distance < POLE_DOUBTFUL * fk.length else ""
    return swivelled(side, line, goal.pole_angle), doubt


def _doubtful_side(fk: FKLimb, line: Vec, off_line: Vec, distance: float) -> Vec:
    """From FK's side, turned toward the pole as that comes off the line; by angle, so opposite sides don't cancel."""
    side = carried_side(fk, line)
    lost, exact = POLE_LOST * fk.length, POLE_EXACT * fk.length
    if distance <= lost or exact <= lost:
        return side
    angle = math.atan2(dot(off_line, cross(line, side)), dot(off_line, side))
    return swivelled(side, line, angle * smoothstep((distance - lost) / (exact - lost)))


def solution(fk: FKLimb, goal: Goal, aim: Aim, turns: Turns) -> Solution:
    """The answer for a limb without limits that was turned as ``aim`` asks.

    What softness, ``max_reach`` and the choice of FK's direction hold back counts as missed.
    """
    error = length(subtract(subtract(as_vec(goal.target), fk.root), scaled(aim.line, aim.distance)))
    deltas = Quaternion(turns.upper), Quaternion(turns.lower)
    status, reason = outcome(fk, goal, aim, error)
    return Solution(deltas, status, error, reason)


def outcome(fk: FKLimb, goal: Goal, aim: Aim, error: float) -> tuple[Status, str]:
    """What a miss of ``error`` is called, and why it came about."""
    rounding = 2.0 * SAME_DISTANCE_FAR * goal.origin_distance
    if error <= REACHED * fk.length + rounding:
        return Status.REACHED, aim.doubt
    if fk.length <= TINY:
        return Status.TOO_FAR, "limb has no length"
    if aim.wanted <= aim.distance:
        return Status.TOO_NEAR, aim.doubt or "target nearer than the limb can fold"
    if aim.wanted > fk.length:
        return Status.TOO_FAR, aim.doubt or "target out of reach"
    return Status.TOO_FAR, aim.doubt or "held back by softness or largest reach"
