"""Long chains with joint limits: from the unlimited answer to a legal pose that comes as near as it can.

The iterations are ``bounded_least_squares``'; here are the poses it starts from, which of the results is taken, and
why one falls short. Limits win over pole and target. No bpy.

Space: armature, but local rotations (rest frame of the joint). Units: armature units and radians.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .blending import rise
from .bounded_least_squares import steps
from .chain import Chain, JointKind, JointLimits
from .chain_geometry import Row, angle_about, mean_offset, posed
from .chain_model import JointModel, Model, Pose, joint_model, legal_pose, pose_of
from .chain_start import bracketed
from .joint_limits import clamp, degrees, is_legal, is_valid, local_rotation, stop_at
from .rotations import (
    IDENTITY,
    Quat,
    as_quat,
    conjugate,
    from_axis_angle,
    multiply,
    normalized,
    rotate,
    shortest_arc,
    slerp,
)
from .swivel import Swivel, nearest
from .vectors import UNIT_X, UNIT_Z, ZERO, Vec, combined, cross, dot, length, scaled, subtract, unit

BROKEN = 1e-5
"""Radians outside a limit that float32 poses are good for; below, the unlimited answer stands."""
CLEARLY_BETTER = 1e-3
"""Part of the length by which a later start has to come nearer: answers equally bad must not alternate."""
TRIAL = 4
SLOW = 0.9
"""Steps after which a start has to be nearer than others were then, or to leave less than this part of the error."""
POLISH = 30
"""Further steps for the pose that is taken where it falls short: what stops short of the nearest pose jumps about."""
SHOWS_SIDE = (1e-3, 2e-2)
"""Parts of the length that the joints stand out from the line by, between which their side comes to count."""
LARGEST_FOLD = 2.8
"""Radians of bend tried for the most folded pose: short of half a turn, where the way back is not defined."""


@dataclass(frozen=True, slots=True)
class Limited:
    """``deltas`` as in ``chain.Solution``; ``error``: length missed; ``reason``: the limit the chain stands at."""

    deltas: tuple[Quat, ...]
    error: float
    reason: str


def fault(chain: Chain) -> str:
    """Why the limits of ``chain`` can't be used; empty where they can."""
    return next((text for text in (is_valid(joint.limits) for joint in chain.joints) if text), "")


def are_broken(chain: Chain, deltas: Sequence[Quat]) -> bool:
    """Whether the pose of ``deltas`` breaks a limit of ``chain``."""
    if all(joint.limits.kind == JointKind.FREE for joint in chain.joints):
        return False
    pairs = zip(chain.joints, locals_of(chain, deltas), strict=True)
    return not all(is_legal(joint.limits, local, BROKEN) for joint, local in pairs)


def locals_of(chain: Chain, deltas: Sequence[Quat]) -> list[Quat]:
    """The local rotation of each joint in the pose of ``deltas``, as limits see it."""
    found = []
    for n, (joint, delta) in enumerate(zip(chain.joints, deltas, strict=True)):
        carried = deltas[n - 1] if n and joint.follows_parent else IDENTITY
        frame = multiply(carried, normalized(as_quat(joint.frame)))
        found.append(normalized(local_rotation(frame, multiply(delta, normalized(as_quat(joint.fk))))))
    return found


def solve(
    chain: Chain, row: Row, target: Vec, deltas: Sequence[Quat], stop: float, iterations: int, side: Vec
) -> Limited:
    """The legal pose nearest to ``target`` that is found from the pose of ``deltas`` and from two others.

    The others, the straightest and the most folded legal pose and what lies between at the target's distance, are
    tried only where the first doesn't come within ``stop``. Each start has ``iterations`` steps, and the nearest pose
    up to ``POLISH`` more where it falls short. Then the chain turns about the line to its end toward the side of the
    pose of ``deltas`` (the pole's), as far as the root's limits allow.

    Args:
        side: the pole's side of the line, unit; counts where the pose of ``deltas`` is too straight to show one.

    Source: design, section 5.
    """
    model = model_of(chain, row, target)
    best, *others = _runs(model, locals_of(chain, deltas), stop, iterations)
    for run in others:
        if run.error < best.error - CLEARLY_BETTER * row.total or run.error <= stop:
            best = run
    if best.error > stop:
        *_, best = steps(model, best, POLISH)
    best = _toward_side(model, best, posed(row, deltas), side)
    return Limited(_deltas(chain, best), best.error, first_stop(_numbered(model, best)))


def _toward_side(model: Model, pose: Pose, wanted: Sequence[Vec], side: Vec) -> Pose:
    """The pose turned about the line from root to end until its joints stand to the side that those of ``wanted`` do,
    or as near to that as the root's limits allow; the end stays. A hinged root can't."""
    line, wanted_line = (unit(subtract(points[-1], model.root)) for points in (pose.points, wanted))
    if ZERO in {line, wanted_line} or not all(joint.follows for joint in model.joints[1:]):
        return pose
    own, there = mean_offset(pose.points, line), mean_offset(wanted, wanted_line)
    straight = 1.0 - rise(length(there) / model.total, *SHOWS_SIDE)
    there = rotate(shortest_arc(wanted_line, line, UNIT_X), combined(there, 1.0, side, straight * model.total))
    angle = angle_about(line, own, there) * rise(length(own) / model.total, *SHOWS_SIDE)
    base = Swivel(pose.locals_rest[0], rotate(conjugate(model.joints[0].frame), line))
    limits = model.joints[0].limits
    back = nearest(limits, Swivel(base.at(angle), base.line))
    if back is None or angle == 0.0:
        return pose
    return pose_of(model, [clamp(limits, base.at(angle + back)), *pose.locals_rest[1:]])


