"""Rigs that may stay as IK posed them while Blender changes frames: nothing animates the FK that is kept beside them.

Else FK goes back into the bones before a frame change, and Blender evaluates the rig, and all
that it deforms, once more than it has to. Here that is left out where it can't be told from the
result: what the solve reads must not hang on solved bones, or a frame would depend on the one before.

What is found is remembered while frames play and forgotten at every edit. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bpy

from . import compat, dependency, fk_pose, hanging, marks, needs, simulations
from .bone_rows import line_above
from .chains import ChainSetup, RigSetup, known_setup
from .data_paths import bone_path
from .session import armature_data, object_settings, pose_bones

ROTATIONS = (*fk_pose.WIDTHS, "rotation_mode")

# By session number of a rig: its set-up, whether it may stay, and whether it looks at nothing that others' bones move.
_known: dict[int, tuple[RigSetup, bool, bool]] = {}


def forget() -> None:
    """Something was edited: look at every rig again."""
    _known.clear()


def staying(rigs: Sequence[bpy.types.Object]) -> set[int]:
    """Session numbers of the rigs that may stay as they are; none where one looks at what the others' bones move.

    Args:
        rigs: every watched armature object of the scene, originals.
    """
    found = set()
    for obj in rigs:
        setup, uid = known_setup(obj), obj.session_uid
        known = _known.get(uid)
        if setup is None:
            return set()
        if known is None or known[0] is not setup:
            is_closed = _is_closed(obj, setup)
            known = _known[uid] = setup, is_closed and _may_stay(obj, setup), is_closed
        if not known[2]:
            return set()
        if known[1]:
            found.add(uid)
    return found


def _is_closed(obj: bpy.types.Object, setup: RigSetup) -> bool:
    """Whether bones of other rigs move nothing that the solve of this one reads."""
    reached: list[bpy.types.Object] = []
    bones: Any = pose_bones(obj)
    for chain in setup.chains:
        tip = bones[chain.bones[-1]]
        reached += [one for one in (tip.limb_ik_target, tip.limb_ik_pole, tip.limb_ik_ground) if one is not None]
    if not all(_is_free(one) for top in (obj, *reached) for one in hanging.all_above(top)):
        return False
    own = {obj, obj.data, obj.parent, *reached}
    return set(needs.linked_by(obj)) <= own and all(_reaches_free_bone(obj, setup, chain) for chain in setup.chains)


def _is_free(obj: bpy.types.Object) -> bool:
    """Whether an object hangs on no bone and no shape, by no constraint, driver or simulation."""
    hangs = obj.parent is not None and obj.parent_type != 'OBJECT'
    return not (hangs or len(obj.constraints) or obj.rigid_body or _has_drivers(obj))


def _has_drivers(block: Any) -> bool:
    return any(curve.data_path not in dependency.OWN_PATHS for curve in needs.drivers_of(block))


def _reaches_free_bone(obj: bpy.types.Object, setup: RigSetup, chain: ChainSetup) -> bool:
    """Whether no target bone is another armature's, or hangs on a bone that this rig's chains turn."""
    for link in (chain.target_key, chain.pole_key):
        if link is not None and link[1]:
            bone = setup.index.get(link[1], -1) if link[0] == marks.key_of(obj) else -1
            if bone < 0 or not set(line_above(setup.parents, bone)).isdisjoint(setup.held):
                return False
    return True


def _may_stay(obj: bpy.types.Object, setup: RigSetup) -> bool:
    animation, data = obj.animation_data, armature_data(obj)
    return (
        obj.mode != 'EDIT'
        and data.pose_position == 'POSE'
        and object_settings(obj).is_live
        and not any(chain.loose or chain.ground_key for chain in setup.chains)
        and not any(len(bone.constraints) for bone in pose_bones(obj))
        and not _has_drivers(obj)
        and not _has_drivers(data)
        and (animation is None or not len(animation.nla_tracks))
        and _unanimated(setup, compat.fcurves_of(obj))
        and not simulations.note(obj)
    )


def _unanimated(setup: RigSetup, curves: Iterable[bpy.types.FCurve]) -> bool:
    """Whether no curve gives a rotation, or its mode, to a bone whose FK is kept."""
    paths = {f"{bone_path(setup.names[bone])}{name}" for bone in setup.held for name in ROTATIONS}
    return all(curve.data_path not in paths for curve in curves)
