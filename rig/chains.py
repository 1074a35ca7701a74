"""A rig's chains as they were set up: read once from the pose bones, checked, kept until marked.

Settings that can be animated are not here; they are read from the evaluated pose
at each solve. Holds names and numbers only, never references to Blender's data.
This module must not solve or write a pose.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..solvers import joint_limits, rotations
from ..solvers.bend_plane import rest_bend_axis
from ..solvers.chain import JointKind, JointLimits
from . import constrained, dependency, marks, migrate
from .loose import Loose, loose_of
from .session import pose_bones

AXES = {
    'X': Vector((1.0, 0.0, 0.0)),
    'Y': Vector((0.0, 1.0, 0.0)),
    'Z': Vector((0.0, 0.0, 1.0)),
    'NEG_X': Vector((-1.0, 0.0, 0.0)),
    'NEG_Y': Vector((0.0, -1.0, 0.0)),
    'NEG_Z': Vector((0.0, 0.0, -1.0)),
}
# Settings on the tip bone that make up a chain; joint limits stay with their bones.
CHAIN_SETTINGS = (
    "solver", "chain_length", "end_bone", "target", "target_bone", "pole", "pole_bone", "target_space", "target_rest",
    "pole_rest", "pole_angle", "bend_axis", "use_ik", "weight", "blend_time", "mute", "softness", "max_reach",
    "end_rotation", "end_offset", "iterations", "tolerance", "use_warm_start", "use_limits", "look_axis", "up_axis",
    "ground", "ground_amount", "ground_floor", "root", "made_target", "made_pole",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChainSetup:
    """One chain as set up. Bone numbers are indices into the rig's ``names``.

    ``bones``: all from root to tip; ``turned``: those that the solver turns;
    ``end``: the end bone or -1 for the tail of the tip. ``problem``: why the chain
    can't be solved, empty where it can. ``loose``: what it hangs on that looks at bones.
    """

    tip: str
    solver: str
    bones: tuple[int, ...]
    turned: tuple[int, ...]
    end: int
    target_key: tuple[marks.Key, str] | None
    pole_key: tuple[marks.Key, str] | None
    target_space: str
    target_rest: Matrix
    pole_rest: Matrix
    bend_axis: Vector
    blend_time: float
    is_muted: bool
    end_rotation: str
    end_offset: tuple[float, float, float, float]
    iterations: int
    tolerance: float
    use_warm_start: bool
    use_limits: bool
    look_axis: Vector
    up_axis: Vector
    limits: tuple[JointLimits, ...]
    shares: tuple[float, ...]
    loose: tuple[Loose, ...] = ()
    ground_key: tuple[marks.Key, str] | None = None
    ground_amount: float = 1.0
    ground_floor: float = 0.0
    problem: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class RigSetup:
    """An armature as its chains need it.

    ``offsets``: rest matrix of each bone in its parent's rest space (of roots: armature
    space). ``is_plain``: the bone inherits everything, so pose = parent · offset ·
    basis. ``is_constrained``: something beside its own channels may move the bone: ``holds``.
    ``driven``: a driver holds its rotation. ``held``: the bones that chains turn, and those whose FK is stored
    since one did.
    """

    names: tuple[str, ...]
    index: dict[str, int]
    parents: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    offsets: tuple[Matrix, ...]
    is_plain: tuple[bool, ...]
    is_constrained: frozenset[int]
    driven: frozenset[int]
    chains: tuple[ChainSetup, ...]
    held: tuple[int, ...]
    holds: constrained.Holds = field(default_factory=dict)


# What is known of a rig that was changed in edit mode: its pose bones have no bone to read until that ends (measured).
UNREAD = RigSetup((), {}, (), (), (), (), frozenset(), frozenset(), (), ())

_setups: dict[int, RigSetup] = {}


def _listen(obj: bpy.types.Object | None) -> None:
    if obj is None:
        _setups.clear()
    else:
        _setups.pop(obj.session_uid, None)


marks.on_change(_listen)


def setup_of(obj: bpy.types.Object) -> RigSetup:
    """The set-up of a rig; read from its bones where it was marked since the last time."""
    setup = _setups.get(obj.session_uid)
    if setup is None and obj.mode == 'EDIT':
        return UNREAD
    if setup is None:
        migrate.up_to_date(obj)
        dependency.follow_renames(obj)
        setup = _setups[obj.session_uid] = read_setup(obj)
    return setup


def known_setup(obj: bpy.types.Object) -> RigSetup | None:
    """The set-up as it was last read, None where it has to be read anew; writes nothing, for redraws."""
    return _setups.get(obj.session_uid)


def chain_of(obj: bpy.types.Object, tip: str) -> ChainSetup:
    """The chain that ends at a bone.

    Raises:
        StopIteration: there is none.
    """
    return next(chain for chain in setup_of(obj).chains if chain.tip == tip)


def tips(obj: bpy.types.Object) -> list[str]:
    """Names of the bones at which chains end, those nearest the armature's root first."""
    found = dependency.tips_of(obj)
    return [bone.name for bone in sorted(found, key=lambda bone: len(bone.parent_recursive))]


