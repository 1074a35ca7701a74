"""What a bake reads at each frame: rotations and, for few keys, where joints are. Reads only.

The numbers are those of the one evaluation that the screen shows, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..rig import constrained, fk_pose, marks, match, posed_chain
from ..rig.bone_rows import line_above
from ..rig.chains import ChainSetup, setup_of
from ..rig.evaluate import Evaluation, Rig
from ..solvers import rotations
from ..solvers.arrays import Floats
from ..solvers.chain import Status
from . import continuity


@dataclass(frozen=True, slots=True)
class BakeWork:
    """One armature's part of a bake: its chains, the numbers of the bones that get keys, the frames."""

    obj: Any
    chains: tuple[ChainSetup, ...]
    bones: tuple[int, ...]
    frames: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class BoneRow:
    """Bones that get keys, each turning the next, and the chain they belong to; bones by number, root first."""

    chain: ChainSetup
    bones: tuple[int, ...]
    follows: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class RowPlace:
    """A row at one frame: heads of its bones and its tip, frames of its bones under their solved parents.

    Space: armature.
    """

    heads: tuple[tuple[float, ...], ...]
    frames: tuple[rotations.Quat, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """One armature at one frame.

    Attributes:
        turns: local rotation of each bone of the work.
        near: raw FK rotation of each bone, which the first key is to be near to.
        places: of each row, empty where every frame gets a key.
        scale: world units per armature unit, along the axis with most of them.
        problems: chains that could not be solved, with the reason.
    """

    turns: list[rotations.Quat]
    near: list[fk_pose.Raw]
    places: list[RowPlace]
    scale: float
    problems: dict[str, str]


def bones_of(obj: Any, chains: Sequence[ChainSetup]) -> tuple[int, ...]:
    """Numbers of the bones that these chains turn, but for those whose rotation a driver holds."""
    bones = {bone for chain in chains for bone in chain.turned}
    bones |= {chain.end for chain in chains if chain.end >= 0 and chain.end_rotation != 'KEEP_LOCAL'}
    setup = setup_of(obj)
    ends = {chain.end for chain in chains}
    held = {end for end in ends if constrained.always_acting(setup.constraints.get(end, ()), obj.pose.bones)}
    return tuple(sorted(bones - setup.driven - held))


def rows_of(work: BakeWork) -> list[BoneRow]:
    """The bones of each chain that get keys as rows; an end bone that hangs elsewhere is a row of its own."""
    rows, seen = [], set[int]()
    for chain in work.chains:
        for run in _runs(work, chain):
            fresh = [bone for bone in run if bone not in seen]
            seen.update(fresh)
            if fresh:
                follows = (True, *(_follows(work.obj, a, b) for a, b in pairwise(fresh)))
                rows.append(BoneRow(chain, tuple(fresh), follows))
    return rows


def _runs(work: BakeWork, chain: ChainSetup) -> list[list[int]]:
    run = [bone for bone in chain.turned if bone in work.bones]
    if chain.end not in work.bones:
        return [run]
    return [[*run, chain.end]] if run and run[-1] in above(work.obj, chain.end) else [run, [chain.end]]


def above(obj: Any, bone: int) -> list[int]:
    """Numbers of a bone's parents, the nearest first."""
    parents = setup_of(obj).parents
    return list(line_above(parents, parents[bone]))


def _follows(obj: Any, parent: int, child: int) -> bool:
    """Whether a bone turns with one above it."""
    row = [child, *above(obj, child)]
    between = row[: row.index(parent)]
    return all(obj.pose.bones[bone].bone.use_inherit_rotation for bone in between)


def reader(works: Sequence[BakeWork], rows: Sequence[Sequence[BoneRow]]) -> Callable[[Evaluation], list[Reading]]:
    """A function that takes one ``Reading`` for each work out of an evaluation.

    Raises (the function):
        LimbIKError: an armature is in rest position, in edit mode or not evaluated.
    """

    def read(run: Evaluation) -> list[Reading]:
        return [_read(run, match.rig_of(run, work.obj), work, own) for work, own in zip(works, rows, strict=True)]

    return read


def turn_of(rig: Rig, bone: int) -> rotations.Quat:
    """Local rotation that the bone's own channels get; FK's where a constraint holds the bone at this moment."""
    solved = rig.state.rotations.get(bone)
    return solved if solved is not None else fk_pose.to_quat(rig.fk[bone], rig.raw.modes[bone])


def _read(run: Evaluation, rig: Rig, work: BakeWork, rows: Sequence[BoneRow]) -> Reading:
    readouts = {chain.tip: run.readouts.get((marks.key_of(work.obj), chain.tip)) for chain in work.chains}
    return Reading(
        turns=[turn_of(rig, bone) for bone in work.bones],
        near=[rig.fk[bone] for bone in work.bones],
        places=[_place(rig, row) for row in rows],
        scale=max(column.to_3d().length for column in rig.state.world.col[:3]) if rows else 1.0,
        problems={tip: one.message for tip, one in readouts.items() if one and one.status == Status.INVALID},
    )


def _place(rig: Rig, row: BoneRow) -> RowPlace:
    state, last = rig.state, row.bones[-1]
    is_end = last == row.chain.end and last not in row.chain.turned
    tip = state.tail(last) if is_end else posed_chain.end_point(state, row.chain)
    points: list[Any] = [*(state.head(bone) for bone in row.bones), tip]
    heads = tuple(tuple(point) for point in points)
    return RowPlace(heads, tuple(state.frame_rotation(bone) for bone in row.bones))


def rotation_table(work: BakeWork, readings: Sequence[Reading]) -> dict[str, Floats]:
    """Raw rotations by bone name (readings × 3 or 4), in each bone's own mode, continuous in time."""
    table = {}
    for column, bone in enumerate(work.bones):
        pose_bone: Any = work.obj.pose.bones[bone]
        mode, near = pose_bone.rotation_mode, readings[0].near[column]
        turns = [reading.turns[column] for reading in readings]
        table[pose_bone.name] = continuity.continuous_rotations(_raw_rows(turns, mode, near), mode)
    return table


def _raw_rows(turns: Sequence[rotations.Quat], mode: str, near: fk_pose.Raw) -> Floats:
    if mode == 'QUATERNION':
        first = fk_pose.to_raw(turns[0], mode, near)
        return np.array([first, *turns[1:]], dtype=np.float64)
    rows = []
    for turn in turns:
        near = fk_pose.to_raw(turn, mode, near)
        rows.append(near)
    return np.array(rows, dtype=np.float64)
