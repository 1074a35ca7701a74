"""Scenarios about where a bake reads its frames, which ones, and in parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
from limb_ik.bake import parts
from limb_ik.bake.baking import bake, read_part
from limb_ik.bake.options import BakeOptions
from limb_ik.rig.errors import LimbIKError
from mathutils import Quaternion

import rigs
from bakes import animation, arm_and_hand, assert_same, baked, limb, put_animation, recorded, rotation_keys

pytestmark = pytest.mark.usefixtures("blank")


def a_context_property(target: bpy.types.Object) -> None:
    variable = target.driver_add("location", 0).driver.variables.new()
    variable.type = "CONTEXT_PROP"
    variable.targets[0].context_property = "ACTIVE_SCENE"
    variable.targets[0].data_path = "frame_current"
    target.animation_data.drivers[0].driver.expression = "var / 20"


def a_scene(target: bpy.types.Object) -> None:
    variable = target.driver_add("location", 0).driver.variables.new()
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id = bpy.context.scene
    variable.targets[0].data_path = "frame_current"
    target.animation_data.drivers[0].driver.expression = "var / 20"


def python(target: bpy.types.Object) -> None:
    target.driver_add("location", 0).driver.expression = "bpy.context.scene.frame_current / 20"


def a_rigid_body(target: bpy.types.Object) -> None:
    bpy.ops.rigidbody.world_add()
    mesh = bpy.data.meshes.new("Ball")
    mesh.from_pydata([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)], [], [])
    ball = bpy.data.objects.new("Ball", mesh)
    bpy.context.scene.collection.objects.link(ball)
    ball.location = (0.6, -0.4, 1.4)
    bpy.context.view_layer.objects.active = ball
    ball.select_set(True)
    bpy.ops.rigidbody.object_add()
    target.parent, target.location = ball, (0, 0, 0)


@pytest.mark.parametrize("case", [a_context_property, a_scene, python, a_rigid_body])
def test_what_needs_the_scene_is_read_in_it(
    case: Callable[[bpy.types.Object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bpy.context.preferences.filepaths, "use_scripts_auto_execute", True)
    obj, target = limb()
    case(target)
    live = recorded(obj, range(1, 11))
    assert rigs.pose_distance(live[0], live[-1]) > 0.01
    rigs.frame_set(33.5)
    report = baked(obj)
    assert any("scene" in note for note in report.notes)
    assert bpy.context.scene.frame_current_final == 33.5
    assert_same(live, recorded(obj, range(1, 11)))


def test_a_simple_expression_and_mathematics_need_no_scene() -> None:
    obj, target = limb()
    target.driver_add("location", 0).driver.expression = "sum([sin(frame / 7), 0.2])"
    live = recorded(obj, range(1, 11))
    assert not any("in the scene itself" in note for note in baked(obj).notes)
    assert_same(live, recorded(obj, range(1, 11)))


def test_a_motion_between_frames_is_baked_on_whole_ones() -> None:
    obj, _ = limb()
    rigs.key_rotation(rigs.bone(obj, "hand"), 1.5, Quaternion((1, 0, 0), 0.3))
    rigs.key_rotation(rigs.bone(obj, "hand"), 9.25)
    bake(bpy.context, [obj], BakeOptions())
    points = next(points for (path, _), points in rotation_keys(obj).items() if '"up"' in path)
    assert [x for x, _ in points] == list(range(1, 11))


def test_a_half_broken_range_says_on_how_many_frames() -> None:
    obj = rigs.l2b("Rig", root=True)
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0, -1.0, 1.0)), None)
    root = rigs.bone(obj, "root")
    for frame, size in ((4, 1.0), (5, 0.0)):
        root.scale = (size, size, size)
        root.keyframe_insert("scale", frame=frame)
    rigs.set_interpolation(obj, "CONSTANT")
    live = recorded(obj, range(1, 11))
    report = baked(obj)
    assert any("6 of 10 frames" in note for note in report.notes)
    assert_same(live, recorded(obj, range(1, 11)), 1e-4, 1e-4)


@pytest.mark.parametrize("reduce", [0.0, 0.01])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_parts_read_apart_give_the_keys_of_one_bake(count: int, reduce: float, tmp_path: Path) -> None:
    obj = arm_and_hand("XYZ")
    options = BakeOptions(1, 30, reduce=reduce)
    read = []
    for number in range(1, count + 1):
        path = tmp_path / f"{number}.json"
        path.write_text(parts.to_text(read_part(bpy.context, [obj], options, number, count)))
        read.append(parts.from_file(path))
    before, own = rotation_keys(obj), animation(obj)
    bake(bpy.context, [obj], options)
    whole = rotation_keys(obj)
    assert whole != before
    put_animation(obj, own)
    seen: list[int] = []
    bake(bpy.context, [obj], options, lambda done, total: seen.append(total), read)
    assert seen == []  # nothing was read again
    for key, points in rotation_keys(obj).items():
        assert np.array(points) == pytest.approx(np.array(whole[key]), abs=1e-6)


def test_a_part_of_another_bake_is_refused(tmp_path: Path) -> None:
    obj = arm_and_hand()
    part = read_part(bpy.context, [obj], BakeOptions(1, 30), 1, 2)
    with pytest.raises(LimbIKError, match="another"):
        bake(bpy.context, [obj], BakeOptions(1, 30, step=2), None, [part])
    with pytest.raises(LimbIKError, match="no part 3 of 2"):
        read_part(bpy.context, [obj], BakeOptions(1, 30), 3, 2)
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(LimbIKError, match="is no part of a bake"):
        parts.from_file(tmp_path / "x.json")
    rigs.bone(obj, "lo").limb_ik_use_warm_start = True
    with pytest.raises(LimbIKError, match="warm start"):
        read_part(bpy.context, [obj], BakeOptions(1, 30), 1, 2)
