"""Finds what an extension has put into Blender: handlers, classes, properties, menu entries, keys.

Used by the tests and by tools/install_check.py; imports nothing but bpy. Timers,
message-bus subscriptions and draw handlers of editors can't be listed in Blender.
(Reading bpy.app.driver_namespace is left out: after it the 4.2 wheel crashes at exit and the 4.5 one hangs.)
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType

import bpy

PREFIXES = ("limb_ik", "LIMB_IK", "LimbIK")


def found(package: str) -> list[str]:
    """Everything of ours that Blender holds, as sorted text; ``package`` is the module name it was loaded under."""
    parts = (handlers(package), classes(), properties(), menu_entries(package), shortcuts())
    return sorted(text for part in parts for text in part)


def handlers(package: str) -> Iterator[str]:
    """Every handler function of the package, one line for each time that it stands in a list."""
    for name in dir(bpy.app.handlers):
        functions = getattr(bpy.app.handlers, name)
        if isinstance(functions, list):
            yield from (f"handler {name}: {f.__name__}" for f in functions if _is_ours(f, package))


def classes() -> Iterator[str]:
    return (f"class {name}" for name in dir(bpy.types) if name.startswith(PREFIXES))


def properties() -> Iterator[str]:
    """Properties that registration added to Blender's own types."""
    for name in dir(bpy.types):
        kind = getattr(bpy.types, name)
        if hasattr(kind, "bl_rna") and not name.startswith(PREFIXES):
            keys = (p.identifier for p in kind.bl_rna.properties)
            yield from (f"property {name}.{key}" for key in keys if key.startswith(PREFIXES))


def menu_entries(package: str) -> Iterator[str]:
    """Functions appended to Blender's menus, panels and headers."""
    for name in dir(bpy.types):
        draw = getattr(getattr(bpy.types, name), "draw", None)
        functions = getattr(draw, "_draw_funcs", ())
        yield from (f"entry in {name}: {f.__name__}" for f in functions if _is_ours(f, package))


def shortcuts() -> Iterator[str]:
    """Keys in the add-on key configuration, which background Blenders may not have."""
    manager = bpy.context.window_manager
    config = manager.keyconfigs.addon if manager else None
    for keymap in config.keymaps if config else ():
        yield from (f"key {keymap.name}: {k.idname}" for k in keymap.keymap_items if k.idname.startswith(PREFIXES))


def _is_ours(function: object, package: str) -> bool:
    if not isinstance(function, FunctionType):
        function = getattr(function, "__func__", function)
    module = getattr(function, "__module__", "") or ""
    return module == package or module.startswith(f"{package}.")
