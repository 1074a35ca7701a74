"""Reading frames: the FK pose and the solved pose of rigs over a range, without touching the user's scene.

Frames are read in a scene of their own that holds just the armatures; what their
targets need comes along through the dependency number. Where something depends on the
user's scene itself (``needs``), frames are read there and its frame is put back. The
live handlers neither solve nor write meanwhile. This module must not write keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import bpy

from . import compat, dependency, fk_pose, live_pause, marks, needs, upstream
from .chains import setup_of
from .evaluate import Evaluation, evaluate
from .session import object_at, timeline_frame

T = TypeVar("T")
SCENE_NAME = "Limb IK Reading"
# Without the time stretching: frames are those of the animation, at which keys are written.
RENDER_SETTINGS = ("fps", "fps_base")
UNIT_SETTINGS = ("system", "scale_length", "length_unit", "system_rotation")


def sample(
    context: Any,
    objects: Sequence[bpy.types.Object],
    frames: Sequence[float],
    read: Callable[[Evaluation], T],
    *,
    only: Sequence[marks.ChainKey] | None = None,
    is_solved: bool = True,
    beside: Sequence[bpy.types.Object] = (),
) -> list[T]:
    """Evaluate rigs at each frame and keep what ``read`` takes from each evaluation.

    Args:
        context: whose scene gives frame rate and units.
        objects: original armature objects; other rigs that their targets hang on are solved, too.
        frames: in the order in which they are read; fractions are sub-frames.
        read: takes values out of an evaluation; must keep no reference to Blender's data.
        only: chains to solve (object key, tip); None for all.
        is_solved: False reads FK: no chain of ``objects`` is solved.
        beside: other objects that ``read`` looks at.

    Returns:
        One value per frame. Every rig holds its FK pose meanwhile and is solved again at the next update.
    """
    return list(sampled(context, objects, frames, read, only=only, is_solved=is_solved, beside=beside))


def sampled(
    context: Any,
    objects: Sequence[bpy.types.Object],
    frames: Sequence[float],
    read: Callable[[Evaluation], T],
    *,
    only: Sequence[marks.ChainKey] | None = None,
    is_solved: bool = True,
    beside: Sequence[bpy.types.Object] = (),
) -> Generator[T, None, None]:
    """``sample``, one frame at a time; everything is put back when it ends or is closed.

    Between two frames the caller must change nothing that the armatures hang on.
    """
    chains = only if is_solved else ()

    def solved(depsgraph: bpy.types.Depsgraph, held: list[bpy.types.Object], frame: float) -> T:
        return read(evaluate(depsgraph, held, frame, is_fresh=True, is_forced=True, only=chains))

    yield from visited(context, objects, frames, solved, beside)


def visited(
    context: Any,
    objects: Sequence[bpy.types.Object],
    frames: Sequence[float],
    look: Callable[[bpy.types.Depsgraph, list[bpy.types.Object], float], T],
    beside: Sequence[bpy.types.Object] = (),
) -> Generator[T, None, None]:
    """Go to each frame with every rig in FK and yield what ``look`` finds; see ``sampled``.

    ``look`` gets the depsgraph, the rigs (original objects) that it holds, and the frame.
    """
    rigs = [obj for obj in marks.rigs() if obj.is_editable]
    rigs += [obj for obj in objects if obj not in rigs]
    beside = [*beside, *_grounds(rigs)]
    need = needs.scene_need(context.scene, [*objects, *beside])
    place = _own_scene(context.scene, objects, beside) if need is None else _users_scene(context)
    with live_pause.paused(), _showing_fk(rigs), place as (scene, layer):
        before = None if need is None or need.first is None else need.first - 1
        for frame in frames:
            for whole in _played_first(before, frame):
                scene.frame_set(whole)
            _go(scene, frame)
            before = None if before is None else max(before, math.floor(frame))
            depsgraph = layer.depsgraph
            held = [rig for rig in rigs if rig.evaluated_get(depsgraph).is_evaluated]
            yield look(depsgraph, held, frame)


def _grounds(rigs: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """The surfaces that chains are kept above: their geometry has to be evaluated, not their place alone."""
    keys = {chain.ground_key[0]: None for rig in rigs for chain in setup_of(rig).chains if chain.ground_key is not None}
    return [object_at(key) for key in keys]


def _played_first(before: int | None, frame: float) -> range:
    """Whole frames to go through on the way to the next one: simulations have to be played."""
    return range(0) if before is None else range(before + 1, math.floor(frame))


def _go(scene: bpy.types.Scene, frame: float) -> None:
    """Go where a scene shows this frame of the animation."""
    shown = timeline_frame(scene, frame)
    whole = math.floor(shown)
    scene.frame_set(whole, subframe=shown - whole)


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
def _users_scene(context: Any) -> Iterator[tuple[Any, Any]]:
    """The user's scene and view layer; its frame as before afterwards."""
    scene = context.scene
    frame = scene.frame_current_final
    try:
        yield scene, context.view_layer
    finally:
        _go(scene, frame)


@contextmanager
def _own_scene(
    user_scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], beside: Sequence[bpy.types.Object]
) -> Iterator[tuple[Any, Any]]:
    """A scene with just these rigs and the user's timing, units, camera and gravity; gone afterwards.

    Blender puts animated values into the originals as it goes, which the user's scene shares: the last frame that is
    gone to is the one that the user's scene shows.
    """
    scene = bpy.data.scenes.new(SCENE_NAME)
    pulls: list[bpy.types.Object] = []
    try:
        for name in RENDER_SETTINGS:
            setattr(scene.render, name, getattr(user_scene.render, name))
        for name in UNIT_SETTINGS:
            setattr(scene.unit_settings, name, getattr(user_scene.unit_settings, name))
        scene.camera = user_scene.camera
        scene.use_gravity = user_scene.use_gravity
        scene.gravity = user_scene.gravity
        for obj in upstream.with_upstream(objects, [*marks.rigs(), *objects]):
            scene.collection.objects.link(obj)
            if _may_be_disabled(obj):
                pulls.append(_pull(scene, obj))
        for obj in beside:
            if obj not in scene.collection.objects[:]:  # names may be those of linked ones, too
                scene.collection.objects.link(obj)
        scene.view_layers[0].update()
        yield scene, scene.view_layers[0]
    finally:
        _go(scene, user_scene.frame_current_final)
        for pull in pulls:
            mesh: Any = pull.data
            bpy.data.meshes.remove(mesh)
        bpy.data.scenes.remove(scene)


def _may_be_disabled(obj: bpy.types.Object) -> bool:
    return obj.hide_viewport or compat.find_fcurve(obj, "hide_viewport") is not None


def _pull(scene: bpy.types.Scene, obj: bpy.types.Object) -> bpy.types.Object:
    """A visible mesh that hangs on the armature's pose and dependency number, so that Blender evaluates both.

    Blender would leave them out of an armature that is disabled in viewports.
    """
    mesh = bpy.data.meshes.new(SCENE_NAME)
    mesh.from_pydata([(0.0, 0.0, 0.0)], [], [])
    pull = bpy.data.objects.new(SCENE_NAME, mesh)
    modifier: Any = pull.modifiers.new("Armature", 'ARMATURE')
    modifier.object = obj
    curve: Any = pull.driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.targets[0].id = obj
    variable.targets[0].data_path = dependency.NUMBER_PATH
    scene.collection.objects.link(pull)
    return pull
