"""When a foot or hand is at rest on something: found from the path of a point alone.

Speed thresholds come from the clip itself, with hysteresis and a shortest contact;
where the rest of a pair stands at the same time tells a foot on the ground from one
held up. Must not know bones, objects or Blender.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Bools, Floats

# Bounds of the speed that still counts as rest, in limb lengths a second. Ankles of captured people roll at
# 0.1 … 0.25 while they stand, and swing at 2 … 5 (measured on five public captures).
SLOWEST_LIMIT, FASTEST_LIMIT = 0.15, 0.7
# Rest is slower than this part of a clip's fast motion too: what swings to and fro, as in a swim, is slower than
# that for too short a time at its turning points to count.
REST_PART, FAST_PERCENTILE = 0.2, 95.0
# A contact begins below this part of the limit and ends above the limit.
HYSTERESIS = 0.6
# Seconds: shorter rests are turning points of a swing. A step's contact takes 0.3 and more.
SHORTEST_S = 0.12
# Seconds: speeds are taken over this time at least; captures at 100 Hz tremble from frame to frame.
SPEED_TIME_S = 1.0 / 30.0
# Part of the limb's length: a foot at rest this much above one that rests beside it is held up (a stair's step is 0.2).
HELD_UP = 0.28
# Classes of the histogram in which the limit is looked for.
CLASSES = 64
# Speeds below this part of a limb length a second are all the same: still.
STILL = 1e-3
# A radius of nothing: rounding of positions as parts of the limb's length.
ROUNDING = 1e-6
# Passes of moving a point into all spheres of reach; it converges by a factor each.
REACH_PASSES = 60


@dataclass(frozen=True, slots=True)
class Span:
    """Frames at rest, by index; both ends included."""

    first: int
    last: int


def speeds(points: Floats, frame_rate: float) -> Floats:
    """Speed at each frame: length units a second, by central differences over ``SPEED_TIME_S`` or two frames.

    Args:
        points: frames × 3.
        frame_rate: frames a second.
    """
    count = len(points)
    if count < 2:
        return np.zeros(count)
    reach = max(1, round(SPEED_TIME_S * frame_rate / 2.0))
    at = np.arange(count)
    before, after = np.maximum(at - reach, 0), np.minimum(at + reach, count - 1)
    moved: Floats = np.linalg.norm(points[after] - points[before], axis=1)
    found: Floats = moved * frame_rate / (after - before)
    return found


def speed_limit(rows: Sequence[Floats]) -> float:
    """The speed that best parts rest from motion (Otsu's threshold on the logarithm), within fixed bounds.

    Args:
        rows: speeds of the points of a clip, limb lengths a second.

    Source: N. Otsu, A threshold selection method from gray-level histograms, 1979.
    """
    logs = np.log(np.maximum(np.concatenate(rows), STILL))
    counts, edges = np.histogram(logs, CLASSES)
    centres = (edges[:-1] + edges[1:]) / 2.0
    below, sums = np.cumsum(counts)[:-1], np.cumsum(counts * centres)[:-1]
    above = counts.sum() - below
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = sums / below - ((counts * centres).sum() - sums) / above
    between = np.where((below > 0) & (above > 0), below * above * apart**2, 0.0)
    limit = float(np.exp(edges[int(np.argmax(between)) + 1]))
    fast = REST_PART * float(np.percentile(np.concatenate(rows), FAST_PERCENTILE))
    return min(max(min(limit, fast), SLOWEST_LIMIT), FASTEST_LIMIT)


def at_rest(speed: Floats, limit: float, frame_rate: float, shortest_s: float = SHORTEST_S) -> list[Span]:
    """Where a point rests: slower than ``limit``, somewhere much slower, and for long enough.

    Args:
        speed: at each frame, limb lengths a second.
        limit: above it a contact ends; it begins below ``HYSTERESIS`` of it.
        frame_rate: frames a second.
        shortest_s: seconds that a contact has at least.
    """
    found = []
    for span in spans_of(speed <= limit):
        slow = span.first + np.flatnonzero(speed[span.first : span.last + 1] <= HYSTERESIS * limit)
        if not len(slow):
            continue
        # What is cut off by an end of the clip had begun, or goes on.
        first = 0 if span.first == 0 else int(slow[0])
        last = span.last if span.last == len(speed) - 1 else int(slow[-1])
        if last - first >= shortest_s * frame_rate:
            found.append(Span(first, last))
    return found


def spans_of(flags: Bools) -> list[Span]:
    """Runs of true values."""
    padded = np.concatenate(([False], flags, [False]))
    steps = np.flatnonzero(padded[1:] != padded[:-1])
    return [Span(int(a), int(b) - 1) for a, b in zip(steps[::2], steps[1::2], strict=True)]


def on_ground(spans: Sequence[Span], heights: Floats, others: Sequence[tuple[Span, float]]) -> list[Span]:
    """Without the rests of a foot that is held up while another one stands lower.

    Args:
        spans: rests of one point.
        heights: of that point at each frame, in limb lengths.
        others: rests of the same point of other limbs with their mean heights.
    """
    kept = []
    for span in spans:
        height = float(heights[span.first : span.last + 1].mean())
        beside = [h for other, h in others if other.first <= span.last and other.last >= span.first]
        if all(height <= h + HELD_UP for h in beside):
            kept.append(span)
    return kept


def within_reach(point: Floats, roots: Floats, reaches: Floats) -> Floats:
    """The place nearest to a point (nearly) that a limb reaches from all of its roots.

    Args:
        point: 3 numbers.
        roots: frames × 3, where the limb hangs at each frame of a contact.
        reaches: its reach at each frame.

    Returns:
        The point itself where it is within reach; where no place is, the best found by projections in turn.

    Space: any, the same for all.
    """
    found = point.astype(np.float64).copy()
    for _ in range(REACH_PASSES):
        away = found - roots
        distance = np.linalg.norm(away, axis=1)
        over = distance - reaches
        worst = int(np.argmax(over))
        if over[worst] <= ROUNDING * reaches[worst]:
            break
        found = roots[worst] + away[worst] * (reaches[worst] * (1.0 - ROUNDING) / distance[worst])
    return found


def path_length(points: Floats) -> float:
    """Length of a path: how far a foot slides while it should stand."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def mean_rotation(quaternions: Floats) -> Floats:
    """Mean of rotations that are near each other (w, x, y, z), a unit quaternion."""
    signs = np.where(quaternions @ quaternions[len(quaternions) // 2] < 0.0, -1.0, 1.0)
    total = (quaternions * signs[:, None]).sum(axis=0)
    mean: Floats = total / np.linalg.norm(total)
    return mean
