"""Match: target and pole go where FK is, at one frame or keyed along a range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..rig import marks, match
from ..rig.chains import ChainSetup, setup_of
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation, evaluate
from ..rig.fk_pose import channel
from ..rig.sampling import sample
from ..rig.session import object_at
from . import keys
from .key_table import Floats
from .writable import check_writable

Control = tuple[marks.Key, str]


@dataclass(frozen=True, slots=True)
class MatchReport:
    """What was matched: number of chains, frames (0: this frame, without keys) and keys written; what to know."""

    chains: int
    frames: int
    keys: int
    notes: tuple[str, ...] = ()


def chains_named(obj: bpy.types.Object, tips: Sequence[str]) -> list[ChainSetup]:
    """The chains of a rig that end at ``tips``, all of them where it is empty.

    Raises:
        LimbIKError: there is no such chain, or it can't be solved.
    """
    by_tip = {chain.tip: chain for chain in setup_of(obj).chains}
    if not by_tip:
        raise LimbIKError(f"'{obj.name}' has no chain")
    for tip in tips:
        if tip not in by_tip:
            raise LimbIKError(f"no chain ends at '{tip}' of '{obj.name}'")
    chosen = [by_tip[tip] for tip in tips] if tips else list(by_tip.values())
    for chain in chosen:
        if chain.problem:
            raise LimbIKError(f"the chain of '{chain.tip}' can't be solved: {chain.problem}")
    return chosen


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
    chains = chains_named(obj, tips)
    held: list[str] = []
    if frames is None:
        depsgraph = context.evaluated_depsgraph_get()
        rigs = [rig for rig in marks.rigs() if rig.evaluated_get(depsgraph).is_evaluated]
        frame = context.scene.frame_current_final
        others = _all_but(rigs, obj, chains)
        run = evaluate(depsgraph, rigs, frame, is_fresh=False, is_forced=True, only=others)
        for control, channels in read_controls(run, obj, chains, held).items():
            match.put(owner_of_control(control), channels)
        marks.touch(obj)
        return MatchReport(len(chains), 0, 0, _held_back(held, 1))
    if not len(frames):
        raise LimbIKError("the frame range is empty")
    others = _all_but(marks.rigs(), obj, chains)
    samples = sample(context, [obj], frames, lambda run: read_controls(run, obj, chains, held), only=others)
    written = write_controls(samples, np.asarray(frames, dtype=np.float64))
    return MatchReport(len(chains), len(frames), written, _held_back(held, len(frames)))


def _held_back(tips: Sequence[str], count: int) -> tuple[str, ...]:
    """What to say of chains that could not give FK back: ``tips`` names each as often as that happened."""
    return tuple(
        f"'{tip}' is straighter than its largest reach allows on {number} of {count} frames"
        for tip, number in Counter(tips).items()
    )


def _all_but(rigs: Sequence[bpy.types.Object], obj: bpy.types.Object, chains: Sequence[ChainSetup]) -> list[Any]:
    """The chains that are solved while others are matched: what those hang on moves as it will be seen."""
    matched = {(marks.key_of(obj), chain.tip) for chain in chains}
    every = [(marks.key_of(rig), chain.tip) for rig in rigs for chain in setup_of(rig).chains]
    return [link for link in every if link not in matched]


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


def write_controls(samples: Sequence[dict[Control, match.Channels]], frames: Floats) -> int:
    """Key targets and poles; returns how many keys were written.

    Raises:
        LimbIKError: a key can't be written; nothing was changed.
    """
    count = 0
    tables = []
    for control in samples[0]:
        owner, obj = owner_of_control(control), object_at(control[0])
        prefix = f'pose.bones["{bpy.utils.escape_identifier(control[1])}"].' if control[1] else ""
        locations = np.array([sampled[control].location for sampled in samples])
        turns = np.array([sampled[control].rotation for sampled in samples], dtype=np.float64)
        turns = keys.continuous_rotations(turns, owner.rotation_mode)
        tables.append((obj, f"{prefix}location", locations, control[1]))
        tables.append((obj, f"{prefix}{channel(owner.rotation_mode)}", turns, control[1]))
    for obj, path, values, _ in tables:
        check_writable(obj, {path: values.shape[1]}, frames)
    for obj, path, values, bone_name in tables:
        count += keys.write_keys(obj, path, values, frames, bone_name or "Object Transforms")
    return count
