"""The result of an evaluation into the original pose, and nothing else frozen by it.

A write makes Blender copy the original object over the evaluated one without running
its animation again. So whatever of the object is animated is first copied from the
evaluated object to the original where it differs. This module must not solve.
"""

from __future__ import annotations

from typing import Any

from . import fk_pose, marks, originals, readouts
from .evaluate import Evaluation, Rig
from .fk_pose import Raw


def write(run: Evaluation) -> int:
    """Write every rig of an evaluation; returns how many rigs were changed.

    Bones whose value would not change are not written, rigs without a change not tagged.
    """
    with marks.quiet():
        changed = sum(_write_rig(rig) for rig in run.rigs.values())
    for (key, tip), readout in run.readouts.items():
        readouts.put(run.object_of(key), tip, readout)
    return changed


def _write_rig(rig: Rig) -> bool:
    bones: Any = rig.obj.pose.bones
    wanted = {bone: _wanted(rig, bone, fk) for bone, fk in rig.fk.items()}
    changed = [bone for bone, raw in wanted.items() if not fk_pose.is_same(fk_pose.read_raw(bones[bone]), raw)]
    for bone, raw in wanted.items():
        _store(bones[bone], rig.fk[bone], raw, is_kept=bone not in changed)
    if not changed:
        return False
    originals.copy_animated(rig.evaluated, rig.obj)
    _write_bones(rig, wanted)
    rig.obj.update_tag(refresh={'OBJECT'})
    return True


def _wanted(rig: Rig, bone: int, fk: Raw) -> Raw:
    if bone not in rig.turned:
        return fk
    return fk_pose.to_raw(rig.state.rotations[bone], rig.state.bones[bone].rotation_mode, fk)


def _store(bone: Any, fk: Raw, written: Raw, is_kept: bool) -> None:
    """Keep FK beside the bone; a bone that holds its FK needs no store."""
    if fk == written:
        fk_pose.clear_store(bone)
    elif is_kept:
        fk_pose.put_store(bone, fk, fk_pose.read_raw(bone), bone.rotation_mode)
    else:
        fk_pose.put_store(bone, fk, written, bone.rotation_mode)


def _write_bones(rig: Rig, wanted: dict[int, Raw]) -> None:
    bones: Any = rig.obj.pose.bones
    names = {fk_pose.channel(bones[bone].rotation_mode) for bone in wanted}
    for name in names:
        width = fk_pose.WIDTHS[name]
        values = [0.0] * (width * len(bones))
        bones.foreach_get(name, values)
        for bone, raw in wanted.items():
            if fk_pose.channel(bones[bone].rotation_mode) == name:
                values[bone * width : (bone + 1) * width] = raw[:width]
        bones.foreach_set(name, values)
