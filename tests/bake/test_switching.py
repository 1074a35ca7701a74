"""Switches near other switches: the same frame again takes one back, and none makes the pose jump."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import bpy
import pytest
from mathutils import Quaternion

import rigs

ops: Any = bpy.ops
FRAMES = [float(frame) for frame in range(1, 45)]
# Radians: what keys and targets in single precision cost.
SAME = 1e-4


@pytest.fixture
def limb(blank: None) -> bpy.types.Object:
    """L2B with hand-keyed FK: three keys with Bézier segments, whose quaternions are not of unit length between."""
    limb = rigs.rig("L2B")
    for bone, angles in (("up", (0.2, 0.9, 0.3)), ("lo", (-0.1, 0.7, 0.2))):
        for frame, angle in zip((1, 10, 40), angles, strict=True):
            rigs.key_rotation(rigs.bone(limb, bone), frame, Quaternion((1, 0, 0), angle))
    return limb


def with_chain(limb: bpy.types.Object, motion: str = 'STILL') -> Any:
    ops.limb_ik.add_chain(armature=limb.name, tips="lo", motion=motion)
    rigs.update()
    return rigs.bone(limb, "lo")


def switch(limb: bpy.types.Object, frame: float, to: str, **options: Any) -> None:
    rigs.frame_set(frame)
    ops.limb_ik.switch(armature=limb.name, to=to, **options)


def poses(limb: bpy.types.Object) -> list[dict[str, rigs.BonePose]]:
    found = []
    for frame in FRAMES:
        rigs.frame_set(frame)
        found.append(rigs.evaluated_pose(limb))
    return found


def apart(first: Any, second: Any) -> float:
    return max(rigs.pose_distance(a, b) for a, b in zip(first, second, strict=True))


def largest_step(found: list[dict[str, rigs.BonePose]]) -> float:
    return max(rigs.pose_distance(a, b) for a, b in pairwise(found))


def use_ik(limb: bpy.types.Object) -> list[tuple[float, float]]:
    return rigs.keys(limb).get(('pose.bones["lo"].limb_ik_use_ik', 0), [])


def fk_curves(limb: bpy.types.Object) -> list[float]:
    curves = [curve for curve in rigs.curves(limb) if "rotation" in curve.data_path]
    return [curve.evaluate(half / 2.0) for curve in curves for half in range(100)]


@pytest.mark.parametrize("interpolation", ['BEZIER', 'LINEAR', 'CONSTANT'])
@pytest.mark.parametrize("motion", ['KEYS', 'STILL', 'FK'])
@pytest.mark.parametrize("frame", [15.0, 20.5, 43.0])
def test_the_same_frame_again_takes_leaving_back(
    limb: bpy.types.Object, interpolation: str, motion: str, frame: float
) -> None:
    rigs.set_interpolation(limb, interpolation)
    tip = with_chain(limb, motion)
    if motion == 'FK':
        tip.limb_ik_target.location.z -= 0.1
    before, fk, keyed = poses(limb), fk_curves(limb), rigs.keys(tip.limb_ik_target)
    switch(limb, frame, 'FK')
    assert use_ik(limb)
    switch(limb, frame, 'IK')
    assert not use_ik(limb) and tip.limb_ik_use_ik
    assert apart(before, poses(limb)) < SAME
    assert fk_curves(limb) == pytest.approx(fk, abs=1e-5)
    assert rigs.keys(tip.limb_ik_target) == keyed


def test_the_same_frame_again_gives_fk_without_keys_back(blank: None) -> None:
    limb = rigs.rig("L2B")
    rigs.turn(limb, "lo", "X", 0.4)
    tip = with_chain(limb)
    tip.limb_ik_target.location.z -= 0.3
    rigs.update()
    seen = rigs.evaluated_pose(limb)
    switch(limb, 15, 'FK')
    switch(limb, 15, 'IK')
    assert not rigs.curves(limb)
    assert rigs.pose_distance(seen, rigs.evaluated_pose(limb)) < SAME
    tip.limb_ik_mute = True
    rigs.update()
    assert tip.rotation_quaternion.rotation_difference(Quaternion((1, 0, 0), 0.4)).angle < SAME


@pytest.mark.parametrize("is_keyed", [False, True])
def test_the_same_frame_again_takes_arriving_back(limb: bpy.types.Object, is_keyed: bool) -> None:
    tip = with_chain(limb)
    target = tip.limb_ik_target
    if is_keyed:
        for frame, up in ((1, 0.0), (30, 0.3)):
            target.location.z += up
            target.keyframe_insert("location", frame=frame)
    tip.limb_ik_use_ik = False
    before, fk, place = poses(limb), fk_curves(limb), target.location.copy()
    path = [curve.evaluate(half / 2.0) for curve in rigs.curves(target) for half in range(80)]
    switch(limb, 20, 'IK')
    assert apart(before[19:20], poses(limb)[19:20]) < SAME
    switch(limb, 20, 'FK')
    assert not use_ik(limb) and not tip.limb_ik_use_ik
    assert apart(before, poses(limb)) < SAME
    assert fk_curves(limb) == pytest.approx(fk, abs=1e-5)
    assert [curve.evaluate(half / 2.0) for curve in rigs.curves(target) for half in range(80)] == pytest.approx(
        path, abs=1e-5
    )
    assert is_keyed or ((target.location - place).length < 1e-6 and not rigs.curves(target))


@pytest.mark.parametrize("key", [19, 20])
def test_keys_of_the_animator_beside_it_stay(limb: bpy.types.Object, key: int) -> None:
    """One on the frame before is held and held no more; of one on the frame itself the value is what was seen."""
    for bone, angle in (("up", 0.5), ("lo", 0.4)):
        rigs.key_rotation(rigs.bone(limb, bone), key, Quaternion((1, 0, 0), angle))
    with_chain(limb, 'KEYS')
    fk, frames = fk_curves(limb), [[x for x, _ in rows] for path, rows in rigs.keys(limb).items()]
    switch(limb, 20, 'FK')
    switch(limb, 20, 'IK')
    assert fk_curves(limb) == pytest.approx(fk, abs=1e-5)
    assert [[x for x, _ in rows] for path, rows in rigs.keys(limb).items()] == frames


def test_taking_the_first_switch_back_leaves_what_held_before_the_next(limb: bpy.types.Object) -> None:
    tip = with_chain(limb)
    tip.limb_ik_use_ik = False
    switch(limb, 40, 'IK')
    before = poses(limb)
    switch(limb, 10, 'IK', ease='LEAVE')
    switch(limb, 10, 'FK')
    assert use_ik(limb) == [(9.0, 0.0), (36.0, 1.0)]
    assert apart(before, poses(limb)) < SAME


def test_what_was_posed_on_ik_is_not_taken_back(limb: bpy.types.Object) -> None:
    tip = with_chain(limb)
    tip.limb_ik_use_ik = False
    switch(limb, 20, 'IK')
    tip.limb_ik_target.location.z -= 0.2
    tip.limb_ik_target.keyframe_insert("location", frame=20)
    rigs.frame_set(20)
    seen = rigs.evaluated_pose(limb)
    switch(limb, 20, 'FK')
    assert use_ik(limb) == [(15.0, 0.0), (16.0, 1.0), (20.0, 0.0)]
    rigs.frame_set(20)
    assert rigs.pose_distance(seen, rigs.evaluated_pose(limb)) < SAME


@pytest.mark.parametrize("later", [1, 2, 3, 4, 5, 7])
def test_a_switch_within_a_running_ease_is_refused(limb: bpy.types.Object, later: int) -> None:
    with_chain(limb, 'KEYS')
    switch(limb, 10, 'FK')
    keyed, before = rigs.keys(limb), poses(limb)
    with pytest.raises(RuntimeError, match=r"until frame 14: .* frame 18 or later, or at 10 to take that back"):
        switch(limb, 10 + later, 'IK')
    assert rigs.keys(limb) == keyed
    switch(limb, 18, 'IK')
    assert use_ik(limb) == [(9.0, 1.0), (10.0, 0.0), (14.0, 1.0)]
    assert largest_step(poses(limb)) < 1.5 * largest_step(before), "a jump"


def test_leaving_before_it_has_arrived_is_refused(limb: bpy.types.Object) -> None:
    tip = with_chain(limb, 'KEYS')
    tip.limb_ik_use_ik = False
    switch(limb, 20, 'IK')
    with pytest.raises(RuntimeError, match=r"goes over to IK until frame 20: switch to FK at frame 20 or later$"):
        switch(limb, 18, 'FK')
    switch(limb, 18, 'FK', match=False)
    assert use_ik(limb)[-1] == (18.0, 0.0)


@pytest.mark.parametrize("gap", [1, 2, 4, 5, 6, 10])
@pytest.mark.parametrize("motion", ['KEYS', 'STILL'])
@pytest.mark.parametrize("to", ['IK', 'FK'])
def test_the_same_switch_earlier_makes_the_later_one_nothing(
    limb: bpy.types.Object, to: str, motion: str, gap: int
) -> None:
    """No frame of the other side is left just before the later one, neither of the switch nor of a target or bone."""
    tip = with_chain(limb, motion)
    tip.limb_ik_use_ik = False
    plain = largest_step(poses(limb)[11:])
    tip.limb_ik_use_ik = to == 'FK'
    switch(limb, 32, to)
    earlier = 32 - gap - 4 * (to == 'IK')
    switch(limb, earlier, to)
    first = earlier - 4 * (to == 'IK')
    assert {value for frame, value in use_ik(limb) if frame >= first} == {float(to == 'IK')}
    # The target goes on from where it waited over four frames; FK goes on to its next key in what is left.
    assert largest_step(poses(limb)[earlier - 1 :]) < 3.0 * plain, "a jump"


def test_taking_back_what_a_later_switch_answers(limb: bpy.types.Object) -> None:
    """FK from 10 to 26, then none: targets no longer wait for the switch at 26."""
    with_chain(limb, 'KEYS')
    before = poses(limb)
    switch(limb, 10, 'FK')
    switch(limb, 30, 'IK')
    switch(limb, 10, 'IK')
    assert {value for _, value in use_ik(limb)} == {1.0}
    assert apart(before, poses(limb)) < 0.01


def test_a_key_of_fk_turns_no_frame_beside_it(limb: bpy.types.Object) -> None:
    """Keys with unit quaternions, curves that are shorter between: what FK does next is what it did."""
    with_chain(limb, 'KEYS')
    before, fk = poses(limb), fk_curves(limb)
    switch(limb, 5, 'FK')
    assert apart(before, poses(limb)) < SAME
    held = [at for at, (a, b) in enumerate(zip(fk, fk_curves(limb), strict=True)) if abs(a - b) > 1e-5]
    assert all(at % 100 == 9 for at in held), "only half a frame before the key is held"


def test_captured_fk_keeps_its_last_key(blank: None) -> None:
    """Where captured motion ends, a switch to FK doesn't write the IK pose over it."""
    limb = rigs.rig("L2B")
    for frame in range(1, 21):
        rigs.key_rotation(rigs.bone(limb, "up"), frame, Quaternion((1, 0, 0), 0.03 * frame))
    tip = with_chain(limb, 'FK')
    tip.limb_ik_target.location.z += 0.2
    before = {key: points for key, points in rigs.keys(limb).items() if "rotation" in key[0]}
    switch(limb, 20, 'FK')
    assert {key: points for key, points in rigs.keys(limb).items() if "rotation" in key[0]} == before
    assert use_ik(limb)


def test_with_stretched_time_reports_speak_of_the_timelines_frames(limb: bpy.types.Object, capfd: Any) -> None:
    with_chain(limb)
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 200
    switch(limb, 20, 'FK')
    assert "FK for 'lo': frames 20 to 28" in capfd.readouterr().out
    assert use_ik(limb) == [(9.0, 1.0), (10.0, 0.0)]
    with pytest.raises(RuntimeError, match="at frame 60 already"):
        switch(limb, 60, 'FK')
    with pytest.raises(RuntimeError, match="over to FK until frame 28: switch to IK at frame 36 or later, or at 20 to"):
        switch(limb, 24, 'IK')
    switch(limb, 20, 'IK')
    assert "the change to FK at frame 20 is taken back" in capfd.readouterr().out
