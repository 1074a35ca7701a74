"""What a script edits before a frame change is noticed, without an update before it; frames alone read nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from limb_ik.rig import chains, updates
from mathutils import Quaternion

import rigs

pytestmark = pytest.mark.usefixtures("blank")

# LB: two-bone tip, 1e-5 of a reach of 2.
ON_TARGET = 2e-5
# Radians: the same solve of the same frame, in singles.
SAME = 1e-5


def limb(name: str = "Rig", x: float = 0.0, **settings: Any) -> tuple[bpy.types.Object, bpy.types.Object]:
    obj = rigs.l2b(name, root=True, location=(x, 0, 0))
    target = rigs.empty(f"T{name}")
    rigs.key_location(target, 1, (x + 0.5, -0.4, 1.2))
    rigs.key_location(target, 20, (x + 0.1, -0.6, 1.0))
    rigs.add_chain_by_properties(obj, "lo", target, **settings)
    rigs.update()
    rigs.frame_set(2)
    return obj, target


def said(obj: bpy.types.Object, tip: str = "lo") -> tuple[str, str]:
    bone: Any = rigs.bone(obj, tip)
    return bone.limb_ik_status, bone.limb_ik_message


def test_a_constraint_on_a_bone_of_a_chain() -> None:
    obj, target = limb()
    constraint: Any = rigs.bone(obj, "up").constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = rigs.l2b("Other", location=(3, 0, 0)), "up"
    active = "INVALID", "constraint 'Copy Rotation' on 'up' is active"
    rigs.frame_set(3)
    assert said(obj) == active
    constraint.mute = True
    rigs.frame_set(4)
    assert said(obj) == ("REACHED", "")
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET
    constraint.mute = False
    rigs.frame_set(5)
    assert said(obj) == active
    rigs.bone(obj, "up").constraints.remove(constraint)
    rigs.frame_set(6)
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET


def test_a_driver_on_a_bone_of_a_chain() -> None:
    obj, _ = limb()
    rigs.bone(obj, "up").driver_add("rotation_quaternion", 0).driver.expression = "0.5"
    rigs.frame_set(3)
    assert "is driven" in said(obj)[1]


def test_a_tip_that_was_renamed() -> None:
    obj, target = limb()
    rigs.armature_of(obj).bones["lo"].name = "below"
    rigs.frame_set(3)
    assert said(obj, "below") == ("REACHED", "")
    assert rigs.tip_error(obj, "below", target) <= ON_TARGET


def test_a_target_that_is_taken_out_of_its_scene_and_put_back() -> None:
    obj, target = limb()
    assert bpy.context.scene is not None
    bpy.context.scene.collection.objects.unlink(target)
    rigs.frame_set(3)
    assert said(obj) == ("INVALID", "target 'TRig' is in no scene")
    bpy.context.scene.collection.objects.link(target)
    rigs.frame_set(4)
    assert rigs.tip_error(obj, "lo", target) <= ON_TARGET


def test_a_target_that_is_given_to_a_hidden_rig() -> None:
    upper, _ = limb("Upper")
    obj, _ = limb("Lower", 0.3)
    for one in (upper, bpy.data.objects["TUpper"]):
        one.hide_viewport = True
    held = rigs.empty("Held")
    held.parent, held.parent_type, held.parent_bone = upper, "BONE", "lo"
    rigs.bone(obj, "lo").limb_ik_target = held
    for frame in (3, 9, 15):  # the first shows it as it was: what is needed is known from then on
        rigs.frame_set(frame)
    upper_target = bpy.data.objects["TUpper"]
    upper_target.hide_viewport = upper.hide_viewport = False
    shown = rigs.local_rotations(obj)
    rigs.update()
    rigs.frame_set(15)
    assert rigs.local_distance(shown, rigs.local_rotations(obj)) <= 1e-5


@pytest.mark.parametrize("is_noticed", [True, False])
@pytest.mark.parametrize("whose", ["own", "target's"])
def test_an_armature_that_loses_bones_costs_the_other_rigs_nothing(
    whose: str, is_noticed: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    obj, _ = limb(end_bone="hand")
    prop = rigs.l2s("Prop", location=(0.6, -0.4, 0.2))
    if whose == "target's":
        rigs.add_chain_by_properties(obj, "lo", prop, target_bone="hand", end_bone="hand")
    other, target = limb("Other", 3.0)
    if not is_noticed:
        monkeypatch.setattr(updates, "is_set_up_anew", lambda _: False)
    few = rigs.build([rigs.BoneSpec("lo", (0, 0, 0), (0, 0, 1))], "Few")
    (obj if whose == "own" else prop).data = few.data
    for frame in (4, 9):
        rigs.frame_set(frame)
        assert rigs.tip_error(other, "lo", target) <= ON_TARGET
        assert said(obj)[0] == "INVALID"
    assert "Error" not in capfd.readouterr().err


def animated_scene(_obj: bpy.types.Object) -> None:
    scene: Any = bpy.context.scene
    for frame in (1, 20):
        scene.gravity = (0, 0, -frame)
        scene.keyframe_insert("gravity", frame=frame)


def driven_scene(_obj: bpy.types.Object) -> None:
    scene: Any = bpy.context.scene
    scene.driver_add("gravity", 0).driver.expression = "frame"


def animated_armature(obj: bpy.types.Object) -> None:
    data: Any = obj.data
    for frame in (1, 20):
        data["number"] = float(frame)
        data.keyframe_insert('["number"]', frame=frame)


def driven_armature(obj: bpy.types.Object) -> None:
    rigs.armature_of(obj).bones["hand"].driver_add("hide").driver.expression = "frame > 5"


def nothing(_obj: bpy.types.Object) -> None:
    pass


@pytest.mark.parametrize("animate", [nothing, animated_scene, driven_scene, animated_armature, driven_armature])
def test_frames_alone_read_no_set_up_again(
    animate: Callable[[bpy.types.Object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    obj, target = limb()
    animate(obj)
    rigs.update()
    rigs.frame_set(3)
    read = list[str]()
    real = chains.read_setup
    monkeypatch.setattr(chains, "read_setup", lambda one: read.append(one.name) or real(one))
    for frame in (4, 5, 9, 6):
        rigs.frame_set(frame)
        assert rigs.tip_error(obj, "lo", target) <= ON_TARGET
    assert not read


def test_the_first_keys_of_a_rig_beside_a_target_that_is_given_to_another_rig() -> None:
    """Relations that change in a frame would have Blender give all keys once more, over what was solved."""
    keyed, _ = limb("Keyed", weight=0.6)
    above, _ = limb("Above", 3.0)
    below, given = limb("Below", 6.0)
    rigs.frame_set(3)
    rigs.key_rotation(rigs.bone(keyed, "lo"), 12, Quaternion((0.3, 0.6, 1.0), 0.4))
    given.parent, given.parent_type, given.parent_bone = above, "BONE", "root"
    for frame in (3, 4, 5):
        rigs.frame_set(frame)
        shown = rigs.local_rotations(keyed)
        rigs.frame_set(1)
        rigs.frame_set(frame)
        assert rigs.local_distance(shown, rigs.local_rotations(keyed)) <= SAME
        assert rigs.rotation_distance(shown["lo"], rigs.read_rotation(rigs.bone(keyed, "lo"))) <= SAME
        assert rigs.tip_error(below, "lo", given) <= ON_TARGET or said(below)[0] == "TOO_FAR"


def test_what_a_hidden_rig_above_needs_is_evaluated_from_the_next_frame_on() -> None:
    above, target = limb("Above")
    hand_target = rigs.empty("Hand's")
    below, given = limb("Below", 1.0)
    target.parent = hand_target
    for obj in (above, target, hand_target):
        obj.hide_viewport = True
    given.animation_data_clear()
    given.parent, given.parent_type, given.parent_bone = above, "BONE", "hand"
    given.location = (0.0, 0.0, 0.0)
    for frame in (3, 4, 5):
        rigs.frame_set(frame)
    goals = []
    for place in (0.0, 0.3):
        hand_target.location.z = place
        rigs.update()
        rigs.update()
        goals.append(rigs.world_position(given))
        assert rigs.tip_error(below, "lo", given) <= ON_TARGET or said(below)[0] == "TOO_FAR"
    assert (goals[0] - goals[1]).length > 0.05
