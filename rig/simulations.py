"""Cloth and soft bodies on what an armature deforms: they are simulated on the FK pose, which has to be said.

Blender simulates in the evaluation before the solved pose is written, so live IK can't be in it.
Reads only; asked by the read-out, never while frames play.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

SIMULATED = {'CLOTH': "cloth", 'SOFT_BODY': "soft body"}

# Session number of an armature object -> (mesh, modifier) by name of what is simulated on it; None: to be looked for.
_known: dict[str, dict[int, list[tuple[str, str]]] | None] = {"found": None}


def forget() -> None:
    """Objects were edited: look for simulations again when next asked."""
    _known["found"] = None


def note(armature: Any) -> str:
    """What is simulated on the FK pose of an armature and isn't baked, in words; empty where nothing is."""
    found = _known["found"]
    if found is None:
        found = _known["found"] = _look()
    for mesh_name, modifier_name in found.get(armature.session_uid, ()):
        mesh = bpy.data.objects.get(mesh_name)
        modifier: Any = mesh.modifiers.get(modifier_name) if mesh is not None else None
        if modifier is not None and not modifier.point_cache.is_baked:
            return f"{SIMULATED[modifier.type]} '{modifier_name}' of '{mesh_name}' sees the FK pose: bake IK first"
    return ""


def _look() -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = {}
    for obj in bpy.data.objects:
        if obj.type == 'MESH' and len(obj.modifiers):
            for modifier, armature in _on_armatures(obj):
                found.setdefault(armature.session_uid, []).append((obj.name, modifier.name))
    return found


def _on_armatures(obj: Any) -> Iterator[tuple[Any, Any]]:
    """Simulations of a mesh, each with every armature that deforms the mesh before it."""
    deforming = [obj.parent] if obj.parent is not None and obj.parent_type == 'ARMATURE' else []
    for modifier in obj.modifiers:
        if modifier.type == 'ARMATURE' and modifier.object is not None:
            deforming.append(modifier.object)
        elif modifier.type in SIMULATED:
            yield from ((modifier, armature) for armature in deforming)
