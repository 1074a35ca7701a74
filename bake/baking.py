"""Baking: IK to keyframes. All frames are read first, then written; nothing else in the file changes.

Plain functions; the operator and the command line call ``bake``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import bpy
import numpy as np

from ..rig import fk_pose, marks, setup
from ..rig.chains import ChainSetup, setup_of
from ..rig.compat import animation_range
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation
from ..rig.sampling import sample
from ..solvers import rotations
from ..solvers.chain import Status
from . import keys
from .key_table import Floats
from .match_range import chains_named
from .writable import check_writable

AFTER = ('MUTE', 'REMOVE', 'KEEP')


@dataclass(frozen=True, slots=True)
class BakeOptions:
    """What to bake.

    Units: frames. ``frame_start``, ``frame_end`` None: the action's range, else the scene's. ``tips`` by armature
    name; an armature that is not named bakes all its chains. ``after``: what becomes of the chains.
    """

    frame_start: float | None = None
    frame_end: float | None = None
    step: int = 1
    tips: dict[str, tuple[str, ...]] = field(default_factory=dict)
    after: str = 'MUTE'
    reduce: float = 0.0


@dataclass(frozen=True, slots=True)
class BakeReport:
    """What was baked. ``skipped``: chains that can't be solved, with the reason; ``notes``: what to know."""

    armatures: int
    chains: int
    frames: int
    keys: int
    seconds: float
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def sentence(self) -> str:
        """The report in one line for people."""
        text = f"Baked {self.chains} chains over {self.frames} frames: {self.keys} keys in {self.seconds:.2f} s"
        return "; ".join((text, *self.skipped, *self.notes))


@dataclass(frozen=True, slots=True)
class _Work:
    """One armature's part of a bake."""

    obj: bpy.types.Object
    chains: tuple[ChainSetup, ...]
    bones: tuple[int, ...]
    frames: tuple[float, ...]


def bake(context: bpy.types.Context, objects: Sequence[bpy.types.Object], options: BakeOptions) -> BakeReport:
    """Bake the chains of armatures to keys of the bones' own rotation channels.

    Args:
        context: gives scene, frame rate and range.
        objects: original armature objects.
        options: see ``BakeOptions``.

    Raises:
        LimbIKError: nothing can be baked, or a key can't be written; nothing was changed then.
    """
    began = time.perf_counter()
    if options.after not in AFTER:
        raise LimbIKError(f"after a bake chains can be {', '.join(AFTER)}, not {options.after!r}")
    skipped: list[str] = []
    works = [_work(context, obj, options, skipped) for obj in objects]
    works = [work for work in works if work.chains]
    if not works:
        raise LimbIKError("nothing to bake: " + ("; ".join(skipped) or "no chain"))
    _check_keep(works, options)
    tables = _read(context, works)
    for work, values in zip(works, tables, strict=True):
        _check(work, values)
    notes = tuple(note for work in works for note in _partial_range(work))
    written = sum(_write(work, values) for work, values in zip(works, tables, strict=True))
    for work in works:
        _afterwards(context, work, options.after)
    return BakeReport(
        armatures=len(works),
        chains=sum(len(work.chains) for work in works),
        frames=max(len(work.frames) for work in works),
        keys=written,
        seconds=time.perf_counter() - began,
        skipped=tuple(skipped),
        notes=notes,
    )


def _work(context: bpy.types.Context, obj: bpy.types.Object, options: BakeOptions, skipped: list[str]) -> _Work:
    setup.check_armature(obj)
    tips = options.tips.get(obj.name, ())
    known = {chain.tip: chain for chain in setup_of(obj).chains}
    if tips:
        for tip in tips:
            if tip not in known:
                raise LimbIKError(f"no chain ends at '{tip}' of '{obj.name}'")
    chosen = [known[tip] for tip in tips] if tips else list(known.values())
    for chain in chosen:
        if reason := "muted" if chain.is_muted else chain.problem:
            skipped.append(f"'{chain.tip}' skipped: {reason}")
    chains = tuple(chain for chain in chosen if not chain.problem and not chain.is_muted)
    bones = {bone for chain in chains for bone in chain.turned}
    bones |= {chain.end for chain in chains if chain.end >= 0 and chain.end_rotation != 'KEEP_LOCAL'}
    bones -= setup_of(obj).driven
    return _Work(obj, chains, tuple(sorted(bones)), frames_of(context, obj, options))


