"""Scenarios about state: FK kept apart from IK, whatever the order of updates (LB-01, 02, 33 to 35, 41, 42, 46)."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest
from limb_ik.rig import fk_pose
from mathutils import Matrix, Vector

import rigs

pytestmark = pytest.mark.usefixtures("blank")

TARGET = (1.2, 0, 0.5)
POLE = (0, -3, 0)


def limb(
    kind: str = "L2S", target: tuple[float, ...] = TARGET, pole: tuple[float, ...] | None = POLE, **settings: Any
) -> tuple[Any, Any]:
    obj = rigs.rig(kind)
    t = rigs.empty("T", target)
    p = rigs.empty("P", pole) if pole else None
    rigs.add_chain_by_properties(obj, "lo", t, p, **settings)
    return obj, t


@pytest.mark.parametrize("is_keyed", [False, True])
def test_lb_01_the_solver_never_takes_its_own_output_as_input(is_keyed: bool, tmp_path: Path) -> None:
    obj, target = limb(weight=0.5)
    rigs.turn(obj, "up", "X", math.radians(20))
    if is_keyed:
        for frame in (1, 50):
            rigs.key_rotation(rigs.bone(obj, "up"), frame)
    rigs.update()
    first = rigs.local_rotations(obj)
    other = rigs.empty("Other")
    for step in range(50):
        other.location.x = step
        rigs.update()
        target.location.x = 1.2001
        rigs.update()
        target.location.x = 1.2
        rigs.update()
    assert rigs.local_distance(first, rigs.local_rotations(obj)) <= 1e-5
    for _ in range(10):
        rigs.frame_set(10)
        assert rigs.local_distance(first, rigs.local_rotations(obj)) <= 1e-5
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rigs.update()
    assert rigs.local_distance(first, rigs.local_rotations(bpy.data.objects["Rig"])) <= 1e-5


OFF = {
    "weight": lambda tip: setattr(tip, "limb_ik_weight", 0.0),
    "use_ik": lambda tip: setattr(tip, "limb_ik_use_ik", False),
    "mute": lambda tip: setattr(tip, "limb_ik_mute", True),
    "is_live": lambda tip: setattr(tip.id_data.limb_ik, "is_live", False),
    "solver": lambda tip: setattr(tip, "limb_ik_solver", "NONE"),
    "target": lambda tip: setattr(tip, "limb_ik_target", None),
}


@pytest.mark.parametrize("way", OFF)
def test_lb_02_off_shows_fk_on_keyed_bones(way: str) -> None:
    obj, _ = limb("L2B", (0.6, -0.4, 1.2), None)
    up, lo = rigs.bone(obj, "up"), rigs.bone(obj, "lo")
    for bone in (up, lo):
        bone.rotation_mode = "XYZ"
    for frame, degrees in ((0, 0), (40, 40)):
        up.rotation_euler = (math.radians(degrees), 0, 0)
        lo.rotation_euler = (0, 0, 0)
        rigs.key_rotation(up, frame)
        rigs.key_rotation(lo, frame)
    rigs.set_interpolation(obj, "LINEAR")
    rigs.frame_set(20)
    assert rigs.tip_error(obj, "lo", bpy.data.objects["T"]) <= 1e-5
    OFF[way](rigs.bone(obj, "lo"))
    for frame in (21, 20):
        rigs.frame_set(frame)
    found = rigs.evaluated(obj).pose.bones
    assert math.degrees(found["up"].rotation_euler.x) == pytest.approx(20, abs=0.01)
    assert tuple(found["lo"].rotation_euler) == pytest.approx((0, 0, 0), abs=1e-6)


@pytest.mark.parametrize("is_after_frames", [False, True])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
@pytest.mark.parametrize("way", OFF)
def test_lb_02_off_gives_the_hand_set_pose_back_bit_for_bit(way: str, mode: str, is_after_frames: bool) -> None:
    obj = rigs.l2b()
    for name in ("up", "lo"):
        rigs.bone(obj, name).rotation_mode = mode
    rigs.turn(obj, "up", "X", 0.7)
    rigs.turn(obj, "lo", "Z", -0.4)
    before = {
        name: tuple(getattr(rigs.bone(obj, name), rigs.rotation_path(rigs.bone(obj, name)).rpartition(".")[2]))
        for name in ("up", "lo")
    }
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)))
    rigs.update()
    assert rigs.tip_error(obj, "lo", bpy.data.objects["T"]) <= 1e-5
    OFF[way](rigs.bone(obj, "lo"))
    rigs.update()
    if is_after_frames:
        for frame in (21, 20):
            rigs.frame_set(frame)
    for name, raw in before.items():
        bone = rigs.bone(obj, name)
        assert tuple(getattr(bone, rigs.rotation_path(bone).rpartition(".")[2])) == raw
        assert not fk_pose.has_store(bone)


def test_lb_02_unregistering_gives_fk_back(extension: ModuleType) -> None:
    obj, _ = limb()
    rigs.turn(obj, "up", "X", 0.3)
    rigs.update()
    extension.unregister()
    try:
        assert rigs.bone(obj, "up").rotation_quaternion.angle == pytest.approx(0.3, abs=1e-6)
        assert rigs.bone(obj, "lo").rotation_quaternion.angle == pytest.approx(0, abs=1e-6)
    finally:
        extension.register()


def test_edits_of_a_solved_bone_become_fk() -> None:
    obj, _ = limb(weight=0.5)
    rigs.update()
    up = rigs.bone(obj, "up")
    up.rotation_quaternion = (math.cos(0.2), math.sin(0.2), 0, 0)
    rigs.update()
    assert fk_pose.store_of(up).fk == pytest.approx((math.cos(0.2), math.sin(0.2), 0, 0), abs=1e-6)


def test_a_cancelled_drag_brings_its_fk_back() -> None:
    obj, _ = limb(weight=0.5)
    rigs.turn(obj, "up", "X", 0.3)
    rigs.update()
    up = rigs.bone(obj, "up")
    shown = tuple(up.rotation_quaternion)
    pose = rigs.local_rotations(obj)
    for step in range(5):
        up.rotation_quaternion = (math.cos(step / 10), 0, 0, math.sin(step / 10))
        rigs.update()
    up.rotation_quaternion = shown
    rigs.update()
    assert rigs.local_distance(pose, rigs.local_rotations(obj)) <= 1e-6


def test_lb_33_lengths_hold_at_every_weight() -> None:
    obj, _ = limb("L2B", (0.9, 0.3, 0.9), None)
    rigs.turn(obj, "up", "X", math.radians(70))
    rigs.turn(obj, "lo", "X", math.radians(-90))
    tip = rigs.bone(obj, "lo")
    tip.limb_ik_weight = 0.0
    rigs.update()
    fk = rigs.local_rotations(obj)
    angles = []
    for step in range(21):
        tip.limb_ik_weight = step / 20
        rigs.update()
        pose = rigs.evaluated_pose(obj)
        assert (pose["lo"].head - pose["up"].head).length == pytest.approx(1, abs=1e-6)
        assert (pose["hand"].head - pose["lo"].head).length == pytest.approx(1, abs=1e-6)
        angles.append(
            {name: rigs.rotation_distance(fk[name], turned) for name, turned in rigs.local_rotations(obj).items()}
        )
    assert max(angles[0].values()) <= 1e-6
    assert rigs.tip_error(obj, "lo", bpy.data.objects["T"]) <= 1e-5
    for name in ("up", "lo"):
        steps = [row[name] for row in angles]
        assert steps == sorted(steps)
        assert steps[10] == pytest.approx(0.5 * steps[20], abs=1e-3)


def eased_limb(blend_frames: float = 10.0) -> bpy.types.Object:
    """LB-34: on from frame 20, off from 50, T 0.8 from the FK tip."""
    obj, _ = limb("L2B", (0.8, 0, 1.6 - 1e-9), None)
    tip = rigs.bone(obj, "lo")
    bpy.data.objects["T"].location = (0.55, 0.0, 1.02)
    tip.limb_ik_blend_time = blend_frames / 24
    for frame, on in ((1, False), (20, True), (50, False)):
        tip.limb_ik_use_ik = on
        tip.keyframe_insert("limb_ik_use_ik", frame=frame)
    for name in ("up", "lo"):
        rigs.key_rotation(rigs.bone(obj, name), 1)
    return obj


def part_of_ik(obj: bpy.types.Object) -> float:
    """Angle of `up` from FK as a part of its full IK angle: the effective weight."""
    rigs.frame_set(40)
    return rigs.rotation_distance(rigs.local_rotations(obj)["up"], FK["up"])


FK = {"up": Matrix().to_quaternion(), "lo": Matrix().to_quaternion()}


def test_lb_34_a_keyed_switch_is_eased_over_the_blend_time() -> None:
    obj = eased_limb()
    full = part_of_ik(obj)
    assert full > 0.3
    for frame, weight in {20: 0, 25: 0.5, 30: 1, 50: 1, 55: 0.5, 60: 0}.items():
        rigs.frame_set(frame)
        part = rigs.rotation_distance(rigs.local_rotations(obj)["up"], FK["up"]) / full
        assert part == pytest.approx(weight, abs=1e-3), frame


def test_lb_34_play_jump_and_reverse_agree() -> None:
    obj = eased_limb()
    seen = {}
    ends = []
    for frame in range(1, 71):
        rigs.frame_set(frame)
        seen[frame] = rigs.local_rotations(obj)
        ends.append(rigs.evaluated_pose(obj)["hand"].head)
    assert max((b - a).length for a, b in itertools.pairwise(ends)) <= 0.15
    for frame in [*range(70, 0, -1), 25, 1, 25]:
        rigs.frame_set(frame)
        assert rigs.local_distance(seen[frame], rigs.local_rotations(obj)) <= 1e-5


def test_lb_34_no_blend_time_is_a_cut() -> None:
    obj = eased_limb(0.0)
    full = part_of_ik(obj)
    for frame, weight in {19: 0, 20: 1, 49: 1, 50: 0}.items():
        rigs.frame_set(frame)
        assert rigs.rotation_distance(rigs.local_rotations(obj)["up"], FK["up"]) / full == pytest.approx(
            weight, abs=1e-4
        )


def test_lb_35_partial_weight_takes_the_short_way() -> None:
    obj, _ = limb()
    up, tip = rigs.bone(obj, "up"), rigs.bone(obj, "lo")
    for frame in range(1, 74):
        up.rotation_quaternion = Matrix.Rotation(math.radians(5 * (frame - 1)), 3, "X").to_quaternion()
        rigs.key_rotation(up, frame)
    for weight in (0.3, 0.5, 0.7):
        tip.limb_ik_weight = weight
        jumps, last = 0, None
        for frame in range(1, 73):
            rigs.frame_set(frame)
            turned = rigs.local_rotations(obj)["up"]
            if last is not None and rigs.rotation_distance(last, turned) > math.radians(15):
                jumps += 1
            last = turned
        assert jumps <= 1


def test_lb_41_a_loaded_file_works_at_once(tmp_path: Path) -> None:
    paths = {name: str(tmp_path / f"{name}.blend") for name in "AB"}
    limb()
    rigs.update()
    bpy.ops.wm.save_as_mainfile(filepath=paths["A"])
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=paths["B"])
    for name in "ABA":
        bpy.ops.wm.open_mainfile(filepath=paths[name])
        rigs.frame_set(3)
        if name == "A":
            bpy.data.objects["T"].location.x = 1.0
            rigs.update()
            assert rigs.tip_error(bpy.data.objects["Rig"], "lo", bpy.data.objects["T"]) <= 1e-5


def test_lb_42_needs_no_active_object_and_solves_a_hidden_armature() -> None:
    obj, target = limb()
    bpy.context.view_layer.objects.active = None
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= 1e-5


def test_lb_46_a_duplicated_rig_follows_its_own_targets() -> None:
    obj, _ = limb()
    rigs.update()
    before = rigs.local_rotations(obj)
    for other in bpy.data.objects:
        other.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.duplicate()
    copy, copied = bpy.data.objects["Rig.001"], bpy.data.objects["T.001"]
    copied.location = (0.2, -0.9, 1.1)
    rigs.update()
    assert rigs.bone(copy, "lo").limb_ik_target == copied
    assert rigs.tip_error(copy, "lo", copied) <= 1e-5
    assert rigs.local_distance(before, rigs.local_rotations(obj)) <= 1e-6


def test_lb_46_a_linked_duplicate_solves_on_its_own() -> None:
    obj, target = limb()
    rigs.update()
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    rigs.update()
    other = rigs.empty("T2", (0.3, -1.0, 0.9))
    rigs.bone(copy, "lo").limb_ik_target = other
    rigs.update()
    assert rigs.tip_error(copy, "lo", other) <= 1e-5
    assert rigs.tip_error(obj, "lo", target) <= 1e-5


def test_lb_46_a_bone_target_of_the_same_armature_is_the_copys_own() -> None:
    obj = rigs.build([*rigs.RIGS["L2B"], rigs.BoneSpec("goal", (0.3, -0.3, 1.2), (0.3, -0.3, 1.4))])
    rigs.add_chain_by_properties(obj, "lo", obj, None, target_bone="goal")
    rigs.update()
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    copy.location.x = 5
    rigs.update()
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.duplicate()
    twin = bpy.context.view_layer.objects.active
    twin.location.y = 3
    rigs.update()
    for one in (obj, twin):
        assert rigs.bone(one, "lo").limb_ik_target == one
        goal = rigs.evaluated_pose(one)["goal"].head
        assert rigs.tip_error(one, "lo", Vector(goal)) <= 1e-5


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_a_key_inserted_while_ik_shows_holds_fk(mode: str) -> None:
    obj, _ = limb(weight=0.5)
    for name in ("up", "lo"):
        rigs.bone(obj, name).rotation_mode = mode
    rigs.turn(obj, "up", "X", 0.3)
    rigs.frame_set(5)
    before = rigs.evaluated_pose(obj)
    for _ in range(3):
        rigs.key_rotation(rigs.bone(obj, "up"), 5)
        rigs.update()
        assert rigs.pose_distance(before, rigs.evaluated_pose(obj)) <= 1e-5
        rigs.frame_set(9)
        rigs.frame_set(5)
        assert rigs.pose_distance(before, rigs.evaluated_pose(obj)) <= 1e-5
    rigs.bone(obj, "lo").limb_ik_mute = True
    rigs.update()
    assert rigs.local_rotations(obj)["up"].angle == pytest.approx(0.3, abs=1e-5)


@pytest.mark.parametrize("was_valid", [True, False])
def test_a_chain_that_was_taken_away_is_idle(was_valid: bool) -> None:
    obj, _ = limb(chain_length=2 if was_valid else 99)
    rigs.update()
    tip: Any = rigs.bone(obj, "lo")
    assert tip.limb_ik_status == ("REACHED" if was_valid else "INVALID")
    tip.limb_ik_solver = 'NONE'
    rigs.update()
    assert (tip.limb_ik_status, tip.limb_ik_error, tip.limb_ik_message) == ("IDLE", 0.0, "")
