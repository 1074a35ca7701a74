"""Finds Python drivers that Blender blocked and that the pose of an armature hangs on.

A blocked driver reads 0.0, which would make a bake wrong without a word. Simple
expressions run without permission and are none of this. Must not change anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import bpy

from ..rig.errors import LimbIKError
from ..rig.needs import drivers_of, needed_by


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


def _driver(curve: bpy.types.FCurve) -> bpy.types.Driver:
    return cast(bpy.types.Driver, curve.driver)


def _failed(block: bpy.types.ID) -> Iterator[bpy.types.FCurve]:
    for curve in drivers_of(block):
        driver = _driver(curve)
        if driver.type == 'SCRIPTED' and not (curve.mute or driver.is_simple_expression or driver.is_valid):
            yield curve


def _path(curve: bpy.types.FCurve) -> str:
    return f"{curve.data_path}[{curve.array_index}] = {_driver(curve).expression}"
