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
from . import dependency, marks, order, readouts, solve_chain
from .carried import Carrier, fixed_for
from .chains import ChainSetup, RigSetup, setup_of
from .crowd import solving as crowd
from .crowd.turn import Together
from .crowd.words import Words
from .evaluated_rig import Rig
from .session import armature_data, is_in_edit_mode, object_at, object_settings, pose_bones

__all__ = ["Evaluation", "Rig", "evaluate"]

IN_EDIT_MODE = "armature is in edit mode"
IN_REST_POSITION = "armature is in rest position"
OTHER_BONES = "armature has other bones since the last update"


# By session number of a rig, the set-up for which its bones were counted last.
_counted: dict[int, RigSetup] = {}


class GoneError(Exception):
    """An object or a bone isn't there any more, though a set-up names it."""


STALE = (GoneError, IndexError, KeyError)
"""How it shows that a set-up no longer fits its rig: by what it names, or by the number of a bone."""


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
    _has_noted: bool = False

    def __post_init__(self) -> None:
        """Nothing is solved yet."""
        self.carrier = Carrier(self.depsgraph, self.rigs)

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
        return self.carrier.world(obj)

    def bone_world(self, obj: bpy.types.Object, bone_name: str) -> Matrix:
        """World matrix of a bone of any armature, with the bones that were solved before."""
        found = self.carrier.bone_world(obj, bone_name)
        if found is None:
            raise GoneError(bone_name)
        return found

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
    except STALE:  # removed since set-ups were read, and no update told of it
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
    setup, key = setup_of(obj), marks.key_of(obj)
    run.objects[key] = obj
    reason = IN_EDIT_MODE if is_in_edit_mode(obj) else ""
    if armature_data(obj).pose_position == 'REST':
        reason = IN_REST_POSITION
    if reason:
        _say_all(run, obj, readouts.Readout(message=reason))
        return
    if not _has_its_bones(obj.session_uid, evaluated, setup):
        if not run.is_read_anew:
            raise GoneError(obj.name)
        _say_all(run, obj, readouts.Readout(Status.INVALID, message=OTHER_BONES))
        return
    is_live = is_forced or object_settings(obj).is_live
    run.rigs[key] = Rig(obj, evaluated, setup, run.frame, is_fresh=is_fresh, is_live=is_live)


def _has_its_bones(uid: int, evaluated: bpy.types.Object, setup: RigSetup) -> bool:
    """Whether there are as many bones as when the set-up was read; asked once of each, since Blender counts them."""
    if _counted.get(uid) is not setup:
        if len(pose_bones(evaluated)) != len(setup.names):
            return False
        _counted[uid] = setup
    return True


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
    run.carrier.fixed = fixed_for(rig, chain)
    try:
        return solve_chain.solve(run, rig, chain)
    except GoneError as error:
        if not run.is_read_anew:
            raise
        return readouts.Readout(Status.INVALID, message=f"'{error}' isn't there any more")
    finally:
        run.carrier.fixed = frozenset()


def _held(rig: Rig, chain: ChainSetup) -> str:
    """Why a chain can't be solved at this moment: a constraint whose influence is animated acts on a bone it turns."""
    bones = (bone for bone in chain.turned if bone in rig.setup.is_constrained)
    return next((words for bone in bones if (words := rig.constraint_on(bone))), "")
