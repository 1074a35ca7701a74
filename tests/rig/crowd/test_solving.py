"""Plain chains solved together give the pose that they give one by one."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import bpy
import pytest
from limb_ik.rig import compat, fk_pose, overwritten
from limb_ik.rig.crowd import solving as crowd
from mathutils import Euler, Vector

import rigs

SAME = 2e-6
"""rad between raw local rotations: one by one the pose is built of float32 matrices, together of doubles."""
MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX")


@pytest.fixture(autouse=True)
def _clean(blank: None) -> None:
    pass


def random_vector(source: random.Random, size: float) -> Vector:
    return size * Vector((source.uniform(-1, 1), source.uniform(-1, 1), source.uniform(-1, 1)))


def crowd_of(count: int, seed: int) -> list[bpy.types.Object]:
    """Keyed rigs of one limb at random places: all rotation modes, with and without pole, end bone, full weight."""
    source, made = random.Random(seed), []
    for number in range(count):
        arm = rigs.rig(
            source.choice(("L2B", "L2U", "L2S")),
            f"Rig{number}",
            root=source.random() < 0.5,
            location=random_vector(source, 5.0),
            rotation=random_vector(source, 3.0),
            scale=source.choice((1.0, 0.01, 40.0, (1.0, 1.0, 1.3), -1.0)),
        )
        for pose_bone in arm.pose.bones:
            pose_bone.rotation_mode = source.choice(MODES)
            for frame in (1, 5, 9):
                turn = Euler(random_vector(source, 0.8)).to_quaternion()
                rigs.key_rotation(pose_bone, frame, turn)
        size = sum(abs(x) for x in arm.scale) / 3.0
        reach = [arm.matrix_world.translation + random_vector(source, 1.6 * size) for _ in range(2)]
        target = rigs.empty(f"T{number}", reach[0], rotation=random_vector(source, 3.0))
        rigs.key_location(target, 1, reach[0])
        rigs.key_location(target, 9, reach[1])
        pole = rigs.empty(f"P{number}", reach[0] + random_vector(source, 3.0 * size)) if source.random() < 0.8 else None
        rigs.add_chain_by_properties(
            arm,
            "lo",
            target,
            pole,
            end_bone=source.choice(("hand", "")),
            end_rotation=source.choice(("KEEP_LOCAL", "TARGET")),
            weight=source.choice((1.0, 1.0, 0.4, 0.0)),
            pole_angle=source.choice((0.0, 1.0)),
            softness=source.choice((0.0, 0.1)),
        )
        made.append(arm)
    return made


def poses(made: list[bpy.types.Object], frame: float) -> list[dict[str, object]]:
    rigs.frame_set(frame)
    return [{**rigs.local_rotations(obj)} for obj in made]


def read_outs(made: list[bpy.types.Object]) -> list[tuple[str, str]]:
    tips = [obj.pose.bones["lo"] for obj in made]
    return [(tip.limb_ik_status, tip.limb_ik_message.split(":")[-1]) for tip in tips]


@pytest.mark.parametrize("seed", [1, 2])
def test_together_and_one_by_one_give_one_pose(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = crowd_of(24, seed)
    solved: list[int] = []
    together = crowd._solve_together
    monkeypatch.setattr(crowd, "_solve_together", lambda *args, **known: solved.append(1) or together(*args, **known))
    for frame in (1, 3.5, 9):
        batched, said = poses(made, frame), read_outs(made)
        assert solved
        solved.clear()
        with monkeypatch.context() as patched:
            patched.setattr(crowd, "FEWEST", 10**6)
            single = poses(made, frame)
            assert not solved
            assert read_outs(made) == said
        for a, b in zip(batched, single, strict=True):
            assert rigs.local_distance(a, b) < SAME


def two_limbs(monkeypatch: pytest.MonkeyPatch) -> tuple[list[bpy.types.Object], bpy.types.Object]:
    """Two rigs that are solved together, and the second one's target, which nothing moves."""
    monkeypatch.setattr(crowd, "FEWEST", 1)
    made = crowd_of(2, 3)
    for arm in made:
        arm.pose.bones["lo"].limb_ik_weight = 1.0
        arm.scale = (1.0, 1.0, 1.0)
    target = bpy.data.objects["T1"]
    target.animation_data_clear()
    return made, target


