"""Rigs that stay as IK posed them while frames change show what they show where FK is put back before each frame."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import bpy
import pytest
from limb_ik.rig import fk_pose
from limb_ik.rig.crowd import solving as crowd
from mathutils import Euler, Vector

import played
import rigs
from played import OFF, ON, ONE_BY_ONE, TOGETHER, Shown

pytestmark = pytest.mark.usefixtures("blank")

SAME = 1e-6
"""Of rotations' numbers and of matrices at size 1: float32, and raw values nearer than 2.5e-7 aren't written."""
MOVES = 0.01
Random = random.Random


def vector(dice: Random, size: float) -> Vector:
    return size * Vector((dice.uniform(-1, 1), dice.uniform(-1, 1), dice.uniform(-1, 1)))


def pose_fk(arm: Any, dice: Random, size: float = 0.5) -> None:
    """FK by hand, which nothing animates."""
    for bone in arm.pose.bones:
        rigs.write_rotation(bone, Euler(vector(dice, size)).to_quaternion())


def keyed_empty(name: str, dice: Random, middle: Any, size: float) -> Any:
    """Two places and two orientations, at the first and the last frame."""
    obj = rigs.empty(name)
    for frame in (1, played.FRAMES):
        rigs.key_location(obj, frame, Vector(middle) + vector(dice, size))
        obj.rotation_euler = Euler(vector(dice, 1.5))
        obj.keyframe_insert("rotation_euler", frame=frame)
    return obj


def limb(number: int, kind: str = "L2B", tip: str = "lo", **settings: Any) -> Any:
    """A rig below a bone "root", its FK by hand, its chain's target and pole keyed; ``settings`` of the chain."""
    dice = Random(number)
    arm = rigs.rig(kind, f"Rig{number}", root=True, location=(4.0 * number, 0.0, 0.0))
    middle = arm.matrix_world @ Vector((0.0, 0.2, 0.8))
    target = keyed_empty(f"T{number}", dice, middle, 0.7)
    pole = keyed_empty(f"P{number}", dice, middle + Vector((0, 3, 0)), 0.7)
    if kind == "L2B":
        settings = {"end_bone": "hand", **settings}
    rigs.add_chain_by_properties(arm, tip, target, pole, **settings)
    pose_fk(arm, dice)
    return arm


def tip_of(arm: Any) -> Any:
    return next(bone for bone in arm.pose.bones if bone.limb_ik_solver != 'NONE')


def plain(number: int) -> Any:
    return limb(number)


def in_mode(mode: str) -> Callable[[int], Any]:
    def make(number: int) -> Any:
        arm = limb(number, end_rotation='TARGET')
        for bone in arm.pose.bones:
            bone.rotation_mode = mode
        pose_fk(arm, Random(number))
        return arm

    return make


def with_end(end: str, space: str = 'WORLD') -> Callable[[int], Any]:
    return lambda number: limb(number, end_rotation=end, target_space=space, weight=0.6)


def leg(number: int) -> Any:
    return limb(number, "C6", "b3", solver='LEG', chain_length=3, end_bone="b4", end_rotation='TARGET')


def limited(number: int) -> Any:
    arm = limb(number, "C6", "b6", solver='FABRIK', chain_length=6)
    for name in ("b2", "b4"):
        bone: Any = arm.pose.bones[name]
        bone.limb_ik_joint_kind = 'BALL'
        bone.limb_ik_joint_swing_x_min, bone.limb_ik_joint_swing_x_max = -0.5, 0.5
    return arm


def warm(number: int) -> Any:
    return limb(number, "C6", "b6", solver='FABRIK', chain_length=6, use_warm_start=True, iterations=4)


def look_at(number: int) -> Any:
    return limb(number, "HN", "head", solver='LOOK_AT', chain_length=2)


def keyed_weight(number: int) -> Any:
    arm = limb(number, end_rotation='KEEP_FK')
    for frame, weight in ((1, 0.0), (6, 1.0), (12, 0.3)):
        rigs.key_setting(tip_of(arm), "weight", frame, weight)
    return arm


def keyed_switch(number: int) -> Any:
    arm = limb(number, blend_time=5 / 24)
    for frame, is_on in ((1, False), (5, True), (14, False)):
        rigs.key_setting(tip_of(arm), "use_ik", frame, is_on)
    return arm


def keyed_angles(number: int) -> Any:
    arm = limb(number)
    for name, values in (("pole_angle", (0.0, 1.0)), ("softness", (0.0, 0.2)), ("max_reach", (1.0, 0.7))):
        for frame, value in zip((1, played.FRAMES), values, strict=True):
            rigs.key_setting(tip_of(arm), name, frame, value)
    return arm


