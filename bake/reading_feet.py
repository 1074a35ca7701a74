"""Reads the motion of feet and hands over a range: where each is seen, and what its target would need to be there.

Reads frames only; nothing is keyed or changed here. Space: world.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from mathutils import Matrix, Vector

from ..rig import marks, match, posed_chain, solve_chain
from ..rig.bone_rows import line_above
from ..rig.chains import ChainSetup, setup_of
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation, Rig
from ..rig.hanging import Unmoved
from ..rig.sampling import sampled
from ..rig.session import object_at
from ..rig.this_frame import all_but
from ..solvers import rotations
from ..solvers.arrays import Floats
from .feet import LEG, FootMotion, kinds, toe_bone
from .steps import Steps, at_once

# Part of the limb's length by which a target may differ from its place at set-up and still count as not moved.
UNMOVED = 1e-5
# Radians by which a target may be turned from how it was at set-up and still count as not turned (float32 matrices).
UNTURNED = 1e-5


def read_feet_steps(
    context: Any, obj: Any, chains: Sequence[ChainSetup], frames: Sequence[float]
) -> Steps[list[FootMotion]]:
    """Where the ends of chains are seen on each frame.

    In steps: yields frames read and their number. Closed early it changes nothing.

    Args:
        context: gives scene and frame rate.
        obj: the armature object.
        chains: of this armature.
        frames: rising.

    Raises:
        LimbIKError: a chain has offsets on FK that were moved: what is seen isn't FK, and can't be held.
    """
    kind_of = kinds(obj)
    toes = {chain.tip: toe_bone(obj, chain) for chain in chains if kind_of.get(chain.tip) == LEG and chain.end >= 0}

    def read(run: Evaluation) -> list[_Seen]:
        rig = match.rig_of(run, obj)
        return [_read(run, rig, chain, toes.get(chain.tip)) for chain in chains]

    own = {chain.tip for chain in chains if chain.target_space == 'FK'} | _apart(obj, chains)
    unsolved = {(marks.key_of(obj), tip) for tip in own}
    samples: list[list[_Seen]] = []
    taken = sampled(context, [obj], frames, read, only=all_but(unsolved))
    try:
        for row in taken:
            samples.append(row)
            yield len(samples), len(frames)
    finally:
        taken.close()
    at = np.asarray(frames, dtype=np.float64)
    return [
        _motion(obj, chain, kind_of.get(chain.tip, ""), at, [row[number] for row in samples])
        for number, chain in enumerate(chains)
    ]


read_feet = at_once(read_feet_steps)


def _apart(obj: Any, chains: Sequence[ChainSetup]) -> set[str]:
    """Tips of other chains of the armature that can't move these: they need not be solved."""
    keys = [key for chain in chains for key in (chain.target_key, chain.pole_key, chain.ground_key)]
    links, unmoved = [link for link in keys if link is not None], Unmoved()
    if any(bone or not unmoved.is_free(object_at(key)) for key, bone in links):
        return set()
    setup = setup_of(obj)
    roots = [setup.parents[chain.bones[0]] for chain in chains]
    above = {bone for root in roots for bone in line_above(setup.parents, root)}
    named = {chain.tip for chain in chains}
    return {one.tip for one in setup.chains if one.tip not in named and not above & {*one.bones, one.end}}


class _Seen(NamedTuple):
    """One chain on one frame; the fields of ``FootMotion``."""

    roots: Vector
    ends: Vector
    turns: rotations.Quat
    lengths: float
    reaches: float
    targets: Matrix
    above: Matrix
    toes: Vector | None
    toe_ends: Vector | None
    poles: Vector | None
    poles_above: Matrix | None


