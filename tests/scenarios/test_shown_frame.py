"""Work over many frames leaves the frame that is shown as it was, whatever frames were read for it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import bpy
import pytest
from limb_ik.bake.baking import bake_steps, read_part
from limb_ik.bake.match_ik import match_ik
from limb_ik.bake.options import BakeOptions

import rigs
import walkers

pytestmark = pytest.mark.usefixtures("blank")

SHOWN = 7
SAME = 2e-6
"""Between float32 poses that are the same."""


def walker(motion: str) -> Any:
    """A walk with IK, its targets keyed or offsets, at a frame in the middle."""
    obj = walkers.walker()
    bpy.ops.limb_ik.add_limbs(armature=obj.name, motion=motion)
    rigs.frame_set(SHOWN)
    return obj


def stopped(steps: Generator[Any, None, Any]) -> None:
    """Esc after a few steps."""
    for _ in range(3):
        next(steps)
    steps.close()


WORK: dict[str, Callable[[Any], Any]] = {
    "contacts": lambda obj: bpy.ops.limb_ik.detect_contacts(armature=obj.name),
    "match IK": lambda obj: bpy.ops.limb_ik.match_ik(armature=obj.name, use_range=True, frame_start=1, frame_end=30),
    "match FK": lambda obj: bpy.ops.limb_ik.match_fk(armature=obj.name, use_range=True, frame_start=1, frame_end=30),
    "match here": lambda obj: match_ik(bpy.context, obj, (), None),
    "plant": lambda obj: (
        bpy.ops.limb_ik.detect_contacts(armature=obj.name),
        bpy.ops.limb_ik.plant(armature=obj.name),
    ),
    "bake": lambda obj: bpy.ops.limb_ik.bake(armature=obj.name),
    "bake few keys": lambda obj: bpy.ops.limb_ik.bake(armature=obj.name, reduce=0.01),
    "bake stopped": lambda obj: stopped(bake_steps(bpy.context, [obj], BakeOptions(1, walkers.LAST))),
    "part": lambda obj: read_part(bpy.context, [obj], BakeOptions(1, walkers.LAST), 1, 1),
}


CASES = [("FK", work) for work in WORK] + [("KEYS", work) for work in WORK if work != "plant"]
MOVES = {"plant": 1.0, "bake few keys": 0.01}
"""By how much work may move the pose, which is to be seen at once."""


@pytest.mark.parametrize(("motion", "work"), CASES)
def test_the_frame_that_is_shown_stays(motion: str, work: str) -> None:
    obj = walker(motion)
    before = rigs.evaluated_pose(obj)
    hips = rigs.bone(obj, "hips").location.copy()
    WORK[work](obj)
    assert bpy.context.scene.frame_current_final == SHOWN
    rigs.update()
    shown, original = rigs.evaluated_pose(obj), rigs.bone(obj, "hips").location.copy()
    rigs.frame_set(SHOWN)
    assert rigs.joint_distance(shown, rigs.evaluated_pose(obj)) <= SAME
    assert rigs.joint_distance(before, shown) <= MOVES.get(work, 2e-5)
    assert (original - hips).length <= SAME
