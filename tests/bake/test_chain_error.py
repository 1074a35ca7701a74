"""The measured miss is the one that Blender's own forward kinematics shows."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from limb_ik.bake import chain_error, keys, reduce
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
    for row, found in zip(angles, chain_error.to_quaternions(angles, mode), strict=True):
        expected = np.array(Euler(row, mode).to_quaternion())
        assert min(np.abs(found - expected).max(), np.abs(found + expected).max()) < FLOAT32


def test_no_length_means_no_turn() -> None:
    assert chain_error.to_quaternions(np.zeros((1, 4)), 'QUATERNION') == pytest.approx(np.array([[1, 0, 0, 0]]))
    found = chain_error.to_quaternions(np.zeros((1, 4)), 'AXIS_ANGLE')
    assert Quaternion(found[0]).angle == 0.0


def test_bones_of_a_chain_share_their_key_frames() -> None:
    at = np.arange(1.0, 41.0)
    fine = reduce.sample_frames(at)
    motions = {"up": np.column_stack([np.sin(fine / k) for k in (5.0, 7.0, 9.0)]), "lo": np.cos(fine / 6.0)[:, None]}
    whole = np.hstack(list(motions.values()))
    found = chain_error.fit_bones(at, motions, lambda v: np.abs(v - whole).max(axis=1), 0.01)
    assert list(found["up"].frames) == list(found["lo"].frames)
    assert (found["up"].values.shape[1], found["lo"].values.shape[1]) == (3, 1)
    for name, rows in motions.items():
        assert np.abs(reduce.evaluate(found[name], fine) - rows).max() <= 0.01
