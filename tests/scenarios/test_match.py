"""Scenarios about matching: target and pole where IK gives the FK pose back."""

from __future__ import annotations

import math

import bpy
import pytest
from limb_ik.bake.match_ik import match_ik
from mathutils import Quaternion

import rigs
from bakes import assert_same, limb, recorded

pytestmark = pytest.mark.usefixtures("blank")


def walking(obj: bpy.types.Object, straightest: float = 4.0) -> None:
    """Twenty keyed FK poses, from bent to nearly straight and over to a hyperextended knee."""
    for frame in range(1, 21):
        bend = math.radians(straightest + 60.0 * (1.0 + math.cos(frame / 3.0)) / 2.0)
        rigs.key_rotation(rigs.bone(obj, "up"), frame, Quaternion((1, 0.3, 0.2), 0.4 * math.sin(frame / 4.0)))
        rigs.key_rotation(rigs.bone(obj, "lo"), frame, Quaternion((1, 0, 0), bend))


@pytest.mark.parametrize("solver", ["TWO_BONE", "FABRIK"])
@pytest.mark.parametrize(("softness", "max_reach"), [(0.0, 1.0), (0.1, 1.0), (0.05, 0.999)])
def test_match_makes_up_for_softness(softness: float, max_reach: float, solver: str) -> None:
    obj, _ = limb("L2S", softness=softness, max_reach=max_reach, solver=solver)
    walking(obj, 15.0)
    tip = rigs.bone(obj, "lo")
    tip.limb_ik_use_ik = False
    before = recorded(obj, range(1, 21))
    tip.limb_ik_use_ik = True
    report = match_ik(bpy.context, obj, (), range(1, 21))
    assert report.notes == ()
    after = recorded(obj, range(1, 21))
    # Near straight a knee turns by the root of what float32 leaves of the distance.
    assert_same(before, after, 2e-3 if softness else 1e-4, 1e-4)


@pytest.mark.parametrize("space", ["WORLD", "FK"])
def test_match_says_where_fk_is_straighter_than_the_largest_reach(space: str) -> None:
    obj, _ = limb("L2S", max_reach=0.95, target_space=space)
    walking(obj)
    straight = sum(math.cos(math.radians(4.0 + 30.0 * (1.0 + math.cos(f / 3.0))) / 2.0) > 0.95 for f in range(1, 21))
    assert 0 < straight < 20
    report = match_ik(bpy.context, obj, (), range(1, 21))
    assert report.notes == (f"'lo' is straighter than its largest reach allows on {straight} of 20 frames",)
