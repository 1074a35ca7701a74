"""Captured motion: targets are keyed or offset along it, IK shows it again, the bake has it again."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from limb_ik.bake import motion
from limb_ik.bake.baking import bake
from limb_ik.bake.options import BakeOptions
from limb_ik.bake.ranges import frames_between
from limb_ik.files import opening as files
from limb_ik.rig import chains

import rigs

pytestmark = pytest.mark.usefixtures("blank")

# Of the design: part of the limb's length, and radians.
JOINTS, TURNS = 1e-5, 1e-4
# The others are measured by bench/round_trip.py, which takes minutes.
FILES = ["bvh/makehuman_walk1.bvh", "gltf/CesiumMan.glb", "fbx/ozz_pab_walk.fbx", "bvh/fair1_dab.bvh"]


def recorded(obj: bpy.types.Object, frames: tuple[float, ...]) -> np.ndarray:
    """Pose matrices of all bones (frames × bones × 4 × 4). Space: armature."""
    found = []
    for frame in frames:
        rigs.frame_set(frame)
        bones = rigs.evaluated(obj).pose.bones
        values = np.empty(16 * len(bones), np.float32)
        bones.foreach_get("matrix", values)
        found.append(values.reshape(-1, 4, 4).transpose(0, 2, 1))
    return np.array(found, dtype=np.float64)


def turns_apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest angle between two recordings, for small ones."""
    a, b = (x[..., :3, :3] / np.linalg.norm(x[..., :3, :3], axis=-2, keepdims=True) for x in (a, b))
    return float(np.linalg.norm(a - b, axis=(-1, -2)).max() / np.sqrt(2.0))


def shortest_limb(obj: bpy.types.Object, poses: np.ndarray) -> float:
    rows = [chain.turned for chain in chains.setup_of(obj).chains]
    return min(float(np.linalg.norm(poses[0, row[1], :3, 3] - poses[0, row[0], :3, 3])) for row in rows) * 2.0


@pytest.mark.parametrize("kind", ["EMPTY", "BONE"])
@pytest.mark.parametrize("how", ["FK", "KEYS"])
@pytest.mark.parametrize("name", FILES)
def test_there_and_back(name: str, how: str, kind: str, data_dir: Path) -> None:
    files.open_file(data_dir / name)
    obj = next(one for one in bpy.data.objects if one.type == "ARMATURE")
    frames = frames_between(bpy.context, obj)[:60]
    count = len(obj.pose.bones)
    before = recorded(obj, frames)
    tips = motion.add_limbs(bpy.context, obj, motion=how, target_kind=kind)
    assert len(tips) >= 2
    live = recorded(obj, frames)[:, :count]
    length = shortest_limb(obj, before)
    report = bake(bpy.context, [obj], BakeOptions(frames[0], frames[-1], after="REMOVE"))
    assert report.chains == len(tips)
    after = recorded(obj, frames)
    assert len(obj.pose.bones) == count
    for seen in (live, after):
        assert np.linalg.norm((seen - before)[..., :3, 3], axis=-1).max() <= JOINTS * length
        assert turns_apart(seen, before) <= TURNS
