"""Bounded damped least squares on the joint rotations of a chain with limits.

Each step lowers the distance of the end from a point, and is kept only where it does; each pose is legal. Joints are
turned in coordinates in which their limits are a box (``joint_charts``): what a bound refuses is settled there and the
other joints make up for it within the same step, so steps end where no legal turn leads nearer. Nothing here knows
poles, starts or statuses; no bpy.

Space: armature, but ``local`` rotations (rest frame of the joint). Units: armature units and radians.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .arrays import Floats
from .chain_model import Model, Pose, legal_pose, levers_of, pose_of
from .joint_charts import Chart, chart_of
from .rotations import conjugate, multiply, rotate
from .vectors import Vec, cross, dot, subtract

__all__ = ["Model", "Pose", "legal_pose", "steps"]

Indices = npt.NDArray[np.intp]

FIRST_DAMPING = 1e-2
LEAST_DAMPING = 1e-6
"""Of the squared length: damping is added to squares of lever arms. The least keeps a chain still along turns that
change nothing: with 1e-10 equally good poses were 0.4 rad apart for targets 1e-5 apart."""
DAMPING_STEP = 8.0
ATTEMPTS = 5
"""Damping grows by 8 per refused attempt: five span four orders of magnitude, a step past that moves little."""
LARGEST_TURN = 1.0
"""Radians one coordinate changes in a step at most: beyond, the lever arms of the start say nothing."""
AT_BOUND = 1e-9
"""Radians within which a coordinate counts as standing at its bound."""
ROUNDS = 6
"""Times that coordinates are settled at bounds in one step; most steps need two."""
GOOD_GAIN = 0.7
"""Error left by a step above which the step counts as slow."""
CONVERGED = 1e-9
"""Part of the length under which an error is not worth a further step."""
STALLED = 1e-9
"""Part of its error that a step gains at least, or it is the last: what turns then is under 1e-4 rad."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How the next step is taken: its damping (of the squared length), and whether curvature counts."""

    damping: float
    is_curved: bool


