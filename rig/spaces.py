"""The pose of one armature during a solve: from local rotations to armature space and back.

Reads an evaluated object once, lets the solve turn bones, and answers where every
other bone then is. Blender's rules of inheritance are Blender's own
(``Bone.convert_local_to_pose``). This module must not write to Blender's data.
"""

from __future__ import annotations

import itertools
from typing import Any

import bpy
from mathutils import Matrix, Quaternion, Vector

from ..solvers import rotations
from ..solvers.rotations import Quat
from . import fk_pose
from .bone_rows import line_above
from .chains import RigSetup
from .session import pose_bones

IDENTITY = Matrix()
# Axes that span less than this part of the box of their lengths are flat: sheared objects in use span more than 0.1.
FLAT = 1e-4


class PoseState:
    """An armature's pose, as evaluated and with the bones that were turned since.

    Space: armature, unless a name says otherwise. ``rotations`` holds the local
    rotation (zero: the bone's rest under its parent) of every bone that was set.
    """

    def __init__(self, setup: RigSetup, evaluated: bpy.types.Object) -> None:
        self.setup = setup
        self.bones: Any = pose_bones(evaluated)
        self.world: Matrix = evaluated.matrix_world.copy()
        self.is_flat = is_flat(self.world)
        self.rotations: dict[int, Quat] = {}
        self._old: dict[int, Matrix] = {}
        self._new: dict[int, Matrix] = {}

    def old(self, bone: int) -> Matrix:
        """Pose matrix as Blender evaluated it."""
        matrix = self._old.get(bone)
        if matrix is None:
            matrix = self._old[bone] = self.bones[bone].matrix.copy()
        return matrix

    def new(self, bone: int) -> Matrix:
        """Pose matrix with the turned bones; the very same object as ``old`` where nothing above changed."""
        matrix = self._new.get(bone)
        if matrix is None:
            unknown = itertools.takewhile(lambda one: one not in self._new, line_above(self.setup.parents, bone))
            for one in reversed(list(unknown)):  # from above, as a rope may have more bones than calls can be nested
                matrix = self._new[one] = self._compute(one)
        assert matrix is not None
        return matrix

    def _compute(self, bone: int) -> Matrix:
        rotation = self.rotations.get(bone)
        if rotation is not None:
            return self._under_parent(bone, self._basis(bone, rotation))
        parent = self.setup.parents[bone]
        if parent < 0 or self.new(parent) is self.old(parent):
            return self.old(bone)
        if bone in self.setup.is_constrained:
            return self.new(parent) @ self.old(parent).inverted_safe() @ self.old(bone)
        return self._under_parent(bone, self.bones[bone].matrix_basis)

    def _basis(self, bone: int, rotation: Quat) -> Matrix:
        """The bone's own location and scale; connected bones keep a location that Blender leaves out of its matrix."""
        pose_bone = self.bones[bone]
        return Matrix.LocRotScale(pose_bone.matrix_basis.translation, Quaternion(rotation), pose_bone.scale)

    def _under_parent(self, bone: int, basis: Matrix) -> Matrix:
        parent, setup = self.setup.parents[bone], self.setup
        if parent < 0:
            return setup.offsets[bone] @ basis if setup.is_plain[bone] else self._convert(bone, basis)
        if setup.is_plain[bone]:
            offset: Matrix = setup.offsets[bone]
            return self.new(parent) @ offset @ basis
        return self._convert(bone, basis)

    def _convert(self, bone: int, basis: Matrix) -> Matrix:
        rest_bone: bpy.types.Bone = self.bones[bone].bone
        parent = self.setup.parents[bone]
        if parent < 0:
            return rest_bone.convert_local_to_pose(basis, rest_bone.matrix_local)
        return rest_bone.convert_local_to_pose(
            basis,
            rest_bone.matrix_local,
            parent_matrix=self.new(parent),
            parent_matrix_local=self.bones[parent].bone.matrix_local,
        )

    def frame(self, bone: int) -> Matrix:
        """Where the bone would be at zero local rotation, location and unit scale."""
        return self._under_parent(bone, IDENTITY)

    def frame_rotation(self, bone: int) -> Quat:
        """Orientation of ``frame`` as a unit quaternion in doubles."""
        return rotations.from_matrix(self.frame(bone))

    def rotation(self, bone: int) -> Quat:
        """Orientation of the bone, armature space.

        Raises:
            ValueError: scale of zero above the bone.
        """
        found = self.rotation_if_any(bone)
        if found is None:
            raise ValueError(f"scale of zero above '{self.setup.names[bone]}' leaves it no rotation")
        return found

    def rotation_if_any(self, bone: int) -> Quat | None:
        """Orientation of the bone, armature space; a bone whose own scale is zero has one. None: zero above it."""
        found = orientation(self.new(bone))
        if found is not None:
            return found
        frame = orientation(self.frame(bone))
        return None if frame is None else rotations.multiply(frame, self._local(bone))

    def _local(self, bone: int) -> Quat:
        pose_bone = self.bones[bone]
        set_here = self.rotations.get(bone)
        return set_here or fk_pose.to_quat(fk_pose.read_raw(pose_bone), pose_bone.rotation_mode)

    def turn(self, bone: int, local: Quat) -> None:
        """Give a bone a local rotation; everything below it moves along."""
        self.rotations[bone] = local
        moved = [bone]
        for one in moved:
            if self._new.pop(one, None) is not None:
                moved += self.setup.children[one]

    def head(self, bone: int) -> Vector:
        """Head of the bone, armature space."""
        return self.new(bone).translation

    def tail(self, bone: int) -> Vector:
        """Tail of the bone, armature space."""
        return self.new(bone) @ Vector((0.0, self.bones[bone].bone.length, 0.0))


