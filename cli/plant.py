"""``plant`` of the command line: contacts found and held, on the floor of the motion or on a mesh.

Calls the same plain functions as the operators. Must not print, and must not write
anything where no contact is found.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import bpy

from ..bake import contact_markers, contacts, grounding, motion, planting
from ..bake.baking import bake
from ..bake.grounding import GroundOptions, GroundReport
from ..bake.options import BakeOptions
from ..bake.planting import PlantReport
from ..bake.steps import Steps, finished
from ..files.opening import BLEND, check_readable, check_writable, save_file
from ..files.placing import companions
from ..rig import animated_range
from ..rig.chains import tips
from ..rig.errors import LimbIKError
from . import combinations, progress
from .drivers import refuse_blocked_drivers
from .missing import refuse_missing_links
from .reports import check_report, write_report
from .setup import chosen, left_out, open_rig
from .values import number, share

T = TypeVar("T")
_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
_NewCommand: TypeAlias = Callable[..., argparse.ArgumentParser]


def add_command(commands: _Commands, new_command: _NewCommand) -> argparse.ArgumentParser:
    """Add ``plant`` to the program's commands; returns it."""
    text = "Find where feet touch and keep them there, on the floor of the motion or on a mesh."
    command = new_command(commands, "plant", plant, text)
    command.add_argument("file", metavar="FILE", type=Path)
    command.add_argument("-o", "--output", metavar="OUT", type=Path, required=True, help="what isn't .blend is baked")
    command.add_argument("--armature", metavar="N", help="name of the armature (default: all that move)")
    command.add_argument("--ground", metavar="OBJECT", help="object in FILE that the feet stand on")
    command.add_argument("--slope", metavar="PART", type=share, help="0…1, how far feet turn (default: 1)")
    command.add_argument("--floor", metavar="HEIGHT", type=number, help="of the motion's own floor (default: found)")
    command.add_argument("--keep-hips", action="store_true", help="don't move the hips on the ground")
    command.add_argument("--hands", action="store_true", help="look at hands, too")
    command.add_argument("--report", metavar="FILE", type=Path, help="write contacts and foot slide as JSON")
    command.set_defaults(problems=combinations.of_plant)
    return command


def plant(arguments: argparse.Namespace) -> tuple[str, int]:
    """The command ``plant``: what was done in words, and the exit status."""
    check_readable(arguments.file)
    suffix = check_writable(arguments.output)
    check_report(arguments, [arguments.file], [arguments.output, *companions(arguments.output)])
    rigs = chosen(open_rig(arguments.file, trust=arguments.trust), arguments.armature)
    refuse_missing_links(rigs)
    found = _moving(rigs, arguments.armature)
    on = _ground(arguments.ground)
    refuse_missing_links([on] if on else [])
    refuse_blocked_drivers(found)
    reports = {obj.name: _plant_one(obj, on, arguments) for obj in found}
    if suffix != BLEND:
        with progress.frames(arguments.file, "baking", then="baking") as show:
            bake(bpy.context, found, BakeOptions(after='REMOVE'), show)
    with progress.doing(f"{arguments.output.name}: writing"):
        note = save_file(arguments.output, found[0] if arguments.armature else None)
    points = {obj.name: contacts.left_out(obj, hands=arguments.hands) for obj in found}
    lines = [f"{name}: {report.sentence()}{points[name]}" for name, report in reports.items()]
    lines += left_out(arguments.armature)
    report, status = write_report(arguments.report, {"armatures": [_entry(*pair) for pair in reports.items()]})
    return "\n".join([*filter(None, [report]), *lines, *filter(None, [note]), f"written: {arguments.output}"]), status


def _moving(objects: Sequence[bpy.types.Object], name: str | None) -> list[bpy.types.Object]:
    """Those that are animated; one that is named has to be, which is said where its contacts are looked for."""
    if name is not None:
        return list(objects)
    moving = [obj for obj in objects if animated_range.animation_range(obj) is not None]
    if not moving:
        raise LimbIKError("no armature has an animation to find contacts in")
    return moving


def _ground(name: str | None) -> bpy.types.Object | None:
    if name is None:
        return None
    found = bpy.data.objects.get(name)
    if found is None:
        known = ", ".join(obj.name for obj in bpy.data.objects if obj.type == 'MESH') or "no mesh"
        raise LimbIKError(f"no object is named '{name}': there is {known}")
    return found


def _plant_one(
    obj: bpy.types.Object, on: bpy.types.Object | None, arguments: argparse.Namespace
) -> PlantReport | GroundReport:
    """Contacts of the timeline where a file has some, else those that are found."""
    context = bpy.context
    if not tips(obj):
        with progress.doing(f"{arguments.file.name}: adding IK"):
            motion.add_limbs(context, obj, arms=arguments.hands)
    marked = contact_markers.has_any(context, obj)
    if marked:
        known = contact_markers.read(context, obj)
    else:
        looked = contacts.detect_steps(context, obj, hands=arguments.hands)
        known = _finished(looked, arguments, "looking for contacts")
    report: PlantReport | GroundReport
    if on is None:
        report = _finished(planting.plant_contacts_steps(context, obj, known), arguments, "planting")
    else:
        slope = 1.0 if arguments.slope is None else arguments.slope
        options = GroundOptions(slope, arguments.floor, not arguments.keep_hips)
        steps = grounding.ground_steps(context, obj, on, options=options, found=known)
        report = _finished(steps, arguments, "putting feet on the ground")
    if not marked:
        contact_markers.put(context, obj, known, list(dict.fromkeys(one.tip for one in known)))
    return report


def _finished(steps: Steps[T], arguments: argparse.Namespace, what: str) -> T:
    """The result of work in steps, of which is shown how far it is; after the frames come keys and measuring."""
    with progress.frames(arguments.file, what, then=what) as show:
        return finished(steps, show)


def _entry(name: str, report: PlantReport | GroundReport) -> dict[str, Any]:
    """One armature's part of the report."""
    planted = report.planted if isinstance(report, GroundReport) else report
    rows = []
    for before, after in zip(planted.before, planted.after, strict=True):
        one = before.contact
        slide = {"slide_before": before.part_of_length, "slide_after": after.part_of_length}
        rows.append({**asdict(one), **slide})
    entry = {"name": name, "message": report.sentence(), "keys": planted.keys, "contacts": rows}
    if isinstance(report, GroundReport):
        below = dict(zip(("before", "after"), report.deepest, strict=True))
        hips = {"bone": report.hips, "lowest": report.lowest, "highest": report.highest}
        entry["ground"] = {"below_ground": below, "hips": hips}
    return entry
