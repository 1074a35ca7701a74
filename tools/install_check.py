"""Installs the extension's zip into this Blender, switches it on and off twice, and looks for what stays behind.

Runs inside Blender (``blender -b --factory-startup --python tools/install_check.py -- ZIP``) or under a
Python that has bpy (``python tools/install_check.py ZIP``), with BLENDER_USER_RESOURCES on a
throw-away folder: ``dev.py check`` sees to that. Prints one closing line; exit status 1 and the reason on failure.
"""

from __future__ import annotations

import bpy  # isort: skip  (first: mathutils is part of it)

import os
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import leftovers
import rigs

TIP_LIMIT = 1e-5
"""Part of the limb's length (2) that the tip may miss: what design promises of the evaluated pose."""


def main() -> None:
    """Install into the user's repository, then into a second one; each on, off, on, off."""
    if not os.environ.get("BLENDER_USER_RESOURCES"):
        raise SystemExit("install_check: set BLENDER_USER_RESOURCES to a throw-away folder")
    archive = sys.argv[-1]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with tempfile.TemporaryDirectory(prefix="limb-ik-repository-") as folder:
        bpy.context.preferences.extensions.repos.new(name="Second", module="second", custom_directory=folder)
        for repository in ("user_default", "second"):
            check_repository(archive, repository)
    print(f"install_check: Blender {bpy.app.version_string}: installed, on and off twice in two repositories")


def check_repository(archive: str, repository: str) -> None:
    """One repository: install, use, switch off, on again, use, off."""
    module = f"bl_ext.{repository}.limb_ik"
    before = leftovers.found(module)
    expect(not before, f"before installing there is already: {before}")
    bpy.ops.extensions.package_install_files(filepath=archive, repo=repository, enable_on_install=True)
    expect(module in bpy.context.preferences.addons, f"{module} is not enabled after installing")
    first = leftovers.found(module)
    use()
    switch_off(module)
    bpy.ops.preferences.addon_enable(module=module)
    again = leftovers.found(module)
    expect(again == first, f"enabled again it differs: {sorted(set(first) ^ set(again))}")
    use()
    switch_off(module)


def use() -> None:
    """A limb reaches its target, so the installed handlers work."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    arm = rigs.l2b()
    target, pole = rigs.empty("T", (0.6, -0.4, 1.2)), rigs.empty("P", (0, 3, 0.8))
    rigs.add_chain_by_properties(arm, "lo", target, pole)
    rigs.update()
    error = rigs.tip_error(arm, "lo", target)
    expect(error <= 2.0 * TIP_LIMIT, f"the tip misses its target by {error}")


def switch_off(module: str) -> None:
    """Disable with a chain in the file: nothing of ours stays, and a frame change still works."""
    bpy.ops.preferences.addon_disable(module=module)
    left = leftovers.found(module)
    expect(not left, f"disabled it leaves behind: {left}")
    rigs.frame_set(5)


def expect(condition: bool, sentence: str) -> None:
    if not condition:
        raise SystemExit(f"install_check: Blender {bpy.app.version_string}: {sentence}")


def leave(status: int) -> None:
    """End this process at once: as a package Blender can hang or crash as it cleans up (4.5 and 4.2, measured)."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


try:
    main()
except SystemExit as reason:
    print(reason)
    leave(1)
except Exception:  # noqa: BLE001  (told; and what follows has to end the process)
    traceback.print_exc()
    leave(1)
leave(0)
