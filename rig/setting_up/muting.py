"""Muting constraints for good: what animates their muting is muted, too, else it turns them on again.

Must not convert anything or change what a constraint does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .. import compat
from ..constrained import acts


@dataclass
class Muted:
    """Constraints that were muted, and F-curves and drivers of their muting: ``put_back`` turns them on again."""

    constraints: list[Any] = field(default_factory=list)
    curves: list[Any] = field(default_factory=list)

    def put_back(self) -> None:
        """Everything as it was."""
        for curve in self.curves:
            curve.mute = False
        for constraint in self.constraints:
            constraint.mute = False


def mute(obj: Any, constraint: Any, muted: Muted) -> bool:
    """Mute a constraint; whether keys or a driver of its muting had to be muted with it."""
    own = constraint.path_from_id()
    paths = {f"{own}.mute", f"{own}.enabled"}
    every = [*compat.fcurves_of(obj), *(obj.animation_data.drivers if obj.animation_data is not None else ())]
    curves = [curve for curve in every if curve.data_path in paths and not curve.mute]
    for curve in curves:
        curve.mute = True
    constraint.mute = True
    muted.constraints.append(constraint)
    muted.curves += curves
    return bool(curves)


def is_local_limit(constraint: Any) -> bool:
    """Whether a constraint can be joint limits, and acts."""
    return bool(constraint.type == 'LIMIT_ROTATION' and not constraint.mute and constraint.owner_space == 'LOCAL')


def other_constraint(bones: Any) -> str:
    """The first constraint on bones, other than IK and what can be joint limits, that acts now; empty without."""
    for bone in bones:
        for one in bone.constraints:
            if acts(one) and one.type != 'IK' and not is_local_limit(one):
                return f"'{one.name}' on '{bone.name}' acts on a bone that it turns"
    return ""
