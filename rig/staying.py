"""Rigs that may stay as IK posed them while Blender changes frames: nothing animates the FK that is kept beside them.

Else FK goes back into the bones before a frame change, and Blender evaluates the rig, and all
that it deforms, once more than it has to. Here that is left out where it can't be told from the
result: what the solve reads must not hang on solved bones, or a frame would depend on the one before.

What is found is remembered while frames play and forgotten at every edit; the first frame after one
has FK put back whatever it was. Poses are only read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np

from . import compat, dependency, edits, fk_pose, hanging, marks, needs
from .bone_rows import line_above
from .chains import ChainSetup, RigSetup, setup_of
from .data_paths import bone_path
from .session import armature_data, is_in_edit_mode, object_settings, pose_bones

ROTATIONS = (*fk_pose.WIDTHS, "rotation_mode")


class _Known:
    """What was found since the last edit, told by their number (see ``edits``).

    ``rigs``: by session number a rig's set-up, whether it may stay, and whether it looks at nothing that others' bones
    move.
    """

    def __init__(self) -> None:
        self.rigs: dict[int, tuple[RigSetup, bool, bool]] = {}
        self.is_simulated: bool | None = None
        self.edits = -1


_known = _Known()


def staying(rigs: Sequence[bpy.types.Object], depsgraph: bpy.types.Depsgraph | None) -> set[int]:
    """Session numbers of the rigs that may stay as they are; none where one looks at what the others' bones move.

    None before the first frame after an edit, either: nothing else tells of bulk writes beside it. And none where
    others handle frames: they would see IK where they saw FK.

    Args:
        rigs: every watched armature object of the scene, originals.
        depsgraph: the one of the screen, where no edit in it waits for an update; else None.
    """
    if _known.edits != edits.count():
        _known.rigs.clear()
        _known.is_simulated, _known.edits = None, edits.count()
        return set()
    if depsgraph is None:
        return set()
    if _known.is_simulated is None:
        _known.is_simulated = needs.is_anything_simulated()
    found = [] if _known.is_simulated else _found(rigs)
    if not compat.BULK_WRITES_TAG:
        found = [obj for obj in found if _is_as_evaluated(obj, depsgraph)]
    return {obj.session_uid for obj in found}


def _found(rigs: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """The rigs that may stay, as far as Blender's tags tell of edits."""
    found = []
    for obj in rigs:
        if is_in_edit_mode(obj):
            return []
        setup, uid = setup_of(obj), obj.session_uid
        known = _known.rigs.get(uid)
        if known is None or known[0] is not setup:
            is_closed = _is_closed(obj, setup)
            known = _known.rigs[uid] = setup, is_closed and _may_stay(obj, setup), is_closed
        if not known[2]:
            return []
        if known[1]:
            found.append(obj)
    return found


def _is_as_evaluated(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether the pose is the one that was evaluated; nothing else tells of bulk writes in Blender 4.2."""
    bones, seen = pose_bones(obj), pose_bones(obj.evaluated_get(depsgraph))
    if len(bones) != len(seen):
        return False
    poses, modes = np.empty((2, 16 * len(bones)), np.float32), np.empty((2, len(bones)), np.int32)
    for owner, pose, mode in zip((bones, seen), poses, modes, strict=True):
        owner.foreach_get("matrix_basis", pose)
        owner.foreach_get("rotation_mode", mode)
    return bool((poses[0] == poses[1]).all() and (modes[0] == modes[1]).all())


def _is_closed(obj: bpy.types.Object, setup: RigSetup) -> bool:
    """Whether bones of other rigs move nothing that the solve of this one reads."""
    reached, grounds = list[bpy.types.Object](), list[bpy.types.Object]()
    bones: Any = pose_bones(obj)
    for chain in setup.chains:
        tip = bones[chain.bones[-1]]
        reached += [one for one in (tip.limb_ik_target, tip.limb_ik_pole) if one is not None]
        grounds += [one for one in (tip.limb_ik_ground,) if one is not None]
    tops = (obj, *reached, *grounds)
    if not all(_is_free(one) for top in tops for one in hanging.all_above(top)):
        return False
    if _has_drivers(obj.data) or not all(_is_rigid(one) for one in grounds):
        return False
    looked_at = {one for bone in bones if len(bone.constraints) for one in needs.targets_of(bone.constraints)}
    return looked_at <= {obj.parent, *tops} and all(_reaches_free_bone(obj, setup, chain) for chain in setup.chains)


def _is_free(obj: bpy.types.Object) -> bool:
    """Whether an object hangs on no bone and no shape, by no constraint or driver."""
    parent = obj.parent
    hangs = parent is not None and (obj.parent_type != 'OBJECT' or parent.type == 'CURVE')  # it may be a path
    return not (hangs or len(obj.constraints) or _has_drivers(obj))


def _is_rigid(ground: Any) -> bool:
    """Whether no bone and no driver may change the shape of a ground."""
    shapes = getattr(ground.data, "shape_keys", None)
    is_free = not (len(ground.modifiers) or _has_drivers(ground.data) or _has_drivers(shapes))
    return ground.type == 'MESH' and is_free


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
        data.pose_position == 'POSE'
        and data.animation_data is None
        and object_settings(obj).is_live
        and not any(chain.loose or chain.ground_key for chain in setup.chains)
        and not any(len(bone.constraints) for bone in pose_bones(obj))
        and (animation is None or not len(animation.nla_tracks))
        and _unanimated(setup, compat.fcurves_of(obj))
    )


def _unanimated(setup: RigSetup, curves: Iterable[bpy.types.FCurve]) -> bool:
    """Whether no curve gives a rotation, or its mode, to a bone whose FK is kept; nor to one that has only a number."""
    owners = [*(bone_path(setup.names[bone]) for bone in setup.held), *(f"pose.bones[{bone}]." for bone in setup.held)]
    paths = {f"{owner}{name}" for owner in owners for name in ROTATIONS}
    return all(curve.data_path not in paths for curve in curves)
