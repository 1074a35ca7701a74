"""Thin operators; the work is done by plain functions in rig/ and bake/."""

from __future__ import annotations

from .add_chain import LIMB_IK_OT_add_chain
from .add_limbs import LIMB_IK_OT_add_limbs, LimbIKFoundLimb
from .bake import LIMB_IK_OT_bake
from .convert_constraints import LIMB_IK_OT_convert_constraints
from .copy_setup import LIMB_IK_OT_copy_setup
from .detect_contacts import LIMB_IK_OT_detect_contacts
from .ground import LIMB_IK_OT_ground
from .match import LIMB_IK_OT_match_fk, LIMB_IK_OT_match_ik
from .mirror_chain import LIMB_IK_OT_mirror_chain
from .plant import LIMB_IK_OT_plant
from .remove_chain import LIMB_IK_OT_remove_chain
from .select import LIMB_IK_OT_activate_chain, LIMB_IK_OT_select_controls
from .switch import LIMB_IK_OT_switch
from .take_limits import LIMB_IK_OT_take_limits

CLASSES: tuple[type, ...] = (
    LimbIKFoundLimb,
    LIMB_IK_OT_add_chain,
    LIMB_IK_OT_add_limbs,
    LIMB_IK_OT_remove_chain,
    LIMB_IK_OT_match_ik,
    LIMB_IK_OT_match_fk,
    LIMB_IK_OT_switch,
    LIMB_IK_OT_bake,
    LIMB_IK_OT_mirror_chain,
    LIMB_IK_OT_select_controls,
    LIMB_IK_OT_activate_chain,
    LIMB_IK_OT_convert_constraints,
    LIMB_IK_OT_take_limits,
    LIMB_IK_OT_copy_setup,
    LIMB_IK_OT_plant,
    LIMB_IK_OT_detect_contacts,
    LIMB_IK_OT_ground,
)
