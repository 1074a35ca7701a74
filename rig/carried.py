"""Where objects and bones are once chains are solved: what hangs rigidly on a solved bone is carried along.

Through parents and single rigid constraints, of objects and of bones, at any depth and over armatures. Reads
evaluated objects and the poses of one evaluation; this module must not solve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import bpy
from mathutils import Matrix

from . import hanging, marks
from .bone_rows import line_above
from .chain_setup import ChainSetup
from .evaluated_rig import Rig
from .session import pose_bones

IDENTITY = Matrix()


class Carrier:
    """What solving has moved so far in one evaluation.

    ``rigs``: those that are solved. ``fixed``: bones that are left where their parents carry them, as the root of the
    chain is that is being solved: what hangs on them beside it moves with it.
    """

    def __init__(self, depsgraph: bpy.types.Depsgraph, rigs: Mapping[marks.Key, Rig]) -> None:
        self.depsgraph, self.rigs = depsgraph, rigs
        self.fixed: frozenset[marks.Link] = frozenset()
        self._going: set[marks.Link] = set()

    def world(self, obj: bpy.types.Object) -> Matrix:
        """World matrix of an object."""
        evaluated = obj.evaluated_get(self.depsgraph)
        matrix, parent = evaluated.matrix_world, obj.parent
        parent_bone = obj.parent_bone if obj.parent_type == 'BONE' else ""
        moved = None if parent is None else self._moved(parent, parent_bone)
        if len(obj.constraints) and (constraint := hanging.carrying(evaluated)) is not None:
            return self._held(constraint, matrix, moved)
        return matrix if moved is None else moved @ matrix

    def bone_world(self, obj: bpy.types.Object, bone_name: str) -> Matrix | None:
        """World matrix of a bone; None where the armature has no such bone."""
        pose = self._pose(obj, bone_name)
        if pose is None:
            return None
        held = self._held_bone(obj, bone_name)
        return self.world(obj) @ pose[1] if held is None else held @ pose[1]

    def _pose(self, obj: bpy.types.Object, bone_name: str) -> tuple[Matrix, Matrix] | None:
        """A bone's pose as evaluated and as its rig's chains have turned it, the same object where they haven't."""
        rig = self.rigs.get(marks.key_of(obj))
        if rig is not None:
            number = rig.setup.index.get(bone_name, -1)
            return None if number < 0 else (rig.state.old(number), rig.state.new(number))
        evaluated = obj.evaluated_get(self.depsgraph)
        bone = pose_bones(evaluated).get(bone_name) if evaluated.pose is not None else None
        return None if bone is None else (bone.matrix, bone.matrix)

    def _held_bone(self, obj: bpy.types.Object, bone_name: str) -> Matrix | None:
        """World matrix of the armature as a bone sees it that hangs below one that a constraint carries; else None."""
        for bone in self._constrained_line(obj, bone_name):
            constraint = carrying_bone(bone)
            if constraint is None or (marks.key_of(obj), bone.name) in self.fixed:
                continue
            pose = self._pose(obj, bone.name)
            assert pose is not None  # a bone of this pose
            above = bone.parent.name if bone.parent is not None else ""
            before = obj.evaluated_get(self.depsgraph).matrix_world @ pose[0]
            after = self._held(constraint, before, self._moved(obj, above))
            return None if after is before else after @ pose[1].inverted_safe()
        return None

    def _constrained_line(self, obj: bpy.types.Object, bone_name: str) -> Iterator[Any]:
        """The evaluated pose bones with constraints from a bone upward."""
        rig = self.rigs.get(marks.key_of(obj))
        if rig is not None:
            line = line_above(rig.setup.parents, rig.setup.index.get(bone_name, -1))
            return (rig.bones[bone] for bone in line if bone in rig.setup.is_constrained)
        bone = pose_bones(obj.evaluated_get(self.depsgraph)).get(bone_name)
        line_of_bones = [] if bone is None else [bone, *bone.parent_recursive]
        return (one for one in line_of_bones if len(one.constraints))

    def _held(self, constraint: Any, before: Matrix, by_parent: Matrix | None) -> Matrix:
        """World matrix of what one constraint holds rigidly: as evaluated, and how its parent alone moved it."""
        hold = next(hanging.holds_by(constraint))
        moved = self._moved(hold.obj, hold.bone)
        if moved is None and by_parent is None:
            return before
        if constraint.type == 'COPY_TRANSFORMS':
            return before if moved is None else moved @ before
        if constraint.type == 'COPY_LOCATION':
            place = before.translation if moved is None else moved @ before.translation
            turned = before if by_parent is None else by_parent @ before
            return Matrix.Translation(place - turned.translation) @ turned
        return self._multiplied(constraint, hold, moved or IDENTITY, by_parent or IDENTITY) @ before

    def _multiplied(self, constraint: Any, hold: hanging.Hold, moved: Matrix, by_parent: Matrix) -> Matrix:
        """How something moved whose parent's matrix a constraint multiplies, where solving moved both.

        The constraint's factor C is applied last, so the parent's move goes inside: C_new · by_parent · C_old⁻¹.
        """
        target = hold.obj.evaluated_get(self.depsgraph)
        bone = pose_bones(target).get(hold.bone) if hold.bone and target.pose is not None else None
        world = target.matrix_world if bone is None else target.matrix_world @ bone.matrix
        rest = None if bone is None else bone.bone.matrix_local
        factor = hanging.frame_of(constraint, world, rest, target.matrix_world)
        if factor is None:
            return moved @ by_parent
        after = moved @ factor
        if constraint.type == 'ARMATURE' and (carried := self._moved(hold.obj, "")) is not None:
            after = after @ carried.inverted_safe()
        return after @ by_parent @ factor.inverted_safe()

    def _moved(self, obj: bpy.types.Object, bone_name: str) -> Matrix | None:
        """World matrix by which solving moved what hangs on an object or a bone of it; None where it moved nothing."""
        link = marks.key_of(obj), bone_name
        if link in self._going:
            return None  # constraints in a circle, which Blender allows
        self._going.add(link)
        try:
            return self._moved_once(obj, bone_name)
        finally:
            self._going.discard(link)

    def _moved_once(self, obj: bpy.types.Object, bone_name: str) -> Matrix | None:
        before, after = obj.evaluated_get(self.depsgraph).matrix_world, self.world(obj)
        pose = self._pose(obj, bone_name) if bone_name else None
        if pose is not None:
            held = self._held_bone(obj, bone_name)
            if held is not None or pose[1] is not pose[0]:
                return (after if held is None else held) @ pose[1] @ pose[0].inverted_safe() @ before.inverted_safe()
        return None if after is before or after == before else after @ before.inverted_safe()


def fixed_for(rig: Rig, chain: ChainSetup) -> frozenset[marks.Link]:
    """The bones of a chain and those above it."""
    key, names = marks.key_of(rig.obj), rig.setup.names
    return frozenset((key, names[bone]) for bone in line_above(rig.setup.parents, chain.bones[-1]))


def carrying_bone(bone: Any) -> Any:
    """The one constraint that holds a pose bone rigidly and can be followed; None where there is none.

    A bone that inherits a part of its parent's motion alone can't be: what is below its constraint isn't known.
    """
    rest = bone.bone
    is_whole = rest.use_inherit_rotation and rest.use_local_location and rest.inherit_scale == 'FULL'
    return hanging.carrying(bone) if is_whole or bone.parent is None else None
