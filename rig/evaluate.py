"""The evaluation: all chains of all armatures at one moment, read → solve → blend → local rotations.

Live handlers, the bake, match and previews all call ``evaluate``; there is no second
path. It reads the depsgraph that it is given and writes nothing; ``rig/write.py``
puts its result into the pose, ``bake/`` into keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import bpy
from mathutils import Matrix

from ..solvers.chain import Status
from . import dependency, hanging, marks, order, readouts, solve_chain
from .chains import ChainSetup, setup_of
from .crowd import solving as crowd
from .crowd.turn import Together
from .crowd.words import Words
from .evaluated_rig import Rig
from .session import armature_data, object_at, object_settings, pose_bones

__all__ = ["Evaluation", "Rig", "evaluate"]

IDENTITY = Matrix()
IN_EDIT_MODE = "armature is in edit mode"
IN_REST_POSITION = "armature is in rest position"
OTHER_BONES = "armature has other bones since the last update"


class GoneError(Exception):
    """An object or a bone isn't there any more, though a set-up names it."""


@dataclass
class Evaluation:
    """Everything that one evaluation reads and finds; lives only while it runs."""

    depsgraph: bpy.types.Depsgraph
    frame: float
    frames_per_second: float
    is_fresh: bool
    is_played: bool = False
    is_read_anew: bool = False
    rigs: dict[marks.Key, Rig] = field(default_factory=dict)
    said: dict[tuple[marks.Key, str], readouts.Readout] = field(default_factory=dict)
    words: Words | None = None
    objects: dict[marks.Key, bpy.types.Object] = field(default_factory=dict)
    together: Together | None = None
    _carrying: set[marks.Key] = field(default_factory=set)
    _has_noted: bool = False

    @property
    def readouts(self) -> dict[tuple[marks.Key, str], readouts.Readout]:
        """What is said of each chain. Of those that are solved together it is put into words here."""
        words, self.words = self.words, None
        if words is not None:
            for key, rig in self.rigs.items():
                told = words.of_rig(rig.obj.session_uid)
                self.said.update({(key, tip): readout for tip, readout in told.items()})
        return self.said

    def object_of(self, key: marks.Key) -> bpy.types.Object:
        """The original object of a key: a rig, a target or a pole (no look-up by name, which walks all objects)."""
        obj = self.objects.get(key)
        if obj is None and not self._has_noted:
            self._has_noted = True
            for rig in self.rigs.values():
                _note_objects(self, rig)
            obj = self.objects.get(key)
        if obj is None:
            try:
                obj = self.objects[key] = object_at(key)
            except KeyError:
                raise GoneError(key[0]) from None
        return obj

    def world(self, obj: bpy.types.Object) -> Matrix:
        """World matrix of an object, carried along by the solved bones it hangs on (rigidly, at any depth)."""
        evaluated = obj.evaluated_get(self.depsgraph)
        matrix, parent = evaluated.matrix_world, obj.parent
        parent_bone = obj.parent_bone if obj.parent_type == 'BONE' else ""
        moved = None if parent is None else self._carry(parent, parent_bone)
        if len(obj.constraints) and (constraint := hanging.carrying(evaluated)) is not None:
            return self._held(constraint, matrix, moved)
        return matrix if moved is None else moved @ matrix

    def _held(self, constraint: Any, before: Matrix, by_parent: Matrix | None) -> Matrix:
        """World matrix of what one constraint holds rigidly: as evaluated, and how its parent alone moved it."""
        hold = next(hanging.holds_by(constraint))
        moved = self._carry(hold.obj, hold.bone)
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
        """How an object moved whose parent's matrix a constraint multiplies, where solving moved both.

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
        if constraint.type == 'ARMATURE' and (carried := self._carry(hold.obj, "")) is not None:
            after = after @ carried.inverted_safe()
        return after @ by_parent @ factor.inverted_safe()

    def _carry(self, obj: bpy.types.Object, bone_name: str) -> Matrix | None:
        """World matrix by which solving moved what hangs on an object or a bone of it; None where it moved nothing."""
        before, key = obj.evaluated_get(self.depsgraph).matrix_world, marks.key_of(obj)
        if key in self._carrying:
            return None  # constraints in a circle, which Blender allows
        self._carrying.add(key)
        try:
            after = self.world(obj)
        finally:
            self._carrying.discard(key)
        rig = self.rigs.get(key) if bone_name else None
        bone = rig.setup.index.get(bone_name, -1) if rig else -1
        if rig is not None and bone >= 0 and rig.state.new(bone) is not rig.state.old(bone):
            return after @ rig.state.new(bone) @ rig.state.old(bone).inverted_safe() @ before.inverted_safe()
        return None if after is before or after == before else after @ before.inverted_safe()

    def bone_world(self, obj: bpy.types.Object, bone_name: str) -> Matrix:
        """World matrix of a bone of any armature, with the bones that were solved before."""
        rig = self.rigs.get(marks.key_of(obj))
        if rig is not None:
            return self.world(obj) @ rig.state.new(rig.setup.index[bone_name])
        bone = pose_bones(obj.evaluated_get(self.depsgraph)).get(bone_name)
        if bone is None:
            raise GoneError(bone_name)
        return self.world(obj) @ cast(Matrix, bone.matrix)

    def linked_world(self, link: tuple[marks.Key, str]) -> Matrix:
        """World matrix of a target or pole."""
        key, bone_name = link
        obj = self.object_of(key)
        return self.bone_world(obj, bone_name) if bone_name else self.world(obj)


def evaluate(
    depsgraph: bpy.types.Depsgraph,
    objects: Iterable[bpy.types.Object],
    frame: float,
    *,
    is_fresh: bool,
    is_forced: bool = False,
    only: Sequence[tuple[marks.Key, str]] | None = None,
    stayed: Collection[int] = (),
    is_played: bool = False,
) -> Evaluation:
    """Solve every chain of the given armatures that the depsgraph holds.

    Args:
        depsgraph: where poses, targets and animated settings are read.
        objects: original armature objects.
        frame: the frame with its fraction.
        is_fresh: the evaluated rotations **are** FK (after a frame change); else FK is told from
            what IK wrote by the store on the original bones.
        is_forced: solve rigs whose ``is_live`` is off, too (bake).
        only: keys and tips of the chains to solve; None for all. The others keep FK.
        stayed: session numbers of rigs that still are as IK posed them, though the others are fresh.
        is_played: frames are shown one after the other, so what was read for the one before may be recalled.

    Raises nothing for a chain that can't be solved: it is ``INVALID`` and costs the others nothing.
    """
    rigs, render = list(objects), cast(bpy.types.Scene, depsgraph.scene).render

    def run(*, is_read_anew: bool) -> Evaluation:
        return Evaluation(depsgraph, frame, render.fps / render.fps_base, is_fresh, is_played, is_read_anew)

    try:
        return _evaluate(run(is_read_anew=False), rigs, is_forced, only, stayed)
    except GoneError:  # removed since set-ups were read, and no update told of it
        marks.names_may_have_changed()
        return _evaluate(run(is_read_anew=True), rigs, is_forced, only, stayed)


def _evaluate(
    run: Evaluation,
    objects: Iterable[bpy.types.Object],
    is_forced: bool,
    only: Sequence[tuple[marks.Key, str]] | None,
    stayed: Collection[int],
) -> Evaluation:
    for obj in objects:
        _add_rig(run, obj, is_forced, run.is_fresh and obj.session_uid not in stayed)
    done = crowd.solve(run, only)
    if len(done) < sum(len(rig.setup.chains) for rig in run.rigs.values()):
        chains = [(rig, chain) for rig in run.rigs.values() for chain in rig.setup.chains]
        for rig, chain in order.sorted_chains(run, chains):
            node = marks.key_of(rig.obj), chain.tip
            if node not in done and (only is None or node in only):
                _solve(run, rig, chain)
    return run


def _add_rig(run: Evaluation, obj: bpy.types.Object, is_forced: bool, is_fresh: bool) -> None:
    evaluated = obj.evaluated_get(run.depsgraph)
    if not evaluated.is_evaluated or obj.pose is None:
        return
    setup = setup_of(obj)
    run.objects[marks.key_of(obj)] = obj
    reason = IN_EDIT_MODE if obj.mode == 'EDIT' else ""
    if armature_data(obj).pose_position == 'REST':
        reason = IN_REST_POSITION
    if reason:
        _say_all(run, obj, readouts.Readout(message=reason))
        return
    if len(pose_bones(evaluated)) != len(setup.names):
        if not run.is_read_anew:
            raise GoneError(obj.name)
        _say_all(run, obj, readouts.Readout(Status.INVALID, message=OTHER_BONES))
        return
    is_live = is_forced or object_settings(obj).is_live
    run.rigs[marks.key_of(obj)] = Rig(obj, evaluated, setup, run.frame, is_fresh=is_fresh, is_live=is_live)


def _note_objects(run: Evaluation, rig: Rig) -> None:
    """Keep a rig's targets and poles by their keys while this evaluation runs."""
    bones: Any = pose_bones(rig.obj)
    for chain in rig.setup.chains:
        tip = bones[chain.bones[-1]]
        if chain.target_key is not None:
            run.objects[chain.target_key[0]] = tip.limb_ik_target
        if chain.pole_key is not None:
            run.objects[chain.pole_key[0]] = tip.limb_ik_pole


