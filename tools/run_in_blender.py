"""Runs pytest inside a full Blender: ``blender -b --python tools/run_in_blender.py -- PYTEST ARGS``.

``LIMB_IK_PACKAGES`` names the folder that has pytest for Blender's Python;
``dev.py blender`` makes it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> int:
    """Run the suite; answer pytest's exit status."""
    sys.path.insert(0, os.environ["LIMB_IK_PACKAGES"])
    os.chdir(Path(__file__).resolve().parent.parent)
    import pytest  # noqa: PLC0415  (it is found only now)

    arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    return int(pytest.main(arguments))


sys.exit(main())
