"""Frames of plain limbs read and solved in one go: from F-curves where they alone move a rig, else frame by frame.

What F-curves say is believed only where Blender's own evaluation agrees with it on some of the frames.
This module must not write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..rig import needs
from ..rig.sampling import visited
from . import curve_reading, over_frames
from .curve_motion import Motions
from .curve_reading import CurveReader
from .limb_frames import FrameReader, LimbFrames, looker
from .reading import BakeWork, Reading
from .steps import Steps
from .stretches import Stretch

Found = dict[float, list[Reading]]
# Frames on which F-curves are checked against Blender's own evaluation; fewer frames are all read there.
CHECKS = 5
# Frames that are read at once: progress is shown, and Esc heard, between them.
AT_ONCE = 500


def read_together(
    context: Any, works: Sequence[BakeWork], frames: Sequence[float], reads: Sequence[Stretch], is_reduced: bool
) -> Steps[Found]:
    """The readings of frames that can be solved in one go, by frame; yields how many are read, of how many.

    Args:
        reads: what ``stretches`` found for the works.
        is_reduced: whether places of joints are read, too.
    """
    objects = [work.obj for work in works]
    if len(frames) > CHECKS and _may_read_curves(context.scene, objects, reads):
        found = yield from _by_curves(context, objects, frames, reads, is_reduced)
        if found is not None:
            return found
    readers = [FrameReader(read) for read in reads]
    is_whole = yield from _go_through(context, objects, frames, readers, len(frames))
    return _solved(frames, reads, [reader.frames() for reader in readers], is_reduced) if is_whole else {}


def _may_read_curves(scene: Any, objects: Sequence[bpy.types.Object], reads: Sequence[Stretch]) -> bool:
    is_mapped = scene.render.frame_map_old != scene.render.frame_map_new
    is_own_scene = needs.scene_need(scene, objects) is None
    return not is_mapped and is_own_scene and all(curve_reading.is_possible(read) for read in reads)


def _go_through(
    context: Any, objects: Sequence[bpy.types.Object], frames: Sequence[float], readers: Sequence[Any], total: int
) -> Steps[bool]:
    """Read frame by frame; False where an armature isn't evaluated on one."""
    taken = visited(context, objects, frames, looker(readers))
    try:
        for number, is_evaluated in enumerate(taken, start=1):
            if not is_evaluated:
                return False
            yield number, total
    finally:
        taken.close()
    return True


def _by_curves(
    context: Any,
    objects: Sequence[bpy.types.Object],
    frames: Sequence[float],
    reads: Sequence[Stretch],
    is_reduced: bool,
) -> Steps[Found | None]:
    """As ``read_together``; None where the curves don't say what Blender evaluates."""
    checked = np.unique(np.linspace(0, len(frames) - 1, CHECKS).astype(int)).tolist()
    motions = Motions()
    readers = [_Checked(read, motions) for read in reads]
    is_whole = yield from _go_through(context, objects, [frames[one] for one in checked], readers, len(frames))
    if not is_whole:
        return None
    seen, found = [reader.frames() for reader in readers], Found()
    for start in range(0, len(frames), AT_ONCE):
        some = range(start, min(start + AT_ONCE, len(frames)))
        taken = [
            reader.curves.read([frames[one] for one in some], one.settings[0])
            for reader, one in zip(readers, seen, strict=True)
        ]
        if not _agree(taken, seen, some, checked):
            return None
        found |= _solved([frames[one] for one in some], reads, taken, is_reduced)
        yield max(CHECKS, some.stop), len(frames)
    return found


class _Checked(FrameReader):
    """A reader of frames that makes, on the first of them, what reads the curves: the originals hold FK then."""

    curves: CurveReader

    def __init__(self, stretch: Stretch, motions: Motions) -> None:
        super().__init__(stretch)
        self.motions = motions

    def read(self, depsgraph: Any, frame: float) -> bool:
        if not self.worlds:
            self.curves = CurveReader(self.stretch, self.motions)
        return super().read(depsgraph, frame)


def _agree(taken: Sequence[LimbFrames], seen: Sequence[LimbFrames], some: range, checked: Sequence[int]) -> bool:
    """Whether curves (of some frames, by number) say what Blender evaluated on the checked ones among them."""
    theirs = [place for place, number in enumerate(checked) if number in some]
    mine = [checked[place] - some.start for place in theirs]
    return all(curve_reading.agree(a.some(mine), b.some(theirs)) for a, b in zip(taken, seen, strict=True))


def _solved(frames: Sequence[float], reads: Sequence[Stretch], taken: Sequence[LimbFrames], is_reduced: bool) -> Found:
    """A reading for every work on each frame; frames on which one has to be evaluated by itself are left out."""
    own = [over_frames.solved(read, one, is_reduced) for read, one in zip(reads, taken, strict=True)]
    return {
        frame: [one for one in row if one is not None]
        for frame, row in zip(frames, zip(*own, strict=True), strict=True)
        if all(one is not None for one in row)
    }
