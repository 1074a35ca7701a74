"""One chain: from the pose and its target to the solver's values, and back to local rotations.

Called by ``evaluate`` alone. Reads settings from the evaluated pose, turns bones in
the ``PoseState`` and answers with a readout. This module must not write to Blender's data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..solvers import blending, fabrik, leg, look_at, rotations, two_bone, two_bone_limits
from ..solvers.chain import Chain, Goal, JointKind, Solution, Status
from ..solvers.rotations import Quat
from . import channels, lengths, live_ground, marks, uneven_scale, warm_start
from .chains import ChainSetup, RigSetup
from .data_paths import setting_path
from .joint_words import with_bone_names
from .posed_chain import (
    end_point,
    is_uneven,
    length_along,
    length_of,
    local_rotations,
    matched_point,
    read_chain,
    scale_problem,
    world_scale,
)
from .readouts import IDLE, Readout
from .spaces import matrix_to_armature, orientation, to_armature

if TYPE_CHECKING:
    from .evaluate import Evaluation, Rig


def solve_two_bone(posed: Chain, goal: Goal) -> Solution:
    """Two bones, with limits where any joint has them and they are on."""
    is_limited = goal.use_limits and any(joint.limits.kind != JointKind.FREE for joint in posed.joints)
    return two_bone_limits.solve(posed, goal) if is_limited else two_bone.solve(posed, goal)


SOLVERS: dict[str, Callable[[Chain, Goal], Solution]] = {
    'TWO_BONE': solve_two_bone,
    'LEG': leg.solve,
    'FABRIK': fabrik.solve,
    'LOOK_AT': look_at.solve,
}
POLE_DIRECTIONS: dict[str, Callable[[Chain], Vector]] = {
    'TWO_BONE': two_bone.pole_direction,
    'LEG': leg.pole_direction,
    'FABRIK': fabrik.pole_direction,
}
ZERO_SCALE_AT_END = "scale of zero leaves the end bone no rotation to take over: it keeps its own"


def solve(run: Evaluation, rig: Rig, chain: ChainSetup) -> Readout:
    """Solve one chain and turn its bones in the pose state, blended by its weight."""
    tip: Any = rig.state.bones[chain.bones[-1]]
    weight = effective_weight(run, rig.obj, tip, chain)
    if weight <= 0.0:
        return IDLE
    if problem := scale_problem(rig.state, chain):
        return Readout(Status.INVALID, message=problem)
    posed = read_chain(rig.state, chain)
    link = cast(marks.Link, chain.target_key)  # chains without a target don't come here
    target = matrix_to_armature(run.world(rig.obj), run.linked_world(link))
    goal = _goal(run, rig, chain, posed, target, tip)
    end, ground_note = _end_rotations(rig, chain, target), ""
    if chain.ground_key is not None and chain.solver in POLE_DIRECTIONS:
        found = live_ground.grounded(run, rig, chain, goal, None if end is None else end.wanted)
        goal, ground_note = found.goal, found.note
        end = None if end is None else replace(end, wanted=rotations.multiply(found.tilt, end.wanted))
    fk = {bone: rig.state.rotations[bone] for bone in chain.turned if bone not in rig.setup.driven}
    solution, full = _solution(run, rig, chain, posed, goal)
    if len(fk) < len(chain.turned) and chain.solver != 'LOOK_AT':
        solution = _as_held(rig, chain, solution, {bone: full[bone] for bone in fk}, goal)
    for bone, rotation in fk.items():
        rig.state.turn(bone, blending.blend(rotation, full[bone], weight))
        rig.turned.add(bone)
    if end is None:
        return _readout(rig, chain, solution, ZERO_SCALE_AT_END if turns_end(rig, chain) else ground_note)
    _turn_end(rig, chain, end, weight)
    return _readout(rig, chain, solution, ground_note)


def _solution(
    run: Evaluation, rig: Rig, chain: ChainSetup, posed: Chain, goal: Goal
) -> tuple[Solution, dict[int, Quat]]:
    """What the chain's solver finds, and the local rotations of the turned bones for it at full weight."""
    if chain.use_warm_start and chain.solver in warm_start.ITERATIVE:
        solution = _warm(run, rig, chain, posed, goal)
    elif chain.solver != 'LOOK_AT' and is_uneven(rig.state, chain):  # looking reaches for nothing
        return uneven_scale.solve(rig.state, chain, SOLVERS[chain.solver], goal)
    else:
        solution = SOLVERS[chain.solver](posed, goal)
    return solution, local_rotations(rig.state, chain, posed, solution)


def _as_held(rig: Rig, chain: ChainSetup, solution: Solution, turns: dict[int, Quat], goal: Goal) -> Solution:
    """The solution with what is missed at full weight, where drivers hold bones that the solver would have turned."""
    heads = [rig.state.head(bone).copy() for bone in chain.turned]
    length = length_along([*heads, end_point(rig.state, chain)])
    for bone, rotation in turns.items():
        rig.state.turn(bone, rotation)
    missed = (goal.target - end_point(rig.state, chain)).length
    if missed <= two_bone.REACHED * length:
        return replace(solution, status=Status.REACHED, error=0.0)
    status = Status.LIMITED if solution.status == Status.REACHED else solution.status
    return replace(solution, status=status, error=missed)


def _warm(run: Evaluation, rig: Rig, chain: ChainSetup, posed: Chain, goal: Goal) -> Solution:
    """Solve from the pose of the frame before, where that is known."""
    uid = rig.obj.session_uid
    start = warm_start.start_of(uid, chain.tip, run.frame, len(chain.turned))
    solution = SOLVERS[chain.solver](posed, replace(goal, start=start))
    warm_start.keep(uid, chain.tip, run.frame, start, solution.deltas)
    return solution