def twisted(number: int) -> Any:
    """Bones between upper and lower, lower and end, with FK of their own."""
    return limb(number, "C6", "b3", chain_length=3, end_bone="b5", end_rotation='TARGET')


def small(number: int) -> Any:
    arm = limb(number)
    arm.scale = (0.01, 0.01, 0.01)
    for one in (bpy.data.objects[f"T{number}"], bpy.data.objects[f"P{number}"]):
        for curve in rigs.curves(one):
            for point in curve.keyframe_points if curve.data_path == "location" else ():
                point.co.y = arm.location[curve.array_index] + 0.01 * (point.co.y - arm.location[curve.array_index])
    return arm


def uneven(number: int) -> Any:
    arm = limb(number)
    arm.scale = (1.0, 1.3, 0.8)
    arm.pose.bones["root"].scale = (1.2, 0.9, 1.0)
    return arm


def mirrored(number: int) -> Any:
    arm = limb(number)
    arm.scale = (-1.0, -1.0, -1.0)
    return arm


def scaled_bones(number: int) -> Any:
    arm = limb(number, end_rotation='TARGET')
    arm.pose.bones["up"].scale, arm.pose.bones["lo"].scale = (1.2, 1.2, 1.2), (0.9, 0.9, 0.9)
    arm.pose.bones["hand"].location = (0.1, 0.2, 0.0)
    return arm


def moving(number: int) -> Any:
    """The object moves, and what it stands on."""
    arm = limb(number)
    carrier = keyed_empty(f"Carrier{number}", Random(number), (0.0, 0.0, 0.0), 0.3)
    arm.parent = carrier
    for frame, x in ((1, 0.0), (15, 0.5)):
        rigs.key_location(arm, frame, (4.0 * number + x, x, 0.0))
    return arm


def keyed_spine(number: int) -> Any:
    arm = limb(number, end_rotation='KEEP_FK')
    root: Any = arm.pose.bones["root"]
    for frame, turn in ((1, 0.1), (10, -0.4)):
        rigs.key_rotation(root, frame, Euler((turn, 0.3 * turn, turn)).to_quaternion())
        root.location = (turn, 0.0, turn)
        root.keyframe_insert("location", frame=frame)
    return arm


def keyed_places(number: int) -> Any:
    """Location and scale of solved bones are keyed, their rotation isn't."""
    arm = limb(number, end_rotation='TARGET')
    for name in ("up", "lo", "hand"):
        bone: Any = arm.pose.bones[name]
        for frame, size in ((1, 1.0), (10, 1.1)):
            bone.scale = (size, size, size)
            bone.keyframe_insert("scale", frame=frame)
            bone.location = (size - 1.0, 0.0, 0.0)
            bone.keyframe_insert("location", frame=frame)
    return arm


def own_target(number: int) -> Any:
    """The target is a bone of the rig, keyed, outside of the chain."""
    arm = rigs.build(
        (*rigs.RIGS["L2B"], rigs.BoneSpec("goal", (0.3, -0.3, 0.9), (0.3, -0.3, 1.1))),
        f"Rig{number}", location=(4.0 * number, 0, 0),
    )  # fmt: skip
    rigs.add_chain_by_properties(arm, "lo", arm, None, target_bone="goal", end_bone="hand", end_rotation='TARGET')
    pose_fk(arm, Random(number))
    goal: Any = arm.pose.bones["goal"]
    for frame, place in ((1, (0.2, 0.1, 0.0)), (played.FRAMES, (-0.5, 0.2, 0.3))):
        goal.location = place
        goal.keyframe_insert("location", frame=frame)
        rigs.key_rotation(goal, frame, Euler(place).to_quaternion())
    return arm


def one_above_another(number: int) -> Any:
    arm = limb(number, "C6", "b3", solver='FABRIK', chain_length=3)
    target = keyed_empty(f"U{number}", Random(number + 9), arm.location + Vector((0.5, 0.5, 1.5)), 0.6)
    rigs.add_chain_by_properties(arm, "b6", target, None, chain_length=3, solver='FABRIK')
    return arm


def two_sides(number: int) -> Any:
    """Two chains below one keyed bone; one of them muted."""
    arm = rigs.build(
        (rigs.ROOT_BONE, *(
            rigs.BoneSpec(f"{name}.{side}", (x, *head), (x, *tail), f"{above}.{side}" if above else "root", bool(above))
            for side, x in (("L", 0.5), ("R", -0.5), ("X", 0.0))
            for name, above, head, tail in (
                ("up", "", (0, 0), (0.6, 0.8)), ("lo", "up", (0.6, 0.8), (0, 1.6)), ("hand", "lo", (0, 1.6), (0, 1.9)))
        )), f"Rig{number}", location=(4.0 * number, 0, 0),
    )  # fmt: skip
    pose_fk(arm, Random(number))
    for side in ("L", "R", "X"):
        target = keyed_empty(f"T{number}{side}", Random(number), arm.location + Vector((0, 0.4, 0.8)), 0.6)
        rigs.add_chain_by_properties(arm, f"lo.{side}", target, end_bone=f"hand.{side}", mute=side == "X")
    rigs.key_rotation(arm.pose.bones["root"], 1, Euler((0.0, 0.0, 0.0)).to_quaternion())
    rigs.key_rotation(arm.pose.bones["root"], 9, Euler((0.3, 0.1, 0.0)).to_quaternion())
    return arm


