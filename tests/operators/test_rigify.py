"""Generated Rigify rigs: set-up lets their FK controls lead, and the pose stays.

In a process of its own: with Rigify once enabled, Blender 4.5 hangs when it ends in the ordinary way.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import children

TESTS = Path(__file__).resolve().parent.parent
SCRIPT = """
import json, os, sys
import bpy
import addon_utils
from mathutils import Matrix
sys.path[:0] = [{tests!r}, {package!r}]
import rigs
import limb_ik
bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
addon_utils.enable("rigify", default_set=True)
limb_ik.register()
bpy.ops.object.armature_basic_human_metarig_add()
bpy.ops.pose.rigify_generate()
bpy.ops.object.mode_set(mode='OBJECT')
rig = next(obj for obj in bpy.data.objects if obj.name.startswith("rig"))
bones = rig.pose.bones
bones["hand_ik.L"].matrix = Matrix.Translation((-0.15, -0.1, -0.1)) @ bones["hand_ik.L"].matrix
bones["foot_ik.R"].matrix = Matrix.Translation((0, -0.1, 0.2)) @ bones["foot_ik.R"].matrix
rigs.update()
deform = [bone.name for bone in rig.data.bones if bone.use_deform]
before = rigs.evaluated_pose(rig)
bpy.ops.limb_ik.add_limbs(armature=rig.name)
rigs.update()
found = {{"stays": rigs.pose_distance(before, rigs.evaluated_pose(rig), deform)}}
found["switches"] = [bone["IK_FK"] for bone in bones if bone.get("IK_FK") is not None]
bones["forearm_fk.L"].limb_ik_target.location.z += 0.1
rigs.update()
place = bones["forearm_fk.L"].limb_ik_target.matrix_world.translation
found["missed"] = (rigs.evaluated_pose(rig)["DEF-hand.L"].head - place).length
bpy.ops.limb_ik.remove_chain(armature=rig.name)
rig.pose.bones["upper_arm_parent.L"]["IK_FK"] = 0.0
rig.pose.bones["hand_ik.L"].keyframe_insert("location", frame=1)
try:
    bpy.ops.limb_ik.add_limbs(armature=rig.name)
except RuntimeError as problem:
    found["refused"] = str(problem)
found["left"] = rig.pose.bones["upper_arm_parent.L"]["IK_FK"]
open({out!r}, "w").write(json.dumps(found))
os._exit(0)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("rigify")
    (folder / "package").mkdir()
    (folder / "package" / "limb_ik").symlink_to(TESTS.parent, target_is_directory=True)
    out = folder / "found.json"
    script = SCRIPT.format(tests=str(TESTS), package=str(folder / "package"), out=str(out))
    done = children.run(script)
    assert out.exists(), done.stderr[-2000:]
    result: dict[str, Any] = json.loads(out.read_text())
    return result


def test_the_pose_stays(found: dict[str, float]) -> None:
    """Every deforming bone keeps its direction; Rigify's IK also squashes bones, which rotations can't."""
    assert found["stays"] < 1e-4


def test_fk_leads_now(found: dict[str, Any]) -> None:
    assert found["switches"] == [1.0] * 4
    assert found["missed"] < 1e-5


def test_motion_on_rigifys_ik_is_refused(found: dict[str, Any]) -> None:
    assert "is animated by Rigify's own IK" in str(found["refused"])
    assert found["left"] == 0.0
