"""Scenarios about renders and exports: the same pose as in the viewport, nothing else frozen (LB-03, 05, 06, 39)."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from limb_ik.rig import write
from limb_ik.rig.crowd.solving import FEWEST

import renders
import rigs

pytestmark = pytest.mark.usefixtures("blank")


def keyed_target(**settings: Any) -> tuple[Any, Any]:
    obj = rigs.l2s()
    target = rigs.empty("T")
    for frame, place in ((1, (1.2, 0, 0.5)), (20, (0.3, -0.9, 1.0))):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, -3, 0)), **settings)
    return obj, target


def skin(obj: bpy.types.Object, bone: str, point: tuple[float, float, float]) -> bpy.types.Object:
    """A mesh of one vertex that follows one bone."""
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([point], [], [])
    skinned = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(skinned)
    skinned.vertex_groups.new(name=bone).add([0], 1.0, "REPLACE")
    skinned.modifiers.new("Armature", "ARMATURE").object = obj
    return skinned


def test_lb_03_keyed_bones_and_what_they_deform_have_no_lag() -> None:
    obj, target = keyed_target()
    for name in ("up", "lo"):
        for frame, angle in ((1, 0.1), (20, 0.9)):
            rigs.turn(obj, name, "X", angle)
            rigs.key_rotation(rigs.bone(obj, name), frame)
    skinned = skin(obj, "lo", (0, 0, 2))
    for frame in (1, 7, 10, 20, 7):
        rigs.frame_set(frame)
        assert rigs.tip_error(obj, "lo", target) <= 1e-5
        vertex = skinned.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices[0].co
        assert (skinned.matrix_world @ vertex - rigs.world_position(target)).length <= 1e-5


def test_lb_05_a_rendered_animation_shows_the_pose_of_its_frames(tmp_path: Path) -> None:
    obj, _ = keyed_target()
    tip = rigs.bone(obj, "lo")
    for frame, weight in ((1, 0.0), (3, 1.0)):
        tip.limb_ik_weight = weight
        tip.keyframe_insert("limb_ik_weight", frame=frame)
    cube = renders.hang_cube(obj, "lo")
    scene = bpy.context.scene
    renders.small_picture(scene, tmp_path)
    scene.frame_start, scene.frame_end = 1, 3
    theory = {}
    for frame in (1, 2, 3):
        rigs.frame_set(frame)
        theory[frame] = renders.seen(cube)
    pose = rigs.local_rotations(obj)
    bpy.ops.render.render(animation=True)
    for frame, expected in theory.items():
        assert (renders.centre(tmp_path / f"f{frame:04}.png") - expected).length <= renders.PIXEL / 2
    assert (theory[3] - theory[1]).length > renders.PIXEL
    rigs.update()
    assert scene.frame_current == 3
    assert rigs.local_distance(pose, rigs.local_rotations(obj)) <= 1e-5


def animate_all_kinds(obj: Any) -> None:
    """A tenth a frame in everything that can be animated beside a chain, by keys or by a driver."""
    hand, up = rigs.bone(obj, "hand"), rigs.bone(obj, "up")
    constraint = hand.constraints.new("LIMIT_SCALE")
    obj["mood"] = 0.0
    hand["grip"] = 0.0
    driver = obj.driver_add("delta_location", 1).driver
    driver.type = "SUM"
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = obj, '["mood"]'
    for frame in (1, 10):
        obj.location.x = obj["mood"] = hand["grip"] = frame / 10
        hand.scale.x = up.location.x = constraint.influence = frame / 10
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert('["mood"]', frame=frame)
        hand.keyframe_insert('["grip"]', frame=frame)
        hand.keyframe_insert("scale", frame=frame)
        up.keyframe_insert("location", frame=frame)
        constraint.keyframe_insert("influence", frame=frame)
    rigs.set_interpolation(obj, "LINEAR")


def all_kinds(obj: Any) -> tuple[float, ...]:
    """The values that ``animate_all_kinds`` animates."""
    up, hand = obj.pose.bones["up"], obj.pose.bones["hand"]
    own = (obj.location.x, obj["mood"], obj.delta_location.y)
    return (*own, hand["grip"], hand.scale.x, up.location.x, hand.constraints[0].influence)


def test_a_render_freezes_nothing_that_is_animated_beside_the_chain(tmp_path: Path) -> None:
    obj, _ = keyed_target()
    animate_all_kinds(obj)
    scene = bpy.context.scene
    renders.small_picture(scene, tmp_path)
    rigs.frame_set(1)
    rendered: list[tuple[int, tuple[float, ...]]] = []

    def look(shown: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        if depsgraph.mode == "RENDER":
            rendered.append((shown.frame_current, all_kinds(obj.evaluated_get(depsgraph))))

    bpy.app.handlers.frame_change_post.append(look)
    scene.frame_start, scene.frame_end = 4, 6
    try:
        bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.frame_change_post.remove(look)
    assert [frame for frame, _ in rendered] == [4, 5, 6]
    for frame, values in rendered:
        assert values == pytest.approx([frame / 10] * 7, abs=1e-6), frame


def test_another_scenes_frame_freezes_nothing_and_is_right() -> None:
    """The second scene's evaluation is the one that a write could freeze: its result is read after the update."""
    obj, target = keyed_target()
    up = rigs.bone(obj, "up")
    for frame in (1, 10):
        obj.location.y = up.location.x = frame / 10
        obj.keyframe_insert("location", frame=frame)
        up.keyframe_insert("location", frame=frame)
    rigs.set_interpolation(obj, "LINEAR")
    rigs.frame_set(1)
    other = bpy.data.scenes.new("Other")
    for one in (obj, target, bpy.data.objects["P"]):
        other.collection.objects.link(one)
    for frame in (7, 3, 8):
        other.frame_set(frame)
        depsgraph = other.view_layers[0].depsgraph
        seen = obj.evaluated_get(depsgraph)
        assert seen.location.y == pytest.approx(frame / 10, abs=1e-6)
        assert seen.pose.bones["up"].location.x == pytest.approx(frame / 10, abs=1e-6)
        end = seen.matrix_world @ seen.pose.bones["lo"].tail
        assert (end - target.evaluated_get(depsgraph).matrix_world.translation).length <= 1e-5


