"""Bounded damped least squares on the joint rotations of a chain with limits.

Each step lowers the distance of the end from a point, and is kept only where it does; each pose is legal. Where a
limit refuses part of a joint's turn, that part is taken out and the other joints make up for it within the same step.
Nothing here knows poles, starts or statuses; no bpy.

Space: armature, but ``local`` rotations (rest frame of the joint). Units: armature units and radians.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .chain_model import Model, Pose, legal_pose, levers_of, pose_of
from .joint_turns import stops, turned
from .rotations import Quat, conjugate, rotate
from .vectors import ZERO, Vec, combined, cross, dot, length, scaled, subtract, unit

__all__ = ["Model", "Pose", "legal_pose", "steps"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

FIRST_DAMPING = 1e-2
LEAST_DAMPING = 1e-10
"""Of the squared length: damping is added to squares of lever arms. The least keeps a straight chain solvable."""
DAMPING_STEP = 8.0
ATTEMPTS = 5
"""Damping grows by 8 per refused attempt: five span four orders of magnitude, a step past that moves little."""
LARGEST_TURN = 1.0
"""Radians one joint turns in a step at most: beyond, the lever arms of the start say nothing."""
LEADS_OUT = 1e-6
"""Sine of the angle to a bound from which a turn counts as leading out of it."""
REFUSED = 0.1
"""Part of a turn that limits take away before the joint counts as stopped."""
ROUNDS = 8
"""Times that turns are taken out in one step; a joint has three to lose, most steps need two rounds in all."""
NO_EASE = 1e-3
"""Size under which what is left of a direction of turning is rounding noise."""
GOOD_GAIN = 0.7
"""Error left by a step above which the step counts as slow."""
CONVERGED = 1e-9
"""Part of the length under which an error is not worth a further step."""
STALLED = 1e-6
"""Part of its error that a step gains at least, or it is the last: what turns then is under 1e-3 rad."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What a step from ``pose`` has to know: lever arms, and which turns lead out of the limits (bone space)."""

    model: Model
    pose: Pose
    levers: tuple[Vec, ...]
    stops: tuple[tuple[Vec, ...], ...]
    missing: Vec


@dataclass(frozen=True, slots=True)
class Pace:
    """How the next step is taken: its damping (of the squared length), and whether curvature counts."""

    damping: float
    is_curved: bool


def steps(model: Model, start: Pose, iterations: int) -> Iterator[Pose]:
    """The legal poses from ``start`` on, each nearer to the target than the one before; ``start`` itself first.

    Ends after ``iterations`` steps, on the target, or where no step leads nearer.

    Source: Levenberg-Marquardt with an active set found by clamping (as Baerlocher and Boulic, 2004).
    """
    pose, pace = start, Pace(FIRST_DAMPING, is_curved=False)
    yield pose
    for _ in range(iterations):
        found = _next(model, pose, pace) if pose.error > CONVERGED * model.total else None
        if found is None:
            return
        gain = pose.error - found[0].error
        pose, pace = found
        yield pose
        if gain <= STALLED * pose.error:
            return


def _situation(model: Model, pose: Pose) -> Situation:
    bounds = tuple(stops(joint.limits, local) for joint, local in zip(model.joints, pose.locals_rest, strict=True))
    return Situation(model, pose, levers_of(model, pose), bounds, subtract(model.target, pose.points[-1]))


def _next(model: Model, pose: Pose, pace: Pace) -> tuple[Pose, Pace] | None:
    """A better pose and the pace for the step after it; None where none is found.

    Where straight levers gain little (the target is out of legal reach) their curvature is counted in.
    """
    situation = _situation(model, pose)
    found = _first_better(situation, pace)
    if found is None or (not pace.is_curved and found[0].error > GOOD_GAIN * pose.error):
        other = _first_better(situation, Pace(FIRST_DAMPING, not pace.is_curved))
        if other is not None and (found is None or other[0].error < found[0].error):
            return other
    return found


def _first_better(situation: Situation, pace: Pace) -> tuple[Pose, Pace] | None:
    damping = pace.damping
    for _ in range(ATTEMPTS):
        trial = _attempt(situation, damping, pace.is_curved)
        if trial.error < situation.pose.error:
            return trial, Pace(max(LEAST_DAMPING, damping / DAMPING_STEP), pace.is_curved)
        damping *= DAMPING_STEP
    return None


def _attempt(situation: Situation, damping: float, is_curved: bool) -> Pose:
    """One damped step; turns that limits refuse are taken out until the rest agrees with the limits."""
    model, before = situation.model, situation.pose.locals_rest
    free = Freedom([list(joint.turns) for joint in model.joints], [ZERO] * len(before), [[] for _ in before])
    if is_curved:
        free.take_out_leading_out(situation.stops, _pulls(situation))
    trial: list[Quat] = []
    for _ in range(ROUNDS):
        wanted = _wanted(situation, free, damping * model.total**2, is_curved)
        if free.take_out_leading_out(situation.stops, wanted):
            continue
        turning = [turned(own.limits, old, turn) for own, old, turn in zip(model.joints, before, wanted, strict=True)]
        trial = [local for local, _ in turning]
        if not free.take_out_refused(wanted, [refused for _, refused in turning]):
            break
    return pose_of(model, trial) if trial else situation.pose


