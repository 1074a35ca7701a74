"""Writes an armature's motion as BVH, as it stands in the world, Y up.

Blender's own exporter leaves out the armature object's place, turn, size and
motion and writes Blender's Z-up axes, which its importer then takes for Y up: a
capture that is read and written comes back lying on its back. Must not change
the scene, but for its frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..rig.session import armature_data, current_scene, evaluated, pose_bones
from ..solvers.rotations import as_quat, to_euler
from ..solvers.vectors import ZERO

# Blender's Z up, -Y forward to the Y up, Z forward of BVH: what Blender's importer undoes.
Y_UP = Matrix(((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, -1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
# Of the armature's size: a joint that moves less from its rest offset gets no position channels (float32 noise).
STILL = 1e-5
QUATERNION_BONES_ORDER = 'XYZ'


@dataclass(frozen=True, slots=True)
class _Joint:
    name: str
    parent: str
    order: str
    rest: Matrix
    tail: Vector
    offset: Vector


@dataclass(frozen=True, slots=True)
class _Sample:
    """One joint on one frame: position from its parent's joint in its axes, and rotation."""

    position: Vector
    rotation: Quaternion


def write_bvh(path: Path, obj: bpy.types.Object, frames: Sequence[int]) -> None:
    """Writes the evaluated motion of an armature object.

    Space: world, turned to Y up. Joints stand in rest as they do on the first
    frame's object transform. Shear and scale of bones can't be written in BVH.

    Args:
        path: Where to.
        obj: The armature object.
        frames: The frames, each becomes one line.
    """
    scene = current_scene()
    scene.frame_set(frames[0])
    joints = _joints(obj)
    samples = [_sample(joints, obj, frame) for frame in frames]
    moving = _moving(joints, samples)
    lines = ["HIERARCHY", *_hierarchy(joints, moving), "MOTION", f"Frames: {len(frames)}"]
    lines.append(f"Frame Time: {scene.render.fps_base / scene.render.fps:.9f}")
    path.write_text("\n".join([*lines, *_motion(joints, moving, samples)]) + "\n", encoding="utf-8")


def _joints(obj: bpy.types.Object) -> dict[str, _Joint]:
    """The joints in file order: each bone before its children, depth first."""
    world = Y_UP @ evaluated(obj).matrix_world
    joints: dict[str, _Joint] = {}
    open_bones = [bone for bone in reversed(armature_data(obj).bones) if bone.parent is None]
    while open_bones:
        bone = open_bones.pop()
        rest = world @ bone.matrix_local
        parent = joints.get(bone.parent.name) if bone.parent else None
        offset = rest.translation - (parent.rest.translation if parent else Vector())
        mode = pose_bones(obj)[bone.name].rotation_mode
        order = mode if sorted(mode) == ['X', 'Y', 'Z'] else QUATERNION_BONES_ORDER
        tail = world @ bone.tail_local
        joints[bone.name] = _Joint(bone.name, parent.name if parent else "", order, rest, tail, offset)
        open_bones.extend(reversed(bone.children))
    return joints


def _sample(joints: Mapping[str, _Joint], obj: bpy.types.Object, frame: int) -> dict[str, _Sample]:
    current_scene().frame_set(frame)
    now = evaluated(obj)
    world = Y_UP @ now.matrix_world
    heads: dict[str, Vector] = {"": Vector()}
    turned: dict[str, Quaternion] = {"": Quaternion()}
    sample: dict[str, _Sample] = {}
    for joint in joints.values():
        pose = world @ pose_bones(now)[joint.name].matrix
        turn = (_axes(pose) @ _axes(joint.rest).transposed()).to_quaternion()
        heads[joint.name], turned[joint.name] = pose.translation, turn
        to_parent = turned[joint.parent].inverted()
        sample[joint.name] = _Sample(to_parent @ (pose.translation - heads[joint.parent]), to_parent @ turn)
    return sample


def _axes(matrix: Matrix) -> Matrix:
    """The matrix's axes at unit length, mirrored where it is: what is left without scale."""
    return matrix.to_3x3().normalized()


def _moving(joints: Mapping[str, _Joint], samples: Sequence[Mapping[str, _Sample]]) -> frozenset[str]:
    """The joints that need position channels: the roots, and what moves from its rest offset."""
    root = next(iter(joints.values())).offset
    size = max((joint.tail - root).length for joint in joints.values())
    return frozenset(
        name
        for name, joint in joints.items()
        if not joint.parent or any((s[name].position - joint.offset).length > STILL * size for s in samples)
    )


def _hierarchy(joints: Mapping[str, _Joint], moving: frozenset[str]) -> list[str]:
    children: dict[str, list[str]] = {name: [] for name in ("", *joints)}
    for joint in joints.values():
        children[joint.parent].append(joint.name)
    roots = children[""]
    if len(roots) == 1:
        return _node("ROOT", roots[0], joints, children, moving)
    # BVH has one root: one that has no channels, by a name that no bone has.
    name = next(n for n in (f"root_{i}" if i else "root" for i in range(len(joints) + 1)) if n not in joints)
    body = [line for root in roots for line in _node("JOINT", root, joints, children, moving)]
    return [f"ROOT {name}", "{", "\tOFFSET 0.0 0.0 0.0", "\tCHANNELS 0", *(f"\t{line}" for line in body), "}"]


def _node(
    kind: str, name: str, joints: Mapping[str, _Joint], children: Mapping[str, list[str]], moving: frozenset[str]
) -> list[str]:
    joint = joints[name]
    rotations = [f"{axis}rotation" for axis in joint.order]
    channels = [*(["Xposition", "Yposition", "Zposition"] if name in moving else []), *rotations]
    body = [f"OFFSET {_numbers(joint.offset)}", f"CHANNELS {len(channels)} {' '.join(channels)}"]
    for child in children[name]:
        body += _node("JOINT", child, joints, children, moving)
    if not children[name]:
        body += ["End Site", "{", f"\tOFFSET {_numbers(joint.tail - joint.rest.translation)}", "}"]
    return [f"{kind} {name}", "{", *(f"\t{line}" for line in body), "}"]


def _motion(
    joints: Mapping[str, _Joint], moving: frozenset[str], samples: Sequence[Mapping[str, _Sample]]
) -> Iterable[str]:
    """One line a frame; Euler angles stay compatible with those of the frame before."""
    before = dict.fromkeys(joints, ZERO)
    for sample in samples:
        values: list[str] = []
        for name, joint in joints.items():
            # BVH turns about the axes in the other order than Blender's Euler names say.
            before[name] = to_euler(as_quat(sample[name].rotation), joint.order[::-1], before[name])
            if name in moving:
                values.append(_numbers(sample[name].position))
            values.append(_numbers(math.degrees(before[name]['XYZ'.index(axis)]) for axis in joint.order))
        yield " ".join(values)


def _numbers(values: Any) -> str:
    return " ".join(f"{value:.8g}" for value in values)