def frame_of(pose_bone: Any) -> Matrix:
    """Where a bone would be without channels of its own, its parent being where it is. Space: armature."""
    rest, parent = pose_bone.bone, pose_bone.parent
    if parent is None:
        return Matrix(rest.convert_local_to_pose(IDENTITY, rest.matrix_local))
    above, rest_above = parent.matrix, parent.bone.matrix_local
    return Matrix(
        rest.convert_local_to_pose(IDENTITY, rest.matrix_local, parent_matrix=above, parent_matrix_local=rest_above)
    )


def basis_at(pose_bone: Any, matrix_arm: Matrix) -> Matrix:
    """The bone's own channels (Blender's ``matrix_basis``) that put it at a place, its parent being where it is."""
    rest, parent = pose_bone.bone, pose_bone.parent
    if parent is None:
        return Matrix(rest.convert_local_to_pose(matrix_arm, rest.matrix_local, invert=True))
    above, rest_above = parent.matrix, parent.bone.matrix_local
    return Matrix(
        rest.convert_local_to_pose(
            matrix_arm, rest.matrix_local, parent_matrix=above, parent_matrix_local=rest_above, invert=True
        )
    )


def orientation(matrix: Matrix) -> Quat | None:
    """The rotation of a matrix; None where a scale of zero leaves it none."""
    try:
        return rotations.from_matrix(matrix)
    except ValueError:
        return None


def is_flat(matrix: Matrix) -> bool:
    """Whether a matrix squeezes space into a plane, a line or a point: a scale of zero."""
    turned = matrix.to_3x3()
    box = turned.col[0].length * turned.col[1].length * turned.col[2].length
    return bool(abs(turned.determinant()) <= FLAT * box)


def to_armature(world: Matrix, point_world: Vector) -> Vector:
    """A point of the world in an armature's space; differences are taken in doubles, far from the origin too."""
    origin = world.translation
    offset = Vector(tuple(p - o for p, o in zip(point_world[:], origin[:], strict=True)))
    return world.to_3x3().inverted_safe() @ offset


def matrix_to_armature(world: Matrix, matrix_world: Matrix) -> Matrix:
    """A matrix of the world in an armature's space, its position taken as ``to_armature`` does."""
    turned = world.to_3x3().inverted_safe() @ matrix_world.to_3x3()
    result = turned.to_4x4()
    result.translation = to_armature(world, matrix_world.translation)
    return result


def shear(matrix: Matrix) -> float:
    """How far a matrix is from a rotation with one scale: 0 exact, 1 singular."""
    columns = [Vector(column[:3]) for column in matrix.to_3x3().col]
    lengths = [column.length for column in columns]
    longest, shortest = max(lengths), min(lengths)
    if not longest or not shortest:
        return 1.0
    skew = max(abs(columns[i].dot(columns[j])) / (lengths[i] * lengths[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    return max(1.0 - shortest / longest, skew)
