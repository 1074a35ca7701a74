"""In which order chains are solved: a chain after everything that moves its root, its target, its pole or its ground.

Spine before arm, arm before finger, over armatures too. Chains that wait for each
other, or for themselves, can't be solved and are named. This module must not solve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import bpy

from . import constrained, hanging, marks
from .bone_rows import line_above
from .carried import carrying_bone, fixed_for
from .chains import ChainSetup, RigSetup
from .loose import Loose
from .session import pose_bones

if TYPE_CHECKING:
    from .evaluate import Evaluation, Rig

Node = marks.ChainKey
Bone = tuple[marks.Key, int]


def sorted_chains(run: Evaluation, chains: Sequence[tuple[Rig, ChainSetup]]) -> list[tuple[Rig, ChainSetup]]:
    """The chains of one evaluation in dependency order; those on a cycle come last, with their problem."""
    nodes = {(marks.key_of(rig.obj), chain.tip): (rig, chain) for rig, chain in chains}
    owners = _owners(nodes)
    graph = {node: _waits_for(run, rig, chain, node, owners) for node, (rig, chain) in nodes.items()}
    for node, (rig, chain) in nodes.items():
        if (graph[node] or chain.loose) and (note := _loose_note(run, chain, owners)):
            nodes[node] = rig, replace(chain, note=note)
    refused: list[tuple[Rig, ChainSetup]] = []
    while True:
        try:
            return [nodes[node] for node in TopologicalSorter(graph).static_order() if node in nodes] + refused
        except CycleError as error:
            on_cycle = sorted(set(error.args[1]))
            for node in on_cycle:
                rig, chain = nodes.pop(node)
                refused.append((rig, replace(chain, problem=chain.problem or _cycle_problem(chain, node, on_cycle))))
                graph.pop(node)
            graph = {node: waits - set(on_cycle) for node, waits in graph.items()}


def _cycle_problem(chain: ChainSetup, node: Node, on_cycle: list[Node]) -> str:
    others = ", ".join(f"'{tip}'" for _, tip in on_cycle if (_, tip) != node)
    if not others:
        links = "target or pole" if chain.ground_key is None else "target, pole or ground"
        return f"its {links} hangs on the chain itself"
    return f"it and the chain of {others} depend on each other"


def _owners(nodes: dict[Node, tuple[Rig, ChainSetup]]) -> dict[Bone, Node]:
    """Which chain turns which bone, end bones included."""
    owners: dict[Bone, Node] = {}
    for node, (rig, chain) in nodes.items():
        if chain.problem or chain.is_muted or not rig.is_live:
            continue
        for bone in chain.turned:
            owners[node[0], bone] = node
        if chain.end >= 0 and chain.end_rotation != 'KEEP_LOCAL':
            owners.setdefault((node[0], chain.end), node)
    return owners


def _waits_for(run: Evaluation, rig: Rig, chain: ChainSetup, node: Node, owners: dict[Bone, Node]) -> set[Node]:
    """The chains that have to be solved before this one; the chain itself where it would wait for itself."""
    found: set[Node] = set()
    if chain.problem:
        return found
    root_parent = rig.setup.parents[chain.bones[0]]
    if root_parent >= 0:
        found.update(_turning(rig.setup, node[0], root_parent, owners))
    fixed = fixed_for(rig, chain)
    for link in ((node[0], ""), chain.target_key, chain.pole_key, chain.ground_key):
        for obj, bone_name in _links_now(run, link, fixed) if link is not None else ():
            found.update(_turning_hold(run, marks.key_of(obj), bone_name, owners))
    return found


def _links_now(
    run: Evaluation, link: marks.Link, fixed: frozenset[marks.Link] = frozenset(), *, is_carried: bool = True
) -> list[tuple[bpy.types.Object, str]]:
    """An object or a bone, and what it hangs on at this moment through parents and constraints, at any depth.

    ``is_carried``: of constraints on bones through those alone that carry along, else through all that act.
    """
    found = [(run.object_of(link[0]), link[1])]
    for one, name in found:
        evaluated, key = one.evaluated_get(run.depsgraph), marks.key_of(one)
        holds = list(hanging.holds_above(evaluated))
        for bone in _line_of(evaluated, name):
            if len(bone.constraints) and (key, bone.name) not in fixed:
                holds += hanging.holds_of(bone) if not is_carried or carrying_bone(bone) is not None else ()
        found += [link for link in ((hold.obj, hold.bone) for hold in holds) if link not in found]
    return found


def _line_of(evaluated: bpy.types.Object, bone_name: str) -> list[Any]:
    bone: Any = pose_bones(evaluated).get(bone_name) if bone_name and evaluated.pose is not None else None
    return [] if bone is None else [bone, *bone.parent_recursive]


def _loose_note(run: Evaluation, chain: ChainSetup, owners: dict[Bone, Node]) -> str:
    """What stands between solved bones and what the chain hangs on and can't be carried, in words; else empty."""
    for loose in chain.loose:
        if _acts(run, loose) and any(_turning_loose(run, loose, owners)):
            return loose.text
    for role, link in (("target", chain.target_key), ("pole", chain.pole_key), ("ground", chain.ground_key)):
        above = list(dict.fromkeys(one for one, _ in _links_now(run, link))) if link else []
        for one in above:
            evaluated = one.evaluated_get(run.depsgraph)
            is_turn_seen = one != above[0] or chain.end_rotation == 'TARGET' or role == "ground"
            for hold in _not_carried(evaluated, is_turn_seen) if len(one.constraints) else ():
                if any(_turning_hold(run, marks.key_of(hold.obj), hold.bone, owners)):
                    what = f"{role} '{evaluated.name}' follows solved bones through '{hold.name}'"
                    return f"{what}, which shows them unsolved"
    return ""


