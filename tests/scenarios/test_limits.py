"""Scenarios about joint limits, through Blender's evaluated pose (LB-16, 61 to 66)."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import bpy
import pytest
from mathutils import Quaternion, Vector

import rigs

pytestmark = pytest.mark.usefixtures("blank")

OPS: Any = bpy.ops
DEGREE = math.radians(1.0)
ANGLE_SLACK = 0.1 * DEGREE
COUNTS_AS_REACHED = 1e-5 * 2.0
"""Part of the length within which a target counts as reached, on limbs of length 2."""
SWING = {"swing_x": (-10.0, 60.0), "swing_z": (-30.0, 5.0), "twist": (-15.0, 15.0)}
"""The unequal limits of LB-65, degrees."""


def hinge(obj: bpy.types.Object, name: str, low: float, high: float) -> Any:
    """A hinge about X from ``low`` to ``high`` degrees."""
    bone: Any = rigs.bone(obj, name)
    bone.limb_ik_joint_kind = 'HINGE'
    bone.limb_ik_joint_min_angle, bone.limb_ik_joint_max_angle = math.radians(low), math.radians(high)
    return bone


def ball(obj: bpy.types.Object, name: str, ranges: Mapping[str, tuple[float, float]]) -> Any:
    """A ball joint with ranges in degrees."""
    bone: Any = rigs.bone(obj, name)
    bone.limb_ik_joint_kind = 'BALL'
    for part, (low, high) in ranges.items():
        setattr(bone, f"limb_ik_joint_{part}_min", math.radians(low))
        setattr(bone, f"limb_ik_joint_{part}_max", math.radians(high))
    return bone


def angles(local: Quaternion) -> dict[str, float]:
    """The documented split: swing planes of the bone's Y, twist of the swing-twist split; degrees."""
    y = local @ Vector((0.0, 1.0, 0.0))
    twist = math.remainder(2.0 * math.atan2(local.y, local.w), 2.0 * math.pi)
    found = {"swing_x": math.atan2(y.z, y.y), "swing_z": math.atan2(-y.x, y.y), "twist": twist}
    return {name: math.degrees(angle) for name, angle in found.items()}


def is_inside(local: Quaternion, ranges: Mapping[str, tuple[float, float]], slack: float) -> bool:
    found = angles(local)
    return all(low - slack <= found[name] <= high + slack for name, (low, high) in ranges.items())


def hinge_angle(local: Quaternion) -> tuple[float, float]:
    """Turn about X and off it, degrees."""
    turn = math.remainder(2.0 * math.atan2(local.x, local.w), 2.0 * math.pi)
    return math.degrees(turn), math.degrees(2.0 * math.asin(min(math.hypot(local.y, local.z), 1.0)))


def readout(obj: bpy.types.Object, tip: str) -> tuple[str, float, str]:
    bone: Any = rigs.bone(obj, tip)
    return bone.limb_ik_status, bone.limb_ik_error, bone.limb_ik_message


@pytest.mark.parametrize("start", ["rest", "mirrored", "at_stop"])
def test_lb_16_a_legal_target_is_reached_from_any_start(start: str) -> None:
    obj = rigs.c3()
    for name in ("b2", "b3"):
        hinge(obj, name, 0.0, 150.0)
    starts = {"rest": (0, 0, 0), "mirrored": (-20, -40, -60), "at_stop": (0, 150, 0)}
    for name, degrees in zip(("b1", "b2", "b3"), starts[start], strict=True):
        rigs.turn(obj, name, "X", math.radians(degrees))
    target = rigs.empty("T", (0.0, -2.074071, 0.939693))
    rigs.add_chain_by_properties(obj, "b3", target, chain_length=3, solver="FABRIK")
    rigs.update()
    assert rigs.tip_error(obj, "b3", target) <= 3e-3
    assert readout(obj, "b3")[0] == 'REACHED'
    local = rigs.local_rotations(obj)
    for name in ("b2", "b3"):
        turn, off = hinge_angle(local[name])
        assert -0.1 <= turn <= 150.1
        assert off <= 0.1


def shoulder_and_knee(obj: bpy.types.Object) -> dict[str, tuple[float, float]]:
    ranges = {"swing_x": (-40.0, 40.0), "twist": (-5.0, 5.0), "swing_z": (-30.0, 30.0)}
    ball(obj, "up", ranges)
    hinge(obj, "lo", 0.0, 150.0)
    return ranges


