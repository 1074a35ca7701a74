"""Settings, targets and poses that make no sense: a finite pose, no exception, not a line on the console.

``LIMB_IK_SOAK=34`` tries 34 times as many: 10,000 pairs of chain and target.
"""

from __future__ import annotations

import math
import os
import random
from typing import Any

import bpy
import pytest
from limb_ik.properties import CHAIN_SPECS, JOINT_SPECS, PREFIX

import rigs

pytestmark = pytest.mark.usefixtures("blank")

SOAK = int(os.environ.get("LIMB_IK_SOAK", "1"))
NAN, INF = float("nan"), float("inf")
NUMBERS = (NAN, INF, -INF, 1e30, -1e30, 1e-30, -1.0, 0.0, 3.4e38)
SOLVERS = ("TWO_BONE", "LEG", "FABRIK", "LOOK_AT")
STATUSES = {"IDLE", "REACHED", "TOO_FAR", "TOO_NEAR", "LIMITED", "INVALID"}


def is_finite(obj: bpy.types.Object) -> bool:
    """Whether every rotation that is stored, and every bone that is shown, is a number."""
    raw = [x for b in obj.pose.bones for x in (*b.rotation_quaternion, *b.rotation_euler, *b.rotation_axis_angle)]
    shown = [x for b in rigs.evaluated(obj).pose.bones for row in b.matrix for x in row]
    return all(math.isfinite(x) for x in (*raw, *shown))


def is_quiet(capfd: pytest.CaptureFixture[str]) -> bool:
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
    return True


def rig_with(solver: str) -> tuple[bpy.types.Object, Any]:
    arm = rigs.build(rigs.bent(5, 0.4, 0.2))
    target, pole = rigs.empty("T", (0.3, -0.6, 0.8)), rigs.empty("P", (0.0, -3.0, 0.5))
    length = {"TWO_BONE": 2, "LEG": 3, "FABRIK": 4, "LOOK_AT": 2}[solver]
    tip = rigs.add_chain_by_properties(arm, "b4", target, pole, solver=solver, chain_length=length, end_bone="b5")
    tip.limb_ik_joint_kind = 'BALL'
    arm.pose.bones["b3"].limb_ik_joint_kind = 'HINGE'
    rigs.update()
    return arm, tip


def set_all(bone: Any, name: str, value: float) -> None:
    """One setting, in every component; integers and vectors take what they can."""
    held = getattr(bone, name)
    if isinstance(held, bool | str) or held is None or isinstance(held, bpy.types.ID):
        return
    if isinstance(held, int):
        setattr(bone, name, int(max(-(2**31), min(2**31 - 1, value))) if math.isfinite(value) else 0)
    elif isinstance(held, float):
        setattr(bone, name, value)
    elif not isinstance(held[0], bool):
        for index in range(len(held)):
            if isinstance(held[index], float):
                held[index] = value


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("value", NUMBERS)
def test_any_number_in_any_setting(solver: str, value: float, capfd: pytest.CaptureFixture[str]) -> None:
    arm, tip = rig_with(solver)
    names = [spec.name for spec in (*CHAIN_SPECS, *JOINT_SPECS)]
    capfd.readouterr()
    for name in names:
        before = tip.bl_rna.properties[PREFIX + name]
        if before.is_readonly or name.startswith("store"):
            continue
        held = getattr(tip, PREFIX + name)
        kept = tuple(held) if before.type == 'FLOAT' and before.is_array and not before.array_dimensions[1] else held
        set_all(tip, PREFIX + name, value)
        rigs.update()
        rigs.frame_set(7)
        assert is_finite(arm), (name, value)
        assert tip.limb_ik_status in STATUSES and isinstance(tip.limb_ik_message, str)
        assert is_quiet(capfd), (name, value)
        if before.type == 'FLOAT' and before.is_array and before.array_dimensions[1]:
            setattr(tip, PREFIX + name, [[float(i == j) for j in range(4)] for i in range(4)])
        elif before.type in {'FLOAT', 'INT', 'BOOLEAN'}:
            setattr(tip, PREFIX + name, kept)
    rigs.update()
    assert tip.limb_ik_status != 'INVALID', tip.limb_ik_message


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("value", NUMBERS)
def test_any_place_of_target_and_pole(solver: str, value: float, capfd: pytest.CaptureFixture[str]) -> None:
    arm, tip = rig_with(solver)
    before = rigs.local_rotations(arm)
    capfd.readouterr()
    for name in ("T", "P"):
        for channel in ("location", "scale", "rotation_euler"):
            obj = bpy.data.objects[name]
            kept = tuple(getattr(obj, channel))
            for space in ('WORLD', 'FK'):
                tip.limb_ik_target_space = space
                setattr(obj, channel, (value, 0.1, value))
                rigs.update()
                rigs.frame_set(3)
                assert is_finite(arm), (name, channel, space)
                assert is_quiet(capfd)
                setattr(obj, channel, kept)
                rigs.update()
    tip.limb_ik_target_space = 'WORLD'
    rigs.update()
    assert rigs.local_distance(rigs.local_rotations(arm), before) <= 1e-5, "it comes back with the target"


