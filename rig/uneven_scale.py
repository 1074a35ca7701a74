"""Chains below a scale that differs along the axes: their lengths change as they turn.

The solvers take lengths as fixed. So a chain is solved, read again from the pose that this gives, with
the lengths it has there, and solved from there, until its end arrives. At the FK pose nothing is missed and nothing
changes. This module must not write to Blender's data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mathutils import Vector

from ..solvers.chain import Chain, Goal, Solution, Status
from ..solvers.rotations import Quat
from ..solvers.two_bone import REACHED
from .chains import ChainSetup
from .posed_chain import end_point, length_of, local_rotations, read_chain
from .spaces import PoseState

# With one axis twice the others about ten steps are needed.
MOST_STEPS = 40
# Bounds of the part of the way that a step goes (Aitken's relaxation, from the two misses before).
SHORTEST_STEP, LONGEST_STEP = 0.1, 2.0
# Part of the chain's length that is aimed at.
AIM = 1e-7
REASON = "scale differs along the axes above the chain"


def solve(
    state: PoseState, chain: ChainSetup, solver: Callable[[Chain, Goal], Solution], goal: Goal
) -> tuple[Solution, dict[int, Quat]]:
    """The solution whose pose, as Blender shows it, is nearest the target, and its local rotations by bone.

    Args:
        state: the pose, FK; it is FK again afterwards.
        chain: the chain's set-up.
        solver: the chain's own.
        goal: what it is asked to reach, armature space.

    The error of the solution is that of the pose as shown.
    """
    fk = {bone: state.rotations[bone] for bone in chain.turned if bone in state.rotations}
    best, least, part, before = None, float("inf"), 1.0, None
    for _ in range(MOST_STEPS):
        posed = read_chain(state, chain)
        solution = solver(posed, replace(goal, target=posed.end.lerp(goal.target, part)))
        full = local_rotations(state, chain, posed, solution)
        for bone in fk:
            state.turn(bone, full[bone])
        missed = goal.target - end_point(state, chain)
        if missed.length < least:
            best, least = (solution, full), missed.length
        length = length_of(posed)
        if missed.length <= AIM * length:
            break
        part = _next_part(part, before, missed)
        before = missed
    for bone, rotation in fk.items():
        state.turn(bone, rotation)
    assert best is not None  # the first step always sets it: a distance is less than infinity
    solution, full = best
    if least <= REACHED * length:
        return replace(solution, status=Status.REACHED, error=least), full
    status = Status.TOO_FAR if solution.status == Status.REACHED else solution.status
    return replace(solution, status=status, error=least, reason=solution.reason or REASON), full


def _next_part(part: float, before: Vector | None, missed: Vector) -> float:
    """How far the next step goes: less where steps swing about the target, more where they creep."""
    if before is None or (change := missed - before).length_squared == 0.0:
        return part
    wanted = -part * before.dot(change) / change.length_squared
    return max(SHORTEST_STEP, min(LONGEST_STEP, wanted))
