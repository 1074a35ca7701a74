"""Reading frames: the FK pose and the solved pose of rigs over a range, without touching the user's scene.

Frames are read in a scene of their own that holds just the armatures; what their
targets need comes along through the dependency number. The live handlers neither
solve nor write there. This module must not write keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import bpy

from . import fk_pose, live_pause, marks
from .evaluate import Evaluation, evaluate

T = TypeVar("T")
SCENE_NAME = "Limb IK Reading"
RENDER_SETTINGS = ("fps", "fps_base", "frame_map_old", "frame_map_new")
UNIT_SETTINGS = ("system", "scale_length", "length_unit", "system_rotation")


def sample(
    context: bpy.types.Context,
    objects: Sequence[bpy.types.Object],
    frames: Sequence[float],
    read: Callable[[Evaluation], T],
    *,
    only: Sequence[tuple[marks.Key, str]] | None = None,
    is_solved: bool = True,
) -> list[T]:
    """Evaluate rigs at each frame and keep what ``read`` takes from each evaluation.

    Args:
        context: whose scene gives frame rate and units.
        objects: original armature objects; other rigs that their targets hang on are solved, too.
        frames: in the order in which they are read; fractions are sub-frames.
        read: takes values out of an evaluation; must keep no reference to Blender's data.
        only: chains to solve (object key, tip); None for all.
        is_solved: False reads FK: no chain of ``objects`` is solved.

    Returns:
        One value per frame. Every rig holds its FK pose meanwhile and is solved again at the next update.
    """
    rigs = [obj for obj in marks.rigs() if obj.is_editable]
    rigs += [obj for obj in objects if obj not in rigs]
    chains = only if is_solved else ()
    with live_pause.paused(), _showing_fk(rigs), _own_scene(context.scene, objects) as scene:
        depsgraph = scene.view_layers[0].depsgraph
        values = []
        for frame in frames:
            whole = math.floor(frame)
            scene.frame_set(whole, subframe=frame - whole)
            held = [rig for rig in rigs if rig.evaluated_get(depsgraph).is_evaluated]
            values.append(read(evaluate(depsgraph, held, frame, is_fresh=True, is_forced=True, only=chains)))
        return values


@contextmanager
def _showing_fk(rigs: Sequence[bpy.types.Object]) -> Iterator[None]:
    with marks.quiet():
        for obj in rigs:
            fk_pose.restore(obj)
    try:
        yield
    finally:
        for obj in rigs:
            marks.touch(obj)


@contextmanager
def _own_scene(user_scene: bpy.types.Scene, objects: Sequence[bpy.types.Object]) -> Iterator[bpy.types.Scene]:
    """A scene with just these objects and the user's timing, units, camera and gravity; gone afterwards."""
    scene = bpy.data.scenes.new(SCENE_NAME)
    try:
        for name in RENDER_SETTINGS:
            setattr(scene.render, name, getattr(user_scene.render, name))
        for name in UNIT_SETTINGS:
            setattr(scene.unit_settings, name, getattr(user_scene.unit_settings, name))
        scene.camera = user_scene.camera
        scene.use_gravity = user_scene.use_gravity
        scene.gravity = user_scene.gravity
        for obj in objects:
            scene.collection.objects.link(obj)
        scene.view_layers[0].update()
        yield scene
    finally:
        bpy.data.scenes.remove(scene)
