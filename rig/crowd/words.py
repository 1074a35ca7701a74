"""What is said of chains that were solved together, put into words when somebody asks.

A part of ``crowd``. Nobody reads most of it while frames play. Holds numbers and set-ups,
never references to Blender's data. This module must not solve.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...solvers import batch, rows, two_bone
from ...solvers.chain import Solution, Status
from .. import solve_chain
from ..chains import RigSetup
from ..readouts import Readout
from .fixed import Fixed


@dataclass(frozen=True, slots=True)
class Words:
    """Answers of one solve; columns are chains. ``is_done``: whose answers count. ``scale``: armatures in the world."""

    fixed: Fixed
    posed: batch.Posed
    is_done: rows.Mask
    origin_distance: rows.Rows
    scale: rows.Rows

    def of_rig(self, uid: int) -> dict[str, Readout]:
        """What is said of a rig's chains (by its session number), by their tips."""
        if uid not in self.fixed.columns:
            return {}
        setup, columns = self.fixed.columns[uid]
        done = [number for number in columns if self.is_done[number]]
        return {self.fixed.chains[number].tip: self._of(setup, number) for number in done}

    def _of(self, setup: RigSetup, number: int) -> Readout:
        error, length = float(self.posed.error[number]), float(self.posed.length[number])
        away, scale = float(self.origin_distance[number]), float(self.scale[number])
        is_doubtful = self.posed.pole_distance[number] < two_bone.POLE_DOUBTFUL * length
        if not is_doubtful and error <= two_bone.REACHED * length + 2.0 * two_bone.SAME_DISTANCE_FAR * away:
            return Readout(Status.REACHED, error * scale)
        status, reason = batch.outcome(self.posed, number, away)
        return solve_chain.told(setup, self.fixed.chains[number], Solution((), status, error, reason), scale)
