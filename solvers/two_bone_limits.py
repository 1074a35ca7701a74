"""Two bones onto a target inside their joint limits; closed form while a legal pose reaches it.

Limits win over the target, the target over the pole. The mid joint decides which distances
can be had (``mid_joint``), the root joint which swivels (``swivel``); of the legal ones the
nearest to the pole is taken. Where none is, ``limited_search`` comes as near as it can.
Pole, reach and names of outcomes are ``two_bone``'s. No Blender data (no bpy).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from mathutils import Quaternion

from . import limited_search, mid_joint
from .bend_plane import FKLimb, Turns, fk_limb, kept_offset, limb_turns, solved_triangle, swivelled
from .blending import smoothstep
from .chain import Chain, Goal, JointKind, Solution, Status
from .joint_limits import clamp, degrees, hinge_axis, is_valid, stop_at
from .limited_pose import LimbJoints, Pose
from .rotations import Quat, conjugate, from_axis_angle, from_frames, multiply, rotate
from .swivel import LEGAL, Swivel, nearest, nearest_with_roll
from .two_bone import REACHED, Aim, aimed, is_solvable, outcome, solution
from .vectors import (
    TINY,
    Vec,
    any_perpendicular,
    as_vec,
    cross,
    dot,
    length,
    perpendicular_part,
    scaled,
    subtract,
    unit,
)

NEAR_STRAIGHT = 0.02
"""Part of the length: with the elbow nearer to the line, roll comes more and more from the unlimited pose, since the
elbow's direction is noise there."""
KEEPS_WAY = 1.5
"""A hyperextended limb bends on in its own way until the elbow stands out by this much more than in FK."""
OTHER_WAY_COST = 1e-3
"""Radians of swivel that bending the other way has to win: near equals must not alternate."""
POLE_MET = math.radians(0.5)
"""Swivel off the pole from which the user is told."""


class Limited(NamedTuple):
    """``turns`` as ``bend_plane.limb_turns`` gives them; ``reason``: the limit that the limb stands at, or empty;
    ``is_off_pole``: the target may be met but the pole is not."""

    turns: Turns
    reason: str = ""
    is_off_pole: bool = False


class Way(NamedTuple):
    """One of the two ways a hinge bends. ``elbow``: where it shall stand about the line, from the pole's side;
    ``roll``: turn of the unlimited pose about the line that belongs to it. Radians."""

    side: int
    elbow: float
    roll: float


def solve(chain: Chain, goal: Goal) -> Solution:
    """Pose a chain of two joints on its target inside the joints' limits.

    The same as ``two_bone.solve`` where no limit binds. ``LIMITED`` where limits keep the end further from the
    target than the limb itself does.

    Space: armature, the deltas too. Units: those of the armature, radians.
    Undefined input: limits that can't be met at all (minimum above maximum) and positions that are not finite give
    ``INVALID`` and no turn; a target on the root takes the clamped unlimited pose.
    Source: design of Limb IK, "Limits".
    """
    fk = fk_limb(chain)
    fault = fault_of(chain, fk, goal)
    if fault:
        return Solution((Quaternion(), Quaternion()), Status.INVALID, 0.0, fault)
    aim = aimed(fk, goal)
    free = limb_turns(fk, aim.line, aim.side, aim.distance)
    if not goal.use_limits or all(joint.limits.kind == JointKind.FREE for joint in chain.joints):
        return solution(fk, goal, aim, free)
    limited = limited_turns(chain, fk, aim, free)
    if limited.turns is free:
        return solution(fk, goal, aim, free)
    return _limited_solution(chain, fk, goal, aim, limited)


def fault_of(chain: Chain, fk: FKLimb, goal: Goal) -> str:
    """Why a limb can't be solved, in words; empty where it can."""
    if not is_solvable(fk, goal):
        return "a position is not a number"
    if not goal.use_limits:
        return ""
    faults = [is_valid(joint.limits) for joint in chain.joints]
    names = ("root joint", "mid joint")
    return next((f"{name}: {fault}" for name, fault in zip(names, faults, strict=True) if fault), "")


