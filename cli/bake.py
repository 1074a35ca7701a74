"""``bake`` of the command line: one file in this process, several each in one of their own.

Must not read arguments' text. Calls the same plain function as the operator.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import bpy

from ..bake import parts
from ..bake.baking import bake as bake_objects
from ..bake.baking import read_part
from ..bake.options import BakeOptions, BakeReport
from ..files.clips import part_named, rows_of
from ..files.opening import armatures, check_readable, check_writable, motion_range, save_file
from ..files.placing import companions, make_folder, write_text
from ..files.still_channels import use
from ..rig.animated_range import animation_range, keyed_range
from ..rig.chains import tips
from ..rig.errors import LimbIKError
from ..rig.needs import needed_by
from ..rig.session import current_scene
from . import jobs
from . import progress as progress_line
from .drivers import refuse_blocked_drivers
from .missing import refuse_missing_links
from .reports import check_report, write_report
from .setup import chosen, left_out, open_rig
from .version import PROGRAM

PART_SUFFIX = ".json"


def bake(arguments: argparse.Namespace) -> tuple[str, int]:
    """The command ``bake``: what was done in words, and the exit status."""
    _check_frames(arguments.frames)
    if arguments.part is not None:
        return _read_part(arguments)
    pairs = jobs.outputs(arguments.files, arguments.output, _suffix(arguments))
    if any(target != arguments.output for _, target in pairs):
        make_folder(arguments.output)
    written = [path for _, target in pairs for path in (target, *companions(target))]
    check_report(arguments, [*arguments.files, *arguments.join], written)
    is_one = len(pairs) == 1
    records, stopped = ([_only(*pairs[0], arguments)], 0) if is_one else jobs.run_all(pairs, arguments)
    done = [record for record in records if record["status"] in jobs.DONE]
    known = {*jobs.DONE, "stopped"} if stopped else jobs.DONE
    if not is_one:
        jobs.say_failed([record for record in records if record["status"] not in known])
    if stopped:
        jobs.say_stopped(records)
    report, unwritten = write_report(arguments.report, {"files": records})
    return "\n".join(filter(None, [report, *map(_words, done)])), stopped or int(len(done) < len(records)) or unwritten


def _suffix(arguments: argparse.Namespace) -> str:
    """The extension that is asked for, empty where none is."""
    return f".{arguments.format.lower()}" if arguments.format else ""


def _only(source: Path, target: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """One file in this process: what went wrong is said at once."""
    try:
        return _baked_or_skipped(source, target, arguments)
    except LimbIKError as problem:
        sys.stderr.write(f"{PROGRAM}: {problem}\n")
        return jobs.record(source, target, "failed", error=str(problem))


def _baked_or_skipped(source: Path, target: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.resume and jobs.is_done(source, target):
        return jobs.record(source, target, "skipped")
    started = time.perf_counter()
    report = bake_file(source, target, arguments)
    seconds = round(time.perf_counter() - started, 3)
    return jobs.record(source, target, "done", seconds=seconds, message=report.sentence(), bake=asdict(report))


def bake_file(source: Path, target: Path, arguments: argparse.Namespace) -> BakeReport:
    """Opens a file, bakes all its chains and writes the result."""
    check_readable(source)
    check_writable(target)
    read_before = [parts.from_file(path) for path in arguments.join]
    objects, options = _opened(source, arguments)
    is_range_known = bool(arguments.frames) or motion_range(objects) is not None
    with _frames_shown(source, arguments, "reducing keys" if arguments.reduce else "writing keys") as progress:
        report = bake_objects(bpy.context, objects, options, progress, read_before)
    first, last = options.frame_start, options.frame_end
    linked = [obj for obj in armatures() if obj not in objects and tips(obj) and not obj.is_editable]
    notes = [f"'{obj.name}' is linked and stays as it is" for obj in linked if arguments.armature is None]
    notes += left_out(arguments.armature)
    if not is_range_known:
        notes.append(f"the armature has no animation: baked the scene's frames {first:g} to {last:g}")
    with progress_line.doing(f"{target.name}: writing"):
        notes += filter(None, [save_file(target, objects[0] if arguments.armature else None)])
    return replace(report, notes=(*report.notes, *notes))


def _frames_shown(
    source: Path, arguments: argparse.Namespace, then: str
) -> AbstractContextManager[Callable[[int, int], None] | None]:
    """Where keys are reduced also the middles between the frames are read."""
    return progress_line.frames(source, then=then, per_frame=2 if arguments.reduce else 1)


def _bakeable(objects: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Those with chains; linked ones beside others stay as they are, for IK is never live on them."""
    found = [obj for obj in objects if tips(obj)]
    return [obj for obj in found if obj.is_editable] or found


