"""Scenarios about order: chains that hang on each other's bones, and what Blender does between them (LB-59, 60)."""

from __future__ import annotations

import math
from typing import Any

import bpy
import pytest

import rigs

pytestmark = pytest.mark.usefixtures("blank")

ON_TARGET = 1e-5
S = rigs.BoneSpec


def body() -> bpy.types.Object:
    """A spine of four, an arm on it, a finger on the hand; bones without parents to reach for and to be moved."""
    spine = [
        S(f"s{i}", (0, 0, 0.25 * i), (0, -0.02 * (i % 2), 0.25 * (i + 1)), f"s{i - 1}" if i else "", i > 0)
        for i in range(4)
    ]
    return rigs.build(
        [
            *spine,
            S("up", (0.2, 0, 1.0), (0.6, 0.05, 1.0), "s3"),
            S("lo", (0.6, 0.05, 1.0), (1.0, 0, 1.0), "up", True),
            S("hand", (1.0, 0, 1.0), (1.1, 0, 1.0), "lo", True),
            S("f1", (1.1, 0, 1.0), (1.2, 0.01, 1.0), "hand", True),
            S("f2", (1.2, 0.01, 1.0), (1.3, 0, 1.0), "f1", True),
            S("on_spine", (0.8, -0.3, 1.1), (0.8, -0.3, 1.2), "s3"),
            S("on_hand", (1.2, -0.05, 1.02), (1.2, -0.05, 1.1), "hand"),
        ]
    )


def with_chains(obj: bpy.types.Object) -> bpy.types.Object:
    """The finger first: the order in which chains are made must not matter. Arm and finger reach for solved bones."""
    rigs.add_chain_by_properties(obj, "f2", obj, target_bone="on_hand")
    rigs.add_chain_by_properties(obj, "lo", obj, target_bone="on_spine", end_bone="hand")
    goal = rigs.empty("Goal", (0.3, -0.2, 0.85))
    rigs.add_chain_by_properties(obj, "s3", goal, chain_length=4, solver="FABRIK")
    return goal


def misses(obj: bpy.types.Object, goal: bpy.types.Object) -> float:
    pose = rigs.evaluated_pose(obj)
    return max(
        rigs.tip_error(obj, "s3", goal),
        (pose["hand"].head - pose["on_spine"].head).length,
        (pose["f2"].tail - pose["on_hand"].head).length,
    )


def test_spine_arm_and_finger_on_each_others_bones_are_final_after_one_update() -> None:
    obj = body()
    goal = with_chains(obj)
    rigs.update()
    assert misses(obj, goal) <= ON_TARGET
    for place in ((-0.3, -0.1, 0.8), (0.1, 0.3, 0.7)):
        goal.location = place
        rigs.update()
        assert misses(obj, goal) <= ON_TARGET
    for frame in (1, 20):
        rigs.turn(obj, "s1", "X", math.radians(frame))
        rigs.key_rotation(rigs.bone(obj, "s1"), frame)
    shown = {}
    for frame in (5, 17, 9):
        rigs.frame_set(frame)
        shown[frame] = rigs.local_rotations(obj)
        assert misses(obj, goal) <= ON_TARGET
    for frame in (9, 17, 5):
        rigs.frame_set(frame)
        assert rigs.local_distance(shown[frame], rigs.local_rotations(obj)) <= 1e-5
    for tip in ("f2", "lo", "s3"):
        assert rigs.bone(obj, tip).limb_ik_message == ""


def moved_by_constraint(obj: bpy.types.Object, bone: str, kind: str = "COPY_LOCATION") -> None:
    constraint = rigs.bone(obj, bone).constraints.new(kind)
    constraint.target, constraint.subtarget = obj, "f2"


def moved_by_driver(obj: bpy.types.Object, bone: str, kind: str = "TRANSFORMS") -> None:
    curve = rigs.bone(obj, bone).driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.type = kind
    variable.targets[0].id = obj
    if kind == "SINGLE_PROP":
        variable.targets[0].data_path = 'pose.bones["f2"].location[0]'
    else:
        variable.targets[0].bone_target = "f2"


