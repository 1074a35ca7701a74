"""All that a bake reads: every frame of its works, in one go where that may be, and chains without solution left out.

This module must not write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..rig.errors import LimbIKError
from ..rig.sampling import sampled
from . import parts
from .options import BakeOptions
from .plan import all_frames, frames_read
from .reading import BakeWork, Reading, bones_of, reader, rows_of
from .reading_together import read_together
from .steps import Steps
from .stretches import stretches


def readings_of(
    context: Any, works: Sequence[BakeWork], options: BakeOptions, read_before: Sequence[parts.Part]
) -> Steps[list[list[Reading]]]:
    """For each work what it needs of each of its frames; what was read before is not read again."""
    by_frame = parts.joined(read_before, parts.marks_of(works, options.step, bool(options.reduce)))
    left = [frame for frame in all_frames(works, options) if frame not in by_frame]
    by_frame |= yield from read_frames(context, works, left, options)
    return [[by_frame[frame][i] for frame in frames_read(one, options)] for i, one in enumerate(works)]


def read_frames(
    context: Any, works: Sequence[BakeWork], frames: Sequence[float], options: BakeOptions
) -> Steps[dict[float, list[Reading]]]:
    """By frame what each work needs: all of them in one go where that may be, else one by one."""
    by_frame: dict[float, list[Reading]] = {}
    reads = stretches(works) if frames else None
    if reads is not None:
        by_frame = yield from read_together(context, works, frames, reads, bool(options.reduce))
    left = [frame for frame in frames if frame not in by_frame]
    if left:
        rows = [rows_of(work) if options.reduce else [] for work in works]
        objects = [work.obj for work in works]
        taken = sampled(context, objects, left, reader(works, rows))
        try:
            for frame, readings in zip(left, taken, strict=True):
                by_frame[frame] = readings
                yield len(by_frame), len(frames)
        finally:
            taken.close()
    return by_frame


def without_unsolved(
    works: Sequence[BakeWork], readings: Sequence[list[Reading]], skipped: list[str], notes: list[str]
) -> tuple[list[BakeWork], list[list[Reading]]]:
    """Leave out chains that could be solved on no frame; say of the others on how many they could not.

    Raises:
        LimbIKError: none is left.
    """
    kept, taken = [], []
    for work, own in zip(works, readings, strict=True):
        chains, troubled = [], [reading.problems for reading in own if reading.problems]
        for chain in work.chains:
            problems = [words[chain.tip] for words in troubled if chain.tip in words]
            if len(problems) == len(own):
                skipped.append(f"'{chain.tip}' skipped: {problems[0]}")
                continue
            if problems:
                notes.append(f"'{chain.tip}' shows FK on {len(problems)} of {len(own)} frames: {problems[0]}")
            chains.append(chain)
        if len(chains) == len(work.chains):
            kept.append(work)
            taken.append(own)
        elif chains:
            bones = bones_of(work.obj, chains)
            kept.append(replace(work, chains=tuple(chains), bones=bones))
            taken.append([_only(work, reading, bones, chains) for reading in own])
    if not kept:
        raise LimbIKError("nothing to bake: " + "; ".join(skipped))
    return kept, taken


def _only(work: BakeWork, reading: Reading, bones: Sequence[int], chains: Sequence[Any]) -> Reading:
    """A reading of some of the bones and chains."""
    columns = [work.bones.index(bone) for bone in bones]
    tips = {chain.tip for chain in chains}
    places = [one for one, row in zip(reading.places, rows_of(work), strict=False) if row.chain.tip in tips]
    turns, near = [reading.turns[i] for i in columns], [reading.near[i] for i in columns]
    return replace(reading, turns=turns, near=near, places=places)