@pytest.mark.parametrize("value", NUMBERS)
def test_any_object_transform(value: float, capfd: pytest.CaptureFixture[str]) -> None:
    arm, tip = rig_with("TWO_BONE")
    capfd.readouterr()
    for channel in ("location", "scale", "rotation_euler"):
        kept = tuple(getattr(arm, channel))
        setattr(arm, channel, (value, value, value))
        rigs.update()
        rigs.frame_set(3)
        raw = [x for b in arm.pose.bones for x in b.rotation_quaternion]
        assert all(math.isfinite(x) for x in raw), channel
        assert is_quiet(capfd)
        setattr(arm, channel, kept)
        rigs.update()
    assert tip.limb_ik_status == 'REACHED'


@pytest.mark.parametrize("frame", [-1048574, -0.5, 0, 1048574])
@pytest.mark.parametrize("rate", [(1, 120.0), (24, 1.0), (32767, 1e-5)])
def test_any_time_and_rate(frame: float, rate: tuple[int, float], capfd: pytest.CaptureFixture[str]) -> None:
    arm, tip = rig_with("FABRIK")
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = rate
    for at, value in ((-20, True), (0, False), (5, True)):
        rigs.key_setting(tip, "use_ik", at, value)
    capfd.readouterr()
    for blend_time in (0.0, 0.15, 1e30, NAN):
        tip.limb_ik_blend_time = blend_time
        rigs.frame_set(frame)
        assert is_finite(arm)
        assert is_quiet(capfd)


def random_bones(dice: random.Random) -> list[rigs.BoneSpec]:
    """A row of 1 to 7 bones in any direction, of lengths from nothing to huge."""
    size = dice.choice((1e-4, 1.0, 1.0, 1e4))
    point, bones = (0.0, 0.0, 0.0), []
    for number in range(dice.randint(1, 7)):
        length = size * dice.choice((0.0, 1e-6, 0.3, 1.0, 1.0, 1.0, 2.0))
        way = [dice.gauss(0, 1) for _ in range(3)] if dice.random() < 0.7 else [0.0, 0.0, 1.0]
        norm = math.hypot(*way) or 1.0
        tail = tuple(p + w / norm * max(length, size * 1e-5) for p, w in zip(point, way, strict=True))
        parent = f"b{number - 1}" if number else ""
        bones.append(rigs.BoneSpec(f"b{number}", point, tail, parent, dice.random() < 0.5, dice.uniform(-4, 4)))
        point = tail if dice.random() < 0.8 else point
    return bones


def random_place(dice: random.Random) -> tuple[float, float, float]:
    size = dice.choice((0.0, 1e-6, 1.0, 1.0, 1.0, 1e5, 1e30))
    return tuple(dice.gauss(0, 1) * size for _ in range(3))


