"""The demo's picture: a jointed figure on the rig, rendered on some frames, side by side.

Renders with Cycles on the CPU, so it needs no screen. Must not know IK: what is
in the picture is what the baked keys say.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ..rig.session import current_scene, evaluated, pose_bones

PANEL_WIDTH, PANEL_HEIGHT = 300, 600
# Few, and smoothed: a panel takes one to two seconds on two cores.
SAMPLES = 6
RINGS, SEGMENTS = 24, 32
# Thickness of the figure by the first part of a bone's name, metres.
THICKNESS = {
    "spine": 0.135, "spine.001": 0.12, "spine.002": 0.13, "spine.003": 0.15,
    "spine.004": 0.05, "spine.005": 0.05, "spine.006": 0.098,
    "shoulder": 0.055, "upper_arm": 0.048, "forearm": 0.04, "hand": 0.042,
    "thigh": 0.078, "shin": 0.054, "foot": 0.042, "toe": 0.036,
}  # fmt: skip
Colour = tuple[float, float, float, float]
BODY: Colour = (0.36, 0.38, 0.42, 1.0)
LIMB: Colour = (0.02, 0.16, 0.28, 1.0)
REACHING: Colour = (0.9, 0.2, 0.02, 1.0)
BALL: Colour = (0.9, 0.62, 0.02, 1.0)
FLOOR: Colour = (0.78, 0.8, 0.83, 1.0)
VIEW = Vector((-1.0, -0.62, 0.2)).normalized()
VIEW_HEIGHT = 2.3
VIEW_CENTRE = 0.86
CAMERA_DISTANCE = 8.0
# Parts of the picture's height: text, and its first line above the lower edge.
TEXT_SIZE, TEXT_PLACE = 0.037, 0.035
LINE, BAND_LINES = 1.25 * TEXT_SIZE, 3
BAND: Colour = (0.93, 0.94, 0.96, 1.0)


@dataclass(frozen=True, slots=True)
class View:
    """How a panel looks: from where (unit vector to the camera), metres from top to bottom, pixels; ``has_band``:
    captions stand on a band below the picture."""

    direction: Vector
    height: float
    width_px: int
    height_px: int
    has_band: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A frame, its caption of one or more lines, and the point in the panel's middle. Space: world."""

    frame: int
    caption: str
    centre: Vector


def dress(
    obj: bpy.types.Object,
    reaching: frozenset[str],
    ball: bpy.types.Object | None = None,
    *,
    has_floor: bool = True,
) -> None:
    """Hangs a jointed figure on the bones, gives a ball a body, and lights the stage."""
    body, limb, hot = material_of("Body", BODY), material_of("Limb", LIMB), material_of("Reach", REACHING)
    for bone in pose_bones(obj):
        kind = bone.name.removesuffix(".L").removesuffix(".R")
        if kind in THICKNESS:
            material = hot if bone.name in reaching else body if kind.startswith(("spine", "shoulder")) else limb
            hang(obj, bone, THICKNESS[kind], material)
    if ball is not None:
        sphere("Ball", 0.075, material_of("Ball", BALL), ball)
    if has_floor:
        floor()
    light_stage()


def paint(obj: bpy.types.Object, colour: Colour) -> None:
    """Gives a mesh object one colour."""
    cast(bpy.types.Mesh, obj.data).materials.append(material_of(obj.name, colour))


def pose_strip(
    path: Path, frames: Mapping[int, str], follow: bpy.types.Object, bone: str, *, height: float | None = VIEW_CENTRE
) -> None:
    """Renders frames with a caption each and writes them side by side as one PNG.

    Args:
        path: The PNG.
        frames: Frame and caption.
        follow: The armature object that the camera goes along with.
        bone: Its bone to go along with.
        height: Of the picture's middle; None goes up and down with the bone, too.
    """
    render_panels(path, _following(frames, follow, bone, height), View(VIEW, VIEW_HEIGHT, PANEL_WIDTH, PANEL_HEIGHT))


def _following(frames: Mapping[int, str], follow: bpy.types.Object, bone: str, height: float | None) -> Iterator[Panel]:
    for frame, text in frames.items():
        current_scene().frame_set(frame)
        head = evaluated(follow).matrix_world @ pose_bones(evaluated(follow))[bone].head
        yield Panel(frame, text, Vector((head.x, head.y, head.z if height is None else height)))


