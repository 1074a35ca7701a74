"""What tests/files/saved_by_4_2.blend holds, and how it was made (LB-52).

It was made by ``save`` under Blender 4.2 with the extension registered, and stays as it is: a file
saved by later code would say nothing about older ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

import rigs

FILE = Path(__file__).resolve().parent / "files" / "saved_by_4_2.blend"
# One setting of every type; numbers that float32 holds exactly, so that equal means equal.
KEYED_LIMB: dict[str, Any] = {
    "solver": 'TWO_BONE', "chain_length": 2, "end_bone": "hand", "target_space": 'WORLD', "blend_time": 0.25,
    "mute": False, "softness": 0.0625, "max_reach": 0.9375, "end_rotation": 'KEEP_FK', "tolerance": 0.5,
    "iterations": 17, "use_limits": True, "bend_axis": (1.0, 0.0, 0.0),
}  # fmt: skip
JOINT: dict[str, Any] = {
    "kind": 'HINGE',
    "min_angle": -0.5,
    "max_angle": 2.5,
    "hinge_axis": (0.0, 0.0, 1.0),
    "share": 0.75,
}
# Keyed on frames 1 and 20, straight between.
WEIGHTS = {1: 0.25, 10: 0.25 + 0.75 * 9 / 19, 20: 1.0}
DRIVEN = 0.375


def save(path: Path) -> None:
    """Two limbs: one with a keyed weight, one with a driven one."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    for name in ("Keyed", "Driven"):
        arm = rigs.l2b(name=name)
        target, pole = rigs.empty(f"T {name}", (0.25, -0.5, 1.0)), rigs.empty(f"P {name}", (0, 3, 0.75))
        tip = rigs.add_chain_by_properties(arm, "lo", target, pole)
        for setting, value in KEYED_LIMB.items():
            setattr(tip, f"limb_ik_{setting}", value)
        for setting, value in JOINT.items():
            setattr(arm.pose.bones["hand"], f"limb_ik_joint_{setting}", value)
    keyed, driven = (bpy.data.objects[name].pose.bones["lo"] for name in ("Keyed", "Driven"))
    for frame in (1, 20):
        rigs.key_setting(keyed, "weight", frame, WEIGHTS[frame])
    curve = driven.driver_add("limb_ik_weight")
    curve.driver.type = 'SUM'
    variable = curve.driver.variables.new()
    variable.type = 'TRANSFORMS'
    variable.targets[0].id, variable.targets[0].transform_type = rigs.empty("Dial", (DRIVEN, 0, 0)), 'LOC_X'
    rigs.frame_set(1)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True, copy=True)


def tips() -> dict[str, Any]:
    return {name: bpy.data.objects[name].pose.bones["lo"] for name in ("Keyed", "Driven")}