def _runs(model: Model, locals_rest: Sequence[Quat], stop: float, iterations: int) -> Iterator[Pose]:
    """The best pose from each start, up to the first that comes within ``stop``.

    After the first, a start is given up at ``TRIAL`` steps where it is behind the first one then and slow.
    """
    mark = math.inf
    for start in starts(model, locals_rest):
        pose = before = start
        for n, pose in enumerate(steps(model, start, iterations)):
            if n == TRIAL and pose.error > mark and pose.error > SLOW * before.error:
                break
            if n <= TRIAL:
                reached = pose.error
            before = pose
        yield pose
        if pose.error <= stop:
            return
        mark = min(mark, reached)


def model_of(chain: Chain, row: Row, target: Vec) -> Model:
    """What ``bounded_least_squares`` needs of ``chain``."""
    joints = []
    before = IDENTITY
    for n, joint in enumerate(chain.joints):
        fk, frame = normalized(as_quat(joint.fk)), normalized(as_quat(joint.frame))
        follows = n > 0 and joint.follows_parent
        frame = multiply(conjugate(before), frame) if follows else frame
        step = rotate(conjugate(fk), subtract(row.points[n + 1], row.points[n]))
        may_roll = any(later.limits.kind != JointKind.FREE for later in chain.joints[n + 1 :])
        joints.append(joint_model(frame, follows, step, joint.limits, may_roll))
        before = fk
    return Model(tuple(joints), row.root, target, row.total)


def starts(model: Model, locals_rest: Sequence[Quat]) -> Iterator[Pose]:
    """The poses to start from, one by one: the given one, between straight and folded, straight, folded."""
    yield legal_pose(model, locals_rest)
    root = clamp(model.joints[0].limits, locals_rest[0])
    straight = [root, *(_straightest(a, b) for a, b in zip(model.joints, model.joints[1:], strict=False))]
    folded = [root, *(_most_folded(a, b) for a, b in zip(model.joints, model.joints[1:], strict=False))]
    part = _part_folded(model, straight, folded)
    yield aimed(model, _blended(straight, folded, part))
    if part > 0.0:
        yield aimed(model, straight)
    if part < 1.0:
        yield aimed(model, folded)


def aimed(model: Model, locals_rest: Sequence[Quat]) -> Pose:
    """The legal pose with the root turned so that the end lies toward the target, as far as its limits allow."""
    pose = legal_pose(model, locals_rest)
    end, wanted = unit(subtract(pose.points[-1], model.root)), unit(subtract(model.target, model.root))
    if ZERO in {end, wanted}:
        return pose
    root = multiply(shortest_arc(end, wanted, UNIT_X), pose.orientations[0])
    return legal_pose(model, [normalized(local_rotation(model.joints[0].frame, root)), *pose.locals_rest[1:]])


def _blended(straight: Sequence[Quat], folded: Sequence[Quat], part: float) -> list[Quat]:
    return [slerp(a, b, part) for a, b in zip(straight, folded, strict=True)]


def _part_folded(model: Model, straight: Sequence[Quat], folded: Sequence[Quat]) -> float:
    """How far between the two root and end are as far apart as root and target; the nearer of the two if nowhere."""
    distance = length(subtract(model.target, model.root))

    def miss(part: float) -> float:
        return length(subtract(legal_pose(model, _blended(straight, folded, part)).points[-1], model.root)) - distance

    return bracketed(miss, 0.0, 1.0, CLEARLY_BETTER * model.total)


def _straightest(before: JointModel, joint: JointModel) -> Quat:
    """The legal local rotation that leaves the bone most in line with the one before."""
    return clamp(joint.limits, _bent(before, joint, IDENTITY))


def _most_folded(before: JointModel, joint: JointModel) -> Quat:
    """The legal local rotation that turns the bone furthest back on the one before."""
    line = _line(before, joint)
    across = unit(cross(line, UNIT_X if abs(line[0]) < abs(line[2]) else UNIT_Z))
    axes = (across, cross(line, across), scaled(across, -1.0), cross(across, line))
    choices = [clamp(joint.limits, _bent(before, joint, from_axis_angle(axis, LARGEST_FOLD))) for axis in axes]
    return min(choices, key=lambda local: round(dot(rotate(local, unit(joint.step)), line), 6))


def _bent(before: JointModel, joint: JointModel, bend: Quat) -> Quat:
    """The local rotation whose bone points along the one before, turned by ``bend``; without roll from rest."""
    return shortest_arc(unit(joint.step), rotate(bend, _line(before, joint)), UNIT_X)


def _line(before: JointModel, joint: JointModel) -> Vec:
    """Direction of the bone before, in the rest frame of ``joint``; its own rest direction where there is none."""
    if before.step == ZERO or joint.step == ZERO or not joint.follows:
        return unit(joint.step) if joint.step != ZERO else UNIT_X
    return rotate(conjugate(joint.frame), unit(before.step))


def _deltas(chain: Chain, pose: Pose) -> tuple[Quat, ...]:
    pairs = zip(chain.joints, pose.orientations, strict=True)
    return tuple(normalized(multiply(solved, conjugate(normalized(as_quat(joint.fk))))) for joint, solved in pairs)


def _numbered(model: Model, pose: Pose) -> Iterator[tuple[int, JointLimits, Quat]]:
    for number, (joint, local) in enumerate(zip(model.joints, pose.locals_rest, strict=True), 1):
        yield number, joint.limits, local


def first_stop(joints: Iterable[tuple[int, JointLimits, Quat]]) -> str:
    """The limit that the first of some joints stands at, in words.

    Args:
        joints: each by its number, from 1, its limits and its local rotation.
    """
    for number, limits, local in joints:
        stop = stop_at(limits, local)
        if stop is not None:
            return f"joint {number} at its limit of {degrees(stop.angle)}"
    return "joint limits"
