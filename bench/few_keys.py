"""Few keys on captured motion: how many a limb needs, for what error, and how long the fit takes.

    python bench/few_keys.py FILE.bvh... [--part 1e-3] [--fps 24] [--frames 300]

For each limb that is found: the FK rotations of its two bones as a full bake, then
the share of frames that keep a key so that knee and tip stay within PART of the
limb's length at every frame and half frame. "straight": how far a full bake with
straight segments is from one with smooth segments between frames. Times are
processor time of the one process.
"""

from __future__ import annotations

import bpy  # isort: skip  (first: mathutils is part of it)

import argparse
import importlib.util
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("limb_ik", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
assert spec is not None
sys.modules.setdefault("limb_ik", importlib.util.module_from_spec(spec))  # not executed: nothing is registered

from limb_ik.bake import chain_error, keys, reduce  # noqa: E402
from limb_ik.rig import compat  # noqa: E402
from limb_ik.rig.limb_finding.skeleton import rest_skeleton  # noqa: E402
from limb_ik.rig.limbs import find_limbs  # noqa: E402


def armature_of(path: str) -> Any:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_anim.bvh(filepath=path, rotate_mode='QUATERNION', update_scene_fps=True)
    return next(obj for obj in bpy.data.objects if obj.type == 'ARMATURE')


def channels(obj: Any, bone: str, frames: np.ndarray) -> np.ndarray | None:
    path = keys.rotation_path(obj.pose.bones[bone])
    curves = [compat.find_fcurve(obj, path, i) for i in range(4)]
    if not all(curves):
        return None
    rows = np.array([[curve.evaluate(float(frame)) for curve in curves if curve] for frame in frames])
    return keys.continuous_rotations(rows, 'QUATERNION')


def limb_rows(obj: Any, args: argparse.Namespace) -> Iterator[tuple[str, Any, list[np.ndarray], np.ndarray]]:
    """Name, rest bones, channels of both bones, frames."""
    first, last = compat.animation_range(obj) or (1.0, 1.0)
    step = max(1, round(bpy.context.scene.render.fps / args.fps))
    frames = np.arange(first, last + 1.0, step)[: args.frames]
    for limb in find_limbs(rest_skeleton(obj.data)):
        rows = [channels(obj, name, frames) for name in (limb.upper, limb.lower)]
        if all(row is not None for row in rows):
            bones = [obj.data.bones[name] for name in (limb.upper, limb.lower)]
            end = obj.data.bones[limb.end].head_local if limb.end else bones[1].tail_local
            yield f"{limb.kind} {limb.side}", (*bones, end), [row for row in rows if row is not None], frames


def motion_of(bones: Any, samples: list[np.ndarray]) -> chain_error.ChainMotion:
    """The limb on its own, root at rest; between its bones the rest pose."""
    upper, lower, end = bones
    frame_upper = upper.matrix_local.to_quaternion()
    offset = lower.matrix_local.to_quaternion()
    heads, frames = [], []
    for first, second in zip(*(chain_error.to_quaternions(rows, 'QUATERNION') for rows in samples), strict=True):
        turn = frame_upper @ type(offset)(first) @ frame_upper.inverted()
        knee = upper.head_local + turn @ (lower.head_local - upper.head_local)
        at_lower = turn @ offset
        bend = at_lower @ type(offset)(second) @ at_lower.inverted()
        heads.append([upper.head_local[:], knee[:], (knee + bend @ turn @ (end - lower.head_local))[:]])
        frames.append([frame_upper[:], at_lower[:]])
    return chain_error.ChainMotion(np.array(heads), np.array(frames), tuple(samples), ('QUATERNION',) * 2, (True, True))


def report(name: str, bones: Any, rows: list[np.ndarray], frames: np.ndarray, part: float) -> str:
    samples = [reduce.reference(frames, row) for row in rows]
    motion = motion_of(bones, samples)
    error = chain_error.chain_error(motion)
    length = float(np.linalg.norm(np.diff(motion.heads[0], axis=0), axis=1).sum())
    straight = np.hstack(samples)
    straight[1::2] = (straight[:-1:2] + straight[2::2]) / 2.0
    began = time.process_time()
    found = chain_error.fit_bones(frames, dict(zip(("upper", "lower"), samples, strict=True)), error, part * length)
    spent = time.process_time() - began
    count, fit = len(found["upper"].frames), found["upper"]
    return (
        f"{name:6} {len(frames):4} frames  {count:4} keys a channel = {count / len(frames):.3f}"
        f"  error {fit.error / length:.1e} of the length  straight {error(straight).max() / length:.1e}"
        f"  {1e3 * spent:.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--part", type=float, default=1e-3)
    parser.add_argument("--fps", type=float, default=24.0)
    parser.add_argument("--frames", type=int, default=300)
    args = parser.parse_args()
    for path in args.files:
        obj = armature_of(path)
        for name, bones, rows, frames in limb_rows(obj, args):
            if len(frames) > 2:
                print(f"{Path(path).name:24} {report(name, bones, rows, frames, args.part)}")


main()
