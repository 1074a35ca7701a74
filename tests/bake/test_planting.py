"""Planted feet: still in contacts, the motion everywhere else, in every set-up of the chains."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import bpy
import pytest
from limb_ik.bake import contact_markers, contacts, match_ik, planting
from limb_ik.bake.contacts import Contact
from limb_ik.rig.errors import LimbIKError
from limb_ik.rig.setting_up import setup
from mathutils import Euler, Vector

import rigs
import walkers

pytestmark = pytest.mark.usefixtures("blank")

WHOLE = range(1, walkers.LAST + 1)
LEG = 0.87
LEAD = 4  # frames at 24 fps: a blend time of 0.15 s takes 3.6
# Of the leg's length, in a contact; what is asked for. Measured: 2e-6.
STILL = 1e-3
# What has to stay as it was: rotations are float32 keys, matrices are float32.
SAME = 1e-5


def rig(space: str = "FK") -> tuple[Any, list[str]]:
    obj = walkers.walker()
    plans = setup.limb_plans(obj, arms=False, legs=True, target_kind="EMPTY", target_space=space)
    tips = setup.add_chains(bpy.context, obj, plans)
    if space == "WORLD":
        match_ik.match_ik(bpy.context, obj, tips, [float(frame) for frame in WHOLE])
    return obj, tips


def outside(found: list[Contact]) -> list[int]:
    """Frames that belong to no contact and no blend time, of any foot."""
    return [f for f in WHOLE if not any(one.first - LEAD < f < one.last + LEAD for one in found)]


@pytest.mark.parametrize("space", ["FK", "WORLD"])
def test_a_cut_holds_the_last_frame_of_a_contact_too(space: str) -> None:
    """Without a blend time FK shows from the frame after."""
    obj, tips = rig(space)
    for tip in tips:
        rigs.bone(obj, tip).limb_ik_blend_time = 0.0
    report = planting.plant_contacts(bpy.context, obj, contacts.detect(bpy.context, obj))
    assert max(one.part_of_length for one in report.after) < STILL


@pytest.mark.parametrize("space", ["FK", "WORLD"])
def test_detected_contacts_are_planted_and_nothing_else_changes(space: str) -> None:
    obj, _ = rig(space)
    before = walkers.matrices(obj, WHOLE)
    found = contacts.detect(bpy.context, obj)
    assert len([one for one in found if one.part == contacts.END]) == 6
    report = planting.plant_contacts(bpy.context, obj, found)
    assert max(one.part_of_length for one in report.before) > 0.01
    assert max(one.part_of_length for one in report.after) < STILL
    after = walkers.matrices(obj, WHOLE)
    for side in ("L", "R"):
        own = [one for one in found if one.tip == f"shin.{side}"]
        names = [name for name in before[0] if name.endswith(side)]
        for frame in outside(own):
            pairs = [{n: row[frame - 1][n] for n in names} for row in (before, after)]
            assert walkers.difference(*pairs) < SAME, (side, frame)
    hips = [[{"hips": one["hips"]} for one in row] for row in (before, after)]
    assert max(walkers.difference(a, b) for a, b in zip(*hips, strict=True)) == 0.0


@pytest.mark.parametrize("kind", ["EMPTY", "BONE"])
@pytest.mark.parametrize(
    "place",
    [
        {"location": (5, 3, 2), "rotation_euler": Euler((0, 0, 1.1))},
        {"scale": (0.01,) * 3},
        {"scale": (100,) * 3},
        {"scale": (-1, 1, 1)},
        {"moves": True},
    ],
    ids=["turned", "small", "large", "mirrored", "moving"],
)
def test_feet_stand_still_wherever_the_armature_is(place: dict[str, Any], kind: str) -> None:
    obj = walkers.walker()
    for name, value in place.items():
        if name != "moves":
            setattr(obj, name, value)
    if "moves" in place:  # the object turns and drifts under its walk, and the targets hang on it
        for frame, turn in ((1, 0.0), (walkers.LAST, 0.02)):
            obj.rotation_euler.z = turn
            obj.keyframe_insert("rotation_euler", frame=frame)
            rigs.key_location(obj, frame, (0.0, -turn, 0.0))
    rigs.update()
    plans = setup.limb_plans(obj, arms=False, legs=True, target_kind=kind, target_space="FK")
    setup.add_chains(bpy.context, obj, plans)
    report = planting.plant_contacts(bpy.context, obj, contacts.detect(bpy.context, obj))
    assert report.holds == 6
    assert max(one.part_of_length for one in report.after) < STILL


def test_the_ease_is_over_at_the_first_frame_and_begins_at_the_last() -> None:
    """The report's own measure doesn't count here: ankles are read from the evaluated pose."""
    obj, _ = rig()
    one = Contact("shin.L", contacts.END, 26.0, 36.0)
    planting.plant_contacts(bpy.context, obj, [one])
    places = walkers.heads(obj, ("foot.L",), range(20, 44))["foot.L"]
    held = places[6:17]
    assert max((place - held[0]).length for place in held) < 1e-5
    steps = [(b - a).length for a, b in pairwise(places)]
    fk = [walkers.ankle(frame, 0) for frame in range(20, 44)]
    fastest = max(((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2) ** 0.5 for a, b in pairwise(fk))
    assert max(steps) < 1.2 * fastest  # handed over without a jump


def test_contacts_too_near_for_a_blend_stay_on_ik_and_stand_still() -> None:
    obj, _ = rig()
    found = [Contact("shin.L", contacts.END, 26.0, 29.0), Contact("shin.L", contacts.END, 33.0, 37.0)]
    planting.plant_contacts(bpy.context, obj, found)
    places = walkers.heads(obj, ("foot.L",), range(26, 38))["foot.L"]
    for row in (places[:4], places[7:]):
        assert max((place - row[0]).length for place in row) < 1e-5
    assert len([key for key in rigs.keys(obj)['pose.bones["shin.L"].limb_ik_use_ik', 0] if key[1] > 0.5]) == 1


def test_pinned_here_until_it_is_released() -> None:
    obj, _ = rig()
    rigs.frame_set(30)
    place = rigs.evaluated_pose(obj)["foot.L"].head
    planting.plant(bpy.context, obj, ["shin.L"])
    assert (walkers.heads(obj, ("foot.L",), range(36, 37))["foot.L"][0] - place).length < 1e-5
    rigs.frame_set(34)
    assert planting.release(bpy.context, obj, ["shin.L"]) == ["shin.L"]
    places = walkers.heads(obj, ("foot.L",), range(26, 48))["foot.L"]
    assert max((at - place).length for at in places[4:9]) < 1e-5
    for frame in (26, 38, 40, 47):
        away, height = walkers.ankle(frame, 0)
        assert (places[frame - 26] - Vector((0.1, -away, height))).length < SAME


def test_a_hand_goes_along_with_what_moves() -> None:
    obj, _ = rig()
    platform = rigs.empty("Platform")
    for frame, turn in ((30, 0.0), (38, 0.05)):
        platform.rotation_euler.z = turn
        platform.keyframe_insert("rotation_euler", frame=frame)
        rigs.key_location(platform, frame, (0.0, 0.0, (frame - 30) * 0.005))
    rigs.frame_set(30)
    planting.plant(bpy.context, obj, ["shin.L"], 30, 36, on=platform)
    relative = []
    for frame in range(30, 37):
        rigs.frame_set(frame)
        world = rigs.evaluated(platform).matrix_world
        relative.append(world.inverted() @ rigs.evaluated_pose(obj)["foot.L"].head)
    assert max((one - relative[0]).length for one in relative) < 1e-5


def test_markers_are_the_contacts() -> None:
    obj, tips = rig()
    found = contacts.detect(bpy.context, obj)
    contact_markers.put(bpy.context, obj, found, tips)
    assert contact_markers.read(bpy.context, obj) == found
    scene: Any = bpy.context.scene
    first = next(one for one in contact_markers.listed(bpy.context, obj) if one.tip == "shin.L")
    first.up.frame -= 2
    edited = contact_markers.read(bpy.context, obj)
    assert [one for one in edited if one not in found] == [
        Contact(first.tip, first.part, float(first.down.frame), float(first.up.frame))
    ]
    scene.timeline_markers.remove(first.up)
    with pytest.raises(LimbIKError, match="has no end"):
        contact_markers.read(bpy.context, obj)
    contact_markers.remove(bpy.context, obj, tips)
    assert not len(scene.timeline_markers)


def test_two_armatures_have_markers_of_their_own() -> None:
    obj, tips = rig()
    other = obj.copy()
    other.name = "Other"
    rigs._scene_collection().objects.link(other)
    contact_markers.put(bpy.context, obj, [Contact("shin.L", contacts.END, 3.0, 9.0)], tips)
    names = [marker.name for marker in bpy.context.scene.timeline_markers]
    assert names == ["Walker: foot.L down", "Walker: foot.L up"]
    assert contact_markers.listed(bpy.context, obj)


def test_a_moved_offset_target_is_refused_and_nothing_changes() -> None:
    obj, _ = rig()
    rigs.bone(obj, "shin.L").limb_ik_target.location.z += 0.1
    rigs.update()
    keys = rigs.keys(obj)
    with pytest.raises(LimbIKError, match="offset on the motion and was moved"):
        contacts.detect(bpy.context, obj)
    assert rigs.keys(obj) == keys


def test_a_swim_has_no_contact_and_nothing_is_written() -> None:
    obj = rigs.build(walkers.bones(), "Swimmer")
    for frame in range(1, 60):
        rigs.key_rotation(rigs.turn(obj, "thigh.L", "X", 0.4 if frame % 12 < 6 else -0.4), frame)
        rigs.key_rotation(rigs.turn(obj, "thigh.R", "X", -0.4 if frame % 12 < 6 else 0.4), frame)
        rigs.key_location(obj, frame, (0.0, -0.06 * frame, 0.0))
    setup.add_chains(
        bpy.context, obj, setup.limb_plans(obj, arms=False, legs=True, target_kind="EMPTY", target_space="FK")
    )
    keys = rigs.keys(obj)
    with pytest.raises(LimbIKError, match="no contact found"):
        contacts.detect(bpy.context, obj)
    assert rigs.keys(obj) == keys


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda obj: planting.plant(bpy.context, obj, ["shin.L"], 9, 3), "before it begins"),
        (lambda obj: planting.plant_contacts(bpy.context, obj, []), "no contact"),
        (lambda obj: planting.release(bpy.context, obj), "nothing of 'Walker' is planted"),
        (lambda obj: planting.plant(bpy.context, obj, ["toe.L"]), "no chain ends at"),
    ],
)
def test_bad_input_is_one_sentence(call: Any, words: str) -> None:
    obj, _ = rig()
    keys = rigs.keys(obj)
    with pytest.raises(LimbIKError, match=words):
        call(obj)
    assert rigs.keys(obj) == keys


@pytest.mark.parametrize("what", ["place", "turn", "pole"])
def test_offsets_that_act_are_refused_before_planting(what: str) -> None:
    obj = walkers.walker()
    bpy.ops.limb_ik.add_limbs(armature=obj.name, arms=False, motion="FK")
    tip = rigs.bone(obj, "shin.L")
    tip.limb_ik_end_rotation = "TARGET"
    if what == "place":
        tip.limb_ik_target.location.z += 0.1
    elif what == "turn":
        tip.limb_ik_target.rotation_euler.x += 0.6
    else:
        tip.limb_ik_pole.location.x += 0.3
    rigs.update()
    with pytest.raises(LimbIKError, match="is an offset on the motion and was moved"):
        planting.plant(bpy.context, obj, ["shin.L"], 30, 40)


def test_a_target_below_a_scale_of_nothing_is_named() -> None:
    obj = walkers.walker()
    bpy.ops.limb_ik.add_limbs(armature=obj.name, arms=False)
    above = rigs.empty("Above")
    above.scale = (0.0, 0.0, 0.0)
    target = rigs.bone(obj, "shin.L").limb_ik_target
    target.parent = above
    rigs.update()
    with pytest.raises(LimbIKError, match=f"'{target.name}' hangs on what is scaled to nothing"):
        planting.plant(bpy.context, obj, ["shin.L"], 30, 40)


@pytest.mark.parametrize("on", ["own end", "own shin", "carried", "other foot", "itself"])
def test_a_foot_is_not_planted_on_what_it_carries(on: str) -> None:
    obj, _ = rig()
    carried = rigs.empty("Carried", parent=obj)
    carried.parent_type, carried.parent_bone = 'BONE', "foot.L"
    rigs.update()
    bone = {"own end": "foot.L", "own shin": "shin.L", "other foot": "foot.R"}.get(on, "")
    what = carried if on == "carried" else obj
    if on in ("other foot", "itself"):
        assert planting.plant(bpy.context, obj, ["shin.L"], 30, 36, on=what, on_bone=bone).holds == 1
        return
    before = rigs.keys(obj)
    said = f"'shin.L' can't be planted on '{bone or 'Carried'}', which hangs on the chain"
    with pytest.raises(LimbIKError, match=said):
        planting.plant(bpy.context, obj, ["shin.L"], 30, 36, on=what, on_bone=bone)
    assert rigs.keys(obj) == before
