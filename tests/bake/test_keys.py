"""Keys land where they should and nowhere else, on every Blender (LB-11, LB-12)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.bake import continuity, keyed, keys
from limb_ik.rig import compat
from limb_ik.rig.data_paths import rotation_path
from limb_ik.rig.errors import LimbIKError
from mathutils import Euler, Quaternion
from mathutils import Vector as Vec

# Keys are stored as 32-bit floats; angles here stay below 2π.
FLOAT32 = 1e-6
FRAMES = np.arange(1.0, 11.0)
FIELDS = (
    "co", "handle_left", "handle_right", "interpolation", "easing", "type", "handle_left_type",
    "handle_right_type", "back", "amplitude", "period", "select_control_point",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _empty_file() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)


def armature(name: str = "Rig", mode: str = 'QUATERNION') -> bpy.types.Object:
    data = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode='EDIT')
    for i, bone in enumerate(("up", "lo")):
        edit = data.edit_bones.new(bone)
        edit.head, edit.tail = (0.0, 0.0, i), (0.0, 0.0, i + 1.0)
        edit.parent = data.edit_bones.get("up") if i else None
    bpy.ops.object.mode_set(mode='OBJECT')
    for bone in obj.pose.bones:
        bone.rotation_mode = mode
    return obj


def rotations(frames: np.ndarray = FRAMES, speed: float = 0.1, width: int = 4) -> np.ndarray:
    """A turn about X that goes on for all frames."""
    half = speed * frames / 2.0
    if width == 3:
        return np.column_stack((2.0 * half, 0.0 * half, 0.0 * half))
    return np.column_stack((np.cos(half), np.sin(half), 0.0 * half, 0.0 * half))


def field_value(key: Any, field: str) -> Any:
    value = getattr(key, field)
    return tuple(value) if isinstance(value, Vec) else value


def dump(curves: Any, keep: Any = lambda x: True) -> dict[Any, list[Any]]:
    """Every field of the keys that ``keep`` (by frame), by curve."""
    return {
        (curve.data_path, curve.array_index, curve.group and curve.group.name): [
            [field_value(key, field) for field in FIELDS]
            for key in curve.keyframe_points
            if keep(key.co.x)
        ]
        for curve in curves
    }  # fmt: skip


def key_count(obj: bpy.types.Object) -> int:
    return sum(len(curve.keyframe_points) for curve in compat.fcurves_of(obj))


def shown(obj: bpy.types.Object, bone: str, frame: float) -> Any:
    scene = bpy.context.scene
    scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]
    return np.array(getattr(evaluated, rotation_path(obj.pose.bones[bone]).rsplit(".", 1)[1]))


def fk_keys(obj: bpy.types.Object, frames: tuple[float, ...] = (-4.25, 1.0, 4.0, 8.5, 10.0, 20.5)) -> None:
    """FK keys of many kinds, inside and outside of 1…10, on the bone's rotation and location."""
    bone = obj.pose.bones["up"]
    bone.rotation_mode = 'QUATERNION'
    for i, frame in enumerate(frames):
        bone.rotation_quaternion = Quaternion((1, 0, 0), 0.3 * i)
        bone.location.x = i
        bone.keyframe_insert("rotation_quaternion", frame=frame, group="up")
        bone.keyframe_insert("location", frame=frame, group="up")
    for curve in compat.fcurves_of(obj):
        first, last = curve.keyframe_points[0], curve.keyframe_points[-1]
        first.interpolation, last.interpolation = 'ELASTIC', 'CONSTANT'
        first.easing, first.amplitude, first.period, last.back = 'EASE_IN', 0.3, 2.0, 0.5
        last.type = 'EXTREME'
        last.handle_left_type = 'FREE'
        last.handle_left = (18.0, 2.0)


def test_without_animation_data_everything_is_made() -> None:
    obj = armature()
    written = keys.write_rotation_keys(obj, {"up": rotations(), "lo": rotations(speed=-0.2)}, FRAMES, {"lo"})
    assert written == key_count(obj) == 80
    assert obj.animation_data.action.name == "RigAction"
    if compat.HAS_SLOTS:
        assert obj.animation_data.action_slot.identifier == "OBRig"
    assert {curve.group.name for curve in compat.fcurves_of(obj)} == {"up", "lo"}
    for frame, row in zip(FRAMES, rotations(), strict=True):
        assert shown(obj, "up", frame) == pytest.approx(row, abs=FLOAT32)
    assert shown(obj, "lo", 3.5) == pytest.approx(rotations(speed=-0.2)[2:4].mean(axis=0), abs=FLOAT32)


def test_between_frames_smooth_motion_is_smooth() -> None:
    obj, frames = armature(), np.arange(1.0, 11.0)
    keys.write_rotation_keys(obj, {"up": rotations(frames)}, frames)
    straight = rotations(frames)[4:6].mean(axis=0)
    wanted = rotations(np.array([5.5]))[0]
    assert np.abs(shown(obj, "up", 5.5) - wanted).max() < 0.1 * np.abs(straight - wanted).max()


