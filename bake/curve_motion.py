"""Poses and places that F-curves alone give, for many frames at once, without going to any of them.

Blender's own value of each curve, and the arithmetic of parents: for bones and objects that no constraint, driver or
NLA strip moves. ``is_by_curves`` says which those are. Channels without a curve have the value that the original
holds as ``Motions`` are made. This module must not solve or write.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ..rig import channels, compat, dependency, fk_pose, nla
from ..rig.bone_rows import line_above
from ..rig.chains import RigSetup
from ..rig.data_paths import bone_path
from ..rig.session import armature_data, pose_bones
from ..solvers import rows
from ..solvers.arrays import Floats
from .quaternions import to_quaternions

# Parents whose matrix alone counts; curves may carry their children along a path.
RIGID_PARENTS = {'OBJECT', 'ARMATURE'}
Curves = dict[str, list[tuple[int, bpy.types.FCurve]]]
# What curves may animate: places, turns and sizes, the settings of chains, custom properties.
KNOWN_PATH = re.compile(
    r'(pose\.bones\["(?:[^"\\]|\\.)*"\])?\.?'
    r'(location|scale|rotation_(euler|quaternion|axis_angle)|limb_ik_\w+|limb_ik\.\w+|\["(?:[^"\\]|\\.)*"\])'
)
# Keys so near to a frame are on it: Blender's own measure.
ON_KEY = 1e-4


def with_parents(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Each of the objects and of their parents once."""
    found: dict[int, bpy.types.Object] = {}
    for one in objects:
        obj: bpy.types.Object | None = one
        while obj is not None and obj.session_uid not in found:
            found[obj.session_uid] = obj
            obj = obj.parent
    return list(found.values())


def is_by_curves(obj: bpy.types.Object) -> bool:
    """Whether an object's place under its parent comes from F-curves alone."""
    parent = obj.parent
    is_rigid = parent is None or (obj.parent_type in RIGID_PARENTS and parent.type != 'CURVE')
    return is_rigid and not len(obj.constraints) and _has_plain_animation(obj)


def are_bones_by_curves(obj: bpy.types.Object, setup: RigSetup, bones: Iterable[int]) -> bool:
    """Whether these bones' poses come from F-curves alone; their parents' count, too."""
    line = {above for bone in bones for above in line_above(setup.parents, bone)}
    return (
        not line & (setup.is_constrained | setup.driven)
        and all(setup.is_plain[bone] for bone in line)
        and not channels.animated_paths(armature_data(obj))
    )


def _has_plain_animation(obj: bpy.types.Object) -> bool:
    animation = obj.animation_data
    if animation is None:
        return True
    return (
        not nla.uses_strips(animation)
        and all(curve.mute or curve.data_path in dependency.OWN_PATHS for curve in animation.drivers)
        and all(KNOWN_PATH.fullmatch(curve.data_path) for curve in compat.fcurves_of(obj))
    )


class Channel(NamedTuple):
    """The numbers of a property: what it holds, and the curves that give some of them in time."""

    constant: Sequence[float]
    curves: Sequence[tuple[int, bpy.types.FCurve]]

    def at(self, frames: Floats) -> Floats:
        """Frames × numbers, rounded as properties are."""
        found = np.empty((len(frames), len(self.constant)), np.float32)
        found[:] = self.constant
        for index, curve in self.curves:
            found[:, index] = curve_values(curve, frames)
        return found.astype(np.float64)


def curve_values(curve: bpy.types.FCurve, frames: Floats) -> NDArray[np.float32]:
    """Blender's value of a curve at each frame; keys themselves where there is one on each of the frames."""
    points = curve.keyframe_points
    if len(points) >= len(frames) and not len(curve.modifiers):
        co = np.empty(2 * len(points), np.float32)
        points.foreach_get("co", co)
        nearest = np.searchsorted(co[::2], frames - ON_KEY)
        if nearest[-1] < len(points) and (np.abs(co[::2][nearest] - frames) <= ON_KEY).all():
            return co[1::2][nearest]
    return np.array(list(map(curve.evaluate, frames.tolist())), np.float32)


class Posed(NamedTuple):
    """A bone or an object by frames: location, raw rotation and the same as quaternions, scale."""

    location: Floats
    rotation: Floats
    turns: Floats
    scale: Floats

    @property
    def matrix(self) -> Floats:
        """Its matrix under no parent."""
        return rows.local_matrices(self.location, self.turns, self.scale)


class Basis(NamedTuple):
    """Location, rotation in one mode and scale of a bone or an object."""

    mode: str
    location: Channel
    rotation: Channel
    scale: Channel

    @classmethod
    def of(cls, owner: Any, prefix: str, curves: Curves) -> Basis:
        """That of a pose bone or an object; ``prefix``: what stands before its channels in the curves' paths."""
        names = ("location", fk_pose.channel(owner.rotation_mode), "scale")
        found = [Channel(tuple(getattr(owner, name)), curves.get(prefix + name, ())) for name in names]
        return cls(owner.rotation_mode, *found)

    @property
    def is_still(self) -> bool:
        """Whether no curve moves it."""
        return not (self.location.curves or self.rotation.curves or self.scale.curves)

    def at(self, frames: Floats) -> Posed:
        """All three at these frames."""
        rotation = self.rotation.at(frames)
        turns = to_quaternions(rotation, self.mode)
        return Posed(self.location.at(frames), rotation, turns, self.scale.at(frames))


