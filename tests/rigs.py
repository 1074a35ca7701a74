"""Builders of the test rigs, and what tests read from an evaluated armature.

Test helpers only: nothing here imports the package or decides what is right.
Space: world, unless a name says otherwise. Units: radians, Blender units.

    arm = rigs.l2b()                                  # or l2s, l2u, c3, c6, hn, legp
    target, pole = rigs.empty("T", (0.6, -0.4, 1.2)), rigs.empty("P", (0, 3, 0.8))
    rigs.add_chain_by_properties(arm, "lo", target, pole)
    rigs.update()
    assert rigs.tip_error(arm, "lo", target) < 1e-5
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import bpy
from mathutils import Euler, Matrix, Quaternion, Vector

Triple = Sequence[float]

ROTATION_PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
CHANNELBAGS_SINCE = (4, 4)
"""Blender version from which an action's curves lie in the channelbag of a slot."""
HIDES_POSE_BONES_SINCE = (5, 0)
"""Blender version from which a pose bone is hidden by itself; before, its bone at rest was."""


@dataclass(frozen=True)
class BoneSpec:
    """One edit bone. Space: armature. ``roll``: what Blender gives is 0."""

    name: str
    head: Triple
    tail: Triple
    parent: str = ""
    connected: bool = False
    roll: float = 0.0


def _row(names: Sequence[str], joints: Sequence[Triple]) -> tuple[BoneSpec, ...]:
    """Connected bones from joint to joint."""
    parents = ("", *names)
    return tuple(BoneSpec(name, joints[i], joints[i + 1], parents[i], connected=i > 0) for i, name in enumerate(names))


def _straight(count: int, length: float) -> tuple[BoneSpec, ...]:
    names = [f"b{i + 1}" for i in range(count)]
    return _row(names, [(0.0, 0.0, i * length) for i in range(count + 1)])


LIMB = ("up", "lo", "hand")
RIGS: dict[str, tuple[BoneSpec, ...]] = {
    "L2S": _row(LIMB, [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 2.3)]),
    "L2B": _row(LIMB, [(0, 0, 0), (0, 0.6, 0.8), (0, 0, 1.6), (0, 0, 1.9)]),
    "L2U": _row(LIMB, [(0, 0, 0), (0, 0, 1), (0, 0, 1.6), (0, 0, 1.9)]),
    "C3": _straight(3, 1.0),
    "C6": _straight(6, 0.5),
    "HN": (
        BoneSpec("neck", (0, 0, 1.5), (0, 0.05, 1.6)),
        BoneSpec("head", (0, 0.05, 1.6), (0, 0.05, 1.8), "neck", True, math.radians(37.0)),
    ),
    "LEGP": (
        BoneSpec("pelvis", (0, 0, 1), (0, 0, 1.2)),
        BoneSpec("thigh", (0.1, 0, 1), (0.1, -0.03, 0.55), "pelvis"),
        BoneSpec("shin", (0.1, -0.03, 0.55), (0.1, 0, 0.1), "thigh", True),
        BoneSpec("foot", (0.1, 0, 0.1), (0.1, -0.2, 0.02), "shin", True),
        BoneSpec("toe", (0.1, -0.2, 0.02), (0.1, -0.28, 0.02), "foot", True),
    ),
}
ROOT_BONE = BoneSpec("root", (0, 0, -0.5), (0, 0, 0))


def bent(count: int, length: float, angle: float) -> tuple[BoneSpec, ...]:
    """A row of bones, each turned by ``angle`` about +X against the one before (first: against +Z)."""
    joints = [(0.0, 0.0, 0.0)]
    for i in range(1, count + 1):
        x, y, z = joints[-1]
        joints.append((x, y - length * math.sin(i * angle), z + length * math.cos(i * angle)))
    return _row([f"b{i + 1}" for i in range(count)], joints)


def with_root(bones: Sequence[BoneSpec], root: BoneSpec = ROOT_BONE) -> tuple[BoneSpec, ...]:
    """The same bones below an extra parent, to which the first ones are not connected."""
    return (root, *(bone if bone.parent else replace(bone, parent=root.name) for bone in bones))