@pytest.mark.parametrize(("interpolation", "step"), [('LINEAR', 1), ('LINEAR', 2), ('LINEAR', 4), ('BEZIER', 1)])
def test_captured_motion_has_straight_keys_on_most_frames(interpolation: str, step: int) -> None:
    obj = armature()
    for frame in FRAMES[::step]:
        obj.pose.bones["up"].keyframe_insert("rotation_quaternion", frame=frame)
    for curve in compat.fcurves_of(obj):
        for key in curve.keyframe_points:
            key.interpolation = interpolation
    found = keyed.straight_bones(obj, ["up", "lo"], FRAMES[0], FRAMES[-1])
    assert found == ({"up"} if interpolation == 'LINEAR' and step < 4 else set())


@pytest.mark.parametrize(("mode", "width"), [('QUATERNION', 4), ('AXIS_ANGLE', 4), ('XYZ', 3), ('ZYX', 3)])
def test_the_bones_own_rotation_mode_is_keyed(mode: str, width: int) -> None:
    obj = armature(mode=mode)
    keys.write_rotation_keys(obj, {"up": rotations(width=width)}, FRAMES)
    assert len(compat.fcurves_of(obj)) == width
    assert shown(obj, "up", 7) == pytest.approx(rotations(width=width)[6], abs=FLOAT32)


def test_a_second_bake_replaces_and_does_not_double() -> None:
    obj = armature()
    keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)
    first = dump(compat.fcurves_of(obj))
    keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)
    assert dump(compat.fcurves_of(obj)) == first
    keys.write_rotation_keys(obj, {"up": rotations(FRAMES[::3])}, FRAMES[::3])
    assert key_count(obj) == 4 * 4


def test_what_is_outside_the_range_stays_to_the_byte() -> None:
    obj = armature()
    fk_keys(obj)

    def outside(x: float) -> bool:
        return not 1.0 <= x <= 10.0

    before, everything = dump(compat.fcurves_of(obj), outside), dump(compat.fcurves_of(obj))
    keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)
    assert dump(compat.fcurves_of(obj), outside) == before
    after = dump(compat.fcurves_of(obj))
    assert all(after[path] == everything[path] for path in after if "location" in path[0])
    for curve in compat.fcurves_of(obj):
        expected = [-4.25, *FRAMES, 20.5] if "rotation" in curve.data_path else [-4.25, 1.0, 4.0, 8.5, 10.0, 20.5]
        assert [key.co.x for key in curve.keyframe_points] == pytest.approx(expected)


def test_segments_outside_keep_their_shape_where_the_values_at_the_ends_do() -> None:
    obj = armature()
    bone = obj.pose.bones["up"]
    for frame, angle in ((-20, 0.0), (-7, 0.9), (4, 0.2), (13, 1.0), (30, 0.1)):
        bone.rotation_quaternion = Quaternion((1, 0, 0), angle)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    curves = [compat.find_fcurve(obj, rotation_path(bone), i) for i in range(4)]

    def samples(frames: np.ndarray) -> np.ndarray:
        return np.array([[curve.evaluate(frame) for curve in curves if curve] for frame in frames])

    outside = np.concatenate((np.arange(-20.0, 4.0, 0.5), np.arange(13.0, 30.0, 0.5)))
    before = samples(outside)
    keys.write_rotation_keys(obj, {"up": samples(np.arange(4.0, 14.0))}, np.arange(4.0, 14.0))
    assert samples(outside) == pytest.approx(before, abs=FLOAT32)  # range ends on old keys: exactly the old shape
    keys.write_rotation_keys(obj, {"up": samples(np.arange(1.0, 19.0))}, np.arange(1.0, 19.0))
    # In the middle of a segment the handle outside can't be shortened: within a twentieth of the swing, not the same.
    assert samples(outside) == pytest.approx(before, abs=0.05 * float(np.ptp(before[:, 1])))


def test_an_action_whose_slot_belongs_to_another_object() -> None:
    other, obj = armature("Other"), armature("Rig")
    fk_keys(other)
    action = other.animation_data.action
    if compat.HAS_SLOTS:
        before = dump(compat.fcurves_of(other))
        obj.animation_data_create().action = action
        obj.animation_data.action_slot = None
        keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)
        assert dump(compat.fcurves_of(other)) == before
        assert obj.animation_data.action_slot.identifier == "OBRig"
    else:
        obj.animation_data_create().action = action
        keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)
    assert obj.animation_data.action == action
    assert shown(obj, "up", 7) == pytest.approx(rotations()[6], abs=FLOAT32)