def render_panels(path: Path, panels: Iterable[Panel], view: View) -> None:
    """Renders panels and writes them side by side as one PNG; camera and caption go again."""
    camera = _camera(view)
    caption = _caption(view)
    helpers = [caption, camera, *([_band(view)] if view.has_band else [])]
    _render_settings(view)
    with tempfile.TemporaryDirectory(prefix="limb_ik_") as folder:
        done = []
        for panel in panels:
            current_scene().frame_set(panel.frame)
            camera.location = panel.centre + view.direction * CAMERA_DISTANCE
            lines = BAND_LINES - 1 if view.has_band else panel.caption.count("\n")
            caption.location.y = (TEXT_PLACE - 0.5 + LINE * lines) * view.height
            cast(Any, caption.data).body = panel.caption
            done.append(_render(Path(folder) / f"{panel.frame}.png", view))
    _save(np.hstack(done), path)
    for helper in helpers:
        bpy.data.objects.remove(helper)


def hang(obj: bpy.types.Object, bone: bpy.types.PoseBone, radius: float, material: bpy.types.Material) -> None:
    """A spindle from the bone's head to its tail; bone children have their origin at the tail."""
    length = bone.bone.length
    verts, faces = _spindle(radius, length)
    mesh = bpy.data.meshes.new(bone.name)
    mesh.from_pydata(verts, [], faces)
    part = _add(bpy.data.objects.new(f"Figure {bone.name}", mesh), material)
    part.parent, part.parent_type, part.parent_bone = obj, 'BONE', bone.name


def _spindle(radius: float, length: float) -> tuple[list[tuple[float, float, float]], list[tuple[int, ...]]]:
    """An ellipsoid along Y, its far end at the origin, a little longer than the bone so that parts overlap."""
    half = length / 2.0 + 0.3 * radius
    verts: list[tuple[float, float, float]] = []
    for ring in range(RINGS + 1):
        polar = math.pi * ring / RINGS
        wide, along = radius * math.sin(polar) ** 0.75, half * math.cos(polar) - length / 2.0
        verts += [(wide * math.cos(a), along, wide * math.sin(a)) for a in np.linspace(0.0, math.tau, SEGMENTS, False)]
    faces: list[tuple[int, ...]] = []
    for ring in range(RINGS):
        for k in range(SEGMENTS):
            here, there = ring * SEGMENTS, (ring + 1) * SEGMENTS
            faces.append((here + k, here + (k + 1) % SEGMENTS, there + (k + 1) % SEGMENTS, there + k))
    return verts, faces


def sphere(name: str, radius: float, material: bpy.types.Material, parent: bpy.types.Object) -> bpy.types.Object:
    """A ball about the origin of its parent."""
    verts, faces = _spindle(radius, 1.4 * radius)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(x, y + 0.7 * radius, z) for x, y, z in verts], [], faces)
    ball = _add(bpy.data.objects.new(name, mesh), material)
    ball.parent = parent
    return ball


def _add(part: bpy.types.Object, material: bpy.types.Material) -> bpy.types.Object:
    mesh = cast(bpy.types.Mesh, part.data)
    mesh.materials.append(material)
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    current_scene().collection.objects.link(part)
    return part


def material_of(name: str, colour: Colour) -> bpy.types.Material:
    """A material of one colour."""
    material = bpy.data.materials.new(name)
    if material.node_tree is None:  # up to Blender 4.5; later ones have nodes always
        material.use_nodes = True
    inputs = cast(Any, material.node_tree).nodes["Principled BSDF"].inputs
    inputs["Base Color"].default_value = colour
    inputs["Roughness"].default_value = 0.45
    return material


def floor() -> None:
    """A wide, light floor at height 0."""
    mesh = bpy.data.meshes.new("Floor")
    mesh.from_pydata([(-60, -60, 0), (60, -60, 0), (60, 60, 0), (-60, 60, 0)], [], [(0, 1, 2, 3)])
    _add(bpy.data.objects.new("Floor", mesh), material_of("Floor", FLOOR))


