"""How much of IK there is at a frame, and FK and IK rotations blended by that much.

Pure functions of their arguments: no state from frame to frame, no F-curves, no
Blender data (no bpy). Positions are never blended, so bones keep their lengths.
"""

from __future__ import annotations

from collections.abc import Sequence

from .rotations import Quat, slerp


def smoothstep(x: float) -> float:
    """0 up to x = 0, 1 from x = 1 on, between them 3x² - 2x³: flat at both ends."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    return x * x * (3.0 - 2.0 * x)


def rise(value: float, low: float, high: float) -> float:
    """0 up to ``low``, 1 from ``high``, smooth between; a step where both are equal."""
    if high <= low:
        return 1.0 if value > low else 0.0
    return smoothstep((value - low) / (high - low))


def effective_weight(
    frame: float,
    weight: float,
    use_ik_start: bool,
    changes: Sequence[tuple[float, int]],
    duration_frames: float,
) -> float:
    """Weight of IK at ``frame``: ``weight`` times the eased ``use_ik``.

    Args:
        frame: the frame asked for; may be fractional (motion blur).
        weight: the chain's weight at that frame, 0 to 1.
        use_ik_start: value of ``use_ik`` at ``frame - duration_frames``.
        changes: ``(frame, +1 or -1)`` of each change of ``use_ik``; those outside
            ``(frame - duration_frames, frame]`` are ignored.
        duration_frames: blend time in frames; 0: a change counts at once.

    Returns:
        A number from 0 to 1, a pure function of the frame: the same in playback, scrubbing, reverse and a render farm.

    Undefined input: values outside 0 to 1, also where changes don't alternate, are clamped.
    """
    start = frame - duration_frames
    part = 1.0 if use_ik_start else 0.0
    for changed_at, change in changes:
        if start < changed_at <= frame:
            part += change * smoothstep((frame - changed_at) / duration_frames)
    return max(0.0, min(1.0, weight)) * max(0.0, min(1.0, part))


def blend(fk: Quat, ik: Quat, weight: float) -> Quat:
    """``fk`` turned toward ``ik`` by ``weight`` of the way, the short way; at 0 and 1 exactly theirs.

    Space: both in the same one, the bone's local space after its parent was blended ("parents first").
    """
    if weight >= 1.0:
        return ik
    return slerp(fk, ik, max(0.0, weight))
