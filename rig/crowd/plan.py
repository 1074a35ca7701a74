"""Which chains of a rig are plain two-bone limbs, and their numbers as arrays.

Read from the set-up alone, once per set-up. Plain: two bones, the end below the
second, twist bones in between or none, every bone inheriting everything, nothing limited, driven or constrained, no
solved bone above. ``crowd`` solves them together; all others go one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ...solvers import rotations, vectors
from ...solvers.chain import JointKind
from ...solvers.rotations import Quat
from .. import spaces
from ..bone_rows import line_above
from ..chains import ChainSetup, RigSetup

Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]
PLAIN_ENDS = {'KEEP_LOCAL', 'KEEP_FK', 'TARGET'}


@dataclass(frozen=True, slots=True)
class Plan:
    """The plain chains of a rig. First axis: chains.

    ``has_pole``; ``reaches_objects``: no target or pole is a bone. ``bones``: upper, lower, end (of a chain without
    end bone: its lower again); ``parents``: of the upper bone, or the number of bones of the rig where it has none.
    ``offsets``: rest matrix of upper, lower and end in the parent's rest space. ``is_connected``: bones whose
    location Blender ignores. ``carriers``: parents of lower and end bone; ``is_direct``: whether those are the upper
    and the lower bone. ``has_end``; ``turns_end``: whether the solve turns it, ``keeps_end``: as FK has it.
    ``hinges``: unit, root bone's local space; ``end_offsets``: quaternions, ``limb_ik_end_offset``. ``is_offset``: in
    FK space; ``rests``: places of target and pole at set-up, ``rest_turns``: the target's, inverted. ``held``: bones
    whose FK the rig keeps.
    """

    chains: tuple[ChainSetup, ...]
    has_pole: tuple[bool, ...]
    reaches_objects: bool
    bones: Numbers
    parents: Numbers
    offsets: Floats
    is_connected: NDArray[np.bool_]
    carriers: Numbers
    is_direct: NDArray[np.bool_]
    has_end: NDArray[np.bool_]
    turns_end: NDArray[np.bool_]
    hinges: Floats
    end_offsets: Floats
    keeps_end: NDArray[np.bool_]
    is_offset: NDArray[np.bool_]
    rests: Floats
    rest_turns: Floats
    held: Numbers


_plans: dict[int, tuple[RigSetup, Plan]] = {}


def plan_of(uid: int, setup: RigSetup) -> Plan:
    """The plan of a rig (by its session number), made anew where its set-up was."""
    known = _plans.get(uid)
    if known is None or known[0] is not setup:
        known = _plans[uid] = setup, make_plan(setup)
    return known[1]


def make_plan(setup: RigSetup) -> Plan:
    """The plan of a set-up, not kept."""
    turned = {bone for chain in setup.chains for bone in (*chain.turned, *_turned_end(chain))}
    chains = tuple(chain for chain in setup.chains if _is_plain(setup, chain, turned))
    bones = np.array([(*chain.turned, _end(chain)) for chain in chains], dtype=np.intp).reshape(-1, 3)
    parents = [setup.parents[chain.bones[0]] for chain in chains]
    carriers = np.array([_carriers(setup, chain) for chain in chains], dtype=np.intp).reshape(-1, 2)
    hinges = [vectors.unit(vectors.as_vec(chain.bend_axis)) for chain in chains]
    return Plan(
        chains=chains,
        has_pole=tuple(one.pole_key is not None for one in chains),
        reaches_objects=not any(key[1] for one in chains for key in (one.target_key, one.pole_key) if key is not None),
        bones=bones,
        parents=np.array([len(setup.names) if one < 0 else one for one in parents], dtype=np.intp),
        offsets=np.array([[setup.offsets[bone] for bone in row] for row in bones], np.float64).reshape(-1, 3, 4, 4),
        is_connected=np.array([[setup.is_connected[bone] for bone in row] for row in bones], np.bool_).reshape(-1, 3),
        carriers=carriers,
        is_direct=carriers == bones[:, :2],
        has_end=np.array([chain.end >= 0 for chain in chains], dtype=np.bool_),
        turns_end=np.array([bool(_turned_end(chain)) for chain in chains], dtype=np.bool_),
        hinges=np.array([vectors.UNIT_X if one == vectors.ZERO else one for one in hinges]).reshape(-1, 3),
        end_offsets=np.array([rotations.as_quat(chain.end_offset) for chain in chains]).reshape(-1, 4),
        keeps_end=np.array([chain.end_rotation == 'KEEP_FK' for chain in chains], dtype=np.bool_),
        is_offset=np.array([chain.target_space == 'FK' for chain in chains], dtype=np.bool_),
        rests=np.array([_rest_places(chain) for chain in chains]).reshape(-1, 2, 3),
        rest_turns=np.array([_rest_turn(chain) for chain in chains]).reshape(-1, 4),
        held=np.array(setup.held, dtype=np.intp),
    )


def _carriers(setup: RigSetup, chain: ChainSetup) -> tuple[int, int]:
    return setup.parents[chain.turned[1]], setup.parents[chain.end] if chain.end >= 0 else chain.turned[1]


def _rest_places(chain: ChainSetup) -> tuple[Vector, Vector]:
    return chain.target_rest.translation, chain.pole_rest.translation


def _rest_turn(chain: ChainSetup) -> Quat:
    """What takes the target's orientation at set-up away, in FK space."""
    is_asked = _counts_turn(chain)
    return rotations.conjugate(rotations.from_matrix(chain.target_rest)) if is_asked else rotations.IDENTITY