def test_a_target_on_a_solved_bone_is_left_to_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    made, follower = two_limbs(monkeypatch)
    follower.parent, follower.parent_type, follower.parent_bone = made[0], 'BONE', "hand"
    follower.location = (0.0, 0.0, 0.0)
    made[1].location = made[0].matrix_world.translation + Vector((0.3, 0.3, 0.3))
    done = []
    solve = crowd.solve
    monkeypatch.setattr("limb_ik.rig.evaluate.crowd.solve", lambda run, only: done.append(solve(run, only)) or done[-1])
    rigs.frame_set(4)
    assert [tip for key, tip in done[-1]] == ["lo"]
    assert {key[0] for key, _ in done[-1]} == {"Rig0"}
    length = math.dist(*[rigs.evaluated_pose(made[1])["lo"].head, rigs.evaluated_pose(made[1])["lo"].tail])
    assert length > 0.0


TWISTED = (
    rigs.BoneSpec("root", (0, 0, 0), (0, 0.3, 0)),
    rigs.BoneSpec("up", (0, 0, 0.5), (0, 0.3, 0.9), "root"),
    rigs.BoneSpec("twist", (0, 0.3, 0.9), (0, 0.6, 1.3), "up"),
    rigs.BoneSpec("lo", (0, 0.6, 1.3), (0, 0, 2.1), "twist"),
    rigs.BoneSpec("wrist", (0, 0, 2.1), (0, 0, 2.2), "lo"),
    rigs.BoneSpec("hand", (0, 0, 2.2), (0, 0, 2.5), "wrist"),
    rigs.BoneSpec("goal", (0, 0.4, 1.8), (0, 0.4, 2.0), "root"),
    rigs.BoneSpec("knee", (0, 2.0, 1.3), (0, 2.0, 1.5)),
)


@pytest.mark.parametrize("target_space", ["WORLD", "FK"])
@pytest.mark.parametrize("end_rotation", ["KEEP_LOCAL", "KEEP_FK", "TARGET"])
def test_twist_bones_and_target_bones(target_space: str, end_rotation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rigs.RIGS, "TWISTED", TWISTED)
    source, made = random.Random(5), []
    for number in range(6):
        place, turn = random_vector(source, 3.0), random_vector(source, 3.0)
        arm = rigs.rig("TWISTED", f"Rig{number}", location=place, rotation=turn)
        for pose_bone in arm.pose.bones:
            pose_bone.rotation_mode = "QUATERNION" if number % 2 else source.choice(MODES)
            for frame in (1, 9):
                rigs.key_rotation(pose_bone, frame, Euler(random_vector(source, 0.4)).to_quaternion())
        rest = [value for row in arm.data.bones["goal"].matrix_local for value in row]
        pole = [value for row in arm.data.bones["knee"].matrix_local for value in row]
        rigs.add_chain_by_properties(
            arm, "lo", arm, arm, chain_length=3, end_bone="hand", end_rotation=end_rotation, target_space=target_space,
            target_bone="goal", pole_bone="knee", target_rest=rest, pole_rest=pole,
        )  # fmt: skip
        made.append(arm)
    done: list[set[crowd.Node]] = []
    solve = crowd.solve
    monkeypatch.setattr("limb_ik.rig.evaluate.crowd.solve", lambda run, only: done.append(solve(run, only)) or done[-1])
    for frame in (1, 3.5, 9):
        batched = poses(made, frame)
        assert len(done[-1]) == len(made), read_outs(made)
        with monkeypatch.context() as patched:
            patched.setattr(crowd, "FEWEST", 10**6)
            single = poses(made, frame)
        for a, b in zip(batched, single, strict=True):
            assert rigs.local_distance(a, b) < SAME