def random_settings(dice: random.Random, count: int) -> dict[str, Any]:
    return {
        "solver": dice.choice(SOLVERS),
        "chain_length": dice.choice((0, 1, 2, 3, count, 99)),
        "weight": dice.choice((0.0, 0.3, 1.0, 1.0)),
        "softness": dice.choice((0.0, 0.0, 0.1)),
        "max_reach": dice.choice((0.0, 0.9, 1.0, 1.0)),
        "pole_angle": dice.choice((0.0, 1.0, 1e30)),
        "end_rotation": dice.choice(('KEEP_LOCAL', 'KEEP_FK', 'TARGET')),
        "target_space": dice.choice(('WORLD', 'WORLD', 'FK')),
        "iterations": dice.choice((1, 10, 100)),
        "tolerance": dice.choice((0.0, 1e-3, 1e30)),
        "use_warm_start": dice.random() < 0.3,
        "bend_axis": dice.choice(((0, 0, 0), (1, 0, 0), (1e-30, 0, 0), (0, 1e30, 0))),
    }


def limit_at_random(bone: Any, dice: random.Random) -> None:
    bone.limb_ik_joint_kind = dice.choice(('FREE', 'FREE', 'HINGE', 'BALL'))
    for name in ("angle", "swing_x", "swing_z", "twist"):
        low, high = ("min_angle", "max_angle") if name == "angle" else (f"{name}_min", f"{name}_max")
        setattr(bone, f"limb_ik_joint_{low}", dice.choice((-math.pi, -0.5, 0.0, 0.5, -7.0)))
        setattr(bone, f"limb_ik_joint_{high}", dice.choice((math.pi, 0.5, 0.0, -0.5, 7.0)))
    bone.limb_ik_joint_hinge_axis = dice.choice(((1, 0, 0), (0, 0, 0), (0.3, 1, -2)))


CHAINS, TARGETS_EACH = 30, 10


@pytest.mark.parametrize("seed", range(3))
def test_random_chains_and_targets(seed: int, capfd: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(seed)
    for number in range(CHAINS * SOAK // 3 or 1):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        arm = rigs.build(random_bones(dice))
        arm.scale = dice.choice(((1, 1, 1), (0.01,) * 3, (100,) * 3, (-1, 1, 1), (1, 1, 2), (1, 0, 1)))
        names = [bone.name for bone in arm.pose.bones]
        if not names:  # before 5.3 Blender removes bones without length
            continue
        target, pole = rigs.empty("T"), rigs.empty("P", random_place(dice))
        for name in names:
            limit_at_random(arm.pose.bones[name], dice)
            arm.pose.bones[name].rotation_mode = dice.choice(("QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE"))
        end = dice.choice(["", "", names[-1]])
        chosen = random_settings(dice, len(names))
        tip = rigs.add_chain_by_properties(
            arm, dice.choice(names), target, dice.choice((None, pole)), end_bone=end, **chosen
        )
        capfd.readouterr()
        for _ in range(TARGETS_EACH):
            target.location = random_place(dice)
            dice.choice((rigs.update, lambda: rigs.frame_set(dice.randint(-5, 5))))()
            assert is_finite(arm), (seed, number, chosen)
            assert tip.limb_ik_status in STATUSES
            assert is_quiet(capfd), (seed, number, chosen)


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-9, 1e4])
def test_bones_that_have_shrunk_to_nothing(size: float, capfd: pytest.CaptureFixture[str]) -> None:
    """Their rest matrices can have no inverse in 5.3, which keeps them."""
    short = 1e-5 if size < 1e4 else 1e-9
    rows = [("a", 0.0, 1.0, ""), ("b", 1.0, 1.0 + short, "a"), ("c", 1.0, 2.0, "b"), ("d", 2.0, 2.0 + short, "c")]
    arm = rigs.build([rigs.BoneSpec(n, (0, 0, z * size), (0, 0, y * size), p) for n, z, y, p in rows])
    target = rigs.empty("T", (0.3 * size, 0, size))
    for tip in ("c", "d"):
        if tip in arm.pose.bones and "a" in arm.pose.bones:
            capfd.readouterr()
            rigs.add_chain_by_properties(arm, tip, target, solver="FABRIK", chain_length=0)
            rigs.update()
            rigs.frame_set(2)
            assert is_finite(arm)
            assert is_quiet(capfd)
            arm.pose.bones[tip].limb_ik_solver = 'NONE'
