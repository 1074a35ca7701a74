"""Many plain two-bone chains at once, for crowds in real time: read, solved and turned as arrays.

A part of ``evaluate`` and nothing beside it: the same pose as ``solve_chain`` gives, and
whatever is not plain (see ``plan``), or stands near an edge, is left to it.
Works after a frame change only, where the evaluated pose is FK. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...solvers import batch
from .. import compat, marks, nla, solve_chain
from ..readouts import IDLE
from . import read, turn
from .asked import Asked, Free, weight_of
from .fixed import Member, fixed_of
from .limbs import turned
from .plan import Plan, plan_of
from .words import Words

if TYPE_CHECKING:
    from ..evaluate import Evaluation

Node = tuple[marks.Key, str]
# So many chains are solved together in the time of one by one (measured: 1.3 ms + 0.05 ms a chain, 0.25 ms a chain).
FEWEST = 6
# By the rig's session number: plan, action and number of F-curves for which a switch was looked for, and the answer.
_switches: dict[int, tuple[Plan, int, int, bool]] = {}


def solve(run: Evaluation, only: Collection[Node] | None) -> set[Node]:
    """Solve what is plain; returns the chains that are done. The others are left as they are.

    Args:
        run: an evaluation whose rigs hold FK.
        only: as in ``evaluate``.
    """
    if not run.is_fresh:
        return set()
    found = [
        Member(key, rig, rig.obj.session_uid, plan_of(rig.obj.session_uid, rig.setup), [])
        for key, rig in run.rigs.items()
        if rig.is_live
    ]
    if sum(len(member.plan.chains) for member in found) < FEWEST:
        return set()
    free, asked, done = Free(run), Asked(), set[Node]()
    members = [member for member in found if _ask(asked, member, only, free, done)]
    if sum(len(member.numbers) for member in members) >= FEWEST:
        done |= _solve_together(run, members, asked)
    return done


def _ask(asked: Asked, member: Member, only: Collection[Node] | None, free: Free, done: set[Node]) -> bool:
    """Ask the plain chains of a rig; whether any was. Those without weight are done at once."""
    run, rig = free.run, member.rig
    world = rig.evaluated.matrix_world
    if not member.plan.chains or world.determinant() <= 0.0 or not free.is_free(rig.evaluated):
        return False
    may_switch = _may_switch(rig.obj, member.uid, member.plan)
    for number, chain in enumerate(member.plan.chains):
        if only is not None and (member.key, chain.tip) not in only:
            continue
        tip = rig.bones[chain.bones[-1]]
        weight = solve_chain.effective_weight(run, rig.obj, tip, chain) if may_switch else weight_of(tip)
        if weight <= 0.0:
            run.said[member.key, chain.tip] = IDLE
            done.add((member.key, chain.tip))
        elif asked.add(free, tip, chain, weight):
            member.numbers.append(number)
    if member.numbers:
        asked.add_world(world)
    return bool(member.numbers)


def forget() -> None:
    """An action was edited: look for keyed switches anew."""
    _switches.clear()


def _may_switch(obj: bpy.types.Object, uid: int, plan: Plan) -> bool:
    """Whether ``use_ik`` of any of these chains may be keyed; asked once per rig, False is certain."""
    animation = obj.animation_data
    if animation is None:
        return False
    if nla.uses_strips(animation):
        return True
    curves = compat.fcurves_of(obj)
    action = animation.action.session_uid if animation.action else 0
    known = _switches.get(uid)
    if known is None or known[0] is not plan or known[1] != action or known[2] != len(curves):
        is_keyed = any(compat.find_in(curves, path) is not None for path in plan.switches)
        known = _switches[uid] = plan, action, len(curves), is_keyed
    return known[3]


def _solve_together(run: Evaluation, members: Sequence[Member], asked: Asked) -> set[Node]:
    fixed = fixed_of(members)
    limbs, together = read.read(members, fixed, asked)
    posed = batch.solve(limbs.batch)
    is_done = posed.is_ordinary & limbs.is_even
    turns = np.stack(turned(limbs, posed).locals).transpose(0, 2, 1)
    for number in (0, 1, 2):
        is_turned = is_done & fixed.turns_end if number == 2 else is_done
        turn.put_wanted(together, fixed.bones[is_turned, number], turns[number, is_turned])
    run.together = together
    run.words = Words(fixed, posed, is_done, limbs.batch.origin_distance, limbs.scale)
    for number, member in enumerate(members):
        member.rig.turn_together(partial(turn.turned_of, together, number))
    return set(fixed.nodes if is_done.all() else compress(fixed.nodes, is_done.tolist()))