class Motions:
    """Objects, and bones of armatures, over frames. To be made and asked for while the originals hold FK."""

    def __init__(self) -> None:
        self._curves: dict[int, Curves] = {}
        self._objects: dict[int, ObjectMotion] = {}

    def object(self, obj: bpy.types.Object) -> ObjectMotion:
        """One motion for each object, however many hang on it."""
        if obj.session_uid not in self._objects:
            parent = None if obj.parent is None else self.object(obj.parent)
            self._objects[obj.session_uid] = ObjectMotion(obj, self._curves_of(obj), parent)
        return self._objects[obj.session_uid]

    def bones(self, obj: bpy.types.Object, setup: RigSetup, bones: Iterable[int]) -> BoneMotion:
        """Some bones of an armature, with all above them."""
        return BoneMotion(obj, setup, bones, self._curves_of(obj))

    def _curves_of(self, obj: bpy.types.Object) -> Curves:
        if obj.session_uid not in self._curves:
            found = self._curves[obj.session_uid] = {}
            for curve in compat.fcurves_of(obj):
                if nla.plays(curve, is_alone=True):
                    found.setdefault(curve.data_path, []).append((curve.array_index, curve))
        return self._curves[obj.session_uid]


class BoneMotion:
    """Some bones of one armature object, and all above them, over frames. Space: armature."""

    def __init__(self, obj: bpy.types.Object, setup: RigSetup, bones: Iterable[int], curves: Curves) -> None:
        self.setup, posed = setup, pose_bones(obj)
        self.bases: dict[int, Basis] = {}
        for bone in sorted({above for one in bones for above in line_above(setup.parents, one)}):
            self.bases[bone] = Basis.of(posed[bone], bone_path(setup.names[bone]), curves)

    def at(self, frames: Floats) -> dict[int, Posed]:
        """Each bone by itself, by number; connected bones have no location."""
        found = {bone: basis.at(frames) for bone, basis in self.bases.items()}
        for bone, posed in found.items():
            posed.location[:] *= not self.setup.is_connected[bone]
        return found

    def matrices(self, posed: dict[int, Posed]) -> dict[int, Floats]:
        """Pose matrices of bones that ``at`` gave, parents and all."""
        found: dict[int, Floats] = {}
        parents = self.setup.parents
        for bone in posed:
            unknown = itertools.takewhile(lambda one: one not in found, line_above(parents, bone))
            for one in reversed(list(unknown)):
                matrix = np.array(self.setup.offsets[one]) @ posed[one].matrix
                found[one] = matrix if parents[one] < 0 else found[parents[one]] @ matrix
        return found


class ObjectMotion:
    """One object's place over frames. Space: world."""

    def __init__(self, obj: bpy.types.Object, curves: Curves, parent: ObjectMotion | None) -> None:
        self.basis, self.parent = Basis.of(obj, "", curves), parent
        self.delta_location, self.delta_scale = np.array(obj.delta_location), np.array(obj.delta_scale)
        self.delta_turn = _delta_turn(obj)
        self.parent_inverse = np.array(obj.matrix_parent_inverse, dtype=np.float64)
        self._last: tuple[Floats, Floats] | None = None

    def worlds(self, frames: Floats) -> Floats:
        """Matrices in the world, frames × 4 × 4; kept for the frames that were asked for last."""
        if self._last is None or self._last[0] is not frames:
            self._last = frames, self._worlds(frames)
        return self._last[1]

    @property
    def is_still(self) -> bool:
        """Whether no curve moves it."""
        return self.basis.is_still and (self.parent is None or self.parent.is_still)

    def _worlds(self, frames: Floats) -> Floats:
        if len(frames) > 1 and self.is_still:
            return np.broadcast_to(self._worlds(frames[:1]), (len(frames), 4, 4))
        own = self.basis.at(frames)
        turns = rows.multiply(np.tile(self.delta_turn[:, None], len(frames)), own.turns.T).T
        matrices = rows.local_matrices(own.location + self.delta_location, turns, own.scale * self.delta_scale)
        return matrices if self.parent is None else self.parent.worlds(frames) @ self.parent_inverse @ matrices


def _delta_turn(obj: bpy.types.Object) -> Floats:
    """An object's delta rotation; for axis and angle Blender has none."""
    mode = obj.rotation_mode
    if mode == 'AXIS_ANGLE':
        return np.array((1.0, 0.0, 0.0, 0.0))
    raw: Any = obj.delta_rotation_quaternion if mode == 'QUATERNION' else obj.delta_rotation_euler
    found: Floats = to_quaternions(np.array([tuple(raw)], dtype=np.float64), mode)[0]
    return found
