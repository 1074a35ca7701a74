"""Creatures of Rigify: add_limbs gives their legs chains that keep the pose and reach, toes left to themselves.

In a process of its own: with Rigify once enabled, Blender 4.5 hangs when it ends in the ordinary way.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy
import pytest
from mathutils import Vector

import children
import rigs

ROOT = Path(__file__).resolve().parents[2]
METARIGS = {
    "horse": {"f_toe": ('LEG', 4, "f_hoof"), "r_toe": ('LEG', 4, "r_hoof")},
    "wolf": {"front_foot": ('LEG', 3, "front_toe"), "foot": ('LEG', 3, "toe")},
    "cat": {"forearm": ('TWO_BONE', 2, "hand"), "foot": ('LEG', 3, "r_toe")},
    "bird": {"shin": ('TWO_BONE', 2, "foot")},  # its foot bone lies on the ground, a twelfth of the leg's length
}
"""By tip: solver, bones, end bone; the same on both sides."""
FOX_LEGS = {
    "b_LeftForeArm_010": 'TWO_BONE',
    "b_RightForeArm_07": 'TWO_BONE',
    "b_LeftFoot01_017": 'LEG',
    "b_RightFoot01_021": 'LEG',
}

SCRIPT = """
import json, math, os, random, sys
import bpy
import addon_utils
from mathutils import Quaternion, Vector
sys.path[:0] = sys.argv[1:3]
import rigs
import limb_ik
addon_utils.enable("rigify", default_set=True)
limb_ik.register()


def length(obj, chain, end):
    bones = [obj.data.bones[name] for name in chain]
    return sum((b.head_local - a.head_local).length for a, b in zip(bones, [*bones[1:], obj.data.bones[end]]))


def measured(name, is_posed):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    getattr(bpy.ops.object, f"armature_{name}_metarig_add")()
    obj = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode='OBJECT')
    source = random.Random(name)
    if is_posed:
        for bone in obj.pose.bones:
            axis = Vector([source.gauss(0, 1) for _ in range(3)]).normalized()
            rigs.write_rotation(bone, Quaternion(axis, math.radians(source.uniform(0, 12))))
    rigs.update()
    before, local = rigs.evaluated_pose(obj), rigs.local_rotations(obj)
    bpy.ops.limb_ik.add_limbs(armature=obj.name)
    rigs.update()
    found = {"stays": rigs.pose_distance(before, rigs.evaluated_pose(obj)), "legs": {}}
    tips = [bone for bone in obj.pose.bones if bone.limb_ik_solver != 'NONE']
    for tip in tips:
        chain = [tip.name, *(bone.name for bone in tip.parent_recursive)][: tip.limb_ik_chain_length][::-1]
        end, target = tip.limb_ik_end_bone, tip.limb_ik_target
        size, place = length(obj, chain, end), target.location.copy()
        root = obj.data.bones[chain[0]].head_local
        missed, status = [], set()
        for part in (0.8, 0.9, 1.0):
            for _ in range(4):
                aside = Vector([source.uniform(-0.1, 0.1) for _ in range(3)])
                target.location = root + part * (place - root) + aside * size
                rigs.update()
                seen = tip.limb_ik_status
                status.add(seen)
                if seen == 'REACHED':
                    missed.append(rigs.tip_error(obj, tip.name, target, end) / size)
        target.location = place
        rigs.update()
        below = [bone.name for bone in obj.pose.bones[end].children_recursive]
        now = rigs.local_rotations(obj)
        found["legs"][tip.name] = {
            "solver": tip.limb_ik_solver, "chain": chain, "end": end, "missed": missed, "status": sorted(status),
            "below": max((rigs.rotation_distance(now[one], local[one]) for one in below), default=0.0),
        }
    found["comes_back"] = rigs.pose_distance(before, rigs.evaluated_pose(obj))
    return found


print("FOUND" + json.dumps({f"{name} {is_posed}": measured(name, is_posed)
                            for name in sys.argv[3:] for is_posed in (False, True)}))
sys.stdout.flush()
limb_ik.unregister()
os._exit(0)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    package = children.package_folder(tmp_path_factory.mktemp("creatures"))
    done = children.run(SCRIPT, str(ROOT / "tests"), package, *METARIGS)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    assert lines, done.stderr[-2000:]
    result: dict[str, Any] = json.loads(lines[0].removeprefix("FOUND"))
    return result


CASES = [(name, is_posed) for name in METARIGS for is_posed in (False, True)]


@pytest.mark.parametrize(("name", "is_posed"), CASES)
def test_each_leg_gets_the_solver_for_its_bones(found: dict[str, Any], name: str, is_posed: bool) -> None:
    seen = found[f"{name} {is_posed}"]["legs"]
    wanted = {f"{tip}.{side}": (*leg[:2], f"{leg[2]}.{side}") for tip, leg in METARIGS[name].items() for side in "LR"}
    assert {tip: (leg["solver"], len(leg["chain"]), leg["end"]) for tip, leg in seen.items()} == wanted


@pytest.mark.parametrize(("name", "is_posed"), CASES)
def test_the_pose_stays(found: dict[str, Any], name: str, is_posed: bool) -> None:
    seen = found[f"{name} {is_posed}"]
    assert seen["stays"] <= 1e-5
    assert seen["comes_back"] <= 1e-5


@pytest.mark.parametrize(("name", "is_posed"), CASES)
def test_legs_reach(found: dict[str, Any], name: str, is_posed: bool) -> None:
    for leg in found[f"{name} {is_posed}"]["legs"].values():
        assert len(leg["missed"]) >= 8, leg
        assert max(leg["missed"]) <= 1e-5
        assert leg["below"] <= 1e-6


OPS: Any = bpy.ops
FRAMES = range(1, 41, 3)


@pytest.mark.usefixtures("blank")
def test_the_fox_keeps_its_motion_and_lifts_its_paws(data_dir: Path) -> None:
    OPS.import_scene.gltf(filepath=str(data_dir / "gltf" / "Fox.glb"))
    obj = next(obj for obj in bpy.data.objects if obj.type == 'ARMATURE')
    walk = next(action for action in bpy.data.actions if action.name.startswith("Walk"))  # 4.2 adds the object to it
    obj.animation_data.action = walk
    before = {}
    for frame in FRAMES:
        rigs.frame_set(frame)
        before[frame] = rigs.evaluated_pose(obj)
    OPS.limb_ik.add_limbs(armature=obj.name)
    tips: dict[str, Any] = {bone.name: bone for bone in obj.pose.bones if bone.limb_ik_solver != 'NONE'}
    assert {name: bone.limb_ik_solver for name, bone in tips.items()} == FOX_LEGS
    for frame in FRAMES:
        rigs.frame_set(frame)
        assert rigs.pose_distance(before[frame], rigs.evaluated_pose(obj)) <= 1e-5
    lift = Vector((0.0, 0.0, 2.0))  # a leg is 45 to 55 units long
    for bone in tips.values():
        bone.limb_ik_target.matrix_world.translation += lift
    for frame in FRAMES:
        rigs.frame_set(frame)
        now = rigs.evaluated_pose(obj)
        for bone in tips.values():
            end = bone.limb_ik_end_bone
            assert (now[end].head - before[frame][end].head - lift).length <= 1e-5 * 45.0, (frame, bone.name)
