"""The evaluation of the frame that is shown, for set-up and match: what is read here is neither written nor kept.

``sampling`` reads other frames.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from . import marks
from .chains import setup_of
from .evaluate import Evaluation, evaluate


def evaluate_shown(context: Any, only: Sequence[marks.ChainKey] | None = None) -> Evaluation:
    """The evaluation of the current frame: of every rig that Blender evaluates, those that aren't live, too.

    Args:
        context: gives scene and view layer.
        only: chains to solve, the others show FK; None for all.
    """
    depsgraph = context.evaluated_depsgraph_get()
    rigs = [rig for rig in marks.rigs() if rig.evaluated_get(depsgraph).is_evaluated]
    return evaluate(depsgraph, rigs, context.scene.frame_current_final, is_fresh=False, is_forced=True, only=only)


def all_but(left_out: Container[marks.ChainKey]) -> list[marks.ChainKey]:
    """Every chain there is but these: what they hang on moves as it will be seen, they themselves show FK."""
    every = [(marks.key_of(rig), chain.tip) for rig in marks.rigs() for chain in setup_of(rig).chains]
    return [key for key in every if key not in left_out]
