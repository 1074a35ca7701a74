"""Raw rotation values of a whole pose, read and written in bulk.

A bone's own rotation mode says which of three channels counts. Blender hands over a
channel of all bones in the time of a few single reads. This module decides no value.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .fk_pose import MODES, WIDTHS, Raw, channel

# Blender's own numbers of rotation modes, as foreach_get gives them; -1 is axis-angle.
_MODE_OF_NUMBER = {-1: 'AXIS_ANGLE', 0: 'QUATERNION', **dict(enumerate(MODES[2:], start=1))}


class RawPose:
    """Rotation modes and raw values of the pose bones of one object, as they are when it is made.

    ``modes``: one per bone. Holds numbers, no references to Blender's data.
    """

    def __init__(self, bones: Any) -> None:
        self.count = len(bones)
        numbers = np.empty(self.count, np.int32)
        bones.foreach_get("rotation_mode", numbers)
        self.modes = [_MODE_OF_NUMBER[number] for number in numbers.tolist()]
        self._values = {name: self._read(bones, name) for name in {channel(mode) for mode in set(self.modes)}}

    def _read(self, bones: Any, name: str) -> list[float]:
        return cast("list[float]", read_channel(bones, name, self.count).tolist())

    def raw(self, bone: int) -> Raw:
        """Raw values of one bone, by number: as ``fk_pose.read_raw`` gives them."""
        name = channel(self.modes[bone])
        width = WIDTHS[name]
        return tuple(self._values[name][bone * width : (bone + 1) * width])

    def write(self, bones: Any, wanted: dict[int, Raw]) -> None:
        """Write the raw values of some bones; those of the others are read anew and stay."""
        for name in {channel(self.modes[bone]) for bone in wanted}:
            width, values = WIDTHS[name], read_channel(bones, name, self.count)
            for bone, raw in wanted.items():
                if channel(self.modes[bone]) == name:
                    values[bone * width : (bone + 1) * width] = raw
            write_channel(bones, name, values)


def read_channel(bones: Any, name: str, count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """One rotation channel of all bones, flat."""
    values = np.empty(WIDTHS[name] * count, np.float32)
    bones.foreach_get(name, values)
    return values


def write_channel(bones: Any, name: str, values: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    """One channel of all bones, flat.

    Blender takes bulk writes to a system override without a word and leaves its values (measured, 4.2 to 5.3);
    those to single bones it takes.
    """
    override = bones.id_data.override_library
    if override is None or not override.is_system_override:
        bones.foreach_set(name, values)
        return
    for bone, row in zip(bones, values.reshape(len(bones), -1).tolist(), strict=True):
        setattr(bone, name, row)
