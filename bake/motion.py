"""Set-up on armatures that move: the motion goes on when chains are added.

Joins ``rig/setting_up/setup.py`` with the keys of match. ``FK`` makes target and pole offsets on the
motion, ``KEYS`` keys them along it, ``STILL`` leaves them where the current frame has them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from mathutils import Quaternion

from ..rig import animated_range
from ..rig.bone_rows import row_up
from ..rig.chain_setup import HINGED
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation
from ..rig.match import rig_of
from ..rig.sampling import sample
from ..rig.setting_up import removal, rigify, setup
from ..rig.setting_up.bend import BendSample, bend_axis_from_motion
from ..rig.setting_up.setup import ChainPlan
from .match_ik import match_ik
from .ranges import frames_between

MOTIONS = ('AUTO', 'FK', 'KEYS', 'STILL')
# So many poses show about which axis a limb bends; more cost time and change nothing.
MOST_SAMPLES = 60
Joints = tuple[str, str, str]


def add_limbs(
    context: Any,
    obj: Any,
    *,
    arms: bool = True,
    legs: bool = True,
    target_kind: str = 'EMPTY',
    motion: str = 'AUTO',
    only: Collection[str] | None = None,
) -> list[str]:
    """Find arms and legs and add a chain for each, all or none; the motion goes on.

    Args:
        context: gives scene and view layer.
        obj: the armature object.
        arms: add arms.
        legs: add legs.
        target_kind: ``EMPTY`` or ``BONE``.
        motion: ``FK``, ``KEYS``, ``STILL``, or ``AUTO``: ``FK`` where the armature is animated, else ``STILL``.
        only: tips of the limbs that get a chain; None: all that are found.

    Returns:
        The tips of the new chains.

    Raises:
        LimbIKError: bad input, in one sentence; nothing was changed.
    """
    setup.check_armature(obj)
    motion = settled_motion(obj, motion)
    space = 'FK' if motion == 'FK' else 'WORLD'
    plans = setup.limb_plans(obj, arms=arms, legs=legs, target_kind=target_kind, target_space=space)
    if only is not None:
        plans = [plan for plan in plans if plan.tip in only]
    if not plans:
        raise LimbIKError("no limb is chosen")
    return _add(context, obj, plans, motion)


def add_chain(context: Any, obj: Any, plan: ChainPlan, motion: str = 'STILL') -> str:
    """Add one chain; ``motion`` and errors as in ``add_limbs``. Returns its tip."""
    return add_chains(context, obj, [plan], motion)[0]


def add_chains(context: Any, obj: Any, plans: Sequence[ChainPlan], motion: str = 'STILL') -> list[str]:
    """Add several chains, all or none; ``motion`` and errors as in ``add_limbs``. Returns their tips."""
    setup.check_armature(obj)
    motion = settled_motion(obj, motion)
    if motion == 'FK':
        plans = [replace(plan, target_space='FK') for plan in plans]
    return _add(context, obj, plans, motion)


def settled_motion(obj: Any, motion: str) -> str:
    """``FK``, ``KEYS`` or ``STILL``.

    Raises:
        LimbIKError: no such choice, or keys are asked for where nothing moves.
    """
    if motion not in MOTIONS:
        raise LimbIKError(f"motion can be {', '.join(MOTIONS)}, not {motion!r}")
    is_animated = animated_range.animation_range(obj) is not None
    if motion == 'AUTO':
        return 'FK' if is_animated else 'STILL'
    if motion == 'KEYS' and not is_animated:
        raise LimbIKError(f"'{obj.name}' has no animation to key targets along")
    return motion


def _add(context: Any, obj: Any, plans: Sequence[ChainPlan], motion: str) -> list[str]:
    switched = rigify.switch_to_fk(context, obj, plans)
    try:
        return _add_to_fk(context, obj, plans, motion)
    except LimbIKError:
        rigify.put_back(context, obj, switched)
        raise


def _add_to_fk(context: Any, obj: Any, plans: Sequence[ChainPlan], motion: str) -> list[str]:
    if motion == 'STILL':
        return setup.add_chains(context, obj, plans)
    frames = frames_between(context, obj)
    tips = setup.add_chains(context, obj, hinged_by_motion(context, obj, plans, frames))
    if motion == 'KEYS':
        try:
            match_ik(context, obj, tips, frames)
        except LimbIKError:
            removal.remove_chains(context, obj, tips)
            raise
    return tips


def hinged_by_motion(context: Any, obj: Any, plans: Sequence[ChainPlan], frames: Sequence[float]) -> list[ChainPlan]:
    """The plans with the hinge that the motion shows, where it shows one.

    Args:
        context: gives the scene.
        obj: the armature object.
        plans: chains to be added.
        frames: the range of the motion; some of them are looked at.
    """
    joints = {plan.tip: found for plan in plans if (found := _joints(obj, plan)) is not None}
    if not joints:
        return list(plans)
    picked = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), MOST_SAMPLES)).round().astype(int))

    def read(run: Evaluation) -> dict[str, BendSample]:
        return {tip: _bend_sample(run, obj, names) for tip, names in joints.items()}

    samples = sample(context, [obj], [frames[i] for i in picked], read, is_solved=False)
    axes = {tip: bend_axis_from_motion(taken[tip] for taken in samples) for tip in joints}
    return [plan if axes.get(plan.tip) is None else replace(plan, bend_axis=axes[plan.tip]) for plan in plans]


def _joints(obj: Any, plan: ChainPlan) -> Joints | None:
    """Root bone, mid bone and end bone (empty: tail of the mid bone) of a limb; None where there is no such limb."""
    tip: Any = obj.pose.bones.get(plan.tip)
    if tip is None or plan.solver not in HINGED or plan.bend_axis is not None:
        return None
    row = row_up(tip, plan.chain_length)
    if len(row) < 2 or len(row) < plan.chain_length:
        return None
    end = setup.guess_end_bone(tip) if plan.end_bone is None else plan.end_bone
    if end and end not in obj.pose.bones:
        return None
    if plan.solver == 'LEG' and len(row) > 2:
        return row[-1].name, row[-2].name, row[-3].name
    return row[-1].name, tip.name, end


def _bend_sample(run: Evaluation, obj: Any, names: Joints) -> BendSample:
    state = rig_of(run, obj).state
    index = state.setup.index
    root, mid = index[names[0]], index[names[1]]
    end = state.head(index[names[2]]) if names[2] else state.tail(mid)
    return BendSample(state.head(root).copy(), state.head(mid).copy(), end.copy(), Quaternion(state.rotation(root)))