def test_lb_06_no_loop_and_no_writes_when_idle() -> None:
    pairs = []
    for number in range(2):
        obj = rigs.l2b(name=f"Rig{number}", location=(3 * number, 0, 0))
        target = rigs.empty(f"T{number}", (3 * number + 0.6, -0.4, 1.2))
        rigs.add_chain_by_properties(obj, "lo", target)
        pairs.append((obj, target))
    rigs.update()
    depth, deepest, calls, writes = [0], [0], [0], []

    def count(*_: object) -> None:
        depth[0] += 1
        deepest[0] = max(deepest[0], depth[0])
        calls[0] += 1
        depth[0] -= 1

    original = write._write_bones
    write._write_bones = lambda rig, wanted: (writes.append(rig.obj.name), original(rig, wanted))
    bpy.app.handlers.depsgraph_update_post.append(count)
    try:
        pairs[0][1].location.x += 0.1
        rigs.update()
        assert writes == ["Rig0"]
        writes.clear()
        for _ in range(20):
            rigs.update()
        assert writes == []

        def meddle(*_: object) -> None:
            pairs[0][0]["counter"] = calls[0]

        bpy.app.handlers.depsgraph_update_post.append(meddle)
        try:
            for _ in range(20):
                rigs.update()
        finally:
            bpy.app.handlers.depsgraph_update_post.remove(meddle)
        assert writes == []
        assert deepest[0] == 1
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(count)
        write._write_bones = original
    for obj, target in pairs:
        assert rigs.tip_error(obj, "lo", target) <= 1e-5


