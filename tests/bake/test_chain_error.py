"""The measured miss is the one that Blender's own forward kinematics shows."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from limb_ik.bake import chain_error, keys, quaternions, reduce
from mathutils import Euler, Quaternion, Vector

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
NAMES = ("up", "lo", "hand")
# Heads and matrices come from Blender in 32 bits.
FLOAT32 = 2e-6


@pytest.fixture(autouse=True)
def _empty_file() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)


def armature() -> bpy.types.Object:
    """Three bones of odd rolls, the second not touching the first."""
    data = bpy.data.armatures.new("Rig")
    obj = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode='EDIT')
    points = ((0.0, 0.0, 1.0), (0.1, 0.0, 0.5), (0.0, 0.2, 0.0), (0.1, 0.1, -0.4))
    for i, name in enumerate(NAMES):
        edit = data.edit_bones.new(name)
        edit.head, edit.tail, edit.roll = points[i], Vector(points[i + 1]) + Vector((0.0, 0.02, 0.0)), 0.7 * i
        edit.parent = data.edit_bones[NAMES[i - 1]] if i else None
    bpy.ops.object.mode_set(mode='OBJECT')
    return obj


def pose(obj: bpy.types.Object, rows: list[np.ndarray]) -> None:
    for name, row in zip(NAMES, rows, strict=True):
        bone = obj.pose.bones[name]
        setattr(bone, keys.rotation_path(bone).rsplit(".", 1)[1], row)
    bpy.context.view_layer.update()


def joints(obj: bpy.types.Object) -> np.ndarray:
    bones = [obj.pose.bones[name] for name in NAMES]
    return np.array([*(bone.head for bone in bones), bones[-1].tail])


def frames(obj: bpy.types.Object) -> np.ndarray:
    """Orientations at zero local rotation: the posed one without the bone's own turn."""
    turned = []
    for name in NAMES:
        bone = obj.pose.bones[name]
        turned.append(bone.matrix.to_quaternion() @ bone.matrix_basis.to_quaternion().inverted())
    return np.array(turned)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("follows", [True, False])
