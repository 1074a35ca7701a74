"""Reads one file in a process of its own and saves what its armature does: FILE OUT.npz."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import bpy
import limb_ik
import numpy as np
from limb_ik.files import opening as files
from limb_ik.rig import animated_range, limbs


def read(path: str) -> dict[str, Any]:
    """Heads (world) and turns from rest (world) of the deforming bones, on every whole frame of the animation.

    Turns are measured from rest because importers choose bone axes of their own.
    """
    files.open_file(Path(path))
    obj = next(one for one in bpy.data.objects if one.type == 'ARMATURE')
    skeleton = limbs.rest_skeleton(obj.data)
    found = limbs.find_limbs(skeleton)
    own = animated_range.animation_range(obj)
    first, last = (round(own[0]), round(own[1])) if own else (1, 1)
    names = [bone.name for bone in obj.pose.bones]
    heads, turns = [], []
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        seen = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array(seen.matrix_world)
        pose = np.array([world @ np.array(bone.matrix) for bone in seen.pose.bones])
        rest = np.array([np.array(bone.bone.matrix_local) for bone in seen.pose.bones])
        heads.append(pose[:, :3, 3])
        turns.append(unit_columns(pose[:, :3, :3]) @ np.linalg.inv(unit_columns(rest[:, :3, :3])))
    rest = obj.data.bones
    joints = np.array([[rest[name].head_local[:] for name in (limb.upper, limb.lower)] for limb in found])
    scale = float(np.mean(np.linalg.norm(np.array(obj.matrix_world)[:3, :3], axis=0)))
    limb = 2.0 * scale * float(np.linalg.norm(joints[:, 0] - joints[:, 1], axis=-1).min())
    return {
        "bones": np.array(names),
        "heads": np.array(heads),
        "turns": np.array(turns),
        "limb": limb,
        "animated": int(own is not None),
    }


def unit_columns(matrices: np.ndarray) -> np.ndarray:
    return matrices / np.linalg.norm(matrices, axis=-2, keepdims=True)


if __name__ == "__main__":
    limb_ik.register()
    try:
        np.savez(sys.argv[2], **read(sys.argv[1]))
    finally:
        limb_ik.unregister()
        sys.stdout.flush()
    os._exit(0)  # Blender's own clean-up hangs in 4.5 after some importers
