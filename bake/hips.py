"""The hips' offset that grounding bakes: the only location of a character's bones that Limb IK writes, as keys of one.

Must not decide how far the hips move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..rig.bone_rows import line_above
from ..rig.chains import ChainSetup, setup_of
from ..rig.data_paths import bone_path
from ..rig.errors import LimbIKError
from ..rig.sampling import visited
from ..solvers.arrays import Floats
from . import keys
from .writable import check_writable


def hips_bone(obj: Any, chains: Sequence[ChainSetup]) -> str:
    """The bone that carries all of some limbs, the nearest one that can be moved.

    Raises:
        LimbIKError: there is none.
    """
    setup = setup_of(obj)
    rows = [list(line_above(setup.parents, setup.parents[chain.bones[0]])) for chain in chains]
    shared = [bone for bone in rows[0] if all(bone in row for row in rows[1:])]
    for bone in shared:
        if not obj.pose.bones[bone].bone.use_connect or setup.parents[bone] < 0:
            return setup.names[bone]
    raise LimbIKError(f"the limbs of '{obj.name}' hang on no common bone that could be lowered")


def path_of(bone: str) -> str:
    """Data path of the bone's location, from the object."""
    return f"{bone_path(bone)}location"


def check(obj: Any, bone: str, frames: Floats) -> None:
    """Raises a LimbIKError where the location can't be keyed."""
    check_writable(obj, [path_of(bone)], frames)


def moved_locations(context: Any, obj: Any, bone: str, frames: Floats, offsets: Floats) -> Floats:
    """The bone's location on each frame with an offset along +Z of the world added.

    Args:
        offsets: one per frame, world units.
    """

    def look(depsgraph: Any, _held: Any, _frame: float) -> tuple[Any, Any]:
        evaluated = obj.evaluated_get(depsgraph)
        posed = evaluated.pose.bones[bone]
        frame_world = evaluated.matrix_world @ posed.matrix @ posed.matrix_basis.inverted_safe()
        return tuple(posed.location), [list(row) for row in frame_world.to_3x3()]

    seen = list(visited(context, [obj], [float(frame) for frame in frames], look))
    places = np.array([place for place, _ in seen], dtype=np.float64)
    axes = np.array([matrix for _, matrix in seen], dtype=np.float64)
    lifts = offsets[:, None, None] * np.array((0.0, 0.0, 1.0))[None, :, None]
    moved: Floats = places + np.linalg.solve(axes, lifts)[..., 0]
    return moved


def write(obj: Any, bone: str, frames: Floats, locations: Floats) -> int:
    """Key them; returns how many keys were written."""
    return keys.write_keys(obj, path_of(bone), locations, frames, bone)