def test_two_armatures_share_an_action_with_two_slots() -> None:
    first, second = armature("First"), armature("Second")
    fk_keys(first)
    if not compat.HAS_SLOTS:
        return  # before 4.4 they share the curves too, which is what sharing an action means there
    second.animation_data_create().action = first.animation_data.action
    fk_keys(second)
    before = dump(compat.fcurves_of(second))
    keys.write_rotation_keys(first, {"up": rotations(), "lo": rotations()}, FRAMES)
    assert dump(compat.fcurves_of(second)) == before
    assert len(first.animation_data.action.slots) == 2
    assert shown(first, "up", 7) == pytest.approx(rotations()[6], abs=FLOAT32)


@pytest.mark.parametrize("reverse", [False, True])
def test_in_nla_tweak_mode_keys_land_where_the_strip_plays_them(reverse: bool) -> None:
    obj = armature()
    fk_keys(obj, (1.0, 21.0))
    anim = obj.animation_data
    action, track = anim.action, anim.nla_tracks.new()
    anim.action = None
    strip = track.strips.new("walk", 31, action)
    strip.scale, strip.use_reverse, strip.select = 2.0, reverse, True
    anim.nla_tracks.active = track
    anim.use_tweak_mode = True
    frames = np.arange(31.0, 72.0)
    keys.write_rotation_keys(obj, {"up": rotations(frames)}, frames, {"up"})
    assert keyed.keyed_frames(obj, ["up"], 31, 71) == pytest.approx(frames)
    anim.use_tweak_mode = False
    for frame in (31, 40, 55.5, 70):
        expected = [np.interp(frame, frames, column) for column in rotations(frames).T]
        assert shown(obj, "up", frame) == pytest.approx(expected, abs=2e-6)
    anim.use_tweak_mode = True
    with pytest.raises(LimbIKError, match="not all played"):
        keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)


def test_keys_of_any_property() -> None:
    target = bpy.data.objects.new("T", None)
    bpy.context.scene.collection.objects.link(target)
    places = np.column_stack((FRAMES, FRAMES**2, 0.0 * FRAMES))
    assert keys.write_keys(target, "location", places, FRAMES) == 30
    assert keys.write_keys(target, "empty_display_size", FRAMES, FRAMES) == 10
    bpy.context.scene.frame_set(4)
    assert target.location == Vec((4.0, 16.0, 0.0))
    assert target.empty_display_size == 4.0


def test_keyed_frames() -> None:
    obj = armature()
    assert keyed.keyed_frames(obj, ["up"], -100, 100) == []
    fk_keys(obj)
    obj.keyframe_insert("location", frame=7)
    assert keyed.keyed_frames(obj, ["up"], 0, 10) == [1.0, 4.0, 8.5, 10.0]
    assert keyed.keyed_frames(obj, ["lo"], 0, 10) == []


def refused(obj: bpy.types.Object, match: str) -> None:
    before = dump(compat.fcurves_of(obj))
    with pytest.raises(LimbIKError, match=match):
        keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)
    assert dump(compat.fcurves_of(obj)) == before


def test_what_would_have_no_effect_is_refused() -> None:
    obj = armature()
    fk_keys(obj)
    curve: Any = compat.find_fcurve(obj, rotation_path(obj.pose.bones["up"]), 1)
    curve.lock = True
    refused(obj, "locked")
    curve.lock, curve.mute = False, True
    refused(obj, "muted")
    curve.mute, curve.group.mute = False, True
    refused(obj, "muted group")
    curve.group.mute = False
    stepped = curve.modifiers.new('STEPPED')
    refused(obj, "STEPPED")
    stepped.mute = True
    driver: Any = obj.driver_add(rotation_path(obj.pose.bones["up"]), 0)
    refused(obj, "driver")
    driver.mute = True
    anim = obj.animation_data
    anim.nla_tracks.new().strips.new("walk", 1, anim.action)
    anim.action_blend_type = 'ADD'
    refused(obj, "Replace")
    anim.action_blend_type = 'REPLACE'
    keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)


def test_a_curve_of_samples_is_refused() -> None:
    obj = armature()
    fk_keys(obj)
    curve: Any = compat.find_fcurve(obj, rotation_path(obj.pose.bones["up"]), 1)
    curve.convert_to_samples(1, 20)
    refused(obj, "samples")
    curve.convert_to_keyframes(1, 20)
    keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)


def test_a_curve_that_blender_gave_up_acts_again() -> None:
    obj = armature()
    keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)
    for curve in compat.fcurves_of(obj):
        curve.is_valid = False
    keys.write_rotation_keys(obj, {"up": rotations(speed=0.3)}, FRAMES)
    assert shown(obj, "up", 7) == pytest.approx(rotations(speed=0.3)[6], abs=FLOAT32)


