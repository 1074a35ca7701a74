"""Match the other way: the FK pose becomes what is seen, at one frame or keyed along a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..rig import fk_pose, marks, match
from ..rig.chains import ChainSetup
from ..rig.evaluate import Evaluation
from ..rig.session import object_at, pose_bones
from ..rig.this_frame import evaluate_shown
from ..solvers.arrays import Floats
from ..solvers.rotations import Quat
from . import continuity, keys
from .controls import (
    Control,
    ControlKeys,
    check_controls,
    control_keys,
    control_owners,
    key_where_automatic,
    owner_of_control,
    put_controls,
    read_controls,
    write_controls,
)
from .matching import Job, MatchReport, Request, jobs_of, matched, read
from .reading import turn_of
from .shared_keys import check_own_keys, shared_notes
from .steps import Steps

Turns = dict[int, Quat]

# By so much of 1 or of its distance a control may be off its place at set-up and still count as there.
UNMOVED = 1e-5
HERE = "on every frame: key the pose before the frame changes, or match over frames"
RANGE = "outside these frames, too"


@dataclass(frozen=True, slots=True)
class Seen:
    """Local rotations of a job's bones, those that IK turned, and where offsets on FK have no effect."""

    turns: Turns
    turned: frozenset[int]
    controls: dict[Control, match.Channels]


@dataclass(frozen=True, slots=True)
class RotationKeys:
    """Raw rotations by bone name, frames × width, to be keyed on an armature."""

    obj: bpy.types.Object
    rows: dict[str, Floats]
    frames: Floats


def match_fk(
    context: Any,
    obj: bpy.types.Object,
    tips: Sequence[str] = (),
    frames: Sequence[float] | None = None,
) -> MatchReport:
    """Give the bones of chains the pose that is seen as their FK pose.

    Targets that are offsets on FK go back to where they were set up: else their offset
    would be added to the pose twice. Arguments and errors as of ``match_ik``.
    """
    return matched(context, Request(obj, tips, frames), match_fk_here, match_fk_steps)


def match_fk_here(context: Any, requests: Sequence[Request]) -> MatchReport:
    """``match_fk`` at the current frame, for several armatures; errors as there."""
    jobs = jobs_of(requests)
    run = evaluate_shown(context)
    found = [(seen(run, job.obj, job.chains), read_controls(run, job.obj, offsets_of(job))) for job in jobs]
    controls = [own for _, own in found]
    notes, bones = offset_notes(controls, HERE), []
    for job, (turns, _) in zip(jobs, found, strict=True):
        _put(job.obj, turns)
        bones += [pose_bones(job.obj)[bone] for bone in turns]
        marks.touch(job.obj)
    put_controls(controls)
    count = key_where_automatic(context, bones, has_place=False)
    count += key_where_automatic(context, control_owners(controls))
    return MatchReport(sum(len(job.chains) for job in jobs), 0, count, notes, len(jobs))


def match_fk_steps(context: Any, requests: Sequence[Request]) -> Steps[MatchReport]:
    """``match_fk`` over frames in steps, for several armatures: all or none.

    Yields frames read and their number, after each; closed early it leaves all as it was.
    """
    jobs = jobs_of(requests)
    found = yield from read(context, jobs, look_at_seen)
    rows, controls = [], []
    for job, samples in zip(jobs, found, strict=True):
        frames = np.asarray(job.frames)
        rows.append(RotationKeys(job.obj, rotation_rows(job.obj, turns_of(samples)), frames))
        controls += control_keys([one.controls for one in samples], frames)
    notes = offset_notes([samples[0].controls for samples in found], RANGE)
    written = write_all(rows, controls)
    notes += tuple(shared_notes([*(one.obj for one in rows), *(one.obj for one in controls)]))
    chains, count = sum(len(job.chains) for job in jobs), max(len(job.frames) for job in jobs)
    return MatchReport(chains, count, written, notes, len(jobs))


