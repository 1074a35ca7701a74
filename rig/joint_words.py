"""What solvers say of joints, in the names of bones: "mid joint at its limit of 150°" → "'shin' at its limit of 150°".

Solvers know joints by their place in the chain only. This module must not read Blender's data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# How solvers name a joint: two bones by their part, longer chains by number from the root, 1 first.
JOINT = re.compile(r"\b(root joint|mid joint|joint (\d+))\b")


def with_bone_names(reason: str, bones: Sequence[str]) -> str:
    """A solver's reason with each joint named by its bone.

    Args:
        reason: what ``Solution.reason`` says.
        bones: the turned bones, root first.
    """

    def name(match: re.Match[str]) -> str:
        number = int(match[2]) - 1 if match[2] else {"root joint": 0, "mid joint": 1}[match[1]]
        return f"'{bones[number]}'" if number < len(bones) else match[1]

    return JOINT.sub(name, reason)
