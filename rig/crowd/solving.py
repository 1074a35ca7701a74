"""Many plain two-bone chains at once, for crowds in real time: read, solved and turned as arrays.

A part of ``evaluate`` and nothing beside it: the same pose as ``solve_chain`` gives, and
whatever is not plain (see ``plan``), or stands near an edge, is left to it.
Works after a frame change only, where the evaluated pose is FK. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import bpy

from ...solvers import batch, two_bone
from ...solvers.chain import Solution, Status
from .. import compat, marks, nla, solve_chain
from ..chains import ChainSetup
from ..readouts import IDLE, Readout
from ..session import pose_bones
from . import read, turn
from .fixed import Asked, Member, fixed_of
from .plan import Floats, Plan, plan_of
from .turn import Limbs

if TYPE_CHECKING:
    from ..evaluate import Evaluation, Rig

Node = tuple[marks.Key, str]
# So many chains are solved together in the time of one by one (measured: 0.6 ms against 0.2 ms a chain).
FEWEST = 4
# By the rig's session number: plan, action and number of F-curves for which a switch was looked for, and the answer.
_switches: dict[int, tuple[Plan, int, int, bool]] = {}
NO_POLE = (float("nan"),) * 3


def solve(run: Evaluation, only: Collection[Node] | None) -> set[Node]:
    """Solve what is plain; returns the chains that are done. The others are left as they are.

    Args:
        run: an evaluation whose rigs hold FK.
        only: as in ``evaluate``.
    """
    if not run.is_fresh:
        return set()
    plans = [(rig, plan_of(rig.obj.session_uid, rig.setup)) for rig in run.rigs.values() if rig.is_live]
    if sum(len(plan.chains) for _, plan in plans) < FEWEST:
        return set()
    free, done = _Free(run), set[Node]()
    members = []
    for rig, plan in plans:
        if plan.chains and rig.evaluated.matrix_world.determinant() > 0.0 and free.is_free(rig.obj):
            asked = _ask(run, rig, plan, only, free, done)
            if asked:
                members.append(Member(rig, plan, asked))
    if sum(len(member.asked) for member in members) >= FEWEST:
        done |= _solve_together(run, members)
    return done


class _Free:
    """What solving can't move, and where that is; asked once per object in one evaluation."""

    def __init__(self, run: Evaluation) -> None:
        self.run, self.depsgraph = run, run.depsgraph
        self._known: dict[int, bool] = {}

    def is_free(self, obj: bpy.types.Object) -> bool:
        """Whether an object hangs on no bone and by no constraint, at any depth."""
        if len(obj.constraints):
            return False
        parent = obj.parent
        if parent is None:
            return True
        if obj.parent_type == 'BONE':
            return False
        free = self._known.get(parent.session_uid)
        if free is None:
            free = self._known[parent.session_uid] = self.is_free(parent)
        return free

    def world(self, obj: bpy.types.Object, bone_name: str) -> Any:
        """World matrix of a target or pole; None where solving might move it."""
        if not self.is_free(obj):
            return None
        evaluated = obj.evaluated_get(self.depsgraph)
        if not bone_name:
            return evaluated.matrix_world
        rig = self.run.rigs.get(marks.key_of(obj))
        if rig is not None and _is_held(rig, bone_name):
            return None
        return evaluated.matrix_world @ pose_bones(evaluated)[bone_name].matrix


def _is_held(rig: Rig, bone_name: str) -> bool:
    """Whether a chain of the rig turns a bone or one above it."""
    bone, held = rig.setup.index.get(bone_name, -1), rig.setup.held
    while bone >= 0 and bone not in held:
        bone = rig.setup.parents[bone]
    return bone >= 0


def _ask(
    run: Evaluation, rig: Rig, plan: Plan, only: Collection[Node] | None, free: _Free, done: set[Node]
) -> list[Asked]:
    """What is asked of the plain chains of a rig; those without weight are done at once."""
    key, found = marks.key_of(rig.obj), []
    originals: Any = pose_bones(rig.obj)
    turns_end, may_switch = plan.turns_end.tolist(), _may_switch(rig.obj, plan)
    for number, chain in enumerate(plan.chains):
        if only is not None and (key, chain.tip) not in only:
            continue
        lower = chain.bones[-1]
        tip, original = rig.bones[lower], originals[lower]
        weight = _weight(run, rig, tip, chain, may_switch)
        if weight <= 0.0:
            run.readouts[key, chain.tip] = IDLE
            done.add((key, chain.tip))
            continue
        target = _target_rows(free, original.limb_ik_target, chain, turns_end[number])
        pole = _pole_place(free, original.limb_ik_pole, chain)
        if target and pole:
            settings = weight, tip.limb_ik_pole_angle, tip.limb_ik_softness, tip.limb_ik_max_reach
            tail = tip.bone.length if chain.end < 0 else 0.0
            found.append(Asked(rig, chain, number, settings, target, pole, tail))
    return found