def check_all(rotations: Sequence[RotationKeys], controls: Sequence[ControlKeys]) -> None:
    """Raises a LimbIKError where one of these keys can't be written."""
    for one in rotations:
        keys.check_rotations(one.obj, one.rows, one.frames)
    check_own_keys(list(dict.fromkeys(one.obj for one in rotations)))
    check_controls(controls)


def write_all(rotations: Sequence[RotationKeys], controls: Sequence[ControlKeys]) -> int:
    """Key bones, then targets and poles; returns how many keys were written.

    Raises:
        LimbIKError: a key can't be written; nothing was changed.
    """
    check_all(rotations, controls)
    written = sum(keys.write_rotation_keys(one.obj, one.rows, one.frames, one.rows.keys()) for one in rotations)
    return written + write_controls(controls)


def offset_notes(found: Sequence[dict[Control, match.Channels]], where: str) -> tuple[str, ...]:
    """What to say of targets and poles that are offsets on the motion and go back to where they were set up."""
    given_up = [control for controls in found for control, at in controls.items() if _is_moved(control, at)]
    return tuple(
        f"'{bone or object_at(key).name}' was an offset on the motion and is back where it was set up, {where}"
        for key, bone in dict.fromkeys(given_up)
    )


def _is_moved(control: Control, at: match.Channels) -> bool:
    owner = owner_of_control(control)
    now = (*owner.location, *getattr(owner, fk_pose.channel(owner.rotation_mode)))
    size = 1.0 + max(abs(value) for value in at.location)
    return any(abs(a - b) > UNMOVED * size for a, b in zip(now, (*at.location, *at.rotation), strict=True))


def offsets_of(job: Job) -> list[ChainSetup]:
    """The chains of which target and pole are offsets on FK."""
    return [chain for chain in job.chains if chain.target_space == 'FK']


def _put(obj: Any, turns: Turns) -> None:
    with marks.quiet():
        for bone, rotation in turns.items():
            owner: Any = obj.pose.bones[bone]
            raw = fk_pose.to_raw(rotation, owner.rotation_mode, fk_pose.read_raw(owner))
            setattr(owner, fk_pose.channel(owner.rotation_mode), raw)
            fk_pose.clear_store(owner)


def seen(run: Evaluation, obj: Any, chains: Sequence[ChainSetup]) -> Turns:
    """Local rotation of every bone that these chains turned, by its number."""
    rig = match.rig_of(run, obj)
    bones = {bone for chain in chains for bone in (*chain.turned, chain.end)}
    return {bone: rig.state.rotations[bone] for bone in sorted(bones & rig.turned)}


def look_at_seen(run: Evaluation, job: Job) -> Seen:
    """What is seen of a job's chains in an evaluation."""
    bones = sorted({bone for chain in job.chains for bone in (*chain.turned, chain.end) if bone >= 0})
    rig = match.rig_of(run, job.obj)
    held = {bone: turn_of(rig, bone) for bone in bones if bone in rig.state.rotations or bone in rig.fk}
    return Seen(held, frozenset(rig.turned), read_controls(run, job.obj, offsets_of(job)))


def turns_of(samples: Sequence[Seen]) -> list[Turns]:
    """Local rotations at each frame of the bones that IK turns at any; of one that it doesn't turn there, FK's."""
    turned = set().union(*(one.turned for one in samples))
    return [{bone: turn for bone, turn in one.turns.items() if bone in turned} for one in samples]


def rotation_rows(obj: Any, turns: Sequence[Turns]) -> dict[str, Floats]:
    """Raw rotations in time order, by bone name, in each bone's own rotation mode and continuous."""
    rows = {}
    for bone in turns[0]:
        pose_bone = obj.pose.bones[bone]
        mode, raw = pose_bone.rotation_mode, fk_pose.read_raw(pose_bone)
        taken = []
        for turn in turns:
            raw = fk_pose.to_raw(turn[bone], mode, raw)
            taken.append(raw)
        rows[pose_bone.name] = continuity.continuous_rotations(np.array(taken, dtype=np.float64), mode)
    return rows
