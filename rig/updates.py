"""What an update of Blender's touched: which rigs it is about, and whether their set-ups may be others now.

Marks rigs and settles copied chains; this module must not evaluate or write a pose.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

import bpy

from . import chains, copies, marks
from .session import is_in_edit_mode

# Looked up once: Blender searches all its types for the name each time (measured: 4 us where little is in the cache).
OBJECT = bpy.types.Object


def may_matter(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether objects, armatures or actions were updated at all; other updates are none of ours."""
    is_updated = depsgraph.id_type_updated
    return is_updated('OBJECT') or is_updated('ARMATURE') or is_updated('ACTION')


def may_touch_rigs(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether to look closer: most edits name no armature and no ground; going through their list is all they cost."""
    is_updated, has_grounds = depsgraph.id_type_updated, bool(chains.standing())
    if is_updated('ACTION') or is_updated('ARMATURE'):
        return True
    for update in depsgraph.updates:
        block = update.id
        if isinstance(block, OBJECT) and block.type == 'ARMATURE':
            return True
        if has_grounds and update.is_updated_geometry and _rigs_on(block):
            return True
    return False


def _rigs_on(block: bpy.types.ID | None) -> Collection[int]:
    """Session numbers of the rigs that stand on an object."""
    original = block.original if isinstance(block, bpy.types.Object) else None
    return () if original is None else chains.standing().get(original.session_uid, ())


def _reshaped_below(depsgraph: bpy.types.Depsgraph) -> list[bpy.types.Object]:
    """The rigs on a ground whose shape changed; Blender knows of no relation to that, as it does to its place."""
    uids = {uid for update in depsgraph.updates if update.is_updated_geometry for uid in _rigs_on(update.id)}
    return [obj for obj in marks.rigs() if obj.session_uid in uids] if uids else []


def is_set_up_anew(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a frame came with edits that nothing else told of: a script's, which gave no update before it.

    Frames alone list neither a scene, a collection nor an armature, but where those are animated themselves (measured
    on 4.2, 4.5 and 5.3). New relations list the scene, anything that is set on a bone or its constraints the armature.
    """
    is_updated = depsgraph.id_type_updated
    if is_updated('COLLECTION') or (is_updated('SCENE') and cast(Any, depsgraph.scene).animation_data is None):
        return True
    return is_updated('ARMATURE') and any(_is_edited_armature(update) for update in depsgraph.updates)


def _is_edited_armature(update: bpy.types.DepsgraphUpdate) -> bool:
    block = update.id
    if not isinstance(block, bpy.types.Armature):
        return False
    return update.is_updated_geometry or block.animation_data is None


def touched_rigs(depsgraph: bpy.types.Depsgraph) -> list[bpy.types.Object]:
    """The watched armatures among what was updated; those that came by duplicating or linking are watched from now on.

    A rig whose target moved is among them, too: its dependency number changed.
    """
    blocks = updated(depsgraph)
    found = armatures_in(blocks)
    if depsgraph.id_type_updated('ACTION'):
        found += [obj for obj in marks.rigs() if obj not in found and _plays_one_of(obj, blocks)]
    if depsgraph.id_type_updated('ARMATURE'):
        marks.names_may_have_changed()
        edited = {data for data in blocks if isinstance(data, bpy.types.Armature)}
        found += [obj for obj in marks.rigs() if obj.data in edited and obj not in found]
        for obj in found:
            if obj.is_editable and not is_in_edit_mode(obj):
                copies.settle(obj)
    touched = [obj for obj in found if marks.is_known(obj) or marks.has_traces(obj)]
    was_only_moved = _was_only_moved(depsgraph)
    for obj in touched:
        if not (was_only_moved and chains.is_settled(obj)):
            marks.mark_updated(obj)
    return touched + [obj for obj in _reshaped_below(depsgraph) if obj not in touched]


def _was_only_moved(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether objects were moved and nothing else, as a target is that is dragged: set-ups hold as they were read.

    An armature whose dependency number changed is listed with no flag (measured on 4.2, 4.5 and 5.3); any edit of
    its own has one, new relations list the scene. What has constraints may have had one of them changed.
    """
    return all(
        isinstance(update.id, bpy.types.Object)
        and not update.is_updated_geometry
        and not update.is_updated_shading
        and not (update.is_updated_transform and (update.id.type == 'ARMATURE' or len(update.id.constraints)))
        for update in depsgraph.updates
    )


def _plays_one_of(obj: bpy.types.Object, blocks: Sequence[Any]) -> bool:
    """Whether a rig's action was edited: Blender tags it alone for a key among others and in a tweaked strip."""
    anim = obj.animation_data
    return anim is not None and anim.action is not None and anim.action in blocks


def updated(depsgraph: bpy.types.Depsgraph) -> list[bpy.types.ID | None]:
    """The original data-blocks that an update touched."""
    return [update.id.original for update in depsgraph.updates if update.id is not None]


def armatures_in(blocks: Sequence[bpy.types.ID | None]) -> list[bpy.types.Object]:
    """The armature objects among data-blocks."""
    return [block for block in blocks if isinstance(block, bpy.types.Object) and block.type == 'ARMATURE']
