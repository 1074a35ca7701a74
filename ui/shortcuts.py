"""Shortcuts: in the add-on key configuration, where Preferences ▸ Keymap lists them and lets them be changed.

None of them takes a key that Blender's default has in the same mode; a test in the window holds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy


@dataclass(frozen=True)
class Shortcut:
    """One key in one of Blender's keymaps."""

    keymap: str
    operator: str
    key: str
    modifiers: dict[str, bool] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)


SHORTCUTS = (
    Shortcut("Pose", "wm.call_menu", 'J', {}, {"name": "LIMB_IK_MT_pose"}),
    Shortcut("Pose", "limb_ik.select_controls", 'J', {"shift": True}),
    Shortcut("Object Mode", "limb_ik.select_controls", 'J', {"shift": True}),
    Shortcut("Pose", "limb_ik.switch", 'J', {"alt": True}, {"to": 'TOGGLE'}),
)

_made: list[tuple[Any, Any]] = []


def register() -> None:
    """Add the shortcuts; without a window there is no key configuration and nothing to do."""
    config = bpy.context.window_manager.keyconfigs.addon if bpy.context.window_manager else None
    if config is None:
        return
    for one in SHORTCUTS:
        keymap: Any = config.keymaps.new(name=one.keymap)
        item = keymap.keymap_items.new(one.operator, one.key, 'PRESS', **one.modifiers)
        for name, value in one.values.items():
            setattr(item.properties, name, value)
        _made.append((keymap, item))


def unregister() -> None:
    """Remove the shortcuts."""
    while _made:
        keymap, item = _made.pop()
        keymap.keymap_items.remove(item)
