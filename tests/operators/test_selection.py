"""What selects and hides bones, the same in every Blender: their flags moved to the pose bone in 5.0 (LB-51)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.rig import compat

import rigs

ops: Any = bpy.ops


@pytest.fixture
def arm(blank: None) -> Iterator[Any]:
    """L2B in pose mode with its two bones selected."""
    arm: Any = rigs.l2b(name="Arm")
    bpy.context.view_layer.objects.active = arm
    ops.object.mode_set(mode='POSE')
    select(arm, {"up", "lo"}, active="lo")
    yield arm
    if bpy.context.mode != 'OBJECT':
        ops.object.mode_set(mode='OBJECT')


def select(arm: Any, names: set[str], active: str) -> None:
    for bone in arm.pose.bones:
        compat.set_bone_selected(bone, bone.name in names)
    arm.data.bones.active = arm.data.bones[active]


def selected(arm: Any) -> set[str]:
    return {bone.name for bone in arm.pose.bones if compat.bone_is_selected(bone)}


def test_lb_51_from_the_selection_and_back(arm: Any) -> None:
    assert ops.limb_ik.add_chain() == {'FINISHED'}
    tip = arm.pose.bones["lo"]
    assert (tip.limb_ik_solver, tip.limb_ik_chain_length) == ('TWO_BONE', 2)
    assert ops.limb_ik.select_controls() == {'FINISHED'}
    assert {obj.name for obj in bpy.context.selected_objects} == {tip.limb_ik_target.name, tip.limb_ik_pole.name}
    assert ops.limb_ik.select_controls() == {'FINISHED'}
    assert bpy.context.mode == 'POSE' and selected(arm) == {"up", "lo"}


def test_lb_51_bones_as_controls(arm: Any) -> None:
    ops.limb_ik.add_chain(target_kind='BONE')
    tip = arm.pose.bones["lo"]
    ops.limb_ik.select_controls(armature="Arm", tips="lo")
    assert selected(arm) == {tip.limb_ik_target_bone, tip.limb_ik_pole_bone}
    ops.limb_ik.activate_chain(armature="Arm", tips="lo")
    assert selected(arm) == {"lo"}


@pytest.mark.parametrize(("kind", "reason"), [("linked", "linked: make a"), ("system", "a library override that")])
def test_bones_without_a_pose_mode_are_refused(blank: None, tmp_path: Path, kind: str, reason: str) -> None:
    arm = rigs.l2b(name="Arm")
    rigs.add_chain_by_properties(arm, "lo", rigs.empty("T"))
    path = str(tmp_path / "library.blend")
    ops.wm.save_as_mainfile(filepath=path, copy=True)
    ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Arm"]
    scene, linked = bpy.context.scene, bpy.data.objects["Arm"]
    scene.collection.objects.link(linked)
    if kind == "system":
        linked.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=False)
        scene.collection.objects.unlink(linked)
    bpy.context.view_layer.objects.active = rigs.empty("Other")
    with pytest.raises(RuntimeError, match=f"^Error: 'Arm' is {reason}"):
        ops.limb_ik.activate_chain(armature="Arm", tips="lo")
    assert bpy.context.view_layer.objects.active.name == "Other"


def test_lb_51_only_the_active_chain_is_baked(arm: Any) -> None:
    ops.limb_ik.add_chain()
    select(arm, {"lo"}, active="lo")
    assert ops.limb_ik.bake(only_active=True, use_range=True, frame_start=1, frame_end=3) == {'FINISHED'}
    assert {curve.data_path for curve in rigs.curves(arm)} == {
        f'pose.bones["{name}"].rotation_quaternion' for name in ("up", "lo")
    }


def test_lb_51_hidden_bones_go_on(arm: Any) -> None:
    ops.limb_ik.add_chain()
    target = arm.pose.bones["lo"].limb_ik_target
    for bone in arm.pose.bones:
        rigs.holder_of_hide(bone).hide = True
    target.location.z -= 0.4
    rigs.update()
    assert rigs.tip_error(arm, "lo", target, "hand") < 1e-5
