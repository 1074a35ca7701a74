"""The result of an evaluation into the original pose, and nothing else frozen by it.

A write makes Blender copy the original object over the evaluated one without running
its animation again. So whatever of the object is animated is first copied from the
evaluated object to the original where it differs. This module must not solve.
"""

from __future__ import annotations

from typing import Any

from . import fk_pose, history, marks, originals, readouts
from .crowd import write as crowd_write
from .evaluate import Evaluation, Rig
from .fk_pose import Raw
from .raw_pose import RawPose
from .session import pose_bones


def write(run: Evaluation) -> int:
    """Write every rig of an evaluation; returns how many rigs were changed.

    Bones whose value would not change are not written, rigs without a change not tagged.
    """
    is_own = originals.is_shown(run.depsgraph)
    with marks.quiet():
        together = {key: rig for key, rig in run.rigs.items() if crowd_write.is_writable(run, rig)}
        by_uid = {rig.obj.session_uid: rig for rig in together.values()}
        changed = crowd_write.write(run, by_uid, is_own) if together else 0
        changed += sum(_write_rig(rig, is_own) for key, rig in run.rigs.items() if key not in together)
    for (key, tip), readout in run.said.items():
        readouts.put(run.object_of(key), tip, readout)
    if run.words is not None:
        readouts.put_untold(run.words.fixed.columns, run.words.of_rig)
    return changed


def _write_rig(rig: Rig, is_own: bool) -> bool:
    bones: Any = pose_bones(rig.obj)
    before = RawPose(bones)
    wanted = {bone: _wanted(rig, bone, fk) for bone, fk in rig.fk.items()}
    # The evaluated pose counts, too: a render of the frame that is shown evaluates FK beside originals that hold IK.
    seen = rig.raw
    changed = {
        bone
        for bone, raw in wanted.items()
        if not (fk_pose.is_same(before.raw(bone), raw) and fk_pose.is_same(seen.raw(bone), raw))
    }
    uid, names = rig.obj.session_uid, rig.setup.names
    for bone, raw in wanted.items():
        kept = raw if bone in changed else before.raw(bone)
        _store(bones[bone], (uid, names[bone], before.modes[bone]), rig.fk[bone], raw, kept)
    if not changed:
        return False
    if originals.may_differ(rig.evaluated, rig.obj, is_own):
        originals.copy_animated(rig.evaluated, rig.obj)
    _write_bones(rig, wanted)
    rig.obj.update_tag(refresh={'OBJECT'})
    return True


def _wanted(rig: Rig, bone: int, fk: Raw) -> Raw:
    if bone not in rig.turned:
        return fk
    return fk_pose.to_raw(rig.state.rotations[bone], rig.raw.modes[bone], fk)


def _store(bone: Any, place: history.Place, fk: Raw, wanted: Raw, written: Raw) -> None:
    """Keep FK and what the bone then holds beside it; a bone that holds its FK needs no store."""
    if fk == wanted:
        fk_pose.clear_store(bone)
    else:
        fk_pose.put_store(bone, place, fk, written)


def _write_bones(rig: Rig, wanted: dict[int, Raw]) -> None:
    bones: Any = pose_bones(rig.obj)
    rig.raw.write(bones, wanted)
