"""Targets with deltas of their own, or held by something: match puts them where FK is, or says why not (LB-71)."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from limb_ik.bake.match_ik import match_ik
from mathutils import Quaternion

import rigs

pytestmark = pytest.mark.usefixtures("blank", "extension")

ops: Any = bpy.ops
# LB-71: joints within 1e-4 after a snap, twist within 1e-3; float32 channels give 1e-6.
EXACT = 1e-5
DELTAS = [
    ('XYZ', "delta_location", (0.3, 0.1, -0.2)),
    ('ZYX', "delta_rotation_euler", (0.4, 0.2, 0.1)),
    ('QUATERNION', "delta_rotation_quaternion", (0.9, 0.3, 0.1, 0.2)),
    ('XYZ', "delta_scale", (2.0, 1.0, 0.5)),
]


def limb() -> tuple[bpy.types.Object, Any, Any]:
    """A limb in motion, its tip, and its target, with which the hand turns."""
    obj = rigs.l2b()
    for name, angle in (("up", 0.7), ("lo", -0.6), ("hand", 0.4)):
        rigs.key_rotation(rigs.bone(obj, name), 1, Quaternion((1, 0, 0), 0.1))
        rigs.key_rotation(rigs.bone(obj, name), 10, Quaternion((1, 0.3, 0), angle))
    ops.limb_ik.add_chain(armature=obj.name, tips="lo", motion="STILL")
    tip = rigs.bone(obj, "lo")
    tip.limb_ik_end_bone, tip.limb_ik_end_rotation = "hand", "TARGET"
    rigs.update()
    return obj, tip, tip.limb_ik_target


@pytest.mark.parametrize("frames", [None, [1.0, 4.0, 10.0]])
@pytest.mark.parametrize(("mode", "delta", "value"), DELTAS)
def test_a_target_with_deltas_goes_where_fk_is(
    mode: str, delta: str, value: tuple[float, ...], frames: list[float] | None
) -> None:
    obj, tip, target = limb()
    target.rotation_mode = mode
    setattr(target, delta, value)
    tip.limb_ik_mute = True
    shown = {}
    for frame in frames or [7.0]:
        rigs.frame_set(frame)
        shown[frame] = rigs.evaluated_pose(obj)
    tip.limb_ik_mute = False
    rigs.update()
    assert not match_ik(bpy.context, obj, ["lo"], frames).notes
    rigs.update()
    for frame, pose in shown.items():
        rigs.frame_set(frame)
        assert rigs.joint_distance(pose, rigs.evaluated_pose(obj)) <= EXACT
        assert rigs.pose_distance(pose, rigs.evaluated_pose(obj)) <= EXACT


def test_a_target_that_is_held_is_named() -> None:
    obj, _, target = limb()
    constraint = target.constraints.new('COPY_LOCATION')
    constraint.target = rigs.empty("Q", (0, -1, 1))
    rigs.update()
    assert match_ik(bpy.context, obj, ["lo"]).notes == (
        f"'{target.name}' may not be where FK is: its constraint 'Copy Location' holds it",
    )
    target.constraints.remove(constraint)
    target.driver_add("location", 0).driver.expression = "1"
    rigs.update()
    assert match_ik(bpy.context, obj, ["lo"]).notes == (f"'{target.name}' may not be where FK is: a driver holds it",)


def test_a_target_that_is_carried_goes_where_fk_is_without_a_word() -> None:
    obj, tip, target = limb()
    target.constraints.new('CHILD_OF').target = rigs.empty("E", (1, 2, 3), rotation=(0.3, 0.4, 0.5))
    tip.limb_ik_mute = True
    rigs.frame_set(7)
    shown = rigs.evaluated_pose(obj)
    tip.limb_ik_mute = False
    rigs.update()
    assert not match_ik(bpy.context, obj, ["lo"]).notes
    rigs.update()
    assert rigs.joint_distance(shown, rigs.evaluated_pose(obj)) <= EXACT