def read_setup(obj: bpy.types.Object) -> RigSetup:
    """Read and check all chains of a rig from the original object."""
    bones = pose_bones(obj)
    names = tuple(bone.name for bone in bones)
    index = {name: number for number, name in enumerate(names)}
    parents = tuple(index[bone.parent.name] if bone.parent else -1 for bone in bones)
    children: list[list[int]] = [[] for _ in names]
    for number, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(number)
    holds = constrained.holds_of(obj, bones, index)
    found = [_read_chain(obj, bone, index, holds) for bone in dependency.tips_of(obj)]
    driven = _driven_bones(obj, index)
    return RigSetup(
        names=names,
        index=index,
        parents=parents,
        children=tuple(tuple(row) for row in children),
        offsets=_offsets(obj, parents),
        is_plain=tuple(_is_plain(bone.bone) for bone in bones),
        is_constrained=frozenset(holds),
        driven=driven,
        chains=tuple(_refuse_shared(found, parents)),
        held=tuple(sorted(_held(obj, found) - driven)),
        holds=holds,
    )


def _held(obj: bpy.types.Object, found: list[ChainSetup]) -> set[int]:
    held = {number for number, bone in enumerate(pose_bones(obj)) if bone.limb_ik_store_mode}
    for chain in found:
        held.update(chain.turned)
        if chain.end >= 0 and chain.end_rotation != 'KEEP_LOCAL':
            held.add(chain.end)
    return held


def _offsets(obj: bpy.types.Object, parents: tuple[int, ...]) -> tuple[Matrix, ...]:
    rest = np.array([bone.bone.matrix_local for bone in pose_bones(obj)], dtype=np.float64)
    found = [rest[i] if parent < 0 else _inverse(rest[parent]) @ rest[i] for i, parent in enumerate(parents)]
    return tuple(Matrix(matrix.tolist()) for matrix in found)


def _inverse(rest: Any) -> Any:
    """Of a bone without length, which 5.3 keeps, the nearest thing to an inverse: its axes can be zero."""
    try:
        return np.linalg.inv(rest)
    except np.linalg.LinAlgError:
        return np.linalg.pinv(rest)


def _is_plain(bone: bpy.types.Bone) -> bool:
    return bone.use_inherit_rotation and bone.inherit_scale == 'FULL' and bone.use_local_location


def _driven_bones(obj: bpy.types.Object, index: dict[str, int]) -> frozenset[int]:
    if obj.animation_data is None:
        return frozenset()
    found = set()
    for curve in obj.animation_data.drivers:
        head, bracket, rest = curve.data_path.partition('pose.bones["')
        name, _, channel = rest.rpartition('"].')
        if not head and bracket and channel.startswith("rotation_") and not curve.mute:
            found.add(index.get(bpy.utils.unescape_identifier(name), -1))
    return frozenset(found - {-1})


