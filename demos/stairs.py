"""The demo of grounding: a walk made on a level floor goes over stairs, with a picture before and after.

Writes a .blend and two pictures, and fails where a foot slides or stands in a step. Calls
the same plain functions as the operators.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import bpy

from ..bake import contact_markers, contacts, grounding, motion
from ..bake.grounding import GroundReport
from ..files.opening import save_file
from ..rig.session import current_scene, evaluated, pose_bones
from .figure import Colour, dress, paint
from .picture import Say, pose_strip, silent
from .stage import begin
from .walker import LAST_FRAME, walking_human

# Metres: a flight up, a landing, a flight down, across the way of the walk (-Y).
TREAD, RISE, STEPS, LANDING, BEFORE = 0.3, 0.13, 4, 0.6, 0.35
# Metres to the side of the picture's viewer, where steps would hide the feet, and to the other one.
NEAR_SIDE, FAR_SIDE = -0.24, 1.2
STONE: Colour = (0.55, 0.5, 0.42, 1.0)
PICTURE_FRAMES = (4, 12, 20, 28, 38, 52)
# Of the leg's length: how far a foot may slide in a contact, and how deep it may be in a step.
MOST_SLIDE, MOST_DEPTH = 1e-3, 1e-3
LEGS = frozenset(f"{name}.{side}" for name in ("thigh", "shin", "foot", "toe") for side in "LR")


def run(folder: Path, say: Say = silent) -> tuple[str, int]:
    """Makes the demo in a folder; ``say`` is told what is done.

    Returns:
        What was done, in words, and the exit status: 1 where a foot slides or stands in a step.
    """
    begin(folder)
    say("making a figure that walks")
    obj = walking_human()
    stairs = _stairs(_way_begins(obj))
    motion.add_limbs(bpy.context, obj, arms=False)
    dress(obj, LEGS, has_floor=False)
    paint(stairs, STONE)
    pose_strip(folder / "stairs_before.png", _captions("before"), obj, "spine", height=None, say=say)
    say("putting the feet on the stairs")
    began = time.perf_counter()
    found = contacts.detect(bpy.context, obj)
    report = grounding.ground(bpy.context, obj, stairs, found=found)
    seconds = time.perf_counter() - began
    contact_markers.put(bpy.context, obj, found, list(dict.fromkeys(one.tip for one in found)))
    current_scene().frame_set(1)
    save_file(folder / "stairs.blend")
    pose_strip(folder / "stairs_after.png", _captions("after"), obj, "spine", height=None, say=say)
    files = ", ".join(str(folder / name) for name in ("stairs.blend", "stairs_before.png", "stairs_after.png"))
    return f"{report.sentence()}; in {seconds:.2f} s\nwritten: {files}", _status(report)


def _status(report: GroundReport) -> int:
    slide = max(one.part_of_length for one in report.planted.after)
    return 1 if slide > MOST_SLIDE or report.deepest[1] > MOST_DEPTH else 0


def _captions(when: str) -> dict[int, str]:
    return {frame: f"frame {frame}   {when}" for frame in PICTURE_FRAMES if frame <= LAST_FRAME}


def _way_begins(obj: bpy.types.Object) -> float:
    """Where the walk has its hips on the first frame, along Y."""
    current_scene().frame_set(1)
    now = evaluated(obj)
    place = now.matrix_world @ pose_bones(now)["spine"].head
    return float(place.y)


def _stairs(start: float) -> bpy.types.Object:
    """Blocks of rising and falling height, side by side, as one mesh."""
    mesh = bpy.data.meshes.new("Stairs")
    points: list[tuple[float, float, float]] = []
    faces: list[tuple[int, ...]] = []
    for near, far, height in _blocks(start - BEFORE):
        first = len(points)
        points += [(x, y, z) for z in (0.0, height) for x, y in _corners(near, far)]
        sides = [tuple(first + i for i in (k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4)) for k in range(4)]
        faces += [tuple(first + i for i in (3, 2, 1, 0)), tuple(first + i for i in (4, 5, 6, 7)), *sides]
    margin = 60.0  # metres of level floor around
    first = len(points)
    points += [(x, y, 0.0) for x, y in ((-margin, -margin), (margin, -margin), (margin, margin), (-margin, margin))]
    faces.append(tuple(range(first, first + 4)))
    mesh.from_pydata(points, [], faces)
    stairs = bpy.data.objects.new("Stairs", mesh)
    current_scene().collection.objects.link(stairs)
    return stairs


def _corners(near: float, far: float) -> tuple[tuple[float, float], ...]:
    return (NEAR_SIDE, far), (FAR_SIDE, far), (FAR_SIDE, near), (NEAR_SIDE, near)


def _blocks(start: float) -> Iterator[tuple[float, float, float]]:
    """Near edge, far edge and height of each block; the walk goes toward -Y."""
    heights = [*range(1, STEPS + 1), *range(STEPS - 1, 0, -1)]
    near = start
    for height in heights:
        far = near - (LANDING if height == STEPS else TREAD)
        yield near, far, height * RISE
        near = far
