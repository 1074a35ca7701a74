"""Plain two-bone chains over many frames: read frame by frame, solved for all frames in one go.

The same answers as one evaluation a frame gives, for chains that stand for themselves
(``rig/crowd/plan`` says which) and hang on nothing that IK moves. Frames near an edge of the
solver are named, so that they are evaluated one by one. This module must not write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..rig import channels, fk_pose, marks, solve_chain
from ..rig.chains import ChainSetup, setup_of
from ..rig.crowd import plan as crowd_plan
from ..rig.evaluate import Evaluation
from ..rig.session import object_at
from ..solvers import batch, rotations, rows
from . import limb_arrays
from .chain_error import to_quaternions
from .key_table import Floats
from .reading import Reading, RowPlace, Work, rows_of

# Of a matrix in the world the first three rows count.
NO_POLE = (float("nan"),) * 3


@dataclass(slots=True)
class Stretch:
    """One armature's plain chains and what was read of them so far; ``numbers``: of the chains in the plan."""

    work: Work
    plan: crowd_plan.Plan
    numbers: list[int]
    animated: tuple[bool, ...]
    modes: tuple[tuple[str, ...], ...]
    matrices: list[NDArray[np.float32]] = field(default_factory=list)
    bases: list[tuple[NDArray[np.float32], ...]] = field(default_factory=list)
    worlds: list[Any] = field(default_factory=list)
    targets: list[list[Any]] = field(default_factory=list)
    poles: list[list[tuple[float, ...]]] = field(default_factory=list)
    settings: list[list[tuple[float, ...]]] = field(default_factory=list)


def stretches(works: Sequence[Work]) -> list[Stretch] | None:
    """What reads these works in one go; None where some chain of them has to be evaluated frame by frame."""
    found = []
    for work in works:
        plan, free = _plan(work), dict[int, bool]()
        by_tip = {chain.tip: number for number, chain in enumerate(plan.chains)}
        has_rows = [row.chain.tip for row in rows_of(work)] == [chain.tip for chain in work.chains]
        is_plain = has_rows and all(_is_direct(work, chain) for chain in work.chains)
        is_plain = is_plain and all(chain.tip in by_tip and _is_free(chain, free) for chain in work.chains)
        if not is_plain or work.obj.mode == 'EDIT' or not _is_upright(work.obj, free):
            return None
        numbers = [by_tip[chain.tip] for chain in work.chains]
        bones: Any = work.obj.pose.bones
        modes = tuple(tuple(bones[int(bone)].rotation_mode for bone in row) for row in plan.bones[numbers])
        found.append(Stretch(work, plan, numbers, _animated(work), modes))
    return found


def _plan(work: Work) -> crowd_plan.Plan:
    """Which chains are plain, offsets on FK among them."""
    setup = setup_of(work.obj)
    in_world = tuple(replace(chain, target_space='WORLD') for chain in setup.chains)
    return crowd_plan.make_plan(replace(setup, chains=in_world))


def _is_direct(work: Work, chain: ChainSetup) -> bool:
    """Whether upper, lower and end bone follow each other and the end is given by the target or left alone."""
    parents = setup_of(work.obj).parents
    has_end_below = chain.end < 0 or parents[chain.end] == chain.bones[-1]
    return len(chain.bones) == 2 and has_end_below and chain.end_rotation in {'KEEP_LOCAL', 'TARGET'}


def _hangs_free(obj: Any, known: dict[int, bool]) -> bool:
    """Whether an object hangs on no bone and by no constraint, at any depth: solving can't move it."""
    if obj.session_uid not in known:
        parent = obj.parent
        is_free = not len(obj.constraints) and (parent is None or obj.parent_type != 'BONE')
        known[obj.session_uid] = is_free and (parent is None or _hangs_free(parent, known))
    return known[obj.session_uid]


def _is_upright(obj: Any, free: dict[int, bool]) -> bool:
    data: Any = obj.data
    return data.pose_position == 'POSE' and _hangs_free(obj, free)


def _is_free(chain: ChainSetup, free: dict[int, bool]) -> bool:
    """Whether target and pole are objects that hang on nothing that solving might move."""
    links = [link for link in (chain.target_key, chain.pole_key) if link is not None]
    return all(not bone and _hangs_free(object_at(key), free) for key, bone in links)


