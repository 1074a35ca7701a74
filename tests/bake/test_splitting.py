"""A key more leaves a curve what it was, between frames too, whatever its handles."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.bake import splitting
from limb_ik.rig import compat

import rigs

# Keys and handles are float32 and lie some units apart here.
EXACT = 1e-5
PLACES = np.linspace(-3.0, 44.0, 200)


def curve_of(keys: list[tuple[float, float, Any, Any]], interpolation: str = 'BEZIER') -> tuple[Any, Any]:
    """An object whose location X has these keys: frame, value, left and right handle from the key."""
    obj = rigs.empty("Keyed")
    obj.animation_data_clear()
    curve = compat.ensure_fcurve(obj, "location", 0, "Object Transforms")
    for frame, value, left, right in keys:
        key = curve.keyframe_points.insert(frame, value)
        key.interpolation, key.handle_left_type, key.handle_right_type = interpolation, 'FREE', 'FREE'
        key.handle_left, key.handle_right = (frame - left[0], value + left[1]), (frame + right[0], value + right[1])
    curve.update()
    return obj, curve


def values(curve: Any) -> Any:
    return np.array([curve.evaluate(float(place)) for place in PLACES])


# Not upright: there a value is as far off as its frame is.
handles = st.tuples(st.floats(1.0, 25.0), st.floats(-2.0, 2.0))


@given(first=handles, second=handles, at=st.floats(0.2, 19.8))
@settings(max_examples=60, deadline=None)
def test_bezier_segments_keep_their_shape(first: Any, second: Any, at: float) -> None:
    """Handles that cross and those longer than the segment, which Blender shortens, too; some can't be divided."""
    obj, curve = curve_of([(0.0, 0.0, (3, 0), first), (20.0, 1.0, second, (5, 1)), (41.0, -1.0, (9, 2), (1, 0))])
    before = values(curve)
    is_split = splitting.split(obj, "location", at)
    assert is_split or first[0] + second[0] > 20.0
    assert len(curve.keyframe_points) == 3 + is_split
    assert np.abs(values(curve) - before).max() < 1e-4 * (1.0 + np.abs(before).max())
    bpy.data.objects.remove(obj)


@pytest.mark.parametrize("kind", ['AUTO', 'AUTO_CLAMPED', 'VECTOR', 'ALIGNED'])
@pytest.mark.parametrize("at", [0.4, 7.0, 19.0, 30.0, -2.0, 43.0])
def test_handles_of_every_type_keep_the_shape(blank: None, kind: str, at: float) -> None:
    obj, curve = curve_of([(0, 0, (3, 0), (3, 0)), (20, 1, (3, 0), (3, 0)), (41, -1, (3, 0), (3, 0))])
    for key in curve.keyframe_points:
        key.handle_left_type = key.handle_right_type = kind
    curve.update()
    before = values(curve)
    assert splitting.split(obj, "location", at)
    assert np.abs(values(curve) - before).max() < EXACT


@pytest.mark.parametrize("interpolation", ['LINEAR', 'CONSTANT'])
def test_straight_and_held_segments(blank: None, interpolation: str) -> None:
    obj, curve = curve_of([(0, 0, (3, 0), (3, 0)), (20, 1, (3, 0), (3, 0))], interpolation)
    before = values(curve)
    assert splitting.split(obj, "location", 7.25)
    assert np.abs(values(curve) - before).max() < EXACT
    assert splitting.split(obj, "location", 7.25) and len(curve.keyframe_points) == 3, "a key that is there is enough"


def test_what_can_not_be_split_is_left_alone(blank: None) -> None:
    obj, curve = curve_of([(0, 0, (3, 0), (3, 0)), (20, 1, (3, 0), (3, 0))], 'BOUNCE')
    assert not splitting.split(obj, "location", 7.0)
    assert not splitting.split(obj, "scale", 7.0)
    curve.keyframe_points[0].interpolation = 'LINEAR'
    curve.modifiers.new('NOISE')
    assert not splitting.split(obj, "location", 7.0)
    assert len(curve.keyframe_points) == 2


def test_held_from_a_key_to_the_next(blank: None) -> None:
    obj, curve = curve_of([(0, 0, (3, 0), (3, 0)), (20, 1, (3, 0), (3, 0)), (41, -1, (9, 2), (1, 0))])
    splitting.hold(obj, "location", 20.0)
    assert curve.evaluate(40.0) == 1.0 and curve.evaluate(10.0) not in (0.0, 1.0)
