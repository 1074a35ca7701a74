"""What names of bones on the command line and in set-ups stand for on an armature.

Must not change anything.
"""

from __future__ import annotations

import difflib

import bpy

from ..rig.bone_rows import row_up
from ..rig.errors import LimbIKError
from ..rig.session import pose_bones

# How alike a name must be to be proposed for one that is not there (difflib's ratio).
NEAR_NAME = 0.75


def bones_of_chain(obj: bpy.types.Object, text: str) -> tuple[str, str, str]:
    """Root, tip and end (empty where there is none) out of ROOT:TIP[:END]; names may have colons themselves.

    Raises:
        LimbIKError: names with colons of which no reading fits the armature.
    """
    parts, known = text.split(":"), pose_bones(obj).keys()
    count = len(parts)
    cuts = [(i, j) for i in range(1, count) for j in range(i + 1, count + 1)]
    readings = [(":".join(parts[:i]), ":".join(parts[i:j]), ":".join(parts[j:])) for i, j in cuts]
    for reading in readings:
        if all(name in known for name in reading if name):
            return reading
    if count > 3:
        raise LimbIKError(f"armature '{obj.name}' has no bones that '{text}' names as ROOT:TIP or ROOT:TIP:END")
    root, tip, end = [*parts, ""][:3]
    return root, tip, end


def chain_length(obj: bpy.types.Object, root: str, tip: str) -> int:
    """How many bones there are from the tip up to the root, both counted.

    Raises:
        LimbIKError: there is no such bone, or the tip is not below the root.
    """
    above = row_up(bone_named(obj, tip), 0)
    if bone_named(obj, root) not in above:
        raise LimbIKError(f"bone '{tip}' is not below '{root}' in armature '{obj.name}'")
    return above.index(bone_named(obj, root)) + 1


def bone_named(obj: bpy.types.Object, name: str) -> bpy.types.PoseBone:
    """The pose bone of a name.

    Raises:
        LimbIKError: there is none; one that is spelled nearly so is proposed.
    """
    bone: bpy.types.PoseBone | None = pose_bones(obj).get(name)
    if bone is None:
        near = difflib.get_close_matches(name, pose_bones(obj).keys(), n=1, cutoff=NEAR_NAME)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise LimbIKError(f"armature '{obj.name}' has no bone '{name}'{hint}")
    return bone
