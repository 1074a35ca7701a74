"""Reads and writes the files of the command line, whole or not at all.

Must not know chains, solving or baking. A file is written under another name in
its own folder and moved into place when it is whole. What goes wrong in Blender's
importers and exporters becomes one sentence.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy

from ..rig import compat
from ..rig.errors import LimbIKError
from ..rig.scenes import is_in_one_of
from ..rig.session import current_scene
from . import clips, formats
from .clip import whole_frames
from .quiet import blender_chatter
from .shift import shift_animation

RangeOf = Callable[[bpy.types.ID], tuple[float, float] | None]

BLEND = ".blend"
READABLE = (BLEND, *formats.READERS)
WRITABLE = (BLEND, *formats.WRITERS)
# Files and folders that are being written, beside where they will be.
_unfinished: set[Path] = set()
# What is done when a file is whole, before it is moved into place.
before_moving: list[Callable[[], object]] = []


def open_file(path: Path, *, trust: bool = False) -> None:
    """Opens a .blend in place of the current file, or imports another format into an empty one.

    Args:
        path: A file with one of the extensions in ``READABLE``.
        trust: Run scripts and Python drivers of a .blend.

    Raises:
        LimbIKError: Missing, unknown or unreadable.
    """
    suffix = check_readable(path)
    with _sentences(f"{path.name} can't be read"), blender_chatter():
        if suffix == BLEND:
            bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False, use_scripts=trust)
        else:
            bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=False)
            formats.import_file(path.resolve(), suffix)
            fit_scene_to_actions(current_scene())


def save_file(path: Path) -> str:
    """Writes the current file: as .blend, or its motion in another format.

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
    with _sentences(f"{path} can't be written"), _moved_into_place(path.resolve()) as temporary, blender_chatter():
        if suffix == BLEND:
            bpy.ops.wm.save_as_mainfile(filepath=str(temporary), copy=True, check_existing=False)
            return ""
        moved = _moved_to_zero(suffix)
        fit_scene_to_actions(current_scene())
        out = formats.export_file(temporary, suffix)
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


def write_text(path: Path, text: str) -> None:
    """Writes a small text file, whole or not at all."""
    with _sentences(f"{path} can't be written"), _moved_into_place(path.resolve()) as temporary:
        temporary.write_text(text, encoding="utf-8")


def make_folder(path: Path) -> None:
    """Makes a folder, and those above it, where there is none."""
    with _sentences(f"{path} can't be made"):
        path.mkdir(parents=True, exist_ok=True)


def check_readable(path: Path) -> str:
    """The lower-case extension of a file that is there and of a known kind.

    Raises:
        LimbIKError: it is not.
    """
    if path.is_dir():
        raise LimbIKError(f"{path} is a folder, not a file")
    if not path.exists():
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
    if path.is_dir():
        raise LimbIKError(f"{path} is a folder, not a file")
    suffix = _known_suffix(path, tuple(known), f"{path} can't be written")
    if not path.resolve().parent.is_dir():
        raise LimbIKError(f"{path} can't be written: its folder does not exist")
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
    words = []
    for obj in (one for one in bpy.data.objects if one.type == 'ARMATURE'):
        scenes = [f"'{scene.name}'" for scene in bpy.data.scenes if is_in_one_of([scene], obj)]
        words.append(f"'{obj.name}' is in {' and '.join(scenes)}" if scenes else f"'{obj.name}' is in no scene")
    return "; ".join(words)


def motion_range(
    objects: Iterable[bpy.types.Object], range_of: RangeOf = compat.animation_range
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


@contextmanager
def _sentences(what: str) -> Iterator[None]:
    """Turns whatever goes wrong in Blender's importers and exporters into one sentence."""
    try:
        yield
    except OSError as problem:
        raise LimbIKError(f"{what}: {problem.strerror or problem}") from problem
    except Exception as problem:  # importers are Python of others: anything may come out of them
        raise LimbIKError(f"{what}: {_last_line(problem)}") from problem


def _last_line(problem: Exception) -> str:
    """The last line that says something: operators pass whole tracebacks on as their message."""
    text = str(problem)
    lines = [line.strip() for line in text.splitlines()]
    telling = [line for line in lines if line and not line.startswith("Location:")]
    reason = telling[-1].removeprefix("Error: ") if telling else type(problem).__name__
    return f"it is damaged or of another kind ({reason})" if "Traceback" in text else reason


@contextmanager
def _moved_into_place(final: Path) -> Iterator[Path]:
    """A path beside ``final`` to write to: moved there when all went well, removed when not.

    It is a name in the same folder, since another one breaks relative paths.
    Only .gltf, which names its companions, is written under its own name in a
    folder of its own and moved out of it, companions first.
    """
    workplace = Path(tempfile.mkdtemp(prefix=f".{final.stem}.", suffix=".part", dir=final.parent))
    temporary = workplace / final.name if final.suffix.lower() == ".gltf" else workplace.with_suffix(final.suffix)
    _unfinished.update((temporary, workplace))
    try:
        yield temporary
        for wait in before_moving:
            wait()
        for companion in sorted(workplace.iterdir()):
            if companion != temporary:
                os.replace(companion, final.parent / companion.name)
        os.replace(temporary, final)
    finally:
        remove_unfinished()


def remove_unfinished() -> None:
    """Removes what is being written, also where the process is to end in the middle of it."""
    for path in tuple(_unfinished):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        _unfinished.discard(path)