def build(
    bones: Sequence[BoneSpec],
    name: str = "Rig",
    *,
    rolls: Mapping[str, float] | None = None,
    location: Triple = (0, 0, 0),
    rotation: Triple = (0, 0, 0),
    scale: Triple | float = 1.0,
    length: float = 1.0,
) -> bpy.types.Object:
    """Make an armature object from ``bones``, in the scene, active, in object mode.

    ``rolls`` replaces rolls by bone name, ``rotation`` is XYZ Euler angles,
    ``length`` multiplies every position in armature space.
    """
    obj = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    _scene_collection().objects.link(obj)
    _make_active(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in bones:
        _add_edit_bone(obj, bone, length, (rolls or {}).get(bone.name, bone.roll))
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.location = location
    obj.rotation_euler = Euler(rotation)
    obj.scale = (scale, scale, scale) if isinstance(scale, (int, float)) else scale
    update()
    return obj


def _scene_collection() -> bpy.types.Collection:
    scene = bpy.context.scene
    assert scene is not None
    return scene.collection


def _make_active(obj: bpy.types.Object) -> None:
    layer = bpy.context.view_layer
    assert layer is not None
    if layer.objects.active is not None and layer.objects.active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    layer.objects.active = obj


def _add_edit_bone(obj: bpy.types.Object, bone: BoneSpec, length: float, roll: float) -> None:
    edit_bones = armature_of(obj).edit_bones
    edit = edit_bones.new(bone.name)
    edit.head, edit.tail, edit.roll = Vector(bone.head) * length, Vector(bone.tail) * length, roll
    if bone.parent:
        edit.parent = edit_bones[bone.parent]
        edit.use_connect = bone.connected


def rig(kind: str, name: str = "Rig", *, root: bool = False, **place: Any) -> bpy.types.Object:
    """Build the scenario rig ``kind`` (a key of ``RIGS``); ``root``: below an extra bone "root"."""
    bones = with_root(RIGS[kind]) if root else RIGS[kind]
    return build(bones, name, **place)


l2s = partial(rig, "L2S")
l2b = partial(rig, "L2B")
l2u = partial(rig, "L2U")
c3 = partial(rig, "C3")
c6 = partial(rig, "C6")
hn = partial(rig, "HN")
legp = partial(rig, "LEGP")


def armature_of(obj: bpy.types.Object) -> bpy.types.Armature:
    assert isinstance(obj.data, bpy.types.Armature)
    return obj.data


def bone(obj: bpy.types.Object, name: str) -> bpy.types.PoseBone:
    assert obj.pose is not None
    return obj.pose.bones[name]


def holder_of_hide(pose_bone: bpy.types.PoseBone) -> Any:
    """What has the ``hide`` of a pose bone (H), whatever its collections say."""
    return pose_bone if bpy.app.version >= HIDES_POSE_BONES_SINCE else pose_bone.bone


def empty(
    name: str, location: Triple = (0, 0, 0), *, rotation: Triple = (0, 0, 0), parent: bpy.types.Object | None = None
) -> bpy.types.Object:
    """An empty in the scene; ``location`` and ``rotation`` (XYZ Euler) in the parent's space."""
    obj = bpy.data.objects.new(name, None)
    _scene_collection().objects.link(obj)
    obj.parent = parent
    obj.location, obj.rotation_euler = location, Euler(rotation)
    return obj


def update() -> None:
    """One update of the view layer, as an edit in the viewport gives."""
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()


def frame_set(frame: float) -> None:
    """Go to ``frame``; the part after the point is the sub-frame."""
    scene = bpy.context.scene
    assert scene is not None
    whole = math.floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


def add_chain_by_properties(
    obj: bpy.types.Object,
    tip: str,
    target: bpy.types.Object | None = None,
    pole: bpy.types.Object | None = None,
    *,
    chain_length: int = 2,
    end_bone: str = "",
    solver: str = "TWO_BONE",
    **settings: Any,
) -> bpy.types.PoseBone:
    """Give ``tip`` a chain the way a script does; ``settings`` by name without ``limb_ik_``."""
    pose_bone = bone(obj, tip)
    values = {"target": target, "pole": pole, "chain_length": chain_length, "end_bone": end_bone}
    for name, value in {**values, **settings, "solver": solver}.items():  # solver last: it makes the chain
        setattr(pose_bone, f"limb_ik_{name}", value)
    return pose_bone


@dataclass(frozen=True)
class BonePose:
    """A bone of the evaluated armature. Space: world."""

    head: Vector
    tail: Vector
    matrix: Matrix

    @property
    def rotation(self) -> Quaternion:
        return self.matrix.to_quaternion()


def evaluated(obj: bpy.types.Object) -> bpy.types.Object:
    """The evaluated object of the current view layer, brought up to date."""
    result = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert isinstance(result, bpy.types.Object)
    return result


def evaluated_pose(obj: bpy.types.Object) -> dict[str, BonePose]:
    """Every bone of the evaluated pose, by name, as copies in world space."""
    seen = evaluated(obj)
    assert seen.pose is not None
    world = seen.matrix_world.copy()
    return {b.name: BonePose(world @ b.head, world @ b.tail, world @ b.matrix) for b in seen.pose.bones}


def local_rotations(obj: bpy.types.Object) -> dict[str, Quaternion]:
    """Local rotation of every bone in the evaluated pose, whatever its rotation mode."""
    seen = evaluated(obj)
    assert seen.pose is not None
    return {b.name: read_rotation(b) for b in seen.pose.bones}


def world_position(obj: bpy.types.Object) -> Vector:
    return evaluated(obj).matrix_world.to_translation()


def tip_error(obj: bpy.types.Object, tip: str, target: bpy.types.Object | Triple, end_bone: str = "") -> float:
    """World distance of the chain's end (end bone's head, else the tip's tail) from the target."""
    pose = evaluated_pose(obj)
    end = pose[end_bone].head if end_bone else pose[tip].tail
    goal = world_position(target) if isinstance(target, bpy.types.Object) else Vector(target)
    return (end - goal).length


def is_finite(obj: bpy.types.Object) -> bool:
    """Whether no number of the evaluated pose is NaN or infinite."""
    return all(math.isfinite(x) for b in evaluated_pose(obj).values() for row in b.matrix for x in row)


def read_rotation(pose_bone: bpy.types.PoseBone) -> Quaternion:
    """Local rotation in the bone's own rotation mode, as a unit quaternion."""
    if pose_bone.rotation_mode == "QUATERNION":
        return pose_bone.rotation_quaternion.normalized()
    if pose_bone.rotation_mode == "AXIS_ANGLE":
        angle, x, y, z = pose_bone.rotation_axis_angle
        return Quaternion((x, y, z), angle)
    return pose_bone.rotation_euler.to_quaternion()


def write_rotation(pose_bone: bpy.types.PoseBone, rotation: Quaternion) -> None:
    """Set the local rotation in the bone's own rotation mode."""
    if pose_bone.rotation_mode == "QUATERNION":
        pose_bone.rotation_quaternion = rotation
    elif pose_bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = rotation.to_axis_angle()
        pose_bone.rotation_axis_angle = (angle, *axis)
    else:
        pose_bone.rotation_euler = rotation.to_euler(pose_bone.rotation_mode)


def turn(obj: bpy.types.Object, name: str, axis: str, angle: float) -> bpy.types.PoseBone:
    """Set a bone's FK pose to ``angle`` about its local ``axis`` ('X', 'Y', 'Z')."""
    pose_bone = bone(obj, name)
    vectors = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
    write_rotation(pose_bone, Quaternion(vectors[axis], angle))
    return pose_bone


def rotation_path(pose_bone: bpy.types.PoseBone) -> str:
    """Name of the rotation property that the bone's rotation mode uses."""
    return ROTATION_PATHS.get(pose_bone.rotation_mode, "rotation_euler")


def key_rotation(
    pose_bone: bpy.types.PoseBone, frame: float, rotation: Quaternion | None = None, interpolation: str = "LINEAR"
) -> None:
    """Key the bone's rotation (or ``rotation``, set first) in its own rotation mode."""
    if rotation is not None:
        write_rotation(pose_bone, rotation)
    path = rotation_path(pose_bone)
    assert pose_bone.keyframe_insert(path, frame=frame)
    assert isinstance(pose_bone.id_data, bpy.types.Object)
    set_interpolation(pose_bone.id_data, interpolation, pose_bone.path_from_id(path))


def key_location(
    obj: bpy.types.Object, frame: float, location: Triple | None = None, interpolation: str = "LINEAR"
) -> None:
    """Key the object's location (or ``location``, set first)."""
    if location is not None:
        obj.location = location
    assert obj.keyframe_insert("location", frame=frame)
    set_interpolation(obj, interpolation, "location")


def key_setting(
    pose_bone: bpy.types.PoseBone, name: str, frame: float, value: Any, interpolation: str = "LINEAR"
) -> None:
    """Key the chain setting ``limb_ik_<name>`` of a tip bone (booleans hold their value anyway)."""
    setattr(pose_bone, f"limb_ik_{name}", value)
    assert pose_bone.keyframe_insert(f"limb_ik_{name}", frame=frame)
    assert isinstance(pose_bone.id_data, bpy.types.Object)
    set_interpolation(pose_bone.id_data, interpolation, pose_bone.path_from_id(f"limb_ik_{name}"))


def curves(obj: bpy.types.Object) -> list[bpy.types.FCurve]:
    """F-curves of the object's active action (its own slot, where actions have slots)."""
    data = obj.animation_data
    if data is None or data.action is None:
        return []
    if bpy.app.version < CHANNELBAGS_SINCE:
        return list(data.action.fcurves)
    bags = (strip.channelbag(data.action_slot) for layer in data.action.layers for strip in layer.strips)
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def set_interpolation(obj: bpy.types.Object, interpolation: str, path: str | None = None) -> None:
    """Set the interpolation of every key, or of those of one data path."""
    for curve in curves(obj):
        if path is None or curve.data_path == path:
            for point in curve.keyframe_points:
                point.interpolation = interpolation


def keys(obj: bpy.types.Object) -> dict[tuple[str, int], list[tuple[float, float]]]:
    """(frame, value) of every key, by data path and array index."""
    return {(c.data_path, c.array_index): [(p.co[0], p.co[1]) for p in c.keyframe_points] for c in curves(obj)}


def rotation_distance(a: Quaternion, b: Quaternion) -> float:
    """Angle between two rotations in radians, in doubles, 0 to pi, exact near 0."""
    aw, ax, ay, az = _unit(a)
    bw, bx, by, bz = _unit(b)
    w = aw * bw + ax * bx + ay * by + az * bz
    x = aw * bx - ax * bw - ay * bz + az * by
    y = aw * by - ay * bw - az * bx + ax * bz
    z = aw * bz - az * bw - ax * by + ay * bx
    return 2.0 * math.atan2(math.hypot(x, y, z), abs(w))


def _unit(rotation: Quaternion) -> tuple[float, float, float, float]:
    w, x, y, z = rotation
    length = math.hypot(w, x, y, z)
    return w / length, x / length, y / length, z / length


def local_distance(a: Mapping[str, Quaternion], b: Mapping[str, Quaternion]) -> float:
    """Largest angle between two results of ``local_rotations``."""
    return max(rotation_distance(a[name], b[name]) for name in a)


def pose_distance(a: Mapping[str, BonePose], b: Mapping[str, BonePose], names: Iterable[str] | None = None) -> float:
    """Largest angle in world space between two results of ``evaluated_pose``."""
    return max(rotation_distance(a[n].rotation, b[n].rotation) for n in (names or a))


def joint_distance(a: Mapping[str, BonePose], b: Mapping[str, BonePose], names: Iterable[str] | None = None) -> float:
    """Largest world distance between the heads of two results of ``evaluated_pose``."""
    return max((a[n].head - b[n].head).length for n in (names or a))


def reference_elbow(
    root: Triple, target: Triple, pole: Triple, upper: float, lower: float
) -> tuple[float, float, float]:
    """The analytic elbow, in Python floats; the target's distance is clamped to what the lengths reach."""
    line = [t - r for t, r in zip(target, root, strict=True)]
    distance = math.hypot(*line)
    u = [x / distance for x in line]
    d = min(max(distance, abs(upper - lower)), upper + lower)
    x = (upper * upper + d * d - lower * lower) / (2.0 * d)
    h = math.sqrt(max(upper * upper - x * x, 0.0))
    to_pole = [p - r for p, r in zip(pole, root, strict=True)]
    along = sum(a * b for a, b in zip(to_pole, u, strict=True))
    side = [a - along * b for a, b in zip(to_pole, u, strict=True)]
    reach = math.hypot(*side)
    ex, ey, ez = (r + x * a + h * s / reach for r, a, s in zip(root, u, side, strict=True))
    return ex, ey, ez
