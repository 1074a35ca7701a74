"""Reading a rig's chains from its pose bones and its armature at rest.

Settings that can be animated are not read here, but from the evaluated pose at each
solve. This module must not keep what it read, nor change anything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
from mathutils import Vector

from ..solvers import rotations
from ..solvers.bend_plane import rest_bend_axis
from . import chain_problems, constrained, dependency, fk_pose, marks
from .bone_rows import row_of
from .chain_setup import AXES, ChainSetup, RigSetup, limits_of, matrix_from
from .data_paths import split_bone_path
from .loose import loose_of
from .rest_bones import rest_bones
from .session import pose_bones


def read_setup(obj: bpy.types.Object) -> RigSetup:
    """Read and check all chains of a rig from the original object."""
    bones, rest = pose_bones(obj), rest_bones(obj)
    children: list[list[int]] = [[] for _ in rest.names]
    for number, parent in enumerate(rest.parents):
        if parent >= 0:
            children[parent].append(number)
    constraints = constrained.constraints_on(obj, bones, rest.index)
    found = [_read_chain(obj, bone, rest.index, constraints) for bone in dependency.tips_of(obj)]
    driven = _driven_bones(obj, rest.index)
    return RigSetup(
        names=rest.names,
        index=rest.index,
        parents=rest.parents,
        children=tuple(tuple(row) for row in children),
        offsets=rest.offsets,
        is_plain=rest.is_plain,
        is_connected=rest.is_connected,
        is_constrained=frozenset(constraints),
        driven=driven,
        chains=tuple(chain_problems.refuse_shared(found, rest.parents)),
        held=tuple(sorted((_turned(found) - driven).union(fk_pose.stored_bones(bones)))),
        constraints=constraints,
    )


def _turned(found: list[ChainSetup]) -> set[int]:
    turned = set[int]()
    for chain in found:
        turned.update(chain.turned)
        if chain.end >= 0 and chain.end_rotation != 'KEEP_LOCAL':
            turned.add(chain.end)
    return turned


def _driven_bones(obj: bpy.types.Object, index: dict[str, int]) -> frozenset[int]:
    if obj.animation_data is None:
        return frozenset()
    found = set()
    for curve in obj.animation_data.drivers:
        name, channel = split_bone_path(curve.data_path)
        if channel.startswith("rotation_") and not curve.mute:
            found.add(index.get(name, -1))
    return frozenset(found - {-1})


def _link(target: bpy.types.Object | None, bone_name: str) -> marks.Link | None:
    if target is None or chain_problems.target_problem("", target, bone_name):
        return None
    return marks.key_of(target), bone_name


def _read_chain(
    obj: bpy.types.Object, tip: Any, index: dict[str, int], constraints: constrained.ConstraintsOn
) -> ChainSetup:
    bones = row_of(tip)[::-1]
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
        note=_pole_note(tip),
    )
    return replace(chain, problem=chain_problems.problem_of(obj, tip, turned, chain, constraints))


def _pole_note(tip: Any) -> str:
    """What to say of a pole that is set but can't be found: the limb bends to FK's side then."""
    if tip.limb_ik_pole is None:
        return ""
    return chain_problems.target_problem("pole", tip.limb_ik_pole, tip.limb_ik_pole_bone)


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