def light_stage() -> None:
    """Sun and sky."""
    light: Any = bpy.data.lights.new("Sun", 'SUN')
    light.energy, light.angle = 1.9, 0.3
    sun = bpy.data.objects.new("Sun", light)
    sun.rotation_euler = (math.radians(24.0), math.radians(-14.0), math.radians(-75.0))
    current_scene().collection.objects.link(sun)
    world = current_scene().world or bpy.data.worlds.new("World")
    if world.node_tree is None:
        world.use_nodes = True
    cast(Any, world.node_tree).nodes["Background"].inputs[0].default_value = (0.9, 0.94, 1.0, 1.0)
    cast(Any, world.node_tree).nodes["Background"].inputs[1].default_value = 0.5
    current_scene().world = world


def _camera(view: View) -> bpy.types.Object:
    data = bpy.data.cameras.new("Camera")
    data.type, data.ortho_scale = 'ORTHO', view.height * max(1.0, view.width_px / view.height_px)
    camera = bpy.data.objects.new("Camera", data)
    camera.rotation_euler = view.direction.to_track_quat('Z', 'Y').to_euler()
    current_scene().collection.objects.link(camera)
    current_scene().camera = camera
    return camera


def _caption(view: View) -> bpy.types.Object:
    """Text near the lower edge of the picture, in front of everything."""
    curve: Any = bpy.data.curves.new("Caption", 'FONT')
    curve.size, curve.align_x = TEXT_SIZE * view.height, 'CENTER'
    caption = bpy.data.objects.new("Caption", curve)
    caption.parent = current_scene().camera
    caption.location = (0.0, 0.0, -1.0)
    curve.space_line = LINE / TEXT_SIZE
    curve.materials.append(material_of("Ink", (0.02, 0.02, 0.03, 1.0)))
    current_scene().collection.objects.link(caption)
    return caption


def _band(view: View) -> bpy.types.Object:
    """A plain strip behind the caption, lit by itself."""
    wide, low = view.height * view.width_px / view.height_px, -0.5 * view.height
    high = low + (TEXT_PLACE + LINE * BAND_LINES) * view.height
    mesh = bpy.data.meshes.new("Band")
    mesh.from_pydata([(-wide, low, 0), (wide, low, 0), (wide, high, 0), (-wide, high, 0)], [], [(0, 1, 2, 3)])
    paper = material_of("Band", (0.0, 0.0, 0.0, 1.0))
    inputs = cast(Any, paper.node_tree).nodes["Principled BSDF"].inputs
    inputs["Emission Color"].default_value, inputs["Emission Strength"].default_value = BAND, 1.0
    band = _add(bpy.data.objects.new("Band", mesh), paper)
    band.parent, band.visible_shadow = current_scene().camera, False
    band.location = (0.0, 0.0, -1.1)
    return band


def _has_denoiser(cycles: Any) -> bool:
    """Whether this Blender was built with a denoiser for the processor; some distributions leave it out."""
    try:
        cycles.denoiser = 'OPENIMAGEDENOISE'
    except TypeError:
        return False
    return True


def _render_settings(view: View) -> None:
    scene = current_scene()
    cast(Any, scene.render).engine = 'CYCLES'
    cycles = cast(Any, scene).cycles
    cycles.device, cycles.samples, cycles.max_bounces, cycles.diffuse_bounces = 'CPU', SAMPLES, 2, 1
    cycles.use_denoising = _has_denoiser(cycles)
    cycles.denoising_quality, cycles.denoising_prefilter = 'FAST', 'NONE'
    scene.render.resolution_x, scene.render.resolution_y = view.width_px, view.height_px
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = 'PNG'
    cast(Any, scene.view_settings).view_transform = 'Standard'
    scene.render.use_persistent_data = True


def _render(path: Path, view: View) -> NDArray[np.float32]:
    current_scene().render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(path))
    pixels = np.empty(view.width_px * view.height_px * image.channels, dtype=np.float32)
    cast(Any, image).pixels.foreach_get(pixels)
    panel = pixels.reshape(view.height_px, view.width_px, image.channels)[:, :, :3]
    bpy.data.images.remove(image)
    return panel


def _save(picture: NDArray[np.float32], path: Path) -> None:
    height, width, _ = picture.shape
    rgba = np.dstack([picture, np.ones((height, width), dtype=np.float32)]).astype(np.float32)
    image = bpy.data.images.new("Strip", width, height)
    cast(Any, image).pixels.foreach_set(rgba.ravel())
    image.filepath_raw, image.file_format = str(path), 'PNG'
    image.save()
    bpy.data.images.remove(image)