def limbs() -> tuple[bpy.types.Object, bpy.types.PoseBone]:
    """A finger with a chain, and a limb below `base`, with a target `goal`; neither hangs on the finger yet."""
    obj = rigs.build(
        [
            S("f1", (3, 0, 0), (3, 0.1, 1)),
            S("f2", (3, 0.1, 1), (3, 0, 2), "f1", True),
            S("base", (0, 0, -0.5), (0, 0, 0)),
            S("up", (0, 0, 0), (0, 0.6, 0.8), "base"),
            S("lo", (0, 0.6, 0.8), (0, 0, 1.6), "up", True),
            S("goal", (0.3, -0.3, 1.2), (0.3, -0.3, 1.4)),
        ]
    )
    rigs.add_chain_by_properties(obj, "f2", rigs.empty("F", (3.4, 0, 1.3)))
    tip = rigs.add_chain_by_properties(obj, "lo", obj, target_bone="goal")
    rigs.update()
    return obj, tip


HOWS = ["COPY_LOCATION", "COPY_ROTATION", "DAMPED_TRACK", "TRANSFORMS", "SINGLE_PROP"]


@pytest.mark.parametrize(
    ("how", "bone"),
    [*((how, "base") for how in HOWS), *((how, "goal") for how in HOWS[1:])],  # a copied location is carried
)
def test_bones_that_look_at_solved_bones_and_move_a_chain_are_named(how: str, bone: str) -> None:
    obj, tip = limbs()
    assert tip.limb_ik_message == ""
    (moved_by_driver if how in {"TRANSFORMS", "SINGLE_PROP"} else moved_by_constraint)(obj, bone, how)
    obj.update_tag()
    rigs.update()
    rigs.frame_set(4)
    assert f"'{bone}'" in tip.limb_ik_message
    assert "unsolved" in tip.limb_ik_message
    assert rigs.bone(obj, "f2").limb_ik_message == ""
    rigs.bone(obj, "f2").limb_ik_solver = "NONE"
    rigs.update()
    assert "unsolved" not in tip.limb_ik_message


def test_a_driven_target_object_and_weight_are_named() -> None:
    obj, tip = limbs()
    goal = rigs.empty("Goal", (0.3, -0.3, 1.2))
    tip.limb_ik_target, tip.limb_ik_target_bone = goal, ""
    rigs.update()
    assert "unsolved" not in tip.limb_ik_message
    variable = goal.driver_add("location", 1).driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = obj, "f2"
    goal.update_tag()
    obj.update_tag()
    rigs.update()
    assert "'Goal'" in tip.limb_ik_message
    goal.driver_remove("location", 1)
    variable = tip.driver_add("limb_ik_weight").driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = obj, "f2"
    obj.update_tag()
    rigs.update()
    assert "limb_ik_weight" in tip.limb_ik_message


def test_constraints_that_look_at_bones_that_no_chain_turns_are_not_named() -> None:
    obj, tip = limbs()
    constraint = rigs.bone(obj, "goal").constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = obj, "base"
    obj.update_tag()
    rigs.update()
    assert "unsolved" not in tip.limb_ik_message


@pytest.mark.parametrize("kind", ["COPY_LOCATION", "COPY_TRANSFORMS", "CHILD_OF"])
def test_a_target_with_a_parent_and_a_constraint_is_carried_once(kind: str) -> None:
    a, b = rigs.rig("L2B", "A"), rigs.rig("L2B", "B", location=(0, 0, 0.5))
    goal = rigs.empty("Goal", (0.5, -0.9, 0.9))
    rigs.add_chain_by_properties(a, "lo", goal)
    target = rigs.empty("T", (0.0, 0.1, 0.0))
    target.parent, target.parent_type, target.parent_bone = a, "BONE", "up"
    constraint = target.constraints.new(kind)
    constraint.target, constraint.subtarget = a, "hand"
    if kind == "CHILD_OF":
        constraint.inverse_matrix = (a.matrix_world @ a.pose.bones["hand"].matrix).inverted()
    rigs.add_chain_by_properties(b, "lo", target)
    goal.location = (0.7, -0.5, 0.9)
    rigs.update()
    rigs.frame_set(3)
    assert rigs.tip_error(b, "lo", target) <= ON_TARGET