def _say_all(run: Evaluation, obj: bpy.types.Object, readout: readouts.Readout) -> None:
    """The same for every chain of a rig; its set-up isn't asked, which can't be read in edit mode."""
    for tip in dependency.tips_of(obj):
        run.said[marks.key_of(obj), tip.name] = readout


def _solve(run: Evaluation, rig: Rig, chain: ChainSetup) -> None:
    key = marks.key_of(rig.obj), chain.tip
    if chain.is_muted or not rig.is_live:
        run.said[key] = readouts.IDLE
    elif problem := chain.problem or _held(rig, chain):
        run.said[key] = readouts.Readout(Status.INVALID, message=problem)
    else:
        run.said[key] = _solved(run, rig, chain)


def _solved(run: Evaluation, rig: Rig, chain: ChainSetup) -> readouts.Readout:
    try:
        return solve_chain.solve(run, rig, chain)
    except GoneError as error:
        if not run.is_read_anew:
            raise
        return readouts.Readout(Status.INVALID, message=f"'{error}' isn't there any more")


def _held(rig: Rig, chain: ChainSetup) -> str:
    """Why a chain can't be solved at this moment: a constraint whose influence is animated acts on a bone it turns."""
    bones = (bone for bone in chain.turned if bone in rig.setup.is_constrained)
    return next((words for bone in bones if (words := rig.constraint_on(bone))), "")
