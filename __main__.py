"""``python -m limb_ik``: the command line beside the bpy wheel."""

from __future__ import annotations

from .cli import main

if __name__ == "__main__":
    main()