def forget() -> None:
    """An action was edited: look for keyed switches anew."""
    _switches.clear()


def _may_switch(obj: bpy.types.Object, plan: Plan) -> bool:
    """Whether ``use_ik`` of any of these chains may be keyed; asked once per rig, False is certain."""
    animation = obj.animation_data
    if animation is None:
        return False
    if nla.uses_strips(animation):
        return True
    curves = compat.fcurves_of(obj)
    state = plan, animation.action.session_uid if animation.action else 0, len(curves)
    known = _switches.get(obj.session_uid)
    if known is None or known[0] is not plan or known[1:3] != state[1:]:
        is_keyed = any(compat.find_in(curves, path) is not None for path in plan.switches)
        known = _switches[obj.session_uid] = *state, is_keyed
    return known[3]


def _weight(run: Evaluation, rig: Rig, tip: Any, chain: ChainSetup, may_switch: bool) -> float:
    if may_switch:
        return solve_chain.effective_weight(run, rig.obj, tip, chain)
    return float(tip.limb_ik_weight) if tip.limb_ik_use_ik else 0.0


def _target_rows(free: _Free, obj: bpy.types.Object, chain: ChainSetup, is_turning: bool) -> Sequence[float]:
    """Three rows of the target's matrix (its place alone where it turns nothing); none where solving might move it."""
    matrix = free.world(obj, chain.target_key[1] if chain.target_key else "")
    if matrix is None:
        return ()
    if is_turning:
        return (*matrix[0], *matrix[1], *matrix[2])
    x, y, z = matrix.translation
    return (1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z)


def _pole_place(free: _Free, obj: bpy.types.Object | None, chain: ChainSetup) -> Sequence[float]:
    """Where the pole is, not a number where there is none; empty where solving might move it."""
    if chain.pole_key is None or obj is None:
        return NO_POLE
    matrix = free.world(obj, chain.pole_key[1])
    return () if matrix is None else tuple(matrix.translation)


def _solve_together(run: Evaluation, members: Sequence[Member]) -> set[Node]:
    fixed = fixed_of(members)
    limbs, together = read.read(members, fixed)
    posed = batch.solve(limbs.batch)
    is_done = posed.is_ordinary & limbs.is_even
    turns = turn.local_rotations(limbs, posed)
    for number in (0, 1, 2):
        is_turned = is_done & fixed.turns_end if number == 2 else is_done
        turn.put_wanted(together, fixed.bones[is_turned, number], turns[number, is_turned])
    run.together = together
    return _told(run, members, is_done.tolist(), turns, _readouts(members, limbs, posed))


def _told(
    run: Evaluation, members: Sequence[Member], is_done: list[bool], turns: Floats, readouts: list[Readout]
) -> set[Node]:
    """Tell the rigs how their bones are turned, and the evaluation what is said of the chains; those that are done."""
    done, index = set(), 0
    flat: list[Any] = turns.transpose(1, 0, 2).tolist()
    for member in members:
        key, turned = marks.key_of(member.rig.obj), {}
        turns_end = member.plan.turns_end.tolist()
        for one in member.asked:
            if is_done[index]:
                upper, lower, end = flat[index]
                turned[one.chain.turned[0]], turned[one.chain.turned[1]] = upper, lower
                if turns_end[one.number]:
                    turned[one.chain.end] = end
                run.readouts[key, one.chain.tip] = readouts[index]
                done.add((key, one.chain.tip))
            index += 1
        member.rig.turn_together(turned)
    return done


def _readouts(members: Sequence[Member], limbs: Limbs, posed: batch.Posed) -> list[Readout]:
    """What is said of each chain; those that reach without doubt, nearly all, in short."""
    rounding = 2.0 * two_bone.SAME_DISTANCE_FAR * limbs.batch.origin_distance
    has_reached = posed.error <= two_bone.REACHED * posed.length + rounding
    is_doubtful = posed.pole_distance < two_bone.POLE_DOUBTFUL * posed.length
    errors = (posed.error * limbs.scale).tolist()
    plain = (has_reached & ~is_doubtful).tolist()
    found = []
    for number, one in enumerate(one for member in members for one in member.asked):
        if plain[number]:
            found.append(Readout(Status.REACHED, errors[number]))
        else:
            found.append(_worded(one, limbs, posed, number))
    return found


def _worded(one: Asked, limbs: Limbs, posed: batch.Posed, number: int) -> Readout:
    status, reason = batch.outcome(posed, number, float(limbs.batch.origin_distance[number]))
    solution = Solution((), status, float(posed.error[number]), reason)
    return solve_chain.told(one.rig, one.chain, solution, float(limbs.scale[number]))