def _read(run: Evaluation, rig: Rig, chain: ChainSetup, toe: str | None) -> _Seen:
    if problem := posed_chain.scale_problem(rig.state, chain):
        raise LimbIKError(f"'{chain.tip}' of '{rig.obj.name}': {problem}")
    assert chain.target_key is not None  # a chain without is a problem, which ``chosen.solvable`` refuses
    posed, world = posed_chain.read_chain(rig.state, chain), run.world(rig.obj)
    tip = rig.state.bones[chain.bones[-1]]
    length = posed_chain.length_of(posed) * posed_chain.world_scale(rig.state)
    end_bone = chain.end if chain.end >= 0 else chain.bones[-1]
    target, above = run.linked_world(chain.target_key).copy(), _above(run, chain.target_key)
    pole = chain.pole_key if chain.solver in solve_chain.POLE_DIRECTIONS else None
    if chain.target_space == 'FK':
        _refuse_moved(chain, world, target, None if pole is None else run.linked_world(pole), length)
    return _Seen(
        roots=world @ posed.joints[0].head,
        ends=world @ posed.end,
        turns=rotations.multiply(rotations.from_matrix(world), rig.state.rotation(end_bone)),
        lengths=length,
        reaches=length * tip.limb_ik_max_reach * (1.0 - tip.limb_ik_softness),
        targets=target,
        above=above,
        toes=None if toe is None else world @ _toe_point(rig, chain, toe),
        toe_ends=world @ rig.state.tail(rig.setup.index[toe]) if toe else None,
        poles=None if pole is None else world @ solve_chain.fk_pole_point(chain, posed, tip.limb_ik_pole_angle),
        poles_above=None if pole is None else _above(run, pole),
    )


def _toe_point(rig: Rig, chain: ChainSetup, toe: str) -> Vector:
    return rig.state.head(rig.setup.index[toe]) if toe else rig.state.tail(chain.end)


def _refuse_moved(chain: ChainSetup, world: Matrix, target: Matrix, pole: Matrix | None, length: float) -> None:
    """Offsets on FK are no FK: where they act they have to be baked before."""
    near = UNMOVED * (length + world.translation.length)
    acting = [("target", target, world @ chain.target_rest)]
    acting += [] if pole is None else [("pole", pole, world @ chain.pole_rest)]
    moved = [role for role, now, at_setup in acting if (now.translation - at_setup.translation).length > near]
    if chain.end_rotation == 'TARGET':
        turns = rotations.from_matrix(target), rotations.from_matrix(world @ chain.target_rest)
        moved += ["target"] if rotations.angle_between(*turns) > UNTURNED else []
    if moved:
        raise LimbIKError(
            f"the {moved[0]} of '{chain.tip}' is an offset on the motion and was moved: bake that chain first"
        )


def _above(run: Evaluation, link: marks.Link) -> Matrix:
    """What a control hangs on: its world matrix = this · its own location and rotation (and scale)."""
    obj, bone_name = run.object_of(link[0]), link[1]
    evaluated: Any = obj.evaluated_get(run.depsgraph)
    basis: Matrix = evaluated.pose.bones[bone_name].matrix_basis if bone_name else evaluated.matrix_basis
    world: Matrix = run.bone_world(obj, bone_name) if bone_name else evaluated.matrix_world
    above = world @ basis.inverted_safe()
    if above.determinant() == 0.0:
        raise LimbIKError(f"'{bone_name or obj.name}' hangs on what is scaled to nothing: nothing can place it")
    return above


def _motion(obj: Any, chain: ChainSetup, kind: str, frames: Floats, seen: Sequence[_Seen]) -> FootMotion:
    def column(name: str) -> Floats:
        return np.array([getattr(one, name) for one in seen], dtype=np.float64)

    def column_if_any(name: str) -> Floats | None:
        return None if getattr(seen[0], name) is None else column(name)

    if not column("lengths").max() > 0.0:
        raise LimbIKError(f"the limb that ends at '{chain.tip}' of '{obj.name}' is collapsed to zero length")
    return FootMotion(
        chain,
        kind,
        frames,
        roots=column("roots"),
        ends=column("ends"),
        turns=column("turns"),
        lengths=column("lengths"),
        reaches=column("reaches"),
        targets=column("targets"),
        above=column("above"),
        toes=column_if_any("toes"),
        toe_ends=column_if_any("toe_ends"),
        poles=column_if_any("poles"),
        poles_above=column_if_any("poles_above"),
    )
