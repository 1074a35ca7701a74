"""Baking: IK to keyframes. All frames are read first, then written; nothing else in the file changes.

Plain functions; the operator and the command line call ``bake``, or ``bake_steps``
where a person shall see it go on and be able to stop it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..rig import fk_pose, marks, needs
from ..rig.data_paths import rotation_path
from ..rig.errors import LimbIKError
from ..rig.lengths import in_words
from ..rig.session import pose_bones
from ..rig.setting_up import removal
from ..solvers.arrays import Floats
from . import keyed, keys, parts
from .few_keys import FewKeys, few_keys
from .options import BakeOptions, BakeReport
from .outside import outside
from .plan import all_frames, checked_works
from .reading import BakeWork, Reading, rotation_table, rows_of
from .reading_works import read_frames, readings_of, without_unsolved
from .shared_keys import shared_notes
from .steps import Progress, Steps, finished
from .writable import repeated


@dataclass(frozen=True, slots=True)
class _Result:
    """What is to be written for one armature."""

    work: BakeWork
    table: dict[str, Floats]
    straight: set[str]
    few: FewKeys | None


def bake(
    context: Any,
    objects: Sequence[bpy.types.Object],
    options: BakeOptions,
    progress: Progress | None = None,
    read_before: Sequence[parts.Part] = (),
) -> BakeReport:
    """Bake the chains of armatures to keys of the bones' own rotation channels.

    Args:
        context: gives scene, frame rate and range.
        objects: original armature objects.
        options: see ``BakeOptions``.
        progress: called with the frames read so far and their number; what it raises ends the bake without a change.
        read_before: parts from ``read_part``; their frames are not read again.

    Raises:
        LimbIKError: nothing can be baked, or a key can't be written; nothing was changed then.
    """
    return finished(bake_steps(context, objects, options, read_before), progress)


def read_part(
    context: Any,
    objects: Sequence[bpy.types.Object],
    options: BakeOptions,
    number: int,
    count: int,
    progress: Progress | None = None,
) -> parts.Part:
    """Read part ``number`` of ``count`` (from 1) of a bake's frames and change nothing.

    Arguments and errors as in ``bake``; chains with warm start can't be split.
    """
    return finished(_part_steps(context, objects, options, number, count), progress)


def _part_steps(
    context: Any,
    objects: Sequence[bpy.types.Object],
    options: BakeOptions,
    number: int,
    count: int,
) -> Steps[parts.Part]:
    works = checked_works(context, objects, options, [])
    warm = next((chain.tip for work in works for chain in work.chains if chain.use_warm_start), "")
    if warm:
        raise LimbIKError(f"the chain of '{warm}' starts from the frame before (warm start): it can't be split")
    frames = parts.slice_of(all_frames(works, options), number, count)
    readings = yield from read_frames(context, works, frames, options)
    return parts.Part(parts.marks_of(works, options.step, bool(options.reduce)), readings)


def bake_steps(
    context: Any,
    objects: Sequence[bpy.types.Object],
    options: BakeOptions,
    read_before: Sequence[parts.Part] = (),
) -> Steps[BakeReport]:
    """``bake`` in steps: yields how many frames are read, of how many; closed early it leaves all as it was."""
    began = time.perf_counter()
    skipped: list[str] = []
    works = checked_works(context, objects, options, skipped)
    need = needs.scene_need(context.scene, [work.obj for work in works])
    notes = [] if need is None else [f"frames were read in the scene itself: {need.reason}"]
    readings = yield from readings_of(context, works, options, read_before)
    works, readings = without_unsolved(works, readings, skipped, notes)
    unit = context.scene.unit_settings.scale_length
    results = [_result(work, taken, options.reduce / unit) for work, taken in zip(works, readings, strict=True)]
    beside = [outside(context, work) for work in works]
    notes += [note for work in works for note in _repeated(work)]
    written = sum(_write(result) for result in results)
    notes += [note for one in beside for note in one.notes(options.after)]
    notes += shared_notes(work.obj for work in works)
    for work in works:
        notes += _afterwards(context, work, options.after)
    error = max((one.few.error for one in results if one.few is not None), default=0.0)
    return BakeReport(
        armatures=len(works),
        chains=sum(len(work.chains) for work in works),
        frames=max(len(work.frames) for work in works),
        keys=written,
        seconds=time.perf_counter() - began,
        skipped=tuple(skipped),
        notes=tuple(notes),
        keys_before=sum(len(one.work.frames) * rows.shape[1] for one in results for rows in one.table.values()),
        error=error * unit,
        error_part=max((one.few.part for one in results if one.few is not None), default=0.0),
        error_words=in_words(error),
    )


def _result(work: BakeWork, readings: Sequence[Reading], tolerance: float) -> _Result:
    table = rotation_table(work, readings[::2] if tolerance else readings)  # few keys are read at half frames, too
    straight = keyed.straight_bones(work.obj, table, work.frames[0], work.frames[-1])
    few = few_keys(work, rows_of(work), readings, table, tolerance, straight) if tolerance else None
    return _Result(work, table, straight, few)


def _write(result: _Result) -> int:
    """Write keys, with FK in the bones: what IK wrote beside a key of the same value would be taken for one by hand."""
    obj = result.work.obj
    with marks.quiet():
        fk_pose.restore(obj)
    if result.few is not None:
        return keys.write_rotation_fits(obj, result.few.fits)
    frames = np.asarray(result.work.frames, dtype=np.float64)
    return keys.write_rotation_keys(obj, result.table, frames, result.straight)


def _repeated(work: BakeWork) -> list[str]:
    paths = repeated(work.obj, [rotation_path(pose_bones(work.obj)[bone]) for bone in work.bones])
    return [f"{path} of '{work.obj.name}' repeats (Cycles): what is baked is repeated outside, too" for path in paths]


def _afterwards(context: Any, work: BakeWork, after: str) -> list[str]:
    """What becomes of baked chains; returns what is to be said of it."""
    tips = [chain.tip for chain in work.chains]
    if after == 'REMOVE':
        return removal.remove_chains(context, work.obj, tips, keeps_keys=True)  # a bake changes no other curve
    for tip in tips if after == 'MUTE' else ():
        bone: Any = work.obj.pose.bones[tip]
        bone.limb_ik_mute = True
    marks.touch(work.obj)
    return []