def long_quaternions(number: int) -> Any:
    """FK of no unit length, and its other sign."""
    arm = limb(number, weight=0.5, end_rotation='TARGET')
    arm.pose.bones["up"].rotation_quaternion = (-2.0, -0.4, 0.2, 0.0)
    arm.pose.bones["hand"].rotation_quaternion = (0.0, 0.0, 0.0, 0.0)
    return arm


SETUPS: dict[str, Callable[[int], Any]] = {
    "plain": plain,
    "half": lambda number: limb(number, weight=0.5),
    **{mode: in_mode(mode) for mode in ('AXIS_ANGLE', 'XYZ', 'ZXY')},
    **{f"end {end}": with_end(end) for end in ('KEEP_LOCAL', 'KEEP_FK', 'TARGET')},
    "FK space": with_end('TARGET', 'FK'),
    "FK space, end kept": with_end('KEEP_FK', 'FK'),
    "leg": leg,
    "limits": limited,
    "warm start": warm,
    "look at": look_at,
    "weight keyed": keyed_weight,
    "switch keyed": keyed_switch,
    "settings keyed": keyed_angles,
    "twist bones": twisted,
    "small": small,
    "uneven": uneven,
    "mirrored": mirrored,
    "scaled bones": scaled_bones,
    "moving": moving,
    "spine keyed": keyed_spine,
    "places keyed": keyed_places,
    "target bone": own_target,
    "one above another": one_above_another,
    "two sides": two_sides,
    "long quaternions": long_quaternions,
}
SEEDS = {name: number for number, name in enumerate(SETUPS)}


@pytest.mark.parametrize("fewest", [TOGETHER, ONE_BY_ONE], ids=["together", "one by one"])
@pytest.mark.parametrize("name", SETUPS)
def test_a_rig_that_stays_shows_what_it_shows_with_fk_put_back(
    name: str, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        SETUPS[name](number)
    rigs.update()

    def walk(shown: Shown) -> None:
        rigs.frame_set(1)
        rigs.frame_set(2)
        played.go(shown, played.walk(SEEDS[name]))

    expected = played.played(monkeypatch, OFF, fewest, walk)
    found = played.played(monkeypatch, ON, fewest, walk)
    assert set(expected.stayed) == {0}
    assert set(found.stayed) == {2}
    assert found.apart(expected) <= SAME
    assert found.moved() > MOVES


@pytest.mark.parametrize("fewest", [TOGETHER, ONE_BY_ONE], ids=["together", "one by one"])
def test_fk_comes_out_of_any_walk_as_a_person_posed_it(fewest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bit: muted at the end, bones hold what they held at the beginning."""
    arms = [SETUPS[name](number) for number, name in enumerate(("plain", "XYZ", "long quaternions", "half"))]
    before = [[fk_pose.fk_raw(bone) for bone in arm.pose.bones] for arm in arms]
    rigs.update()
    played.played(monkeypatch, ON, fewest, lambda shown: played.go(shown, played.walk(5, 12)))
    shown = [[fk_pose.read_raw(bone) for bone in arm.pose.bones] for arm in arms]
    assert all(own != now for own, now in zip(before, shown, strict=True))
    for arm in arms:
        tip_of(arm).limb_ik_mute = True
    rigs.update()
    assert [[fk_pose.read_raw(bone) for bone in arm.pose.bones] for arm in arms] == before


@pytest.mark.parametrize("name", ["plain", "warm start"])
def test_both_paths_are_taken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compared above is what it says: limbs are solved together where few are enough."""
    for number in range(2):
        SETUPS[name](number)
    solved: list[int] = []
    together = crowd._solve_together
    monkeypatch.setattr(crowd, "_solve_together", lambda *args, **known: solved.append(1) or together(*args, **known))
    for fewest, is_together in ((TOGETHER, name == "plain"), (ONE_BY_ONE, False)):
        found = played.played(monkeypatch, ON, fewest, lambda shown: played.go(shown, (2.0, 3.0, 4.0)))
        assert found.stayed[-1] == 2
        assert bool(solved) == is_together
        solved.clear()
