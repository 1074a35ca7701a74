"""Limb IK: exact inverse kinematics for armatures, live and baked."""

import signal
import sys
from pathlib import Path

# Begun as a program: until the command line takes care of Ctrl-C it ends the process, for an exception within
# Blender's start is lost there, and the command would go on.
if sys.orig_argv[1:3] == ["-m", __name__] or [Path(name).stem for name in sys.argv[:1]] == ["limb-ik"]:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

try:
    from .registration import register, unregister
except ModuleNotFoundError as missing:
    if missing.name != "bpy":
        raise
    # Installed without Blender: there is nothing to register with, and the command line says what is missing.

__all__ = ["register", "unregister"]
