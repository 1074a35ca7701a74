"""Keys, drivers and values that lose their meaning with a chain or a control: they would act on the next of that name.

In the active action's slot of the armature object, where it can be edited; other actions are somebody's who may
still play them with the chain. This module must not remove chains or bones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from .. import compat, fk_pose, marks
from ..chain_setup import CHAIN_SETTINGS
from ..data_paths import bone_path, setting_path
from ..session import pose_bones


def forget_settings(obj: bpy.types.Object, tip: str) -> None:
    """Remove what animates the settings of the chain that ended at a bone, and the values that it gave them."""
    names = {setting_path(tip, name): f"limb_ik_{name}" for name in CHAIN_SETTINGS}
    with marks.quiet():
        for path in _remove(obj, names.__contains__):
            pose_bones(obj)[tip].property_unset(names[path])


def forget_bone(obj: bpy.types.Object, name: str) -> None:
    """Remove what animates a bone that is gone."""
    prefix = bone_path(name)
    _remove(obj, lambda path: path.startswith(prefix))


def forget_values(obj: bpy.types.Object) -> None:
    """Remove what bones of an armature without chains still hold: empty stores, the number that was driven."""
    for bone in pose_bones(obj):
        bone.property_unset("limb_ik")
        if not fk_pose.has_store(bone):
            bone.property_unset(fk_pose.STORE)


def _remove(obj: bpy.types.Object, is_meant: Callable[[str], bool]) -> set[str]:
    """Remove curves and drivers by their paths; returns those of what was removed."""
    animation: Any = obj.animation_data
    if animation is None:
        return set()
    is_editable = animation.action is not None and animation.action.is_editable
    curves = [one for one in compat.fcurves_of(obj) if is_meant(one.data_path)] if is_editable else []
    drivers = [one for one in animation.drivers if is_meant(one.data_path)]
    paths = {one.data_path for one in (*curves, *drivers)}
    for curve in curves:
        compat.remove_fcurve(obj, curve)
    for driver in drivers:
        animation.drivers.remove(driver)
    return paths
