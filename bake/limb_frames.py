"""What is read of plain limbs over many frames, as arrays, and the reader that goes from frame to frame.

Works where the evaluated pose is FK. This module must not solve or write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ..rig import fk_pose, solve_chain
from ..rig.crowd.asked import NO_POLE
from ..rig.crowd.read import between
from ..rig.evaluate import Evaluation
from ..rig.marks import Link
from ..rig.session import frames_per_second, object_at, pose_bones
from ..solvers.arrays import Floats
from .quaternions import to_quaternions
from .stretches import Stretch

Singles = NDArray[np.float32]
IDENTITY_ROW = np.identity(4, np.float32).reshape(16)


class LimbFrames(NamedTuple):
    """Limbs in FK. First axes: frames, then chains; bones are upper, lower and end.

    ``above``: the bone above the upper one, armature space. ``between``: from upper and from lower bone to the parent
    of the bone after it, the identity where that is the bone itself. ``locations``, ``turns``, ``scales``: the bones'
    own channels (quaternions); ``near``: their raw rotations at the first frame. ``worlds``: the armature object
    (no axis of chains). ``targets``: matrices in the world; ``poles``: places in the world, not a number where there
    is none. ``settings``: weight, pole angle, softness and largest reach.
    """

    above: Floats
    between: Floats
    locations: Floats
    turns: Floats
    scales: Floats
    near: tuple[tuple[fk_pose.Raw, ...], ...]
    worlds: Floats
    targets: Floats
    poles: Floats
    settings: Floats

    def some(self, numbers: Sequence[int]) -> LimbFrames:
        """Some of the frames; ``near`` stays."""
        arrays = {name: getattr(self, name)[numbers] for name in self._fields if name != "near"}
        return self._replace(**arrays)


class FrameReader:
    """Reads a stretch frame by frame; what was read comes out as ``LimbFrames``."""

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch
        self.channels = sorted({fk_pose.channel(mode) for row in stretch.modes for mode in row})
        self.matrices: list[Singles] = []
        self.bases: list[tuple[Singles, ...]] = []
        self.worlds: list[Sequence[float]] = []
        self.targets: list[list[Sequence[float]]] = []
        self.poles: list[list[Sequence[float]]] = []
        self.settings: list[list[tuple[float, ...]]] = []
        plan, numbers = stretch.plan, list(stretch.numbers)
        self._seen = np.column_stack((plan.parents[numbers], plan.bones[numbers, :2], plan.carriers[numbers]))
        self._own = plan.bones[numbers]

    def read(self, depsgraph: Any, frame: float) -> bool:
        """Read the frame that is evaluated; False where the armature isn't."""
        obj: Any = self.stretch.work.obj.evaluated_get(depsgraph)
        if not obj.is_evaluated:
            return False
        bones = obj.pose.bones
        matrices = np.concatenate((_bulk(bones, "matrix", 16), IDENTITY_ROW[None]))
        self.matrices.append(matrices[self._seen])
        names = ("location", "scale", *self.channels)
        self.bases.append(tuple(_bulk(bones, name, fk_pose.WIDTHS.get(name, 3))[self._own] for name in names))
        self.worlds.append(_flat(obj.matrix_world))
        self.targets.append([_flat(_world(depsgraph, link)) for link in self.stretch.targets])
        self.poles.append([_place(depsgraph, link) for link in self.stretch.poles])
        self.settings.append(self._settings(depsgraph, frame, obj))
        return True

    def _settings(self, depsgraph: Any, frame: float, obj: Any) -> list[tuple[float, ...]]:
        """Weight, pole angle, softness and largest reach of each chain; read anew where they may change."""
        before, animated = self.settings[-1] if self.settings else None, self.stretch.animated
        if before is not None and not any(animated):
            return before
        run = Evaluation(depsgraph, frame, frames_per_second(depsgraph.scene), True)
        found: list[tuple[float, ...]] = []
        for chain in self.stretch.work.chains:
            tip = obj.pose.bones[chain.bones[-1]]
            weight = solve_chain.effective_weight(run, self.stretch.work.obj, tip, chain)
            found.append((weight, tip.limb_ik_pole_angle, tip.limb_ik_softness, tip.limb_ik_max_reach))
        return found

    def frames(self) -> LimbFrames:
        """Everything that was read."""
        seen = np.array(self.matrices, dtype=np.float64)
        seen = seen.reshape(*seen.shape[:-1], 4, 4).swapaxes(-1, -2)
        locations, scales, *raw = (np.array(part, dtype=np.float64) for part in zip(*self.bases, strict=True))
        turns, near = self._turns(dict(zip(self.channels, raw, strict=True)))
        return LimbFrames(
            above=seen[:, :, 0],
            between=between_bones(self.stretch, seen[:, :, 1:3], seen[:, :, 3:5]),
            locations=without_connected(self.stretch, locations),
            turns=turns,
            scales=scales,
            near=near,
            worlds=np.array(self.worlds).reshape(-1, 4, 4),
            targets=np.array(self.targets).reshape(len(seen), -1, 4, 4),
            poles=np.array(self.poles),
            settings=np.array(self.settings),
        )

    def _turns(self, raw: dict[str, Floats]) -> tuple[Floats, tuple[tuple[fk_pose.Raw, ...], ...]]:
        modes = self.stretch.modes
        columns = [
            [raw[fk_pose.channel(mode)][:, i, part] for part, mode in enumerate(row)] for i, row in enumerate(modes)
        ]
        turns = [
            [to_quaternions(values, mode) for values, mode in zip(own, row, strict=True)]
            for own, row in zip(columns, modes, strict=True)
        ]
        near = tuple(tuple(tuple(values[0].tolist()) for values in own) for own in columns)
        return np.array(turns).transpose(2, 0, 1, 3), near


def looker(readers: Sequence[FrameReader]) -> Callable[[bpy.types.Depsgraph, Any, float], bool]:
    """A function that reads one frame into the readers; False where an armature isn't evaluated there."""

    def look(depsgraph: Any, _held: object, frame: float) -> bool:
        found = [reader.read(depsgraph, frame) for reader in readers]  # all of them, whatever the first says
        return all(found)

    return look


def without_connected(stretch: Stretch, locations: Floats) -> Floats:
    """Locations of upper, lower and end bone; connected bones have none."""
    return np.where(stretch.plan.is_connected[list(stretch.numbers)][..., None], 0.0, locations)


def between_bones(stretch: Stretch, own: Floats, carriers: Floats) -> Floats:
    """From upper and lower bone to the parents of the bones after them (frames × chains × 2 × 4 × 4)."""
    is_direct = stretch.plan.is_direct[list(stretch.numbers)]
    return between(np.broadcast_to(is_direct, own.shape[:-2]), own, carriers)


def _bulk(bones: Any, name: str, width: int) -> Singles:
    values = np.empty(width * len(bones), np.float32)
    bones.foreach_get(name, values)
    return values.reshape(-1, width)


def _flat(matrix: Any) -> Sequence[float]:
    return (*matrix[0], *matrix[1], *matrix[2], *matrix[3])


def _world(depsgraph: Any, link: Link) -> Any:
    key, bone = link
    seen = object_at(key).evaluated_get(depsgraph)
    return seen.matrix_world @ pose_bones(seen)[bone].matrix if bone else seen.matrix_world


def _place(depsgraph: Any, link: Link | None) -> Sequence[float]:
    return NO_POLE if link is None else tuple(_world(depsgraph, link).translation)
