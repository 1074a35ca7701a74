"""Match the other way: the FK pose becomes what is seen, at one frame or keyed along a range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..rig import fk_pose, marks, match
from ..rig.chains import ChainSetup
from ..rig.evaluate import Evaluation, evaluate
from ..rig.sampling import sample
from ..solvers.rotations import Quat
from . import keys
from .key_table import Floats
from .match_range import Control, MatchReport, chains_named, owner_of_control, read_controls, write_controls

Turns = dict[int, Quat]


def match_fk(
    context: Any,
    obj: Any,
    tips: Sequence[str] = (),
    frames: Sequence[float] | None = None,
) -> MatchReport:
    """Give the bones of chains the pose that is seen as their FK pose.

    Targets that are offsets on FK go back to where they were set up: else their offset
    would be added to the pose twice.

    Args:
        context: gives scene and view layer.
        obj: the armature object.
        tips: bones at which the chains end; empty for all chains.
        frames: None for the current frame without keys; else keys on each of these frames, rising.

    Raises:
        LimbIKError: bad input, in one sentence; nothing was changed then.
    """
    chains = chains_named(obj, tips)
    offsets = [chain for chain in chains if chain.target_space == 'FK']
    if frames is None:
        _match_here(context, obj, chains, offsets)
        return MatchReport(len(chains), 0, 0)
    turns, controls = read_seen(context, obj, chains, offsets, frames)
    at = np.asarray(frames, dtype=np.float64)
    count = keys.write_rotation_keys(obj, rotation_rows(obj, turns), at)
    return MatchReport(len(chains), len(frames), count + (write_controls(controls, at) if offsets else 0))


def _match_here(context: Any, obj: Any, chains: Sequence[ChainSetup], offsets: Sequence[ChainSetup]) -> None:
    depsgraph = context.evaluated_depsgraph_get()
    rigs = [rig for rig in marks.rigs() if rig.evaluated_get(depsgraph).is_evaluated]
    run = evaluate(depsgraph, rigs, context.scene.frame_current_final, is_fresh=False, is_forced=True)
    turns, controls = seen(run, obj, chains), read_controls(run, obj, offsets)
    with marks.quiet():
        for bone, rotation in turns.items():
            owner: Any = obj.pose.bones[bone]
            raw = fk_pose.to_raw(rotation, owner.rotation_mode, fk_pose.read_raw(owner))
            setattr(owner, fk_pose.channel(owner.rotation_mode), raw)
            fk_pose.clear_store(owner)
    for control, channels in controls.items():
        match.put(owner_of_control(control), channels)
    marks.touch(obj)


def seen(run: Evaluation, obj: Any, chains: Sequence[ChainSetup]) -> Turns:
    """Local rotation of every bone that these chains turned, by its number."""
    rig = match.rig_of(run, obj)
    bones = {bone for chain in chains for bone in (*chain.turned, chain.end)}
    return {bone: rig.state.rotations[bone] for bone in sorted(bones & rig.turned)}


def read_seen(
    context: Any,
    obj: Any,
    chains: Sequence[ChainSetup],
    offsets: Sequence[ChainSetup],
    frames: Sequence[float],
) -> tuple[list[Turns], list[dict[Control, match.Channels]]]:
    """What is seen at each frame, and where the controls of ``offsets`` have no effect.

    Bones that IK turns at some of the frames only have their FK rotation at the others.
    """
    bones = sorted({bone for chain in chains for bone in (*chain.turned, chain.end) if bone >= 0})

    def read(run: Evaluation) -> tuple[Turns, set[int], dict[Control, match.Channels]]:
        rig = match.rig_of(run, obj)
        held = {bone: rig.state.rotations[bone] for bone in bones if bone in rig.state.rotations}
        return held, set(rig.turned), read_controls(run, obj, offsets)

    samples = sample(context, [obj], frames, read)
    turned = set().union(*(one[1] for one in samples))
    return [{b: q for b, q in one[0].items() if b in turned} for one in samples], [one[2] for one in samples]


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
        rows[pose_bone.name] = keys.continuous_rotations(np.array(taken, dtype=np.float64), mode)
    return rows
