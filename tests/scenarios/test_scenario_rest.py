"""What scenarios ask for beyond the tests that carry their number elsewhere: second solvers, other processes, undo."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest

import children
import rigs

pytestmark = pytest.mark.usefixtures("blank")

TARGET, POLE = (0.6, -0.4, 1.2), (0, 3, 0.8)
OTHER_PROCESS = """
import json, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import bpy, limb_ik, rigs
limb_ik.register()
bpy.ops.wm.open_mainfile(filepath=sys.argv[3])
found = {}
for frame in json.loads(sys.argv[4]):
    rigs.frame_set(frame)
    found[frame] = [tuple(turn) for turn in rigs.local_rotations(bpy.data.objects["Rig"]).values()]
limb_ik.unregister()
print("\\nfound", json.dumps(found), flush=True)
import os
os._exit(0)
"""


def limb(**settings: Any) -> tuple[Any, Any, Any]:
    obj, target = rigs.l2b(), rigs.empty("T", TARGET)
    return obj, target, rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", POLE), **settings)


def saved(path: Path) -> str:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return str(path)


def in_another_process(tmp_path: Path, file: str, frames: list[int]) -> dict[int, list[rigs.Quaternion]]:
    """Local rotations of "Rig" by frame, from a Blender that has seen nothing else."""
    package, tests = children.package_folder(tmp_path), str(Path(__file__).resolve().parents[1])
    done = children.run(OTHER_PROCESS, package, tests, file, json.dumps(frames))
    line = next((line for line in done.stdout.splitlines() if line.startswith("found ")), None)
    assert line is not None, done.stderr
    return {int(frame): [rigs.Quaternion(q) for q in turns] for frame, turns in json.loads(line[6:]).items()}


def test_lb_04_one_update_after_the_target_moved() -> None:
    bones = rigs.with_root([*rigs.bent(6, 0.5, math.radians(8))])
    last = bones[-1]
    end = rigs.BoneSpec("hand", last.tail, [x + 0.1 for x in last.tail], last.name, True)
    obj = rigs.build([*bones, end])
    rigs.turn(obj, "root", "Z", math.radians(35))
    target = rigs.empty("T", (0.1, -0.2, 2.0))
    rigs.add_chain_by_properties(obj, last.name, target, chain_length=6, solver="FABRIK", end_bone="hand")
    rigs.update()
    target.location = (0.8, -0.9, 1.3)
    rigs.update()
    first = rigs.local_rotations(obj)
    assert rigs.tip_error(obj, last.name, target, "hand") <= 3e-5
    for _ in range(2):
        obj.update_tag()
        rigs.update()
        assert rigs.local_distance(first, rigs.local_rotations(obj)) <= 1e-6


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_lb_07_the_bend_of_a_scaled_rig_is_its_twins(factor: float) -> None:
    place: dict[str, Any] = {"location": (3, -2, 1), "rotation": (0, 0, math.pi / 2)}
    scaled = rigs.l2s(name="Scaled", scale=factor, length=1.0 / factor, **place)
    twin = rigs.l2s(name="Twin", **place)
    target, pole = rigs.empty("T", (3, -0.8, 1.5)), rigs.empty("P", (6, -2, 1))
    for obj in (scaled, twin):
        rigs.add_chain_by_properties(obj, "lo", target, pole)
    rigs.update()
    assert rigs.local_distance(rigs.local_rotations(scaled), rigs.local_rotations(twin)) <= 1e-4
    assert rigs.tip_error(scaled, "lo", target) <= 1e-5


def test_lb_06_a_render_ends_and_the_pose_stays() -> None:
    """A render that starts while handlers of others change things: it ends, each frame solved, none nested."""
    obj, target, _ = limb()
    scene = bpy.context.scene
    scene.render.resolution_x = scene.render.resolution_y = 4
    scene.render.engine, scene.cycles.samples = 'CYCLES', 1
    scene.cycles.use_denoising = False  # not every build has a denoiser
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.frame_end = 2
    scene.render.filepath = str(Path(bpy.app.tempdir) / "lb06_")
    rendered: list[int] = []
    depth, deepest = [0], [0]

    def meddle(*_: object) -> None:
        depth[0] += 1
        deepest[0] = max(deepest[0], depth[0])
        obj["counter"] = deepest[0]
        depth[0] -= 1

    def after(shown: bpy.types.Scene, *_: object) -> None:
        rendered.append(shown.frame_current)

    bpy.app.handlers.depsgraph_update_post.append(meddle)
    bpy.app.handlers.render_post.append(after)
    try:
        bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(meddle)
        bpy.app.handlers.render_post.remove(after)
    assert rendered == [1, 2]
    assert deepest[0] <= 1
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= 1e-5


def test_lb_33_lengths_of_a_long_chain_hold_at_every_weight() -> None:
    obj = rigs.c6()
    target = rigs.empty("T", (0.9, 0.3, 0.9))
    names = [bone.name for bone in obj.pose.bones]
    for name in names:
        rigs.turn(obj, name, "X", math.radians(15))
    tip = rigs.add_chain_by_properties(obj, "b6", target, solver="FABRIK", chain_length=6)
    tip.limb_ik_weight = 0.0
    rigs.update()
    fk = rigs.local_rotations(obj)
    assert all(turned.angle == pytest.approx(math.radians(15), abs=1e-6) for turned in fk.values())
    rows = []
    for step in range(21):
        tip.limb_ik_weight = step / 20
        rigs.update()
        pose = rigs.evaluated_pose(obj)
        for name in names:
            assert (pose[name].tail - pose[name].head).length == pytest.approx(0.5, abs=1e-6)
        now = rigs.local_rotations(obj)
        rows.append([rigs.rotation_distance(fk[name], now[name]) for name in names])
    assert rigs.tip_error(obj, "b6", target) <= 3e-5
    for arcs in zip(*rows, strict=True):  # 1e-4: float32 rotations, told apart where a bone hardly turns
        assert all(after >= before - 1e-4 for before, after in itertools.pairwise(arcs))


def test_lb_37_another_process_shows_the_same_pose(tmp_path: Path) -> None:
    """As a render farm does: each frame may be the first that a process sees."""
    obj, target, tip = limb(blend_time=0.5)
    for frame, place in ((1, TARGET), (40, (-0.5, 0.6, 1.1))):
        rigs.key_location(target, frame, place)
    for frame, on in ((1, False), (10, True), (30, False)):
        rigs.key_setting(tip, "use_ik", frame, on)
    frames = [14, 3, 33, 25]
    here = {}
    for frame in sorted(frames):
        rigs.frame_set(frame)
        here[frame] = list(rigs.local_rotations(obj).values())
    there = in_another_process(tmp_path, saved(tmp_path / "shot.blend"), frames)
    for frame in frames:
        for one, other in zip(here[frame], there[frame], strict=True):
            assert rigs.rotation_distance(one, other) <= 1e-5, frame


def test_lb_41_a_file_saved_without_the_extension_works_once_it_is_back(extension: ModuleType, tmp_path: Path) -> None:
    limb()
    rigs.update()
    extension.unregister()
    try:
        path = saved(tmp_path / "C.blend")
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    finally:
        extension.register()
    bpy.ops.wm.open_mainfile(filepath=path)
    rigs.frame_set(3)
    obj, target = bpy.data.objects["Rig"], bpy.data.objects["T"]
    assert rigs.tip_error(obj, "lo", target) <= 1e-5
    here = list(rigs.local_rotations(obj).values())
    there = in_another_process(tmp_path, path, [3])[3]
    assert all(rigs.rotation_distance(one, other) <= 1e-5 for one, other in zip(here, there, strict=True))


def test_lb_42_a_hidden_armature_is_baked_the_same_with_nothing_active() -> None:
    found = {}
    for way in ("shown", "by the eye", "in viewports"):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        obj, target, _ = limb()
        for frame, place in ((1, TARGET), (5, (-0.5, 0.6, 1.1))):
            rigs.key_location(target, frame, place)
        obj.hide_set(way == "by the eye")
        obj.hide_viewport = way == "in viewports"
        bpy.context.view_layer.objects.active = None
        for one in bpy.context.selected_objects:
            one.select_set(False)
        with bpy.context.temp_override(active_object=None, object=None, selected_objects=[]):
            bpy.ops.limb_ik.bake(armature="Rig", frame_start=1, frame_end=5)
        found[way] = {path: keys for path, keys in rigs.keys(obj).items() if "rotation" in path[0]}
        assert len(found[way]) == 8
    assert found["shown"] == found["by the eye"] == found["in viewports"]


def test_lb_45_a_deleted_rig_comes_back_with_undo() -> None:
    a, _, _ = limb()
    a.name = "A"
    b = rigs.l2b(name="B", location=(2, 0, 0))
    rigs.add_chain_by_properties(b, "lo", a, target_bone="hand")
    rigs.update()
    shown = rigs.local_rotations(b)
    bpy.ops.ed.undo_push(message="Before")
    bpy.data.objects.remove(bpy.data.objects["A"])
    rigs.update()
    bpy.ops.ed.undo_push(message="Removed")
    assert rigs.bone(bpy.data.objects["B"], "lo").limb_ik_status == "INVALID"
    bpy.ops.ed.undo()
    rigs.update()
    back = bpy.data.objects["B"]
    assert rigs.local_distance(shown, rigs.local_rotations(back)) <= 1e-5
    assert rigs.tip_error(bpy.data.objects["A"], "lo", bpy.data.objects["T"]) <= 1e-5
    bpy.ops.scene.new(type='EMPTY')
    for frame in (1, 2, 3):
        rigs.frame_set(frame)


def test_lb_57_locked_quaternions_come_back_and_are_left_by_clearing() -> None:
    obj, target, lo = limb()
    bpy.context.view_layer.objects.active = obj
    lo.limb_ik_mute = True
    lo.rotation_quaternion = rigs.Quaternion((0.9, 0.1, 0.3, 0.2)).normalized()
    lo.lock_rotations_4d, lo.lock_rotation_w, lo.lock_rotation = True, True, (False, True, True)
    before = tuple(lo.rotation_quaternion)
    lo.limb_ik_mute = False
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= 1e-5
    lo.limb_ik_mute = True
    rigs.update()
    assert tuple(lo.rotation_quaternion) == before
    bpy.ops.object.mode_set(mode='POSE')
    bpy.ops.pose.select_all(action='SELECT')
    bpy.ops.pose.rot_clear()
    w, x, y, z = lo.rotation_quaternion
    assert (w, y, z) == (before[0], *before[2:]) and x == 0.0


@pytest.mark.parametrize("bone", ["hand", "lo"])
def test_lb_60_a_bake_of_what_follows_itself_is_refused(bone: str) -> None:
    obj = rigs.l2b()
    rigs.add_chain_by_properties(obj, "lo", obj, target_bone=bone)
    rigs.update()
    with pytest.raises(RuntimeError, match="'lo' skipped: its target or pole hangs on the chain itself"):
        bpy.ops.limb_ik.bake(armature="Rig", frame_start=1, frame_end=5)
    assert obj.animation_data is None or obj.animation_data.action is None
