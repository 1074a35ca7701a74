"""How a process of ours ends: nothing half written and no temporary folder is left, Blender's own neither.

Must not say anything: why it ends has been said.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import weakref
from pathlib import Path
from typing import Any, NoReturn, cast

import bpy

from ..files.placing import remove_unfinished
from ..files.quiet import give_up_stdout

# So Blender names the folder of a session; a folder by another name is not for us to remove.
SESSION_PREFIX = "blender_"


def leave(status: int) -> NoReturn:
    """Ends the process without Blender's own clean-up, which hangs in 4.5 after a Python driver failed."""
    try:
        atexit._run_exitfuncs()
        _remove_session_folder()
        _flush()
    finally:
        os._exit(status)


def leave_at_once(status: int) -> NoReturn:
    """Ends the process in the middle of its work, maybe in Blender's code: what could take long is left out."""
    try:
        clean()
    finally:
        os._exit(status)


def clean() -> None:
    """Removes what is being written, temporary folders and that of Blender's session."""
    remove_unfinished()
    cast(Any, weakref.finalize)._exitfunc()  # temporary folders; leaves Blender alone
    _remove_session_folder()


def _remove_session_folder() -> None:
    folder = Path(bpy.app.tempdir)
    if folder.name.startswith(SESSION_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError:  # said already
        give_up_stdout()
    sys.stderr.flush()
