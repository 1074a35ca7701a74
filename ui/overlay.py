"""The viewport overlay: draws what overlay_chain finds, for active and selected chains only.

Drawing handlers are attached only while the overlay is on, so off it costs nothing. They write
nothing and ask no depsgraph.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import blf
import bpy
import gpu
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader
from mathutils import Vector

from .. import preferences
from ..preferences import Colour, Settings
from ..rig.lengths import in_words
from . import overlay_chain
from .overlay_chain import Note
from .overlay_shapes import Part, Shape

# How much of their colour's alpha faint lines and faces have.
FAINT, FACES = 0.35, 0.12
TEXT_SIZE = 13.0
TEXT_SHIFT = 8.0
# Width of lines that only explain, against those of the limb.
THIN = 0.6
THIN_PARTS = {Part.LINE, Part.REACH, Part.POLE, Part.LIMIT}

_handles: list[Any] = []
_costs: list[float] = []
# Texts of the region that is being drawn: found with its shapes, written after them.
_notes: list[Note] = []


def register() -> None:
    """Attach the drawing where the overlay is on, and follow the preference."""
    preferences.on_overlay_change(refresh)
    refresh()


def unregister() -> None:
    """Take the drawing away."""
    _detach()


def is_attached() -> bool:
    """Whether the viewport calls the overlay's drawing."""
    return bool(_handles)


def refresh() -> None:
    """Attach or detach as the preference says, and draw the viewports anew."""
    wanted = preferences.current().show_overlay and not bpy.app.background
    if wanted and not _handles:
        for draw, kind in ((_draw_shapes, 'POST_VIEW'), (_draw_notes, 'POST_PIXEL')):
            _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), 'WINDOW', kind))
    elif not wanted:
        _detach()
    for window in bpy.context.window_manager.windows if bpy.context.window_manager else ():
        for area in window.screen.areas:
            if area.type == 'VIEW_3D':
                area.tag_redraw()


def _detach() -> None:
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), 'WINDOW')


def mean_cost() -> float:
    """Seconds that the last drawings took in the mean; 0 before the first."""
    return sum(_costs) / len(_costs) if _costs else 0.0


def _is_shown(context: Any) -> bool:
    space = context.space_data
    return space is not None and space.type == 'VIEW_3D' and space.overlay.show_overlays


def _draw_shapes() -> None:
    context: Any = bpy.context
    if not _is_shown(context):
        return
    began = time.perf_counter()
    found: list[Shape] = []
    _notes.clear()
    for obj, tip in overlay_chain.chosen(context):
        shapes, notes = overlay_chain.of_chain(obj, tip)
        found += shapes
        _notes.extend(notes)
    if found:
        _draw(context, found, preferences.current())
        _costs.append(time.perf_counter() - began)
        del _costs[:-100]


def _draw(context: Any, found: Iterable[Shape], settings: Settings) -> None:
    by_part: dict[Part, tuple[list[Vector], list[Vector]]] = {}
    for shape in found:
        lines, faces = by_part.setdefault(shape.part, ([], []))
        lines += shape.lines
        faces += shape.faces
    state: Any = gpu.state
    before = state.blend_get(), state.depth_test_get()
    state.blend_set('ALPHA')
    state.depth_test_set('NONE')
    try:
        for part, (lines, faces) in by_part.items():
            _draw_faces(faces, _faded(_colour(part, settings), FACES))
            width = settings.line_width * context.preferences.system.ui_scale
            _draw_lines(context, lines, _colour(part, settings), width * (THIN if part in THIN_PARTS else 1.0))
    finally:
        state.blend_set(before[0])
        state.depth_test_set(before[1])


def _colour(part: Part, settings: Settings) -> Colour:
    return {
        Part.LIMB: settings.limb_colour,
        Part.LINE: _faded(settings.limb_colour, FAINT),
        Part.POLE: settings.pole_colour,
        Part.LIMIT: settings.limit_colour,
        Part.MISSED: settings.missed_colour,
        Part.REACH: _faded(settings.missed_colour, FAINT),
    }[part]


def _faded(colour: Colour, part: float) -> Colour:
    return (*colour[:3], colour[3] * part)


def _draw_lines(context: Any, points: Any, colour: Colour, width: float) -> None:
    if not points:
        return
    shader = gpu.shader.from_builtin('POLYLINE_UNIFORM_COLOR')
    batch = batch_for_shader(shader, 'LINES', {"pos": points})
    shader.bind()
    shader.uniform_float("viewportSize", (float(context.region.width), float(context.region.height)))
    shader.uniform_float("lineWidth", width)
    shader.uniform_float("color", colour)
    batch.draw(shader)


def _draw_faces(points: Any, colour: Colour) -> None:
    if not points:
        return
    shader = gpu.shader.from_builtin('UNIFORM_COLOR')
    batch = batch_for_shader(shader, 'TRIS', {"pos": points})
    shader.bind()
    shader.uniform_float("color", colour)
    batch.draw(shader)


def _draw_notes() -> None:
    context: Any = bpy.context
    if not _is_shown(context):
        return
    for note in _notes:
        _write(context, note, preferences.current().missed_colour)


def _write(context: Any, note: Note, colour: Colour) -> None:
    place = location_3d_to_region_2d(context.region, context.region_data, note.place_world)
    if place is None:
        return
    scale = context.preferences.system.ui_scale
    blf.size(0, TEXT_SIZE * scale)
    blf.color(0, *colour)
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0.0, 0.0, 0.0, 0.8)
    blf.position(0, place.x + TEXT_SHIFT * scale, place.y, 0.0)
    blf.draw(0, note.text.format(in_words(note.length)))
    blf.disable(0, blf.SHADOW)