def _animated(work: Work) -> tuple[bool, ...]:
    """Which chains have settings that may change in time."""
    paths = {path for path, _ in channels.animated_paths(work.obj)}
    starts = [f'pose.bones["{bpy.utils.escape_identifier(chain.tip)}"].limb_ik_' for chain in work.chains]
    return tuple(any(path.startswith(start) for path in paths) for start in starts)


def looker(reads: Sequence[Stretch]) -> Callable[[bpy.types.Depsgraph, Any, float], bool]:
    """A function that reads one frame into the stretches; False where an armature isn't evaluated there."""

    def look(depsgraph: Any, _held: object, frame: float) -> bool:
        found = [_read_frame(read, depsgraph, frame) for read in reads]  # all of them, whatever the first says
        return all(found)

    return look


def _read_frame(read: Stretch, depsgraph: Any, frame: float) -> bool:
    obj: Any = read.work.obj.evaluated_get(depsgraph)
    if not obj.is_evaluated:
        return False
    bones = obj.pose.bones
    read.matrices.append(_bulk(bones, "matrix", 16))
    names = ("location", "scale", *sorted({fk_pose.channel(mode) for row in read.modes for mode in row}))
    read.bases.append(tuple(_bulk(bones, name, fk_pose.WIDTHS.get(name, 3)) for name in names))
    read.worlds.append(obj.matrix_world.copy())
    read.targets.append([_world(depsgraph, chain.target_key) for chain in read.work.chains])
    read.poles.append([_place(depsgraph, chain.pole_key) for chain in read.work.chains])
    read.settings.append(_settings(read, depsgraph, frame, obj))
    return True


def _bulk(bones: Any, name: str, width: int) -> NDArray[np.float32]:
    values = np.empty(width * len(bones), np.float32)
    bones.foreach_get(name, values)
    return values


def _world(depsgraph: Any, link: tuple[marks.Key, str] | None) -> Matrix:
    assert link is not None  # plain chains have a target
    obj = object_at(link[0])
    found: Matrix = obj.evaluated_get(depsgraph).matrix_world.copy()
    return found


def _place(depsgraph: Any, link: tuple[marks.Key, str] | None) -> tuple[float, ...]:
    if link is None:
        return NO_POLE
    place: Any = _world(depsgraph, link).translation
    return tuple(place)


def _settings(read: Stretch, depsgraph: Any, frame: float, obj: Any) -> list[tuple[float, ...]]:
    """Weight, pole angle, softness and largest reach of each chain; read anew where they may change."""
    before = read.settings[-1] if read.settings else None
    render = depsgraph.scene.render
    run, found = Evaluation(depsgraph, frame, render.fps / render.fps_base, True), []
    for number, chain in enumerate(read.work.chains):
        if before is not None and not read.animated[number]:
            found.append(before[number])
            continue
        tip = obj.pose.bones[chain.bones[-1]]
        weight = solve_chain.effective_weight(run, read.work.obj, tip, chain)
        found.append((weight, tip.limb_ik_pole_angle, tip.limb_ik_softness, tip.limb_ik_max_reach))
    return found


def solved(read: Stretch, with_places: bool = False) -> list[Reading | None]:
    """What was read, solved: a ``Reading`` for each frame, None where the frame has to be evaluated by itself.

    ``with_places``: also where the joints are, for few keys.
    """
    limbs = _limbs(read)
    found = limb_arrays.solve(limbs)
    count = len(read.work.chains)
    turns = _by_frame(np.array(found.locals), count)
    worlds = np.array([world.to_3x3() for world in read.worlds])
    done = found.holds.reshape(-1, count).all(axis=1) & (np.linalg.det(worlds) > 0.0)
    columns = [_column(read, bone) for bone in read.work.bones]
    own = turns[:, [chain for chain, _ in columns], [part for _, part in columns]].tolist()
    near = [_raw(read, *column) for column in columns]
    places = _places(read, limbs, found) if with_places else [[] for _ in own]
    scales = np.linalg.norm(worlds, axis=1).max(axis=1).tolist()
    return [
        Reading([tuple(turn) for turn in own[i]], near, places[i], scales[i], {}) if is_whole else None
        for i, is_whole in enumerate(done.tolist())
    ]


def _by_frame(values: Floats, count: int) -> Floats:
    """Parts × components × columns as frames × chains × parts × components."""
    return values.transpose(2, 0, 1).reshape(-1, count, *values.shape[:2])


