"""Makes the pictures of the README in the window of a full Blender: ``python tools/dev.py pictures``.

Runs inside Blender like the cases of tests/window. demo.gif is the demo's walk played in the viewport.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy
from mathutils import Quaternion, Vector

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "window"))

import driver
import scenes
from cases import TAB, package
from driver import Case, Driver

HERE = Path(__file__).resolve().parent
STEP = ("-resize", "760x", "+dither", "-colors", "64")
MOVIE_SIZE, MOVIE_COLOURS, MOVIE_DELAY = "420x", "48", "8"
# From the walker's right and front, level.
SIDE = Quaternion((0.55, 0.49, -0.45, -0.5)).normalized()
# How far the hand is moved: further than the arm reaches, then back to where it does.
OUT_OF_REACH, BACK = Vector((-0.1, -0.5, 0.5)), Vector((0.0, 0.25, -0.15))
STANDING = Vector((0.0, 0.0, 0.92))


def walker() -> Any:
    """The demo's walk on an empty stage, without IK."""
    if bpy.context.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    bpy.context.scene.render.use_lock_interface = True  # else the panel offers it
    return package("demos.walker").walking_human()


def plain_view(d: Driver, distance: float, aside: float = 0.0) -> None:
    """Figure and overlay, not the clutter of a working viewport; ``aside``: how far left of the middle."""
    space = d.area.spaces.active
    overlay = space.overlay
    overlay.show_relationship_lines = overlay.show_object_origins = overlay.show_cursor = overlay.show_text = False
    space.show_gizmo = space.show_region_toolbar = space.show_region_tool_header = False
    space.shading.color_type = 'MATERIAL'
    space.region_3d.view_perspective = 'PERSP'
    space.region_3d.view_rotation, space.region_3d.view_distance = SIDE, distance
    space.region_3d.view_location = STANDING + SIDE @ Vector((aside, 0.0, 0.0))


def dressed_walker() -> bpy.types.Object:
    """The demo's figure, active, in the colours that a viewport shows; what would stand about it is hidden."""
    demo, figure = package("demos.walk"), package("demos.figure")
    obj = walker()
    package("bake.motion").add_limbs(bpy.context, obj)
    ball = demo._send_hand(obj)
    figure.dress(obj, demo.REACHING_BONES, ball, has_floor=False)
    colours = {"Body": figure.BODY, "Limb": figure.LIMB, "Reach": figure.REACHING, "Ball": figure.BALL}
    for material in bpy.data.materials:
        material.diffuse_color = colours.get(material.name.split(".")[0], material.diffuse_color)
    for part in bpy.data.objects:
        if part.type in {'EMPTY', 'LIGHT'} and part != ball:
            part.hide_set(True)
    bpy.context.view_layer.objects.active = obj
    obj.data.bones.active = obj.data.bones[demo.REACHING_TIP]
    obj.hide_viewport = False
    return obj


def movie_crop(d: Driver) -> tuple[str, ...]:
    """ImageMagick's words for the middle of the 3D View, in the movie's size."""
    width = d.region().height * 0.8
    left = d.region().x + (d.region().width - width) / 2
    top = d.window.height - d.region().y - d.region().height
    return ("-crop", f"{int(width)}x{d.region().height}+{int(left)}+{top}", "+repage", "-resize", MOVIE_SIZE)


def walk(d: Driver) -> Case:
    """demo.gif: the right hand is sent after a ball and let go again."""
    with d.there():
        obj = dressed_walker()
    space = d.area.spaces.active
    plain_view(d, 3.4)
    space.overlay.show_bones = False
    space.show_region_ui = space.show_region_header = False
    names = []
    for frame in range(1, package("demos.walker").LAST_FRAME + 1, 2):
        bpy.context.scene.frame_set(frame)
        hips = obj.matrix_world @ obj.pose.bones["spine"].head
        space.region_3d.view_location = Vector((hips.x, hips.y, STANDING.z))
        d.area.tag_redraw()
        names.append(f"walk_{frame:03}")
        yield from d.picture(names[-1], *movie_crop(d))
    frames = [d.folder / f"{name}.png" for name in names]
    options = ["-delay", MOVIE_DELAY, "-loop", "0"]
    end = ["+dither", "-colors", MOVIE_COLOURS, "-layers", "Optimize", str(HERE / "demo.gif")]
    subprocess.run(["convert", *options, *map(str, frames), *end], check=True)
    space.overlay.show_bones = space.show_region_header = True


def steps(d: Driver) -> Case:
    """step-1.png to step-4.png: add, move, switch, bake."""
    with d.there():
        obj = walker()
        bpy.context.scene.frame_set(10)
        bpy.ops.object.mode_set(mode='POSE')
    plain_view(d, 3.6, aside=0.62)
    yield from d.sidebar(TAB)
    yield from d.find("limb_ik.add_limbs")
    yield from d.click()
    yield from d.to_view(0.2, 0.1)
    yield from d.picture("step-1", *d.crop(), *STEP)
    yield from d.key('RET')
    yield 8
    hand = obj.pose.bones["forearm.R"]
    hand.limb_ik_target.location += OUT_OF_REACH
    scenes.make_active(obj, "forearm.R")
    yield from d.to_view(0.2, 0.1)
    yield from d.picture("step-2", *d.crop(), *STEP)
    hand.limb_ik_target.location += BACK
    yield from d.find("limb_ik.switch(to='FK'", across=0.65)
    yield from d.click()
    yield 8
    bpy.context.scene.frame_set(12)
    yield from d.picture("step-3", *d.crop(), *STEP)
    yield from d.to_view(0.3, 0.6)
    with d.there():
        bpy.ops.limb_ik.bake('INVOKE_DEFAULT', reduce=0.001)
    yield from d.picture("step-4", *d.crop(), *STEP)
    yield from d.key('ESC')
    for number in range(1, 5):
        (HERE / f"step-{number}.png").write_bytes((d.folder / f"step-{number}.png").read_bytes())


def main() -> None:
    """Make all, or those named."""
    folder, *names = sys.argv[sys.argv.index("--") + 1 :]
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.use_preferences_save = False
    bpy.context.scene.render.fps = 24
    chosen = [(case.__name__, case) for case in (steps, walk) if not names or case.__name__ in names]
    driver.run(chosen, Path(folder))


main()
