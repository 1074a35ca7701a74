"""Whether anything grows: memory, handlers, drivers, timers, data, over many frames and many enable/disable cycles.

    python tools/dev.py bench soak [--frames 2000] [--cycles 100] [--trace]

The figures to give for a release come from --frames 100000 --cycles 1000. Each row is measured in ten parts and
what counts is their median: a table that doubles once (Python's own, of names) is a step, a leak is in every part.
Beside them, in the same program: native IK over a tenth of the frames, and as many classes and properties of no
use, registered and unregistered. ``--trace`` names the lines that hold more than before. Exit status 1 where a
count grew, or memory by more than LIMIT_KB a frame or cycle. Linux (reads the process's memory from /proc).
"""

from __future__ import annotations

import bpy  # isort: skip  (first: mathutils is part of it)

import argparse
import gc
import itertools
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import limb_ik
from _ending import end
from limb_ik.operators import CLASSES as OPERATORS
from limb_ik.properties import SPECS
from limb_ik.ui import CLASSES as PANELS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import rigs

PARTS = 10
WARM_UP = 0.1
"""More of the rounds, before the first part: caches fill in them."""
LIMIT_KB = {"frame": 0.02, "cycle": 2.0}
"""Growth of memory that counts: 2 MB in 100,000 frames or in 1,000 cycles."""
LIMBS = (("L2B", "lo", "TWO_BONE", 2), ("C6", "b6", "FABRIK", 6), ("HN", "head", "LOOK_AT", 1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--trace", action="store_true", help="name the lines that hold more than before (slower)")
    arguments = parser.parse_args()
    if arguments.trace:
        tracemalloc.start()
    print(f"{'':26}{'count':>8}{'ms each':>9}{'MB':>7}{'KB/1,000':>10}  grew", flush=True)
    bad = _limb_ik(arguments.frames, arguments.cycles)
    _beside(arguments.frames // 10, arguments.cycles)
    return 1 if bad else 0


def _limb_ik(frames: int, cycles: int) -> bool:
    """Our own rows; answers whether something grew."""
    begin()
    limb_ik.register()
    build(add_limb_ik)
    bad = [soak("Limb IK", "frame", frames, next_frame), soak("off and on", "cycle", cycles, cycle)]
    limb_ik.unregister()
    return any(bad)


def _beside(frames: int, cycles: int) -> None:
    """What Blender alone does, for comparison."""
    begin()
    build(add_native)
    soak("native IK", "frame", frames, next_frame)
    classes, properties = bare_classes(), len(SPECS)
    name = f"{len(classes)} bare classes"
    soak(name, "cycle", cycles, lambda number: bare_cycle(classes, properties))


def begin() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def build(add: Callable[[bpy.types.Object, str, bpy.types.Object, str, int], None]) -> None:
    """A two-bone limb, a long chain and a look-at, their targets moving."""
    for number, (kind, tip, solver, length) in enumerate(LIMBS):
        arm = rigs.rig(kind, name=kind, location=(3.0 * number, 0, 0))
        target = rigs.empty(f"T{kind}", parent=arm)
        for frame, place in ((1, (0.2, -0.4, 1.2)), (100, (0.4, -0.9, 0.9))):
            rigs.key_location(target, frame, place)
        add(arm, tip, target, solver, length)
    rigs.update()


def add_limb_ik(arm: bpy.types.Object, tip: str, target: bpy.types.Object, solver: str, length: int) -> None:
    rigs.add_chain_by_properties(arm, tip, target, solver=solver, chain_length=length)


def add_native(arm: bpy.types.Object, tip: str, target: bpy.types.Object, solver: str, length: int) -> None:
    kind = 'DAMPED_TRACK' if solver == "LOOK_AT" else 'IK'
    constraint: Any = rigs.bone(arm, tip).constraints.new(kind)
    constraint.target = target
    if kind == 'IK':
        constraint.chain_count = length


def next_frame(number: int) -> None:
    bpy.context.scene.frame_set(1 + number % 100)


def cycle(number: int) -> None:
    limb_ik.unregister()
    limb_ik.register()
    rigs.update()


def bare_classes() -> list[type]:
    """As many classes as the extension has, of the same kinds, operators with as many properties."""
    return [_bare(one, number) for number, one in enumerate((*OPERATORS, *PANELS))]


def _bare(one: type, number: int) -> type:
    kinds = (bpy.types.Operator, bpy.types.Panel, bpy.types.Menu, bpy.types.PropertyGroup)
    kind = next(base for base in kinds if issubclass(one, base))
    letter = kind.__name__[0]
    names: dict[str, Any] = {} if kind is bpy.types.PropertyGroup else {"bl_label": "Soak"}
    if kind in {bpy.types.Panel, bpy.types.Menu}:
        names["draw"] = lambda self, context: None
    if kind is bpy.types.Operator:
        inherited = [vars(base).get("__annotations__", {}) for base in one.__mro__]
        numbers = range(len({name for annotations in inherited for name in annotations}))
        names["__annotations__"] = {f"p{i}": bpy.props.FloatProperty(name=f"P{i}") for i in numbers}
        names["bl_idname"] = f"limb_soak.x{number}"
    elif kind is bpy.types.Panel:
        names |= {"bl_space_type": 'VIEW_3D', "bl_region_type": 'UI'}
    return type(f"SOAK_{letter}T_x{number}", (kind,), names)


def bare_cycle(classes: Sequence[type], properties: int) -> None:
    for number in range(properties):
        setattr(bpy.types.PoseBone, f"soak_{number}", bpy.props.FloatProperty(name="Soak"))
    for one in classes:
        bpy.utils.register_class(one)
    for one in reversed(classes):
        bpy.utils.unregister_class(one)
    for number in range(properties):
        delattr(bpy.types.PoseBone, f"soak_{number}")
    rigs.update()


def soak(name: str, unit: str, count: int, act: Callable[[int], None]) -> bool:
    """Do it ``count`` times after a warm-up; print what grew, and answer whether that is too much."""
    for number in range(max(1, int(count * WARM_UP))):
        act(number)
    before, part, levels = counts(), max(1, count // PARTS), [memory_kb()]
    held = tracemalloc.take_snapshot() if tracemalloc.is_tracing() else None
    started = time.process_time()
    for number in range(part * PARTS):
        act(number)
        if (number + 1) % part == 0:
            levels.append(memory_kb())
            show_progress(f"{name}: {number + 1} of {count} {unit}s")
    spent = time.process_time() - started
    steps = [(b - a) / part for a, b in itertools.pairwise(levels)]
    now, each = counts(), statistics.median(steps)
    grown = [f"{what} {before[what]} → {now[what]}" for what in now if now[what] > before[what]]
    print(
        f"{name + ', ' + unit + 's':26}{part * PARTS:8}{spent / (part * PARTS) * 1e3:9.2f}{levels[-1] / 1024:7.0f}"
        f"{each * 1000:+10.0f}  {', '.join(grown) or 'nothing'} (in all {levels[-1] - levels[0]:+.0f} KB;"
        f" {', '.join(f'{value} {key}' for key, value in now.items())})",
        flush=True,
    )
    if held is not None:
        _print_holders(held)
    return bool(grown) or each > LIMIT_KB[unit]


def _print_holders(held: tracemalloc.Snapshot, most: int = 8) -> None:
    mine = (tracemalloc.Filter(False, tracemalloc.__file__), tracemalloc.Filter(False, __file__))
    now = tracemalloc.take_snapshot().filter_traces(mine)
    for line in now.compare_to(held.filter_traces(mine), "lineno")[:most]:
        print(f"    {line}")


def show_progress(said: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{said}\r", end="", file=sys.stderr, flush=True)


def counts() -> dict[str, int]:
    """Handlers, drivers, data-blocks, classes and timers of ours, and objects that Python looks after."""
    lists = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
    animated = [obj.animation_data for obj in bpy.data.objects if obj.animation_data]
    return {
        "handlers": sum(len(found) for found in lists if isinstance(found, list)),
        "drivers": sum(len(animation.drivers) for animation in animated),
        "data-blocks": sum(len(getattr(bpy.data, name)) for name in ("objects", "actions", "armatures", "scenes")),
        "classes": sum("limb_ik" in name.lower() for name in dir(bpy.types)),
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
    end(main)