def _limited_solution(chain: Chain, fk: FKLimb, goal: Goal, aim: Aim, limited: Limited) -> Solution:
    joints = LimbJoints.of(chain)
    end = joints.end_of(joints.pose_of(limited.turns))
    error = length(subtract(subtract(as_vec(goal.target), fk.root), end))
    without = length(subtract(subtract(as_vec(goal.target), fk.root), scaled(aim.line, aim.distance)))
    deltas = Quaternion(limited.turns.upper), Quaternion(limited.turns.lower)
    status, reason = outcome(fk, goal, aim, error)
    if status != Status.REACHED and error > without + REACHED * fk.length:
        return Solution(deltas, Status.LIMITED, error, limited.reason)
    is_off_pole = limited.is_off_pole and goal.pole is not None
    return Solution(deltas, status, error, reason or (f"pole not met: {limited.reason}" if is_off_pole else ""))


def limited_turns(chain: Chain, fk: FKLimb, aim: Aim, free: Turns) -> Limited:
    """The legal turns nearest to what ``aim`` asks: target first, then pole.

    Space: armature. ``free``: the answer of ``bend_plane.limb_turns``; it comes back where it is legal.
    """
    joints = LimbJoints.of(chain)
    pose = joints.pose_of(free)
    if joints.is_legal(pose):
        return Limited(free)
    target = scaled(aim.line, _searched_distance(fk, aim))
    if min(fk.upper, fk.lower) <= LEGAL * fk.length or not joints.is_attached:
        return _answer(joints, limited_search.clamped(joints, pose, target))
    shortest, longest = mid_joint.distances(joints.limb, pose.mid)
    distance = min(max(aim.distance, shortest), longest)
    if distance != aim.distance:
        pose = joints.pose_of(limb_turns(fk, aim.line, aim.side, distance))
    found = _reaching(joints, fk, aim, distance, pose)
    if found is None:
        return _answer(joints, _nearest(joints, fk, aim, pose))
    return _answer(joints, found.pose, distance != aim.distance, found.swivel > POLE_MET)


def _searched_distance(fk: FKLimb, aim: Aim) -> float:
    """The target's own distance where only the bones' lengths keep it from being asked for: misses count to it."""
    is_clamped = aim.distance >= fk.length or aim.distance <= abs(fk.upper - fk.lower)
    return aim.wanted if is_clamped else aim.distance


def _nearest(joints: LimbJoints, fk: FKLimb, aim: Aim, pose: Pose) -> Pose:
    """The legal pose nearest to the target where none reaches it: off its line, or on it with the knee at a stop.

    A knee that bends both ways comes to its stops at two distances, the nearer one inside of what it can reach.
    """
    target = scaled(aim.line, _searched_distance(fk, aim))
    found = [limited_search.closest(joints, pose, target)]
    for distance in mid_joint.stop_distances(joints.limb):
        at_stop = joints.pose_of(limb_turns(fk, aim.line, aim.side, distance))
        reaching = _reaching(joints, fk, aim, distance, at_stop)
        found += [reaching.pose] if reaching is not None else []
    return min(found, key=lambda own: length(subtract(target, joints.end_of(own))))


def _answer(joints: LimbJoints, pose: Pose, is_mid_first: bool = False, is_off_pole: bool = False) -> Limited:
    names = [("root joint", joints.root_limits, pose.root), ("mid joint", joints.limb.limits, pose.mid)]
    for name, limits, local in reversed(names) if is_mid_first else names:
        stop = stop_at(limits, local)
        if stop is not None:
            return Limited(joints.turns_of(pose), f"{name} at its limit of {degrees(stop.angle)}", is_off_pole)
    return Limited(joints.turns_of(pose), "joint limits", is_off_pole)


class Found(NamedTuple):
    """A legal pose at the distance asked for. ``swivel``: how far its elbow is off the wanted side, radians."""

    swivel: float
    pose: Pose


def _reaching(joints: LimbJoints, fk: FKLimb, aim: Aim, distance: float, pose: Pose) -> Found | None:
    """The legal pose at that distance on the line with its elbow nearest to where it is wanted; None: there is none.

    ``pose``: the unlimited one at that distance.
    """
    line = rotate(conjugate(joints.root_frame), aim.line)
    if joints.root_limits.kind == JointKind.HINGE:
        return None  # its swivel is not free: the angle is searched
    if joints.limb.limits.kind == JointKind.HINGE:
        return _hinged(joints, fk, aim, distance, pose)
    rolls = mid_joint.rolls(joints.limb, pose.mid)
    axis = unit(joints.limb.upper)
    found = nearest_with_roll(joints.root_limits, Swivel(pose.root, line), axis, rolls)
    if found is None:
        return None
    swivel, roll = found
    root = multiply(Swivel(pose.root, line).at(swivel), from_axis_angle(axis, roll))
    return Found(abs(swivel), Pose(root, mid_joint.rolled(joints.limb, pose.mid, roll)))


