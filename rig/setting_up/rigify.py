"""Generated Rigify rigs: FK controls do nothing while a limb's ``IK_FK`` is 0, so set-up switches them on.

The FK controls first take the pose that is seen, then ``IK_FK`` becomes 1: the pose stays as
it is. This module must not add a chain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import animated_range, fk_pose
from ..errors import LimbIKError
from .setup import ChainPlan

SWITCH = "IK_FK"
# A control "upper_arm_fk.L" shows what "ORG-upper_arm.L" shows; its switch lies on "upper_arm_parent.L".
FK_CONTROL = re.compile(r"(?P<base>.+)_fk(?P<side>\.[LR](?:\.\d+)?|)")


@dataclass
class Switched:
    """What was switched: values of ``IK_FK`` before by the bone that holds it, FK controls' rotations before."""

    values: dict[str, float] = field(default_factory=dict)
    raws: dict[str, fk_pose.Raw] = field(default_factory=dict)


def switch_to_fk(context: Any, obj: Any, plans: Sequence[ChainPlan]) -> Switched:
    """Let the FK controls that chains will turn move the rig; its pose stays as it is.

    Args:
        context: gives the view layer.
        obj: the armature object.
        plans: chains to be added.

    Raises:
        LimbIKError: the rig is animated, so its pose at other frames would change; nothing was changed.
    """
    done = Switched()
    waiting = [(plan, holder) for plan in plans if (holder := _holder(obj, plan)) is not None]
    if waiting and animated_range.animation_range(obj) is not None:
        name = waiting[0][1].name
        raise LimbIKError(f"'{obj.name}' is animated by Rigify's own IK ('{name}'): put that motion onto FK first")
    for plan, holder in waiting:
        _pose_fk(context, obj, plan, done)
        done.values[holder.name] = holder[SWITCH]
        holder[SWITCH] = 1.0
    if waiting:
        _refresh(context, obj)
    return done


def put_back(context: Any, obj: Any, done: Switched) -> None:
    """Undo ``switch_to_fk``."""
    for name, value in done.values.items():
        obj.pose.bones[name][SWITCH] = value
    for name, raw in done.raws.items():
        bone = obj.pose.bones[name]
        setattr(bone, fk_pose.channel(bone.rotation_mode), raw)
    if done.values:
        _refresh(context, obj)


def _refresh(context: Any, obj: Any) -> None:
    obj.update_tag()
    context.view_layer.update()


def switches(obj: Any) -> dict[str, float]:
    """The rig's ``IK_FK`` values by the bone that holds them."""
    found = {bone.name: bone.get(SWITCH) for bone in obj.pose.bones}
    return {name: float(value) for name, value in found.items() if isinstance(value, (int, float))}


def _root(obj: Any, plan: ChainPlan) -> Any:
    tip = obj.pose.bones.get(plan.tip)
    row = [tip, *tip.parent_recursive] if tip is not None else []
    return row[: plan.chain_length or None][-1] if row else None


def _holder(obj: Any, plan: ChainPlan) -> Any:
    """The bone whose ``IK_FK`` keeps the chain's controls from moving the rig, None where nothing does."""
    root = _root(obj, plan)
    found = FK_CONTROL.fullmatch(root.name) if root is not None else None
    if found is None:
        return None
    holder = obj.pose.bones.get(f"{found['base']}_parent{found['side']}")
    value = holder.get(SWITCH) if holder is not None else None
    return holder if isinstance(value, (int, float)) and value < 1.0 else None


def _pose_fk(context: Any, obj: Any, plan: ChainPlan, done: Switched) -> None:
    """Turn the FK controls of a limb, and those below its end, onto the pose that is seen; parents first."""
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    seen = {bone.name: evaluated.pose.bones[f"ORG-{plain}"].matrix.copy() for bone, plain in _controls(obj, plan)}
    for name, matrix in seen.items():
        bone = obj.pose.bones[name]
        done.raws[name] = fk_pose.read_raw(bone)
        location, scale = bone.location.copy(), bone.scale.copy()
        bone.matrix = matrix
        bone.location, bone.scale = location, scale
        context.view_layer.update()


def _controls(obj: Any, plan: ChainPlan) -> list[tuple[Any, str]]:
    """FK controls from the chain's root down, with the name of what they show."""
    root = _root(obj, plan)
    chain = obj.pose.bones[plan.tip]
    below = [bone for bone in (root, *root.children_recursive) if FK_CONTROL.fullmatch(bone.name)]
    end = obj.pose.bones.get(plan.end_bone) if plan.end_bone else None
    if end is not None:  # hands and feet hang on bones of their own in a generated rig
        below += [bone for bone in (end, *end.children_recursive) if FK_CONTROL.fullmatch(bone.name)]
    ordered = sorted(dict.fromkeys([*below, chain]), key=lambda bone: len(bone.parent_recursive))
    named = [(bone, FK_CONTROL.fullmatch(bone.name)) for bone in ordered]
    plain = [(bone, f"{found['base']}{found['side']}") for bone, found in named if found is not None]
    return [(bone, name) for bone, name in plain if f"ORG-{name}" in obj.pose.bones]
