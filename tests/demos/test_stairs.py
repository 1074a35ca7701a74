"""The demo of a walk over stairs, without its pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.demos import stairs as demo_stairs
from limb_ik.rig.ground import Ground

import rigs

pytestmark = pytest.mark.usefixtures("blank")


def test_the_walk_goes_over_the_stairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = []
    monkeypatch.setattr(demo_stairs, "pose_strip", lambda path, *_, **__: pictures.append(path.name))
    text, status = demo_stairs.run(tmp_path)
    assert status == 0, text
    assert pictures == ["stairs_before.png", "stairs_after.png"]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "stairs.blend"))
    walker: Any = bpy.data.objects["Walker"]
    surface = Ground(bpy.data.objects["Stairs"], bpy.context.evaluated_depsgraph_get())
    highest = 0.0
    for frame in range(1, 61, 3):
        rigs.frame_set(frame)
        pose = rigs.evaluated_pose(walker)
        for name in ("toe.L", "toe.R", "foot.L", "foot.R"):
            for place in (pose[name].head, pose[name].tail):
                hit = surface.below(place, 10.0)
                assert hit is not None and place.z > hit.point.z - 1e-3, (frame, name)
                highest = max(highest, hit.point.z)
    assert highest == pytest.approx(demo_stairs.STEPS * demo_stairs.RISE, abs=1e-5)
