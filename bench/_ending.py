"""How a bench ends: Blender 4.5 as a package can wait for ever at a plain exit, also after ``--help``."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import NoReturn

from limb_ik.cli.leaving import leave


def end(main: Callable[[], int | None]) -> NoReturn:
    """Calls ``main`` and ends the process with what it returns or exits with."""
    try:
        status = main() or 0
    except SystemExit as ended:  # argparse: it has said why
        status = int(ended.code or 0)
    except Exception:  # noqa: BLE001  (whatever went wrong)
        traceback.print_exc()
        status = 1
    leave(status)
