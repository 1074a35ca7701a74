"""Whether a render in a window needs Blender's Lock Interface, because the screen and a render share a pose.

A render runs beside the screen on a thread of its own and writes solved rotations into the same
original bones. With the interface locked only one of them evaluates at a time. Reads only.
"""

from __future__ import annotations

from typing import Any

import bpy

from . import chains, marks


def needs_locked_interface(scene: Any) -> bool:
    """Whether a scene shows live chains and its Lock Interface is off, in a Blender with a window.

    Args:
        scene: the one to render.
    """
    if bpy.app.background or scene.render.use_lock_interface:
        return False
    return any(_shows_live_chains(scene, obj) for obj in marks.rigs())


def _shows_live_chains(scene: Any, obj: Any) -> bool:
    if not obj.is_editable or not obj.limb_ik.is_live or scene.objects.get(obj.name) != obj:
        return False
    setup = chains.known_setup(obj)
    return setup is not None and any(not chain.is_muted and not chain.problem for chain in setup.chains)
