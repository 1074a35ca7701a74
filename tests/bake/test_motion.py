"""Set-up on armatures that move: what the motion tells of a limb."""

from __future__ import annotations

import math
from typing import Any

import bpy
import pytest
from limb_ik.bake import motion
from mathutils import Quaternion, Vector

import rigs
from body import body_bones

pytestmark = pytest.mark.usefixtures("blank")

# Cosine of 0.5 degrees: joints are 32-bit floats, and the arm rests bent by a little about another axis.
SAME_AXIS = 0.99996


def arm_bent_by_motion(degrees: float) -> Any:
    """A body whose left elbow bends the other way than it rests."""
    obj = rigs.build(body_bones(), "Body")
    for frame, part in ((1, 0.3), (10, 1.0)):
        turn = Quaternion((0.0, 0.0, 1.0), math.radians(part * degrees))
        rigs.key_rotation(rigs.bone(obj, "forearm.L"), frame, turn)
    rigs.frame_set(10)
    return obj


def hinge_shown(obj: Any) -> Vector:
    """Space: root bone."""
    upper, lower, hand = (obj.pose.bones[name] for name in ("upper_arm.L", "forearm.L", "hand.L"))
    bend = (lower.head - upper.head).cross(hand.head - lower.head)
    return (upper.matrix.to_3x3().inverted() @ bend).normalized()


@pytest.mark.parametrize("how", ["FK", "KEYS"])
def test_limbs_that_are_found_bend_as_they_do_in_motion(how: str) -> None:
    obj = arm_bent_by_motion(80.0)
    shown = hinge_shown(obj)
    motion.add_limbs(bpy.context, obj, legs=False, motion=how)
    found = Vector(obj.pose.bones["forearm.L"].limb_ik_bend_axis)
    assert found.normalized().dot(shown) > SAME_AXIS


def test_a_bend_of_a_few_degrees_tells_nothing_of_the_hinge() -> None:
    obj = arm_bent_by_motion(80.0)
    obj.animation_data_clear()
    obj.pose.bones["forearm.L"].rotation_quaternion.identity()
    motion.add_limbs(bpy.context, obj, legs=False)
    rest = Vector(obj.pose.bones["forearm.L"].limb_ik_bend_axis)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    obj = arm_bent_by_motion(3.0)
    motion.add_limbs(bpy.context, obj, legs=False)
    assert Vector(obj.pose.bones["forearm.L"].limb_ik_bend_axis).dot(rest) > SAME_AXIS
