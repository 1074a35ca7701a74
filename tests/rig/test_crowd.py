"""Plain chains solved together give the pose that they give one by one."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import bpy
import pytest
from mathutils import Euler, Vector

import rigs
from limb_ik.rig import crowd

SAME = 2e-6
"""rad between raw local rotations: one by one the pose is built of float32 matrices, together of doubles."""
MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "ZYX")


@pytest.fixture(autouse=True)
def _clean(blank: None) -> Iterator[None]:
    yield


def random_vector(source: random.Random, size: float) -> Vector:
    return size * Vector((source.uniform(-1, 1), source.uniform(-1, 1), source.uniform(-1, 1)))


def crowd_of(count: int, seed: int) -> list[bpy.types.Object]:
    """Keyed rigs of one limb at random places, in all rotation modes, with and without pole, end bone and full weight."""
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
    monkeypatch.setattr(crowd, "_solve_together", lambda run, members: solved.append(1) or together(run, members))
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


def test_a_target_on_a_solved_bone_is_left_to_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "FEWEST", 1)
    made = crowd_of(2, 3)
    for arm in made:
        arm.pose.bones["lo"].limb_ik_weight = 1.0
        arm.scale = (1.0, 1.0, 1.0)
    follower = bpy.data.objects["T1"]
    follower.animation_data_clear()
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
