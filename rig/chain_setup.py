"""A rig's chains as plain values: what was set up, by names and numbers, and the bounds of its joints.

Holds no references to Blender's data. ``rig/read_chains`` reads them, ``rig/chains`` keeps
them. This module must not read a pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mathutils import Matrix, Vector

from ..solvers.chain import JointKind, JointLimits
from . import constrained, marks
from .loose import Loose

AXES = {
    'X': Vector((1.0, 0.0, 0.0)),
    'Y': Vector((0.0, 1.0, 0.0)),
    'Z': Vector((0.0, 0.0, 1.0)),
    'NEG_X': Vector((-1.0, 0.0, 0.0)),
    'NEG_Y': Vector((0.0, -1.0, 0.0)),
    'NEG_Z': Vector((0.0, 0.0, -1.0)),
}

# Solvers that bring an end to a target, on a pole's side; looking has neither.
REACHING = frozenset(('TWO_BONE', 'LEG', 'FABRIK'))
# Those of them that bend about a hinge which set-up stores.
HINGED = frozenset(('TWO_BONE', 'LEG'))

# Settings on the tip bone that make up a chain; joint limits stay with their bones.
CHAIN_SETTINGS = (
    "solver", "chain_length", "end_bone", "target", "target_bone", "pole", "pole_bone", "target_space", "target_rest",
    "pole_rest", "pole_angle", "bend_axis", "use_ik", "weight", "blend_time", "mute", "softness", "max_reach",
    "end_rotation", "end_offset", "iterations", "tolerance", "use_warm_start", "use_limits", "look_axis", "up_axis",
    "ground", "ground_amount", "ground_floor", "root", "own_target", "own_target_bone", "own_pole",
    "own_pole_bone", "made_target", "made_pole",
)  # fmt: skip
# What binds a bone as a joint, on the bone itself; names after ``limb_ik_joint_``.
JOINT_SETTINGS = (
    "kind", "hinge_axis", "min_angle", "max_angle", "swing_x_min", "swing_x_max", "swing_z_min", "swing_z_max",
    "twist_min", "twist_max", "share",
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
    target_key: marks.Link | None
    pole_key: marks.Link | None
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
    ground_key: marks.Link | None = None
    ground_amount: float = 1.0
    ground_floor: float = 0.0
    problem: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class RigSetup:
    """An armature as its chains need it.

    ``offsets``: rest matrix of each bone in its parent's rest space (of roots: armature
    space). ``is_plain``: the bone inherits everything, so pose = parent · offset ·
    basis. ``is_connected``: Blender ignores its location. ``is_constrained``: something beside its own channels may
    move the bone, see ``constraints``.
    ``driven``: a driver holds its rotation. ``held``: the bones that chains turn, and those whose FK is stored
    since one did.
    """

    names: tuple[str, ...]
    index: dict[str, int]
    parents: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    offsets: Sequence[Matrix]
    is_plain: tuple[bool, ...]
    is_connected: tuple[bool, ...]
    is_constrained: frozenset[int]
    driven: frozenset[int]
    chains: tuple[ChainSetup, ...]
    held: tuple[int, ...]
    constraints: constrained.ConstraintsOn = field(default_factory=dict)


# What is known of a rig that was changed in edit mode: its pose bones have no bone to read until that ends (measured).
UNREAD = RigSetup((), {}, (), (), (), (), (), frozenset(), frozenset(), (), ())


def matrix_from(values: Any) -> Matrix:
    """A 4 × 4 matrix from the 16 numbers of a property, row by row."""
    flat = tuple(values)
    return Matrix((flat[0:4], flat[4:8], flat[8:12], flat[12:16]))


def matrix_values(matrix: Matrix) -> tuple[float, ...]:
    """The 16 numbers that a property keeps of a matrix, row by row."""
    return tuple(value for row in matrix[:] for value in row[:])


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
