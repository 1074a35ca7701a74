"""How fast: a crowd, a scene that Limb IK has nothing to do in, bakes, and how all that grows; native IK beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter, process_time
from typing import Any

import _scenes
import bpy
import numpy as np
from _report import Row, Series, fastest_tenth
from limb_ik import handlers
from limb_ik.bake import keys
from limb_ik.bake.baking import BakeOptions, bake
from limb_ik.rig import live_pause

CROWD = 50
TAGGED = "a handler that tags alone"
BARE = "a handler that reads and writes alone, no IK"
FRAMES = 250
ROUNDS = 3
WORDS = {
    "frame_by_chains": ("A frame by the number of chains", "chains in the scene", "ms a frame"),
    "bake_by_frames": ("A bake by the number of frames", "frames", "seconds"),
    "frame_by_scene": ("A frame of four chains by what else is in the scene", "other objects", "ms a frame"),
}
"""Of each drawing: title, and what its axes say."""


def _frame_ms(clock: Callable[[], float] = perf_counter, count: int = 60) -> float:
    scene = bpy.context.scene
    return 1e3 * fastest_tenth(lambda number: scene.frame_set(2 + number), count, clock)


def _crowd_ms(count: int, kind: str, clock: Callable[[], float] = perf_counter, **scene: Any) -> float:
    _scenes.reset()
    made = _scenes.characters(count, **scene)
    if kind == "native":
        _scenes.add_native(made)
    elif kind == "limb_ik":
        _scenes.add_limb_ik(made)
    return _frame_ms(clock)


def crowd() -> list[Row]:
    found = []
    scenes = {
        "bare": {"keyed": 'NONE', "is_parented": False},
        "limbs keyed": {"keyed": 'LIMBS', "is_parented": False},
        "all keyed": {"is_parented": False},
        "all keyed, targets children": {},
    }
    for what, scene in scenes.items():
        without, native, ours, bare = _least(
            ROUNDS,
            *(partial(_crowd_ms, CROWD, kind, **scene) for kind in ("none", "native", "limb_ik")),
            partial(_bare_crowd_ms, **scene),
        )
        label = f"{CROWD} characters, {4 * CROWD} limbs, a frame: {what} (without IK {without:.1f})"
        found.append(Row(label, "ms", native, ours, 1.5, is_ratio=True))
        label = f"the same: {BARE}"
        found.append(Row(label, "ms", native, bare, None))
    return found


def _least(rounds: int, *figures: Callable[[], Any]) -> list[Any]:
    """The least that each gives when all are taken in turn: a machine may be slow for seconds."""
    return [min(column) for column in zip(*([figure() for figure in figures] for _ in range(rounds)), strict=True)]


def _bare_crowd_ms(**scene: Any) -> float:
    """What is left for IK itself: each rig read and written in bulk and tagged, each target and pole looked at."""
    _scenes.reset()
    made = _scenes.characters(CROWD, **scene)
    _scenes.add_limb_ik(made)
    values = np.empty(16 * len(made[0].obj.pose.bones), np.float32)
    quats = np.empty(4 * len(made[0].obj.pose.bones), np.float32)

    def bare(_scene: Any, depsgraph: Any) -> None:
        for one in made:
            bones = one.obj.evaluated_get(depsgraph).pose.bones
            bones.foreach_get("matrix", values)
            bones.foreach_get("rotation_quaternion", quats)
            for empty in (*one.targets, *one.poles):
                _place = empty.evaluated_get(depsgraph).matrix_world.translation
            one.obj.pose.bones.foreach_set("rotation_quaternion", quats)
            one.obj.update_tag(refresh={'OBJECT'})

    with live_pause.paused(), _handling(bare):
        return _frame_ms()


@contextmanager
def _handling(handler: Callable[..., None]) -> Iterator[None]:
    bpy.app.handlers.frame_change_post.append(handler)
    try:
        yield
    finally:
        bpy.app.handlers.frame_change_post.remove(handler)


def _handler_us(seen: Any) -> float:
    scene = bpy.context.scene
    calls = 1000

    def all_of_them(_: int) -> None:
        for _call in range(calls):
            handlers.frame_change_pre(scene, seen)
            handlers.frame_change_post(scene, seen)
            handlers.depsgraph_update_post(scene, seen)

    return 1e6 * fastest_tenth(all_of_them, 10) / calls


class _Edit:
    """What the handler is given after an edit of a material in a scene of rigs; the real one is gone outside of it."""

    def __init__(self, depsgraph: Any) -> None:
        self.depsgraph, self.updates = depsgraph, ()

    def id_type_updated(self, kind: str) -> bool:
        return kind == 'MATERIAL'


def idle() -> list[Row]:
    """All handlers together in a scene without chains; after edits of other things the update handler alone."""
    _scenes.reset()
    _scenes.characters(5)
    bpy.context.scene.frame_set(2)
    without = _handler_us(bpy.context.evaluated_depsgraph_get())
    _scenes.reset()
    _scenes.add_limb_ik(_scenes.characters(CROWD))
    scene, other = bpy.context.scene, bpy.data.objects.new("Other", None)
    scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    return [
        Row("a frame in a scene without chains: all handlers", "µs", None, without, 5.0),
        Row("an edit of another kind of data (material, mesh): handler", "µs", None, _edit_us(_Edit(None)), 5.0),
        _moved(other),
    ]


def _edit_us(seen: Any) -> float:
    scene, calls = bpy.context.scene, 1000

    def act(_: int) -> None:
        for _call in range(calls):
            handlers.depsgraph_update_post(scene, seen)

    return 1e6 * fastest_tenth(act, 10) / calls


def _moved(other: Any) -> Row:
    """What the handler costs inside real updates beyond Blender's own list of what changed.

    Blender walks all objects for that list; no handler that asks what changed gets by without it.
    """
    least, ours = _least(
        ROUNDS, partial(_moved_us, other, _changes), partial(_moved_us, other, handlers.depsgraph_update_post)
    )
    label = f"another object moved, beside {CROWD} characters: handler beyond Blender's list of changes ({least:.1f})"
    return Row(label, "µs", None, ours - least, 5.0)


def _changes(_scene: Any, depsgraph: Any) -> list[Any]:
    return [update.id for update in depsgraph.updates]


def _moved_us(other: Any, handler: Callable[[Any, Any], Any]) -> float:
    """A handler's time inside real updates, alone there."""
    seconds: list[float] = []
    own = handlers.depsgraph_update_post

    def timed(scene: Any, depsgraph: Any) -> None:
        began = perf_counter()
        handler(scene, depsgraph)
        seconds.append(perf_counter() - began)

    chain = bpy.app.handlers.depsgraph_update_post
    chain.remove(own)
    chain.append(timed)
    try:
        for number in range(300):
            other.location.x = float(number)
            bpy.context.view_layer.update()
    finally:
        chain.remove(timed)
        chain.append(own)
    return 1e6 * sorted(seconds)[len(seconds) // 10]


def _heavy_mesh(rig: Any) -> None:
    """A subdivided mesh of 32,000 vertices, skinned to the armature."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=45, y_subdivisions=45)
    mesh = bpy.context.object
    group = mesh.vertex_groups.new(name="chest")
    group.add(range(len(mesh.data.vertices)), 1.0, 'REPLACE')
    mesh.modifiers.new("Armature", 'ARMATURE').object = rig
    mesh.modifiers.new("Subdivision", 'SUBSURF').levels = 2


@contextmanager
def _posing(rig: Any) -> Iterator[None]:
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode='POSE')
    try:
        yield
    finally:
        bpy.ops.object.mode_set(mode='OBJECT')


def _native_bake(frames: int, is_heavy: bool = False) -> tuple[float, int]:
    _scenes.reset()
    one = _scenes.characters(1, frames)[0]
    _scenes.add_native([one])
    if is_heavy:
        _heavy_mesh(one.obj)
    with _posing(one.obj):
        _select_all(one.obj)
        began = perf_counter()
        bpy.ops.nla.bake(frame_start=1, frame_end=frames, only_selected=False, visual_keying=True, bake_types={'POSE'})
        seconds = perf_counter() - began
    return seconds, _key_count(one.obj)


def _select_all(rig: Any) -> None:
    bpy.ops.pose.select_all(action='SELECT')


def _key_count(rig: Any) -> int:
    return sum(len(curve.keyframe_points) for curve in keys.compat.fcurves_of(rig))


def _our_bake(frames: int, is_heavy: bool = False, reduce: float = 0.0) -> tuple[float, int]:
    _scenes.reset()
    one = _scenes.characters(1, frames)[0]
    _scenes.add_limb_ik([one])
    if is_heavy:
        _heavy_mesh(one.obj)
        bpy.context.view_layer.update()
    began = perf_counter()
    report = bake(bpy.context, [one.obj], BakeOptions(1, frames, reduce=reduce))
    return perf_counter() - began, report.keys


def bakes() -> list[Row]:
    native, ours, heavy_native, heavy = _least(
        ROUNDS,
        *(partial(make, FRAMES, is_heavy) for is_heavy in (False, True) for make in (_native_bake, _our_bake)),
    )
    few = _our_bake(FRAMES, reduce=0.001)
    return [
        Row(f"bake of {FRAMES} frames, 4 limbs", "s", native[0], ours[0], 0.2, is_ratio=True),
        Row("the same beside a subdivided mesh of 32k vertices", "s", heavy_native[0], heavy[0], 0.05, is_ratio=True),
        Row("keys in the action of 33 bones after it, ours written", "", float(native[1]), float(ours[1]), 2000.0 * 4),
        Row("the same with keys reduced to 1 mm", "", float(native[1]), float(few[1]), 0.1 * ours[1]),
    ]


def _chains_ms(counts: Sequence[int], kind: str) -> list[tuple[float, float]]:
    return [(float(4 * count), _crowd_ms(count, kind, process_time)) for count in counts]


def growth() -> tuple[list[Row], dict[str, Series]]:
    """Chains 4 to 400, frames of a bake, other objects in the scene. Frames in processor time, of all threads."""
    counts = (1, 5, 20, 50, 100)
    curves = {kind: _chains_ms(counts, kind) for kind in ("none", "native", "limb_ik")}
    by_chains = {"without IK": curves["none"], "native IK": curves["native"], "Limb IK": curves["limb_ik"]}
    cost = {kind: [ms / chains for chains, ms in curves[kind]] for kind in curves}
    frames = (50, 250, 1000)
    by_frames = {
        "nla.bake": [(float(n), _native_bake(n)[0]) for n in frames],
        "Limb IK": [(float(n), _our_bake(n)[0]) for n in frames],
    }
    others = (10, 100, 1000, 5000)
    kinds = ("without IK", TAGGED, "Limb IK")
    crowded = {kind: [(float(n), _among(n, kind)) for n in others] for kind in kinds}
    bake_growth = by_frames["Limb IK"][2][1] / by_frames["Limb IK"][0][1] / (frames[2] / frames[0])
    rows = [
        Row("a frame's cost of a chain among 400 : among 20", "", cost["native"][4] / cost["native"][1],
            cost["limb_ik"][4] / cost["limb_ik"][1], 1.2),
        Row("bake of a frame among 1000 : among 50", "", None, bake_growth, 1.2),
        Row("a frame of 4 chains among 5000 other objects, less a handler that tags alone : among 10", "", None,
            _beyond(crowded, 3) / _beyond(crowded, 0), 1.2),
    ]  # fmt: skip
    return rows, {"frame_by_chains": by_chains, "bake_by_frames": by_frames, "frame_by_scene": crowded}


def _beyond(crowded: Series, number: int) -> float:
    """What IK adds to a frame beyond that handler, in a scene of so many objects."""
    return crowded["Limb IK"][number][1] - crowded[TAGGED][number][1]


def _among(count: int, kind: str) -> float:
    """A frame of one character among objects that have nothing to do with it."""
    _scenes.reset()
    made = _scenes.characters(1)
    for number in range(count):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(f"Prop {number}", None))
    if kind == "Limb IK":
        _scenes.add_limb_ik(made)
    if kind == TAGGED:
        with _tagging(made[0].obj):
            return _frame_ms(process_time)
    return _frame_ms(process_time)


@contextmanager
def _tagging(obj: Any) -> Iterator[None]:
    """The least that any write from a handler costs: Blender goes through the whole scene once more."""

    def tag(*_: Any) -> None:
        obj.update_tag(refresh={'OBJECT'})

    with _handling(tag):
        yield
