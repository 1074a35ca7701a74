"""Which armatures have chains, and which of them changed since they were last looked at.

Property callbacks only mark here; handlers ask. Objects are remembered by name,
never by reference: an undo or a new file makes every reference invalid. This
module must not write a pose, nor read more of a chain than that it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import bpy

from . import fk_pose
from .session import object_at

Key = tuple[str, str | None]
"""An object by its name and its library's file: what finds it again after an undo, see ``key_of``."""
Link = tuple[Key, str]
"""What can be reached for or hung on: an object, or a bone of it (empty: the object itself)."""
ChainKey = tuple[Key, str]
"""A chain: its armature object, and the bone at which it ends."""
# Up to so many look-ups by name cost less than one walk over all objects (measured: 15 against 90 us, 450 objects).
FEW_LOOKUPS = 6


class _Marks:
    """Module state: the keys of known rigs, whether they are to be looked for again, who listens."""

    def __init__(self) -> None:
        self.known: dict[Key, None] = {}
        self.is_stale = True
        self.is_quiet = False
        self.listeners: list[Callable[[bpy.types.Object | None], None]] = []
        self.edit_listeners: list[Callable[[bpy.types.Object | None], None]] = []


_marks = _Marks()


def key_of(obj: bpy.types.Object) -> Key:
    """Name and library file of an object: what finds it again after an undo."""
    return obj.name, obj.library.filepath if obj.library else None


def on_change(listener: Callable[[bpy.types.Object | None], None]) -> None:
    """Call ``listener`` with every marked object, or with None where everything is to be read anew."""
    _marks.listeners.append(listener)


def on_edit(listener: Callable[[bpy.types.Object | None], None]) -> None:
    """As ``on_change``, but not for what Blender's updates name: settings may have been overwritten there unasked."""
    _marks.edit_listeners.append(listener)


def mark(obj: bpy.types.Object) -> None:
    """Note that an armature's chains, or what they hang on, changed."""
    mark_updated(obj)
    for listener in _marks.edit_listeners:
        listener(obj)


def mark_updated(obj: bpy.types.Object) -> None:
    """Note that Blender updated an armature; nobody set a setting of its chains."""
    _marks.known[key_of(obj)] = None
    for listener in _marks.listeners:
        listener(obj)


def names_may_have_changed() -> None:
    """Note that an armature was edited: bones may be renamed or gone, in rigs and in their targets."""
    for listener in _marks.listeners:
        listener(None)


def mark_all() -> None:
    """Note that nothing remembered may still hold: a new file, an undo, the extension enabled."""
    _marks.known.clear()
    _marks.is_stale = True
    for listener in _marks.listeners + _marks.edit_listeners:
        listener(None)


@contextmanager
def quiet() -> Iterator[None]:
    """Write settings without marking them as the user's change."""
    before, _marks.is_quiet = _marks.is_quiet, True
    try:
        yield
    finally:
        _marks.is_quiet = before


def is_quiet() -> bool:
    """Whether settings are being written by Limb IK itself."""
    return _marks.is_quiet


def setting_changed(bone: Any, _context: Any) -> None:
    """``update`` callback of every setting on a pose bone: a setting tags nothing by itself."""
    if not _marks.is_quiet:
        touch(bone.id_data)


def object_setting_changed(group: Any, _context: Any) -> None:
    """``update`` callback of a setting in ``Object.limb_ik``."""
    if not _marks.is_quiet:
        touch(group.id_data)


def touch(obj: bpy.types.Object) -> None:
    """Mark an armature and have it evaluated."""
    mark(obj)
    obj.update_tag()


def is_known(obj: bpy.types.Object) -> bool:
    """Whether this object is watched."""
    return key_of(obj) in _marks.known


def may_have_chains(obj: bpy.types.Object) -> bool:
    """Whether an armature may have chains, asked cheaply; False is certain."""
    return key_of(obj) in _marks.known or (_marks.is_stale and has_traces(obj))


def has_any() -> bool:
    """Whether there may be anything to do; False costs a scene without chains nothing."""
    return _marks.is_stale or bool(_marks.known)


def rigs() -> list[bpy.types.Object]:
    """The watched armature objects, in the order in which their chains came."""
    if not _marks.is_stale:
        found = _found_again(list(_marks.known))
        if None not in found:
            return cast("list[bpy.types.Object]", found)
    _marks.known = {key_of(obj): None for obj in bpy.data.objects if has_traces(obj)}
    _marks.is_stale = False
    return [object_at(key) for key in _marks.known]


def _found_again(keys: list[Key]) -> list[bpy.types.Object | None]:
    """The objects of these keys. Blender looks a name up by walking all objects: for many, one walk is cheaper."""
    if len(keys) <= FEW_LOOKUPS:
        return [bpy.data.objects.get(key) for key in keys]
    by_key = {key_of(obj): obj for obj in bpy.data.objects if obj.type == 'ARMATURE'}
    return [by_key.get(key) for key in keys]


def has_traces(obj: bpy.types.Object) -> bool:
    """Whether an object has chains, or bones whose FK values are kept while IK shows."""
    if obj.type != 'ARMATURE' or obj.pose is None:
        return False
    bones: Any = obj.pose.bones
    solvers = [0] * len(bones)
    bones.foreach_get("limb_ik_solver", solvers)
    return any(solvers) or bool(fk_pose.stored_bones(bones))
