"""How a property of a pose bone is specified and made: what the rows of ``properties``' table are.

Nothing is registered here, and no property is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

from .rig import dependency, marks

OVERRIDABLE = {'LIBRARY_OVERRIDABLE'}
NOT_OVERRIDABLE: set[str] = set()
ANIMATABLE = {'ANIMATABLE'}
NOT_ANIMATABLE: set[str] = set()


@dataclass(frozen=True)
class Spec:
    """One property of a pose bone: its name after the prefix, its maker and what Blender is told."""

    name: str
    make: Callable[..., Any]
    settings: dict[str, Any] = field(default_factory=dict)
    is_animatable: bool = False
    is_overridable: bool = True
    update: Callable[[Any, Any], None] | None = marks.setting_changed

    def build(self) -> object:
        """The value to assign to ``bpy.types.PoseBone``."""
        options = ANIMATABLE if self.is_animatable else NOT_ANIMATABLE
        settings = dict(self.settings, options=options)
        if self.is_overridable:
            settings["override"] = OVERRIDABLE
        if self.update is not None:
            settings["update"] = self.update
        return self.make(**settings)


def angle(name: str, label: str, default: float, description: str) -> Spec:
    """An angle that a joint may have."""
    return Spec(
        name, FloatProperty, {"name": label, "default": default, "subtype": 'ANGLE', "description": description}
    )


def enum(name: str, label: str, items: Any, default: str, update: Any = marks.setting_changed) -> Spec:
    """One of several."""
    settings = {"name": label, "items": items, "default": default}
    return Spec(name, EnumProperty, settings, update=update)


def text(name: str, label: str, description: str) -> Spec:
    """The name of something that a chain hangs on."""
    return Spec(name, StringProperty, {"name": label, "description": description}, update=dependency.link_changed)


def object_link(name: str, label: str, description: str) -> Spec:
    """An object that a chain hangs on."""
    settings = {"name": label, "description": description, "type": bpy.types.Object}
    return Spec(name, PointerProperty, settings, update=dependency.link_changed)


def number(name: str, label: str, default: float, low: float, high: float, text: str, **more: Any) -> Spec:
    """A number between two bounds; ``more`` as Blender names it."""
    is_animatable = more.pop("is_animatable", False)
    settings = {"name": label, "default": default, "min": low, "max": high, "description": text, **more}
    return Spec(name, FloatProperty, settings, is_animatable=is_animatable)


def switch(name: str, label: str, default: bool, text: str, is_animatable: bool = False) -> Spec:
    """On or off."""
    return Spec(
        name, BoolProperty, {"name": label, "default": default, "description": text}, is_animatable=is_animatable
    )


def store(name: str, make: Callable[..., Any], **settings: Any) -> Spec:
    """Internal values that handlers write: nothing is marked by them."""
    return Spec(name, make, settings, update=None)


def shown(name: str, make: Callable[..., Any], label: str, **settings: Any) -> Spec:
    """What is read from memory and can't be set."""
    return Spec(name, make, {"name": label, **settings}, is_overridable=False, update=None)
