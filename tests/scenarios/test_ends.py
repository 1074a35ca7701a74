"""Scenarios about what lies below a chain's end, and about snapping to FK and back (LB-70, 71)."""

from __future__ import annotations

import math
import random
from typing import Any

import bpy
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

import rigs

pytestmark = pytest.mark.usefixtures("blank")

TURNED = math.radians(25)


def leg(end_rotation: str) -> tuple[Any, Any, Any]:
    """A leg whose foot was turned by hand, at its target as match leaves it; and where its foot and toe stand."""
    obj = rigs.legp()
    rigs.turn(obj, "foot", "X", TURNED)
    rigs.turn(obj, "toe", "X", 0.2)
    target = rigs.empty("T", (0.1, 0, 0.1))
    tip = rigs.add_chain_by_properties(
        obj, "shin", target, rigs.empty("P", (0.1, -1.5, 0.6)), end_bone="foot", end_rotation=end_rotation
    )
    rigs.update()
    if end_rotation == "TARGET":
        foot = rigs.evaluated_pose(obj)["foot"].rotation
        tip.limb_ik_end_offset = rigs.evaluated(target).matrix_world.to_quaternion().inverted() @ foot
        rigs.bone(obj, "foot").rotation_quaternion = Quaternion((1, 0, 0), TURNED)
        rigs.update()
    return obj, target, tip


@pytest.mark.parametrize("end_rotation", ["KEEP_LOCAL", "KEEP_FK", "TARGET"])
def test_lb_70_the_foot_does_what_its_setting_says(end_rotation: str) -> None:
    obj, target, tip = leg(end_rotation)
    tip.limb_ik_mute = True
    rigs.update()
    fk = rigs.evaluated_pose(obj)["foot"].rotation
    tip.limb_ik_mute = False
    rigs.update()
    turn = Quaternion((1, 0, 0), math.radians(30))
    target.location.z += 0.2
    target.rotation_euler = turn.to_euler()
    rigs.update()
    assert rigs.tip_error(obj, "shin", target, "foot") <= 1e-5
    locals_now, pose = rigs.local_rotations(obj), rigs.evaluated_pose(obj)
    own = Quaternion((1, 0, 0), TURNED)
    if end_rotation == "KEEP_LOCAL":
        assert rigs.rotation_distance(locals_now["foot"], own) <= 1e-6
    elif end_rotation == "KEEP_FK":
        assert rigs.rotation_distance(pose["foot"].rotation, fk) <= 1e-3
    else:
        expected = turn @ Quaternion(tip.limb_ik_end_offset)
        assert rigs.rotation_distance(pose["foot"].rotation, expected) <= 1e-3
    assert rigs.rotation_distance(locals_now["toe"], Quaternion((1, 0, 0), 0.2)) <= 1e-6
    tip.limb_ik_solver = "NONE"
    rigs.update()
    assert rigs.rotation_distance(rigs.local_rotations(obj)["foot"], own) <= 1e-6


@pytest.mark.parametrize("end_rotation", ["KEEP_FK", "TARGET"])
def test_lb_70_the_foot_is_blended_half_way_for_the_eye(end_rotation: str) -> None:
    obj, target, tip = leg(end_rotation)
    tip.limb_ik_weight = 0.0
    target.rotation_euler = (0.8, 0.1, 0.3)
    target.location.z += 0.2
    rigs.update()
    fk = rigs.evaluated_pose(obj)["foot"].rotation
    tip.limb_ik_weight = 1.0
    rigs.update()
    full = rigs.evaluated_pose(obj)["foot"].rotation
    tip.limb_ik_weight = 0.5
    rigs.update()
    half = rigs.evaluated_pose(obj)["foot"].rotation
    assert rigs.rotation_distance(half, fk.slerp(full, 0.5)) <= 1e-4


def test_lb_71_snapping_there_and_back_five_times_does_not_drift() -> None:
    pick = random.Random(3)
    obj = rigs.l2b(location=(3, -2, 1), rotation=(0.7, -0.4, 1.1), scale=2.0)
    target, pole = rigs.empty("T"), rigs.empty("P")
    tip = rigs.add_chain_by_properties(obj, "lo", target, pole, end_bone="hand", end_rotation="TARGET", use_ik=False)
    rigs.update()
    for _ in range(20):
        upper = Euler([pick.uniform(-1, 1) for _ in range(3)]).to_quaternion()
        bend = Matrix.Rotation(math.radians(pick.uniform(5, 140) - 73.74), 3, Vector((1, 0, 0))).to_quaternion()
        rigs.bone(obj, "up").rotation_quaternion, rigs.bone(obj, "lo").rotation_quaternion = upper, bend
        rigs.bone(obj, "hand").rotation_quaternion = Euler([pick.uniform(-1, 1) for _ in range(3)]).to_quaternion()
        tip.limb_ik_use_ik = False
        rigs.update()
        fk = rigs.evaluated_pose(obj)
        for trip in range(5):
            assert bpy.ops.limb_ik.match_ik(armature="Rig", tips="lo") == {"FINISHED"}
            tip.limb_ik_use_ik = True
            rigs.update()
            seen = rigs.evaluated_pose(obj)
            assert rigs.joint_distance(fk, seen) <= 1e-4, trip
            assert rigs.pose_distance(fk, seen) <= 1e-3, trip
            assert bpy.ops.limb_ik.match_fk(armature="Rig", tips="lo") == {"FINISHED"}
            tip.limb_ik_use_ik = False
            rigs.update()
            back = rigs.evaluated_pose(obj)
            assert rigs.joint_distance(fk, back) <= 1e-4, trip
            assert rigs.pose_distance(fk, back) <= 1e-3, trip
