"""Cases in the window with several armatures, long work that is stopped, and targets far from their character."""

from __future__ import annotations

from typing import Any

import bpy
import scenes
from driver import Case, Driver

import rigs
from body import body_bones

LAST_FRAME = 240
LONG = 6000
"""So many frames that matching them does not end before Esc is pressed."""
STRIDE = 3.0
# Metres: places are float32 keys.
ROUNDING = 1e-5


def two_characters(d: Driver, last: int = LAST_FRAME) -> list[Any]:
    """Two characters in pose mode whose feet go up and down; undo brings them back to this."""
    with d.there():
        body = scenes.fresh()
        bpy.ops.object.mode_set(mode='OBJECT')
        other = rigs.build(body_bones(), "Ben")
        other.location.x = 1.2
        for obj in (body, other):
            bpy.ops.limb_ik.add_limbs(armature=obj.name)
            target = obj.pose.bones["shin.L"].limb_ik_target
            for frame, up in ((1, 0.0), (LAST_FRAME, 0.2)):
                target.location.z += up
                target.keyframe_insert("location", frame=frame)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
        for obj in bpy.context.view_layer.objects:
            obj.select_set(obj in (body, other))
        bpy.context.view_layer.objects.active = body
        bpy.ops.object.mode_set(mode='POSE')
        scenes.make_active(body, "shin.L")
        bpy.ops.view3d.view_all()
        d.area.spaces.active.region_3d.view_rotation = scenes.VIEW
        bpy.ops.ed.undo_push(message="Two characters")
    return [body, other]


def are_muted() -> list[bool]:
    return [bpy.data.objects[name].pose.bones["shin.L"].limb_ik_mute for name in ("Body", "Ben")]


def one_bake_of_two_armatures(d: Driver) -> Case:
    two_characters(d)
    yield from d.to_view()
    with d.there():
        bpy.ops.limb_ik.bake('INVOKE_DEFAULT')
    yield from d.picture("bake_of_two")
    yield from d.key('RET')
    for _ in range(200):
        yield 2
        if all(are_muted()):
            break
    assert all(are_muted()), "the bake does not end"
    yield from d.picture("bake_of_two_done")
    yield from d.to_view()
    yield from d.key('Z', ctrl=True)
    yield 8
    assert not any(are_muted()), "one undo takes back both"


def matching_shows_how_far_it_is_and_esc_stops_it(d: Driver) -> Case:
    both = two_characters(d, LONG)
    bpy.context.scene.frame_set(7)
    before = len(bpy.data.scenes), len(bpy.data.actions)
    yield from d.to_view()
    with d.there():
        bpy.ops.limb_ik.match_fk('INVOKE_DEFAULT', use_range=True, only_active=False)
    yield from d.picture("match_over_frames")
    yield from d.key('RET')
    yield 4
    assert len(bpy.data.scenes) == before[0] + 1, "frames are being read"
    yield from d.picture("match_running")
    yield from d.key('ESC')
    yield 6
    yield from d.picture("match_stopped")
    assert (len(bpy.data.scenes), len(bpy.data.actions)) == before
    assert all(obj.animation_data is None or obj.animation_data.action is None for obj in both)
    assert bpy.context.scene.frame_current == 7


def planting_shows_how_far_it_is_and_esc_stops_it(d: Driver) -> Case:
    """Without a dialog: it begins at once, and is done where it is not stopped."""
    two_characters(d, LONG)
    tip = bpy.data.objects["Body"].pose.bones["shin.L"]
    before = len(bpy.data.scenes)
    yield from d.to_view()
    with d.there():
        bpy.ops.limb_ik.plant('INVOKE_DEFAULT', only_active=True, use_range=True, frame_start=1, frame_end=LONG)
    yield 2
    assert len(bpy.data.scenes) == before + 1, "frames are being read"
    yield from d.picture("plant_running")
    yield from d.key('ESC')
    yield 6
    assert len(bpy.data.scenes) == before
    assert not any("use_ik" in curve.data_path for curve in rigs.curves(tip.id_data))
    with d.there():
        bpy.ops.limb_ik.plant('INVOKE_DEFAULT', only_active=True, use_range=True, frame_start=3, frame_end=600)
    for _ in range(100):
        yield 2
        if len(bpy.data.scenes) == before:
            break
    yield from d.picture("plant_done")
    heights = [key[1] for key in rigs.keys(tip.limb_ik_target)["location", 2] if 3 <= key[0] <= 600]
    assert max(heights) - min(heights) < ROUNDING


def offsets_far_from_the_walker(d: Driver) -> Case:
    """No line goes from a limb to an offset's target that stayed behind, unless it is selected."""
    with d.there():
        body = scenes.fresh()
        bpy.ops.object.mode_set(mode='OBJECT')
        root = body.pose.bones[0]
        for frame, along in ((1, 0.0), (50, STRIDE)):
            root.location.y = along
            root.keyframe_insert("location", frame=frame)
        bpy.ops.limb_ik.add_limbs(armature="Body", motion='FK')
        bpy.context.scene.frame_set(50)
        bpy.ops.object.mode_set(mode='POSE')
        scenes.make_active(body, "shin.L")
        bpy.ops.view3d.view_all()
        d.area.spaces.active.region_3d.view_rotation = scenes.VIEW
    leg, arm = body.pose.bones["shin.L"], body.pose.bones["forearm.R"]
    yield from d.picture("offsets_unmoved")
    leg.limb_ik_target.location.z += 0.25
    leg.limb_ik_pole.location.x += 0.35
    yield from d.picture("offsets_moved")
    leg.limb_ik_target.location.z -= 0.6
    yield 5
    assert leg.limb_ik_status == 'TOO_FAR'
    yield from d.picture("offsets_out_of_reach")
    with d.there():
        bpy.ops.object.mode_set(mode='OBJECT')
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == arm.limb_ik_target)
    yield from d.picture("offsets_selected")


CASES = (
    one_bake_of_two_armatures,
    matching_shows_how_far_it_is_and_esc_stops_it,
    planting_shows_how_far_it_is_and_esc_stops_it,
    offsets_far_from_the_walker,
)
