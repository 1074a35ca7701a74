"""Few keys on captured motion: how many a limb needs, for what error, and how long the fit takes.

    python bench/few_keys.py FILE... [--part 1e-3] [--fps 24] [--frames 300] [--action NAME] [--straight]

Files are .bvh, .fbx, .glb or .gltf. For each limb that is found: the FK rotations of its two bones as a full bake, then
the share of frames that keep a key so that knee and tip stay within PART of the
limb's length at every frame and half frame, upper + lower bone. "at least": the least
number of segments, where each channel has the whole error for itself and the channels of a bone have their keys
on common frames; "by itself": each channel on frames of its own (``few_keys_bound``). Channels that make up for
each other's misses could get under it; twice the error covers that about, since a
knee that has to be right too leaves the thigh twice what the tip does. "straight": how far a full
bake with straight segments is from one with smooth segments between frames. ``--straight``: the motion
as the importer leaves it, straight between its frames; few keys follow its corners too. Times are
processor time of the one thread.
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

import few_keys_bound  # noqa: E402
from limb_ik.bake import chain_error, continuity, few_keys, reduce  # noqa: E402
from limb_ik.rig import animated_range, compat, data_paths  # noqa: E402
from limb_ik.rig.limb_finding.skeleton import rest_skeleton  # noqa: E402
from limb_ik.rig.limbs import find_limbs  # noqa: E402

TENTH = 0.1


def armature_of(path: str, action: str) -> Any:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    kind = Path(path).suffix.lower()
    if kind == ".bvh":
        bpy.ops.import_anim.bvh(filepath=path, rotate_mode='QUATERNION', update_scene_fps=True)
    elif kind == ".fbx":
        bpy.ops.import_scene.fbx(filepath=path)
    else:
        bpy.ops.import_scene.gltf(filepath=path)
    obj = next(obj for obj in bpy.data.objects if obj.type == 'ARMATURE')
    if action:
        anim = obj.animation_data
        anim.action = bpy.data.actions[action]
        if compat.HAS_SLOTS and anim.action_slot is None:
            anim.action_slot = anim.action_suitable_slots[0]
    return obj


def channels(obj: Any, bone: str, frames: np.ndarray) -> np.ndarray | None:
    path = data_paths.rotation_path(obj.pose.bones[bone])
    curves = [compat.find_fcurve(obj, path, i) for i in range(4)]
    if not all(curves):
        return None
    rows = np.array([[curve.evaluate(float(frame)) for curve in curves if curve] for frame in frames])
    return continuity.continuous_rotations(rows, 'QUATERNION')


def limb_rows(obj: Any, args: argparse.Namespace) -> Iterator[tuple[str, Any, list[np.ndarray], np.ndarray]]:
    """Name, rest bones, channels of both bones, frames."""
    first, last = animated_range.animation_range(obj) or (1.0, 1.0)
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


def straightened(samples: np.ndarray) -> np.ndarray:
    """The same at frames, straight between them."""
    samples = samples.copy()
    samples[1::2] = (samples[:-1:2] + samples[2::2]) / 2.0
    return samples


def least_share(samples: list[np.ndarray], rooms: np.ndarray) -> float:
    """The share of frames that have to keep a key: the mean of the bones, their channels on common frames."""
    stops = np.cumsum([rows.shape[1] for rows in samples])
    channels = [range(int(stop) - rows.shape[1], int(stop)) for rows, stop in zip(samples, stops, strict=True)]
    keys_of = [few_keys_bound.least_keys(np.hstack(samples), rooms, one) for one in channels]
    return float(np.mean(keys_of)) / (len(rooms) // 2 + 1)


def report(
    name: str, bones: Any, rows: list[np.ndarray], frames: np.ndarray, args: argparse.Namespace
) -> tuple[str, np.ndarray]:
    """A line of figures; the share of frames that keep a key, the least share, and that with twice the error."""
    samples = [reduce.reference(frames, row) for row in rows]
    if args.straight:
        samples = [straightened(row) for row in samples]
    motion = motion_of(bones, samples)
    error, whole = chain_error.chain_error(motion), np.hstack(samples)
    length = float(np.linalg.norm(np.diff(motion.heads[0], axis=0), axis=1).sum())
    straight, part = straightened(whole), args.part
    began = time.thread_time()
    misses = chain_error.chain_misses(motion, few_keys.BESIDE)
    found = chain_error.fit_bones(frames, dict(zip(("upper", "lower"), samples, strict=True)), misses, part * length)
    spent = time.thread_time() - began
    shown = np.hstack([reduce.evaluate(fit, reduce.sample_frames(frames)) for fit in found.values()])
    rooms = few_keys_bound.rooms(whole, error, part * length)
    single = [few_keys_bound.least_keys(whole, rooms, [channel]) for channel in range(whole.shape[1])]
    counts = [len(fit.frames) for fit in found.values()]
    shares = [float(np.mean(counts)) / len(frames), least_share(samples, rooms), least_share(samples, 2.0 * rooms)]
    return (
        f"{name:6} {len(frames):4} frames  {counts[0]:3} + {counts[1]:3} keys a channel = {shares[0]:.3f}"
        f"  at least {shares[1]:.3f}, with twice the error {shares[2]:.3f}"
        f", each channel by itself {float(np.mean(single)) / len(frames):.3f}"
        f"  error {error(shown).max() / length:.1e} of the length  straight {error(straight).max() / length:.1e}"
        f"  {1e3 * spent:.0f} ms",
        np.array(shares),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--part", type=float, default=1e-3)
    parser.add_argument("--fps", type=float, default=24.0)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--action", default="")
    parser.add_argument("--straight", action="store_true")
    args = parser.parse_args()
    for path in args.files:
        obj, all_shares = armature_of(path, args.action), []
        for name, bones, rows, frames in limb_rows(obj, args):
            if len(frames) > 2:
                line, shares = report(name, bones, rows, frames, args)
                all_shares.append(shares)
                print(f"{Path(path).name:24} {line}")
        if all_shares:
            kept, least, twice = np.mean(all_shares, axis=0)
            beyond = (np.array(all_shares) > TENTH).sum(axis=0)
            print(
                f"{Path(path).name:24} all    {kept:.3f} of the frames keep a key, at least {least:.3f} have to"
                f" ({twice:.3f} with twice the error): more than a tenth for {beyond[1]} of {len(all_shares)} limbs"
                f" ({beyond[2]} with twice the error)"
            )


main()
