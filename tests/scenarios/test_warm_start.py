"""Warm start: from the frame before where that was the last one solved, else from FK; never in renders (LB-37)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
import pytest

import rigs

pytestmark = pytest.mark.usefixtures("blank")

FRAMES = range(1, 21)
# The same start gives the same floats; only Blender's rounding of the written pose is between two readings.
SAME = 1e-5


def tail(**settings: Any) -> tuple[Any, Any, Any]:
    """Six bones that are asked to coil and uncoil, with FK that is another shape on the way."""
    obj = rigs.build(rigs.bent(6, 0.5, math.radians(12)))
    target = rigs.empty("T")
    for frame, place in ((1, (0.3, -1.0, 1.8)), (10, (1.6, 0.4, 0.2)), (20, (-0.9, 0.9, 1.2))):
        rigs.key_location(target, frame, place)
    for frame, angle in ((1, 0.0), (20, 0.5)):
        rigs.turn(obj, "b3", "Z", angle)
        rigs.key_rotation(rigs.bone(obj, "b3"), frame)
    tip = rigs.add_chain_by_properties(obj, "b6", target, chain_length=6, solver="FABRIK", **settings)
    return obj, target, tip


def played(obj: bpy.types.Object, frames: Iterable[int]) -> dict[int, dict]:
    rigs.frame_set(-10)
    seen = {}
    for frame in frames:
        rigs.frame_set(frame)
        seen[frame] = rigs.local_rotations(obj)
    return seen


def distance(a: dict[int, dict], b: dict[int, dict]) -> float:
    return max(rigs.local_distance(a[frame], b[frame]) for frame in set(a) & set(b))


def test_off_every_frame_stands_alone() -> None:
    obj, _, _ = tail()
    forward = played(obj, FRAMES)
    assert distance(forward, played(obj, reversed(FRAMES))) <= SAME
    assert distance(forward, played(obj, [7, 3, 15, 4, 11, 5])) <= SAME


def test_on_playing_starts_from_the_frame_before_and_a_jump_from_fk() -> None:
    obj, target, tip = tail()
    alone = played(obj, FRAMES)
    tip.limb_ik_use_warm_start = True
    warm = played(obj, FRAMES)
    assert distance(warm, alone) > 1e-2  # the tail has room to lie otherwise, and lies as before
    assert distance(warm, played(obj, FRAMES)) <= SAME
    for frame in FRAMES:
        assert frame == 1 or rigs.local_distance(warm[frame], warm[frame - 1]) < 0.6
    assert distance(alone, played(obj, [1, 5, 9, 3, 20])) <= SAME
    assert distance(alone, played(obj, reversed(FRAMES))) <= SAME
    assert tip.limb_ik_status == "REACHED"
    assert rigs.tip_error(obj, "b6", target) <= 1e-5


def test_on_an_edit_starts_from_what_its_frame_started_from() -> None:
    obj, target, _ = tail(use_warm_start=True)
    rigs.frame_set(-10)
    for frame in (11, 12, 13):
        rigs.frame_set(frame)
    shown = rigs.local_rotations(obj)
    place = tuple(target.location)
    for step in range(5):
        target.location.x += 0.01 * step
        rigs.update()
    target.location = place
    rigs.update()
    assert rigs.local_distance(shown, rigs.local_rotations(obj)) <= SAME


def test_on_an_undo_a_load_and_another_chain_length_start_from_fk(tmp_path: Path) -> None:
    obj, _, tip = tail()
    alone = played(obj, FRAMES)
    tip.limb_ik_use_warm_start = True
    path = str(tmp_path / "tail.blend")
    warm = played(obj, range(5, 13))
    assert rigs.local_distance(alone[12], warm[12]) > 1e-2
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    rigs.update()
    obj = bpy.data.objects["Rig"]
    assert rigs.local_distance(alone[12], rigs.local_rotations(obj)) <= SAME
    played(obj, range(5, 13))
    bpy.ops.ed.undo_push(message="Before")
    rigs.empty("Other")
    bpy.ops.ed.undo_push(message="After")
    bpy.ops.ed.undo()
    rigs.update()
    obj = bpy.data.objects["Rig"]
    assert rigs.local_distance(alone[12], rigs.local_rotations(obj)) <= SAME
    rigs.bone(obj, "b6").limb_ik_chain_length = 4
    rigs.frame_set(17)
    assert rigs.bone(obj, "b6").limb_ik_status == "REACHED"


def test_on_another_dependency_graph_starts_from_fk_and_is_not_remembered() -> None:
    obj, target, tip = tail()
    alone = played(obj, FRAMES)
    tip.limb_ik_use_warm_start = True
    other = bpy.data.scenes.new("Other")
    for one in (obj, target):
        other.collection.objects.link(one)
    rigs.frame_set(7)
    other.frame_set(8)
    seen = obj.evaluated_get(other.view_layers[0].depsgraph)
    assert rigs.local_distance(alone[8], {bone.name: rigs.read_rotation(bone) for bone in seen.pose.bones}) <= SAME
