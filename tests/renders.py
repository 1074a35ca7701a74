"""Small pictures of a rig seen from the side, and where in them something stands. Test helpers only.

    cube = renders.hang_cube(obj, "lo")
    renders.small_picture(bpy.context.scene, tmp_path)
    bpy.ops.render.render(animation=True)
    assert (renders.centre(tmp_path / "f0001.png") - renders.seen(cube)).length <= renders.PIXEL / 2

Space: pictures look along Y, so the world's X and Z.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

import rigs

SIZE, WIDTH = 16, 5.0
"""Pixels and metres from side to side."""
PIXEL = WIDTH / SIZE
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def hang_cube(obj: bpy.types.Object, bone: str, half: float = 0.2) -> bpy.types.Object:
    """A cube at the tail of a bone."""
    mesh = bpy.data.meshes.new("Cube")
    sides = (-half, half)
    mesh.from_pydata([(x, y, z) for x in sides for y in sides for z in sides], [], FACES)
    cube = bpy.data.objects.new("Cube", mesh)
    bpy.context.scene.collection.objects.link(cube)
    cube.parent, cube.parent_type, cube.parent_bone = obj, "BONE", bone
    return cube


def small_picture(scene: Any, folder: Path, size: int = SIZE, samples: int = 1) -> None:
    """A camera at the side, and pictures with nothing but what stands in them."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.data.type, camera.data.ortho_scale = "ORTHO", WIDTH
    camera.location, camera.rotation_euler = (0, -10, 0), (math.pi / 2, 0, 0)
    scene.camera = camera
    prepare(scene, folder, size, samples)


def prepare(scene: Any, folder: Path, size: int = SIZE, samples: int = 1) -> None:
    """As ``small_picture``, for a scene that has its camera."""
    render = scene.render
    render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.device, scene.cycles.use_denoising = samples, "CPU", False
    render.resolution_x = render.resolution_y = size
    render.film_transparent = True
    render.filepath = str(folder / "f")
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGBA"


def centre(path: Path) -> Vector:
    """Where what is not transparent has its middle, metres from the middle of the picture."""
    return spread(path)[0]


def spread(path: Path) -> tuple[Vector, float]:
    """``centre``, and how far what is not transparent is from it (root mean square, metres)."""
    image = bpy.data.images.load(str(path))
    size = image.size[0]
    alpha = np.array(image.pixels[:]).reshape(size, size, 4)[..., 3]
    bpy.data.images.remove(image)
    rows, columns = (np.mgrid[0:size, 0:size] - (size - 1) / 2.0) * WIDTH / size
    middle = Vector(((alpha * columns).sum(), (alpha * rows).sum())) / alpha.sum()
    return middle, math.sqrt((alpha * ((columns - middle.x) ** 2 + (rows - middle.y) ** 2)).sum() / alpha.sum())


def seen(obj: bpy.types.Object) -> Vector:
    """Where a picture should show an object, metres from its middle."""
    place = rigs.world_position(obj)
    return Vector((place.x, place.z))