def test_bad_input_is_refused() -> None:
    obj = armature()
    for values, frames, match in (
        ({"nobody": rotations()}, FRAMES, "no bone"),
        ({"up": rotations(width=3)}, FRAMES, "4 values"),
        ({"up": rotations()[:5]}, FRAMES, "5 values for 10"),
        ({"up": rotations() * math.nan}, FRAMES, "finite"),
        ({"up": rotations()}, FRAMES[::-1], "rise"),
    ):
        with pytest.raises(LimbIKError, match=match):
            keys.write_rotation_keys(obj, values, frames)
    assert obj.animation_data is None


def test_muted_curves_without_keys_outside_act_again() -> None:
    obj = armature()
    fk_keys(obj, (1.0, 10.0))
    for curve in compat.fcurves_of(obj):
        curve.mute = True
    keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)
    assert shown(obj, "up", 7) == pytest.approx(rotations()[6], abs=FLOAT32)


def test_additive_modifiers_do_not_act_twice() -> None:
    obj = armature()
    fk_keys(obj)
    curve: Any = compat.find_fcurve(obj, rotation_path(obj.pose.bones["up"]), 1)
    noise = curve.modifiers.new('NOISE')
    noise.blend_type, noise.strength = 'ADD', 0.5
    keys.write_rotation_keys(obj, {"up": rotations()}, FRAMES)
    for frame in (1, 4, 10):
        assert shown(obj, "up", frame) == pytest.approx(rotations()[frame - 1], abs=FLOAT32)


def test_linked_armatures_and_actions_are_refused(tmp_path: Path) -> None:
    fk_keys(armature("Linked"))
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    linked = bpy.data.objects["Linked"]
    bpy.context.scene.collection.objects.link(linked)
    refused(linked, "linked")
    refused(linked.override_create(remap_local_usages=True), "linked")


def turned(a: Quaternion, b: Quaternion) -> float:
    """Angle between two rotations, exact for small ones."""
    p, q = np.array(a), np.array(b)
    return 2.0 * float(min(np.linalg.norm(p - q), np.linalg.norm(p + q)))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]))
def test_euler_angles_stay_near_and_mean_the_same(seed: int, order: str) -> None:
    rng = np.random.default_rng(seed)
    smooth = np.cumsum(rng.uniform(-0.3, 0.3, (40, 3)), axis=0)
    broken = np.array([_other_euler(row, order, rng) for row in smooth])
    found = continuity.continuous_rotations(broken, order)
    assert found[0] == pytest.approx(broken[0])
    for given_row, row in zip(smooth, found, strict=True):
        # mathutils holds 32-bit angles, here up to 20 rad.
        assert turned(Euler(given_row, order).to_quaternion(), Euler(row, order).to_quaternion()) < 1e-5
    # The way that made the data is one of the two, so the steps are its steps wherever that one is nearer.
    assert np.abs(np.diff(found, axis=0)).sum(axis=1).max() <= 0.9 + 1e-9


def _other_euler(row: np.ndarray, order: str, rng: np.random.Generator) -> np.ndarray:
    middle = "XYZ".index(order[1])
    other = row.copy()
    if rng.random() < 0.5:
        other = row + math.pi
        other[middle] = math.pi - row[middle]
    return other + 2.0 * math.pi * rng.integers(-2, 3, 3)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_quaternions_and_axis_angles_stay_near(seed: int) -> None:
    rng = np.random.default_rng(seed)
    turn = np.linspace(-3.0, 9.0, 60)  # through 0, where the axis is lost, and over a full turn
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    quaternions = np.column_stack((np.cos(turn / 2), np.sin(turn / 2)[:, None] * axis)) * rng.choice(
        (-1.0, 1.0), (60, 1)
    )
    steps = np.diff(continuity.continuous_rotations(quaternions, 'QUATERNION'), axis=0)
    assert np.linalg.norm(steps, axis=1).max() < 0.11  # half the turn of 0.2 a step
    pairs = [Quaternion(q).to_axis_angle() for q in quaternions]
    given_rows = np.array([(angle, *direction) for direction, angle in pairs])
    found = continuity.continuous_rotations(given_rows, 'AXIS_ANGLE')
    assert np.abs(np.diff(found[:, 0])).max() < 0.21
    # Next to no turn, a 32-bit quaternion holds its axis to a few 1e-4.
    assert np.abs(np.diff(found[:, 1:], axis=0)).max() < 2e-3
    for q, row in zip(quaternions, found, strict=True):
        assert turned(Quaternion(q), Quaternion(row[1:], row[0])) < 1e-5


def test_no_axis_at_all() -> None:
    still = np.tile([0.0, 0.0, 1.0, 0.0], (5, 1))
    assert continuity.continuous_rotations(still, 'AXIS_ANGLE') == pytest.approx(still)
    assert continuity.continuous_rotations(still[:1], 'XYZ') == pytest.approx(still[:1])
