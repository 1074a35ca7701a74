"""Finds Python drivers that Blender blocked and that the pose of an armature hangs on.

A blocked driver reads 0.0, which would make a bake wrong without a word. Simple
expressions run without permission and are none of this. Must not change anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import bpy

from .rig.errors import LimbIKError
from .rig.session import pose_bones


def refuse_blocked_drivers(armatures: Iterable[bpy.types.Object]) -> None:
    """Stops where a Python driver that was blocked or fails has a part in these armatures or in what they need.

    Raises:
        LimbIKError: Names the first of the drivers.
    """
    needed = needed_by(armatures)
    _evaluate(block for block in needed if isinstance(block, bpy.types.Object))
    failed = [f"{block.name}: {_path(curve)}" for block in needed for curve in _failed(block)]
    if not failed:
        return
    more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    if bpy.app.autoexec_fail:
        raise LimbIKError(f"Blender blocked a Python driver that the rig needs ({failed[0]}{more}); --trust runs it")
    raise LimbIKError(f"a Python driver that the rig needs fails ({failed[0]}{more})")


def _evaluate(objects: Iterable[bpy.types.Object]) -> None:
    """Runs the drivers once, in a scene of their own: hidden objects' drivers would not show that they are blocked."""
    scene = bpy.data.scenes.new("Limb IK Drivers")
    hidden: list[bpy.types.Object] = []
    try:
        for obj in objects:
            scene.collection.objects.link(obj)
            if obj.hide_viewport:
                hidden.append(obj)
                obj.hide_viewport = False
        scene.view_layers[0].update()
    finally:
        for obj in hidden:
            obj.hide_viewport = True
        bpy.data.scenes.remove(scene)


def needed_by(objects: Iterable[bpy.types.Object]) -> list[bpy.types.ID]:
    """Data-blocks that the poses of armature objects may hang on: parents, targets, drivers' variables, and theirs."""
    found: dict[int, bpy.types.ID] = {}
    waiting: list[bpy.types.ID] = list(objects)
    while waiting:
        block = waiting.pop()
        if block.session_uid not in found:
            found[block.session_uid] = block
            waiting += _links(block)
    return list(found.values())


def _links(block: bpy.types.ID) -> Iterator[bpy.types.ID]:
    if isinstance(block, bpy.types.Object):
        yield from (linked for linked in (block.parent, _armature_data(block)) if linked is not None)
        yield from _targets(block.constraints)
        for bone in pose_bones(block) if block.pose else ():
            yield from _targets(bone.constraints)
            yield from (target for target in _chain_targets(bone) if target is not None)
    for curve in _drivers(block):
        for variable in _driver(curve).variables:
            yield from (target.id for target in variable.targets if target.id is not None)


def _armature_data(obj: bpy.types.Object) -> bpy.types.ID | None:
    """The bones; a mesh or a curve moves nothing that stands on the object."""
    return obj.data if isinstance(obj.data, bpy.types.Armature) else None


def _targets(constraints: Iterable[bpy.types.Constraint]) -> Iterator[bpy.types.ID]:
    for constraint in constraints:
        for prop in constraint.bl_rna.properties:
            linked = getattr(constraint, prop.identifier) if prop.type == 'POINTER' else None
            if isinstance(linked, bpy.types.Object):
                yield linked
        if isinstance(constraint, bpy.types.ArmatureConstraint):
            yield from (entry.target for entry in constraint.targets if entry.target is not None)


def _chain_targets(bone: Any) -> tuple[bpy.types.Object | None, bpy.types.Object | None]:
    return bone.limb_ik_target, bone.limb_ik_pole


def _drivers(block: bpy.types.ID) -> Iterable[bpy.types.FCurve]:
    animation = getattr(block, "animation_data", None)
    return animation.drivers if animation else ()


def _driver(curve: bpy.types.FCurve) -> bpy.types.Driver:
    return cast(bpy.types.Driver, curve.driver)


def _failed(block: bpy.types.ID) -> Iterator[bpy.types.FCurve]:
    for curve in _drivers(block):
        driver = _driver(curve)
        if driver.type == 'SCRIPTED' and not (curve.mute or driver.is_simple_expression or driver.is_valid):
            yield curve


def _path(curve: bpy.types.FCurve) -> str:
    return f"{curve.data_path}[{curve.array_index}] = {_driver(curve).expression}"
