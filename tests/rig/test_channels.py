"""Reading animation agrees with what Blender itself shows, at any frame, on every Blender."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import bpy
import pytest
from limb_ik.rig import channels, compat

PATH = 'pose.bones["up"].limb_ik_test_switch'
RANGE = (0.0, 60.0)
ACTION_TIMES = ('CONSTANT', 'LINEAR', 'BEZIER')


@pytest.fixture(autouse=True)
def _switch() -> Iterator[None]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.types.PoseBone.limb_ik_test_switch = bpy.props.BoolProperty(default=True)
    yield
    del bpy.types.PoseBone.limb_ik_test_switch


def armature(name: str = "Rig") -> bpy.types.Object:
    obj = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode='EDIT')
    obj.data.edit_bones.new("up").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode='OBJECT')
    return obj


def key_switch(obj: bpy.types.Object, keys: list[tuple[float, float]], interpolation: str = 'CONSTANT') -> Any:
    """Keys values that needn't be 0 or 1, on a curve without Blender's marks for booleans."""
    curve: Any = compat.ensure_fcurve(obj, PATH, 0, "up")
    curve.keyframe_points.clear()
    for frame, value in keys:
        curve.keyframe_points.insert(frame, value, options={'FAST'}).interpolation = interpolation
    curve.update()
    return curve


def shown(obj: bpy.types.Object, frame: float) -> bool:
    bpy.context.scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
    dg = bpy.context.evaluated_depsgraph_get()
    return bool(obj.evaluated_get(dg).pose.bones["up"].limb_ik_test_switch)


def agrees(obj: bpy.types.Object, step: float = 0.5, shift: float = 0.13) -> int:
    """Compares with Blender at many frames beside the keys; the number of changes."""
    first, last = RANGE
    found = channels.boolean_changes(obj, PATH, first, last)
    assert found is not None
    value, changes = found
    for i in range(int((last - first) / step)):
        frame = first + i * step + shift
        expected = value + sum(sign for at, sign in changes if at <= frame)
        assert expected == shown(obj, frame), (frame, found)
    assert all(first < frame <= last for frame, _ in changes)
    assert [frame for frame, _ in changes] == sorted(frame for frame, _ in changes)
    return len(changes)


def test_nothing_animated() -> None:
    obj = armature()
    assert channels.boolean_changes(obj, PATH, *RANGE) is None
    obj.keyframe_insert("location", frame=1)
    assert channels.boolean_changes(obj, PATH, *RANGE) is None
    assert not channels.is_driven(obj, PATH)


def test_keys_by_blender_itself() -> None:
    obj = armature()
    bone: Any = obj.pose.bones["up"]
    for frame, value in ((5, True), (20.25, False), (33, True)):
        bone.limb_ik_test_switch = value
        bone.keyframe_insert("limb_ik_test_switch", frame=frame)
    assert channels.boolean_changes(obj, PATH, 0, 60) == (True, [(20.25, -1), (33.0, 1)])
    assert channels.boolean_changes(obj, PATH, 20.25, 32.9) == (False, [])
    assert channels.boolean_changes(obj, PATH, 20.2, 33) == (True, [(20.25, -1), (33.0, 1)])
    assert channels.boolean_changes(obj, PATH, 34, 34) == (True, [])
    assert channels.boolean_changes(obj, PATH, -5, 3) == (True, [])
    assert agrees(obj) == 2
    bone.keyframe_delete("limb_ik_test_switch", frame=5)
    assert channels.boolean_changes(obj, PATH, 0, 60) == (False, [(33.0, 1)])


@pytest.mark.parametrize("interpolation", ['CONSTANT', 'LINEAR', 'BEZIER', 'BOUNCE'])
@pytest.mark.parametrize("top", [1.0, 2.0])
def test_any_interpolation(interpolation: str, top: float) -> None:
    obj = armature()
    key_switch(obj, [(4.0, 0.0), (14.5, top), (25.0, top), (36.0, 0.0), (50.0, 0.5)], interpolation)
    assert agrees(obj) >= 2


def test_straight_ramps_switch_where_one_is_reached_and_left() -> None:
    obj = armature()
    key_switch(obj, [(4.0, 0.0), (14.0, 1.0), (25.0, 1.0), (35.0, 0.0)], 'LINEAR')
    assert channels.boolean_changes(obj, PATH, *RANGE) == (False, [(14.0, 1), (25.0, -1)])
    key_switch(obj, [(4.0, 0.0), (14.0, 2.0)], 'LINEAR')
    start, changes = channels.boolean_changes(obj, PATH, *RANGE) or (None, [])
    assert start is False
    assert [frame for frame, _ in changes] == pytest.approx([9.0], abs=2e-4)


def test_muted_and_modified_curves() -> None:
    obj = armature()
    curve = key_switch(obj, [(0.0, 0.0), (7.0, 1.0), (11.0, 0.0)])
    cycles = curve.modifiers.new('CYCLES')
    assert agrees(obj) > 8
    cycles.mute = True
    assert agrees(obj) == 2
    wave = curve.modifiers.new('FNGENERATOR')
    wave.use_additive, wave.amplitude, wave.phase_multiplier = True, 2.0, 0.3
    assert agrees(obj) > 2
    curve.mute = True
    assert channels.boolean_changes(obj, PATH, *RANGE) is None
    curve.mute, curve.group.mute = False, True
    if compat.PLAYS_MUTED_GROUPS_ALONE:
        assert agrees(obj) > 2
    else:
        assert channels.boolean_changes(obj, PATH, *RANGE) is None


def test_driven_counts_as_not_keyed() -> None:
    obj = armature()
    key_switch(obj, [(0.0, 0.0), (7.0, 1.0)])
    driver: Any = obj.driver_add(PATH)
    assert channels.is_driven(obj, PATH)
    assert channels.boolean_changes(obj, PATH, *RANGE) is None
    driver.mute = True
    assert not channels.is_driven(obj, PATH)
    assert channels.boolean_changes(obj, PATH, *RANGE) == (False, [(7.0, 1)])


def test_the_other_slot_does_not_count() -> None:
    first, second = armature("First"), armature("Second")
    key_switch(first, [(0.0, 0.0), (7.0, 1.0)])
    second.animation_data_create().action = first.animation_data.action
    expected = None if compat.HAS_SLOTS else (False, [(7.0, 1)])
    assert channels.boolean_changes(second, PATH, *RANGE) == expected


def pushed_down(obj: bpy.types.Object, keys: list[tuple[float, float]], start: int, **settings: Any) -> Any:
    """A strip on a new track with its own action."""
    anim = obj.animation_data_create()
    anim.action = None
    key_switch(obj, keys)
    action, anim.action = anim.action, None
    strip = anim.nla_tracks.new().strips.new("strip", start, action)
    for name, value in settings.items():
        setattr(strip, name, value)
    return strip


KEYS = [(1.0, 0.0), (5.0, 1.0), (8.0, 0.0), (12.0, 1.0), (16.0, 1.0)]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"scale": 1.7},
        {"repeat": 2.5, "scale": 0.8},
        {"repeat": 2.0, "use_reverse": True, "scale": 1.25},
        {"use_reverse": True},
        {"extrapolation": 'NOTHING'},
        {"extrapolation": 'HOLD_FORWARD'},
        {"mute": True},
        {"blend_in": 6.0, "blend_out": 4.0},
        {"blend_type": 'ADD'},
        {"blend_type": 'SUBTRACT'},
        {"blend_type": 'MULTIPLY'},
        {"blend_type": 'COMBINE'},
        {"action_frame_start": 3.0, "action_frame_end": 11.0},
    ],
)
@pytest.mark.parametrize("with_action", [False, True])
def test_strips(settings: dict[str, Any], with_action: bool) -> None:
    obj = armature()
    pushed_down(obj, [(1.0, 1.0), (9.0, 0.0), (20.0, 1.0)], 3)
    pushed_down(obj, KEYS, 20, **settings)
    anim = obj.animation_data
    if with_action:
        compat.ensure_action(obj)
        key_switch(obj, [(25.0, 1.0), (28.0, 0.0), (31.0, 1.0)])
    else:
        agrees(obj)
        anim.nla_tracks[0].mute = True
    agrees(obj)
    anim.nla_tracks[1].is_solo = True
    agrees(obj)


def test_animated_influence_and_time() -> None:
    obj = armature()
    strip = pushed_down(obj, KEYS, 10, scale=2.0)
    strip.use_animated_influence = True
    influence: Any = strip.fcurves.find("influence")
    for frame, value in ((10, 0.0), (20, 1.0), (40, 1.0)):
        influence.keyframe_points.insert(frame, value)
    agrees(obj)
    strip.use_animated_time = True
    own_time: Any = strip.fcurves.find("strip_time")
    for frame, value in ((10, 16.0), (40, 1.0)):
        own_time.keyframe_points.insert(frame, value).interpolation = 'LINEAR'
    agrees(obj)


def test_tweak_mode() -> None:
    obj = armature()
    pushed_down(obj, [(1.0, 0.0), (30.0, 1.0)], 0)
    strip = pushed_down(obj, KEYS, 20, scale=1.5)
    pushed_down(obj, [(1.0, 1.0), (4.0, 0.0)], 2)
    anim = obj.animation_data
    for other in (other for track in anim.nla_tracks for other in track.strips):
        other.select = other == strip
    anim.nla_tracks.active = anim.nla_tracks[1]
    anim.use_tweak_mode = True
    assert anim.action == strip.action
    agrees(obj)


@pytest.mark.parametrize("extrapolation", ['HOLD', 'HOLD_FORWARD', 'NOTHING'])
def test_the_active_actions_own_blending(extrapolation: str) -> None:
    obj = armature()
    pushed_down(obj, KEYS, 2)
    compat.ensure_action(obj)
    key_switch(obj, [(25.0, 0.0), (33.0, 1.0), (40.0, 0.0)])
    anim = obj.animation_data
    anim.action_extrapolation = extrapolation
    agrees(obj)
    anim.action_blend_type, anim.action_influence = 'ADD', 0.6
    agrees(obj)
    anim.use_nla = False
    agrees(obj)


@pytest.mark.parametrize("seed", range(12))
def test_random_stacks(seed: int) -> None:
    rng = random.Random(seed)
    obj = armature()
    for _ in range(rng.randint(1, 3)):
        keys = [(float(frame), float(rng.randint(0, 1))) for frame in range(1, 20, 3)]
        strip = pushed_down(obj, keys, rng.randint(-5, 30), scale=rng.choice((0.5, 1.0, 1.3)))
        strip.repeat, strip.use_reverse = rng.choice((1.0, 1.5, 2.0)), rng.random() < 0.3
        strip.blend_type = rng.choice(('REPLACE', 'REPLACE', 'ADD', 'COMBINE', 'MULTIPLY'))
        strip.extrapolation = rng.choice(('HOLD', 'HOLD_FORWARD', 'NOTHING'))
        strip.blend_in, strip.mute = rng.choice((0.0, 0.0, 3.0)), rng.random() < 0.15
    if rng.random() < 0.5:
        compat.ensure_action(obj)
        key_switch(obj, [(20.0, 1.0), (30.0, 0.0)], rng.choice(ACTION_TIMES))
    agrees(obj, step=0.75)


def test_animated_paths_are_those_of_curves_strips_and_drivers() -> None:
    obj = armature()
    assert channels.animated_paths(obj) == []
    pushed_down(obj, KEYS, 2)
    obj.keyframe_insert("location", index=1, frame=1)
    obj.driver_add("scale", 2)
    assert set(channels.animated_paths(obj)) == {("location", 1), (PATH, 0), ("scale", 2)}
