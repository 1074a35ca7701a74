"""Two bones in a plane: the mission's forms as small functions, every ratio clamped.

Angles are in radians, counter-clockwise from +X; lengths in any one unit. Nothing
here knows three dimensions, limits or Blender's data (no bpy).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .vectors import TINY

Point = tuple[float, float]


def clamped_cosine(value: float) -> float:
    """``value`` held within -1 and 1, so that acos of it is a number."""
    return max(-1.0, min(1.0, value))


def clamped_reach(distance: float, a: float, b: float) -> float:
    """The nearest distance that two bones of lengths ``a`` and ``b`` can span.

    No hair is taken off at the ends: ``triangle`` is exact there.
    """
    return max(abs(a - b), min(a + b, distance))


def triangle(a: float, b: float, distance: float) -> tuple[float, float]:
    """Where the elbow stands: its place along the line root to target, and its height off that line.

    The distance is clamped to the reach. The height is from Heron's product, whose factors lose nothing where
    the limb is nearly straight or folded; acos would lose half of the figures there.

    Undefined input: on the root itself (equal bones, distance 0) the elbow stands at full height.
    """
    d = clamped_reach(distance, a, b)
    if d <= TINY:
        return 0.0, a
    total, difference = a + b, a - b
    product = (total + d) * (total - d) * (d + difference) * (d - difference)
    return (difference * total + d * d) / (2.0 * d), math.sqrt(max(0.0, product)) / (2.0 * d)


def mid_angle(a: float, b: float, distance: float) -> float:
    """Inner angle at the elbow: pi where the limb is straight, 0 folded.

    Undefined input: a bone of no length counts as straight.
    """
    if a * b <= 0.0:
        return math.pi
    return math.acos(clamped_cosine((a * a + b * b - distance * distance) / (2.0 * a * b)))


def flexion(a: float, b: float, distance: float) -> float:
    """How far the second bone bends away from the first: 0 straight, pi folded."""
    return math.pi - mid_angle(a, b, distance)


def root_angle(a: float, b: float, distance: float) -> float:
    """Angle between the first bone and the line root to target, 0 to pi.

    Undefined input: with no first bone, or equal bones and the target on the root, it is a right angle.
    """
    d = clamped_reach(distance, a, b)
    if a * d <= TINY:
        return 0.5 * math.pi
    return math.acos(clamped_cosine((a * a + d * d - b * b) / (2.0 * a * d)))


def elbow(a: float, b: float, distance: float, *, is_flipped: bool = False) -> float:
    """Turn of the second bone against the first, counter-clockwise; ``is_flipped``: the other way.

    Undefined input: a bone of no length counts as straight.
    """
    if a * b <= 0.0:
        return 0.0
    angle = math.acos(clamped_cosine((distance * distance - a * a - b * b) / (2.0 * a * b)))
    return -angle if is_flipped else angle


def shoulder(target: Point, a: float, b: float, elbow_angle: float) -> float:
    """Direction of the first bone that puts the end on the line from the origin to ``target``."""
    beyond = math.atan2(b * math.sin(elbow_angle), a + b * math.cos(elbow_angle))
    return math.atan2(target[1], target[0]) - beyond


def inverse(target: Point, a: float, b: float, *, is_flipped: bool = False) -> tuple[float, float]:
    """``(shoulder, elbow)`` for a target seen from the root; straight at it or folded where it is out of reach."""
    elbow_angle = elbow(a, b, math.hypot(*target), is_flipped=is_flipped)
    return shoulder(target, a, b, elbow_angle), elbow_angle


def forward(base: Point, lengths: Sequence[float], angles: Sequence[float]) -> list[Point]:
    """Joints of a planar chain, the base first: each angle is a turn against the bone before."""
    points, total = [base], 0.0
    for length, angle in zip(lengths, angles, strict=True):
        total += angle
        x, y = points[-1]
        points.append((x + length * math.cos(total), y + length * math.sin(total)))
    return points
