"""Many plain two-bone chains at once, for crowds in real time: read, solved and turned as arrays.

A part of ``evaluate`` and nothing beside it: the same pose as ``solve_chain`` gives, and
whatever is not plain (see ``crowd_plan``), or stands near an edge, is left to it.
Works after a frame change only, where the evaluated pose is FK. Writes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ..solvers import batch, blending, rotations, rows, two_bone
from ..solvers.chain import Solution, Status
from ..solvers.rotations import Quat
from . import compat, marks, nla, posed_chain, solve_chain
from .chains import ChainSetup
from .crowd_plan import Floats, Numbers, Plan, plan_of
from .readouts import IDLE, Readout

if TYPE_CHECKING:
    from .evaluate import Evaluation, Rig

Node = tuple[marks.Key, str]
# So many chains are solved together in the time of one by one (measured: 0.6 ms against 0.2 ms a chain).
FEWEST = 4
NO_POLE = (float("nan"),) * 3
IDENTITY_ROW = np.identity(4).reshape(16)


class _Asked(NamedTuple):
    """One chain and what is asked of it now. Space: world.

    ``settings``: pole angle, softness, largest reach. ``target``: three rows of its matrix. ``rotations``: local FK of
    upper, lower and end bone. ``tail``: length of the lower bone where its tail is the end.
    """

    rig: Rig
    chain: ChainSetup
    number: int
    weight: float
    settings: tuple[float, float, float]
    target: tuple[float, ...]
    pole: tuple[float, ...]
    rotations: tuple[Quat, Quat, Quat]
    tail: float


class _Member(NamedTuple):
    """A rig with the chains that are solved together."""

    rig: Rig
    plan: Plan
    asked: list[_Asked]


class _Poses(NamedTuple):
    """Evaluated poses of all rigs, one row per bone and one more (the identity) per rig."""

    matrices: Floats
    locations: Floats
    scales: Floats


class _Fixed(NamedTuple):
    """Plans of all rigs in a row, see ``crowd_plan.Plan``; bones count through all rigs, from ``starts`` on."""

    starts: list[int]
    bones: Numbers
    parents: Numbers
    offsets: Floats
    has_end: rows.Mask
    hinges: Floats
    end_offsets: Floats


_Key = list[tuple[Plan, list[int]]]
_kept: list[tuple[_Key, _Fixed]] = []


class _Limbs(NamedTuple):
    """What ``batch`` is asked, and what turns its answers into local rotations; columns are limbs.

    Space: armature. ``frames``: upper, lower and end bone at zero local rotation, in FK; ``locals``: their local FK.
    ``is_even``: nothing above is scaled unevenly or mirrored. ``scale``: of the armature in the world.
    """

    batch: batch.Limbs
    frames: tuple[rows.Rows, rows.Rows, rows.Rows]
    locals: tuple[rows.Rows, rows.Rows, rows.Rows]
    target: rows.Rows
    weights: rows.Rows
    is_even: rows.Mask
    scale: rows.Rows


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
    free: dict[int, bool] = {}
    done: set[Node] = set()
    members = []
    for rig, plan in plans:
        if plan.chains and rig.state.world.determinant() > 0.0 and _is_free(rig.obj, free):
            asked = _ask(run, rig, plan, only, free, done)
            if asked:
                members.append(_Member(rig, plan, asked))
    if sum(len(member.asked) for member in members) >= FEWEST:
        done |= _solve_together(run, members)
    return done


def _is_free(obj: bpy.types.Object, known: dict[int, bool]) -> bool:
    """Whether an object hangs on no bone and by no constraint, at any depth: solving can't move it."""
    uid = obj.session_uid
    free = known.get(uid)
    if free is None:
        parent = obj.parent
        free = not len(obj.constraints) and (
            parent is None or (obj.parent_type != 'BONE' and _is_free(parent, known))
        )
        known[uid] = free
    return free


