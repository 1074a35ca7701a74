"""Targets that parents, constraints and shapes give to solved bones: carried exactly where that can be, else named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from limb_ik.rig import chains
from limb_ik.rig.crowd import plan
from mathutils import Matrix

import rigs

pytestmark = pytest.mark.usefixtures("blank")

# LB: two-bone tip, 1e-5 of a reach of 2.
ON_TARGET = 2e-5
UNSOLVED = "which shows them unsolved"
FRAMES = (1, 5, 10)


def upper_rig() -> bpy.types.Object:
    obj, target = rigs.l2b("B"), rigs.empty("TB")
    rigs.add_chain_by_properties(obj, "lo", target)
    rigs.key_location(target, 1, (0.2, -0.3, 1.3))
    rigs.key_location(target, 10, (0.4, -0.5, 1.1))
    return obj


def lower_rig(target: bpy.types.Object) -> Any:
    obj = rigs.l2b("A", location=(0.3, -0.6, 0.2))
    rigs.add_chain_by_properties(obj, "lo", target)
    return obj


def parented(target: bpy.types.Object, upper: bpy.types.Object) -> bpy.types.Object:
    target.parent, target.parent_type, target.parent_bone = upper, "BONE", "hand"
    return target


def held(target: Any, kind: str, holder: bpy.types.Object, bone: str = "") -> Any:
    constraint = target.constraints.new(kind)
    if kind == "ARMATURE":
        entry = constraint.targets.new()
        entry.target, entry.subtarget = holder, bone
    else:
        constraint.target = holder
        if bone:
            constraint.subtarget = bone
    return constraint


def at_rest_inverse(obj: Any, bone: str) -> Matrix:
    return (obj.matrix_world @ obj.pose.bones[bone].bone.matrix_local).inverted()


def child_of_empty(target: Any, _upper: Any) -> None:
    held(target, "CHILD_OF", rigs.empty("E", (0.1, 0.1, 0.1), rotation=(0, 0, 0.8)))


def child_of_hand(target: Any, upper: Any) -> None:
    held(target, "CHILD_OF", upper, "hand").inverse_matrix = at_rest_inverse(upper, "hand")


def armature_elsewhere(target: Any, _upper: Any) -> None:
    other = rigs.l2b("Other", location=(0.1, 0.1, 0.1), rotation=(0, 0, 0.8))
    rigs.turn(other, "up", "X", 0.4)
    held(target, "ARMATURE", other, "up")


def armature_on_hand(target: Any, upper: Any) -> None:
    """An armature whose object hangs on the hand, and whose bone is posed."""
    other = parented(rigs.l2b("Other", location=(0.1, 0.0, -0.2)), upper)
    rigs.turn(other, "up", "X", 0.4)
    held(target, "ARMATURE", other, "up")


def armature_of_hand(target: Any, upper: Any) -> None:
    held(target, "ARMATURE", upper, "hand")


def location_of_hand(target: Any, upper: Any) -> None:
    held(target, "COPY_LOCATION", upper, "hand")


HOLDS = [
    child_of_empty,
    child_of_hand,
    armature_elsewhere,
    armature_on_hand,
    armature_of_hand,
    location_of_hand,
]


@pytest.mark.parametrize("hold", HOLDS)
@pytest.mark.parametrize("is_on_hand", [True, False])
def test_a_target_with_a_parent_and_a_rigid_constraint_is_carried_through_both(
    hold: Callable[[Any, Any], None], is_on_hand: bool
) -> None:
    upper = upper_rig()
    target = rigs.empty("T", (0.05, 0.0, -0.4))
    if is_on_hand:
        parented(target, upper)
    else:
        target.parent = rigs.empty("P", (0.2, -0.2, 1.2), rotation=(0.1, 0.2, 0.3))
    hold(target, upper)
    obj = lower_rig(target)
    for frame in FRAMES:
        rigs.frame_set(frame)
        goal = rigs.world_position(target)
        if obj.pose.bones["lo"].limb_ik_status == "REACHED":
            assert rigs.tip_error(obj, "lo", target) <= ON_TARGET
        else:  # out of reach, but on the line to it
            root, tip = rigs.evaluated_pose(obj)["up"].head, rigs.evaluated_pose(obj)["lo"].tail
            assert ((tip - root).normalized() - (goal - root).normalized()).length <= ON_TARGET
        assert obj.pose.bones["lo"].limb_ik_message.find(UNSOLVED) < 0


def keyed_hold(target: Any, upper: Any, at: int, values: tuple[float, float]) -> None:
    constraint = held(target, "CHILD_OF", upper, "hand")
    constraint.inverse_matrix = at_rest_inverse(upper, "hand")
    for frame, value in zip((1, at), values, strict=True):
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)
    rigs.set_interpolation(target, "CONSTANT")


def test_another_scene_has_the_influence_of_its_own_frame() -> None:
    upper, target = upper_rig(), rigs.empty("T", (0.1, 0.1, 1.1))
    keyed_hold(target, upper, 6, (0.0, 1.0))
    obj = lower_rig(target)
    rigs.frame_set(2)
    other = bpy.data.scenes.new("Other")
    assert bpy.context.scene is not None
    for one in bpy.context.scene.objects:
        other.collection.objects.link(one)
    for frame in (3, 8):
        other.frame_set(frame)
        depsgraph = other.view_layers[0].depsgraph
        seen, goal = obj.evaluated_get(depsgraph), target.evaluated_get(depsgraph).matrix_world.translation
        assert (seen.matrix_world @ seen.pose.bones["lo"].tail - goal).length <= ON_TARGET


def test_a_prop_that_is_handed_over_is_carried_by_the_hand_that_has_it() -> None:
    upper, target = upper_rig(), rigs.empty("T", (0.1, 0.1, 1.1))
    keyed_hold(target, upper, 6, (0.0, 1.0))
    second = rigs.l2b("C", location=(0.8, -1.2, 0))
    rigs.add_chain_by_properties(second, "lo", rigs.empty("TC", (0.6, -0.9, 1.2)))
    keyed_hold(target, second, 6, (1.0, 0.0))
    obj = lower_rig(target)
    for frame in (1, 3, 6, 8, 2):
        rigs.frame_set(frame)
        assert rigs.tip_error(obj, "lo", target) <= ON_TARGET
        assert obj.pose.bones["lo"].limb_ik_message == ""


def skinned(upper: bpy.types.Object) -> bpy.types.Object:
    mesh = bpy.data.meshes.new("M")
    mesh.from_pydata([(0, 0, 1.6), (0.1, 0, 1.6), (0, 0.1, 1.6)], [], [(0, 1, 2)])
    obj = bpy.data.objects.new("M", mesh)
    assert bpy.context.scene is not None
    bpy.context.scene.collection.objects.link(obj)
    obj.vertex_groups.new(name="hand").add([0, 1, 2], 1, "REPLACE")
    modifier: Any = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = upper
    return obj


def on_vertices(target: Any, shape: bpy.types.Object) -> None:
    target.parent, target.parent_type, target.parent_vertices = shape, "VERTEX_3", (0, 1, 2)


def on_group(target: Any, shape: bpy.types.Object) -> None:
    held(target, "COPY_LOCATION", shape, "hand")


def child_of_group(target: Any, shape: bpy.types.Object) -> None:
    held(target, "CHILD_OF", shape, "hand")


def shrunk(target: Any, shape: bpy.types.Object) -> None:
    target.location = (0, -0.3, 1.3)
    held(target, "SHRINKWRAP", shape)


@pytest.mark.parametrize("hold", [on_vertices, on_group, child_of_group, shrunk])
def test_a_target_that_follows_the_shape_of_a_skinned_mesh_is_named(
    hold: Callable[[Any, bpy.types.Object], None],
) -> None:
    upper, target = upper_rig(), rigs.empty("T")
    hold(target, skinned(upper))
    obj = lower_rig(target)
    rigs.frame_set(5)
    tip = obj.pose.bones["lo"]
    assert tip.limb_ik_message == f"'T' follows solved bones through the shape of 'M', {UNSOLVED}"
    for constraint in target.constraints:
        constraint.mute = True
        rigs.frame_set(6)
        assert UNSOLVED not in tip.limb_ik_message


def test_a_parent_under_a_constraint_that_moves_the_target_as_well_is_named() -> None:
    upper, target = upper_rig(), rigs.empty("T", (0.05, 0.0, -0.4))
    limit = parented(target, upper).constraints.new("LIMIT_LOCATION")
    obj = lower_rig(target)
    rigs.frame_set(5)
    named = f"target 'T' follows solved bones through 'Limit Location', {UNSOLVED}"
    assert obj.pose.bones["lo"].limb_ik_message == named
    limit.mute = True
    rigs.frame_set(6)
    assert obj.pose.bones["lo"].limb_ik_message == ""
    target.constraints.new("LIMIT_ROTATION")
    rigs.frame_set(7)
    assert obj.pose.bones["lo"].limb_ik_message == ""


def test_a_muted_constraint_above_a_chain_leaves_it_plain_unless_that_is_keyed() -> None:
    obj, target = rigs.l2b("A", root=True), rigs.empty("T", (0.6, -0.4, 1.2))
    rigs.add_chain_by_properties(obj, "lo", target)
    constraint = held(rigs.bone(obj, "root"), "COPY_LOCATION", upper_rig(), "hand")
    constraint.mute = True
    rigs.frame_set(2)
    assert len(plan.make_plan(chains.setup_of(obj)).chains) == 1
    constraint.keyframe_insert("influence", frame=1)
    rigs.frame_set(3)
    assert not plan.make_plan(chains.setup_of(obj)).chains
    assert rigs.bone(obj, "lo").limb_ik_message == ""
    constraint.mute = False
    rigs.frame_set(4)
    assert UNSOLVED in rigs.bone(obj, "lo").limb_ik_message


def two_arms() -> bpy.types.Object:
    """Two arms, a prop for both hands with a grip below it, and a strap that hangs on the grip."""
    bones = []
    for side, x in (("R", 0.0), ("L", 0.6)):
        joints = [(x, 0, 0), (x, 0.6, 0.8), (x, 0, 1.6), (x, 0, 1.9)]
        for number, (part, above) in enumerate((("up", ""), ("lo", "up"), ("hand", "lo"))):
            parent = f"{above}.{side}" if above else ""
            bones.append(rigs.BoneSpec(f"{part}.{side}", joints[number], joints[number + 1], parent))
    bones += [
        rigs.BoneSpec("prop", (0, 0, 1.6), (0.3, 0, 1.6)),
        rigs.BoneSpec("grip", (0.2, 0, 1.6), (0.3, 0, 1.6), "prop"),
        rigs.BoneSpec("strap", (0.3, 0.1, 1.6), (0.3, 0.1, 1.5)),
    ]
    obj = rigs.build(bones)
    target = rigs.empty("T")
    rigs.key_location(target, 1, (0.3, -0.4, 1.1))
    rigs.key_location(target, 10, (0.1, -0.6, 0.9))
    rigs.add_chain_by_properties(obj, "lo.R", target, end_bone="hand.R")
    return obj


def hold_prop(obj: Any, kind: str, holder: Any, bone: str = "prop", by: str = "hand.R") -> Any:
    constraint = held(rigs.bone(obj, bone), kind, holder, by)
    if kind == "CHILD_OF":
        constraint.inverse_matrix = at_rest_inverse(holder, by)
    return constraint


RIGID = ["CHILD_OF", "COPY_TRANSFORMS", "COPY_LOCATION", "ARMATURE"]


def left_misses(obj: Any, goal: Any) -> float:
    return (rigs.evaluated_pose(obj)["hand.L"].head - goal).length


@pytest.mark.parametrize("kind", RIGID)
@pytest.mark.parametrize("bone", ["prop", "grip", "strap"])
def test_the_other_hand_reaches_for_a_prop_bone_that_the_solved_hand_holds(kind: str, bone: str) -> None:
    obj = two_arms()
    hold_prop(obj, kind, obj)
    if bone == "strap":
        hold_prop(obj, "COPY_LOCATION", obj, "strap", "grip")
    tip: Any = rigs.add_chain_by_properties(obj, "lo.L", obj, target_bone=bone, end_bone="hand.L")
    rigs.update()
    for frame in (1, 6, 10):
        rigs.frame_set(frame)
        assert left_misses(obj, rigs.evaluated_pose(obj)[bone].head) <= ON_TARGET
        assert tip.limb_ik_message == ""
    bpy.data.objects["T"].location = (0.2, -0.5, 1.0)
    rigs.update()
    assert left_misses(obj, rigs.evaluated_pose(obj)[bone].head) <= ON_TARGET


@pytest.mark.parametrize("kind", RIGID)
@pytest.mark.parametrize("is_object", [False, True])
def test_the_other_hand_reaches_for_an_armature_whose_bone_the_solved_hand_holds(kind: str, is_object: bool) -> None:
    obj = two_arms()
    sword = rigs.l2b("Sword", root=True, location=(0.1, 0.1, 1.0), scale=0.1)
    hold_prop(sword, kind, obj, "root")
    bone = "up" if kind == "COPY_TRANSFORMS" else "lo"  # that makes the sword as large as the hand
    if is_object:
        target = rigs.empty("Grip", (0.1, -0.4, 0))
        target.parent, target.parent_type, target.parent_bone = sword, "BONE", "root"
        tip: Any = rigs.add_chain_by_properties(obj, "lo.L", target, end_bone="hand.L")
    else:
        tip = rigs.add_chain_by_properties(obj, "lo.L", sword, target_bone=bone, end_bone="hand.L")

    def misses() -> float:
        place = rigs.world_position(bpy.data.objects["Grip"]) if is_object else None
        return left_misses(obj, place or rigs.evaluated_pose(sword)[bone].head)

    rigs.update()
    for frame in (1, 6, 10):
        rigs.frame_set(frame)
        assert misses() <= ON_TARGET
        assert tip.limb_ik_message == ""
    bpy.data.objects["T"].location = (0.2, -0.5, 1.0)
    rigs.update()
    assert misses() <= ON_TARGET


def test_a_prop_bone_that_is_held_by_half_or_twice_is_named() -> None:
    obj = two_arms()
    constraint = hold_prop(obj, "CHILD_OF", obj)
    tip: Any = rigs.add_chain_by_properties(obj, "lo.L", obj, target_bone="grip", end_bone="hand.L")
    rigs.frame_set(2)
    assert tip.limb_ik_message == ""
    constraint.influence = 0.5
    obj.update_tag()
    rigs.frame_set(3)
    assert tip.limb_ik_message == f"'prop' follows solved bones through constraint 'Child Of', {UNSOLVED}"
    constraint.influence = 1.0
    hold_prop(obj, "COPY_ROTATION", obj)
    rigs.frame_set(4)
    assert UNSOLVED in tip.limb_ik_message


@pytest.mark.parametrize("kind", ["CHILD_OF", "COPY_LOCATION"])
def test_chain_and_target_below_a_bone_that_is_held_stay_together_and_are_named(kind: str) -> None:
    upper = upper_rig()
    goal = rigs.BoneSpec("goal", (0.3, -0.3, 1.2), (0.3, -0.3, 1.4), "root")
    obj = rigs.build([*rigs.with_root(rigs.RIGS["L2B"]), goal], "A")
    hold_prop(obj, kind, upper, "root", "hand")
    tip: Any = rigs.add_chain_by_properties(obj, "lo", obj, target_bone="goal")
    for frame in FRAMES:
        rigs.frame_set(frame)
        pose = rigs.evaluated_pose(obj)
        assert (pose["lo"].tail - pose["goal"].head).length <= ON_TARGET
        assert UNSOLVED in tip.limb_ik_message


def on_hand(upper: Any) -> Any:
    return parented(rigs.empty("Between", (0.1, 0.0, 0.0)), upper)


def below_that(upper: Any) -> Any:
    between = rigs.empty("Below", (0.1, 0.0, 0.0))
    between.parent = on_hand(upper)
    return between


def turned_like_the_hand(upper: Any) -> Any:
    between = rigs.empty("Turned", (0.1, 0.0, 0.0))
    held(between, "COPY_ROTATION", upper, "hand")
    return between


def on_a_bone_turned_like_the_hand(upper: Any) -> Any:
    other = rigs.l2b("Other", location=(2.0, 0.0, 0.0))
    held(other.pose.bones["lo"], "COPY_ROTATION", upper, "hand")
    return parented(rigs.empty("Between", (0.1, 0.0, 0.0)), other)


def constrained(root: Any, between: Any) -> None:
    held(root, "COPY_ROTATION", between)


def driven(root: Any, between: Any) -> None:
    drive(root, between, "TRANSFORMS", "")


def driven_by_its_matrix(root: Any, between: Any) -> None:
    drive(root, between, "SINGLE_PROP", "matrix_world[0][3]")


def drive(root: Any, between: Any, kind: str, path: str) -> None:
    driver: Any = root.driver_add("location", 0).driver
    driver.type = "SUM"
    variable = driver.variables.new()
    variable.type = kind
    variable.targets[0].id = between
    if path:
        variable.targets[0].data_path = path


@pytest.mark.parametrize("look", [constrained, driven, driven_by_its_matrix])
@pytest.mark.parametrize("make", [on_hand, below_that, turned_like_the_hand, on_a_bone_turned_like_the_hand])
def test_a_root_that_looks_at_an_object_which_hangs_on_solved_bones_is_named_while_they_are(
    make: Callable[[Any], Any], look: Callable[[Any, Any], None]
) -> None:
    upper = upper_rig()
    obj = rigs.rig("L2B", "A", root=True, location=(0.3, -0.6, 0.2))
    look(obj.pose.bones["root"], make(upper))
    tip: Any = rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.4, -0.5, 1.1)))
    rigs.frame_set(5)
    assert "'root' follows solved bones through" in tip.limb_ik_message
    assert tip.limb_ik_message.endswith(UNSOLVED)
    upper_tip: Any = rigs.bone(upper, "lo")
    upper_tip.limb_ik_solver = "NONE"
    rigs.update()
    rigs.frame_set(6)
    assert UNSOLVED not in tip.limb_ik_message