def _places(read: Stretch, limbs: limb_arrays.Limbs, found: limb_arrays.Solved) -> list[list[RowPlace]]:
    """Where the rows of the work (one for each chain) are at each frame."""
    count = len(read.work.chains)
    points = _by_frame(limb_arrays.solved_points(limbs, found), count).tolist()
    frames = _by_frame(np.array(found.frames), count).tolist()
    lengths = [3 if chain.end in read.work.bones else 2 for chain in read.work.chains]
    return [
        [
            RowPlace(tuple(map(tuple, heads[: length + 1])), tuple(map(tuple, turns[:length])))
            for heads, turns, length in zip(own_points, own_frames, lengths, strict=True)
        ]
        for own_points, own_frames in zip(points, frames, strict=True)
    ]


def _column(read: Stretch, bone: int) -> tuple[int, int]:
    """Chain (as counted in the work) and part (upper, lower, end) of a bone."""
    return next((i, list(row).index(bone)) for i, row in enumerate(read.plan.bones[read.numbers]) if bone in row)


def _raw(read: Stretch, chain: int, part: int) -> fk_pose.Raw:
    """Raw FK rotation of a bone at the first frame."""
    return tuple(_raw_frames(read, chain, part)[0].tolist())


def _raw_frames(read: Stretch, chain: int, part: int) -> Floats:
    """Raw FK rotations of a bone (frames × 3 or 4)."""
    name = fk_pose.channel(read.modes[chain][part])
    place = 2 + sorted({fk_pose.channel(mode) for row in read.modes for mode in row}).index(name)
    bone, width = int(read.plan.bones[read.numbers[chain], part]), fk_pose.WIDTHS[name]
    values = np.array([row[place] for row in read.bases], dtype=np.float64)
    return values[:, bone * width : (bone + 1) * width]


class _FK(NamedTuple):
    """The limbs in FK (frames × chains first). Space: armature.

    ``frames``: upper, lower and end bone at zero local rotation; ``bones``: upper and lower; ``locals``: local
    rotations of all three (chains × 3 × frames × 4).
    """

    frames: tuple[Floats, Floats, Floats]
    bones: tuple[Floats, Floats]
    ends: Floats
    end_tails: Floats
    locals: Floats
    scales: Floats


def _fk(read: Stretch) -> _FK:
    frames, count, plan = len(read.matrices), len(read.numbers), read.plan
    bones, offsets = plan.bones[read.numbers], plan.offsets[read.numbers]
    matrices = _with_identity(np.array(read.matrices, dtype=np.float64).reshape(frames, -1, 4, 4).transpose(0, 1, 3, 2))
    locations = np.array([row[0] for row in read.bases], dtype=np.float64).reshape(frames, -1, 3)[:, bones]
    locations[:, plan.is_connected[read.numbers]] = 0.0
    scales = np.array([row[1] for row in read.bases], dtype=np.float64).reshape(frames, -1, 3)[:, bones]
    turns = np.array([[_quats(read, chain, part) for part in range(3)] for chain in range(count)])
    bases = rows.local_matrices(locations, turns.transpose(2, 0, 1, 3), scales)
    upper_frame = matrices[:, plan.parents[read.numbers]] @ offsets[:, 0]
    upper = upper_frame @ bases[:, :, 0]
    lower_frame = upper @ offsets[:, 1]
    lower = lower_frame @ bases[:, :, 1]
    end_frame = lower @ offsets[:, 2]
    end = end_frame @ bases[:, :, 2]
    tails = lower[..., :3, 1] * np.array(_tails(read))[:, None] + lower[..., :3, 3]
    ends = np.where(plan.has_end[read.numbers][:, None], end[..., :3, 3], tails)
    end_tails = end[..., :3, 1] * np.array(_end_lengths(read))[:, None]
    return _FK((upper_frame, lower_frame, end_frame), (upper, lower), ends, end_tails, turns, scales)


class _Aims(NamedTuple):
    """What the limbs reach for (columns are limbs). Space: armature. ``distance``: of the armature from the origin."""

    targets: rows.Rows
    poles: rows.Rows
    turned: Floats
    distance: rows.Rows