def _ask(
    run: Evaluation, rig: Rig, plan: Plan, only: Collection[Node] | None, free: dict[int, bool], done: set[Node]
) -> list[_Asked]:
    """What is asked of the plain chains of a rig; those without weight are done at once."""
    key, local, found = marks.key_of(rig.obj), rig.state.rotations, []
    originals: Any = rig.obj.pose.bones  # type: ignore[union-attr]
    turns_end, may_switch = plan.turns_end.tolist(), _may_switch(rig.obj, plan)
    for number, chain in enumerate(plan.chains):
        if only is not None and (key, chain.tip) not in only:
            continue
        upper, lower = chain.bones
        tip = rig.state.bones[lower]
        weight = _weight(run, rig, tip, chain, may_switch)
        if weight <= 0.0:
            run.readouts[key, chain.tip] = IDLE
            done.add((key, chain.tip))
            continue
        original = originals[lower]
        target = _target_rows(run, original.limb_ik_target, free, turns_end[number])
        pole = _pole_place(run, original.limb_ik_pole, free) if chain.pole_key is not None else NO_POLE
        if target and pole:
            settings = tip.limb_ik_pole_angle, tip.limb_ik_softness, tip.limb_ik_max_reach
            turns = local[upper], local[lower], local.get(chain.end, rotations.IDENTITY)
            tail = tip.bone.length if chain.end < 0 else 0.0
            found.append(_Asked(rig, chain, number, weight, settings, target, pole, turns, tail))
    return found


def _may_switch(obj: bpy.types.Object, plan: Plan) -> bool:
    """Whether ``use_ik`` of any of these chains may be keyed; asked once per rig, False is certain."""
    animation = obj.animation_data
    if animation is None:
        return False
    if nla.uses_strips(animation):
        return True
    curves = compat.fcurves_of(obj)
    return any(compat.find_in(curves, path) is not None for path in plan.switches)


def _weight(run: Evaluation, rig: Rig, tip: Any, chain: ChainSetup, may_switch: bool) -> float:
    if may_switch:
        return solve_chain.effective_weight(run, rig.obj, tip, chain)
    return float(tip.limb_ik_weight) if tip.limb_ik_use_ik else 0.0


def _target_rows(
    run: Evaluation, obj: bpy.types.Object, free: dict[int, bool], is_turning: bool
) -> tuple[float, ...]:
    """Three rows of the target's matrix (its place alone where it turns nothing); none where solving might move it."""
    if not _is_free(obj, free):
        return ()
    matrix: Any = obj.evaluated_get(run.depsgraph).matrix_world
    if is_turning:
        return (*matrix[0], *matrix[1], *matrix[2])
    x, y, z = matrix.translation
    return (1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z)


def _pole_place(run: Evaluation, obj: bpy.types.Object, free: dict[int, bool]) -> tuple[float, ...]:
    """Where the pole is; none where solving might move it."""
    return tuple(obj.evaluated_get(run.depsgraph).matrix_world.translation) if _is_free(obj, free) else ()


def _solve_together(run: Evaluation, members: Sequence[_Member]) -> set[Node]:
    limbs = _read(members)
    posed = batch.solve(limbs.batch)
    is_done = (posed.is_ordinary & limbs.is_even).tolist()
    turns = [part.T.tolist() for part in _local_rotations(members, limbs, posed)]
    readouts = _readouts(members, limbs, posed)
    done = set()
    for index, one in enumerate(one for member in members for one in member.asked):
        if is_done[index]:
            _turn(one, [tuple(part[index]) for part in turns])
            node = marks.key_of(one.rig.obj), one.chain.tip
            run.readouts[node] = readouts[index]
            done.add(node)
    return done


def _turn(one: _Asked, turns: Sequence[Any]) -> None:
    bones = [*one.chain.bones, *((one.chain.end,) if one.chain.end_rotation == 'TARGET' and one.chain.end >= 0 else ())]
    for bone, turn in zip(bones, turns, strict=False):
        one.rig.state.turn(bone, turn)
        one.rig.turned.add(bone)


def _fixed(members: Sequence[_Member]) -> _Fixed:
    """What stays from frame to frame while the same chains of the same set-ups are solved; kept for the last ones."""
    key = [(member.plan, [one.number for one in member.asked]) for member in members]
    if len(_kept) != 1 or not _is_same_key(_kept[0][0], key):
        starts = _starts(members)
        pick = [(plan, numbers, start) for (plan, numbers), start in zip(key, starts, strict=False)]
        _kept[:] = [(key, _Fixed(
            starts=starts,
            bones=np.concatenate([plan.bones[numbers] + start for plan, numbers, start in pick]),
            parents=np.concatenate([plan.parents[numbers] + start for plan, numbers, start in pick]),
            offsets=np.concatenate([plan.offsets[numbers] for plan, numbers, _ in pick]),
            has_end=np.concatenate([plan.has_end[numbers] for plan, numbers, _ in pick]),
            hinges=np.concatenate([plan.hinges[numbers] for plan, numbers, _ in pick]).T,
            end_offsets=np.concatenate([plan.end_offsets[numbers] for plan, numbers, _ in pick]).T,
        ))]  # fmt: skip
    return _kept[0][1]


