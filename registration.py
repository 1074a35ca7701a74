"""What the extension registers, in order, and takes away in reverse."""

from __future__ import annotations

from typing import Any

import bpy

from . import handlers, properties
from .operators import CLASSES as OPERATORS
from .ui import CLASSES as PANELS

_commands: list[Any] = []


def register() -> None:
    """Register properties, operators, panels, handlers and the command line."""
    properties.register()
    for cls in (*OPERATORS, *PANELS):
        bpy.utils.register_class(cls)
    handlers.register()


def unregister() -> None:
    """Take everything away; the FK pose comes back, the settings stay in the file."""
    handlers.unregister()
    for cls in reversed((*OPERATORS, *PANELS)):
        bpy.utils.unregister_class(cls)
    properties.unregister()
