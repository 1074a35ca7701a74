"""Scenarios about set-ups of other versions: older ones are brought up to date, newer ones left alone and named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.rig import dependency, fk_pose, migrate

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


def as_form_1(obj: bpy.types.Object) -> None:
    """Drivers on the object, and three properties for what is kept beside a bone."""
    for curve in obj.animation_data.drivers:
        curve.data_path = curve.data_path.removeprefix("pose.bones[0].")
    for bone in obj.pose.bones:
        number, fk, written = fk_pose.store_of(bone)
        bone.property_unset("limb_ik_store")
        if number:
            bone.limb_ik_store_mode, bone.limb_ik_fk, bone.limb_ik_written = number, fk, written
    obj.limb_ik.version = 1


@pytest.mark.parametrize("how", ["opened", "appended"])
def test_a_set_up_of_form_1_keeps_its_drivers_and_its_fk(tmp_path: Path, how: str) -> None:
    obj, _, _ = limb()
    rigs.turn(obj, "up", "X", 0.3)
    rigs.update()
    assert fk_pose.has_store(rigs.bone(obj, "up"))
    as_form_1(obj)
    path = str(tmp_path / "form_1.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    if how == "opened":
        bpy.ops.wm.open_mainfile(filepath=path)
    else:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        with bpy.data.libraries.load(path) as (source, wanted):
            wanted.objects = source.objects
        for one in wanted.objects:
            bpy.context.scene.collection.objects.link(one)
        rigs.frame_set(2)
    obj, target = bpy.data.objects["Rig"], bpy.data.objects["T"]
    assert sorted(curve.data_path for curve in obj.animation_data.drivers) == sorted(dependency.OWN_PATHS)
    assert all(curve.driver.is_valid for curve in obj.animation_data.drivers)
    assert not any(rigs.bone(obj, "up").is_property_set(f"limb_ik_{name}") for name in ("store_mode", "fk", "written"))
    target.hide_viewport = True
    target.location = (0.5, -0.3, 1.25)
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= 1e-5
    rigs.bone(obj, "lo").limb_ik_mute = True
    rigs.update()
    assert rigs.bone(obj, "up").rotation_quaternion.angle == pytest.approx(0.3, abs=1e-6)


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
