"""The ground below a foot along its path: the level of each contact, and what a swing has to clear.

Reads a ground that was evaluated; keys nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mathutils import Matrix, Vector

from ..rig.ground import Ground, Hit, may_move
from ..rig.sampling import sample
from ..solvers import grounding, holding, rows
from ..solvers.arrays import Floats
from ..solvers.contacts import Span
from ..solvers.holding import Held
from .feet import FootMotion


@dataclass(frozen=True)
class Terrain:
    """The ground on every frame. ``places``: its matrices where it moves."""

    ground: Ground
    places: Sequence[Matrix] | None

    @classmethod
    def over(cls, context: Any, obj: Any, on: Any, frames: Floats) -> Terrain:
        """An object's surface as it is over the frames of an armature's motion."""
        surface = Ground(on, context.evaluated_depsgraph_get())
        if not may_move(on):
            return cls(surface, None)
        moments = [float(frame) for frame in frames]
        return cls(surface, sample(context, [obj], moments, lambda run: run.world(on).copy(), beside=[on]))

    def below(self, index: int, point: Floats, from_height: float) -> Hit | None:
        """Where the ground is below a point of the world on a frame, by number; None where there is none."""
        if self.places is not None:
            self.ground.place(self.places[index])
        return self.ground.below(Vector(point.tolist()), from_height)


class Walker:
    """Asks the ground below one foot's ankle, ball and toes along its path."""

    def __init__(self, foot: FootMotion, flat: Held, terrain: Terrain, floor: float, windows: Sequence[Span]) -> None:
        self.foot, self.flat, self.terrain, self.floor, self.windows = foot, flat, terrain, floor, list(windows)
        self.missed: set[int] = set()
        self.is_over_ground = False
        # From the ankle to each point, in the foot's own frame.
        self._arms = [_own_arms(foot, points) for points in (foot.ends, foot.toes, foot.toe_ends) if points is not None]
        touching = np.concatenate([np.arange(one.first, one.last + 1) for one in windows or [self._whole()]])
        # How far each point is above the floor: never less than where it rests.
        self._clearances = []
        for arms in self._arms:
            heights = (flat.points + holding.rotated(flat.turns, arms))[:, 2] - floor
            self._clearances.append(np.clip(heights, 0.0, max(0.0, float(heights[touching].min()))))

    def _whole(self) -> Span:
        return Span(0, len(self.foot.frames) - 1)

    def contact_levels(self, amount: float) -> tuple[list[float], Floats]:
        """Height above the floor and normal of the ground in each contact; the toes are above the ground, too."""
        heights: list[float] = []
        normals = []
        for window in self.windows:
            at = (window.first + window.last) // 2
            before = heights[-1] if heights else 0.0
            hit = self._below(at, self.flat.points[at], before)
            normal = np.array((0.0, 0.0, 1.0)) if hit is None else np.array(hit.normal, dtype=np.float64)
            level = before if hit is None else hit.point.z - self.floor
            normals.append(normal)
            inside = np.arange(window.first, window.last + 1)
            turn = grounding.tilts(len(inside), [Span(0, len(inside) - 1)], normal[None, :], amount)
            buried = self._buried(inside, np.full(len(inside), level), turn, first_point=1)
            heights.append(level + float(buried.max()))
        return heights, np.array(normals).reshape(-1, 3)

    def with_ends(self, heights: Sequence[float], normals: Floats) -> tuple[list[Span], list[float], Floats]:
        """The contacts and, where a range begins or ends in a swing, the ground below its first and last frame."""
        spans, levels, ups = list(self.windows), list(heights), list(normals)
        for at in (0, self._whole().last):
            if any(one.first <= at <= one.last for one in spans):
                continue
            nearest = levels[0 if at == 0 else -1] if levels else 0.0
            hit = self._below(at, self.flat.points[at], nearest)
            if hit is not None:
                place = 0 if at == 0 else len(spans)
                spans.insert(place, Span(at, at))
                levels.insert(place, hit.point.z - self.floor)
                ups.insert(place, np.array(hit.normal, dtype=np.float64))
        if not spans:
            return [self._whole()], [0.0], np.array([(0.0, 0.0, 1.0)])
        return spans, levels, np.array(ups)

    def needed(self, levels: Floats, tilts: Floats) -> Floats:
        """By how much the foot would be in the ground on each frame of its swings."""
        found = np.zeros(len(levels))
        for swing in self.swings():
            inside = np.arange(swing.first, swing.last + 1)
            found[inside] = self._buried(inside, levels[inside], tilts[inside], first_point=0)
        return found

    def swings(self) -> list[Span]:
        """Frames without contact."""
        ends = [-1, *(one.last for one in self.windows)]
        begins = [*(one.first for one in self.windows), len(self.foot.frames)]
        return [Span(a + 1, b - 1) for a, b in zip(ends, begins, strict=True) if b - a > 1]

    def _buried(self, inside: Any, levels: Floats, tilts: Floats, first_point: int) -> Floats:
        """By how much points of the foot are in the ground, from the ankle (0) or the ball (1) on."""
        turns = rows.multiply(tilts.T, self.flat.turns[inside].T).T
        ankles = self.flat.points[inside] + levels[:, None] * np.array((0.0, 0.0, 1.0))
        found = np.zeros(len(inside))
        for arms, clearances in list(zip(self._arms, self._clearances, strict=True))[first_point:]:
            points = ankles + holding.rotated(turns, arms[inside])
            for row, index in enumerate(inside):
                hit = self._below(int(index), points[row], float(levels[row]))
                if hit is not None:
                    found[row] = max(found[row], hit.point.z + clearances[index] - points[row, 2])
        return found

    def _below(self, index: int, point: Floats, level: float) -> Hit | None:
        """The ground as seen from the hip above the level that the foot comes from."""
        hit = self.terrain.below(index, point, float(self.foot.roots[index, 2]) + level)
        if hit is None:
            self.missed.add(index)
        self.is_over_ground |= hit is not None
        return hit


def _own_arms(foot: FootMotion, points: Floats) -> Floats:
    """From the ankle to a point that moves with the foot, on each frame, in the foot's frame."""
    own: Floats = rows.rotate(rows.conjugate(foot.turns.T), (points - foot.ends).T).T
    return own