def effective_weight(run: Evaluation, obj: bpy.types.Object, tip: Any, chain: ChainSetup) -> float:
    """How much of IK this frame has: ``weight`` times ``use_ik``, eased where that is keyed."""
    weight, duration = tip.limb_ik_weight, chain.blend_time * run.frames_per_second
    changes = None
    if duration > 0.0 and obj.animation_data is not None:
        path = setting_path(chain.tip, "use_ik")
        changes = channels.boolean_changes(obj, path, run.frame - duration, run.frame)
    if changes is None:
        return weight if tip.limb_ik_use_ik else 0.0
    return blending.effective_weight(run.frame, weight, changes[0], changes[1], duration)


def _goal(run: Evaluation, rig: Rig, chain: ChainSetup, posed: Chain, target: Matrix, tip: Any) -> Goal:
    point, pole = target.translation.copy(), None
    if chain.pole_key is not None and chain.solver in POLE_DIRECTIONS:
        pole = to_armature(run.world(rig.obj), run.linked_world(chain.pole_key).translation)
    if chain.target_space == 'FK':
        point = matched_point(chain, posed) + (point - chain.target_rest.translation)
        if pole is not None:
            pole = fk_pole_point(chain, posed) + (pole - chain.pole_rest.translation)
    scale = world_scale(rig.state)
    return Goal(
        target=point,
        pole=pole,
        pole_angle=tip.limb_ik_pole_angle,
        softness=tip.limb_ik_softness,
        max_reach=tip.limb_ik_max_reach,
        iterations=chain.iterations,
        tolerance=chain.tolerance / scale,
        origin_distance=rig.state.world.translation.length / scale,
        use_limits=chain.use_limits,
        look_axis=cast(Any, chain.look_axis),  # fields with a default: the stubs take Vector for a descriptor
        up_axis=cast(Any, chain.up_axis),
    )


def fk_pole_point(chain: ChainSetup, posed: Chain, pole_angle: float = 0.0) -> Vector:
    """Where set-up and match put the pole: a limb's length off the line root → end, on the side FK bends to.

    Space: armature. ``pole_angle``: the chain's extra turn, which the place makes up for.
    """
    root = posed.joints[0].head
    line = posed.end - root
    side = Quaternion(line.normalized(), -pole_angle) @ POLE_DIRECTIONS[chain.solver](posed)
    return root.lerp(posed.end, 0.5) + side * length_of(posed)


def turns_end(rig: Rig, chain: ChainSetup) -> bool:
    """Whether the chain gives its end bone a rotation."""
    is_free = chain.end not in rig.setup.driven and not rig.constraint_on(chain.end)
    return chain.end >= 0 and chain.end_rotation != 'KEEP_LOCAL' and is_free


@dataclass(frozen=True, slots=True)
class _End:
    """The end bone before the solve, and how it is to stand after it; ``frame`` and ``fk`` give FK's orientation.

    Space: armature, but ``local_fk``: the bone's local rotation.
    """

    frame: Quat
    local_fk: Quat
    fk: Quat
    wanted: Quat


def _end_rotations(rig: Rig, chain: ChainSetup, target: Matrix) -> _End | None:
    """What the end bone does; None where it isn't turned, or it or its target has no orientation."""
    fk = rig.state.rotation_if_any(chain.end) if turns_end(rig, chain) else None
    if fk is None:
        return None
    wanted = fk
    if chain.end_rotation == 'TARGET':
        turned = orientation(target)
        if turned is None:
            return None
        if chain.target_space == 'FK':
            rest = orientation(chain.target_rest)
            if rest is None:
                return None
            wanted = rotations.multiply(rotations.multiply(turned, rotations.conjugate(rest)), fk)
        else:
            wanted = rotations.multiply(turned, rotations.as_quat(chain.end_offset))
    return _End(rig.state.frame_rotation(chain.end), rig.state.rotations[chain.end], fk, wanted)


def _turn_end(rig: Rig, chain: ChainSetup, end: _End, weight: float) -> None:
    """Turn the end bone as its setting says; in armature space, so that half way is half way for the eye."""
    blended = rotations.slerp(end.fk, end.wanted, weight)
    delta = rotations.multiply(blended, rotations.conjugate(end.fk))
    turned = rotations.multiply(rotations.multiply(delta, end.frame), end.local_fk)
    frame = rig.state.frame_rotation(chain.end)
    rig.state.turn(chain.end, rotations.normalized(rotations.multiply(rotations.conjugate(frame), turned)))
    rig.turned.add(chain.end)


def _readout(rig: Rig, chain: ChainSetup, solution: Solution, end_note: str = "") -> Readout:
    return told(rig.setup, chain, solution, world_scale(rig.state), end_note)


def told(setup: RigSetup, chain: ChainSetup, solution: Solution, scale: float, end_note: str = "") -> Readout:
    """What is said of a solution; ``scale``: units of the world per unit of armature space."""
    error = solution.error * scale
    reason = with_bone_names(solution.reason, [setup.names[bone] for bone in chain.turned])
    note = chain.note or reason or end_note
    if solution.status == Status.INVALID:
        return Readout(solution.status, error, reason)
    held = [setup.names[bone] for bone in chain.turned if bone in setup.driven]
    if held:
        note = f"rotation of '{held[0]}' is driven and stays as it is"
    if solution.status == Status.REACHED or not math.isfinite(error):
        return Readout(solution.status, error, note)
    words = {Status.TOO_FAR: "out of reach", Status.TOO_NEAR: "too near"}.get(solution.status, "")
    why = note or words
    missed = f"short by {lengths.in_words(error)}"
    return Readout(solution.status, error, f"{missed}: {why}" if why else missed)
