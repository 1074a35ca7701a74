"""Rigs whose chains reach for what the bones of other rigs move: solved with them at every edit, hidden or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest

import rigs

pytestmark = pytest.mark.usefixtures("blank")

# LB: two-bone tip, 1e-5 of a reach of 2.
ON_TARGET = 2e-5


def upper_rig() -> tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]:
    """A rig with target and pole, whose hand others hang on."""
    obj = rigs.l2b("B")
    target, pole = rigs.empty("TB", (0.5, -0.6, 0.9)), rigs.empty("PB", (0, 3, 0.8))
    rigs.add_chain_by_properties(obj, "lo", target, pole, chain_length=2)
    return obj, target, pole


def held_target(upper: bpy.types.Object, how: str) -> bpy.types.Object:
    target = rigs.empty("T")
    if how == "PARENT":
        target.parent, target.parent_type, target.parent_bone = upper, "BONE", "hand"
    elif how == "GRANDPARENT":
        target.parent = held_target(upper, "PARENT")
    else:
        constraint: Any = target.constraints.new(how)
        constraint.target, constraint.subtarget = upper, "hand"
    return target


def lower_rig(upper: bpy.types.Object, how: str = "BONE") -> bpy.types.Object:
    obj = rigs.l2b("A", location=(0.3, -1, 0.2))
    if how == "BONE":
        rigs.add_chain_by_properties(obj, "lo", upper, target_bone="hand")
    elif how == "ARMATURE":
        obj.parent, obj.parent_type, obj.parent_bone = upper, "BONE", "hand"
        rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.9, 0.8)))
    else:
        rigs.add_chain_by_properties(obj, "lo", held_target(upper, how))
    rigs.update()
    return obj


def miss(obj: bpy.types.Object, upper: bpy.types.Object) -> float:
    link = rigs.bone(obj, "lo").limb_ik_target
    goal = rigs.evaluated_pose(upper)["hand"].head if link == upper else rigs.world_position(link)
    return rigs.tip_error(obj, "lo", goal)


@pytest.mark.parametrize("how", ["BONE", "PARENT", "GRANDPARENT", "CHILD_OF", "COPY_LOCATION", "ARMATURE"])
def test_a_rig_that_hangs_on_a_solved_hand_follows_in_the_same_update(how: str) -> None:
    upper, target, pole = upper_rig()
    obj = lower_rig(upper, how)
    for place in ((0.6, -0.4, 1.2), (0.3, -0.5, 1.2)):
        target.location = place
        rigs.update()
        assert miss(obj, upper) <= ON_TARGET
    pole.location = (3, 0, 0.8)
    rigs.update()
    assert miss(obj, upper) <= ON_TARGET


def test_a_rig_follows_through_a_rig_between() -> None:
    upper, target, _ = upper_rig()
    between = lower_rig(upper)
    last = rigs.l2b("Last", location=(0.5, -1.2, 0.1))
    rigs.add_chain_by_properties(last, "lo", between, target_bone="hand")
    rigs.update()
    target.location = (0.3, -0.5, 1.2)
    rigs.update()
    assert miss(last, between) <= ON_TARGET


@pytest.mark.parametrize("is_updated", [True, False])
def test_a_target_of_a_keyed_rig_that_is_given_to_a_solved_hand_later_follows(is_updated: bool) -> None:
    upper, target, _ = upper_rig()
    obj = rigs.l2b("A", location=(0.3, -1, 0.2))
    for frame in (1, 20):
        rigs.turn(obj, "up", "X", 0.01 * frame)
        for name in ("up", "lo"):
            rigs.key_rotation(rigs.bone(obj, name), frame)
    held = rigs.empty("T", (0.3, -0.6, 1.0))
    rigs.add_chain_by_properties(obj, "lo", held)
    rigs.update()
    rigs.frame_set(2)
    constraint: Any = held.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = upper, "hand"
    if is_updated:
        rigs.update()
    else:
        rigs.frame_set(3)
    assert miss(obj, upper) <= ON_TARGET
    target.location = (0.3, -0.5, 1.2)
    rigs.update()
    assert miss(obj, upper) <= ON_TARGET


def hidden_in_viewports(*objects: bpy.types.Object) -> None:
    for obj in objects:
        obj.hide_viewport = True


def excluded(*objects: bpy.types.Object) -> None:
    assert bpy.context.scene is not None
    assert bpy.context.view_layer is not None
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    for obj in objects:
        collection.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True


def in_another_scene(*objects: bpy.types.Object) -> None:
    assert bpy.context.scene is not None
    other = bpy.data.scenes.new("Other")
    for obj in objects:
        other.collection.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)


def poses(obj: bpy.types.Object) -> dict[int, Any]:
    found = {}
    for frame in (19, 3, 11):
        rigs.frame_set(frame)
        found[frame] = rigs.local_rotations(obj)
    return found


@pytest.mark.parametrize("hide", [hidden_in_viewports, excluded, in_another_scene])
@pytest.mark.parametrize("is_hidden_first", [False, True])
def test_what_a_hidden_rig_needs_is_evaluated_for_the_one_that_hangs_on_it(
    hide: Callable[..., None], is_hidden_first: bool
) -> None:
    upper, target, pole = upper_rig()
    rigs.key_location(target, 1, (0.5, -0.6, 1.0))
    rigs.key_location(target, 20, (-0.2, -0.4, 1.2))
    shown = poses(lower_rig(upper))
    bpy.data.objects.remove(bpy.data.objects["A"])
    if is_hidden_first:
        hide(upper, target, pole)
        obj = lower_rig(upper)
    else:
        obj = lower_rig(upper)
        hide(upper, target, pole)
    rigs.update()
    for frame, rotations in poses(obj).items():
        assert rigs.local_distance(shown[frame], rotations) <= 1e-5


def test_a_new_target_of_a_hidden_rig_is_evaluated_for_the_one_that_hangs_on_it() -> None:
    upper, target, pole = upper_rig()
    obj = lower_rig(upper)
    other = rigs.empty("Other")
    rigs.key_location(other, 1, (0.5, -0.6, 1.0))
    rigs.key_location(other, 20, (-0.2, -0.4, 1.2))
    rigs.bone(upper, "lo").limb_ik_target = other
    rigs.update()
    shown = poses(obj)
    hidden_in_viewports(upper, target, pole, other)
    rigs.update()
    for frame, rotations in poses(obj).items():
        assert rigs.local_distance(shown[frame], rotations) <= 1e-5


def two_arms(name: str, x: float) -> bpy.types.Object:
    joints = [(0.0, 0.0, 0.0), (0.0, 0.6, 0.8), (0.0, 0.0, 1.6), (0.0, 0.0, 1.9)]
    bones = [
        rigs.BoneSpec(f"{part}.{side}", (out, *joints[i][1:]), (out, *joints[i + 1][1:]), f"{above}.{side}" * (i > 0))
        for side, out in (("L", 0.4), ("R", -0.4))
        for i, (part, above) in enumerate((("up", ""), ("lo", "up"), ("hand", "lo")))
    ]
    return rigs.build(bones, name, location=(x, 0, 0))


def test_rigs_that_hold_each_other_make_no_circle_for_blender(capfd: pytest.CaptureFixture[str]) -> None:
    a, b = two_arms("A", 0.0), two_arms("B", 1.0)
    rigs.add_chain_by_properties(a, "lo.L", b, target_bone="hand.R")
    rigs.add_chain_by_properties(b, "lo.L", a, target_bone="hand.R")
    for obj in (a, b):
        rigs.add_chain_by_properties(obj, "lo.R", rigs.empty(f"T{obj.name}", (0.4, -0.4, 1.2)))
    rigs.update()
    rigs.frame_set(3)
    for obj, other in ((a, b), (b, a)):
        assert rigs.tip_error(obj, "lo.L", rigs.evaluated_pose(other)["hand.R"].head) <= ON_TARGET
    assert "cycle" not in "".join(capfd.readouterr()).lower()
