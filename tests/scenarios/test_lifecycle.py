"""Scenarios about coming and going: handlers, disabled extension, read-outs of other files (LB-40, 02)."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import pytest
from limb_ik import handlers

import rigs

pytestmark = pytest.mark.usefixtures("blank")

HANDLERS = ("frame_change_pre", "frame_change_post", "depsgraph_update_post", "load_post", "undo_post", "redo_post")
PATHS = {"QUATERNION": "rotation_quaternion", "XYZ": "rotation_euler", "AXIS_ANGLE": "rotation_axis_angle"}


def limb(**settings: Any) -> tuple[Any, Any, Any]:
    obj = rigs.l2b()
    target = rigs.empty("T", (0.6, -0.4, 1.2))
    tip = rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, 3, 0.8)), **settings)
    rigs.update()
    return obj, target, tip


def counts() -> set[int]:
    rows = (getattr(bpy.app.handlers, name) for name in HANDLERS)
    return {sum(one.__module__.startswith("limb_ik.") for one in row) for row in rows}


def test_lb_40_handlers_come_and_go_once(
    extension: ModuleType, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    obj, target, _ = limb()
    assert counts() == {1}
    for _ in range(5):
        extension.unregister()
        assert counts() == {0}
        extension.unregister()  # harmless
        capfd.readouterr()
        rigs.frame_set(3)
        assert "Error" not in capfd.readouterr().err
        extension.register()
        assert counts() == {1}
    solved = []
    real = handlers.evaluate
    monkeypatch.setattr(handlers, "evaluate", lambda *args, **more: (solved.append(1), real(*args, **more))[1])
    rigs.frame_set(7)
    assert solved == [1]
    assert rigs.tip_error(obj, "lo", target) <= 1e-5
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    rigs.frame_set(2)
    assert counts() == {1}


def raw(bone: bpy.types.PoseBone) -> tuple[float, ...]:
    return tuple(getattr(bone, PATHS[bone.rotation_mode]))


@pytest.mark.parametrize("mode", PATHS)
@pytest.mark.parametrize("weight", [0.5, 1.0])
def test_a_file_opened_and_saved_without_the_extension_gives_fk_back(
    extension: ModuleType, mode: str, weight: float, tmp_path: Path
) -> None:
    obj = rigs.l2b()
    for name in ("up", "lo"):
        rigs.bone(obj, name).rotation_mode = mode
    rigs.turn(obj, "up", "X", 0.7)
    rigs.turn(obj, "lo", "Z", -0.4)
    fk = {name: raw(rigs.bone(obj, name)) for name in ("up", "lo")}
    rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)), weight=weight)
    rigs.update()
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    extension.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=path)
        for frame in (2, 5):
            rigs.frame_set(frame)
        bpy.ops.wm.save_as_mainfile(filepath=path)
    finally:
        extension.register()
    bpy.ops.wm.open_mainfile(filepath=path)
    rigs.frame_set(3)
    obj = bpy.data.objects["Rig"]
    rigs.bone(obj, "lo").limb_ik_mute = True
    rigs.update()
    assert {name: raw(rigs.bone(obj, name)) for name in ("up", "lo")} == fk


def test_enabled_after_the_file_was_opened_all_is_live_at_once(extension: ModuleType, tmp_path: Path) -> None:
    """Blender notes a driver of an unknown property as invalid, which has to be taken back."""
    limb()
    target = bpy.data.objects["T"]
    for frame, place in ((1, (0.6, -0.4, 1.2)), (9, (0.2, -0.9, 1.0))):
        rigs.key_location(target, frame, place)
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    extension.unregister()
    try:
        bpy.ops.wm.open_mainfile(filepath=path)
        rigs.frame_set(6)
    finally:
        extension.register()
    rigs.update()
    obj, target = bpy.data.objects["Rig"], bpy.data.objects["T"]
    assert rigs.tip_error(obj, "lo", target) <= 1e-5
    assert all(curve.driver.is_valid for curve in obj.animation_data.drivers)
    target.animation_data_clear()
    target.location = (0.4, -0.5, 1.3)
    rigs.update()
    assert rigs.tip_error(obj, "lo", target) <= 1e-5


def test_a_disabled_rig_solves_nothing_and_bakes_as_if_live() -> None:
    obj, target, tip = limb()
    obj.limb_ik.is_live = False
    rigs.update()
    assert tuple(rigs.bone(obj, "up").rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)
    assert tip.limb_ik_status == "IDLE"
    rigs.frame_set(4)
    assert tuple(rigs.bone(obj, "up").rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)
    assert bpy.ops.limb_ik.bake(armature="Rig", use_range=True, frame_start=4, frame_end=5) == {"FINISHED"}
    rigs.frame_set(4)
    assert rigs.tip_error(obj, "lo", target) <= 1e-5
