"""Plain two-bone limbs of many frames, solved in one go: the same answers as one evaluation a frame gives.

Frames near an edge of the solver are named, so that they are evaluated one by one. Arithmetic and the set-up
alone: this module must not read a pose or write.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rig.crowd.limbs import Limbs, LimbsInFK, Turned, limbs_of, setups_of, turned
from ..solvers import batch, rows
from ..solvers.arrays import Floats
from .limb_frames import LimbFrames
from .reading import Reading, RowPlace
from .stretches import Stretch


def solved(stretch: Stretch, read: LimbFrames, with_places: bool = False) -> list[Reading | None]:
    """What was read, solved: a ``Reading`` for each frame, None where the frame has to be evaluated by itself.

    ``with_places``: also where the joints are, for few keys.
    """
    limbs = limbs_of(setups_of([(stretch.plan, stretch.numbers)], len(read.worlds)), _in_fk(stretch, read))
    posed = batch.solve(limbs.batch, limbs.measured)
    found, count = turned(limbs, posed), len(stretch.numbers)
    turns = _by_frame(np.array(found.locals), count)
    linear = read.worlds[:, :3, :3]
    done = (posed.is_ordinary & limbs.is_even).reshape(-1, count).all(axis=1) & (np.linalg.det(linear) > 0.0)
    columns = [_column(stretch, bone) for bone in stretch.work.bones]
    own = turns[:, [chain for chain, _ in columns], [part for _, part in columns]].tolist()
    near = [read.near[chain][part] for chain, part in columns]
    places = _places(stretch, limbs, found) if with_places else [[] for _ in own]
    scales = np.linalg.norm(linear, axis=1).max(axis=1).tolist()
    return [
        Reading([tuple(turn) for turn in own[i]], near, places[i], scales[i], {}) if is_whole else None
        for i, is_whole in enumerate(done.tolist())
    ]


def _in_fk(stretch: Stretch, read: LimbFrames) -> LimbsInFK:
    """The limbs of all frames in a row: for each frame its chains."""
    frames, count = len(read.worlds), len(stretch.numbers)
    return LimbsInFK(
        above=_flat(read.above),
        between=_flat(read.between),
        locations=_flat(read.locations),
        turns=_flat(read.turns),
        scales=_flat(read.scales),
        tails=np.tile(_tails(stretch), frames),
        worlds=read.worlds[:, :3].repeat(count, axis=0),
        places=_flat(np.stack([read.targets[..., :3, 3], read.poles], axis=2)),
        target_turns=_flat(read.targets[..., :3, :3]),
        settings=_flat(read.settings),
    )


def _by_frame(values: Floats, count: int) -> Floats:
    """Parts × components × columns as frames × chains × parts × components."""
    return values.transpose(2, 0, 1).reshape(-1, count, *values.shape[:2])


def _points(stretch: Stretch, limbs: Limbs, found: Turned) -> Floats:
    """Heads of upper, lower and end bone and the end bone's tail as solved (points × 3 × limbs). Space: armature."""
    asked, frames = limbs.batch, limbs.weights.size // len(stretch.numbers)
    tail = limbs.standing.end_axis * np.tile(_end_lengths(stretch), frames)
    mid = asked.root + rows.rotate(found.turns[0], asked.mid - asked.root)
    end = mid + rows.rotate(found.turns[1], asked.end - asked.mid)
    return np.array((asked.root, mid, end, end + rows.rotate(found.turns[2], tail)))


def _places(stretch: Stretch, limbs: Limbs, found: Turned) -> list[list[RowPlace]]:
    """Where the rows of the work (one for each chain) are at each frame."""
    count = len(stretch.numbers)
    points = _by_frame(_points(stretch, limbs, found), count).tolist()
    frames = _by_frame(np.array(found.frames), count).tolist()
    lengths = [3 if chain.end in stretch.work.bones else 2 for chain in stretch.work.chains]
    return [
        [
            RowPlace(tuple(map(tuple, heads[: length + 1])), tuple(map(tuple, turns[:length])))
            for heads, turns, length in zip(own_points, own_frames, lengths, strict=True)
        ]
        for own_points, own_frames in zip(points, frames, strict=True)
    ]


def _column(stretch: Stretch, bone: int) -> tuple[int, int]:
    """Chain (as counted in the work) and part (upper, lower, end) of a bone."""
    rows_of_bones = stretch.plan.bones[list(stretch.numbers)].tolist()
    return next((i, row.index(bone)) for i, row in enumerate(rows_of_bones) if bone in row)


def _flat(values: Floats) -> Floats:
    """Frames × chains as one axis."""
    return values.reshape(-1, *values.shape[2:])


def _tails(stretch: Stretch) -> list[float]:
    bones: Any = stretch.work.obj.data.bones
    names = stretch.setup.names
    return [0.0 if chain.end >= 0 else bones[names[chain.bones[-1]]].length for chain in stretch.work.chains]


def _end_lengths(stretch: Stretch) -> list[float]:
    bones: Any = stretch.work.obj.data.bones
    names = stretch.setup.names
    return [bones[names[chain.end]].length if chain.end >= 0 else 0.0 for chain in stretch.work.chains]