def _aims(read: Stretch) -> _Aims:
    count = len(read.numbers)
    worlds = np.array([[*map(tuple, world)] for world in read.worlds])[:, None]
    linear, origins = worlds[..., :3, :3].copy(), worlds[..., :3, 3]
    scale = np.linalg.norm(linear[:, 0], axis=1).mean(axis=1)
    linear[np.linalg.det(linear) == 0.0] = np.identity(3)  # such frames are evaluated by themselves
    to_arm = rows.inverse(linear[:, 0])[:, None]
    targets = np.array([[[*map(tuple, matrix)] for matrix in row] for row in read.targets])
    target_places = (to_arm @ (targets[..., :3, 3] - origins)[..., None])[..., 0]
    pole_places = (to_arm @ (np.array(read.poles) - origins)[..., None])[..., 0]
    with np.errstate(all="ignore"):
        distance = np.repeat(np.linalg.norm(origins[:, 0], axis=1) / scale, count)
    return _Aims(_flat(target_places).T, _flat(pole_places).T, _flat(to_arm @ targets[..., :3, :3]), distance)


def _limbs(read: Stretch) -> limb_arrays.Limbs:
    """The limbs of all frames as ``limb_arrays`` takes them: for each frame its chains."""
    frames, plan, fk, aims = len(read.matrices), read.plan, _fk(read), _aims(read)
    settings = np.array(read.settings).reshape(-1, 4).T
    with np.errstate(all="ignore"):
        flat_frames = [_flat(frame) for frame in fk.frames]
        quats = tuple(rows.from_matrices(frame) for frame in flat_frames)
        is_fit = np.logical_and.reduce([limb_arrays.is_even(frame) for frame in flat_frames])
        is_fit &= np.linalg.det(aims.turned) > 0.0
        is_fit &= (_flat(fk.scales) != 0.0).all(axis=(1, 2))
        target_turns = rows.from_matrices(aims.turned)
    local = tuple(fk.locals[:, part].transpose(2, 1, 0).reshape(4, -1) for part in range(3))
    asked = batch.Limbs(
        root=_flat(fk.bones[0][..., :3, 3]).T,
        mid=_flat(fk.bones[1][..., :3, 3]).T,
        end=_flat(fk.ends).T,
        fk=rows.multiply(quats[0], local[0]),
        hinge=np.tile(plan.hinges[read.numbers], (frames, 1)).T,
        target=aims.targets,
        pole=aims.poles,
        pole_angle=settings[1],
        softness=settings[2],
        max_reach=settings[3],
        origin_distance=aims.distance,
    )
    wanted = rows.multiply(target_turns, np.tile(plan.end_offsets[read.numbers], (frames, 1)).T)
    found = limb_arrays.Limbs(asked, quats, local, wanted, _flat(fk.end_tails).T, settings[0], is_fit)
    return _with_offsets(read, found, target_turns)


def _with_offsets(read: Stretch, limbs: limb_arrays.Limbs, target_turns: rows.Rows) -> limb_arrays.Limbs:
    """The limbs whose target and pole are offsets on FK reach for FK and these."""
    frames = len(read.matrices)
    is_fk = np.tile([chain.target_space == 'FK' for chain in read.work.chains], frames)
    if not is_fk.any():
        return limbs
    rests = np.array([[[*map(tuple, one)] for one in _rests(chain)] for chain in read.work.chains])
    rest_turns = np.array([rotations.from_matrix(chain.target_rest) for chain in read.work.chains])
    rest_target, rest_pole = (np.tile(rests[:, i, :3, 3], (frames, 1)).T for i in (0, 1))
    return limb_arrays.beside_fk(limbs, is_fk, rest_target, np.tile(rest_turns, (frames, 1)).T, rest_pole, target_turns)


def _rests(chain: ChainSetup) -> tuple[Any, Any]:
    return chain.target_rest, chain.pole_rest


def _flat(values: Floats) -> Floats:
    """Frames × chains as one axis."""
    return values.reshape(-1, *values.shape[2:])


def _with_identity(matrices: Floats) -> Floats:
    """One matrix more for each frame: the parent of bones without one."""
    return np.concatenate((matrices, np.broadcast_to(np.identity(4), (len(matrices), 1, 4, 4))), axis=1)


def _quats(read: Stretch, chain: int, part: int) -> Floats:
    return to_quaternions(_raw_frames(read, chain, part), read.modes[chain][part])


def _tails(read: Stretch) -> Iterable[float]:
    bones: Any = read.work.obj.data.bones
    names = setup_of(read.work.obj).names
    return [0.0 if chain.end >= 0 else bones[names[chain.bones[-1]]].length for chain in read.work.chains]


def _end_lengths(read: Stretch) -> Iterable[float]:
    bones: Any = read.work.obj.data.bones
    names = setup_of(read.work.obj).names
    return [bones[names[chain.end]].length if chain.end >= 0 else 0.0 for chain in read.work.chains]
