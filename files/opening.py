"""Reads and writes the files of the command line, whole or not at all.

Must not know chains, solving or baking. What goes wrong in Blender's importers and
exporters becomes one sentence.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import bpy

from ..rig import animated_range
from ..rig.errors import LimbIKError
from ..rig.scenes import is_in_one_of
from ..rig.session import current_scene
from . import clips, formats
from .clip import whole_frames
from .placing import check_place, moved_into_place, resolved, sentences
from .quiet import blender_chatter
from .shift import shift_animation

RangeOf = Callable[[bpy.types.ID], tuple[float, float] | None]

BLEND = ".blend"
READABLE = (BLEND, *formats.READERS)
WRITABLE = (BLEND, *formats.WRITERS)


def open_file(path: Path, *, trust: bool = False) -> None:
    """Opens a .blend in place of the current file, or imports another format into an empty one.

    Args:
        path: A file with one of the extensions in ``READABLE``.
        trust: Run scripts and Python drivers of a .blend.

    Raises:
        LimbIKError: Missing, unknown or unreadable.
    """
    suffix = check_readable(path)
    with sentences(f"{path.name} can't be read"), blender_chatter():
        if suffix == BLEND:
            bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False, use_scripts=trust)
        else:
            bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
            formats.import_file(path.resolve(), suffix)
            fit_scene_to_actions(current_scene())


def save_file(path: Path, only: bpy.types.Object | None = None) -> str:
    """Writes the current file: as .blend, or its motion in another format; ``only`` is the armature of a .bvh.

    Other formats leave out the targets and poles that set-up made; these are
    removed from the session, which is not for going on with.

    Returns:
        What is to be said: of the frames written where they aren't those of the animation, and of other clips that
        the file doesn't hold; empty where there is nothing.

    Raises:
        LimbIKError: Unknown extension, a folder that is missing or can't be
            written, an exporter that failed. Nothing is left behind then.
    """
    suffix = check_writable(path)
    with sentences(f"{path} can't be written"), moved_into_place(resolved(path)) as temporary, blender_chatter():
        if suffix == BLEND:
            bpy.ops.wm.save_as_mainfile(filepath=str(temporary), copy=True, check_existing=False)
            return ""
        moved = _moved_to_zero(suffix)
        fit_scene_to_actions(current_scene())
        out = formats.export_file(temporary, suffix, only)
        return "; ".join(filter(None, [moved, clips.left_out(out, path.name)]))


def _moved_to_zero(suffix: str) -> str:
    """Moves motion before frame 0 there: a scene's range, which exporters write, begins at 0."""
    frames = motion_range(armatures())
    if frames is None or frames[0] >= 0:
        return ""
    playing, others = clips.clips_of(current_scene().objects)
    waiting = {part.action for clip in others for part in clip.parts} - {part.action for part in playing.parts}
    shift_animation(-frames[0], waiting)
    return f"frames {frames[0]}…{frames[1]} are 0…{frames[1] - frames[0]} in {suffix}"


def check_readable(path: Path) -> str:
    """The lower-case extension of a file that is there and of a known kind.

    Raises:
        LimbIKError: it is not.
    """
    if os.path.isdir(path):  # unlike pathlib's it never fails
        raise LimbIKError(f"{path} is a folder, not a file")
    if not os.path.exists(path):
        raise LimbIKError(f"{path} does not exist")
    suffix = _known_suffix(path, READABLE, f"{path.name} can't be read")
    if not path.stat().st_size:
        raise LimbIKError(f"{path.name} can't be read: it is empty")
    return suffix


def check_writable(path: Path, known: Iterable[str] = WRITABLE) -> str:
    """The lower-case extension of a file to be written; asked before any work is done.

    Raises:
        LimbIKError: no file of that kind can be written there.
    """
    if os.path.isdir(path):
        raise LimbIKError(f"{path} is a folder, not a file")
    suffix = _known_suffix(path, tuple(known), f"{path} can't be written")
    check_place(path)
    return suffix


def _known_suffix(path: Path, known: Sequence[str], what: str) -> str:
    suffix = path.suffix.lower()
    if suffix in known:
        return suffix
    if len(known) == 1:
        raise LimbIKError(f"{what}: it has to be a {known[0]}")
    kind = f"{path.suffix} is not" if path.suffix else "it has no extension, which should be"
    raise LimbIKError(f"{what}: {kind} one of {', '.join(known)}")


def armatures() -> list[bpy.types.Object]:
    """All armature objects of the current scene, by name; this file's own that only instances show, too."""
    scene = current_scene()
    own = [obj for obj in bpy.data.objects if obj.type == 'ARMATURE' and obj.library is None]
    found = {obj for obj in scene.objects if obj.type == 'ARMATURE'}
    return sorted(found.union(obj for obj in own if is_in_one_of([scene], obj)), key=lambda obj: obj.name)


def why_no_armature() -> str:
    """Where armatures are that the current scene doesn't have, in words; empty where there are none."""
    return "; ".join(f"'{obj.name}' {_place_of(obj)}" for obj in bpy.data.objects if obj.type == 'ARMATURE')


def _place_of(obj: bpy.types.Object) -> str:
    if obj.library is not None and is_in_one_of([current_scene()], obj):
        return "is linked and an instance shows it: make a library override of it first"
    return f"is in {' and '.join(_scenes_of(obj)) or 'no scene'}"


def armatures_elsewhere() -> dict[str, str]:
    """Armatures that only other scenes of the file have, by name: their scenes in words."""
    own = f"'{current_scene().name}'"
    found = {obj.name: _scenes_of(obj) for obj in bpy.data.objects if obj.type == 'ARMATURE'}
    return {name: ' and '.join(scenes) for name, scenes in found.items() if scenes and own not in scenes}


def _scenes_of(obj: bpy.types.Object) -> list[str]:
    return [f"'{scene.name}'" for scene in bpy.data.scenes if is_in_one_of([scene], obj)]


def motion_range(
    objects: Iterable[bpy.types.Object], range_of: RangeOf = animated_range.animation_range
) -> tuple[int, int] | None:
    """First and last whole frame that hold the animation of these objects; None where there is none.

    ``range_of`` says what one has.

    Raises:
        LimbIKError: a key's frame is no number.
    """
    ranges = [found for obj in objects if (found := range_of(obj)) is not None]
    if not all(math.isfinite(end) for ends in ranges for end in ends):
        raise LimbIKError("a key of its animation is at no frame: NaN or infinity")
    return whole_frames(ranges)


def fit_scene_to_actions(scene: bpy.types.Scene) -> None:
    """Gives the scene the frame range of its armatures' actions."""
    frames = motion_range(o for o in scene.objects if o.type == 'ARMATURE')
    if frames is not None:
        scene.frame_start, scene.frame_end = frames
        scene.frame_set(frames[0])
