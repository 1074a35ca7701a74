"""The influence of Blender's constraints, keyed or driven, as the weight of the chain that takes their place.

This module must not evaluate a pose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import channels, compat
from ..data_paths import setting_path

POINT_VALUES = (("co", 2), ("handle_left", 2), ("handle_right", 2))
POINT_ENUMS = ("interpolation", "easing", "handle_left_type", "handle_right_type")
POINT_NUMBERS = ("amplitude", "back", "period")


def is_animated(obj: Any, path: str) -> bool:
    """Whether keys, NLA strips or a driver give the property its value."""
    return any(found == path for found, _ in channels.animated_paths(obj))


def carry_over(obj: Any, path: str, tip: str) -> str:
    """Give a chain's weight the animation of an influence.

    Returns:
        What is to be said about it; empty where all of it came along.
    """
    weight = setting_path(tip, "weight")
    driver = obj.animation_data.drivers.find(path)
    if driver is not None:
        obj.animation_data.drivers.from_existing(src_driver=driver).data_path = weight
        return ""
    curve = compat.find_fcurve(obj, path)
    if curve is None:
        return f"the influence of '{tip}' is animated in NLA strips, its weight is not"
    _copy_curve(curve, compat.ensure_fcurve(obj, weight))
    return f"the weight of '{tip}' has no modifier as its influence had" if len(curve.modifiers) else ""


def _copy_curve(source: Any, copy: Any) -> None:
    """All keys with their handles and interpolation, in a curve that has none."""
    copy.keyframe_points.add(len(source.keyframe_points))
    for name, width in POINT_VALUES:
        values = np.empty(width * len(source.keyframe_points), np.float32)
        source.keyframe_points.foreach_get(name, values)
        copy.keyframe_points.foreach_set(name, values)
    for old, new in zip(source.keyframe_points, copy.keyframe_points, strict=True):
        for name in POINT_ENUMS + POINT_NUMBERS:
            setattr(new, name, getattr(old, name))
    copy.extrapolation, copy.mute = source.extrapolation, source.mute
    copy.update()