def _hinged(joints: LimbJoints, fk: FKLimb, aim: Aim, distance: float, pose: Pose) -> Found | None:
    """The same for a hinged mid joint, which can bend either way at a distance."""
    angles = mid_joint.hinge_angles(joints.limb, distance, pose.mid)
    best: Found | None = None
    for way in _ways(joints, fk, distance, set(angles)):
        mid = mid_joint.hinged(joints.limb, angles[way.side])
        found = _swivelled(joints, fk, aim, Pose(pose.root, mid), way)
        if found is not None and (best is None or found.swivel < best.swivel - OTHER_WAY_COST):
            best = found
    return best


def _ways(joints: LimbJoints, fk: FKLimb, distance: float, sides: set[int]) -> list[Way]:
    """The ways to bend that are left, the one FK or the bend axis prefers first."""
    hinge = rotate(joints.mid_frame, hinge_axis(joints.limb.limits))
    main = 1 if dot(hinge, fk.normal) >= 0.0 else -1
    _, height = solved_triangle(fk, distance)
    kept = kept_offset(fk, height)
    is_over = abs(fk.offset) > 0.5 * math.pi
    base = math.pi if is_over else 0.0
    part = kept / fk.offset if fk.offset != 0.0 else 0.0
    rest = math.remainder(fk.offset - base, 2.0 * math.pi) * part
    ways = [Way(main, rest, 0.0)]
    if not is_over:
        ways.append(Way(-main, rest, math.pi))
    elif main in sides:
        other = Way(-main, math.pi + rest, 0.0)
        ways.insert(0 if height <= KEEPS_WAY * fk.height else 1, other)
    else:
        ways.append(Way(-main, kept, kept - math.pi - rest))
    return [way for way in ways if way.side in sides]


def _swivelled(joints: LimbJoints, fk: FKLimb, aim: Aim, pose: Pose, way: Way) -> Found | None:
    """The legal swivel nearest to the wanted one, the mid joint being as ``pose`` has it."""
    back = conjugate(joints.root_frame)
    line, elbow = rotate(back, aim.line), rotate(back, swivelled(aim.side, aim.line, way.elbow))
    reach = joints.limb.reach(pose.mid)
    if length(reach) <= LEGAL * fk.length:
        return Found(0.0, Pose(clamp(joints.root_limits, pose.root), pose.mid))
    rolled = Swivel(pose.root, line).at(way.roll)
    wanted = Swivel(_wanted_root(joints, fk, rolled, reach, line, elbow), line)
    swivel = nearest(joints.root_limits, wanted)
    return None if swivel is None else Found(abs(swivel), Pose(wanted.at(swivel), pose.mid))


def _wanted_root(joints: LimbJoints, fk: FKLimb, rolled: Quat, reach: Vec, line: Vec, elbow: Vec) -> Quat:
    """The root's rotation with the end on the line and the elbow where it is wanted; near straight, ``rolled``'s roll.

    Space: all in the root joint's rest frame but ``reach`` (root bone's local).
    """
    along = unit(reach)
    out = perpendicular_part(joints.limb.upper, along)
    height = length(out)
    out = unit(out) if height > TINY else any_perpendicular(along)
    root = from_frames(along, out, cross(along, out), line, elbow, cross(line, elbow))
    weight = 1.0 - smoothstep(height / (NEAR_STRAIGHT * fk.length))
    if weight <= 0.0:
        return root
    return Swivel(root, line).at(weight * _roll_between(root, rolled, line))


def _roll_between(root: Quat, wanted: Quat, line: Vec) -> float:
    """The turn about ``line`` that brings ``root`` nearest to ``wanted``; -180 to 180 degrees."""
    turned = multiply((0.0, *line), root)
    sine = sum(a * b for a, b in zip(wanted, turned, strict=True))
    cosine = sum(a * b for a, b in zip(wanted, root, strict=True))
    return math.remainder(2.0 * math.atan2(sine, cosine), 2.0 * math.pi)