def _not_carried(evaluated: bpy.types.Object, is_turn_seen: bool) -> Iterator[hanging.Hold]:
    """On what an object hangs that is not carried: constraints act that aren't rigid, on top of its parent, too.

    ``is_turn_seen``: whether more than its place matters, as to what hangs on it.
    """
    if hanging.carrying(evaluated) is not None:
        return
    acting = hanging.acting(evaluated)
    for constraint in acting:
        yield from hanging.holds_by(constraint)
    placing = [one for one in acting if is_turn_seen or one.type not in hanging.TURNING_ONLY]
    if placing and evaluated.parent is not None:
        yield replace(next(hanging.holds_above(evaluated)), name=placing[0].name)


def _acts(run: Evaluation, loose: Loose) -> bool:
    """Whether what looks at bones shows them unsolved at this moment: a constraint may not act, or be carried."""
    if loose.owner is None:
        return True
    key, bone_name = loose.owner
    owner: Any = run.object_of(key).evaluated_get(run.depsgraph)
    if bone_name:
        owner = pose_bones(owner).get(bone_name)
    constraint = owner.constraints.get(loose.constraint) if owner is not None else None
    if constraint is None:
        return True
    return constrained.acts(constraint) and not (loose.may_be_carried and carrying_bone(owner) is not None)


def _turning_loose(run: Evaluation, loose: Loose, owners: dict[Bone, Node]) -> Iterator[Node]:
    if loose.bone is None:
        yield from (node for (key, _), node in owners.items() if key == loose.key)
        return
    for obj, bone_name in _links_now(run, (loose.key, loose.bone), is_carried=False):
        yield from _turning_hold(run, marks.key_of(obj), bone_name, owners)


def _turning_hold(run: Evaluation, key: marks.Key, bone_name: str, owners: dict[Bone, Node]) -> Iterator[Node]:
    rig = run.rigs.get(key)
    if rig is not None and bone_name in rig.setup.index:
        yield from _turning(rig.setup, key, rig.setup.index[bone_name], owners)


def _turning(setup: RigSetup, key: marks.Key, bone: int, owners: dict[Bone, Node]) -> Iterator[Node]:
    """The chains that turn a bone or one above it."""
    for above in line_above(setup.parents, bone):
        owner = owners.get((key, above))
        if owner is not None:
            yield owner