def _is_same_key(old: _Key, new: _Key) -> bool:
    return len(old) == len(new) and all(a[0] is b[0] and a[1] == b[1] for a, b in zip(old, new, strict=True))


def _starts(members: Sequence[_Member]) -> list[int]:
    """First row of each rig among all bones; every rig has one row more, the identity, and the last number is the end."""
    return list(itertools.accumulate((len(member.rig.setup.names) + 1 for member in members), initial=0))


def _read(members: Sequence[_Member]) -> _Limbs:
    """Everything as arrays. The FK pose is built up in doubles from the bone above the limb."""
    fixed, asked = _fixed(members), [one for member in members for one in member.asked]
    poses, bones, offsets = _read_poses(members, fixed.starts), fixed.bones, fixed.offsets
    turns = np.array([[*a, *b, *c] for a, b, c in (one.rotations for one in asked)]).reshape(-1, 3, 4)
    bases = _bases(poses.locations[bones], turns, poses.scales[bones])
    upper_frame = poses.matrices[fixed.parents] @ offsets[:, 0]
    upper = upper_frame @ bases[:, 0]
    lower_frame = upper @ offsets[:, 1]
    lower = lower_frame @ bases[:, 1]
    end_frame = lower @ offsets[:, 2]
    tails = lower[:, :3, 1] * np.array([one.tail for one in asked])[:, None] + lower[:, :3, 3]
    ends = np.where(fixed.has_end[:, None], (end_frame @ bases[:, 2])[:, :3, 3], tails)
    worlds = np.repeat(_worlds(members), [len(member.asked) for member in members], axis=0)
    to_arm, origins = _inverse(worlds[:, :3, :3]), worlds[:, :3, 3]
    targets = np.array([one.target for one in asked]).reshape(-1, 3, 4)
    places = np.stack([targets[:, :, 3], np.array([one.pole for one in asked])], axis=2) - origins[:, :, None]
    places_arm = to_arm @ places
    scale = np.sqrt((worlds[:, :3, :3] ** 2).sum(axis=1)).mean(axis=1)
    turns_rows = turns.transpose(1, 2, 0)
    count = len(asked)
    frames = np.concatenate([upper_frame[:, :3, :3], lower_frame[:, :3, :3], end_frame[:, :3, :3], to_arm @ targets[:, :, :3]])
    with np.errstate(all="ignore"):
        quats = np.split(rows.from_matrices(frames), 4, axis=1)
        target_quat = quats.pop()
        is_even = _is_even(frames[: 3 * count]).reshape(3, count).all(axis=0)
        is_even &= (np.linalg.det(frames[3 * count :]) > 0.0) & (poses.scales[bones] != 0.0).all(axis=(1, 2))
    pole_angle, softness, max_reach = np.array([one.settings for one in asked]).T
    limbs = batch.Limbs(
        root=upper[:, :3, 3].T,
        mid=lower[:, :3, 3].T,
        end=ends.T,
        fk=rows.multiply(quats[0], turns_rows[0]),
        hinge=fixed.hinges,
        target=places_arm[:, :, 0].T,
        pole=places_arm[:, :, 1].T,
        pole_angle=pole_angle,
        softness=softness,
        max_reach=max_reach,
        origin_distance=np.linalg.norm(origins, axis=1) / scale,
    )
    weights = np.array([one.weight for one in asked])
    wanted = rows.multiply(target_quat, fixed.end_offsets)
    return _Limbs(limbs, tuple(quats), tuple(turns_rows), wanted, weights, is_even, scale)  # type: ignore[arg-type]


def _read_poses(members: Sequence[_Member], starts: list[int]) -> _Poses:
    matrices = np.empty((starts[-1], 16), np.float32)
    locations, scales = np.zeros((starts[-1], 3), np.float32), np.ones((starts[-1], 3), np.float32)
    for member, start, after in zip(members, starts, starts[1:], strict=False):
        bones = member.rig.state.bones
        for name, values in (("matrix", matrices), ("location", locations), ("scale", scales)):
            bones.foreach_get(name, values[start : after - 1].reshape(-1))
        matrices[after - 1] = IDENTITY_ROW
    columns = matrices.astype(np.float64).reshape(-1, 4, 4)
    return _Poses(columns.transpose(0, 2, 1), locations.astype(np.float64), scales.astype(np.float64))