@pytest.mark.parametrize("setting", [{"use_offset": True}, {"owner_space": "LOCAL"}, {"target_space": "LOCAL"}])
def test_a_copied_location_that_is_no_copy_of_the_place_is_named(setting: dict[str, object]) -> None:
    a, b = rigs.rig("L2B", "A"), rigs.rig("L2B", "B", location=(0, 0, 0.5))
    rigs.add_chain_by_properties(a, "lo", rigs.empty("Goal", (0.5, -0.9, 0.9)))
    target = rigs.empty("T", (0.0, 0.1, 0.0))
    constraint = target.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = a, "hand"
    for name, value in setting.items():
        setattr(constraint, name, value)
    tip = rigs.add_chain_by_properties(b, "lo", target)
    rigs.update()
    assert "Copy Location" in tip.limb_ik_message


SHOULDER = (
    rigs.BoneSpec("s1", (0, 0, 0), (0, 0.05, 0.5)),
    rigs.BoneSpec("s2", (0, 0.05, 0.5), (0, 0, 1), "s1", True),
    rigs.BoneSpec("shoulder", (0, 0, 1), (0.3, 0, 1.1), "s2"),
    rigs.BoneSpec("up", (0.3, 0, 1.1), (0.9, 0.1, 1.1), "shoulder"),
    rigs.BoneSpec("lo", (0.9, 0.1, 1.1), (1.5, 0, 1.1), "up", True),
)


@pytest.mark.parametrize(
    ("kind", "settings", "is_named"),
    [
        ('DAMPED_TRACK', {}, True),
        ('COPY_ROTATION', {}, True),
        ('LIMIT_ROTATION', {"use_limit_x": True, "owner_space": 'WORLD'}, True),
        ('LIMIT_ROTATION', {"use_limit_x": True, "owner_space": 'LOCAL'}, False),
        ('CHILD_OF', {}, False),
    ],
)
def test_a_constraint_between_two_chains_that_sees_where_its_bone_was_before_the_solve_is_named(
    kind: str, settings: dict[str, object], is_named: bool
) -> None:
    arm = rigs.build(SHOULDER)
    constraint: Any = rigs.bone(arm, "shoulder").constraints.new(kind)
    if kind != 'LIMIT_ROTATION':
        constraint.target = rigs.empty("Look", (3, -5, 1), rotation=(0.3, 0.2, 0.5))
    for name, value in settings.items():
        setattr(constraint, name, value)
    spine: Any = rigs.add_chain_by_properties(arm, "s2", rigs.empty("T", (0.4, -0.4, 0.7)))
    goal = rigs.empty("G", (0.9, -0.5, 0.6))
    tip: Any = rigs.add_chain_by_properties(arm, "lo", goal)
    rigs.frame_set(2)
    assert ("'shoulder' follows solved bones" in tip.limb_ik_message) == is_named
    assert is_named or rigs.tip_error(arm, "lo", goal) <= 1e-5
    spine.limb_ik_mute = True
    rigs.frame_set(3)
    assert "follows" not in tip.limb_ik_message
    assert rigs.tip_error(arm, "lo", goal) <= 1e-5 or tip.limb_ik_message.endswith("out of reach")


@pytest.mark.parametrize("kind", ['COPY_ROTATION', 'DAMPED_TRACK', 'CHILD_OF'])
@pytest.mark.parametrize("who", ["root", "above the target"])
def test_a_constraint_on_what_another_rigs_hand_carries_is_named(kind: str, who: str) -> None:
    below = rigs.l2b("Below")
    rigs.add_chain_by_properties(below, "lo", rigs.empty("TB", (0.6, -0.4, 1.2)))
    rider, goal = rigs.rig("L2B", "Rider", root=True), rigs.empty("G", (0.2, -0.3, 0.5))
    above = rigs.empty("Above")
    owner: Any = rigs.bone(rider, "root") if who == "root" else above
    carried = rider if who == "root" else above
    carried.parent, carried.parent_type, carried.parent_bone = below, "BONE", "hand"
    if who == "above the target":
        goal.parent = above
    owner.constraints.new(kind).target = rigs.empty("Look", (3, -5, 1), rotation=(0.3, 0.2, 0.5))
    tip: Any = rigs.add_chain_by_properties(rider, "lo", goal)
    rigs.frame_set(2)
    is_rigid = kind == 'CHILD_OF' and who != "root"  # carried exactly
    assert ("follows solved bones through" in tip.limb_ik_message) != is_rigid