@pytest.mark.parametrize("place", [(0.0, 0.0, 1.6), (1.4, 0.3, -0.2)])
def test_lb_61_limits_before_target_before_pole(place: tuple[float, float, float]) -> None:
    obj = rigs.l2b()
    ranges = shoulder_and_knee(obj)
    target, pole = rigs.empty("T", place), rigs.empty("P", (3.0, 0.0, 0.8))
    rigs.add_chain_by_properties(obj, "lo", target, pole)
    rest = obj.data.bones["up"].matrix_local.to_quaternion()
    met = 0
    for degrees in range(0, 360, 6):
        side = Vector((-math.sin(math.radians(degrees)), math.cos(math.radians(degrees)), 0.0))
        pole.location = 3.0 * side + Vector((0.0, 0.0, 0.8))
        rigs.update()
        local = rigs.local_rotations(obj)
        assert is_inside(local["up"], ranges, 0.1), degrees
        turn, off = hinge_angle(local["lo"])
        assert -0.1 <= turn <= 150.1
        assert off <= 0.1
        if place == (0.0, 0.0, 1.6):
            assert rigs.tip_error(obj, "lo", target) <= COUNTS_AS_REACHED
            wanted = rest.inverted() @ Quaternion((0.0, 0.0, 1.0), math.radians(degrees)) @ rest
            if is_inside(wanted, ranges, 0.0):
                elbow = rigs.evaluated_pose(obj)["lo"].head
                assert Vector((elbow.x, elbow.y, 0.0)).angle(side) <= math.radians(0.5), degrees
                met += 1
    assert met >= 1 or place != (0.0, 0.0, 1.6)


def test_lb_61_the_message_says_that_the_pole_is_not_met() -> None:
    obj = rigs.l2b()
    shoulder_and_knee(obj)
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0, 0, 1.6)), rigs.empty("P", (3, 0, 0.8)))
    rigs.update()
    status, _, message = readout(obj, "lo")
    assert status == 'REACHED'
    assert message.startswith("pole not met: 'up' at its limit of ")


KNEES = [
    (20.0, 150.0, 20.0, 2.0 * math.cos(math.radians(10.0))),
    (0.5, 180.0, 0.5, 2.0 * math.cos(math.radians(0.25))),
    (-150.0, -20.0, -20.0, 2.0 * math.cos(math.radians(10.0))),
]


@pytest.mark.parametrize(("low", "high", "knee", "reach"), KNEES)
@pytest.mark.parametrize("height", [2.0, 2.5])
def test_lb_62_a_knee_that_is_never_straight(
    low: float, high: float, knee: float, reach: float, height: float, tmp_path: Any
) -> None:
    obj = rigs.l2s()
    hinge(obj, "lo", low, high)
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0, 0, height)))
    path = str(tmp_path / "saved.blend")
    for is_reloaded in (False, True):
        if is_reloaded:
            OPS.wm.save_as_mainfile(filepath=path)
            OPS.wm.open_mainfile(filepath=path)
            obj = bpy.data.objects["Rig"]
        rigs.update()
        tail = rigs.evaluated_pose(obj)["lo"].tail
        turn, off = hinge_angle(rigs.local_rotations(obj)["lo"])
        assert turn == pytest.approx(knee, abs=0.05)
        assert off <= 0.05
        assert tail.length == pytest.approx(reach, abs=1e-5)
        assert tail.angle(Vector((0, 0, 1))) <= 1e-3
        status, error, message = readout(obj, "lo")
        assert error == pytest.approx(height - reach, abs=1e-5)
        if 2.0 - reach <= COUNTS_AS_REACHED:  # the limit takes away less than what counts
            assert status == ('REACHED' if height == 2.0 else 'TOO_FAR')
        else:
            assert status == 'LIMITED'
            assert message.startswith("short by ")
            assert message.endswith(f": 'lo' at its limit of {knee:g}°")
        assert rigs.bone(obj, "lo").limb_ik_joint_min_angle == pytest.approx(math.radians(low), abs=1e-6)


def folded(degrees: float) -> tuple[float, float, float]:
    """Tip of L2S with the knee turned about X."""
    angle = math.radians(degrees)
    return 0.0, -math.sin(angle), 1.0 + math.cos(angle)


