"""Application handlers: when the pose is evaluated and written, live.

Frame changes: FK goes back into the bones before Blender evaluates, the solved pose
after it. Edits: solved again where a rig or something its chains need changed.
Handlers hold no reference to Blender's data between calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import bpy
from bpy.app.handlers import persistent

from .rig import (
    dependency,
    edits,
    fk_pose,
    history,
    keyed_fk,
    live_pause,
    marks,
    migrate,
    overwritten,
    readouts,
    simulations,
    staying,
    updates,
    upstream,
    warm_start,
    write,
)
from .rig.crowd import switches
from .rig.evaluate import evaluate

Handler = TypeVar("Handler", bound=Callable[..., None])


# Session numbers of the rigs that were left as IK posed them before this frame change.
_stayed: set[int] = set()
# Whether a frame came with new relations, so that rigs may hang on others than was seen last.
_relations = {"are_stale": False}


def _persists(handler: Handler) -> Handler:
    """Blender's mark of a handler that outlives the file; its own decorator has no types."""
    return cast(Handler, persistent(handler))


def _held_by(depsgraph: bpy.types.Depsgraph) -> list[bpy.types.Object]:
    """The rigs that a depsgraph evaluates and that may be written to."""
    return [obj for obj in marks.rigs() if _is_held_by(obj, depsgraph)]