def test_the_miss_is_blenders_own(mode: str, follows: bool) -> None:
    rng, obj = np.random.default_rng(5), armature()
    obj.data.bones["lo"].use_inherit_rotation = follows
    width = 4 if mode in MODES[:2] else 3
    for name in NAMES:
        obj.pose.bones[name].rotation_mode = mode
    wanted = rng.uniform(-1.0, 1.0, (4, 3, width))
    tried = wanted + rng.uniform(-0.1, 0.1, wanted.shape)
    heads, orientations, seen = [], [], []
    for good, other in zip(wanted, tried, strict=True):
        pose(obj, list(good))
        heads.append(joints(obj))
        orientations.append(frames(obj))
        pose(obj, list(other))
        seen.append(np.linalg.norm(joints(obj) - heads[-1], axis=1).max())
    motion = chain_error.ChainMotion(
        np.array(heads), np.array(orientations), tuple(wanted.swapaxes(0, 1)), (mode,) * 3, (True, follows, True)
    )
    error = chain_error.chain_error(motion)
    assert error(np.hstack(list(tried.swapaxes(0, 1)))) == pytest.approx(np.array(seen), abs=FLOAT32)
    assert error(np.hstack(motion.values)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("mode", MODES[2:])
def test_euler_angles_mean_what_blender_means(mode: str) -> None:
    angles = np.random.default_rng(1).uniform(-7.0, 7.0, (50, 3))
    for row, found in zip(angles, quaternions.to_quaternions(angles, mode), strict=True):
        expected = np.array(Euler(row, mode).to_quaternion())
        assert min(np.abs(found - expected).max(), np.abs(found + expected).max()) < FLOAT32


def test_no_length_means_no_turn() -> None:
    assert quaternions.to_quaternions(np.zeros((1, 4)), 'QUATERNION') == pytest.approx(np.array([[1, 0, 0, 0]]))
    found = quaternions.to_quaternions(np.zeros((1, 4)), 'AXIS_ANGLE')
    assert Quaternion(found[0]).angle == 0.0


FRAMES = np.arange(1.0, 61.0)
PARTS = (0.5, 0.35, 0.15)


def swinging(bones: int, is_straight: bool = False) -> chain_error.ChainMotion:
    """A chain of unit length along Z whose bones swing about X with waves of their own, and turn about Z."""
    at, motions = reduce.sample_frames(FRAMES), []
    for i in range(bones):
        swing = 0.3 * np.sin(at / (3.0 + i)) * (not (is_straight and i))
        angles = np.column_stack((swing, np.zeros_like(at), 0.2 * np.cos(at / (4.0 + i))))
        motions.append(angles)
    turn, heads, frames = np.tile((1.0, 0.0, 0.0, 0.0), (len(at), 1)), [np.zeros((len(at), 3))], []
    for part, angles in zip(PARTS, motions, strict=False):
        frames.append(turn)
        turn = np.array(
            [Quaternion(a) @ Euler(b, 'XYZ').to_quaternion() for a, b in zip(turn, angles, strict=True)], dtype=float
        )
        step = [Quaternion(a) @ Vector((0.0, 0.0, part)) for a in turn]
        heads.append(heads[-1] + np.array(step, dtype=float))
    return chain_error.ChainMotion(
        np.stack(heads, axis=1), np.stack(frames, axis=1), tuple(motions), ('XYZ',) * bones, (True,) * bones
    )


def fitted(motion: chain_error.ChainMotion, tolerance: float, side: float = 0.15) -> dict[str, reduce.Fit]:
    motions = dict(zip(NAMES, motion.values, strict=False))
    return chain_error.fit_bones(FRAMES, motions, chain_error.chain_misses(motion, side), tolerance)


def shown(fits: dict[str, reduce.Fit]) -> np.ndarray:
    return np.hstack([reduce.evaluate(one, reduce.sample_frames(FRAMES)) for one in fits.values()])


@pytest.mark.parametrize("bones", [1, 2, 3])
@pytest.mark.parametrize("tolerance", [1e-3, 3e-2])
def test_bones_of_a_chain_keep_the_error_together(bones: int, tolerance: float) -> None:
    motion = swinging(bones)
    found = fitted(motion, tolerance)
    error = chain_error.chain_error(motion)(shown(found)).max()
    assert 0.5 * tolerance < error <= tolerance
    assert error <= {one.error for one in found.values()}.pop() <= tolerance
    assert all(set(one.frames) <= set(FRAMES) for one in found.values())


def test_bones_have_key_frames_of_their_own_where_that_saves_keys() -> None:
    """Frames common to the bones, as ``reduce.fit`` of the whole chain takes them, need more."""
    motion = swinging(2)
    found = fitted(motion, 1e-3)
    whole = reduce.fit(FRAMES, np.hstack(motion.values), chain_error.chain_misses(motion, 0.15), 1e-3)
    assert sum(one.values.size for one in found.values()) < whole.values.size
    assert list(found["up"].frames) != list(found["lo"].frames)


def test_few_keys_do_not_twist_a_straight_chain() -> None:
    """No joint shows the twist of a straight chain, so the point beside the bone has to."""
    motion, tolerance = swinging(2, is_straight=True), 1e-2
    twists = np.abs(shown(fitted(motion, tolerance))[:, 2::3] - np.hstack(motion.values)[:, 2::3]).max(axis=0)
    assert (twists <= 1.1 * tolerance / 0.15 * np.array((1.0, 2.0))).all()
    free = np.abs(shown(fitted(motion, tolerance, side=0.0))[:, 2::3] - np.hstack(motion.values)[:, 2::3]).max(axis=0)
    assert free.max() > 1.5 * twists.max()


def test_misses_of_some_samples_are_those_of_all() -> None:
    motion = swinging(3)
    misses, tried = chain_error.chain_misses(motion, 0.15), np.hstack(motion.values) + 0.01
    assert misses(tried[20:33], 20) == pytest.approx(misses(tried, 0)[20:33])
    assert misses(tried, 0).shape == (len(tried), 6, 3)
    joints_only = chain_error.chain_misses(motion)(tried, 0)
    assert chain_error.chain_error(motion)(tried) == pytest.approx(np.linalg.norm(joints_only, axis=2).max(axis=1))
