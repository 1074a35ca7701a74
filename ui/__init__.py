"""Panels and menus; nothing here computes or writes a pose."""

from __future__ import annotations

from .feet import LIMB_IK_PT_feet
from .menus import LIMB_IK_MT_chain, LIMB_IK_MT_pose
from .panel import LIMB_IK_PT_main
from .settings import (
    LIMB_IK_PT_bake,
    LIMB_IK_PT_end,
    LIMB_IK_PT_limits,
    LIMB_IK_PT_solver,
    LIMB_IK_PT_target,
    LIMB_IK_PT_weight,
)

CLASSES: tuple[type, ...] = (
    LIMB_IK_MT_chain,
    LIMB_IK_MT_pose,
    LIMB_IK_PT_main,
    LIMB_IK_PT_target,
    LIMB_IK_PT_weight,
    LIMB_IK_PT_end,
    LIMB_IK_PT_limits,
    LIMB_IK_PT_solver,
    LIMB_IK_PT_bake,
    LIMB_IK_PT_feet,
)
