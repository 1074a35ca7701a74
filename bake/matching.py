"""Chains of one or several armatures to match at frames: read together, so that nothing is written before all is read.

Reads only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import bpy

from ..rig import marks
from ..rig.chains import ChainSetup
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation
from ..rig.sampling import sampled
from ..rig.this_frame import all_but
from .chosen import solvable
from .steps import Steps, finished

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """What of an armature is asked for: tips (empty: all chains), and frames, rising (None: the current one)."""

    obj: bpy.types.Object
    tips: Sequence[str] = ()
    frames: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """Chains of an armature that can be solved, and the frames at which they are to be read."""

    obj: bpy.types.Object
    chains: Sequence[ChainSetup]
    frames: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchReport:
    """What was matched: number of chains, frames (0: this frame, without keys) and keys written; what to know."""

    chains: int
    frames: int
    keys: int
    notes: tuple[str, ...] = ()
    armatures: int = 1


def matched(
    context: Any,
    request: Request,
    here: Callable[[Any, Sequence[Request]], MatchReport],
    over_frames: Callable[[Any, Sequence[Request]], Steps[MatchReport]],
) -> MatchReport:
    """Chains of one armature matched, whichever way: at this frame, or at once over the frames that are asked for."""
    return here(context, [request]) if request.frames is None else finished(over_frames(context, [request]))


def jobs_of(requests: Sequence[Request]) -> list[Job]:
    """What is to be done for these requests, checked.

    Raises:
        LimbIKError: a chain is missing or can't be solved, or frames were named and there are none.
    """
    jobs = [Job(one.obj, solvable(one.obj, one.tips), tuple(one.frames or ())) for one in requests]
    if any(one.frames is not None and not len(one.frames) for one in requests):
        raise LimbIKError("the frame range is empty")
    return jobs


def shown_as_fk(jobs: Sequence[Job]) -> list[marks.ChainKey]:
    """The chains that are solved while those of the jobs show FK."""
    return all_but({(marks.key_of(job.obj), chain.tip) for job in jobs for chain in job.chains})


def read(
    context: Any,
    jobs: Sequence[Job],
    look: Callable[[Evaluation, Job], T],
    only: Sequence[marks.ChainKey] | None = None,
) -> Steps[list[list[T]]]:
    """What ``look`` finds for each job at each of its frames; yields frames read and their number, after each.

    Args:
        context: as in ``sampling.sample``.
        jobs: with frames.
        look: takes values out of an evaluation; must keep no reference to Blender's data.
        only: chains to solve; None for all.
    """
    frames = sorted({frame for job in jobs for frame in job.frames})
    wanted = [frozenset(job.frames) for job in jobs]

    def looks(run: Evaluation) -> list[list[T]]:
        return [[look(run, job)] if run.frame in own else [] for job, own in zip(jobs, wanted, strict=True)]

    found: list[list[T]] = [[] for _ in jobs]
    taken = sampled(context, [job.obj for job in jobs], frames, looks, only=only)
    try:
        for number, row in enumerate(taken, start=1):
            for own, one in zip(found, row, strict=True):
                own += one
            yield number, len(frames)
    finally:
        taken.close()
    return found
