"""Plain two-bone limbs of many frames, solved in one go: the same answers as one evaluation a frame gives.

Frames near an edge of the solver are named, so that they are evaluated one by one. Arithmetic and the set-up
alone: this module must not read a pose or write.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..solvers import batch, rows
from . import limb_arrays
from .key_table import Floats
from .limb_frames import LimbFrames
from .reading import Reading, RowPlace
from .stretches import Stretch


def solved(stretch: Stretch, read: LimbFrames, with_places: bool = False) -> list[Reading | None]:
    """What was read, solved: a ``Reading`` for each frame, None where the frame has to be evaluated by itself.

    ``with_places``: also where the joints are, for few keys.
    """
    limbs = _limbs(stretch, read)
    found = limb_arrays.solve(limbs)
    count = len(stretch.numbers)
    turns = _by_frame(np.array(found.locals), count)
    linear = read.worlds[:, :3, :3]
    done = found.holds.reshape(-1, count).all(axis=1) & (np.linalg.det(linear) > 0.0)
    columns = [_column(stretch, bone) for bone in stretch.work.bones]
    own = turns[:, [chain for chain, _ in columns], [part for _, part in columns]].tolist()
    near = [read.near[chain][part] for chain, part in columns]
    places = _places(stretch, limbs, found) if with_places else [[] for _ in own]
    scales = np.linalg.norm(linear, axis=1).max(axis=1).tolist()
    return [
        Reading([tuple(turn) for turn in own[i]], near, places[i], scales[i], {}) if is_whole else None
        for i, is_whole in enumerate(done.tolist())
    ]


def _by_frame(values: Floats, count: int) -> Floats:
    """Parts × components × columns as frames × chains × parts × components."""
    return values.transpose(2, 0, 1).reshape(-1, count, *values.shape[:2])


def _places(stretch: Stretch, limbs: limb_arrays.Limbs, found: limb_arrays.Solved) -> list[list[RowPlace]]:
    """Where the rows of the work (one for each chain) are at each frame."""
    count = len(stretch.numbers)
    points = _by_frame(limb_arrays.solved_points(limbs, found), count).tolist()
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


class _FK(NamedTuple):
    """The limbs in FK (frames × chains first). Space: armature.

    ``frames``: upper, lower and end bone at zero local rotation; ``bones``: upper and lower.
    """

    frames: tuple[Floats, Floats, Floats]
    bones: tuple[Floats, Floats]
    ends: Floats
    end_tails: Floats


def _fk(stretch: Stretch, read: LimbFrames) -> _FK:
    plan, numbers = stretch.plan, list(stretch.numbers)
    offsets = plan.offsets[numbers]
    bases = rows.local_matrices(read.locations, read.turns, read.scales)
    upper_frame = read.above @ offsets[:, 0]
    upper = upper_frame @ bases[:, :, 0]
    lower_frame = upper @ read.between[:, :, 0] @ offsets[:, 1]
    lower = lower_frame @ bases[:, :, 1]
    end_frame = lower @ read.between[:, :, 1] @ offsets[:, 2]
    end = end_frame @ bases[:, :, 2]
    tails = lower[..., :3, 1] * np.array(_tails(stretch))[:, None] + lower[..., :3, 3]
    ends = np.where(plan.has_end[numbers][:, None], end[..., :3, 3], tails)
    end_tails = end[..., :3, 1] * np.array(_end_lengths(stretch))[:, None]
    return _FK((upper_frame, lower_frame, end_frame), (upper, lower), ends, end_tails)


class _Aims(NamedTuple):
    """What the limbs reach for (columns are limbs). Space: armature. ``distance``: of the armature from the origin."""

    targets: rows.Rows
    poles: rows.Rows
    turned: Floats
    distance: rows.Rows


def _aims(stretch: Stretch, read: LimbFrames) -> _Aims:
    worlds = read.worlds[:, None]
    linear, origins = worlds[..., :3, :3].copy(), worlds[..., :3, 3]
    scale = np.linalg.norm(linear[:, 0], axis=1).mean(axis=1)
    linear[np.linalg.det(linear) == 0.0] = np.identity(3)  # such frames are evaluated by themselves
    to_arm = rows.inverse(linear[:, 0])[:, None]
    target_places = (to_arm @ (read.targets[..., :3, 3] - origins)[..., None])[..., 0]
    pole_places = (to_arm @ (read.poles - origins)[..., None])[..., 0]
    with np.errstate(all="ignore"):
        distance = np.repeat(np.linalg.norm(origins[:, 0], axis=1) / scale, len(stretch.numbers))
    return _Aims(_flat(target_places).T, _flat(pole_places).T, _flat(to_arm @ read.targets[..., :3, :3]), distance)


def _limbs(stretch: Stretch, read: LimbFrames) -> limb_arrays.Limbs:
    """The limbs of all frames as ``limb_arrays`` takes them: for each frame its chains."""
    frames, plan, numbers = len(read.worlds), stretch.plan, list(stretch.numbers)
    fk, aims = _fk(stretch, read), _aims(stretch, read)
    settings = read.settings.reshape(-1, 4).T
    with np.errstate(all="ignore"):
        flat_frames = [_flat(frame) for frame in fk.frames]
        quats = tuple(rows.from_matrices(frame) for frame in flat_frames)
        is_fit = np.logical_and.reduce([limb_arrays.is_even(frame) for frame in flat_frames])
        is_fit &= np.linalg.det(aims.turned) > 0.0
        is_fit &= (_flat(read.scales) != 0.0).all(axis=(1, 2))
        target_turns = rows.from_matrices(aims.turned)
    local = tuple(read.turns[:, :, part].transpose(2, 0, 1).reshape(4, -1) for part in range(3))
    asked = batch.Limbs(
        root=_flat(fk.bones[0][..., :3, 3]).T,
        mid=_flat(fk.bones[1][..., :3, 3]).T,
        end=_flat(fk.ends).T,
        fk=rows.multiply(quats[0], local[0]),
        hinge=np.tile(plan.hinges[numbers], (frames, 1)).T,
        target=aims.targets,
        pole=aims.poles,
        pole_angle=settings[1],
        softness=settings[2],
        max_reach=settings[3],
        origin_distance=aims.distance,
    )
    wanted = _end_turns(stretch, target_turns, rows.multiply(quats[2], local[2]))
    asked = _beside_fk(stretch, asked)
    return limb_arrays.Limbs(asked, quats, local, wanted, _flat(fk.end_tails).T, settings[0], is_fit)


def _end_turns(stretch: Stretch, target: rows.Rows, end_fk: rows.Rows) -> rows.Rows:
    """How the end bones are to stand, armature space: as ``solve_chain._end_rotations``."""
    plan, numbers = stretch.plan, list(stretch.numbers)
    frames = target.shape[1] // len(numbers)
    offset, rest = (np.tile(turns[numbers], (frames, 1)).T for turns in (plan.end_offsets, plan.rest_turns))
    moved = rows.multiply(rows.multiply(target, rest), end_fk)
    wanted = np.where(np.tile(plan.is_offset[numbers], frames), moved, rows.multiply(target, offset))
    return np.where(np.tile(plan.keeps_end[numbers], frames), end_fk, wanted)


def _beside_fk(stretch: Stretch, asked: batch.Limbs) -> batch.Limbs:
    """Offsets on FK, where there are any, as places to reach for."""
    plan, numbers = stretch.plan, list(stretch.numbers)
    frames = asked.root.shape[1] // len(numbers)
    is_fk = np.tile(plan.is_offset[numbers], frames)
    if not is_fk.any():
        return asked
    rest_target, rest_pole = (np.tile(plan.rests[numbers, i], (frames, 1)).T for i in (0, 1))
    return limb_arrays.beside_fk(asked, is_fk, rest_target, rest_pole)


def _flat(values: Floats) -> Floats:
    """Frames × chains as one axis."""
    return values.reshape(-1, *values.shape[2:])


def _tails(stretch: Stretch) -> Iterable[float]:
    bones: Any = stretch.work.obj.data.bones
    names = stretch.setup.names
    return [0.0 if chain.end >= 0 else bones[names[chain.bones[-1]]].length for chain in stretch.work.chains]


def _end_lengths(stretch: Stretch) -> Iterable[float]:
    bones: Any = stretch.work.obj.data.bones
    names = stretch.setup.names
    return [bones[names[chain.end]].length if chain.end >= 0 else 0.0 for chain in stretch.work.chains]
