"""Scenarios about set-ups of other versions: older ones are brought up to date, newer ones left alone and named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.rig import migrate

import rigs

pytestmark = pytest.mark.usefixtures("blank")

NEWER = 99


def limb() -> tuple[Any, Any, Any]:
    obj = rigs.l2b()
    target = rigs.empty("T", (0.6, -0.4, 1.2))
    tip = rigs.add_chain_by_properties(obj, "lo", target)
    rigs.update()
    return obj, target, tip


def save_with_version(tmp_path: Path, version: int) -> str:
    obj, _, _ = limb()
    obj.limb_ik.version = version
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


def test_the_first_chain_stamps_its_rig_and_a_rig_without_has_no_number() -> None:
    assert rigs.l2b(name="Bare").limb_ik.version == 0
    obj, _, _ = limb()
    assert obj.limb_ik.version == migrate.VERSION
    bpy.context.view_layer.objects.active = other = rigs.l2b(name="Other")
    assert bpy.ops.limb_ik.add_chain(armature="Other", tips="lo") == {"FINISHED"}
    assert other.limb_ik.version == migrate.VERSION


def test_a_file_without_a_number_is_read_and_gets_one(tmp_path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=save_with_version(tmp_path, 0))
    assert bpy.data.objects["Rig"].limb_ik.version == migrate.VERSION
    assert rigs.tip_error(bpy.data.objects["Rig"], "lo", bpy.data.objects["T"]) <= 1e-5


def test_every_step_is_taken_once_on_load_and_on_append(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_with_version(tmp_path, 1)
    steps: list[tuple[int, str]] = []
    monkeypatch.setattr(migrate, "VERSION", 3)
    for number in (1, 2):
        monkeypatch.setitem(migrate.STEPS, number, lambda obj, number=number: steps.append((number, obj.name)))
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=path)
        rigs.frame_set(2)
    assert steps == [(1, "Rig"), (2, "Rig")] * 2  # each load reads the old file again
    assert bpy.data.objects["Rig"].limb_ik.version == 3
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    steps.clear()
    with bpy.data.libraries.load(path, link=False) as (source, wanted):
        wanted.objects = list(source.objects)
    for obj in wanted.objects:
        bpy.context.scene.collection.objects.link(obj)
    rigs.update()
    rigs.frame_set(3)
    assert steps == [(1, "Rig"), (2, "Rig")]
    assert rigs.tip_error(bpy.data.objects["Rig"], "lo", bpy.data.objects["T"]) <= 1e-5


def test_a_newer_set_up_is_named_and_left_alone(tmp_path: Path) -> None:
    path = save_with_version(tmp_path, NEWER)
    bpy.ops.wm.open_mainfile(filepath=path)
    for frame in (2, 3):
        rigs.frame_set(frame)
    obj = bpy.data.objects["Rig"]
    tip = rigs.bone(obj, "lo")
    assert tip.limb_ik_status == "INVALID"
    assert "newer" in tip.limb_ik_message
    assert obj.limb_ik.version == NEWER
    assert tuple(rigs.bone(obj, "up").rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)
    rigs.add_chain_by_properties(obj, "hand", bpy.data.objects["T"], chain_length=1, solver="LOOK_AT")
    rigs.update()
    assert obj.limb_ik.version == NEWER
