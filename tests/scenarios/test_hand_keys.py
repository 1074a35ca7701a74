"""Keys that are inserted while IK shows hold FK, among other keys too, and in a script's loop over frames."""

from __future__ import annotations

import bpy
import pytest
from mathutils import Quaternion

import rigs

pytestmark = pytest.mark.usefixtures("blank")

X = (1.0, 0.0, 0.0)
# Keys hold 32-bit floats, and a quaternion's four curves are interpolated apart: no unit length between two keys.
EXACT = 1e-5


def limb(mode: str = "QUATERNION") -> bpy.types.Object:
    obj = rigs.l2b()
    target, pole = rigs.empty("T", (0.6, -0.4, 1.2)), rigs.empty("P", (0, 3, 0.8))
    rigs.bone(obj, "up").rotation_mode = mode
    rigs.add_chain_by_properties(obj, "lo", target, pole, weight=0.5)
    return obj


def fk_angle(obj: bpy.types.Object, frame: float) -> float:
    """How far FK turns "up" at a frame."""
    rigs.bone(obj, "lo").limb_ik_mute = True
    rigs.frame_set(frame)
    angle = rigs.local_rotations(obj)["up"].angle
    rigs.bone(obj, "lo").limb_ik_mute = False
    rigs.frame_set(frame)
    return float(angle)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
@pytest.mark.parametrize("option", [set(), {"INSERTKEY_NEEDED"}, {"INSERTKEY_AVAILABLE"}])
def test_a_key_among_others_holds_fk(mode: str, option: set[str]) -> None:
    obj = limb(mode)
    rigs.key_rotation(rigs.bone(obj, "up"), 1, Quaternion(X, 0.2))
    rigs.key_rotation(rigs.bone(obj, "up"), 20, Quaternion(X, 0.8))
    before = fk_angle(obj, 10)
    shown = rigs.evaluated_pose(obj)
    for _ in range(3):
        rigs.bone(obj, "up").keyframe_insert(rigs.rotation_path(rigs.bone(obj, "up")), options=option)
        rigs.update()
    assert fk_angle(obj, 10) == pytest.approx(before, abs=EXACT)
    assert rigs.pose_distance(shown, rigs.evaluated_pose(obj)) <= EXACT


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_a_script_that_goes_from_frame_to_frame_and_keys_stores_fk(mode: str) -> None:
    obj = limb(mode)
    rigs.turn(obj, "up", "X", 0.3)
    rigs.update()
    for frame in (1, 10, 20):
        rigs.frame_set(frame)
        rigs.bone(obj, "up").keyframe_insert(rigs.rotation_path(rigs.bone(obj, "up")))
    for frame in (1, 5, 10, 20):
        assert fk_angle(obj, frame) == pytest.approx(0.3, abs=EXACT)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
@pytest.mark.parametrize("is_keyed_first", [True, False])
def test_a_key_beside_a_frame_that_is_only_set_holds_fk(mode: str, is_keyed_first: bool) -> None:
    """A script that inserts a key and sets the frame, in either order, before Blender updates."""
    obj = limb(mode)
    rigs.turn(obj, "up", "X", 0.3)
    rigs.frame_set(0)
    keyed = 0 if is_keyed_first else 10
    if is_keyed_first:
        rigs.bone(obj, "up").keyframe_insert(rigs.rotation_path(rigs.bone(obj, "up")))
    bpy.context.scene.frame_current = 10
    if not is_keyed_first:
        rigs.bone(obj, "up").keyframe_insert(rigs.rotation_path(rigs.bone(obj, "up")))
    rigs.update()
    assert fk_angle(obj, keyed) == pytest.approx(0.3, abs=EXACT)
    assert fk_angle(obj, 20) == pytest.approx(0.3, abs=EXACT)


def test_keys_of_a_motion_are_left_alone_on_the_way() -> None:
    obj = limb()
    for frame, angle in ((1, 0.2), (10, 0.5), (20, 0.8)):
        rigs.key_rotation(rigs.bone(obj, "up"), frame, Quaternion(X, angle))
        rigs.frame_set(frame)
    for frame, angle in ((1, 0.2), (10, 0.5), (20, 0.8)):
        assert fk_angle(obj, frame) == pytest.approx(angle, abs=EXACT)


def in_pose_mode(obj: bpy.types.Object) -> None:
    assert bpy.context.view_layer is not None
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")


@pytest.mark.parametrize("has_keys", [False, True])
@pytest.mark.parametrize("is_action_kept", [False, True])
@pytest.mark.parametrize("is_updated", [False, True])
def test_what_blender_bakes_is_what_was_seen_on_this_frame_too(
    has_keys: bool, is_action_kept: bool, is_updated: bool
) -> None:
    """ "Bake Action" with visual keying; one frame of it must not be FK."""
    obj = limb()
    if has_keys:
        rigs.key_rotation(rigs.bone(obj, "up"), 1, Quaternion(X, 0.2))
        rigs.key_rotation(rigs.bone(obj, "up"), 10, Quaternion(X, 0.8))
    rigs.update()
    seen = []
    for frame in range(1, 11):
        rigs.frame_set(frame)
        seen.append(rigs.evaluated_pose(obj))
    rigs.frame_set(3)
    in_pose_mode(obj)
    bpy.ops.nla.bake(
        frame_start=1, frame_end=10, only_selected=False, visual_keying=True, use_current_action=is_action_kept,
        bake_types={"POSE"},
    )  # fmt: skip
    if is_updated:
        rigs.update()
    rigs.bone(obj, "lo").limb_ik_mute = True
    for frame in range(1, 11):
        rigs.frame_set(frame)
        assert rigs.pose_distance(seen[frame - 1], rigs.evaluated_pose(obj)) <= EXACT
    rigs.bone(obj, "lo").limb_ik_mute = False
    rigs.frame_set(5)
    fk = fk_angle(obj, 5)
    rigs.bone(obj, "up").keyframe_insert("rotation_quaternion")
    rigs.update()
    assert fk_angle(obj, 5) == pytest.approx(fk, abs=EXACT)