@pytest.mark.parametrize("failure", ["no camera", "unwritable folder"])
def test_lb_39_a_failed_render_leaves_nothing_stuck(failure: str, tmp_path: Path) -> None:
    obj, target = keyed_target()
    scene = bpy.context.scene
    renders.small_picture(scene, tmp_path)
    if failure == "no camera":
        scene.camera = None
    else:
        scene.render.filepath = "/proc/nowhere/f"
    scene.frame_start, scene.frame_end = 1, 2
    with contextlib.suppress(RuntimeError):  # in the background a failed render is an error
        bpy.ops.render.render(animation=True)
    rigs.frame_set(5)
    assert rigs.tip_error(obj, "lo", target) <= 1e-5
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rigs.frame_set(6)
    assert rigs.tip_error(bpy.data.objects["Rig"], "lo", bpy.data.objects["T"]) <= 1e-5


def test_hidden_and_excluded_targets_are_read_at_their_frame() -> None:
    obj, target = keyed_target()
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(target)
    collection.objects.link(target)
    ways = {
        "hide_viewport": lambda on: setattr(target, "hide_viewport", on),
        "hide_render": lambda on: setattr(target, "hide_render", on),
        "hide_set": lambda on: target.hide_set(on),
        "collection": lambda on: setattr(collection, "hide_viewport", on),
        "exclude": lambda on: setattr(bpy.context.view_layer.layer_collection.children["Away"], "exclude", on),
    }
    for name, hide in ways.items():
        hide(True)
        for frame in (4, 15, 9):
            rigs.frame_set(frame)
            part = (frame - 1) / 19
            eased = np.array(rigs.world_position(target))
            assert rigs.tip_error(obj, "lo", tuple(eased)) <= 1e-5, name
            assert 0 < part < 1
        hide(False)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
@pytest.mark.parametrize("is_keyed", [False, True])
def test_a_still_of_the_frame_that_is_shown_has_the_pose_of_the_viewport(
    tmp_path: Path, is_keyed: bool, mode: str
) -> None:
    """The original bones hold this very pose already, but the render's own evaluation does not."""
    obj, _ = keyed_target()
    for name in ("up", "lo", "hand"):
        rigs.bone(obj, name).rotation_mode = mode
        for frame in (1, 20) if is_keyed else ():
            rigs.key_rotation(rigs.bone(obj, name), frame)
    cube = renders.hang_cube(obj, "lo")
    scene = bpy.context.scene
    renders.small_picture(scene, tmp_path)
    for frame in (1, 8, 8):
        rigs.frame_set(frame)
        expected = renders.seen(cube)
        scene.render.filepath = str(tmp_path / "still.png")
        bpy.ops.render.render(write_still=True)
        assert (renders.centre(tmp_path / "still.png") - expected).length <= renders.PIXEL / 2


def test_a_still_of_a_crowd_has_the_pose_of_the_viewport(tmp_path: Path) -> None:
    """As many chains as are solved together."""
    cubes = []
    for number in range(FEWEST):
        obj = rigs.l2s(name=f"Rig{number}")
        target = rigs.empty(f"T{number}", (1.2, 0.01 * number, 0.5))
        for name in ("up", "lo", "hand"):
            rigs.key_rotation(rigs.bone(obj, name), 1)
        rigs.add_chain_by_properties(obj, "lo", target, rigs.empty(f"P{number}", (0, -3, 0)))
        cubes.append(renders.hang_cube(obj, "lo"))
    scene = bpy.context.scene
    renders.small_picture(scene, tmp_path)
    rigs.frame_set(3)
    expected = renders.seen(cubes[0])
    scene.render.filepath = str(tmp_path / "still.png")
    bpy.ops.render.render(write_still=True)
    assert (renders.centre(tmp_path / "still.png") - expected).length <= renders.PIXEL / 2
