"""Files that an older Blender saved: LB-52. Settings, keys and drivers hold, also when saved again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from mathutils import Quaternion

import older_file
import rigs

pytestmark = pytest.mark.usefixtures("blank")
# Weights between keys are float32; poses go through float32 matrices.
EXACT = 1e-6
POSED = 1e-5


def opened(path: Path) -> dict[str, Any]:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return older_file.tips()


def plain(value: Any) -> Any:
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def check_settings(tips: dict[str, Any]) -> None:
    for name, tip in tips.items():
        assert {key: plain(getattr(tip, f"limb_ik_{key}")) for key in older_file.KEYED_LIMB} == older_file.KEYED_LIMB
        hand = tip.id_data.pose.bones["hand"]
        assert {key: plain(getattr(hand, f"limb_ik_joint_{key}")) for key in older_file.JOINT} == older_file.JOINT
        assert tip.limb_ik_target == bpy.data.objects[f"T {name}"] and tip.limb_ik_pole == bpy.data.objects[f"P {name}"]


def weight(name: str) -> float:
    evaluated: Any = rigs.evaluated(bpy.data.objects[name])
    return evaluated.pose.bones["lo"].limb_ik_weight


def turned_by(name: str, full: dict[str, Any], fk: dict[str, Any]) -> float:
    """Which part of the way from FK to full IK the root bone has been turned."""
    now = rigs.local_rotations(bpy.data.objects[name])["up"]
    return rigs.rotation_distance(fk["up"], now) / rigs.rotation_distance(fk["up"], full["up"])


def check_motion() -> None:
    rigs.frame_set(20)
    full = rigs.local_rotations(bpy.data.objects["Keyed"])
    fk = {"up": Quaternion()}
    for frame, expected in older_file.WEIGHTS.items():
        rigs.frame_set(frame)
        assert weight("Keyed") == pytest.approx(expected, abs=EXACT)
        assert turned_by("Keyed", full, fk) == pytest.approx(expected, abs=POSED)
        assert weight("Driven") == pytest.approx(older_file.DRIVEN, abs=EXACT)
        assert turned_by("Driven", full, fk) == pytest.approx(older_file.DRIVEN, abs=POSED)


def test_lb_52_a_file_saved_by_4_2(tmp_path: Path) -> None:
    check_settings(opened(older_file.FILE))
    check_motion()
    again = tmp_path / "again.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(again), copy=True)
    check_settings(opened(again))
    check_motion()


def test_lb_52_the_dial_still_drives() -> None:
    opened(older_file.FILE)
    bpy.data.objects["Dial"].location.x = 0.75
    rigs.update()
    assert weight("Driven") == pytest.approx(0.75, abs=EXACT)
