"""What the extension registers, in order, and takes away in reverse."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, cast

import bpy

from . import cli, handlers, preferences, properties
from .operators import CLASSES as OPERATORS
from .ui import CLASSES as PANELS
from .ui import menus, overlay, shortcuts

COMMAND = "limb_ik"

# What has to be undone, the last first; empty where nothing is registered.
_registered = ExitStack()


def register() -> None:
    """Register everything, from properties to the command line; all or nothing.

    At the end of the process it is taken away: Blender as a Python package crashes or hangs on what is left.
    """
    with ExitStack() as undo:
        _do(undo, properties.register, properties.unregister)
        _do(undo, preferences.register, preferences.unregister)
        for cls in (*OPERATORS, *PANELS):
            _do(undo, partial(bpy.utils.register_class, cls), partial(bpy.utils.unregister_class, cls))
        for part in (menus, shortcuts, overlay):
            _do(undo, part.register, part.unregister)
        utils = cast(Any, bpy.utils)  # its stubs say that a registered command has no handle
        undo.callback(utils.unregister_cli_command, utils.register_cli_command(COMMAND, cli.command))
        _do(undo, handlers.register, handlers.unregister)
        _registered.push(undo.pop_all())
    atexit.register(unregister)


def _do(undo: ExitStack, act: Callable[[], None], take_back: Callable[[], None]) -> None:
    act()
    undo.callback(take_back)


def unregister() -> None:
    """Take everything away; the FK pose comes back, the settings stay in the file. Harmless where nothing is."""
    atexit.unregister(unregister)
    _registered.close()