def _link(target: bpy.types.Object | None, bone_name: str) -> tuple[marks.Key, str] | None:
    if target is None or _target_problem("", target, bone_name):
        return None
    return marks.key_of(target), bone_name


def _read_chain(obj: bpy.types.Object, tip: Any, index: dict[str, int], holds: constrained.Holds) -> ChainSetup:
    row = [tip, *tip.parent_recursive]
    count = tip.limb_ik_chain_length or len(row)
    bones = list(reversed(row[:count]))
    turned = [bones[0], bones[-1]] if tip.limb_ik_solver == 'TWO_BONE' and len(bones) > 1 else bones
    chain = ChainSetup(
        tip=tip.name,
        solver=tip.limb_ik_solver,
        bones=tuple(index[bone.name] for bone in bones),
        turned=tuple(index[bone.name] for bone in turned),
        end=index.get(tip.limb_ik_end_bone, -1),
        target_key=_link(tip.limb_ik_target, tip.limb_ik_target_bone),
        pole_key=_link(tip.limb_ik_pole, tip.limb_ik_pole_bone),
        target_space=tip.limb_ik_target_space,
        target_rest=matrix_from(tip.limb_ik_target_rest),
        pole_rest=matrix_from(tip.limb_ik_pole_rest),
        bend_axis=_bend_axis(tip, turned),
        blend_time=tip.limb_ik_blend_time,
        is_muted=tip.limb_ik_mute,
        end_rotation=tip.limb_ik_end_rotation,
        end_offset=tuple(tip.limb_ik_end_offset),
        iterations=tip.limb_ik_iterations,
        tolerance=tip.limb_ik_tolerance,
        use_warm_start=tip.limb_ik_use_warm_start,
        use_limits=tip.limb_ik_use_limits,
        look_axis=AXES[tip.limb_ik_look_axis],
        up_axis=AXES[tip.limb_ik_up_axis],
        limits=tuple(limits_of(bone) for bone in turned),
        shares=tuple(bone.limb_ik_joint_share for bone in turned),
        ground_key=_link(tip.limb_ik_ground, ""),
        ground_amount=tip.limb_ik_ground_amount,
        ground_floor=tip.limb_ik_ground_floor,
        loose=loose_of(tip, bones),
    )
    problem = migrate.problem(obj) or _length_problem(tip, count, len(row)) or _problem(obj, tip, turned, chain, holds)
    return replace(chain, problem=problem)


def _bend_axis(tip: Any, turned: list[Any]) -> Vector:
    """The stored hinge; where none is stored the rest bend's, in the root bone's local space."""
    stored = Vector(tip.limb_ik_bend_axis)
    if stored.length > 0.0 or len(turned) < 2:
        return stored
    end = tip.id_data.pose.bones.get(tip.limb_ik_end_bone)
    end_point = end.bone.head_local if end is not None else tip.bone.tail_local
    root, mid = turned[0].bone, turned[1].bone
    orientation = rotations.from_matrix(root.matrix_local)
    axis = rest_bend_axis(tuple(root.head_local), tuple(mid.head_local), tuple(end_point), orientation)
    return Vector(axis)


def matrix_from(values: Any) -> Matrix:
    """A 4 × 4 matrix from the 16 numbers of a property, row by row."""
    flat = tuple(values)
    return Matrix((flat[0:4], flat[4:8], flat[8:12], flat[12:16]))


def matrix_values(matrix: Matrix) -> tuple[float, ...]:
    """The 16 numbers that a property keeps of a matrix, row by row."""
    return tuple(value for row in matrix for value in row)


