"""Which armatures' chains can be read over many frames and solved in one go.

Chains that stand for themselves (``rig/crowd/plan`` says which) and hang on nothing that IK moves.
Reads the set-up alone; this module must not read a pose, solve or write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..rig import channels
from ..rig.bone_rows import line_above
from ..rig.chains import ChainSetup, RigSetup, setup_of
from ..rig.crowd import plan as crowd_plan
from ..rig.data_paths import setting_path
from ..rig.hanging import Unmoved
from ..rig.marks import Link
from ..rig.session import armature_data, is_in_edit_mode, object_at
from .reading import BakeWork, rows_of


@dataclass(frozen=True, slots=True)
class Stretch:
    """One armature's plain chains; ``numbers``: of the work's chains in the plan.

    ``animated``: which of them have settings that may change in time. ``modes``: rotation modes of upper, lower and
    end bone.
    """

    work: BakeWork
    setup: RigSetup
    plan: crowd_plan.Plan
    numbers: tuple[int, ...]
    animated: tuple[bool, ...]
    modes: tuple[tuple[str, ...], ...]

    @property
    def targets(self) -> list[Link]:
        """What each chain reaches for, chain by chain."""
        return [chain.target_key for chain in self.work.chains if chain.target_key is not None]

    @property
    def poles(self) -> list[Link | None]:
        """What each chain's joint points at, chain by chain; None where it has no pole."""
        return [chain.pole_key for chain in self.work.chains]


def stretches(works: Sequence[BakeWork]) -> list[Stretch] | None:
    """What reads these works in one go; None where some chain of them has to be evaluated frame by frame."""
    found, unmoved = [], Unmoved()
    for work in works:
        setup = setup_of(work.obj)
        plan = crowd_plan.plan_of(work.obj.session_uid, setup)
        by_tip = {chain.tip: number for number, chain in enumerate(plan.chains)}
        has_rows = [row.chain.tip for row in rows_of(work)] == [chain.tip for chain in work.chains]
        is_plain = has_rows and all(
            chain.tip in by_tip and _reaches_for_unmoved(unmoved, chain) for chain in work.chains
        )
        paths = {path for path, _ in channels.animated_paths(work.obj)}
        is_plain = is_plain and not any(path.endswith(".rotation_mode") for path in paths)
        if not is_plain or not _shows_pose(work.obj) or not unmoved.is_free(work.obj):
            return None
        numbers = tuple(by_tip[chain.tip] for chain in work.chains)
        bones: Any = work.obj.pose.bones
        modes = tuple(tuple(bones[int(bone)].rotation_mode for bone in row) for row in plan.bones[list(numbers)])
        found.append(Stretch(work, setup, plan, numbers, _animated(work, paths), modes))
    return found


def _shows_pose(obj: Any) -> bool:
    return armature_data(obj).pose_position == 'POSE' and not is_in_edit_mode(obj)


def _reaches_for_unmoved(unmoved: Unmoved, chain: ChainSetup) -> bool:
    """Whether target and pole are objects, or bones, that solving doesn't move."""
    links = [(object_at(key), bone) for key, bone in filter(None, (chain.target_key, chain.pole_key))]
    return all(unmoved.is_free(obj) and not (bone and hangs_on_held(setup_of(obj), bone)) for obj, bone in links)


def hangs_on_held(setup: RigSetup, bone_name: str) -> bool:
    """Whether chains turn a bone or one above it, or something beside its own channels moves one of them."""
    moved = {*setup.held, *setup.is_constrained}
    return any(bone in moved for bone in line_above(setup.parents, setup.index.get(bone_name, -1)))


def _animated(work: BakeWork, paths: set[str]) -> tuple[bool, ...]:
    starts = [setting_path(chain.tip, "") for chain in work.chains]
    return tuple(any(path.startswith(start) for path in paths) for start in starts)
