"""Match: target and pole go where FK is, at one frame or keyed along a range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..rig import marks, match
from ..rig.chains import ChainSetup
from ..rig.data_paths import bone_path
from ..rig.evaluate import Evaluation
from ..rig.fk_pose import channel
from ..rig.session import object_at
from . import continuity, keys
from .jobs import Asked, Job, all_but, evaluation_here, jobs_of, read
from .key_table import Floats
from .steps import Steps, finished
from .writable import check_writable

Control = tuple[marks.Key, str]


@dataclass(frozen=True, slots=True)
class MatchReport:
    """What was matched: number of chains, frames (0: this frame, without keys) and keys written; what to know."""

    chains: int
    frames: int
    keys: int
    notes: tuple[str, ...] = ()
    armatures: int = 1


@dataclass(frozen=True, slots=True)
class ControlKeys:
    """Values of one channel of a target or pole, frames × width."""

    obj: bpy.types.Object
    path: str
    values: Floats
    frames: Floats
    group: str


def match_ik(
    context: Any,
    obj: bpy.types.Object,
    tips: Sequence[str] = (),
    frames: Sequence[float] | None = None,
) -> MatchReport:
    """Put targets and poles of chains where the FK pose has them.

    Args:
        context: gives scene and view layer.
        obj: the armature object.
        tips: bones at which the chains end; empty for all chains.
        frames: None for the current frame without keys; else keys on each of these frames, rising.

    Raises:
        LimbIKError: bad input, in one sentence; nothing was changed then.
    """
    asked = [Asked(obj, tips, frames)]
    return match_ik_here(context, asked) if frames is None else finished(match_ik_steps(context, asked))


def match_ik_here(context: Any, asked: Sequence[Asked]) -> MatchReport:
    """``match_ik`` at the current frame, for several armatures; errors as there."""
    jobs = jobs_of(asked)
    run = evaluation_here(context, only=all_but(marks.rigs(), jobs))
    held: list[list[str]] = [[] for _ in jobs]
    found = [read_controls(run, job.obj, job.chains, own) for job, own in zip(jobs, held, strict=True)]
    put_controls(found)
    for job in jobs:
        marks.touch(job.obj)
    return _report(jobs, key_where_automatic(context, control_owners(found)), held)


def put_controls(found: Sequence[dict[Control, match.Channels]]) -> None:
    """Write the channels of targets and poles."""
    for controls in found:
        for control, channels in controls.items():
            match.put(owner_of_control(control), channels)


def control_owners(found: Sequence[dict[Control, match.Channels]]) -> list[Any]:
    """Objects and pose bones of targets and poles."""
    return [owner_of_control(control) for controls in found for control in controls]


def key_where_automatic(context: Any, owners: Sequence[Any], has_place: bool = True) -> int:
    """Key objects or pose bones at this frame, rotation and place, where Auto Keying is on; how many channels that are.

    Args:
        context: gives scene and frame.
        owners: original objects or pose bones; those that can't be keyed are left out, as by Blender itself.
        has_place: the location, too.
    """
    tools = context.scene.tool_settings
    if not tools.use_keyframe_insert_auto:
        return 0
    options = {'INSERTKEY_REPLACE'} if tools.auto_keying_mode == 'REPLACE_KEYS' else set()
    count = 0
    for owner in owners:
        group = "Object Transforms" if isinstance(owner, bpy.types.Object) else owner.name
        for path in (*(("location",) if has_place else ()), channel(owner.rotation_mode)):
            if owner.id_data.is_editable and owner.keyframe_insert(path, group=group, options=options):
                count += len(getattr(owner, path))
    return count


def match_ik_steps(context: Any, asked: Sequence[Asked]) -> Steps[MatchReport]:
    """``match_ik`` over frames in steps, for several armatures: all or none.

    Yields frames read and their number, after each; closed early it leaves all as it was.
    """
    jobs = jobs_of(asked)
    held: dict[int, list[str]] = {id(job): [] for job in jobs}

    def look(run: Evaluation, job: Job) -> dict[Control, match.Channels]:
        return read_controls(run, job.obj, job.chains, held[id(job)])

    samples = yield from read(context, jobs, look, only=all_but(marks.rigs(), jobs))
    written = write_controls(
        [one for job, own in zip(jobs, samples, strict=True) for one in control_keys(own, np.asarray(job.frames))]
    )
    return _report(jobs, written, list(held.values()))


def _report(jobs: Sequence[Job], written: int, held: Sequence[Sequence[str]]) -> MatchReport:
    notes = []
    for job, own in zip(jobs, held, strict=True):
        of = f" of '{job.obj.name}'" if len(jobs) > 1 else ""
        notes += [
            f"'{tip}'{of} is straighter than its largest reach allows on {number} of {len(job.frames) or 1} frames"
            for tip, number in Counter(own).items()
        ]
        notes += [
            f"'{key[1] or object_at(key[0]).name}' may not be where FK is: {reason} holds it"
            for key in dict.fromkeys(
                filter(None, (key for one in job.chains for key in (one.target_key, one.pole_key)))
            )
            if (reason := match.held_by(object_at(key[0]), key[1]))
        ]
    chains, frames = sum(len(job.chains) for job in jobs), max(len(job.frames) for job in jobs)
    return MatchReport(chains, frames, written, tuple(notes), len(jobs))


def read_controls(
    run: Evaluation, obj: bpy.types.Object, chains: Sequence[ChainSetup], held: list[str] | None = None
) -> dict[Control, match.Channels]:
    """The channels that put each target and pole where these chains give the pose that the evaluation has.

    ``held`` gets the tips of chains that can't give it, because their largest reach is shorter.
    """
    rig = match.rig_of(run, obj)
    found: dict[Control, match.Channels] = {}
    for chain in chains:
        place = match.matched(run, rig, chain)
        if place.is_held_back and held is not None:
            held.append(chain.tip)
        for link, matrix in ((chain.target_key, place.target_world), (chain.pole_key, place.pole_world)):
            if link is None or matrix is None:
                continue
            evaluated = object_at(link[0]).evaluated_get(run.depsgraph)
            found[link] = match.control_channels(evaluated, link[1], matrix)
    return found


def owner_of_control(control: Control) -> Any:
    """What holds the channels of a target or pole: an object or a pose bone."""
    return match.owner_of(object_at(control[0]), control[1])


def path_to(control: Control) -> str:
    """What the data paths of a target or pole begin with, from its object."""
    return bone_path(control[1]) if control[1] else ""


def control_keys(samples: Sequence[dict[Control, match.Channels]], frames: Floats) -> list[ControlKeys]:
    """Keys for targets and poles: location and rotation of each, continuous in time."""
    found = []
    for control in samples[0]:
        owner, obj = owner_of_control(control), object_at(control[0])
        prefix = path_to(control)
        group = control[1] or "Object Transforms"
        locations = np.array([sampled[control].location for sampled in samples])
        turns = np.array([sampled[control].rotation for sampled in samples], dtype=np.float64)
        turns = continuity.continuous_rotations(turns, owner.rotation_mode)
        found.append(ControlKeys(obj, f"{prefix}location", locations, frames, group))
        found.append(ControlKeys(obj, f"{prefix}{channel(owner.rotation_mode)}", turns, frames, group))
    return found


def check_controls(found: Sequence[ControlKeys]) -> None:
    """Raises a LimbIKError where one of these keys can't be written."""
    for one in found:
        check_writable(one.obj, {one.path: one.values.shape[1]}, one.frames)


def write_controls(found: Sequence[ControlKeys]) -> int:
    """Key targets and poles; returns how many keys were written.

    Raises:
        LimbIKError: a key can't be written; nothing was changed.
    """
    check_controls(found)
    return sum(keys.write_keys(one.obj, one.path, one.values, one.frames, one.group) for one in found)
