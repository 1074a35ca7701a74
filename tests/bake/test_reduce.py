"""Few keys keep the error that was asked for, and Blender plays them as numpy says."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.bake import bezier, keys, reduce, segment
from limb_ik.rig import compat
from limb_ik.rig.errors import LimbIKError

# Blender stores keys and handles as 32-bit floats: 6e-8 of values near 1, a few of them in a segment.
BLENDER = 1e-5
UPPER, LOWER = 1.0, 0.8


@pytest.fixture(autouse=True)
def _empty_file() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)


def armature() -> bpy.types.Object:
    data = bpy.data.armatures.new("Rig")
    obj = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode='EDIT')
    for i, bone in enumerate(("up", "lo")):
        edit = data.edit_bones.new(bone)
        edit.head, edit.tail = (0.0, 0.0, i), (0.0, 0.0, i + 1.0)
    bpy.ops.object.mode_set(mode='OBJECT')
    return obj


def quaternions(angles: np.ndarray, axis: int) -> np.ndarray:
    rows = np.zeros((len(angles), 4))
    rows[:, 0], rows[:, 1 + axis] = np.cos(angles / 2.0), np.sin(angles / 2.0)
    return rows


def walk(frames: np.ndarray) -> np.ndarray:
    """A thigh and a knee over some strides, at 24 frames a second: frames × two quaternions."""
    phase = 2.0 * np.pi * frames / 26.0
    thigh = 0.45 * np.sin(phase) + 0.05 * np.sin(2.0 * phase + 0.7)
    knee = 0.5 - 0.4 * np.cos(phase - 0.8) + 0.15 * np.cos(2.0 * phase)
    return np.hstack((quaternions(thigh, 0), quaternions(knee, 0)))


def rotated(q: np.ndarray, vector: np.ndarray) -> np.ndarray:
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    twice = 2.0 * np.cross(q[:, 1:], vector)
    return vector + q[:, :1] * twice + np.cross(q[:, 1:], twice)


def joints(values: np.ndarray) -> np.ndarray:
    """Knee and ankle (samples × 2 × 3) of a limb along Z."""
    upper, lower = values[:, :4], values[:, 4:]
    knee = rotated(upper, np.tile((0.0, 0.0, UPPER), (len(values), 1)))
    ankle = rotated(upper, rotated(lower, np.tile((0.0, 0.0, LOWER), (len(values), 1))))
    return np.stack((knee, knee + ankle), axis=1)


FRAMES = np.arange(1.0, 106.0)
LENGTH = UPPER + LOWER


def limb_misses(frames: np.ndarray) -> segment.MissFunction:
    """How far knee and ankle are from the full bake, for each sample."""
    wanted = joints(reduce.reference(frames, walk(frames)))
    return lambda candidate, first: joints(candidate) - wanted[first : first + len(candidate)]


def channel_misses(samples: np.ndarray) -> segment.MissFunction:
    """Each channel is a length of its own."""

    def misses(candidate: np.ndarray, first: int) -> np.ndarray:
        off = candidate - samples[first : first + len(candidate)]
        return np.stack((off, 0.0 * off, 0.0 * off), axis=-1)

    return misses


def largest(misses: segment.MissFunction, candidate: np.ndarray) -> float:
    return float(np.linalg.norm(misses(candidate, 0), axis=2).max())


def fitted(tolerance: float, frames: np.ndarray = FRAMES) -> reduce.Fit:
    return reduce.fit(frames, reduce.reference(frames, walk(frames)), limb_misses(frames), tolerance)


def part_of(found: reduce.Fit, columns: slice) -> reduce.Fit:
    values, left, right = found.values[:, columns], found.left[:, columns], found.right[:, columns]
    return replace(found, values=values, left=left, right=right)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-3, 1e-2])
def test_the_error_is_kept_measured_and_reported(tolerance: float) -> None:
    found = fitted(tolerance * LENGTH)
    measured = largest(limb_misses(FRAMES), reduce.evaluate(found, reduce.sample_frames(FRAMES)))
    assert measured <= tolerance * LENGTH
    assert found.error == pytest.approx(measured, rel=1e-9)
    assert found.frames[[0, -1]] == pytest.approx(FRAMES[[0, -1]])
    assert set(found.frames) <= set(FRAMES)
    assert found.values.shape == (len(found.frames), 8)


def test_a_walk_needs_few_keys() -> None:
    """Four strides with two waves each and a limb length of 1.8 m: 1.8 mm takes a seventh, 18 mm an eleventh."""
    assert len(fitted(1e-3 * LENGTH).frames) <= 0.14 * len(FRAMES)
    assert len(fitted(1e-2 * LENGTH).frames) <= 0.09 * len(FRAMES)


def test_what_is_still_or_straight_needs_two_keys() -> None:
    still = np.tile(walk(np.array([7.0])), (len(FRAMES), 1))
    still = reduce.reference(FRAMES, still)
    found = reduce.fit(FRAMES, still, lambda rows, first: joints(rows) - joints(still[first : first + len(rows)]), 1e-6)
    assert list(found.frames) == [1.0, 105.0]
    ramp = reduce.reference(FRAMES, np.outer(FRAMES, np.linspace(-1.0, 1.0, 3)))
    found = reduce.fit(FRAMES, ramp, channel_misses(ramp), 1e-6)
    assert list(found.frames) == [1.0, 105.0]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_short_ranges(count: int) -> None:
    found = fitted(1e-3, FRAMES[:count])
    assert found.frames[[0, -1]] == pytest.approx(FRAMES[[0, count - 1]])
    assert reduce.evaluate(found, FRAMES[:count]) == pytest.approx(walk(FRAMES[:count]), abs=1e-3)


def test_frames_need_not_be_evenly_spaced() -> None:
    """A bake with a step, whose last frame comes sooner, and the frames of two actions together."""
    frames = np.concatenate((np.arange(1.0, 40.0, 3.0), np.arange(40.5, 60.0), [60.0]))
    found = fitted(1e-3, frames)
    assert largest(limb_misses(frames), reduce.evaluate(found, reduce.sample_frames(frames))) <= 1e-3
    assert set(found.frames) <= set(frames)
    assert len(found.frames) < 0.7 * len(frames)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(-5.0, 1.0), st.integers(1, 25))
def test_the_error_is_kept_on_any_motion(seed: int, exponent: float, count: int) -> None:
    rng = np.random.default_rng(seed)
    samples = np.cumsum(rng.normal(size=(2 * count - 1, 3)) * rng.integers(0, 2, 3), axis=0)
    found = reduce.fit(FRAMES[:count], samples, channel_misses(samples), 10.0**exponent)
    shown = reduce.evaluate(found, reduce.sample_frames(FRAMES[:count]))
    assert found.error == largest(channel_misses(samples), shown) <= 10.0**exponent


def test_no_tolerance_keeps_every_frame() -> None:
    found = fitted(0.0)
    assert list(found.frames) == list(FRAMES)
    assert found.error < 1e-12


def test_a_stop_makes_no_wave_beside_it() -> None:
    """A hand that moves, is still, and jumps: the full bake between the still frames stays still."""
    values = np.concatenate((np.linspace(0.0, 1.0, 10), np.ones(6), np.full(6, 3.0)))[:, None]
    frames = np.arange(float(len(values)))
    samples = reduce.reference(frames, values)[:, 0]
    assert samples[20:30] == pytest.approx(1.0)
    assert samples[32:] == pytest.approx(3.0)
    assert samples[:15] == pytest.approx(np.linspace(0.0, 7.0 / 9.0, 15))


def test_smooth_between_frames_is_nearer_than_straight() -> None:
    frames, fine = FRAMES, reduce.sample_frames(FRAMES)
    truth, values = walk(fine), walk(frames)
    straight = np.stack([np.interp(fine, frames, column) for column in values.T], axis=1)
    smooth = reduce.reference(frames, values)
    assert np.abs(smooth - truth).max() < 0.25 * np.abs(straight - truth).max()


@settings(max_examples=60, deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_parameters_invert_the_curve(x: float, p: float, q: float) -> None:
    a, b = min(p, q), max(p, q)
    t = bezier.parameters(np.array([x]), np.array([a]), np.array([b]))
    back = (bezier.bernstein(t) @ np.array([0.0, a, b, 1.0]))[0]
    assert back == pytest.approx(x, abs=1e-12)


def played(obj: bpy.types.Object, bone: str, at: np.ndarray) -> np.ndarray:
    path = keys.rotation_path(obj.pose.bones[bone])
    curves = [compat.find_fcurve(obj, path, i) for i in range(4)]
    return np.array([[curve.evaluate(frame) for curve in curves if curve] for frame in at])


@pytest.mark.parametrize("tolerance", [1e-3, 2e-2])
def test_blender_plays_the_keys_as_numpy_does(tolerance: float) -> None:
    obj, found = armature(), fitted(tolerance)
    parts = {"up": part_of(found, slice(0, 4)), "lo": part_of(found, slice(4, 8))}
    assert keys.write_rotation_fits(obj, parts) == found.values.size
    at = np.arange(0.0, 107.0, 0.1)
    for bone, part in parts.items():
        assert played(obj, bone, at) == pytest.approx(reduce.evaluate(part, at), abs=BLENDER)
    seen = np.hstack([played(obj, bone, reduce.sample_frames(FRAMES)) for bone in parts])
    assert largest(limb_misses(FRAMES), seen) <= tolerance
    curve = compat.find_fcurve(obj, keys.rotation_path(obj.pose.bones["up"]), 1)
    assert curve is not None
    assert [key.interpolation for key in curve.keyframe_points] == ['BEZIER'] * len(found.frames)
    before = [(tuple(key.handle_left), tuple(key.handle_right)) for key in curve.keyframe_points]
    curve.update()  # what Blender does at a person's first edit must not change the curve
    after = [(tuple(key.handle_left), tuple(key.handle_right)) for key in curve.keyframe_points]
    assert np.array(after) == pytest.approx(np.array(before), abs=BLENDER)


def test_modifiers_that_act_between_few_keys_are_refused() -> None:
    obj, found = armature(), part_of(fitted(1e-2), slice(0, 4))
    keys.write_rotation_fits(obj, {"up": found})
    curve = compat.find_fcurve(obj, keys.rotation_path(obj.pose.bones["up"]), 1)
    assert curve is not None
    curve.modifiers.new('NOISE').blend_type = 'ADD'
    with pytest.raises(LimbIKError, match="NOISE"):
        keys.write_rotation_fits(obj, {"up": found})


def test_a_smooth_full_bake_is_the_reference() -> None:
    obj, values = armature(), walk(FRAMES)
    keys.write_rotation_keys(obj, {"up": values[:, :4]}, FRAMES)
    expected = reduce.reference(FRAMES, values)[:, :4]
    assert played(obj, "up", reduce.sample_frames(FRAMES)) == pytest.approx(expected, abs=BLENDER)
    for curve in compat.fcurves_of(obj):
        curve.update()  # a person's first edit
    assert played(obj, "up", reduce.sample_frames(FRAMES)) == pytest.approx(expected, abs=BLENDER)


@pytest.mark.parametrize("reverse", [False, True])
def test_fits_go_through_a_tweaked_strip(reverse: bool) -> None:
    obj, found = armature(), part_of(fitted(1e-2), slice(0, 4))
    bone = obj.pose.bones["up"]
    bone.keyframe_insert("rotation_quaternion", frame=1)
    bone.keyframe_insert("rotation_quaternion", frame=60)
    anim = obj.animation_data
    action, track = anim.action, anim.nla_tracks.new()
    anim.action = None
    strip = track.strips.new("walk", 1, action)
    strip.scale, strip.use_reverse, strip.select = 2.0, reverse, True
    anim.nla_tracks.active = track
    anim.use_tweak_mode = True
    keys.write_rotation_fits(obj, {"up": found})
    at = np.arange(1.0, 105.0, 0.5)
    inside = np.array([anim.nla_tweak_strip_time_to_scene(float(frame), invert=True) for frame in at])
    assert played(obj, "up", inside) == pytest.approx(reduce.evaluate(found, at), abs=BLENDER)