def steps(model: Model, start: Pose, iterations: int) -> Iterator[Pose]:
    """The legal poses from ``start`` on, each nearer to the target than the one before; ``start`` itself first.

    Ends after ``iterations`` steps, on the target, or where no step leads nearer.

    Source: Levenberg-Marquardt, projected on bounds (as Bertsekas, 1982); far from the target Newton's step with
    curvatures made positive.
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


def _next(model: Model, pose: Pose, pace: Pace) -> tuple[Pose, Pace] | None:
    """A better pose and the pace for the step after it; None where none is found.

    Where straight levers gain little (the target is out of legal reach) their curvature is counted in.
    """
    situation = Situation(model, pose)
    found = _first_better(situation, pace)
    if found is None or (not pace.is_curved and found[0].error > GOOD_GAIN * pose.error):
        other = _first_better(situation, Pace(FIRST_DAMPING, not pace.is_curved))
        if other is not None and (found is None or other[0].error < found[0].error):
            return other
    return found


def _first_better(situation: Situation, pace: Pace) -> tuple[Pose, Pace] | None:
    damping = pace.damping
    for _ in range(ATTEMPTS):
        trial = situation.moved(damping, pace.is_curved)
        if trial.error < situation.pose.error:
            return trial, Pace(max(LEAST_DAMPING, damping / DAMPING_STEP), pace.is_curved)
        damping *= DAMPING_STEP
    return None


class Situation:
    """What steps from one pose have to know; worked out once, whatever they try.

    ``axes``: the turn per unit of each coordinate, ``columns``: how the end moves with it, ``low`` and ``high``: how
    far it may go; ``owners``: the joint that each belongs to. Space: armature.
    """

    def __init__(self, model: Model, pose: Pose) -> None:
        self.model, self.pose = model, pose
        pairs = zip(model.joints, pose.locals_rest, strict=True)
        self.charts: tuple[Chart, ...] = tuple(chart_of(joint.limits, local, joint.turns) for joint, local in pairs)
        posed = zip(pose.orientations, pose.locals_rest, strict=True)
        self.frames = [multiply(orientation, conjugate(local)) for orientation, local in posed]
        self.levers = levers_of(model, pose)
        self.missing: Vec = subtract(model.target, pose.points[-1])
        rows = [(n, rotate(self.frames[n], axis)) for n, chart in enumerate(self.charts)
                for axis in chart.axes(chart.place)]  # fmt: skip
        self.owners = np.array([n for n, _ in rows])
        self.axes: Floats = np.array([axis for _, axis in rows])
        self.columns: Floats = np.array([cross(axis, self.levers[n]) for n, axis in rows])
        place = np.array([own for chart in self.charts for own in chart.place])
        bounds = np.array([bound for chart in self.charts for bound in chart.bounds])
        self.low: Floats = np.minimum(bounds[:, 0] - place, 0.0)
        self.high: Floats = np.maximum(bounds[:, 1] - place, 0.0)

    @cached_property
    def slope(self) -> Floats:
        """How fast each coordinate brings the end nearer, times the error."""
        return np.asarray(self.columns @ np.array(self.missing))

    @cached_property
    def curvature(self) -> Floats:
        """Second derivatives of half the squared error by each pair of coordinates."""
        x, y, z = self.missing
        turned = self.axes @ np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # missing x axis
        one_way = turned @ self.columns.T
        runs = np.cumsum([not joint.follows for joint in self.model.joints])[self.owners]
        before = self.owners[:, None] < self.owners
        same = one_way + self._own_bends()
        both = np.where(before, one_way, one_way.T)
        both = np.where(self.owners[:, None] == self.owners, 0.5 * (same + same.T), both)
        return np.asarray(self.columns @ self.columns.T - np.where(runs[:, None] == runs, both, 0.0))

    def _own_bends(self) -> Floats:
        """What the change of a joint's own axes moves the end along what is missing."""
        out = np.zeros((len(self.owners), len(self.owners)))
        first = 0
        for n, chart in enumerate(self.charts):
            lever = rotate(conjugate(self.frames[n]), cross(self.levers[n], self.missing))
            block = [[dot(bend, lever) for bend in row] for row in chart.bends(chart.place)]
            last = first + len(block)
            out[first:last, first:last] = block
            first = last
        return out

    def moved(self, damping: float, is_curved: bool) -> Pose:
        """The pose after one damped step within the bounds."""
        change = self._change(damping * self.model.total**2, is_curved)
        largest = float(np.max(np.abs(change), initial=0.0))
        amounts = (change * min(1.0, LARGEST_TURN / largest) if largest > 0.0 else change).tolist()
        locals_rest, first = [], 0
        for chart in self.charts:
            moves = zip(chart.place, amounts[first : first + len(chart.place)], chart.bounds, strict=True)
            places = [min(max(own + by, low), high) for own, by, (low, high) in moves]
            first += len(places)
            locals_rest.append(chart.at(places))
        return pose_of(self.model, locals_rest)

    def _change(self, damping: float, is_curved: bool) -> Floats:
        """Change of each coordinate: those that come to a bound are settled there, the rest is solved for again."""
        leads_out = ((self.high <= AT_BOUND) & (self.slope > 0.0)) | ((self.low >= -AT_BOUND) & (self.slope < 0.0))
        free = np.flatnonzero(~leads_out)
        change = np.zeros(len(self.slope))
        for _ in range(ROUNDS):
            if not len(free):
                break
            change[free] = 0.0
            wanted = self._curved(free, change, damping) if is_curved else self._straight(free, change, damping)
            change[free] = np.minimum(np.maximum(wanted, self.low[free]), self.high[free])
            inside = change[free] == wanted
            if inside.all():
                break
            free = free[inside]
        return change

    def _straight(self, free: Indices, change: Floats, damping: float) -> Floats:
        """The damped least squares of the coordinates ``free``, the others changing as given; three equations do."""
        columns = self.columns[free]
        left = np.array(self.missing) - change @ self.columns
        return np.asarray(columns @ np.linalg.solve(columns.T @ columns + damping * np.eye(3), left))

    def _curved(self, free: Indices, change: Floats, damping: float) -> Floats:
        """Newton's step of the coordinates ``free``, every curvature made positive, so that it always leads down."""
        rows = self.curvature[free]
        values, vectors = np.linalg.eigh(rows[:, free])
        slope = self.slope[free] - rows @ change
        return np.asarray(vectors @ ((vectors.T @ slope) / (np.abs(values) + damping)))