@pytest.mark.parametrize("fewest", [1, 10**6])
def test_keyed_rigs_need_no_restore_until_a_curve_goes(fewest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "FEWEST", fewest)
    arm = rigs.rig("L2B", "Rig")
    for pose_bone in arm.pose.bones:
        for frame, size in ((1, 0.1), (5, 0.7), (9, 0.2)):
            rigs.key_rotation(pose_bone, frame, Euler((size, 0.3 * size, -size)).to_quaternion())
    target = rigs.empty("T", Vector((0.5, 0.5, 1.0)))
    rigs.frame_set(4)
    fk = rigs.local_rotations(arm)
    tip = rigs.add_chain_by_properties(arm, "lo", target, None, end_bone="hand", end_rotation="TARGET")
    for frame in (2, 3, 4):
        rigs.frame_set(frame)
    assert overwritten.is_likely(arm)
    assert fk_pose.has_store(arm.pose.bones["up"])
    curves = compat.fcurves_of(arm)
    for number in (0, 2):
        curves.find('pose.bones["up"].rotation_quaternion', index=number).mute = True
    tip.limb_ik_use_ik = False
    rigs.frame_set(4)
    assert rigs.local_distance(rigs.local_rotations(arm), fk) < SAME


def hang_on_hand(target: bpy.types.Object, arm: bpy.types.Object) -> None:
    target.parent, target.parent_type, target.parent_bone = arm, 'BONE', "hand"


def hold_by_hand(target: bpy.types.Object, arm: bpy.types.Object) -> Any:
    constraint = target.constraints.new('COPY_LOCATION')
    constraint.target, constraint.subtarget = arm, "hand"
    return constraint


def key_switch(target: bpy.types.Object, arm: bpy.types.Object) -> None:
    other = next(one for one in bpy.data.objects if one.type == "ARMATURE" and one != arm)
    other.pose.bones["lo"].limb_ik_blend_time = 1.0
    for frame, is_on in ((1, False), (4, True)):
        other.pose.bones["lo"].limb_ik_use_ik = is_on
        other.pose.bones["lo"].keyframe_insert("limb_ik_use_ik", frame=frame)


def point_at_bone(target: bpy.types.Object, arm: bpy.types.Object) -> None:
    other = next(one for one in bpy.data.objects if one.type == "ARMATURE" and one != arm)
    other.pose.bones["lo"].limb_ik_target, other.pose.bones["lo"].limb_ik_target_bone = arm, "hand"


def copy_a_constraint(target: bpy.types.Object, arm: bpy.types.Object) -> None:
    """Blender's dependency graph isn't built anew for it."""
    other = bpy.data.objects.new("Other", None)
    target.constraints.copy(hold_by_hand(other, arm))


@pytest.mark.parametrize("when", ["between frames", "updated", "by a handler"])
@pytest.mark.parametrize("edit", [hang_on_hand, hold_by_hand, copy_a_constraint, key_switch, point_at_bone])
def test_what_a_script_hangs_elsewhere_is_seen_at_once(
    edit: Callable[..., None], when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is remembered of the crowd: neither an update nor the graph's flags have to tell of it."""
    made, follower = two_limbs(monkeypatch)
    rigs.frame_set(3)
    rigs.frame_set(4)
    if when == "by a handler":
        bpy.app.handlers.frame_change_post.append(lambda *_: edit(follower, made[0]))
        rigs.frame_set(4)
        bpy.app.handlers.frame_change_post.pop()
    else:
        edit(follower, made[0])
    if when == "updated":
        rigs.update()
    together = poses(made, 5)
    with monkeypatch.context() as patched:
        patched.setattr(crowd, "FEWEST", 10**6)
        single = poses(made, 5)
    for a, b in zip(together, single, strict=True):
        assert rigs.local_distance(a, b) < SAME
