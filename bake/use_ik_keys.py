"""Keys of ``use_ik`` itself: a switch and what takes it back, and contacts, over which it is on.

All are held until the next. Must not decide when a chain is on, nor key what moves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..rig import compat, marks
from ..rig.chains import ChainSetup
from ..rig.channels import SAME_FRAME
from . import keys
from .switch_times import Switch, is_on_at, path_of
from .writable import action_frame, check_writable


@dataclass(frozen=True, slots=True)
class OnSpan:
    """``use_ik`` is on from ``first`` up to ``last``, where it goes off; None: for good. Units: frames.

    ``stays_on``: at ``last`` it is on anyway, only keys before go.
    """

    first: float
    last: float | None
    stays_on: bool = False


def key_switch(obj: Any, one: Switch) -> None:
    """Key the switch, held until the next key; keys up to where the change is complete would undo it and go."""
    was_on = is_on_at(obj, one.chain, one.frame - 1.0)
    curve = _curve(obj, one.chain)
    anim, points = obj.animation_data, curve.keyframe_points
    _remove(points, action_frame(anim, one.frame), action_frame(anim, one.over))
    _remove_before_next(anim, points, one)
    _insert_held(anim, points, one.frame, one.is_on, before=was_on)
    curve.update()
    keys.tag(obj)


def key_back(obj: Any, one: Switch) -> None:
    """Take the key of the last change away, and what held the other side just before it and the next one."""
    curve = _curve(obj, one.chain)
    anim, points = obj.animation_data, curve.keyframe_points
    at, before = action_frame(anim, one.frame), action_frame(anim, one.frame - 1.0)
    _remove(points, at, at)
    _remove_before_next(anim, points, one)
    others = [key for key in points if abs(key.co.x - before) > SAME_FRAME]
    leading = [key for key in others if key.co.x < before][-1:] or others[:1]
    if all((key.co.y > 0.5) == one.is_on and key.interpolation == 'CONSTANT' for key in leading):
        _remove(points, before, before)
    tip: Any = obj.pose.bones[one.chain.tip]
    tip.limb_ik_use_ik = one.is_on
    curve.update()
    if not len(points):
        compat.remove_fcurve(obj, curve)
        marks.touch(obj)
    keys.tag(obj)


def _remove_before_next(anim: Any, points: Any, one: Switch) -> None:
    """What held the other side up to the frame before the next key of this one."""
    if one.later is not None:
        at = action_frame(anim, one.later - 1.0)
        _remove(points, at, at)


def check_spans(obj: Any, chain: ChainSetup, spans: Sequence[OnSpan]) -> None:
    """Raises a LimbIKError where ``use_ik`` can't be keyed over these spans."""
    ends = [one.first - 1.0 for one in spans] + [one.last for one in spans if one.last is not None]
    check_writable(obj, [path_of(chain)], np.array(sorted(ends)))


def key_spans(obj: Any, chain: ChainSetup, spans: Sequence[OnSpan], *, is_on_before: bool) -> int:
    """Key ``use_ik`` on over spans, off at their ends; keys inside of them go. Returns how many were written.

    Args:
        obj: the armature object.
        chain: whose.
        spans: rising, apart.
        is_on_before: what holds before the first of its keys.
    """
    curve = _curve(obj, chain)
    anim, points, count = obj.animation_data, curve.keyframe_points, 0
    for span in spans:
        last = action_frame(anim, span.last) if span.last is not None else np.inf
        _remove(points, action_frame(anim, span.first), last)
        count += _insert_held(anim, points, span.first, True, before=is_on_before)
        if span.last is not None and not span.stays_on:
            count += _insert(points, last, False)
        curve.update()
    keys.tag(obj)
    return count


def release_at(obj: Any, chain: ChainSetup, frame: float) -> bool:
    """Key ``use_ik`` off at a frame in place of where it would go off next; False where it is off already."""
    if not is_on_at(obj, chain, frame):
        return False
    curve = _curve(obj, chain)
    points, at = curve.keyframe_points, action_frame(obj.animation_data, frame)
    after = sorted((p.co.x, p.co.y) for p in points if p.co.x >= at - SAME_FRAME)
    over = next((x for x, value in after if value < 1.0), None)
    if over is not None:
        _remove(points, at, over)
    if not len(points):
        _insert(points, at - 1.0, True)
    _insert(points, at, False)
    curve.update()
    keys.tag(obj)
    return True


def is_keyed(obj: Any, chain: ChainSetup) -> bool:
    """Whether ``use_ik`` has keys of its own."""
    curve = compat.find_fcurve(obj, path_of(chain))
    return curve is not None and len(curve.keyframe_points) > 0


def forget_use_ik(obj: Any, chain: ChainSetup) -> None:
    """Take all keys of ``use_ik`` away: of a chain whose switch made no difference."""
    curve = compat.find_fcurve(obj, path_of(chain))
    if curve is not None:
        compat.remove_fcurve(obj, curve)


def _curve(obj: Any, chain: ChainSetup) -> Any:
    return compat.ensure_fcurve(obj, path_of(chain), 0, chain.tip)


def _remove(points: Any, first: float, last: float) -> None:
    for point in [point for point in points if first - SAME_FRAME <= point.co.x <= last + SAME_FRAME][::-1]:
        points.remove(point, fast=True)


def _insert_held(anim: Any, points: Any, frame: float, is_on: bool, *, before: bool) -> int:
    """A key at a frame of the scene, and one of ``before`` the frame earlier where no held key precedes."""
    at, count = action_frame(anim, frame), 0
    preceding = [key for key in points if key.co.x < at - SAME_FRAME]
    if not preceding or preceding[-1].interpolation != 'CONSTANT':
        count += _insert(points, action_frame(anim, frame - 1.0), before)
    return count + _insert(points, at, is_on)


def _insert(points: Any, frame: float, is_on: bool) -> int:
    key = points.insert(frame, float(is_on), options={'FAST'})
    key.interpolation = 'CONSTANT'
    return 1
