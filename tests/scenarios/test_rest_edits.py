"""Edits of the rest pose that leave the character as it is leave its set-up, too (LB-48): rolls, applied transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
import pytest
from mathutils import Quaternion, Vector

import rigs

pytestmark = pytest.mark.usefixtures("blank", "extension")

ops: Any = bpy.ops
# LB-48: a change of roll does not move joints.
IN_PLACE = 1e-4
ALL = {"location": True, "rotation": True, "scale": True}


def animated(target_kind: str, **place: Any) -> bpy.types.Object:
    """A limb with offsets on its motion."""
    obj = rigs.l2b(**place)
    for frame, angle in ((1, 0.2), (10, 0.9)):
        rigs.key_rotation(rigs.bone(obj, "up"), frame, Quaternion((1, 0, 0), angle))
    ops.limb_ik.add_chain(armature=obj.name, tips="lo", motion="FK", target_kind=target_kind)
    rigs.update()
    return obj


def select(obj: bpy.types.Object) -> None:
    ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    assert bpy.context.view_layer is not None
    bpy.context.view_layer.objects.active = obj


def heads(obj: bpy.types.Object) -> list[Vector]:
    found = []
    for frame in (1, 4, 10):
        rigs.frame_set(frame)
        found += [pose.head for pose in rigs.evaluated_pose(obj).values()]
    return found


def apart(a: Sequence[Vector], b: Sequence[Vector]) -> float:
    return max((one - other).length for one, other in zip(a, b, strict=True))


def roll(obj: bpy.types.Object, bone: str, angle: float) -> None:
    select(obj)
    ops.object.mode_set(mode="EDIT")
    rigs.armature_of(obj).edit_bones[bone].roll += angle
    ops.object.mode_set(mode="OBJECT")
    rigs.update()


@pytest.mark.parametrize("target_kind", ["EMPTY", "BONE"])
@pytest.mark.parametrize("what", [ALL, {**ALL, "location": False, "rotation": False}, {**ALL, "scale": False}])
def test_offsets_on_motion_stay_where_transforms_are_applied(target_kind: str, what: dict[str, bool]) -> None:
    obj = animated(target_kind, location=(1, 2, 3), rotation=(1.57, 0.2, 0.1), scale=0.01, length=100.0)
    before = heads(obj)
    select(obj)
    ops.object.transform_apply(**what)
    rigs.update()
    assert apart(before, heads(obj)) <= IN_PLACE


def test_an_offset_stays_where_the_origin_is_moved() -> None:
    obj = animated("EMPTY")
    rigs.bone(obj, "lo").limb_ik_target.location.z -= 0.2
    rigs.update()
    before = heads(obj)
    select(obj)
    assert bpy.context.scene is not None
    bpy.context.scene.cursor.location = (1, 1, 1)
    ops.object.origin_set(type="ORIGIN_CURSOR")
    rigs.update()
    assert apart(before, heads(obj)) <= IN_PLACE


def test_an_object_that_is_moved_takes_its_motion_along() -> None:
    obj = animated("EMPTY", location=(1, 0, 0))
    before = heads(obj)
    obj.location.x = 3.0
    rigs.update()
    assert apart([place + Vector((2, 0, 0)) for place in before], heads(obj)) <= IN_PLACE


@pytest.mark.parametrize("kind", ["L2S", "L2B"])
@pytest.mark.parametrize("use_pole", [False, True])
@pytest.mark.parametrize("bone", ["up", "lo", "hand"])
@pytest.mark.parametrize("angle", [math.pi / 2, -0.3, math.pi])
def test_rolled_bones_move_no_joint_and_turn_no_skin(kind: str, use_pole: bool, bone: str, angle: float) -> None:
    obj = rigs.rig(kind)
    ops.limb_ik.add_chain(armature=obj.name, tips="lo", use_pole=use_pole)
    tip = rigs.bone(obj, "lo")
    tip.limb_ik_end_rotation = "TARGET"
    tip.limb_ik_target.location += Vector((0.2, -0.3, -0.6))
    rigs.update()
    before = rigs.evaluated_pose(obj)
    x = {
        name: pose.rotation @ rigs.bone(obj, name).bone.matrix_local.to_quaternion().inverted()
        for name, pose in before.items()
    }
    roll(obj, bone, angle)
    after = rigs.evaluated_pose(obj)
    assert rigs.joint_distance(before, after) <= IN_PLACE
    for name, pose in after.items():
        skin = pose.rotation @ rigs.bone(obj, name).bone.matrix_local.to_quaternion().inverted()
        assert rigs.rotation_distance(x[name], skin) <= 1e-3  # LB: angles


def test_a_hinge_turns_about_the_same_line_after_a_roll() -> None:
    obj = rigs.l2s()
    tip = rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0, -0.5, 1.2)), rigs.empty("P", (0, 3, 0.8)))
    tip.limb_ik_joint_kind, tip.limb_ik_joint_min_angle, tip.limb_ik_joint_max_angle = "HINGE", 0.0, 1.0
    rigs.update()
    before = rigs.evaluated_pose(obj)
    assert tip.limb_ik_status == "LIMITED"
    roll(obj, "lo", 0.7)
    assert rigs.joint_distance(before, rigs.evaluated_pose(obj)) <= IN_PLACE


def test_an_axis_that_a_script_sets_with_the_roll_is_taken_as_it_is() -> None:
    obj = rigs.l2b()
    tip = rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)), bend_axis=(1.0, 0.0, 0.0))
    rigs.update()
    select(obj)
    ops.object.mode_set(mode="EDIT")
    rigs.armature_of(obj).edit_bones["up"].roll += 1.0
    ops.object.mode_set(mode="OBJECT")
    tip = rigs.bone(obj, "lo")
    tip.limb_ik_bend_axis = (0.0, 0.0, 1.0)
    rigs.update()
    assert tuple(tip.limb_ik_bend_axis) == (0.0, 0.0, 1.0)
