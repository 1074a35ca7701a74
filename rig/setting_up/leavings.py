"""Keys, drivers and values that lose their meaning with a chain or a control: they would act on the next of that name.

In the active action's slot of the armature object, where it can be edited and no other object plays it; what other
actions hold may still be played with the chain. This module must not remove chains or bones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy

from .. import carry, compat, fk_pose, kept, marks
from ..chain_setup import CHAIN_SETTINGS
from ..data_paths import bone_path, setting_path
from ..session import pose_bones


def forget_settings(obj: bpy.types.Object, tip: str) -> None:
    """Remove what animates the settings of the chain that ended at a bone, and the values that it gave them."""
    with set_aside(obj, [tip]):
        pass


@contextmanager
def set_aside(obj: bpy.types.Object, tips: Sequence[str]) -> Iterator[None]:
    """Without the settings that chains left at these bones, and without what animates them.

    All of it is gone afterwards; where the work within fails, all of it is back.
    """
    paths = {setting_path(tip, name) for tip in tips for name in CHAIN_SETTINGS}
    animated = [one for one in _animation(obj, paths.__contains__) if not one.mute]
    values = [(pose_bones(obj)[tip], _values(pose_bones(obj)[tip])) for tip in tips]
    for one in animated:
        one.mute = True
    for tip, _ in values:
        carry.reset(tip)
    try:
        yield
    except BaseException:
        for one in animated:
            one.mute = False
        for tip, before in values:
            with marks.quiet():
                for name, value in before.items():
                    setattr(tip, name, value)
        raise
    _remove(obj, paths.__contains__)


def _values(tip: Any) -> dict[str, Any]:
    """The settings at a bone that aren't at their defaults."""
    names = [f"limb_ik_{name}" for name in CHAIN_SETTINGS]
    return {name: kept.plain(getattr(tip, name)) for name in names if tip.is_property_set(name)}


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


def _remove(obj: bpy.types.Object, is_meant: Callable[[str], bool]) -> None:
    animation: Any = obj.animation_data
    for one in _animation(obj, is_meant):
        if one in list(animation.drivers):
            animation.drivers.remove(one)
        else:
            compat.remove_fcurve(obj, one)


def _animation(obj: bpy.types.Object, is_meant: Callable[[str], bool]) -> list[Any]:
    """F-curves and drivers by their paths."""
    animation: Any = obj.animation_data
    if animation is None:
        return []
    curves = [one for one in compat.fcurves_of(obj) if is_meant(one.data_path)] if compat.has_own_action(obj) else []
    return [*curves, *(one for one in animation.drivers if is_meant(one.data_path))]
