"""Operators on chains of several armatures at once: those in pose mode, or all that are selected.

One click, one report and one undo step for all of them. This module must not do their work.
"""

from __future__ import annotations

from typing import Any

from ..rig.chains import tips as tips_of_rig
from ..rig.sentences import listed
from ..rig.setting_up import active, setup
from .arguments import OnChains


class OnRigs(OnChains):
    """An operator on chains of every armature that is meant; of one where it is named, or with ``only_active``."""

    @staticmethod
    def armatures_meant(context: Any) -> list[Any]:
        """All of them: the active one need not have a chain."""
        return active.armatures(context)

    def asked(self, context: Any) -> list[tuple[Any, list[str]]]:
        """Armatures with the tips of their chains to work on, at least one.

        Raises:
            LimbIKError: there is no such chain, or an armature can't be changed.
        """
        first = self.rig(context)
        every = [first] if self._is_one() else active.armatures(context)
        with_chains = [obj for obj in every if tips_of_rig(obj)] or [first]
        for obj in with_chains:
            setup.check_armature(obj)
        return [(obj, self.chosen(context, obj)) for obj in with_chains]

    def draw_armatures(self, context: Any, layout: Any) -> None:
        """Which armatures it is about, where it is about several."""
        every = [] if self._is_one() else [obj for obj in active.armatures(context) if active.tip_names(obj)]
        if len(every) > 1:
            layout.label(text=f"Armatures: {listed(obj.name for obj in every)}", icon='ARMATURE_DATA')

    def _is_one(self) -> bool:
        return bool(self.armature or self.tips or self.only_active)
