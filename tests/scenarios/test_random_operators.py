"""Operators, edits and settings in any order, on bodies: done or refused in one sentence, a whole scene after each.

``LIMB_IK_SOAK=125`` walks 1,000 ways instead of 8, ``LIMB_IK_SEED=5000`` others than from seed 0.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path

import bpy
import pytest

import random_steps
import rigs

pytestmark = pytest.mark.usefixtures("blank")

SOAK = int(os.environ.get("LIMB_IK_SOAK", "1"))
FIRST = int(os.environ.get("LIMB_IK_SEED", "0"))
WAYS, STEPS_EACH = 8, 16
HANDLERS = ("frame_change_pre", "frame_change_post", "depsgraph_update_post", "load_post", "undo_post", "redo_post")
SAME = 2e-3
"""Radians between the pose before and after a round trip: float32 rotations, and limbs near full reach, where the
elbow's height goes with the root of the error."""
ARRIVED = 1e-4
"""Part of the armature's scale at which an end that is said to have arrived may miss: float32, posed by parents."""


def check(said: tuple[str, str], way: list[str]) -> None:
    for obj in bpy.context.scene.objects:
        if obj.type == 'ARMATURE' and obj.mode != 'EDIT':
            shown = rigs.evaluated(obj).pose.bones
            assert all(math.isfinite(x) for bone in shown for row in bone.matrix for x in row), way
            assert all(isinstance(bone.limb_ik_message, str) for bone in obj.pose.bones), way
            check_arrivals(obj, way)
    for name in HANDLERS:
        ours = [one for one in getattr(bpy.app.handlers, name) if one.__module__.startswith("limb_ik.")]
        assert len(ours) == 1, (name, way)
    assert "Traceback" not in "".join(said), (way, said)


def check_arrivals(obj: bpy.types.Object, way: list[str]) -> None:
    """What is said to have arrived is there, where nothing but Limb IK moves bones."""
    if obj.library or not obj.limb_ik.is_live or any(bone.constraints for bone in obj.pose.bones):
        return
    for bone in obj.pose.bones:
        is_full = bone.limb_ik_use_ik and not bone.limb_ik_mute and bone.limb_ik_weight == 1.0
        is_plain = bone.limb_ik_target and not bone.limb_ik_target_bone and bone.limb_ik_target_space == 'WORLD'
        if bone.limb_ik_status == 'REACHED' and is_full and is_plain and not obj.animation_data:
            missed = rigs.tip_error(obj, bone.name, bone.limb_ik_target, bone.limb_ik_end_bone)
            assert missed <= ARRIVED * max(obj.matrix_world.median_scale, 1.0), (bone.name, missed, way)


def there_and_back() -> None:
    bpy.ops.ed.undo_push(message="There")
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()


def off_and_on() -> None:
    live = [o for o in bpy.context.scene.objects if o.type == 'ARMATURE' and o.library is None and o.limb_ik.is_live]
    for is_live in (False, True):
        for obj in live:
            obj.limb_ik.is_live = is_live
        rigs.update()


def away_and_back() -> None:
    now = bpy.context.scene.frame_current
    for number in (now + 3, now):
        rigs.frame_set(number)


ROUND_TRIPS: tuple[Callable[[], None], ...] = (there_and_back, off_and_on, away_and_back)


def check_round_trip(walk: random_steps.Walk, way: list[str]) -> None:
    """Nothing changes the pose that only goes and comes back, once animation has had its say."""
    if any(obj.mode == 'EDIT' for obj in bpy.context.scene.objects):
        return
    there = walk.dice.choice(ROUND_TRIPS)
    rigs.frame_set(bpy.context.scene.frame_current)
    before = random_steps.poses()
    there()
    rigs.update()
    found = random_steps.apart(before, random_steps.poses())
    assert found <= SAME, (there.__name__, found, way)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + WAYS * SOAK))
def test_operators_in_any_order(seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    walk = random_steps.Walk(seed, tmp_path)
    way: list[str] = []
    for _ in range(STEPS_EACH):
        done, said = random_steps.step(walk)
        way.append(said)
        rigs.update()
        check(capfd.readouterr(), way)
        if done not in random_steps.HISTORY:
            bpy.ops.ed.undo_push(message=done.__name__)
        if walk.dice.random() < 0.2:
            check_round_trip(walk, way)
            check(capfd.readouterr(), way)