@pytest.mark.parametrize(("low", "high"), [(-225.0, -135.0), (170.0, 190.0), (45.0, 45.0)])
@pytest.mark.parametrize("fk", [-200.0, 180.0, 0.0, 45.0])
def test_lb_63_ranges_past_half_a_turn_and_of_no_width(low: float, high: float, fk: float) -> None:
    """Angles count modulo 360°; a target from a legal FK angle is reached, any other leaves the knee in its range."""
    obj = rigs.l2s()
    hinge(obj, "lo", low, high)
    target = rigs.empty("T", folded(fk))
    rigs.add_chain_by_properties(obj, "lo", target)
    rigs.update()
    turn, off = hinge_angle(rigs.local_rotations(obj)["lo"])
    centre = 0.5 * (low + high)
    assert abs(math.remainder(turn - centre, 360.0)) <= 0.5 * (high - low) + 0.1
    assert off <= 0.1
    if abs(math.remainder(fk - centre, 360.0)) <= 0.5 * (high - low):
        assert rigs.tip_error(obj, "lo", target) <= COUNTS_AS_REACHED
        assert readout(obj, "lo")[0] in ('REACHED', 'TOO_NEAR')  # on the root there is no direction


def test_lb_63_minimum_above_maximum_is_said_and_moves_nothing() -> None:
    obj = rigs.l2s()
    hinge(obj, "lo", 30.0, -30.0)
    before = rigs.local_rotations(obj)
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.5, 0.5, 1.0)))
    rigs.update()
    status, _, message = readout(obj, "lo")
    assert status == 'INVALID'
    assert message == "limits of 'lo': minimum angle of 30° is above its maximum of -30°"
    assert rigs.local_distance(before, rigs.local_rotations(obj)) == 0.0


ANGLES = [
    *(f"limb_ik_joint_{name}" for name in ("min_angle", "max_angle")),
    *(f"limb_ik_joint_{part}_{end}" for part in SWING for end in ("min", "max")),
    "limb_ik_pole_angle",
]


@pytest.mark.parametrize("name", ANGLES)
def test_lb_64_angles_are_radians_in_python_and_degrees_in_the_interface(name: str) -> None:
    bone: Any = rigs.bone(rigs.l2s(), "lo")
    prop = bone.bl_rna.properties[name]
    assert (prop.unit, prop.subtype) == ('ROTATION', 'ANGLE')
    setattr(bone, name, bpy.utils.units.to_value('NONE', 'ROTATION', "90°"))
    assert getattr(bone, name) == pytest.approx(0.5 * math.pi, abs=1e-6)
    assert math.degrees(getattr(bone, name)) == pytest.approx(90.0, abs=1e-4)


@pytest.mark.parametrize("way", ["python", "text", "copied"])
def test_lb_64_the_knee_stops_where_it_was_told(way: str) -> None:
    """Limits can't be keyed or driven (only use_ik, weight, pole angle, softness and reach can): no fourth way."""
    obj = rigs.l2s()
    high = {"python": math.radians(90), "text": bpy.utils.units.to_value('NONE', 'ROTATION', "90°")}
    hinge(obj, "lo", 0.0, 150.0).limb_ik_joint_max_angle = high.get(way, math.radians(90))
    target = rigs.empty("T", folded(120.0))
    rigs.add_chain_by_properties(obj, "lo", target)
    if way == "copied":
        source, obj = obj, rigs.l2s(name="Other")
        rigs.bone(source, "lo").limb_ik_use_ik = False
        bpy.context.view_layer.objects.active = source
        OPS.limb_ik.copy_setup(armature=source.name, to=obj.name)
    rigs.update()
    bone: Any = rigs.bone(obj, "lo")
    assert bone.limb_ik_joint_max_angle == pytest.approx(1.570796, abs=1e-6)
    if way != "copied":
        assert hinge_angle(rigs.local_rotations(obj)["lo"])[0] == pytest.approx(90.0, abs=0.05)
    with pytest.raises(TypeError):
        bone.keyframe_insert("limb_ik_joint_max_angle")