def _read_part(arguments: argparse.Namespace) -> tuple[str, int]:
    """Reads a part of the frames of one file and writes them as JSON."""
    number, count = arguments.part
    if arguments.output.suffix.lower() != PART_SUFFIX:
        raise LimbIKError(f"a part is written as {PART_SUFFIX}, not as {arguments.output.name}")
    source = arguments.files[0]
    check_readable(source)
    check_writable(arguments.output, [PART_SUFFIX])
    objects, options = _opened(source, arguments)
    with _frames_shown(source, arguments, "") as progress:
        part = read_part(bpy.context, objects, options, number, count, progress)
    write_text(arguments.output, parts.to_text(part) + "\n")
    read = len(part.readings)
    return f"{arguments.output}: read {read} frame{'s' * (read != 1)}, part {number} of {count}", 0


def _opened(source: Path, arguments: argparse.Namespace) -> tuple[list[bpy.types.Object], BakeOptions]:
    """Opens a file: the armatures to bake and what to bake of them."""
    found = chosen(open_rig(source, trust=arguments.trust), arguments.armature)
    objects = _bakeable(found)
    refuse_missing_links(objects or found)
    if not objects:
        where = source.name if arguments.armature is None else f"'{arguments.armature}' in {source.name}"
        raise LimbIKError(f"{where} has no IK chain to bake; add makes them")
    refuse_blocked_drivers(objects)
    if arguments.action is not None:
        _use_action(objects, arguments.action)
    frames = arguments.frames or _whole_range(objects)
    _check_inside(frames, objects)
    return objects, BakeOptions(
        frame_start=frames[0],
        frame_end=frames[1],
        step=arguments.step,
        reduce=arguments.reduce,
        after=arguments.after,
    )


def _use_action(objects: Sequence[bpy.types.Object], name: str) -> None:
    found = [part_named(obj, name) for obj in objects]
    if not any(found):
        known = ", ".join(sorted({row["name"] for obj in objects for row in rows_of(obj)})) or "none"
        raise LimbIKError(f"no action is named '{name}': there is {known}")
    for part in filter(None, found):
        use(part)


def _whole_range(objects: Sequence[bpy.types.Object]) -> tuple[int, int]:
    scene = current_scene()
    return motion_range(objects) or (scene.frame_start, scene.frame_end)


def _check_frames(frames: tuple[int, int] | None) -> None:
    if frames is not None and frames[0] > frames[1]:
        raise LimbIKError(f"--frames {frames[0]}:{frames[1]} is empty: the first frame is after the last")


def _check_inside(frames: tuple[int, int], objects: Sequence[bpy.types.Object]) -> None:
    """A range outside everything that moves the rig, and outside the scene, would bake a still."""
    moving = [block for block in needed_by(objects) if isinstance(block, bpy.types.Object)]
    found = [motion_range(moving, range_of) for range_of in (animation_range, keyed_range)]
    scene = current_scene()
    ranges = [one for one in found if one is not None] or [(scene.frame_start, scene.frame_end)]
    first, last = min(one[0] for one in ranges), max(one[1] for one in ranges)
    if frames[1] < first or frames[0] > last:
        raise LimbIKError(f"--frames {frames[0]}:{frames[1]} is outside the animation, which has {first}:{last}")


def _words(record: dict[str, Any]) -> str:
    return f"{record['out']}: {record.get('message', 'there already, not older than its source')}"
