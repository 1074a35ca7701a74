"""Finds linked data that a rig needs and whose library, or which itself, is not there.

Blender puts an empty thing at the world's origin in its place and says nothing, which would make a result wrong
without a word. Must not change anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import bpy

from ..rig.errors import LimbIKError
from ..rig.needs import needed_by
from ..rig.session import current_scene


def refuse_missing_links(armatures: Iterable[bpy.types.Object]) -> None:
    """Stops where linked data that these armatures need is missing.

    Raises:
        LimbIKError: Names the first of it and its library.
    """
    found = [one for block in needed_by(armatures) for one in (block, *_behind(block)) if one.is_missing]
    if found:
        raise LimbIKError(f"{_named(found)}, which the rig needs")


def missing_rig() -> str:
    """What is missing in a file in which no armature is found; empty where nothing is."""
    scene = current_scene()
    objects = [obj for obj in scene.objects if obj.is_missing]
    groups = [group for group in scene.collection.children_recursive if group.is_missing]
    shown = [obj.instance_collection for obj in scene.objects if obj.instance_collection is not None]
    found: list[bpy.types.ID] = [*objects, *groups, *(group for group in shown if group.is_missing)]
    return _named(found) if found else ""


def _behind(block: bpy.types.ID) -> Iterator[bpy.types.ID]:
    """What a data-block shows or plays, and what it overrides; its targets are found otherwise."""
    if isinstance(block, bpy.types.Object):
        bones: list[Any] = list(block.pose.bones if block.pose else ())
        owners: list[Any] = [block, *bones]
        found = [block.data, *(getattr(one, "action", None) for owner in owners for one in owner.constraints)]
        found += [bone.limb_ik_ground for bone in bones]
        yield from (one for one in found if one is not None)
    if block.override_library is not None and block.override_library.reference is not None:
        yield block.override_library.reference
    animation = getattr(block, "animation_data", None)
    if animation is not None:
        strips = [strip for track in animation.nla_tracks for strip in track.strips]
        yield from (one for one in (animation.action, *(strip.action for strip in strips)) if one is not None)


def _named(found: list[bpy.types.ID]) -> str:
    first = found[0]
    more = f" and {len(set(found)) - 1} more" if len(set(found)) > 1 else ""
    library = first.library
    if library is None:
        return f"linked data is missing: '{first.name}'{more}"
    path = Path(bpy.path.abspath(library.filepath))
    if path.exists():
        return f"linked data is missing: {path} has no '{first.name}'{more}"
    return f"the library {path} is missing: it has '{first.name}'{more}"
