"""Many plain two-bone chains at once, for crowds in real time: read, solved and turned as arrays.

A part of ``evaluate`` and nothing beside it: the same pose as ``solve_chain`` gives, and
whatever is not plain (see ``plan``), or stands near an edge, is left to it.
Works after a frame change only, where the evaluated pose is FK. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from ...solvers import batch
from .. import marks, solve_chain
from ..readouts import IDLE
from . import read, turn
from .asked import Asked, Free, ask, links_of, weight_of
from .fixed import Member, fixed_of
from .limbs import turned
from .plan import plan_of
from .switches import may_switch
from .words import Words

if TYPE_CHECKING:
    from ..evaluate import Evaluation

Node = tuple[marks.Key, str]
# So many chains are solved together in the time of one by one (measured: 1.3 ms + 0.05 ms a chain, 0.25 ms a chain).
FEWEST = 6


def solve(run: Evaluation, only: Collection[Node] | None) -> set[Node]:
    """Solve what is plain; returns the chains that are done. The others are left as they are.

    Args:
        run: an evaluation whose rigs hold FK.
        only: as in ``evaluate``.
    """
    found = _with_plain_chains(run) if run.is_fresh else []
    if sum(len(member.plan.chains) for member in found) < FEWEST:
        return set()
    free, done = Free(run), set[Node]()
    able = [member for member in found if _is_able(member, free)]
    tips = [member.rig.bones[bone] for member in able for bone in member.plan.tips]
    chains = [chain for member in able for chain in member.plan.chains]
    weights, links = _weights(run, able, tips), []
    if only is None and min(weights, default=0.0) > 0.0 and all(member.plan.reaches_objects for member in able):
        links = links_of(tips, [has_pole for member in able for has_pole in member.plan.has_pole], free)
    if links:
        for member in able:
            member.numbers.extend(range(len(member.plan.chains)))
    else:
        columns, links = _picked(able, tips, weights, only, free, done)
        tips, chains = [tips[column] for column in columns], [chains[column] for column in columns]
        weights = [weights[column] for column in columns]
    if len(tips) >= FEWEST:
        members = [member for member in able if member.numbers]
        done |= _solve_together(run, members, ask(tips, chains, links, weights))
    return done


def _with_plain_chains(run: Evaluation) -> list[Member]:
    live = [(key, rig, rig.obj.session_uid) for key, rig in run.rigs.items() if rig.is_live]
    members = [Member(key, rig, uid, plan_of(uid, rig.setup), []) for key, rig, uid in live]
    return [member for member in members if member.plan.chains]


def _is_able(member: Member, free: Free) -> bool:
    """Whether a rig isn't mirrored, and nothing that is solved moves it."""
    evaluated = member.rig.evaluated
    return evaluated.matrix_world.determinant() > 0.0 and free.is_free(evaluated)


def _weights(run: Evaluation, able: Sequence[Member], tips: Sequence[Any]) -> list[float]:
    """How much of IK the plain chains have."""
    switching = {member.uid for member in able if may_switch(member)}
    if not switching:
        return [weight_of(tip) for tip in tips]
    owners = [(member, chain) for member in able for chain in member.plan.chains]
    return [
        solve_chain.effective_weight(run, member.rig.obj, tip, chain) if member.uid in switching else weight_of(tip)
        for tip, (member, chain) in zip(tips, owners, strict=True)
    ]


def _picked(
    able: Sequence[Member],
    tips: Sequence[Any],
    weights: Sequence[float],
    only: Collection[Node] | None,
    free: Free,
    done: set[Node],
) -> tuple[list[int], list[Any]]:
    """Columns of the chains that are asked, and two links for each; their numbers are noted with their rigs.

    Those without weight are done at once; those whose target solving might move are left out.
    """
    columns: list[int] = []
    links: list[Any] = []
    places = [(member, number) for member in able for number in range(len(member.plan.chains))]
    for column, ((member, number), tip, weight) in enumerate(zip(places, tips, weights, strict=True)):
        chain = member.plan.chains[number]
        node = member.key, chain.tip
        if only is not None and node not in only:
            continue
        if weight <= 0.0:
            free.run.said[node] = IDLE
            done.add(node)
        elif (pair := free.links(tip, chain)) is not None:
            member.numbers.append(number)
            columns.append(column)
            links += pair
    return columns, links


def _solve_together(run: Evaluation, members: Sequence[Member], asked: Asked) -> set[Node]:
    fixed = fixed_of(members)
    limbs, together = read.read(members, fixed, asked)
    posed = batch.solve(limbs.batch)
    is_done = posed.is_ordinary & limbs.is_even
    locals_ = np.stack(turned(limbs, posed).locals, axis=2)
    turn.put_wanted(together, locals_, fixed.is_turned if is_done.all() else fixed.is_turned & is_done[:, None])
    run.together = together
    run.words = Words(fixed, posed, is_done, limbs.batch.origin_distance, limbs.scale)
    for number, member in enumerate(members):
        member.rig.turn_together(partial(turn.turned_of, together, number))
    return set(fixed.nodes if is_done.all() else compress(fixed.nodes, is_done.tolist()))
