"""Many plain two-bone chains at once, for crowds in real time: read, solved and turned as arrays.

A part of ``evaluate`` and nothing beside it: the same pose as ``solve_chain`` gives, and
whatever is not plain (see ``plan``), or stands near an edge, is left to it.
Works after a frame change only, where the evaluated pose is FK, or rigs stayed as they were (``rig/staying``).
Writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from ...solvers import batch, rows
from .. import compat, edits, marks, solve_chain
from ..chains import ChainSetup
from ..readouts import IDLE
from . import read, turn
from .asked import Asked, Free, ask, linked_objects, matrices_of, settings_of, weight_of
from .fixed import Fixed, Member, fixed_of
from .limbs import turned
from .plan import Floats, plan_of
from .recalled import Places, Recalled, ask_again, keep, recall
from .switches import animated
from .words import Words

if TYPE_CHECKING:
    from ..evaluate import Evaluation

Node = tuple[marks.Key, str]
# So many chains are solved together in the time of one by one (measured: 1.3 ms + 0.05 ms a chain, 0.25 ms a chain).
FEWEST = 6


def solve(run: Evaluation, only: Collection[Node] | None) -> set[Node]:
    """Solve what is plain; returns the chains that are done. The others are left as they are.

    Args:
        run: an evaluation; after a frame change alone anything is solved here.
        only: as in ``evaluate``.
    """
    found = _with_plain_chains(run) if run.is_fresh else []
    if sum(len(member.plan.chains) for member in found) < FEWEST:
        return set()
    recalled = recall(run, found) if only is None else None
    if recalled is not None and (places := _places_again(run, found, recalled)) is not None:
        return _solve_together(run, found, recalled.fixed, places, has_modes=recalled.has_animated_modes)
    return _solve_asked(run, found, only)


def _places_again(run: Evaluation, members: Sequence[Member], recalled: Recalled) -> Places | None:
    """What is asked as it was last; None where it isn't that simple now."""
    settings = recalled.settings
    if recalled.animated:
        settings = settings.copy()
        changing = [members[number] for number in recalled.animated]
        columns = [column for member in changing for column in recalled.fixed.columns[member.uid][1]]
        settings[columns] = _settings(run, changing)
    if settings[:, 0].min() <= 0.0:
        return None
    places = ask_again(run.depsgraph, recalled, settings)
    if places is None or not (rows.determinant(places.worlds) > 0.0).all():
        return None
    return places


def _settings(run: Evaluation, members: Sequence[Member]) -> Floats:
    tips = _tips(members)
    return settings_of(tips, _weights(run, members, tips))


def _tips(members: Sequence[Member]) -> list[Any]:
    """The evaluated tips of all plain chains."""
    return [member.rig.bones[chain.tip] for member in members for chain in member.plan.chains]


def _solve_asked(run: Evaluation, found: Sequence[Member], only: Collection[Node] | None) -> set[Node]:
    """Ask every chain by itself."""
    free, done = Free(run), set[Node]()
    able = [member for member in found if _is_able(member, free)]
    tips, chains = _tips(able), [chain for member in able for chain in member.plan.chains]
    weights, objects = _weights(run, able, tips), []
    if only is None and min(weights, default=0.0) > 0.0 and all(member.plan.reaches_objects for member in able):
        objects = linked_objects(tips, [has_pole for member in able for has_pole in member.plan.has_pole], free)
    if objects:
        links: list[Any] = matrices_of(objects)
        members = [member.whole() for member in able]
    else:
        members, columns, links = _picked(able, tips, weights, only, free, done)
        tips, chains = [tips[column] for column in columns], [chains[column] for column in columns]
        weights = [weights[column] for column in columns]
    if len(tips) < FEWEST:
        return done
    fixed, asked = fixed_of(members), ask(tips, chains, links, weights)
    if objects and len(able) == len(found):
        _keep(members, fixed, asked, chains, objects)
    worlds: list[Any] = [row[:] for member in members for row in member.rig.evaluated.matrix_world[:3]]
    places = Places(np.array(worlds).reshape(-1, 3, 4), asked)
    return done | _solve_together(run, members, fixed, places, has_modes=True)


def _keep(
    members: Sequence[Member], fixed: Fixed, asked: Asked, chains: Sequence[ChainSetup], objects: Sequence[Any]
) -> None:
    """Note what is asked, for frames before which nothing is edited."""
    linked = [*objects[::2], *objects[1::2]]
    uids = [*(member.uid for member in members), *(0 if one is None else one.original.session_uid for one in linked)]
    found = [animated(member) for member in members]
    is_unsure = not compat.BULK_WRITES_TAG  # a script may set them in bulk, and nothing tells of it
    keep(
        Recalled(
            edits=edits.count(),
            plans=[(member.uid, member.plan) for member in members],
            fixed=fixed,
            uids=np.array(uids, np.int32),
            takes_turn=np.array([chain.end_rotation == 'TARGET' for chain in chains]),
            settings=asked.settings,
            tails=asked.tails,
            animated=[number for number, one in enumerate(found) if one.settings or is_unsure],
            has_animated_modes=is_unsure or any(one.modes for one in found),
        )
    )


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
    switching = {member.uid for member in able if animated(member).switch}
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
) -> tuple[list[Member], list[int], list[Any]]:
    """The rigs that are asked with the numbers of their chains, the columns of those, and two links for each.

    Those without weight are done at once; those whose target solving might move are left out.
    """
    columns: list[int] = []
    links: list[Any] = []
    members = [member._replace(numbers=[]) for member in able]
    places = [(member, number) for member in members for number in range(len(member.plan.chains))]
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
    return [member for member in members if member.numbers], columns, links


def _solve_together(
    run: Evaluation, members: Sequence[Member], fixed: Fixed, places: Places, *, has_modes: bool
) -> set[Node]:
    """``has_modes``: whether rotation modes may be others than when the buffers were filled last."""
    limbs, together = read.read(members, fixed, places, has_modes=has_modes)
    posed = batch.solve(limbs.batch, limbs.measured)
    is_done = posed.is_ordinary & limbs.is_even
    locals_ = np.stack(turned(limbs, posed).locals, axis=2)
    turn.put_wanted(together, locals_, fixed.is_turned if is_done.all() else fixed.is_turned & is_done[:, None])
    run.together = together
    run.words = Words(fixed, posed, is_done, limbs.batch.origin_distance, limbs.scale)
    for number, member in enumerate(members):
        member.rig.turn_together(partial(turn.turned_of, together, number))
    return set(fixed.nodes if is_done.all() else compress(fixed.nodes, is_done.tolist()))