@pytest.mark.parametrize("is_driven", [False, True])
def test_lb_64_a_keyed_or_driven_pole_angle_is_in_radians(is_driven: bool) -> None:
    obj = rigs.l2b()
    bone: Any = rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0, 0, 1.6)), rigs.empty("P", (0, 3, 0.8)))
    if is_driven:
        bone.driver_add("limb_ik_pole_angle").driver.expression = "1.5707963"
    else:
        rigs.key_setting(bone, "pole_angle", 1, 0.5 * math.pi)
    rigs.frame_set(2)
    elbow = rigs.evaluated_pose(obj)["lo"].head
    assert Vector((elbow.x, elbow.y, 0.0)).angle(Vector((0, 1, 0))) == pytest.approx(0.5 * math.pi, abs=1e-3)


def legal_turn(source: random.Random) -> Quaternion:
    """A random rotation inside SWING: swing of the bone's Y, then twist."""
    while True:
        spot = [math.tan(math.radians(source.uniform(*SWING[name]))) for name in ("swing_x", "swing_z")]
        direction = Vector((-spot[1], 1.0, spot[0])).normalized()
        twist = Quaternion((0, 1, 0), math.radians(source.uniform(*SWING["twist"])))
        turn = Vector((0, 1, 0)).rotation_difference(direction) @ twist
        if is_inside(turn, SWING, -0.01):
            return turn


def random_point(source: random.Random, radius: float) -> Vector:
    while True:
        point = Vector([source.uniform(-radius, radius) for _ in range(3)])
        if 0.05 * radius < point.length <= radius:
            return point


@pytest.mark.parametrize("kind", ["L2S", "C3"])
def test_lb_65_each_direction_has_its_own_limit(kind: str) -> None:
    obj = rigs.rig(kind)
    limited = ["up"] if kind == "L2S" else ["b1", "b2", "b3"]
    tip, reach = ("lo", 2.0) if kind == "L2S" else ("b3", 3.0)
    for name in limited:
        ball(obj, name, SWING)
    target = rigs.empty("T")
    settings = {} if kind == "L2S" else {"chain_length": 3, "solver": "FABRIK"}
    rigs.add_chain_by_properties(obj, tip, target, **settings)
    source = random.Random(1)
    reached, count = 0, 150
    for number in range(2 * count):
        target.location = legal_tip(source, kind) if number % 2 else random_point(source, reach)
        rigs.update()
        local = rigs.local_rotations(obj)
        assert all(is_inside(local[name], SWING, 0.5) for name in limited), tuple(target.location)
        if number % 2:
            reached += rigs.tip_error(obj, tip, target) <= 1e-3 * reach
    assert reached >= (count if kind == "L2S" else 0.95 * count)


def legal_tip(source: random.Random, kind: str) -> Vector:
    """The tip of a random legal pose (of L2S: any knee), bones of length 1 along +Z in rest. Space: world."""
    rest = Quaternion((1, 0, 0), math.pi / 2)  # bone Y along +Z, Z along -Y
    turn, point = rest, Vector()
    for index in range(2 if kind == "L2S" else 3):
        is_free = kind == "L2S" and index == 1
        own = Quaternion((source.gauss(0, 1), source.gauss(0, 1), source.gauss(0, 1), 1)).normalized()
        turn = turn @ (own if is_free else legal_turn(source))
        point = point + turn @ Vector((0, 1, 0))
    return point


@pytest.mark.parametrize("kind", ["C3", "L2S"])
def test_lb_66_no_trembling_at_a_stop(kind: str) -> None:
    obj = rigs.rig(kind)
    if kind == "C3":
        hinge(obj, "b2", 0.0, 60.0)
        rigs.turn(obj, "b2", "X", math.radians(60))
        tip, place, settings = "b3", Vector((0.3, -0.4, 0.2)), {"chain_length": 3, "solver": "FABRIK"}
        hinge(obj, "b3", 0.0, 60.0)
    else:
        hinge(obj, "lo", 20.0, 150.0)
        tip, place, settings = "lo", Vector((0.3, 0.4, 2.4)), {}
    target = rigs.empty("T", place)
    rigs.add_chain_by_properties(obj, tip, target, **settings)
    rigs.update()
    before = rigs.local_rotations(obj)
    assert readout(obj, tip)[0] == 'LIMITED'
    other = rigs.empty("Other")
    for step in range(50):
        other.location.x = step
        rigs.update()
        assert rigs.local_distance(before, rigs.local_rotations(obj)) <= 1e-6
    for step in range(50):
        target.location = place + Vector((1e-5, -1e-5, 1e-5)) * (-1) ** step
        rigs.update()
        now = rigs.local_rotations(obj)
        assert rigs.local_distance(before, now) <= 1e-3
        before = now
