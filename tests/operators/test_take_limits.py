"""Joint limits out of what Blender's own bones have: IK limits, IK locks, rotation locks."""

from __future__ import annotations

import math
from typing import Any

import bpy
import pytest

import rigs

ops: Any = bpy.ops


@pytest.fixture
def arm(blank: None) -> bpy.types.Object:
    obj = rigs.l2s(name="Arm")
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.3, -0.2, 0.8)))
    return obj


def limit(bone: Any, axis: str, low: float, high: float) -> None:
    setattr(bone, f"use_ik_limit_{axis}", True)
    setattr(bone, f"ik_min_{axis}", math.radians(low))
    setattr(bone, f"ik_max_{axis}", math.radians(high))


def test_a_knee_locked_on_two_axes_becomes_a_hinge(arm: bpy.types.Object) -> None:
    bone: Any = rigs.bone(arm, "lo")
    bone.lock_ik_y = True
    bone.lock_rotation[2] = True
    limit(bone, "x", -10.0, 90.0)
    ops.limb_ik.take_limits(armature="Arm")
    assert bone.limb_ik_joint_kind == 'HINGE'
    assert tuple(bone.limb_ik_joint_hinge_axis) == (1.0, 0.0, 0.0)
    assert bone.limb_ik_joint_min_angle == pytest.approx(math.radians(-10), abs=1e-6)
    assert bone.limb_ik_joint_max_angle == pytest.approx(math.radians(90), abs=1e-6)
    assert rigs.bone(arm, "up").limb_ik_joint_kind == 'FREE'
    rigs.update()
    assert rigs.local_rotations(arm)["lo"].angle == pytest.approx(math.radians(90), abs=1e-4)
    assert bone.limb_ik_status == 'LIMITED'
    assert bone.limb_ik_message.endswith("'lo' at its limit of 90°")


def test_ranges_on_all_axes_become_a_ball_joint(arm: bpy.types.Object) -> None:
    bone: Any = rigs.bone(arm, "up")
    limit(bone, "x", -10.0, 60.0)
    limit(bone, "y", -15.0, 15.0)
    limit(bone, "z", -30.0, 5.0)
    ops.limb_ik.take_limits(armature="Arm", tips="lo")
    assert bone.limb_ik_joint_kind == 'BALL'
    found = [
        round(math.degrees(getattr(bone, f"limb_ik_joint_{part}_{end}")), 3)
        for part in ("swing_x", "twist", "swing_z")
        for end in ("min", "max")
    ]
    assert found == [-10.0, 60.0, -15.0, 15.0, -30.0, 5.0]


@pytest.mark.parametrize("locked", ["X", "Y", "Z"])
def test_a_rotation_lock_binds_its_axis(arm: bpy.types.Object, locked: str) -> None:
    bone: Any = rigs.bone(arm, "up")
    bone.lock_rotation["XYZ".index(locked)] = True
    ops.limb_ik.take_limits(armature="Arm", tips="lo")
    name = {"X": "swing_x", "Y": "twist", "Z": "swing_z"}[locked]
    assert bone.limb_ik_joint_kind == 'BALL'
    assert (getattr(bone, f"limb_ik_joint_{name}_min"), getattr(bone, f"limb_ik_joint_{name}_max")) == (0.0, 0.0)


def test_bones_without_limits_are_said_and_left(arm: bpy.types.Object) -> None:
    bone: Any = rigs.bone(arm, "lo")
    bone.limb_ik_joint_kind = 'BALL'
    with pytest.raises(RuntimeError, match="No bone of the chain at 'lo' has IK limits, IK locks or rotation locks"):
        ops.limb_ik.take_limits(armature="Arm", tips="lo")
    assert bone.limb_ik_joint_kind == 'BALL'


def test_one_step_of_undo(arm: bpy.types.Object) -> None:
    rigs.bone(arm, "lo").lock_ik_y = True
    ops.ed.undo_push(message="before")
    ops.limb_ik.take_limits(armature="Arm", tips="lo")
    ops.ed.undo_push(message="after")
    ops.ed.undo()
    assert bpy.data.objects["Arm"].pose.bones["lo"].limb_ik_joint_kind == 'FREE'