def _bases(locations: Floats, turns: Floats, scales: Floats) -> Floats:
    """Matrices of local location, rotation and scale; any leading axes."""
    w, x, y, z = np.moveaxis(turns, -1, 0)
    found = np.zeros((*turns.shape[:-1], 4, 4))
    found[..., 0, :3] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=-1)
    found[..., 1, :3] = np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=-1)
    found[..., 2, :3] = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)
    found[..., :3, :3] *= scales[..., None, :]
    found[..., :3, 3] = locations
    found[..., 3, 3] = 1.0
    return found


def _worlds(members: Sequence[_Member]) -> Floats:
    flat = [[*w[0], *w[1], *w[2], *w[3]] for w in (member.rig.state.world for member in members)]
    return np.array(flat).reshape(-1, 4, 4)


def _inverse(matrices: Floats) -> Floats:
    """Inverse of 3 x 3 matrices: a fiftieth of the time that LAPACK takes for many small ones. None is singular."""
    x, y, z = matrices.transpose(2, 1, 0)
    adjugate = np.stack([rows.cross(y, z), rows.cross(z, x), rows.cross(x, y)])
    return (adjugate / rows.dot(x, adjugate[0])).transpose(2, 0, 1)


def _is_even(columns: Floats) -> rows.Mask:
    """As ``spaces.shear``, whether within ``NON_UNIFORM``; and not mirrored."""
    products = columns.transpose(0, 2, 1) @ columns
    squares = products[:, (0, 1, 2), (0, 1, 2)]
    skew = products[:, (0, 0, 1), (1, 2, 2)] ** 2 / (squares[:, (0, 0, 1)] * squares[:, (1, 2, 2)])
    is_round = 1.0 - np.sqrt(squares.min(axis=1) / squares.max(axis=1)) <= posed_chain.NON_UNIFORM
    return is_round & (skew.max(axis=1) <= posed_chain.NON_UNIFORM**2) & (np.linalg.det(columns) > 0.0)


def _local_rotations(
    members: Sequence[_Member], limbs: _Limbs, posed: batch.Posed
) -> tuple[rows.Rows, rows.Rows, rows.Rows]:
    """Local rotations of upper, lower and end bone, blended from FK, parents first: as ``solve_chain`` turns them."""
    upper_frame, lower_frame, end_frame = limbs.frames
    upper_fk = rows.multiply(upper_frame, limbs.locals[0])
    lower_fk = rows.multiply(lower_frame, limbs.locals[1])
    upper = rows.multiply(rows.conjugate(upper_frame), rows.multiply(posed.upper, upper_fk))
    carried = rows.multiply(posed.upper, lower_frame)
    lower = rows.multiply(rows.conjugate(carried), rows.multiply(posed.lower, lower_fk))
    upper, lower = _blended(limbs.locals[0], upper, limbs.weights), _blended(limbs.locals[1], lower, limbs.weights)
    upper_turn = rows.multiply(rows.multiply(upper_frame, upper), rows.conjugate(upper_fk))
    lower_now = rows.multiply(rows.multiply(upper_turn, lower_frame), lower)
    end_now = rows.multiply(rows.multiply(lower_now, rows.conjugate(lower_fk)), end_frame)
    wanted = _blended(rows.multiply(end_frame, limbs.locals[2]), limbs.target, limbs.weights)
    return upper, lower, rows.normalized(rows.multiply(rows.conjugate(end_now), wanted))


def _blended(fk: rows.Rows, ik: rows.Rows, weights: rows.Rows) -> rows.Rows:
    """Where the weight is not full, ``blending.blend`` of that limb."""
    ik = rows.normalized(ik)
    for number in np.flatnonzero(weights < 1.0):
        ik[:, number] = blending.blend(tuple(fk[:, number]), tuple(ik[:, number]), float(weights[number]))
    return ik


def _readouts(members: Sequence[_Member], limbs: _Limbs, posed: batch.Posed) -> list[Readout]:
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
            found.append(_worded(one, posed, number, float(limbs.batch.origin_distance[number])))
    return found


def _worded(one: _Asked, posed: batch.Posed, number: int, origin_distance: float) -> Readout:
    status, reason = batch.outcome(posed, number, origin_distance)
    return solve_chain._readout(one.rig, one.chain, Solution((), status, float(posed.error[number]), reason))
