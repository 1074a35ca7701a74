"""Scenarios about several scenes, view layers, sequencer strips and renders that break off (LB-05, 39)."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

import renders
import rigs

pytestmark = pytest.mark.usefixtures("blank")

ON_TARGET = 1e-5


def keyed_target() -> tuple[bpy.types.Object, bpy.types.Object]:
    obj = rigs.l2s()
    target = rigs.empty("T")
    for frame, place in ((1, (1.2, 0, 0.5)), (20, (-0.8, 0, 1.0))):
        rigs.key_location(target, frame, place)
    rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, -3, 0)))
    return obj, target


def test_lb_39_a_render_that_fails_half_way_leaves_nothing_stuck(tmp_path: Path) -> None:
    obj, target = keyed_target()
    scene = bpy.context.scene
    renders.small_picture(scene, tmp_path)
    scene.frame_start, scene.frame_end = 1, 6
    cancelled = []

    def lose_the_camera(shown: bpy.types.Scene, *_: object) -> None:
        if shown.frame_current == 3:
            shown.camera = None

    def cancel(*_: object) -> None:
        cancelled.append(True)

    bpy.app.handlers.frame_change_post.append(lose_the_camera)
    bpy.app.handlers.render_cancel.append(cancel)
    try:
        bpy.ops.render.render(animation=True)
    except RuntimeError:
        pass
    finally:
        bpy.app.handlers.frame_change_post.remove(lose_the_camera)
        bpy.app.handlers.render_cancel.remove(cancel)
    assert cancelled
    rigs.frame_set(5)
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rigs.frame_set(6)
    assert rigs.tip_error(bpy.data.objects["Rig"], "lo", bpy.data.objects["T"]) <= ON_TARGET


def test_every_view_layer_shows_the_solved_pose_whatever_it_excludes() -> None:
    obj, target = keyed_target()
    scene = bpy.context.scene
    away = bpy.data.collections.new("Away")
    scene.collection.children.link(away)
    scene.collection.objects.unlink(target)
    away.objects.link(target)
    other = scene.view_layers.new("Without target")
    other.layer_collection.children["Away"].exclude = True
    for frame in (3, 15, 8):
        rigs.frame_set(frame)
        expected = rigs.world_position(target)
        for layer in scene.view_layers:
            layer.update()
            seen = obj.evaluated_get(layer.depsgraph)
            assert (seen.matrix_world @ seen.pose.bones["lo"].tail - expected).length <= ON_TARGET, (frame, layer.name)


def test_several_view_layers_are_rendered_in_the_solved_pose(tmp_path: Path) -> None:
    obj, _ = keyed_target()
    cube = renders.hang_cube(obj, "lo")
    scene = bpy.context.scene
    renders.small_picture(scene, tmp_path)
    scene.view_layers.new("Second")
    rigs.frame_set(7)
    expected = renders.seen(cube)
    rigs.frame_set(18)
    assert (expected - renders.seen(cube)).length > 0.3
    scene.frame_start = scene.frame_end = 7
    bpy.ops.render.render(animation=True)
    assert (renders.centre(tmp_path / "f0007.png") - expected).length <= renders.PIXEL / 2


def test_a_scene_strip_shows_the_frame_that_it_asks_for(tmp_path: Path) -> None:
    obj, target = keyed_target()
    cube = renders.hang_cube(obj, "lo")
    shot = bpy.context.scene
    renders.small_picture(shot, tmp_path)
    rigs.frame_set(5)
    expected = renders.seen(cube)
    rigs.frame_set(16)
    pose = rigs.local_rotations(obj)
    edit = bpy.data.scenes.new("Edit")
    renders.prepare(edit, tmp_path)
    editor = edit.sequence_editor_create()
    strips = editor.strips if hasattr(editor, "strips") else editor.sequences
    strips.new_scene("Shot", shot, 1, 11)  # the shot's first frame stands at 11
    edit.frame_start = edit.frame_end = 15
    shot.frame_start, shot.frame_end = 1, 20
    bpy.context.window.scene = edit if bpy.context.window is not None else None
    bpy.ops.render.render(animation=True, scene="Edit")
    assert (renders.centre(tmp_path / "f0015.png") - expected).length <= renders.PIXEL / 2
    if bpy.context.window is not None:
        bpy.context.window.scene = shot
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET
    assert shot.frame_current != 16 or rigs.local_distance(pose, rigs.local_rotations(obj)) <= 1e-5
    shot.frame_set(16)
    assert rigs.local_distance(pose, rigs.local_rotations(obj)) <= 1e-5


def test_the_same_rig_in_two_scenes_keeps_each_at_its_frame() -> None:
    obj, target = keyed_target()
    first = bpy.context.scene
    other = bpy.data.scenes.new("Other")
    for one in (obj, target, bpy.data.objects["P"]):
        other.collection.objects.link(one)
    rigs.frame_set(4)
    shown = rigs.local_rotations(obj)
    for frame in (12, 2):
        other.frame_set(frame)
        seen = obj.evaluated_get(other.view_layers[0].depsgraph)
        end = seen.matrix_world @ seen.pose.bones["lo"].tail
        goal = target.evaluated_get(other.view_layers[0].depsgraph).matrix_world.translation
        assert (end - goal).length <= ON_TARGET
    first.frame_set(4)
    assert rigs.local_distance(shown, rigs.local_rotations(obj)) <= 1e-5
    rigs.bone(obj, "lo").limb_ik_mute = True
    rigs.update()
    assert rigs.local_distance({"up": rigs.Quaternion()}, rigs.local_rotations(obj)) <= 1e-6


def only_instanced(*objects: bpy.types.Object) -> bpy.types.Object:
    """Objects in a collection within one that no scene has, and the instance that shows it."""
    outer, inner = bpy.data.collections.new("Outer"), bpy.data.collections.new("Inner")
    outer.children.link(inner)
    for obj in objects:
        inner.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    instance = rigs.empty("Instance", (5, 0, 0))
    instance.instance_type, instance.instance_collection = 'COLLECTION', outer
    return instance


def test_a_rig_and_its_target_that_only_an_instance_shows_are_solved_and_baked() -> None:
    obj, target = keyed_target()
    rigs.frame_set(7)
    expected = rigs.local_rotations(obj)
    only_instanced(obj, target)
    for frame in (12, 7):
        rigs.frame_set(frame)
    assert rigs.local_distance(expected, rigs.local_rotations(obj)) <= ON_TARGET
    target.location.z += 0.1
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET and rigs.bone(obj, "lo").limb_ik_status == 'REACHED'
    bpy.ops.limb_ik.bake(armature=obj.name, use_range=True, frame_start=1, frame_end=20)
    rigs.frame_set(7)
    assert rigs.local_distance(expected, rigs.local_rotations(obj)) <= ON_TARGET


def test_a_target_that_no_scene_shows_counts_as_deleted() -> None:
    obj, target = keyed_target()
    instance = only_instanced(target)
    rigs.update()
    assert rigs.bone(obj, "lo").limb_ik_status == 'REACHED'
    bpy.context.scene.collection.objects.unlink(instance)
    obj.update_tag()
    rigs.update()
    assert rigs.bone(obj, "lo").limb_ik_message == "target 'T' is in no scene"
