"""Opens one file and saves it in another format, without IK: FILE OUT."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import limb_ik
from limb_ik.files import opening as files

if __name__ == "__main__":
    limb_ik.register()
    try:
        files.open_file(Path(sys.argv[1]))
        files.save_file(Path(sys.argv[2]))
    finally:
        limb_ik.unregister()
        sys.stdout.flush()
    os._exit(0)  # Blender's own clean-up hangs in 4.5 after some importers
