"""Whether anything grows: memory, handlers, drivers, timers, data, over many frames and many enable/disable cycles.

    python tools/dev.py bench soak [--frames 2000] [--cycles 20]

The figures to give for a release come from --frames 100000 --cycles 1000. Exit status
1 where counts grew, or memory by more than LIMIT_KB a frame or cycle. Linux (reads
the process's memory from /proc).
"""

from __future__ import annotations

import bpy  # isort: skip  (first: mathutils is part of it)

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import limb_ik

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import rigs

WARM_UP = 0.2
"""Of the rounds: caches fill in them, what comes after has to be level."""
LIMIT_KB = {"frame": 0.02, "cycle": 20.0}
"""Growth of memory that counts: 2 MB in 100,000 frames, 20 MB in 1,000 cycles. Blender's own registering and
unregistering of classes keeps some of it."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--cycles", type=int, default=20)
    arguments = parser.parse_args()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    limb_ik.register()
    try:
        build()
        scene = bpy.context.scene
        grew = [
            soak("frame", arguments.frames, lambda number: scene.frame_set(1 + number % 100)),
            soak("cycle", arguments.cycles, cycle),
        ]
    finally:
        limb_ik.unregister()
    return 1 if any(grew) else 0


def build() -> None:
    """A two-bone limb, a long chain and a look-at, their targets moving."""
    for number, (kind, tip, solver, length) in enumerate(
        (("L2B", "lo", "TWO_BONE", 2), ("C6", "b6", "FABRIK", 6), ("HN", "head", "LOOK_AT", 1))
    ):
        arm = rigs.rig(kind, name=kind, location=(3.0 * number, 0, 0))
        target = rigs.empty(f"T{kind}", parent=arm)
        for frame, place in ((1, (0.2, -0.4, 1.2)), (100, (0.4, -0.9, 0.9))):
            rigs.key_location(target, frame, place)
        rigs.add_chain_by_properties(arm, tip, target, solver=solver, chain_length=length)
    rigs.update()


def cycle(number: int) -> None:
    limb_ik.unregister()
    limb_ik.register()
    rigs.update()


def soak(name: str, count: int, act: Callable[[int], None]) -> bool:
    """Do it ``count`` times; print what grew after the warm-up, and answer whether that is too much."""
    warm = max(1, int(count * WARM_UP))
    for number in range(warm):
        act(number)
    before, memory, started = counts(), memory_kb(), time.perf_counter()
    for number in range(warm, count):
        act(number)
    spent = time.perf_counter() - started
    each = (memory_kb() - memory) / max(count - warm, 1)
    now = counts()
    grown = {what: now[what] - before[what] for what in now if now[what] != before[what]}
    print(
        f"{count} {name}s: {spent / max(count - warm, 1) * 1e3:.2f} ms each, memory {memory / 1024:.0f} MB, "
        f"{each * 1000:+.0f} KB per 1,000 {name}s; grew: {grown or 'nothing'}",
        flush=True,
    )
    return bool(grown) or each > LIMIT_KB[name]


def counts() -> dict[str, int]:
    """Handlers, drivers, keyed data, data-blocks, classes of ours and Python objects of the package."""
    lists = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
    animated = [obj.animation_data for obj in bpy.data.objects if obj.animation_data]
    return {
        "handlers": sum(len(found) for found in lists if isinstance(found, list)),
        "drivers": sum(len(animation.drivers) for animation in animated),
        "data-blocks": sum(len(getattr(bpy.data, name)) for name in ("objects", "actions", "armatures", "scenes")),
        "classes": sum(hasattr(bpy.types, name) for name in dir(bpy.types) if "limb_ik" in name.lower()),
        "timers": int(any(bpy.app.timers.is_registered(f) for f in functions_of_ours())),
    }


def functions_of_ours() -> list[Callable[..., object]]:
    modules = [module for name, module in sys.modules.items() if name.startswith("limb_ik.")]
    return [f for module in modules for f in vars(module).values() if callable(f) and not isinstance(f, type)]


def memory_kb() -> float:
    """What of this process is in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


if __name__ == "__main__":
    sys.exit(main())
