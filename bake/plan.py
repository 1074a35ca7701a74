"""What a bake is to do: chains, bones and frames of each armature, checked before anything is read or written.

Reads only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ..rig import channels
from ..rig.data_paths import rotation_path, setting_path
from ..rig.errors import LimbIKError
from ..rig.setting_up import setup
from .chosen import chains_named
from .options import BakeOptions
from .ranges import frames_between
from .reading import BakeWork, bones_of
from .reduce import sample_frames
from .shared_keys import check_own_keys
from .writable import check_writable

AFTER = ('MUTE', 'REMOVE', 'KEEP')
MUTED = "muted"


def checked_works(
    context: Any, objects: Sequence[bpy.types.Object], options: BakeOptions, skipped: list[str]
) -> list[BakeWork]:
    """What is baked of each armature.

    Raises:
        LimbIKError: nothing can be baked, or keys could not be written.
    """
    _check_options(options)
    works = [work for obj in objects if (work := _work(context, obj, options, skipped)).chains]
    if not works:
        raise LimbIKError("nothing to bake: " + _why_nothing(skipped))
    _check_keep(works, options)
    for work in works:
        with naming(work.obj, len(objects)):
            _check_writable(work, options)
    check_own_keys([work.obj for work in works])
    return works


def _why_nothing(skipped: Sequence[str]) -> str:
    if skipped and all(one.endswith(MUTED) for one in skipped):
        return "every chain is muted, as a bake leaves them"
    return "; ".join(skipped) or "no chain"


@contextmanager
def naming(obj: bpy.types.Object, count: int) -> Iterator[None]:
    """Of several armatures the one that refuses is named in the LimbIKError that is raised within."""
    try:
        yield
    except LimbIKError as problem:
        name = f"'{obj.name}'"
        if count < 2 or name in str(problem):
            raise
        raise LimbIKError(f"{name}: {problem}") from problem


def _check_options(options: BakeOptions) -> None:
    if options.after not in AFTER:
        raise LimbIKError(f"after a bake chains can be {', '.join(AFTER)}, not {options.after!r}")
    if not 0.0 <= options.reduce < math.inf:
        raise LimbIKError(f"keys can be reduced by a length from 0 up, not {options.reduce:g}")


def _work(context: Any, obj: bpy.types.Object, options: BakeOptions, skipped: list[str]) -> BakeWork:
    setup.check_armature(obj)
    chosen = chains_named(obj, options.tips.get(obj.name, ()))
    for chain in chosen:
        if reason := MUTED if chain.is_muted else chain.problem:
            skipped.append(f"'{chain.tip}' skipped: {reason}")
    chains = tuple(chain for chain in chosen if not chain.problem and not chain.is_muted)
    frames = frames_between(context, obj, options.frame_start, options.frame_end, step=options.step)
    return BakeWork(obj, chains, bones_of(obj, chains), frames)


def _check_keep(works: Sequence[BakeWork], options: BakeOptions) -> None:
    """Refuse to keep chains in play where they would be applied twice."""
    if options.after != 'KEEP':
        return
    for work in works:
        for chain in work.chains:
            tip: Any = work.obj.pose.bones[chain.tip]
            is_whole = tip.limb_ik_weight in (0.0, 1.0) and not _is_animated(work.obj, chain.tip)
            if chain.target_space != 'WORLD' or not is_whole:
                raise LimbIKError(
                    f"the chain of '{chain.tip}' would act twice if it stayed on after the bake; mute or remove it"
                )


def _is_animated(obj: bpy.types.Object, tip: str) -> bool:
    """Whether weight or switch of a chain change in time: in between them IK would be applied to itself."""
    paths = {setting_path(tip, name) for name in ("weight", "use_ik")}
    return any(path in paths for path, _ in channels.animated_paths(obj))


def _check_writable(work: BakeWork, options: BakeOptions) -> None:
    paths = [rotation_path(work.obj.pose.bones[bone]) for bone in work.bones]
    check_writable(work.obj, paths, np.asarray(work.frames), is_every_frame=not options.reduce)


def frames_read(work: BakeWork, options: BakeOptions) -> tuple[float, ...]:
    """The frames at which a bake reads: where keys are reduced also the middles between its frames."""
    if not options.reduce:
        return work.frames
    return tuple(float(frame) for frame in sample_frames(np.asarray(work.frames)))


def all_frames(works: Sequence[BakeWork], options: BakeOptions) -> list[float]:
    """The frames at which any work of a bake is read, rising."""
    return sorted(set().union(*(frames_read(work, options) for work in works)))