def _counts_turn(chain: ChainSetup) -> bool:
    return chain.target_space == 'FK' and chain.end_rotation == 'TARGET'


def _end(chain: ChainSetup) -> int:
    return chain.end if chain.end >= 0 else chain.bones[-1]


def _turned_end(chain: ChainSetup) -> tuple[int, ...]:
    return (chain.end,) if chain.end >= 0 and chain.end_rotation != 'KEEP_LOCAL' else ()


def _is_plain(setup: RigSetup, chain: ChainSetup, turned: set[int]) -> bool:
    return (
        chain.solver == 'TWO_BONE'
        and not chain.problem
        and not chain.is_muted
        and not chain.note
        and not chain.loose
        and len(chain.turned) == 2
        and chain.target_key is not None
        and chain.ground_key is None
        and chain.end_rotation in PLAIN_ENDS
        and (not _counts_turn(chain) or spaces.orientation(chain.target_rest) is not None)
        and not (chain.use_limits and any(one.kind != JointKind.FREE for one in chain.limits))
        and _has_plain_bones(setup, chain, turned)
        and not _has_turned_above(setup, chain.bones[0], turned)
    )


def _has_plain_bones(setup: RigSetup, chain: ChainSetup, turned: set[int]) -> bool:
    """Whether the bones from upper to end inherit everything, nothing else moves them, and no other chain does."""
    bones = set(chain.bones)
    if chain.end >= 0:
        below = _from_to(setup, chain.bones[-1], chain.end)
        if not below:
            return False
        bones.update(below)
    between = bones - {*chain.turned, _end(chain)}
    return (
        all(setup.is_plain[bone] for bone in bones)
        and not bones & (setup.is_constrained | setup.driven)
        and not between & turned
    )


def _from_to(setup: RigSetup, top: int, bone: int) -> list[int]:
    """The bones from below ``top`` to ``bone``; none where it isn't below."""
    found = []
    while bone != top:
        if bone < 0:
            return []
        found.append(bone)
        bone = setup.parents[bone]
    return found


def _has_turned_above(setup: RigSetup, bone: int, turned: set[int]) -> bool:
    return any(above in turned for above in line_above(setup.parents, setup.parents[bone]))