def _pulls(situation: Situation) -> list[Vec]:
    """The turn of each joint that would bring the end nearer fastest: what leads out of a bound then holds it there."""
    pairs = zip(situation.pose.orientations, situation.levers, strict=True)
    return [rotate(conjugate(quat), cross(lever, situation.missing)) for quat, lever in pairs]


@dataclass(slots=True)
class Freedom:
    """What a step may still do; shrinks as limits refuse. Bone space.

    ``turns``: directions each joint may turn in. ``fixed``: what is settled of its turn. ``taken``: orthonormal
    directions that are out of play.
    """

    turns: list[list[Vec]]
    fixed: list[Vec]
    taken: list[list[Vec]]

    def take_out_leading_out(self, stops: Sequence[Sequence[Vec]], wanted: Sequence[Vec]) -> bool:
        """Take out every turn that leads out of a bound its joint already stands at; whether there was any."""
        found = False
        for n, turn in enumerate(wanted):
            for stop in stops[n]:
                if dot(turn, stop) > LEADS_OUT * length(turn):
                    found = self._take_out(n, stop, 0.0) or found
        return found

    def take_out_refused(self, wanted: Sequence[Vec], refused: Sequence[Vec]) -> bool:
        """Settle what limits left of each turn that they shortened, and take its direction out; whether any was."""
        found = False
        for n, (turn, part) in enumerate(zip(wanted, refused, strict=True)):
            if self.turns[n] and length(part) > REFUSED * length(turn):
                found = self._take_out(n, part, dot(subtract(turn, part), unit(part))) or found
        return found

    def _take_out(self, n: int, direction: Vec, amount: float) -> bool:
        left = direction
        for taken in self.taken[n]:
            left = combined(left, 1.0, taken, -dot(left, taken))
        if length(left) <= NO_EASE * length(direction):
            return False
        left = unit(left)
        self.taken[n].append(left)
        self.fixed[n] = combined(self.fixed[n], 1.0, left, amount - dot(self.fixed[n], left))
        self.turns[n] = _without(left, self.turns[n])
        return True


def _without(direction: Vec, turns: Sequence[Vec]) -> list[Vec]:
    """What is left of the directions of ``turns`` at right angles to ``direction``."""
    left = [combined(turn, 1.0, direction, -dot(turn, direction)) for turn in turns]
    return [turn for turn in left if length(turn) > NO_EASE]


def _wanted(situation: Situation, free: Freedom, damping: float, is_curved: bool) -> list[Vec]:
    """Each joint's turn, a rotation vector in bone space: what is settled and the damped least squares of the rest."""
    orientations, levers = situation.pose.orientations, situation.levers
    left = situation.missing
    for turn, orientation, lever in zip(free.fixed, orientations, levers, strict=True):
        if turn != ZERO:
            left = subtract(left, cross(rotate(orientation, turn), lever))
    turns = [(n, turn) for n, own in enumerate(free.turns) for turn in own]
    wanted = list(free.fixed)
    if turns:
        axes = [rotate(orientations[n], turn) for n, turn in turns]
        columns = np.array([cross(axis, levers[n]) for axis, (n, _) in zip(axes, turns, strict=True)])
        if is_curved:
            bending = _curvature(situation, np.array([n for n, _ in turns]), np.array(axes), columns)
            amounts = _saddle_free(columns @ columns.T - bending, columns @ np.array(left), damping)
        else:
            amounts = columns @ np.linalg.solve(columns.T @ columns + damping * np.eye(3), left)
        for (n, turn), amount in zip(turns, amounts.tolist(), strict=True):
            wanted[n] = combined(wanted[n], 1.0, turn, amount)
    largest = max(length(turn) for turn in wanted)
    return [scaled(turn, LARGEST_TURN / largest) for turn in wanted] if largest > LARGEST_TURN else wanted


def _curvature(situation: Situation, owners: Indices, axes: Floats, columns: Floats) -> Floats:
    """Second derivatives of the end along what is missing by each pair of turns: axis x (axis x lever)."""
    x, y, z = situation.missing
    one_way = axes @ np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]) @ columns.T  # (missing x axis) . column
    runs = np.cumsum([not joint.follows for joint in situation.model.joints])[owners]
    before, same = owners[:, None] < owners, owners[:, None] == owners
    both = np.where(before, one_way, np.where(same, 0.5 * (one_way + one_way.T), one_way.T))
    return np.where(runs[:, None] == runs, both, 0.0)


def _saddle_free(curvature: Floats, slope: Floats, damping: float) -> Floats:
    """Newton's step with every curvature made positive, so that it always leads down."""
    values, vectors = np.linalg.eigh(curvature)
    step: Floats = vectors @ ((vectors.T @ slope) / (np.abs(values) + damping))
    return step