def limits_of(bone: Any) -> JointLimits:
    """The joint limits of a pose bone as the solvers take them."""
    return JointLimits(
        kind=JointKind(bone.limb_ik_joint_kind),
        hinge_axis=tuple(bone.limb_ik_joint_hinge_axis),
        min_angle=bone.limb_ik_joint_min_angle,
        max_angle=bone.limb_ik_joint_max_angle,
        swing_x_min=bone.limb_ik_joint_swing_x_min,
        swing_x_max=bone.limb_ik_joint_swing_x_max,
        swing_z_min=bone.limb_ik_joint_swing_z_min,
        swing_z_max=bone.limb_ik_joint_swing_z_max,
        twist_min=bone.limb_ik_joint_twist_min,
        twist_max=bone.limb_ik_joint_twist_max,
    )


def _length_problem(tip: Any, count: int, available: int) -> str:
    if count > available:
        bones = "bone" if available == 1 else "bones"
        return f"chain of {count} is longer than the {available} {bones} from '{tip.name}' up"
    if count < 2 and tip.limb_ik_solver in {'TWO_BONE', 'LEG'}:
        return "two bones are needed, the chain has one"
    if tip.limb_ik_root and tip.limb_ik_root != dependency.root_name(tip):
        return f"chain changed: it began at '{tip.limb_ik_root}'"
    return ""


def _problem(
    obj: bpy.types.Object, tip: Any, turned: list[Any], chain: ChainSetup, holds: constrained.Holds
) -> str:
    if tip.limb_ik_end_bone and chain.end < 0:
        return f"end bone '{tip.limb_ik_end_bone}' is missing"
    if chain.end >= 0 and tip.limb_ik_end_bone in {tip.name, *(bone.name for bone in tip.parent_recursive)}:
        return f"end bone '{tip.limb_ik_end_bone}' is part of the chain or above it"
    for number, bone in zip(chain.turned, turned, strict=True):
        if words := constrained.always_acting(holds.get(number, ()), pose_bones(obj)):
            return words
        if reason := joint_limits.is_valid(limits_of(bone)):
            return f"limits of '{bone.name}': {reason}"
    if tip.limb_ik_ground is not None and (words := _target_problem("ground", tip.limb_ik_ground, "")):
        return words
    return _target_problem("target", tip.limb_ik_target, tip.limb_ik_target_bone)


def is_in_a_scene(obj: bpy.types.Object) -> bool:
    """Whether any scene holds the object; a deleted one may live on because something points to it."""
    return any(_holds(scene.objects, obj) for scene in bpy.data.scenes)


def _holds(objects: Any, obj: bpy.types.Object) -> bool:
    found = objects.get(obj.name)
    return found == obj or (found is not None and obj in objects[:])  # an override is called like what it overrides


def _target_problem(role: str, target: bpy.types.Object | None, bone_name: str) -> str:
    if target is None:
        return f"no {role}"
    if not is_in_a_scene(target):
        return f"{role} '{target.name}' is in no scene"
    if bone_name and (target.pose is None or bone_name not in target.pose.bones):
        return f"{role} bone '{bone_name}' is missing in '{target.name}'"
    return ""


def _refuse_shared(found: list[ChainSetup], parents: tuple[int, ...]) -> list[ChainSetup]:
    """One chain turns a bone: of two that would, the one with the deeper tip can't be solved. A muted one doesn't."""

    def depth(bone: int) -> int:
        return 0 if bone < 0 else 1 + depth(parents[bone])

    owners: dict[int, str] = {}
    checked = {}
    for chain in sorted(found, key=lambda chain: depth(chain.bones[-1])):
        taken = next((owners[bone] for bone in chain.turned if bone in owners), "")
        if not chain.problem and taken:
            chain = replace(chain, problem=f"a bone of it is turned by the chain of '{taken}'")
        if not chain.problem and not chain.is_muted:
            owners.update(dict.fromkeys(chain.turned, chain.tip))
        checked[chain.tip] = chain
    return [checked[chain.tip] for chain in found]
