"""Crowds don't read back what they wrote, nor put into words what nobody reads; both stay right."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from limb_ik.rig import fk_pose, originals
from limb_ik.rig.crowd import poses, stored
from limb_ik.rig.crowd.words import Words
from mathutils import Euler, Quaternion

import rigs

SAME = 1e-6
"""Between float32 rotations that are the same numbers."""


@pytest.fixture(autouse=True)
def _clean(blank: None) -> None:
    stored._last.clear()


def crowd_of(count: int = 7) -> list[bpy.types.Object]:
    """Keyed rigs that move, their targets too."""
    made = []
    for number in range(count):
        arm = rigs.rig("L2B", f"Rig{number}", location=(3.0 * number, 0.0, 0.0))
        for pose_bone in arm.pose.bones:
            pose_bone.rotation_mode = "QUATERNION"
            for frame, size in ((1, 0.1), (9, 0.7 + 0.1 * number)):
                rigs.key_rotation(pose_bone, frame, Euler((size, 0.3 * size, -size)).to_quaternion())
        target = rigs.empty(f"T{number}")
        for frame, place in ((1, (3.0 * number + 0.5, 0.4, 1.2)), (9, (3.0 * number, -0.6, 0.9))):
            rigs.key_location(target, frame, place)
        rigs.add_chain_by_properties(arm, "lo", target, None, end_bone="hand")
        made.append(arm)
    return made


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """What a function is called with from now on."""
    calls: list[Any] = []
    own = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *args: calls.append(args) or own(*args))
    return calls


def fk_of(made: list[bpy.types.Object], frame: float) -> list[dict[str, Any]]:
    """What animation alone gives."""
    for arm in made:
        arm.limb_ik.is_live = False
    rigs.frame_set(frame)
    found = [rigs.local_rotations(arm) for arm in made]
    for arm in made:
        arm.limb_ik.is_live = True
    rigs.frame_set(frame)
    return found


def test_what_bones_keep_is_right_and_is_not_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    made = crowd_of()
    expected = fk_of(made, 5)
    rigs.frame_set(3)
    reads = counted(monkeypatch, poses, "_read_stored")
    for frame in (4, 5):
        rigs.frame_set(frame)
    assert not reads
    for arm, fk in zip(made, expected, strict=True):
        for name in ("up", "lo"):
            pose_bone = arm.pose.bones[name]
            number, stored_fk, written = fk_pose.store_of(pose_bone)
            assert number == 1
            kept = Quaternion(stored_fk).normalized()  # curves give it no unit length
            assert tuple(kept) == pytest.approx(tuple(fk[name]), abs=SAME)
            assert written == tuple(pose_bone.rotation_quaternion)
        arm.limb_ik.is_live = False
    rigs.update()
    for arm, fk in zip(made, expected, strict=True):
        assert rigs.local_distance(rigs.local_rotations(arm), fk) < SAME


def test_an_edit_between_frames_has_it_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made = crowd_of()
    rigs.frame_set(3)
    bpy.data.objects["T2"].location.x += 0.1
    rigs.update()
    reads = counted(monkeypatch, poses, "_read_stored")
    rigs.frame_set(4)
    assert len(reads) == 1
    assert fk_pose.has_store(made[2].pose.bones["up"])


def test_a_store_that_was_emptied_unseen_is_whole_after_the_next_frame() -> None:
    """As by a pose that is pasted, of which nobody is told."""
    made = crowd_of()
    expected = fk_of(made, 5)
    rigs.frame_set(4)
    pose_bone = made[1].pose.bones["up"]
    pose_bone.limb_ik_store = (0.0, 1.0, 0.0, 0.0, 0.0, *pose_bone.limb_ik_store[5:])
    rigs.frame_set(5)
    assert fk_pose.has_store(pose_bone)
    made[1].limb_ik.is_live = False
    rigs.update()
    assert rigs.local_distance(rigs.local_rotations(made[1]), expected[1]) < SAME


def test_words_are_made_when_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    made = crowd_of()
    bpy.data.objects["T0"].animation_data_clear()
    bpy.data.objects["T0"].location = (0.0, 0.0, 9.0)
    rigs.frame_set(2)
    asked = counted(monkeypatch, Words, "of_rig")
    rigs.frame_set(3)
    assert not asked
    tips = [arm.pose.bones["lo"] for arm in made]
    assert tips[0].limb_ik_status == "TOO_FAR"
    assert tips[0].limb_ik_message.startswith("short by")
    assert len(asked) == 1
    assert [tip.limb_ik_status for tip in tips[1:]] == ["REACHED"] * 6


def test_originals_are_looked_at_only_where_they_may_hold_another_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    made = crowd_of()
    rigs.frame_set(2)
    looks = counted(monkeypatch, originals, "hold_the_same")
    rigs.frame_set(3)
    assert not looks
    copies = counted(monkeypatch, originals, "copy_animated")
    other = bpy.data.scenes.new("Other")
    for arm in made:
        other.collection.objects.link(arm)
    other.frame_set(7)
    assert len(copies) == len(made)
