"""Planting and grounding: time by the length of a clip, and foot slide before and after on captures.

    python bench/feet.py [FILE.bvh...] [--frames 250 500 1000 2000]

A character with four limbs walks as long as asked for; contacts are detected, planted, and
the walk is put on a terrain of 100,000 triangles. Growth is the time of a frame in the
longest clip by that in the shortest. Times are processor time, the best of two.
"""

from __future__ import annotations

import bpy  # isort: skip  (first: mathutils is part of it)

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mathutils import Vector

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
spec = importlib.util.spec_from_file_location("limb_ik", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
assert spec is not None and spec.loader is not None  # noqa: PT018
limb_ik = importlib.util.module_from_spec(spec)
sys.modules["limb_ik"] = limb_ik
spec.loader.exec_module(limb_ik)

from limb_ik.bake import contacts, grounding, planting  # noqa: E402
from limb_ik.rig.errors import LimbIKError  # noqa: E402
from limb_ik.rig.ground import Ground  # noqa: E402
from limb_ik.rig.setting_up import setup  # noqa: E402

import walkers  # noqa: E402

CELLS = 224  # a side of the terrain: 2 · 224² triangles
SIZE = 60.0


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def empty() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def walker(frames: int) -> Any:
    """A walk of any length: the keys of one cycle, again and again, with hips that go on."""
    empty()
    obj = walkers.walker(with_arms=True, last=frames)
    setup.add_chains(
        bpy.context, obj, setup.limb_plans(obj, arms=True, legs=True, target_kind="EMPTY", target_space="FK")
    )
    return obj


def terrain() -> Any:
    """Hills of a few centimetres."""
    axis = np.linspace(-SIZE, SIZE, CELLS + 1)
    x, y = np.meshgrid(axis, axis)
    z = 0.06 * np.sin(1.3 * x) * np.cos(0.9 * y)
    points = np.stack([x, y, z], axis=-1).reshape(-1, 3).tolist()
    row = CELLS + 1
    faces = []
    for i in range(CELLS):
        for j in range(CELLS):
            k = i * row + j
            faces += [(k, k + 1, k + row), (k + 1, k + row + 1, k + row)]
    return walkers.ground_mesh("Terrain", points, faces)


def measure(frames: int) -> tuple[float, float, float]:
    """Seconds to detect, to plant and to ground."""
    best = (np.inf, np.inf, np.inf)
    for _ in range(2):
        obj = walker(frames)
        detect, found = timed(lambda obj=obj: contacts.detect(bpy.context, obj, hands=True))
        plant, _ = timed(lambda obj=obj, found=found: planting.plant_contacts(bpy.context, obj, found))
        obj, ground = walker(frames), terrain()
        seconds, report = timed(lambda obj=obj, ground=ground: grounding.ground(bpy.context, obj, ground))
        assert report.deepest[1] < 1e-3
        best = tuple(min(a, b) for a, b in zip(best, (detect, plant, seconds), strict=True))
    return best  # type: ignore[return-value]


def table(lengths: list[int]) -> None:
    print("frames   detect s   plant s   ground s   ms a frame (all)")
    per_frame = []
    for frames in lengths:
        times = measure(frames)
        per_frame.append(1e3 * sum(times) / frames)
        print(f"{frames:6}   {times[0]:8.2f}   {times[1]:7.2f}   {times[2]:8.2f}   {per_frame[-1]:8.2f}")
    growth = per_frame[-1] / per_frame[0]
    print(f"growth of the time of a frame from {lengths[0]} to {lengths[-1]} frames: {growth:.2f}")


def rays() -> None:
    """A tree of our own against Blender's ray cast, on the terrain."""
    empty()
    obj = terrain()
    build, surface = timed(lambda: Ground(obj, bpy.context.evaluated_depsgraph_get()))
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = np.random.default_rng(1).uniform(-9.0, 9.0, (5000, 2))
    points = [Vector((x, y, 1.0)) for x, y in places]
    down = Vector((0.0, 0.0, -1.0))
    first, _ = timed(lambda: evaluated.ray_cast(points[0], down))
    own, _ = timed(lambda: [surface.below(point, 1.0) for point in points])
    theirs, _ = timed(lambda: [evaluated.ray_cast(point, down) for point in points])
    print(f"own tree: built in {build:.2f} s, {1e6 * own / 5000:.1f} us a ray; ", end="")
    print(f"Blender's: first ray {first:.2f} s, then {1e6 * theirs / 5000:.1f} us a ray")


def captures(paths: list[str]) -> None:
    for path in paths:
        empty()
        bpy.ops.import_anim.bvh(filepath=path, update_scene_fps=True, update_scene_duration=True)
        obj = next(one for one in bpy.data.objects if one.type == "ARMATURE")
        setup.add_chains(
            bpy.context, obj, setup.limb_plans(obj, arms=False, legs=True, target_kind="EMPTY", target_space="FK")
        )
        name = Path(path).name
        try:
            seconds, report = timed(
                lambda obj=obj: planting.plant_contacts(bpy.context, obj, contacts.detect(bpy.context, obj))
            )
        except LimbIKError as problem:
            print(f"{name:26} {problem}")
            continue
        worst = [max(one.part_of_length for one in rows) for rows in (report.before, report.after)]
        total = [sum(one.part_of_length for one in rows) for rows in (report.before, report.after)]
        print(
            f"{name:26} {report.holds:3} contacts  slide (leg lengths) total {total[0]:.3f} -> {total[1]:.1e}"
            f"  worst {worst[0]:.3f} -> {worst[1]:.1e}  {seconds:.2f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--frames", type=int, nargs="+", default=[250, 500, 1000])
    arguments = parser.parse_args()
    limb_ik.register()
    try:
        captures(arguments.files)
        rays()
        table(arguments.frames)
    finally:
        limb_ik.unregister()


main()
