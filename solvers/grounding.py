"""Feet on uneven ground: how high each stands, how far it is tilted, and how far the hips come down for it.

Heights are along +Z of the world, arrays over frames. Must not know ray casts, bones or Blender.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import rows
from .arrays import Floats
from .contacts import ROUNDING, Span

# A swing has come up to a higher step after this part of its time, and leaves for a lower one as late: feet rise
# early and sink late, which takes them over edges.
EARLY = 0.8


def levels(count: int, spans: Sequence[Span], heights: Sequence[float]) -> Floats:
    """Height of the ground that a foot belongs to: its own in each contact, eased from one to the next between them.

    Args:
        count: number of frames.
        spans: contacts, rising, apart.
        heights: of the ground in each.

    Returns:
        One height per frame; before the first and after the last contact theirs.
    """
    found = np.full(count, float(heights[0]))
    for number, (span, height) in enumerate(zip(spans, heights, strict=True)):
        found[span.first :] = height
        if number:
            begin = spans[number - 1].last
            inside = np.arange(begin, span.first + 1)
            part = swing_part((inside - begin) / (span.first - begin), rises=height > heights[number - 1])
            found[inside] = heights[number - 1] + part * (height - heights[number - 1])
    return found


def swing_part(time: Floats, *, rises: bool) -> Floats:
    """How much of a change of height has come after a part of a swing."""
    return rows.smoothstep(time / EARLY if rises else (time - 1.0 + EARLY) / EARLY)


def tilts(count: int, spans: Sequence[Span], normals: Floats, amount: float) -> Floats:
    """Turns (w x y z) from level ground to the slope of each contact, eased in between.

    Args:
        normals: of the ground in each contact, unit vectors that point up, contacts × 3.
        amount: 0 leaves feet level, 1 turns them all the way.
    """
    up = np.tile((0.0, 0.0, 1.0), (len(normals), 1))
    leaned = up + amount * (normals - up)
    leaned /= np.linalg.norm(leaned, axis=1)[:, None]
    each = rows.shortest_arc(up.T, leaned.T)
    found = np.tile(each[:, :1], (1, count))
    for number, span in enumerate(spans):
        found[:, span.first :] = each[:, number : number + 1]
        if number:
            begin = spans[number - 1].last
            inside = np.arange(begin, span.first + 1)
            part = rows.smoothstep((inside - begin) / (span.first - begin))
            found[:, inside] = each[:, number - 1 : number] * (1.0 - part) + each[:, number : number + 1] * part
    return rows.normalized(found).T


def lift(needed: Floats, swings: Sequence[Span], radius: float) -> Floats:
    """Extra height over a swing that is nowhere less than needed, smooth, and gone at the contacts beside it.

    Args:
        needed: by how much the foot would be in the ground, 0 where it isn't.
        swings: frames between contacts.
        radius: frames over which it comes and goes.
    """
    found = np.zeros_like(needed)
    for swing in swings:
        inside = slice(swing.first, swing.last + 1)
        found[inside] = np.maximum(_smoothed(_highest(needed[inside], radius), radius, edge=0.0), needed[inside])
    return found


def hips_offset(wanted: Floats, most: Floats, radius: float) -> Floats:
    """One smooth offset of the hips: as wanted, and nowhere above what the legs reach.

    The lowest bound within ``radius`` frames, then a mean with weights over as many: what is averaged is
    nowhere above the bound at the middle.

    Args:
        wanted: from the ground below.
        most: largest offset at which every leg is long enough.
        radius: frames, the blend time.
    """
    bound = -_highest(-np.minimum(wanted, most), radius)
    return _smoothed(bound, radius, edge=None)


def _width(radius: float) -> int:
    return max(1, int(np.ceil(radius)))


def _highest(values: Floats, radius: float) -> Floats:
    width = _width(radius)
    padded = np.pad(values, width, mode="edge")
    found: Floats = np.lib.stride_tricks.sliding_window_view(padded, 2 * width + 1).max(axis=1)
    return found


def _smoothed(values: Floats, radius: float, edge: float | None) -> Floats:
    """A mean over ``radius`` frames on both sides, weighted by a raised cosine; beyond the ends ``edge`` or the end."""
    width = _width(radius)
    weights = 1.0 + np.cos(np.pi * np.arange(-width, width + 1) / (width + 1))
    padded = np.pad(values, width, mode="edge") if edge is None else np.pad(values, width, constant_values=edge)
    return np.convolve(padded, weights / weights.sum(), mode="valid")


def most_offset(roots: Floats, ends: Floats, reaches: Floats) -> Floats:
    """By how much the root of a limb may rise and still reach its end; negative: it has to sink.

    Space: world. Where the end is further off sideways than the limb is long, level with the end is the nearest.
    """
    aside = ((ends - roots)[:, :2] ** 2).sum(axis=1)
    reach = reaches * (1.0 - ROUNDING)
    height: Floats = np.sqrt(np.maximum(reach**2 - aside, 0.0)) + ends[:, 2] - roots[:, 2]
    return height
