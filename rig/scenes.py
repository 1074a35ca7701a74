"""Whether a scene shows an object, or holds it aside: what none does counts as deleted.

A pointer keeps an object alive after it was deleted in the viewport. This module must
not change anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy

from .session import current_scene


def is_in_a_scene(obj: bpy.types.Object) -> bool:
    """Whether any scene has the object, by its collections or by instances of them."""
    return is_in_one_of(bpy.data.scenes, obj)


def is_in_one_of(scenes: Iterable[bpy.types.Scene], obj: bpy.types.Object) -> bool:
    """Whether one of these scenes has the object, by its collections or by instances of them."""
    held_by = [scene.objects for scene in scenes]
    if any(_holds(objects, obj) for objects in held_by):
        return True
    seen: set[bpy.types.Collection] = set()
    waiting = list(obj.users_collection)
    while waiting:
        collection = waiting.pop()
        if collection in seen:
            continue
        seen.add(collection)
        waiting += [one for one in bpy.data.collections if collection in one.children[:]]
        for instance in _instances(collection):
            if any(_holds(objects, instance) for objects in held_by):
                return True
            waiting += instance.users_collection
    return False


def why_not_shown(obj: bpy.types.Object) -> str:
    """Why Blender evaluates nothing of an object in the scene that is open, in words."""
    if not is_in_a_scene(obj):
        return "it is in no scene"
    if not _holds(current_scene().objects, obj):
        return f"scene '{current_scene().name}' doesn't have it"
    if obj.hide_viewport:
        return "it is disabled in viewports"
    return "its collections are hidden or excluded here"


def _holds(objects: Any, obj: bpy.types.Object) -> bool:
    found = objects.get(obj.name)
    return found == obj or (found is not None and obj in objects[:])  # an override is called like what it overrides


def _instances(collection: bpy.types.Collection) -> Iterator[bpy.types.Object]:
    return (obj for obj in bpy.data.objects if obj.instance_collection == collection)