def frames_of(context: bpy.types.Context, obj: bpy.types.Object, options: BakeOptions) -> tuple[float, ...]:
    """The frames of a bake: every ``step`` from start to end, the last one included.

    Raises:
        LimbIKError: the range holds no frame.
    """
    own = animation_range(obj) or (context.scene.frame_start, context.scene.frame_end)
    start = own[0] if options.frame_start is None else options.frame_start
    end = own[1] if options.frame_end is None else options.frame_end
    if end < start:
        raise LimbIKError(f"the frame range {start:g}…{end:g} holds no frame")
    frames = np.arange(start, end + 1e-6, max(1, options.step))
    if frames[-1] < end - 1e-6:
        frames = np.append(frames, end)
    return tuple(float(frame) for frame in frames)


def _check_keep(works: Sequence[_Work], options: BakeOptions) -> None:
    """Refuse to keep chains in play where they would be applied twice."""
    if options.after != 'KEEP':
        return
    for work in works:
        for chain in work.chains:
            tip = work.obj.pose.bones[chain.tip]
            is_whole = tip.limb_ik_weight in (0.0, 1.0)  # type: ignore[attr-defined]
            if chain.target_space != 'WORLD' or not is_whole:
                raise LimbIKError(
                    f"the chain of '{chain.tip}' would act twice if it stayed on after the bake; mute or remove it"
                )


def _read(context: bpy.types.Context, works: Sequence[_Work]) -> list[dict[str, Floats]]:
    """Raw rotations of every work's bones on its frames, continuous in time."""
    frames = sorted({frame for work in works for frame in work.frames})
    chosen = [(marks.key_of(work.obj), chain.tip) for work in works for chain in work.chains]
    only = chosen + _others(works)
    samples = sample(context, [work.obj for work in works], frames, _reader(works), only=only)
    by_frame = dict(zip(frames, samples, strict=True))
    return [_table(work, [by_frame[frame][number] for frame in work.frames]) for number, work in enumerate(works)]


def _others(works: Sequence[_Work]) -> list[tuple[marks.Key, str]]:
    """Chains that are not baked but solved: what is baked may hang on them."""
    chosen = {(marks.key_of(work.obj), chain.tip) for work in works for chain in work.chains}
    every = [(marks.key_of(rig), chain.tip) for rig in marks.rigs() for chain in setup_of(rig).chains]
    return [link for link in every if link not in chosen]


def _reader(works: Sequence[_Work]) -> Callable[[Evaluation], list[list[rotations.Quat]]]:
    keys_of = [marks.key_of(work.obj) for work in works]

    def read(run: Evaluation) -> list[list[rotations.Quat]]:
        found = []
        for key, work in zip(keys_of, works, strict=True):
            rig = run.rigs.get(key)
            if rig is None:
                raise LimbIKError(f"'{work.obj.name}' has no pose to read: it is in rest position or edit mode")
            found.append([rig.state.rotations[bone] for bone in work.bones])
        return found

    return read


def _table(work: _Work, samples: Sequence[Sequence[rotations.Quat]]) -> dict[str, Floats]:
    table = {}
    for column, bone in enumerate(work.bones):
        pose_bone = work.obj.pose.bones[bone]
        mode, raw = pose_bone.rotation_mode, fk_pose.read_raw(pose_bone)
        rows = []
        for sampled in samples:
            raw = fk_pose.to_raw(sampled[column], mode, raw)
            rows.append(raw)
        table[pose_bone.name] = keys.continuous_rotations(np.array(rows, dtype=np.float64), mode)
    return table


def _check(work: _Work, values: dict[str, Floats]) -> None:
    paths = [keys.rotation_path(work.obj.pose.bones[name]) for name in values]
    check_writable(work.obj, paths, np.asarray(work.frames))


def _write(work: _Work, values: dict[str, Floats]) -> int:
    return keys.write_rotation_keys(work.obj, values, np.asarray(work.frames, dtype=np.float64))


def _partial_range(work: _Work) -> list[str]:
    own = animation_range(work.obj)
    first, last = work.frames[0], work.frames[-1]
    if own is None or (own[0] >= first and own[1] <= last):
        return []
    lost = [f"{a:g}…{b:g}" for a, b in ((own[0], first - 1), (last + 1, own[1])) if a <= b]
    return [f"frames {' and '.join(lost)} of '{work.obj.name}' lose IK"]


def _afterwards(context: bpy.types.Context, work: _Work, after: str) -> None:
    for chain in work.chains:
        if after == 'REMOVE':
            setup.remove_chain(context, work.obj, chain.tip)
        elif after == 'MUTE':
            work.obj.pose.bones[chain.tip].limb_ik_mute = True  # type: ignore[attr-defined]
    marks.touch(work.obj)
