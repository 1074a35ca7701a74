"""A captured-like walk for tests of feet: two legs under moving hips, FK keyed so that feet slide a little.

The ankles' paths are made first; the legs' rotations come from the analytic knee, so nothing
of the package takes part. Space: world. The walk goes toward -Y.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import bpy
from mathutils import Matrix, Vector

import rigs

S = rigs.BoneSpec
STANCE, SWING = 14, 10
CYCLE = STANCE + SWING
STRIDE, ANKLE, HIP, SLIDE = 0.7, 0.1, 0.92, 0.02
LAST = 3 * CYCLE + 1


def bones(*, with_arms: bool = False) -> list[rigs.BoneSpec]:
    """Hips, two legs with toes; two arms that hang still."""
    found = [S("hips", (0, 0, 0.95), (0, 0, 1.15))]
    for side, x in (("L", 0.1), ("R", -0.1)):
        found += [
            S(f"thigh.{side}", (x, 0, 0.95), (x, -0.03, 0.52), "hips"),
            S(f"shin.{side}", (x, -0.03, 0.52), (x, 0, 0.1), f"thigh.{side}", True),
            S(f"foot.{side}", (x, 0, 0.1), (x, -0.14, 0.02), f"shin.{side}", True),
            S(f"toe.{side}", (x, -0.14, 0.02), (x, -0.2, 0.02), f"foot.{side}", True),
        ]
        if with_arms:
            found += [
                S(f"upper_arm.{side}", (2 * x, 0, 1.45), (2 * x, 0.02, 1.15), "hips"),
                S(f"forearm.{side}", (2 * x, 0.02, 1.15), (2 * x, 0, 0.9), f"upper_arm.{side}", True),
                S(f"hand.{side}", (2 * x, 0, 0.9), (2 * x, 0, 0.8), f"forearm.{side}", True),
            ]
    return found


def ankle(frame: float, phase: int) -> tuple[float, float]:
    """Distance gone and height of an ankle: it slides while it stands, and swings in an arc."""
    cycles, inside = divmod(frame - 1 + phase, CYCLE)
    gone = (cycles - phase / CYCLE) * STRIDE
    if inside <= STANCE:
        return gone + SLIDE * inside / STANCE, ANKLE
    part = (inside - STANCE) / SWING
    smooth = part * part * (3.0 - 2.0 * part)
    return gone + SLIDE + (STRIDE - SLIDE) * smooth, ANKLE + 0.13 * math.sin(math.pi * part) ** 2


def walker(*, with_arms: bool = False, last: int = LAST) -> Any:
    """The armature, keyed on frames 1 to ``last``, with quaternion rotations and hips that move."""
    obj = rigs.build(bones(with_arms=with_arms), "Walker")
    for frame in range(1, last + 1):
        gone = STRIDE * (frame - 1 - STANCE / 2) / CYCLE + SLIDE / 2  # above the foot in the middle of its stance
        hips: Any = rigs.bone(obj, "hips")
        shift = Vector((0.0, -gone, HIP - 0.95))
        hips.location = hips.bone.matrix_local.to_3x3().inverted() @ shift
        hips.keyframe_insert("location", frame=frame)
        for side, phase in (("L", 0), ("R", CYCLE // 2)):
            away, height = ankle(frame, phase)
            _key_leg(obj, side, shift, Vector((0.0, -away, height)), frame)
    rigs.set_interpolation(obj, "LINEAR")
    return obj


def _key_leg(obj: Any, side: str, shift: Vector, place: Vector, frame: int) -> None:
    rest = {name: obj.data.bones[f"{name}.{side}"].matrix_local.copy() for name in ("thigh", "shin", "foot")}
    heads = [rest[name].translation for name in ("thigh", "shin", "foot")]
    root = heads[0] + shift
    end = Vector((heads[0].x, place.y, place.z))
    knee = Vector(
        rigs.reference_elbow(
            root, end, root + Vector((0, -5, 0)), (heads[1] - heads[0]).length, (heads[2] - heads[1]).length
        )
    )
    upper = (heads[1] - heads[0]).rotation_difference(knee - root).to_matrix().to_4x4()
    lower = (heads[2] - heads[1]).rotation_difference(end - knee).to_matrix().to_4x4()
    posed = [Matrix.Translation(shift), upper @ rest["thigh"], lower @ rest["shin"], rest["foot"]]
    above = obj.data.bones["hips"].matrix_local
    for name, parent, own, under in zip(
        ("thigh", "shin", "foot"), (above, *posed[1:3]), posed[1:], (above, rest["thigh"], rest["shin"]), strict=True
    ):
        offset = (under.inverted() @ rest[name]).to_3x3()
        local = (parent.to_3x3() @ offset).inverted() @ own.to_3x3()
        rigs.key_rotation(rigs.bone(obj, f"{name}.{side}"), frame, local.to_quaternion())


def heads(obj: Any, names: tuple[str, ...], frames: range) -> dict[str, list[Vector]]:
    """Heads of bones on frames, as seen, world space."""
    found: dict[str, list[Vector]] = {name: [] for name in names}
    for frame in frames:
        rigs.frame_set(frame)
        pose = rigs.evaluated_pose(obj)
        for name in names:
            found[name].append(pose[name].head)
    return found


def matrices(obj: Any, frames: range) -> list[dict[str, Matrix]]:
    """World matrices of all bones on frames, as seen."""
    found = []
    for frame in frames:
        rigs.frame_set(frame)
        found.append({name: pose.matrix for name, pose in rigs.evaluated_pose(obj).items()})
    return found


def difference(a: dict[str, Matrix], b: dict[str, Matrix]) -> float:
    """Largest difference of any number of two poses."""
    rows = [pair for name in a for pair in zip(a[name], b[name], strict=True)]
    return max(abs(x - y) for p, q in rows for x, y in zip(p, q, strict=True))


def ground_mesh(name: str, points: list[tuple[float, float, float]], faces: list[tuple[int, ...]]) -> Any:
    """A mesh object in the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    rigs._scene_collection().objects.link(obj)
    rigs.update()
    return obj


def stairs(rise: float = 0.12, tread: float = 0.3, steps: int = 4) -> Any:
    """Level floor with stairs up along -Y, then level again."""
    edges = [(4.0, 0.0), *((-0.5 - tread * k, rise * (k + 1)) for k in range(steps)), (-12.0, rise * steps)]
    points: list[tuple[float, float, float]] = []
    faces: list[tuple[int, ...]] = []
    for (near, height), (far, above) in pairwise(edges):
        first = len(points)
        points += [(x, y, height) for x, y in ((-2, near), (2, near), (2, far), (-2, far))]
        points += [(x, far, above) for x in (2, -2)]
        faces += [(first + 3, first + 2, first + 1, first), (first + 3, first + 5, first + 4, first + 2)]
    return ground_mesh("Stairs", points, faces)
