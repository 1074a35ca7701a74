"""Which chains of a rig are plain two-bone limbs, and their numbers as arrays.

Read from the set-up alone, once per set-up. Plain: two bones, the end a child of the
second, every bone inheriting everything, nothing limited, driven or constrained, no
solved bone above. ``crowd`` solves them together; all others go one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ..solvers import rotations, vectors
from ..solvers.chain import JointKind
from .chains import ChainSetup, RigSetup

Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan:
    """The plain chains of a rig. First axis: chains. ``switches``: data paths of their ``use_ik``.

    ``bones``: upper, lower, end (of a chain without end bone: its lower again); ``parents``: of the upper bone, or the
    number of bones of the rig where it has none. ``offsets``: rest matrix of upper, lower and end in the parent's rest
    space. ``has_end``; ``hinges``: unit, root bone's local space; ``end_offsets``: quaternions, ``limb_ik_end_offset``.
    """

    chains: tuple[ChainSetup, ...]
    switches: tuple[str, ...]
    bones: Numbers
    parents: Numbers
    offsets: Floats
    has_end: NDArray[np.bool_]
    turns_end: NDArray[np.bool_]
    hinges: Floats
    end_offsets: Floats


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
    hinges = [vectors.unit(vectors.as_vec(chain.bend_axis)) for chain in chains]
    return Plan(
        chains=chains,
        switches=tuple(f'pose.bones["{bpy.utils.escape_identifier(one.tip)}"].limb_ik_use_ik' for one in chains),
        bones=bones,
        parents=np.array([len(setup.names) if one < 0 else one for one in parents], dtype=np.intp),
        offsets=np.array([[setup.offsets[bone] for bone in row] for row in bones], dtype=np.float64).reshape(-1, 3, 4, 4),
        has_end=np.array([chain.end >= 0 for chain in chains], dtype=np.bool_),
        turns_end=np.array([bool(_turned_end(chain)) for chain in chains], dtype=np.bool_),
        hinges=np.array([vectors.UNIT_X if one == vectors.ZERO else one for one in hinges]).reshape(-1, 3),
        end_offsets=np.array([rotations.as_quat(chain.end_offset) for chain in chains]).reshape(-1, 4),
    )


def _end(chain: ChainSetup) -> int:
    return chain.end if chain.end >= 0 else chain.bones[-1]


def _turned_end(chain: ChainSetup) -> tuple[int, ...]:
    return (chain.end,) if chain.end >= 0 and chain.end_rotation != 'KEEP_LOCAL' else ()


def _is_plain(setup: RigSetup, chain: ChainSetup, turned: set[int]) -> bool:
    bones = {*chain.bones, _end(chain)}
    return (
        chain.solver == 'TWO_BONE'
        and not chain.problem
        and not chain.is_muted
        and not chain.note
        and not chain.loose
        and len(chain.bones) == 2
        and chain.target_key is not None
        and not chain.target_key[1]
        and (chain.pole_key is None or not chain.pole_key[1])
        and chain.target_space == 'WORLD'
        and chain.ground_key is None
        and chain.end_rotation in ('KEEP_LOCAL', 'TARGET')
        and (chain.end < 0 or setup.parents[chain.end] == chain.bones[1])
        and not (chain.use_limits and any(one.kind != JointKind.FREE for one in chain.limits))
        and all(setup.is_plain[bone] for bone in bones)
        and not bones & (setup.is_constrained | setup.driven)
        and not _has_turned_above(setup, chain.bones[0], turned)
    )


def _has_turned_above(setup: RigSetup, bone: int, turned: set[int]) -> bool:
    parent = setup.parents[bone]
    return parent >= 0 and (parent in turned or _has_turned_above(setup, parent, turned))
