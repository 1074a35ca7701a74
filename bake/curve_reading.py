"""Limbs in FK over many frames straight from F-curves, checked against Blender's own evaluation.

The same ``LimbFrames`` as a ``FrameReader`` gives, in a fraction of the time, where nothing but curves moves a rig
and what its limbs reach for. This module must not solve or write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..rig.chains import RigSetup, setup_of
from ..rig.crowd.asked import NO_POLE
from ..rig.marks import Link
from ..rig.session import object_at
from ..solvers.arrays import Floats
from .curve_motion import Motions, are_bones_by_curves, is_by_curves, with_parents
from .limb_frames import LimbFrames, between_bones
from .stretches import Stretch

# Blender multiplies 32-bit floats along the line of parents: relative to the largest number beside.
SAME = 1e-5


def is_possible(stretch: Stretch) -> bool:
    """Whether F-curves alone move the limbs and what they reach for."""
    if any(stretch.animated) or not are_bones_by_curves(stretch.work.obj, stretch.setup, _bones_seen(stretch)):
        return False
    links = [(object_at(key), bone) for key, bone in {link for link in (*stretch.targets, *stretch.poles) if link}]
    movers = with_parents([stretch.work.obj, *(obj for obj, _ in links)])
    return all(map(is_by_curves, movers)) and all(_is_bone_possible(obj, bone) for obj, bone in links if bone)


def _is_bone_possible(obj: bpy.types.Object, bone_name: str) -> bool:
    setup = setup_of(obj)
    return are_bones_by_curves(obj, setup, [setup.index[bone_name]])


def _bones_seen(stretch: Stretch) -> list[int]:
    """Upper, lower and end bones, the bones above the limbs and those between."""
    plan, numbers = stretch.plan, list(stretch.numbers)
    above = [bone for bone in plan.parents[numbers].tolist() if bone < len(stretch.setup.names)]
    return [*above, *plan.bones[numbers].ravel().tolist(), *plan.carriers[numbers].ravel().tolist()]


class CurveReader:
    """Reads one stretch at any frames. To be made while the originals hold FK."""

    def __init__(self, stretch: Stretch, motions: Motions) -> None:
        self.stretch = stretch
        self.world = motions.object(stretch.work.obj)
        self.bones = motions.bones(stretch.work.obj, stretch.setup, _bones_seen(stretch))
        self.targets = [_LinkMotion(link, motions) for link in stretch.targets]
        self.poles = [None if link is None else _LinkMotion(link, motions) for link in stretch.poles]

    def read(self, frames: Sequence[float], settings: Floats) -> LimbFrames:
        """The limbs at these frames; ``settings`` (chains × 4) stay as they are."""
        plan, numbers = self.stretch.plan, list(self.stretch.numbers)
        at, count, bones = np.asarray(frames, dtype=np.float64), len(frames), plan.bones[numbers]
        posed = self.bones.at(at)
        own = [[posed[bone] for bone in row] for row in bones.tolist()]
        seen = self.bones.matrices(posed)
        seen[len(self.stretch.setup.names)] = np.broadcast_to(np.identity(4), (count, 4, 4))
        poles = [np.tile(NO_POLE, (count, 1)) if one is None else one.worlds(at)[:, :3, 3] for one in self.poles]
        return LimbFrames(
            above=_stack(seen, plan.parents[numbers]),
            between=between_bones(self.stretch, _stack(seen, bones[:, :2]), _stack(seen, plan.carriers[numbers])),
            locations=_frames_first([[one.location for one in row] for row in own]),
            turns=_frames_first([[one.turns for one in row] for row in own]),
            scales=_frames_first([[one.scale for one in row] for row in own]),
            near=tuple(tuple(tuple(one.rotation[0].tolist()) for one in row) for row in own),
            worlds=self.world.worlds(at),
            targets=np.stack([one.worlds(at) for one in self.targets], axis=1),
            poles=np.stack(poles, axis=1),
            settings=np.broadcast_to(settings, (count, *settings.shape)),
        )


class _LinkMotion:
    """A target's or pole's matrix in the world over frames: an object's, or that of an armature's bone."""

    def __init__(self, link: Link, motions: Motions) -> None:
        obj, self.number = object_at(link[0]), -1
        self.object, self.bones = motions.object(obj), None
        if link[1]:
            setup: RigSetup = setup_of(obj)
            self.number = setup.index[link[1]]
            self.bones = motions.bones(obj, setup, [self.number])

    def worlds(self, at: Floats) -> Floats:
        worlds = self.object.worlds(at)
        return worlds if self.bones is None else worlds @ self.bones.matrices(self.bones.at(at))[self.number]


def _stack(seen: dict[int, Floats], bones: Any) -> Floats:
    """Matrices of bones (any axes) as frames × those axes × 4 × 4."""
    found = np.stack([seen[bone] for bone in bones.ravel().tolist()], axis=1)
    return found.reshape(len(found), *bones.shape, 4, 4)


def _frames_first(values: Any) -> Floats:
    return np.moveaxis(np.array(values), 2, 0)


def agree(one: LimbFrames, other: LimbFrames) -> bool:
    """Whether two readings of the same frames say the same, but for the rounding of Blender's own numbers."""
    pairs = [
        (getattr(one, name), getattr(other, name)) for name in LimbFrames._fields if name not in {"near", "settings"}
    ]
    return all(_is_same(a, b) for mine, theirs in pairs for a, b in zip(_parts(mine), _parts(theirs), strict=True))


def _parts(values: Floats) -> list[Floats]:
    """Matrices apart into turns with sizes, and places: the two have units of their own."""
    return [values[..., :3, :3], values[..., :3, 3]] if values.shape[-2:] == (4, 4) else [values]


def _is_same(one: Floats, other: Floats) -> bool:
    largest = float(np.nan_to_num(np.abs(other)).max(initial=0.0))
    return bool(np.allclose(one, other, rtol=0.0, atol=SAME * largest, equal_nan=True))
