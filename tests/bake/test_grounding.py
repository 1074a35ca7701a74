"""Feet on stairs, slopes and level ground, baked and live."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import bpy
import pytest
from limb_ik.bake import contacts, grounding
from limb_ik.bake.grounding import GroundOptions
from limb_ik.rig.errors import LimbIKError
from limb_ik.rig.ground import Ground
from limb_ik.rig.setting_up import setup
from mathutils import Vector

import rigs
import walkers

pytestmark = pytest.mark.usefixtures("blank")

WHOLE = range(1, walkers.LAST + 1)
# Metres, on a leg of 0.87: float32 keys of targets a few metres from the origin.
EXACT = 2e-5
STILL = 1e-3


def rig() -> Any:
    obj = walkers.walker()
    plans = setup.limb_plans(obj, arms=False, legs=True, target_kind="EMPTY", target_space="FK")
    setup.add_chains(bpy.context, obj, plans)
    return obj


def plane(height: float = 0.0, slope: float = 0.0) -> Any:
    rise = 20.0 * math.tan(slope)
    points = [(-9, 20, height - rise), (9, 20, height - rise), (9, -20, height + rise), (-9, -20, height + rise)]
    return walkers.ground_mesh("Plane", points, [(3, 2, 1, 0)])


def test_level_ground_moves_nothing_but_the_slide() -> None:
    obj, ground = rig(), plane()
    before = walkers.heads(obj, ("foot.L", "hips"), WHOLE)
    report = grounding.ground(bpy.context, obj, ground)
    after = walkers.heads(obj, ("foot.L", "hips"), WHOLE)
    assert report.hips == ""
    assert max((a - b).length for a, b in zip(before["hips"], after["hips"], strict=True)) == 0.0
    assert max(abs(a.z - b.z) for a, b in zip(before["foot.L"], after["foot.L"], strict=True)) < EXACT
    assert max(one.part_of_length for one in report.planted.after) < STILL


@pytest.mark.parametrize("last", [None, 50.0])
def test_a_cut_grounds_the_last_frame_of_the_range_too(last: float | None) -> None:
    obj, ground = rig(), plane(height=0.05)
    for side in ("L", "R"):
        rigs.bone(obj, f"shin.{side}").limb_ik_blend_time = 0.0
    end = int(last or walkers.LAST)
    before = walkers.heads(obj, ("foot.L",), range(end, end + 1))["foot.L"][0].z
    grounding.ground(bpy.context, obj, ground, last=last, options=GroundOptions(use_hips=False))
    assert walkers.heads(obj, ("foot.L",), range(end, end + 1))["foot.L"][0].z - before > 0.02


def test_a_higher_floor_lifts_everything_by_as_much() -> None:
    obj, ground = rig(), plane(height=0.5)
    before = walkers.heads(obj, ("foot.L", "toe.R", "hips"), WHOLE)
    grounding.ground(bpy.context, obj, ground)
    after = walkers.heads(obj, ("foot.L", "toe.R", "hips"), WHOLE)
    for name in before:
        rises = [a.z - b.z for a, b in zip(after[name], before[name], strict=True)]
        assert max(abs(rise - 0.5) for rise in rises) < 1e-3, name  # hips are bound by legs that reach, to 1e-6


def test_stairs_are_climbed_without_slide_or_feet_in_steps() -> None:
    obj, ground = rig(), walkers.stairs()
    report = grounding.ground(bpy.context, obj, ground)
    assert max(one.part_of_length for one in report.planted.after) < STILL
    assert report.deepest[0] > 0.3
    assert report.deepest[1] < 1e-4
    surface = Ground(ground, bpy.context.evaluated_depsgraph_get())
    for name, least in (("foot.L", walkers.ANKLE), ("foot.R", walkers.ANKLE), ("toe.L", 0.02), ("toe.R", 0.02)):
        for place in walkers.heads(obj, (name,), WHOLE)[name]:
            hit = surface.below(place, 10.0)
            assert hit is not None and place.z - hit.point.z > least - 1e-4, name
    hips = walkers.heads(obj, ("hips",), WHOLE)["hips"]
    assert 0.4 < hips[-1].z - hips[0].z < 0.5  # four steps of 0.12, one foot still behind
    steps = [abs(b.z - a.z) for a, b in pairwise(hips)]
    assert max(steps) < 0.04


@pytest.mark.parametrize("amount", [0.0, 0.5, 1.0])
def test_feet_turn_to_the_slope_by_the_amount(amount: float) -> None:
    obj, slope = rig(), 0.2
    rigs.frame_set(30)
    flat = rigs.evaluated_pose(obj)["foot.L"].rotation
    grounding.ground(bpy.context, obj, plane(slope=slope), options=GroundOptions(amount=amount))
    rigs.frame_set(30)
    turned = rigs.rotation_distance(rigs.evaluated_pose(obj)["foot.L"].rotation, flat)
    up = Vector((0, math.sin(slope), math.cos(slope)))
    leaned = Vector((0, 0, 1)).lerp(up, amount).normalized()
    assert turned == pytest.approx(Vector((0, 0, 1)).angle(leaned), abs=1e-4)


def test_hips_alone_get_location_keys_and_a_second_time_is_refused() -> None:
    obj, ground = rig(), walkers.stairs()
    before = set(rigs.keys(obj))
    grounding.ground(bpy.context, obj, ground)
    new = set(rigs.keys(obj)) - before
    assert {path for path, _ in new} == {f'pose.bones["shin.{side}"].limb_ik_use_ik' for side in "LR"}
    with pytest.raises(LimbIKError, match="already"):
        grounding.ground(bpy.context, obj, ground)


def test_part_of_a_clip_leaves_the_rest_as_it_was() -> None:
    obj, ground = rig(), plane(height=0.1)
    before = walkers.matrices(obj, WHOLE)
    grounding.ground(bpy.context, obj, ground, first=20, last=55)
    after = walkers.matrices(obj, WHOLE)
    for frame in (*range(1, 21), *range(55, walkers.LAST + 1)):
        assert walkers.difference(before[frame - 1], after[frame - 1]) < 1e-5, frame
    assert after[35]["foot.L"].translation.z - before[35]["foot.L"].translation.z == pytest.approx(0.1, abs=1e-3)


def test_a_moving_platform_carries_the_feet() -> None:
    obj, ground = rig(), plane()
    rigs.key_location(ground, 1, (0, 0, 0))
    rigs.key_location(ground, walkers.LAST, (0, 0, 0.2))
    grounding.ground(bpy.context, obj, ground)
    rise = walkers.heads(obj, ("foot.L",), range(walkers.LAST, walkers.LAST + 1))["foot.L"][0].z
    assert rise == pytest.approx(walkers.ANKLE + 0.2, abs=0.03)  # the level is that of the contact's middle


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rigs.empty("Empty"), "no surface"),
        (lambda: walkers.ground_mesh("Points", [(0, 0, 0)], []), "no faces"),
        (lambda: walkers.ground_mesh("Far", [(90, 90, 0), (91, 90, 0), (91, 91, 0)], [(0, 1, 2)]), "nowhere below"),
    ],
)
def test_bad_grounds_are_named_and_nothing_is_written(make: Any, words: str) -> None:
    obj, ground = rig(), make()
    keys = rigs.keys(obj)
    with pytest.raises(LimbIKError, match=words):
        grounding.ground(bpy.context, obj, ground)
    assert rigs.keys(obj) == keys


def test_live_ground_keeps_the_height_of_the_motion_and_bakes_the_same() -> None:
    obj, ground = rig(), plane(height=0.05)
    before = walkers.heads(obj, ("foot.L",), WHOLE)["foot.L"]
    rigs.bone(obj, "shin.L").limb_ik_ground = ground
    rigs.update()
    live = walkers.heads(obj, ("foot.L", "hips"), WHOLE)
    rises = [a.z - b.z for a, b in zip(live["foot.L"], before, strict=True)]
    assert max(abs(rise - 0.05) for rise in rises) < EXACT
    ground.location.z = 0.05
    rigs.update()
    here = rigs.evaluated_pose(obj)["foot.L"].head.z
    assert here - live["foot.L"][-1].z == pytest.approx(0.05, abs=EXACT)  # followed without a frame change
    ground.location.z = 0.0
    bpy.ops.limb_ik.bake(armature=obj.name, tips="shin.L", after="REMOVE")
    baked = walkers.heads(obj, ("foot.L",), WHOLE)["foot.L"]
    assert max((a - b).length for a, b in zip(baked, live["foot.L"], strict=True)) < EXACT


def test_a_hidden_live_ground_is_said() -> None:
    obj, ground = rig(), plane(height=0.05)
    tip: Any = rigs.bone(obj, "shin.L")
    tip.limb_ik_ground = ground
    ground.hide_viewport = True
    rigs.frame_set(5)
    assert "hidden" in tip.limb_ik_message


def test_contacts_of_other_limbs_are_left_alone() -> None:
    """Hands' contacts in the timeline are none of the ground's."""
    obj, ground = rig(), walkers.stairs()
    found = contacts.detect(bpy.context, obj)
    hand = contacts.Contact("forearm.L", contacts.END, 10.0, 20.0)
    report = grounding.ground(bpy.context, obj, ground, found=[*found, hand])
    assert {one.contact.tip for one in report.planted.after} == {"shin.L", "shin.R"}
