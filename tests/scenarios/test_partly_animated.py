"""Animation or a driver gives some components of a solved bone's rotation, in an update without a change of frame.

The others keep their FK. What a person gives a bone is a pose that was seen: it is FK as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from mathutils import Euler, Quaternion

import rigs

pytestmark = pytest.mark.usefixtures("blank")

MODES = ("XYZ", "QUATERNION", "AXIS_ANGLE")
# By hand. Each has a second component that IK changes, and a third.
BY_HAND = {"XYZ": (0.1, 0.2, 0.3), "QUATERNION": (0.9, 0.1, 0.3, 0.2), "AXIS_ANGLE": (0.4, 0.6, 0.0, 0.8)}
KEYED, FIRST, LAST = 1, 0.25, 0.5


def limb(mode: str, **settings: Any) -> tuple[Any, Any]:
    """A rig whose upper bone is posed by hand, under IK."""
    obj = rigs.l2b()
    up = rigs.bone(obj, "up")
    up.rotation_mode = mode
    setattr(up, rigs.rotation_path(up), BY_HAND[mode])
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)), rigs.empty("P", (0, 3, 0.8)), **settings)
    return obj, up


def action_of_another(mode: str) -> tuple[Any, Any]:
    """An action that gives one component, and its slot."""
    other = rigs.l2b("Other")
    bone = rigs.bone(other, "up")
    bone.rotation_mode = mode
    path = rigs.rotation_path(bone)
    for frame, value in ((1, FIRST), (20, LAST)):
        getattr(bone, path)[KEYED] = value
        bone.keyframe_insert(path, index=KEYED, frame=frame)
    found = other.animation_data.action, getattr(other.animation_data, "action_slot", None)
    bpy.data.objects.remove(other)
    return found


def assign(obj: Any, mode: str = "XYZ") -> None:
    action, slot = action_of_another(mode)
    anim = obj.animation_data or obj.animation_data_create()
    anim.action = action
    if slot is not None:
        anim.action_slot = slot


def curve_of(obj: Any) -> Any:
    return next(curve for curve in rigs.curves(obj) if "rotation" in curve.data_path)


def show_another_frame(obj: Any) -> None:
    bpy.context.scene.frame_current = 20


def move_a_key(obj: Any) -> None:
    curve = curve_of(obj)
    curve.keyframe_points[0].co.y = LAST
    curve.update()


def unmute(obj: Any) -> None:
    curve_of(obj).mute = False


def add_strip(obj: Any) -> None:
    anim = obj.animation_data
    action, slot = anim.action, getattr(anim, "action_slot", None)
    anim.action = None
    strip = anim.nla_tracks.new().strips.new("Strip", -18, action)
    if slot is not None:
        strip.action_slot = slot


def drive(obj: Any) -> None:
    bone = rigs.bone(obj, "up")
    curve = bone.driver_add(rigs.rotation_path(bone), KEYED)
    curve.driver.type = "AVERAGE"
    variable = curve.driver.variables.new()
    obj["value"] = LAST
    variable.targets[0].id, variable.targets[0].data_path = obj, '["value"]'


WAYS: dict[str, Callable[[Any], None]] = {
    "another frame": show_another_frame,
    "a key moved": move_a_key,
    "a curve unmuted": unmute,
    "a strip": add_strip,
    "a driver": drive,
}


def fk_of(obj: Any, bone: Any) -> tuple[float, ...]:
    """The FK pose as it comes back when IK goes."""
    rigs.bone(obj, "lo").limb_ik_use_ik = False
    rigs.update()
    shown = rigs.evaluated(obj).pose.bones["up"]
    return tuple(getattr(shown, rigs.rotation_path(bone)))


def expected(mode: str, value: float) -> list[float]:
    return [value if index == KEYED else own for index, own in enumerate(BY_HAND[mode])]


@pytest.mark.parametrize("weight", [1.0, 0.5])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", WAYS)
def test_what_animation_does_not_give_keeps_its_fk(way: str, mode: str, weight: float) -> None:
    obj, up = limb(mode, weight=weight)
    if way != "a driver":
        assign(obj, mode)
    if way == "a curve unmuted":
        curve_of(obj).mute = True
    rigs.frame_set(1)
    WAYS[way](obj)
    rigs.update()
    wanted = expected(mode, FIRST if way == "a curve unmuted" else LAST)
    if way == "a strip" and mode == "QUATERNION":
        wanted = [1.0, LAST, 0.0, 0.0]  # strips of Blender's give a quaternion as a whole
    assert fk_of(obj, up) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_an_action_that_is_assigned_gives_what_it_keys(mode: str) -> None:
    obj, up = limb(mode)
    rigs.update()
    assign(obj, mode)
    rigs.update()
    assert fk_of(obj, up) == pytest.approx(expected(mode, FIRST), abs=1e-6)


def test_a_chain_reaches_its_target_on_a_frame_that_was_only_set() -> None:
    obj, _ = limb("XYZ")
    assign(obj)
    target = bpy.data.objects["T"]
    rigs.frame_set(1)
    for frame in (20, 7, 1):
        bpy.context.scene.frame_current = frame
        rigs.update()
        assert rigs.tip_error(obj, "lo", target) <= 1e-5


@pytest.mark.parametrize("is_keyed", [False, True])
def test_one_component_by_hand_makes_the_pose_that_was_seen_fk(is_keyed: bool) -> None:
    obj, up = limb("XYZ")
    if is_keyed:
        assign(obj)
    rigs.frame_set(1)
    seen = tuple(up.rotation_euler)
    up.rotation_euler[2] = 0.9
    rigs.update()
    assert fk_of(obj, up) == pytest.approx([seen[0], seen[1], 0.9], abs=1e-6)


def test_a_component_that_is_keyed_and_set_by_hand_is_the_hands() -> None:
    obj, up = limb("XYZ")
    assign(obj)
    rigs.frame_set(1)
    seen = tuple(up.rotation_euler)
    up.rotation_euler[KEYED] = -0.7
    rigs.update()
    assert fk_of(obj, up) == pytest.approx([seen[0], -0.7, seen[2]], abs=1e-6)


def test_where_all_of_it_is_animated_all_of_it_is_fk() -> None:
    """A component whose new value is what IK wrote is the animation's as well."""
    obj, up = limb("QUATERNION")
    for frame, angle in ((1, 0.2), (20, 0.9)):
        rigs.key_rotation(up, frame, Euler((angle, 0.1, 0.0)).to_quaternion())
    rigs.frame_set(1)
    bpy.context.scene.frame_current = 20
    rigs.update()
    wanted = Euler((0.9, 0.1, 0.0)).to_quaternion()
    assert rigs.rotation_distance(Quaternion(fk_of(obj, up)), wanted) <= 1e-6
