"""Scenarios about exports and motion blur: what leaves Blender is solved, what stays is as before (LB-05)."""

from __future__ import annotations

import math
from pathlib import Path

import bpy
import pytest
from mathutils import Vector

import renders
import rigs

pytestmark = pytest.mark.usefixtures("blank")

FRAMES = range(1, 9)
# Alembic and USD store float32.
SAME_POINT = 1e-5
# Pixels from side to side.
SIZE = 32
Points = dict[int, list[Vector]]


def scene_with_skin() -> tuple[bpy.types.Object, bpy.types.Object]:
    """A keyed rig with a keyed target, root motion, other bones' keyed locations, and a skin that follows it all."""
    obj = rigs.l2s()
    target = rigs.empty("T")
    for frame, place in ((1, (1.2, 0, 0.5)), (20, (0.3, -0.9, 1.0))):
        rigs.key_location(target, frame, place)
    rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, -3, 0)))
    for frame in (1, 20):
        rigs.key_location(obj, frame, (frame / 40, 0, 0))
        for name in ("hand", "up"):
            rigs.bone(obj, name).location.y = frame / 100
            rigs.bone(obj, name).keyframe_insert("location", frame=frame)
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata([(0, 0, 2), (0, 0, 1), (0.1, 0, 2.3)], [], [(0, 1, 2)])
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    for index, name in enumerate(("lo", "up", "hand")):
        skin.vertex_groups.new(name=name).add([index], 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = obj
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    return obj, skin


def points(skin: bpy.types.Object) -> Points:
    found = {}
    for frame in FRAMES:
        rigs.frame_set(frame)
        seen = skin.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found[frame] = [seen.matrix_world @ vertex.co for vertex in seen.data.vertices]
    return found


def to_alembic(path: Path) -> None:
    bpy.ops.wm.alembic_export(filepath=str(path), start=FRAMES[0], end=FRAMES[-1], as_background_job=False)


def to_usd(path: Path) -> None:
    bpy.ops.wm.usd_export(filepath=str(path), export_animation=True, export_armatures=False)


EXPORTS = {
    "abc": (to_alembic, lambda path: bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)),
    "usda": (to_usd, lambda path: bpy.ops.wm.usd_import(filepath=str(path))),
}


@pytest.mark.parametrize(
    "ending", [name for name, op in (("abc", "alembic"), ("usda", "usd")) if getattr(bpy.app.build_options, op)]
)
def test_an_export_shows_the_solved_pose_and_changes_nothing(ending: str, tmp_path: Path) -> None:
    write, read = EXPORTS[ending]
    obj, skin = scene_with_skin()
    expected = points(skin)
    assert (expected[8][0] - expected[1][0]).length > 0.1
    rigs.frame_set(15)
    shown = rigs.evaluated_pose(obj)
    write(tmp_path / f"skin.{ending}")
    assert bpy.context.scene.frame_current == 15
    assert rigs.pose_distance(shown, rigs.evaluated_pose(obj)) <= 1e-6
    assert rigs.joint_distance(shown, rigs.evaluated_pose(obj)) <= 1e-6
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    read(tmp_path / f"skin.{ending}")
    found = points(next(one for one in bpy.data.objects if one.type == "MESH"))
    for frame, places in expected.items():
        assert len(found[frame]) == len(places)
        assert max((a - b).length for a, b in zip(found[frame], places, strict=True)) <= SAME_POINT


def blurred_picture(folder: Path) -> None:
    scene = bpy.context.scene
    renders.small_picture(scene, folder, SIZE, samples=64)
    render = scene.render
    render.threads_mode, render.threads = "FIXED", 1
    render.use_motion_blur, render.motion_blur_shutter = True, 0.5


def test_motion_blur_shows_the_pose_of_its_sub_frames(tmp_path: Path) -> None:
    obj = rigs.l2s()
    target = rigs.empty("T")
    for frame, place in ((1, (-0.9, 0, 0.6)), (3, (0.9, 0, 0.6))):
        rigs.key_location(target, frame, place)
    rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, -3, 0)))
    for frame in (1, 3):  # what is animated beside the chain must not freeze at another sub-frame
        rigs.key_location(obj, frame, (0, 0, (frame - 2) * 0.2))
    cube = renders.hang_cube(obj, "lo", half=0.1)
    blurred_picture(tmp_path)
    scene = bpy.context.scene
    scene.frame_start = scene.frame_end = 2
    places = []
    for step in range(9):
        rigs.frame_set(2 - 0.25 + step / 16)
        places.append(renders.seen(cube))
    middle = sum(places, Vector((0, 0))) / len(places)
    assert (places[-1] - places[0]).length > 0.3
    rigs.frame_set(7)
    pose = rigs.local_rotations(obj)
    bpy.ops.render.render(animation=True)
    centre, spread = renders.spread(tmp_path / "f0002.png")
    own = math.sqrt(2 * 0.2**2 / 12)
    travelled = math.sqrt(sum((place - middle).length_squared for place in places) / len(places))
    pixel = renders.WIDTH / SIZE
    assert (centre - middle).length <= pixel / 2
    assert spread == pytest.approx(math.hypot(own, travelled), abs=pixel / 2)
    rigs.update()
    assert scene.frame_current == 7
    assert rigs.local_distance(pose, rigs.local_rotations(obj)) <= 1e-5
