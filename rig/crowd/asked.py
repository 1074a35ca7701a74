"""What the plain chains of many rigs are asked at this moment: settings, targets, poles, as flat lists.

A part of ``crowd``. Settings and places are read from the evaluated rig, whose pointers lead to
evaluated objects. This module must not read poses, solve or write.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain as joined
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import marks
from ..bone_rows import line_above
from ..chains import ChainSetup
from ..hanging import Unmoved
from ..session import pose_bones
from .plan import Floats

if TYPE_CHECKING:
    from ..evaluate import Evaluation, Rig

NO_POLE = (float("nan"),) * 3


class Asked(NamedTuple):
    """What chains are asked, one after the other in the order of their rigs. Space: world.

    ``settings``: weight, pole angle, softness, largest reach. ``places``: of target and pole, not a number where there
    is no pole. ``turns``: the target's 3 x 3; the identity where it turns nothing. ``tails``: length of the lower bone
    where its tail is the end.
    """

    settings: Floats
    places: Floats
    turns: Floats
    tails: Floats


def ask(tips: Sequence[Any], chains: Sequence[ChainSetup], links: Sequence[Any], weights: Sequence[float]) -> Asked:
    """Ask chains by their evaluated tips; ``links``: world matrices of target and pole (None: none), two for each."""
    places = [*joined.from_iterable(NO_POLE if link is None else link.translation[:] for link in links)]
    turns = np.tile(np.identity(3), (len(tips), 1, 1))
    for column in [column for column, chain in enumerate(chains) if chain.end_rotation == 'TARGET']:
        turns[column] = links[2 * column].to_3x3()
    return Asked(
        settings=settings_of(tips, weights),
        places=np.array(places).reshape(-1, 2, 3),
        turns=turns,
        tails=np.array([tip.bone.length if chain.end < 0 else 0.0 for tip, chain in zip(tips, chains, strict=True)]),
    )


def settings_of(tips: Sequence[Any], weights: Sequence[float]) -> Floats:
    """As in ``Asked``."""
    settings = [
        weights,
        [tip.limb_ik_pole_angle for tip in tips],
        [tip.limb_ik_softness for tip in tips],
        [tip.limb_ik_max_reach for tip in tips],
    ]
    return np.array(settings, np.float64).T


def linked_objects(tips: Sequence[Any], has_pole: Sequence[bool], free: Free) -> list[Any]:
    """Evaluated target and pole (None: none) of chains that reach for objects, two for each.

    Empty where solving might move one of them, or one is gone.
    """
    targets = [tip.limb_ik_target for tip in tips]
    poles = [tip.limb_ik_pole if has else None for tip, has in zip(tips, has_pole, strict=True)]
    objects = [*targets, *(pole for pole, has in zip(poles, has_pole, strict=True) if has)]
    if not free.are_free(objects):
        return []
    return [*joined.from_iterable(zip(targets, poles, strict=True))]


def matrices_of(objects: Sequence[Any]) -> list[Any]:
    """World matrices of evaluated objects; None for None."""
    return [None if one is None else one.matrix_world for one in objects]


class Free(Unmoved):
    """What solving can't move in one evaluation, and where that is."""

    def __init__(self, run: Evaluation) -> None:
        super().__init__()
        self.run = run

    def are_free(self, objects: list[Any]) -> bool:
        """``is_free`` for every one of many, in less time; False where one is None."""
        if None in objects or any(len(one.constraints) for one in objects):
            return False
        parents = [one.parent for one in objects]
        hung = [one for one, parent in zip(objects, parents, strict=True) if parent is not None]
        if any(one.parent_type == 'BONE' for one in hung):
            return False
        return all(self.is_free(parent) for parent in set(parents) - {None})

    def world(self, evaluated: Any, link: tuple[marks.Key, str] | None) -> Any:
        """World matrix of a target or pole; None where solving might move it, and where its bone is gone."""
        if evaluated is None or not self.is_free(evaluated):
            return None
        bone_name = link[1] if link else ""
        if not bone_name:
            return evaluated.matrix_world
        rig = self.run.rigs.get(marks.key_of(evaluated))
        if rig is not None and _is_held(rig, bone_name):
            return None
        bone = pose_bones(evaluated).get(bone_name)
        return None if bone is None else evaluated.matrix_world @ bone.matrix

    def links(self, tip: Any, chain: ChainSetup) -> tuple[Any, Any] | None:
        """World matrices of a chain's target and pole (None: it has no pole); None where solving might move one."""
        target = self.world(tip.limb_ik_target, chain.target_key)
        pole = None if chain.pole_key is None else self.world(tip.limb_ik_pole, chain.pole_key)
        return None if target is None or (pole is None and chain.pole_key is not None) else (target, pole)


def _is_held(rig: Rig, bone_name: str) -> bool:
    """Whether a chain of the rig turns a bone or one above it."""
    bone = rig.setup.index.get(bone_name, -1)
    return any(above in rig.setup.held for above in line_above(rig.setup.parents, bone))


def weight_of(tip: Any) -> float:
    """How much of IK a chain has whose switch isn't keyed."""
    return float(tip.limb_ik_weight) if tip.limb_ik_use_ik else 0.0
