"""What is held in the window of a full Blender with the extension installed: clicks, keys, playback, a render.

Run by ``tools/dev.py gui``; each case leaves a picture.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import scenes
from driver import Case, Driver
from mathutils import Quaternion

TAB = "Limb IK"
# Column of the weights in the sidebar's list.
WEIGHTS, RIGHT_HALF, LIST_SIDE = 0.58, 0.65, 0.82
# Rotations that were written and read back as float32, and keys.
ROUNDING, KEYED = 1e-5, 1e-4
# Blender's keymaps that are alive while the mouse is over the 3D View in each mode.
ALWAYS = ("Window", "Screen", "Screen Editing", "3D View", "3D View Generic", "Frames", "Object Non-modal", "Animation")


def package(name: str = "") -> Any:
    """The installed extension, or a module of it: its name depends on the repository (LB-79)."""
    modules = [addon.module for addon in bpy.context.preferences.addons.values()]
    root = next(module for module in modules if module.split(".")[-1] == "limb_ik")
    return importlib.import_module(f"{root}.{name}" if name else root)


class Recorded:
    """A layout that draws, and writes down the texts and names that it is asked for."""

    def __init__(self, layout: Any, texts: list[str]) -> None:
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "texts", texts)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.layout, name)
        return self._recorded(found, name) if callable(found) else found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.layout, name, value)

    def _recorded(self, method: Any, name: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            self.texts.append(str(named.get("text") or next((a for a in reversed(args) if isinstance(a, str)), name)))
            made = method(*args, **named)
            return Recorded(made, self.texts) if isinstance(made, bpy.types.UILayout) else made

        return call


@contextmanager
def recorded(panel: Any) -> Iterator[tuple[list[str], list[float]]]:
    """Texts that a panel asks for while Blender draws it, and the seconds that each drawing takes."""
    draw, texts, took = panel.draw, [], []

    def drawn(self: Any, context: Any) -> None:
        texts.clear()
        began = time.perf_counter()
        draw(Stand(self, texts), context)
        took.append(time.perf_counter() - began)

    panel.draw = drawn
    try:
        yield texts, took
    finally:
        panel.draw = draw


class Stand:
    """A panel with a recorded layout."""

    def __init__(self, panel: Any, texts: list[str]) -> None:
        self.panel, self.layout = panel, Recorded(panel.layout, texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.panel, name)


def start(d: Driver, limbs: bool = True) -> Any:
    """A body in pose mode; with IK on its limbs and a knee bone active."""
    with d.there():
        body = scenes.fresh()
        if limbs:
            bpy.ops.limb_ik.add_limbs()
        bpy.ops.view3d.view_all()
        d.area.spaces.active.region_3d.view_rotation = scenes.VIEW
        bpy.ops.ed.undo_push(message="Start")
    if limbs:
        scenes.make_active(body, "shin.L")
    return body


def tips() -> list[str]:
    return [bone.name for bone in bpy.data.objects["Body"].pose.bones if bone.limb_ik_solver != 'NONE']


def turn_of(name: str) -> Quaternion:
    """Rotation of a bone of the body as it is on the screen, armature space."""
    return bpy.data.objects["Body"].pose.bones[name].matrix.to_quaternion()


def apart(a: Quaternion, b: Quaternion) -> float:
    """Angle between two rotations."""
    return a.rotation_difference(b).angle if abs(a.dot(b)) < 1.0 else 0.0


def preferences_are_found(d: Driver) -> Case:
    """LB-79: enabled as an extension the entry is found under whatever name the repository gives."""
    assert package("preferences").entry() is not None
    assert abs(package("preferences").current().blend_time - package("preferences").DEFAULTS.blend_time) < ROUNDING
    with d.there():
        bpy.ops.preferences.addon_show(module=package().__name__)
    yield 10
    yield from d.picture("preferences")
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[-1]):
        bpy.ops.wm.window_close()
    yield 5


def panel_says_what_is_there(d: Driver) -> Case:
    start(d, limbs=False)
    with recorded(bpy.types.LIMB_IK_PT_main) as (texts, _):
        yield from d.sidebar(TAB)
        assert "Add IK to Arms and Legs..." in texts, texts
        body = start(d)
        body.pose.bones["shin.L"].limb_ik_target.location.z -= 0.3
        yield 10
        assert {"forearm.L", "forearm.R", "shin.L", "shin.R"} <= set(texts), texts
        assert any(text.startswith("Short by") for text in texts), texts
    yield from d.picture("panel")


def a_click_adds_and_undo_takes_away(d: Driver) -> Case:
    start(d, limbs=False)
    before = {name: turn_of(name) for name in ("thigh.L", "forearm.R")}
    yield from d.sidebar(TAB)
    yield from d.find("limb_ik.add_limbs")
    yield from d.click()
    yield from d.picture("add_limbs")
    assert not tips(), "nothing is made before it is confirmed"
    yield from d.key('RET')
    yield 8
    assert len(tips()) == 4, tips()
    assert all(apart(turn_of(name), turn) < ROUNDING for name, turn in before.items()), "the pose jumped"
    yield from d.to_view()
    yield from d.key('Z', ctrl=True)
    yield 8
    assert not tips(), "undo took nothing away"
    yield from d.key('Z', ctrl=True, shift=True)
    yield 8
    assert len(tips()) == 4, "redo brought nothing back"


def a_weight_pasted_into_the_list(d: Driver) -> Case:
    body = start(d)
    fk = turn_of("upper_arm.L")
    body.pose.bones["forearm.L"].limb_ik_target.location.z -= 0.3
    yield 5
    full = turn_of("upper_arm.L")
    yield from d.sidebar(TAB)
    yield from d.find("limb_ik_weight", across=WEIGHTS)  # the first row's; Blender 4.3 doesn't say of which bone
    bpy.context.window_manager.clipboard = "0.5"
    yield from d.key('V', ctrl=True)
    yield 8
    assert abs(body.pose.bones["forearm.L"].limb_ik_weight - 0.5) < ROUNDING
    half = apart(turn_of("upper_arm.L"), fk) / apart(full, fk)
    assert abs(half - 0.5) < KEYED, f"half of the weight shows {half} of the turn"
    yield from d.picture("weight")


def a_click_switches_by_keys(d: Driver) -> Case:
    body = start(d)
    bpy.context.scene.frame_set(10)
    yield from d.sidebar(TAB)
    yield from d.find("limb_ik.switch(to='FK'", across=RIGHT_HALF)
    yield from d.click()
    yield 8
    assert not body.pose.bones["shin.L"].limb_ik_use_ik
    bpy.context.scene.frame_set(1)
    assert body.pose.bones["shin.L"].limb_ik_use_ik, "before the key IK leads"
    yield from d.picture("switch")


def baked_and_undone(d: Driver) -> Case:
    body = start(d)
    target = body.pose.bones["shin.L"].limb_ik_target
    for frame, shift in ((1, 0.0), (8, 0.25)):
        target.location.z += shift
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(5)
    with d.there():
        bpy.ops.ed.undo_push(message="Keyed")
    seen = turn_of("shin.L")
    with d.there():
        bpy.ops.limb_ik.bake('INVOKE_DEFAULT', use_range=True, frame_start=1, frame_end=8)
    yield from d.picture("bake")
    yield from d.key('RET')
    for _ in range(60):
        yield 2
        if body.pose.bones["shin.L"].limb_ik_mute:
            break
    assert body.pose.bones["shin.L"].limb_ik_mute, "the bake does not end"
    bpy.context.scene.frame_set(5)
    yield 3
    assert apart(turn_of("shin.L"), seen) < KEYED
    yield from d.to_view()
    yield from d.key('Z', ctrl=True)
    yield 8
    body = bpy.data.objects["Body"]
    assert not body.pose.bones["shin.L"].limb_ik_mute, "undo left the chains muted"
    assert body.animation_data is None or body.animation_data.action is None


def a_cancelled_drag_brings_fk_back(d: Driver) -> Case:
    body = start(d)
    knee = body.pose.bones["shin.L"]
    knee.limb_ik_weight = 0.5
    knee.limb_ik_target.location.z += 0.2
    yield 5
    before = turn_of("shin.L")
    for key in ('R', 'G'):
        yield from d.to_view()
        yield from d.key(key)
        for _ in range(3):
            d.move(d.place[0] + 60, d.place[1] + 15)
            yield 2
        if key == 'R':
            yield from d.picture("drag")
        yield from d.key('ESC')
        yield 8
        assert apart(turn_of("shin.L"), before) < ROUNDING, f"{key} and Esc left another pose"
    knee.limb_ik_weight = 0.0
    yield 5
    assert max(abs(a - b) for a, b in zip(knee.rotation_quaternion, (1, 0, 0, 0), strict=True)) < ROUNDING
    assert bpy.context.mode == 'POSE'


def controls_by_shortcut_and_back(d: Driver) -> Case:
    start(d)
    yield from d.to_view()
    yield from d.key('J', shift=True)
    yield 8
    assert bpy.context.view_layer.objects.active == bpy.data.objects["Body"].pose.bones["shin.L"].limb_ik_target
    yield from d.picture("controls")
    yield from d.to_view()
    yield from d.key('J', shift=True)
    yield 8
    assert bpy.context.view_layer.objects.active == bpy.data.objects["Body"] and bpy.context.mode == 'POSE'


def menus_and_search(d: Driver) -> Case:
    start(d)
    yield from d.to_view(right=0.25, up=0.7)
    yield from d.key('J')
    yield from d.picture("menu")
    yield from d.key('ESC')
    with d.there():
        bpy.ops.wm.call_menu(name="VIEW3D_MT_pose_ik")
    yield from d.picture("menu_pose_ik")
    yield from d.key('ESC')
    yield from d.to_view()
    yield from d.key('F3')
    for letter in "limb ik":
        key = 'SPACE' if letter == " " else letter.upper()
        x, y = d.place
        d.window.event_simulate(type=key, value='PRESS', unicode=letter, x=x, y=y)
        d.window.event_simulate(type=key, value='RELEASE', x=x, y=y)
        yield 2
    yield from d.picture("search")
    yield from d.key('ESC')
    yield from d.key('ESC')


def shortcuts_take_no_key_of_blender(d: Driver) -> Case:
    configs = bpy.context.window_manager.keyconfigs
    for one in package("ui.shortcuts").SHORTCUTS:
        listed = [item.idname for item in configs.user.keymaps[one.keymap].keymap_items]
        assert one.operator in listed, f"{one.operator} is not listed in Preferences"
        for name in {*ALWAYS, one.keymap}:
            keymap = configs.default.keymaps.get(name)
            for item in keymap.keymap_items if keymap is not None else ():
                assert not _same(item, one), f"{one.key} of {one.operator} is {item.idname} in {name}"
    yield 1


def _same(item: Any, one: Any) -> bool:
    held = {name: getattr(item, name) for name in ("ctrl", "shift", "alt", "oskey")}
    return item.type == one.key and (item.any or all(bool(on) == (name in one.modifiers) for name, on in held.items()))


def overlay_off_by_a_click(d: Driver) -> Case:
    body = start(d)
    scenes.limits(body)
    scenes.stretch(body)
    overlay = package("ui.overlay")
    yield from d.sidebar(TAB)
    yield from d.picture("overlay")
    assert overlay.is_attached() and overlay.mean_cost() > 0.0
    print(f"overlay of two chains: {overlay.mean_cost() * 1e3:.1f} ms a redraw", flush=True)
    yield from d.find("show_overlay", across=LIST_SIDE)
    yield from d.click()
    yield 5
    assert not overlay.is_attached(), "off, something is still attached"
    yield from d.picture("overlay_off")
    package("preferences").entry().show_overlay = True
    assert overlay.is_attached()


def fast_with_many_bones(d: Driver) -> Case:
    """LB-50 in the real sidebar: 2,400 bones; 10 ms for a busy machine where the figure to reach is 2."""
    with d.there():
        scenes.fresh()
        arm = scenes.many_bones(2400)
        bpy.ops.object.mode_set(mode='POSE')
        scenes.make_active(arm, "b4")
        bpy.ops.limb_ik.add_chain(solver='TWO_BONE', chain_length=2)
    yield from d.sidebar(TAB)
    with recorded(bpy.types.LIMB_IK_PT_main) as (texts, took):
        for _ in range(10):
            d.area.tag_redraw()
            yield 2
    assert "b4" in texts, texts
    mean = sum(took) / len(took)
    print(f"panel with 2,400 bones: {mean * 1e3:.2f} ms a redraw", flush=True)
    assert mean < 0.010


def playback_shows_what_a_jump_shows(d: Driver) -> Case:
    body = start(d)
    scenes.stepping(body)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    with d.there():
        bpy.ops.screen.animation_play()
    shown = {}
    for _ in range(40):
        yield 1
        shown[scene.frame_current] = turn_of("shin.L")
    with d.there():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    assert len(shown) > 3, f"only frames {sorted(shown)} were played"
    for frame, played in shown.items():
        scene.frame_set(frame)
        assert apart(turn_of("shin.L"), played) < ROUNDING, f"frame {frame} played is not the one jumped to"
    yield from d.picture("playback")


def a_render_beside_the_open_window(d: Driver) -> Case:
    body = start(d)
    scenes.stepping(body)
    scene = bpy.context.scene
    scenes.camera_and_skin(body)
    scene.render.engine = 'BLENDER_WORKBENCH'
    scene.render.resolution_x = scene.render.resolution_y = 128
    scene.frame_start, scene.frame_end = 1, 4
    scene.render.filepath = str(d.folder / "render_")
    bpy.context.preferences.view.render_display_type = 'NONE'
    scene.frame_set(2)
    before = turn_of("shin.L")
    with d.there():
        bpy.ops.render.render('INVOKE_DEFAULT', animation=True)
    last = Path(scene.render.frame_path(frame=4))
    for _ in range(300):
        d.area.tag_redraw()
        yield 1
        if last.is_file() and not bpy.app.is_job_running('RENDER'):
            break
    assert last.is_file(), "the render does not end"
    yield 5
    scene.frame_set(2)
    assert apart(turn_of("shin.L"), before) < ROUNDING, "the render left another pose on the screen"


def off_and_on_again(d: Driver) -> Case:
    """Nothing of the overlay, the menus and the shortcuts outlives the extension; all is back when it is."""
    name, overlay, menus = package().__name__, package("ui.overlay"), package("ui.menus")
    start(d)
    yield 5
    with d.there():
        bpy.ops.preferences.addon_disable(module=name)
    yield 5
    assert not overlay.is_attached() and not hasattr(bpy.types, "LIMB_IK_MT_pose")
    assert not any(draw in getattr(bpy.types, menu).draw._draw_funcs for menu, draw in menus.APPENDED)
    keymaps = bpy.context.window_manager.keyconfigs.addon.keymaps
    assert not [item.idname for keymap in keymaps for item in keymap.keymap_items if "limb_ik" in item.idname]
    with d.there():
        bpy.ops.preferences.addon_enable(module=name)
    yield 5
    assert package("ui.overlay").is_attached() and hasattr(bpy.types, "LIMB_IK_MT_pose")


CASES = (
    panel_says_what_is_there,
    a_click_adds_and_undo_takes_away,
    a_weight_pasted_into_the_list,
    a_click_switches_by_keys,
    baked_and_undone,
    a_cancelled_drag_brings_fk_back,
    controls_by_shortcut_and_back,
    menus_and_search,
    shortcuts_take_no_key_of_blender,
    overlay_off_by_a_click,
    fast_with_many_bones,
    playback_shows_what_a_jump_shows,
    a_render_beside_the_open_window,
    preferences_are_found,
    off_and_on_again,
)
