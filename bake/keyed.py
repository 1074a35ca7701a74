"""Keys that bones have already: at which frames, and whether they are those of captured motion.

Reads only. Units: frames of the scene, in NLA tweak mode too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import bpy
import numpy as np

from ..rig import compat
from ..rig.channels import SAME_FRAME
from ..rig.data_paths import bone_path, rotation_path
from ..rig.session import pose_bones
from .key_table import BEZIER, key_frames, read_table
from .writable import action_frame

# Captured motion has a key a frame, or one every other.
MOST_FRAMES = 0.4


def keyed_frames(obj: bpy.types.Object, bones: Iterable[str], first: float, last: float) -> list[float]:
    """The frames within first…last at which any channel of these bones has a key, rising.

    Keys nearer than Blender tells apart count once.
    """
    return _frames(obj, [bone_path(name) for name in bones], first, last)


def frames_of_place(obj: bpy.types.Object, first: float, last: float) -> list[float]:
    """As ``keyed_frames``, of an object's own location and rotation."""
    return _frames(obj, ["location", "rotation_"], first, last)


def _frames(obj: bpy.types.Object, prefixes: Sequence[str], first: float, last: float) -> list[float]:
    curves = [curve for curve in compat.fcurves_of(obj) if curve.data_path.startswith(tuple(prefixes))]
    if not curves:
        return []
    anim = cast(bpy.types.AnimData, obj.animation_data)
    x = np.unique(np.concatenate([key_frames(curve) for curve in curves]))
    shown = np.sort([anim.nla_tweak_strip_time_to_scene(float(frame)) for frame in x])
    shown = shown[(shown >= first - SAME_FRAME) & (shown <= last + SAME_FRAME)]
    is_new = np.diff(shown, prepend=-np.inf) > SAME_FRAME
    return [float(frame) for frame in shown[is_new]]


def straight_bones(obj: bpy.types.Object, names: Iterable[str], first: float, last: float) -> set[str]:
    """Bones whose rotation has keys on most frames of a range (scene time) and no Bézier segment: captured motion.

    Baked straight, too, it is the same between frames.
    """
    curves, anim = compat.fcurves_of(obj), obj.animation_data
    if anim is None:
        return set()
    start, end = sorted(action_frame(anim, frame) for frame in (first, last))
    paths = {rotation_path(pose_bones(obj)[name]): name for name in names}
    kinds: dict[str, set[int]] = {}
    most = MOST_FRAMES * (end - start)
    for curve in curves:
        if curve.data_path in paths:
            table = read_table(curve)
            inside = (table["co"][:, 0] > start - SAME_FRAME) & (table["co"][:, 0] < end + SAME_FRAME)
            found = table["interpolation"][inside, 0].tolist() if inside.sum() > most else [BEZIER]
            kinds.setdefault(paths[curve.data_path], set()).update(found)
    return {name for name, found in kinds.items() if BEZIER not in found}
