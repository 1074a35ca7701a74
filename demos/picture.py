"""The demo's picture: what is in the scene, rendered on some frames, side by side.

Renders with Cycles on the CPU, so it needs no screen. Must not know IK: what is
in the picture is what the baked keys say.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ..files.quiet import blender_chatter
from ..rig.session import current_scene, evaluated, pose_bones
from .figure import Colour, add_part, material_of

PANEL_WIDTH, PANEL_HEIGHT = 300, 600
# Few, and smoothed: a panel takes one to two seconds on two cores.
SAMPLES = 6
VIEW = Vector((-1.0, -0.62, 0.2)).normalized()
VIEW_HEIGHT = 2.3
VIEW_CENTRE = 0.86
CAMERA_DISTANCE = 8.0
# Parts of the picture's height: text, and its first line above the lower edge.
TEXT_SIZE, TEXT_PLACE = 0.037, 0.035
LINE, BAND_LINES = 1.25 * TEXT_SIZE, 3
BAND: Colour = (0.93, 0.94, 0.96, 1.0)

# Told what is done just now.
Say: TypeAlias = Callable[[str], None]


def silent(_: str) -> None:
    """Where no one wants to know what is done."""


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


def pose_strip(
    path: Path,
    frames: Mapping[int, str],
    follow: bpy.types.Object,
    bone: str,
    *,
    height: float | None = VIEW_CENTRE,
    say: Say = silent,
) -> None:
    """Renders frames with a caption each and writes them side by side as one PNG.

    Args:
        path: The PNG.
        frames: Frame and caption.
        follow: The armature object that the camera goes along with.
        bone: Its bone to go along with.
        height: Of the picture's middle; None goes up and down with the bone, too.
        say: Told which frame is rendered.
    """
    view = View(VIEW, VIEW_HEIGHT, PANEL_WIDTH, PANEL_HEIGHT)
    render_panels(path, _following(frames, follow, bone, height), view, say)


def _following(frames: Mapping[int, str], follow: bpy.types.Object, bone: str, height: float | None) -> Iterator[Panel]:
    for frame, text in frames.items():
        current_scene().frame_set(frame)
        head = evaluated(follow).matrix_world @ pose_bones(evaluated(follow))[bone].head
        yield Panel(frame, text, Vector((head.x, head.y, head.z if height is None else height)))


def render_panels(path: Path, panels: Iterable[Panel], view: View, say: Say = silent) -> None:
    """Renders panels and writes them side by side as one PNG; camera and caption go again."""
    camera = _camera(view)
    caption = _caption(view)
    helpers = [caption, camera, *([_band(view)] if view.has_band else [])]
    _render_settings(view)
    with tempfile.TemporaryDirectory(prefix="limb_ik_") as folder:
        done: list[NDArray[np.float32]] = []
        wanted = list(panels)
        for panel in wanted:
            say(f"{path.name}: picture {len(done) + 1} of {len(wanted)}")
            current_scene().frame_set(panel.frame)
            camera.location = panel.centre + view.direction * CAMERA_DISTANCE
            lines = BAND_LINES - 1 if view.has_band else panel.caption.count("\n")
            caption.location.y = (TEXT_PLACE - 0.5 + LINE * lines) * view.height
            cast(Any, caption.data).body = panel.caption
            done.append(_render(Path(folder) / f"{panel.frame}.png", view))
    _save(np.hstack(done), path)
    for helper in helpers:
        bpy.data.objects.remove(helper)


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
    band = add_part(bpy.data.objects.new("Band", mesh), paper)
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
    with blender_chatter():
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
