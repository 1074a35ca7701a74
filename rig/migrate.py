"""Set-ups of files that an earlier Limb IK wrote, brought up to what this one reads.

The number of a set-up's form is stored on the armature object when its first chain is
made. Versions of the extension that read a form in the same way share its number. This
module must not evaluate a pose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import marks

VERSION = 3
"""Form of the set-ups that this Limb IK writes."""


def _drivers_to_first_bone(obj: Any) -> None:
    """From the object, where they made Blender take drivers of bones late."""
    drivers: Any = obj.animation_data.drivers if obj.animation_data else ()
    for curve in drivers:
        if curve.data_path in ("limb_ik.dependency", "limb_ik.names"):
            curve.data_path = f"pose.bones[0].{curve.data_path}"
            curve.driver.is_valid = True


def _pack_stores(obj: Any) -> None:
    """Three properties of a bone, its FK and what was written, into one."""
    for bone in obj.pose.bones:
        if bone.limb_ik_store_mode:
            bone.limb_ik_store = (bone.limb_ik_store_mode, *bone.limb_ik_fk, *bone.limb_ik_written)
        for name in ("limb_ik_store_mode", "limb_ik_fk", "limb_ik_written"):
            bone.property_unset(name)


def _to_form_2(obj: Any) -> None:
    _drivers_to_first_bone(obj)
    _pack_stores(obj)


STEPS: dict[int, Callable[[Any], None]] = {1: _to_form_2}
"""What brings a set-up of a form to the next one; a form that isn't here needs nothing.

0: set up before the number was kept, the same as 1. 2: the muted driver has a variable for each link; it is read as it
is, and made anew with the next change.
"""


def stamp(obj: Any) -> None:
    """Note that an armature's first chain was made by this version."""
    if not obj.limb_ik.version:
        obj.limb_ik.version = VERSION


def up_to_date(obj: Any) -> bool:
    """Bring an armature's set-up to this version's form, and note that; returns whether there was anything to do.

    A set-up of a newer Limb IK, and one in linked data, is left alone.
    """
    before = obj.limb_ik.version
    if before >= VERSION or not obj.is_editable:
        return False
    with marks.quiet():
        for version in range(before, VERSION):
            if version in STEPS:
                STEPS[version](obj)
        obj.limb_ik.version = VERSION
    return True


def problem(obj: Any) -> str:
    """Why a set-up can't be read: it is a newer Limb IK's; empty where it can."""
    version = obj.limb_ik.version
    return f"set up by a newer Limb IK (form {version}, this one reads {VERSION})" if version > VERSION else ""