def _is_held_by(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    return obj.is_editable and obj.evaluated_get(depsgraph).is_evaluated


@_persists
def frame_change_pre(scene: bpy.types.Scene, *_: Any) -> None:
    """Put FK back, so that what is animated and what is not both evaluate to FK.

    Where all of it is keyed, the animation does; where none of it is, the rig may stay as it is.
    """
    _stayed.clear()
    if live_pause.is_paused() or not marks.has_any():
        return
    _mend_keys_of_frame_left(scene)
    if _relations["are_stale"] and not cast(Any, bpy.app).is_job_running('RENDER'):  # it goes on beside the panels
        _relate_rigs_anew()
    history.clear()
    rigs = _rigs_in(scene)
    settled = _settled_graph(scene)
    if settled is None:
        edits.note()
    edits.note_other_handlers()
    with marks.quiet():
        _stayed.update(staying.staying(rigs, settled))
        for obj in rigs:
            if obj.session_uid not in _stayed and not overwritten.is_likely(obj):
                fk_pose.restore(obj)


def _settled_graph(scene: bpy.types.Scene) -> bpy.types.Depsgraph | None:
    """The depsgraph of the screen where no edit waits for an update in it as the frame is left, else None."""
    layer = bpy.context.view_layer
    depsgraph = layer.depsgraph if layer is not None and bpy.context.scene == scene else None
    return None if depsgraph is None or updates.may_matter(depsgraph) else depsgraph


def _mend_keys_of_frame_left(scene: bpy.types.Scene) -> None:
    """Put FK into keys that a script inserted on the frame that is left and gave no update for."""
    layer, frame = bpy.context.view_layer, keyed_fk.shown_frame(scene)
    depsgraph = layer.depsgraph if layer is not None and bpy.context.scene == scene else None
    if frame is None or depsgraph is None or not depsgraph.id_type_updated('ACTION'):
        return
    overwritten.forget()
    switches.forget()
    for obj in _held_by(depsgraph):
        keyed_fk.put_fk_into_keys(obj, obj.evaluated_get(depsgraph), frame)
        keyed_fk.note_keys(obj)


def _rigs_in(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The rigs of a scene; Blender names no depsgraph before a frame change. Other scenes keep what they show."""
    found = [obj for obj in marks.rigs() if obj.is_editable]
    if len(bpy.data.scenes) == 1:
        return found
    uids = {obj.session_uid for obj in scene.objects}  # linked objects may have names of others
    return [obj for obj in found if obj.session_uid in uids]


@_persists
def frame_change_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Solve this frame and write it; Blender evaluates once more and shows it in the same update."""
    if live_pause.is_paused() or not _may_have_rigs(scene, depsgraph):
        return
    _notice_rigs_that_came(scene, depsgraph)
    if not marks.has_any():
        return
    with warm_start.allowed(depsgraph):
        frame = scene.frame_current_final
        write.write(evaluate(depsgraph, _held_by(depsgraph), frame, is_fresh=True, stayed=_stayed, is_played=True))
    keyed_fk.note_frame(scene)


def _may_have_rigs(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether rigs are watched or may have come with this frame: one question to Blender where there are none."""
    return marks.has_any() or keyed_fk.shown_frame(scene) is None or depsgraph.id_type_updated('ARMATURE')


def _notice_rigs_that_came(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Watch rigs that were copied or appended, or came with a scene, and got no update before this frame.

    What was set up before it, by a script, is read as well. Relations are not changed here: Blender would evaluate
    all animation of this frame once more, over what is written now.
    """
    if updates.is_set_up_anew(depsgraph):
        marks.names_may_have_changed()
        _relations["are_stale"] = True
    if keyed_fk.shown_frame(scene) is None:
        marks.mark_all()
        keyed_fk.note_frame(scene)
    elif depsgraph.id_type_updated('ARMATURE'):
        for obj in updates.armatures_in(updates.updated(depsgraph)):
            if not marks.is_known(obj) and marks.has_traces(obj):
                marks.mark(obj)


@_persists
def depsgraph_update_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Solve the rigs again that an edit touched, themselves or in what their chains hang on."""
    if not updates.may_matter(depsgraph):
        return
    edits.note()
    if live_pause.is_paused():
        return
    simulations.forget()
    touched = updates.touched_rigs(depsgraph) if updates.may_touch_rigs(depsgraph) else ()
    if not touched:
        return
    if _relations["are_stale"] or depsgraph.id_type_updated('SCENE'):
        _relate_rigs_anew()
    frame = scene.frame_current_final
    rigs = [obj for obj in upstream.involved(touched, marks.rigs()) if _is_held_by(obj, depsgraph)]
    if depsgraph.id_type_updated('ACTION'):
        overwritten.forget()
        switches.forget()
        left = keyed_fk.shown_frame(scene)  # another one where a script just set the frame
        for obj in rigs:
            for at in {frame, frame if left is None else left}:
                keyed_fk.put_fk_into_keys(obj, obj.evaluated_get(depsgraph), at)
    with warm_start.allowed(depsgraph):
        write.write(evaluate(depsgraph, rigs, frame, is_fresh=False))
    keyed_fk.note_frame(scene)
    note = keyed_fk.note_keys if depsgraph.id_type_updated('ACTION') else keyed_fk.note_action
    for obj in rigs:
        note(obj)


def _relate_rigs_anew() -> None:
    """Something may hang on something else: see which rigs hang on which, and what has to be evaluated for them."""
    _relations["are_stale"] = False
    upstream.forget()
    dependency.follow_upstream(marks.rigs())


@_persists
def load_post(*_: Any) -> None:
    """A new file: nothing that was remembered holds, and its rigs are solved at once.

    Blender builds the new dependency graph without calling handlers, so it is built here. Then the frame is set: an
    update alone would leave all animation of the file as it was saved, though libraries may be others now.
    """
    readouts.clear()
    simulations.forget()
    marks.mark_all()
    for obj in marks.rigs():
        migrate.up_to_date(obj)
        if obj.is_editable and dependency.is_from_library(obj):
            dependency.rebuild(obj)
    dependency.follow_upstream(marks.rigs())
    layer, scene = bpy.context.view_layer, bpy.context.scene
    if marks.rigs() and layer is not None and scene is not None:
        layer.update()
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


@_persists
def undo_post(*_: Any) -> None:
    """An undo or redo: every reference is invalid and every set-up may be another; solve at the next update."""
    history.clear()
    marks.mark_all()
    for obj in marks.rigs():
        if obj.is_editable:
            obj.update_tag()


HANDLERS: dict[str, Callable[..., None]] = {
    "frame_change_pre": frame_change_pre,
    "frame_change_post": frame_change_post,
    "depsgraph_update_post": depsgraph_update_post,
    "load_post": load_post,
    "undo_post": undo_post,
    "redo_post": undo_post,
}


def register() -> None:
    """Attach each handler once. What is open is live at the next update."""
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)
    marks.mark_all()
    if hasattr(bpy.data, "objects"):  # not while Blender starts; a file is loaded after that
        for obj in marks.rigs():
            migrate.up_to_date(obj)
        dependency.follow_upstream(marks.rigs())
        undo_post()
        for obj in marks.rigs():
            dependency.revalidate(obj)


def unregister() -> None:
    """Take the handlers away and give every rig its FK pose back."""
    _detach()
    if hasattr(bpy.data, "objects"):  # not while Blender shuts down
        with marks.quiet():
            for obj in marks.rigs():
                fk_pose.restore(obj)
    marks.mark_all()
    readouts.clear()


def _detach() -> None:
    """Remove what is ours: a handler left at exit crashes Blender 4.2 as a module and hangs 4.5."""
    for name, handler in HANDLERS.items():
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)
