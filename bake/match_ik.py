"""Match IK to FK: target and pole go where FK is, at one frame or keyed along a range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ..rig import marks, match
from ..rig.evaluate import Evaluation
from ..rig.session import object_at
from ..rig.this_frame import evaluate_shown
from .controls import (
    Control,
    control_keys,
    control_owners,
    key_where_automatic,
    put_controls,
    read_controls,
    write_controls,
)
from .matching import Job, MatchReport, Request, jobs_of, matched, read, shown_as_fk
from .shared_keys import shared_notes
from .steps import Steps


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
    return matched(context, Request(obj, tips, frames), match_ik_here, match_ik_steps)


def match_ik_here(context: Any, requests: Sequence[Request]) -> MatchReport:
    """``match_ik`` at the current frame, for several armatures; errors as there."""
    jobs = jobs_of(requests)
    run = evaluate_shown(context, only=shown_as_fk(jobs))
    held: list[list[str]] = [[] for _ in jobs]
    found = [read_controls(run, job.obj, job.chains, own) for job, own in zip(jobs, held, strict=True)]
    put_controls(found)
    for job in jobs:
        marks.touch(job.obj)
    return _report(jobs, key_where_automatic(context, control_owners(found)), held)


def match_ik_steps(context: Any, requests: Sequence[Request]) -> Steps[MatchReport]:
    """``match_ik`` over frames in steps, for several armatures: all or none.

    Yields frames read and their number, after each; closed early it leaves all as it was.
    """
    jobs = jobs_of(requests)
    held: dict[int, list[str]] = {id(job): [] for job in jobs}

    def look(run: Evaluation, job: Job) -> dict[Control, match.Channels]:
        return read_controls(run, job.obj, job.chains, held[id(job)])

    samples = yield from read(context, jobs, look, only=shown_as_fk(jobs))
    controls = [
        one for job, own in zip(jobs, samples, strict=True) for one in control_keys(own, np.asarray(job.frames))
    ]
    report = _report(jobs, write_controls(controls), list(held.values()))
    return replace(report, notes=(*report.notes, *shared_notes(one.obj for one in controls)))


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
