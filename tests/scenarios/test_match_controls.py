"""Targets with deltas of their own, or held by something: match puts them where FK is, or says why not (LB-71)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.bake.match_ik import match_ik
from limb_ik.rig.errors import LimbIKError
from mathutils import Quaternion

import rigs

pytestmark = pytest.mark.usefixtures("blank", "extension")

ops: Any = bpy.ops
# LB-71: joints within 1e-4 after a snap, twist within 1e-3; float32 channels give 1e-6.
EXACT = 1e-5
DELTAS = [
    ('XYZ', "delta_location", (0.3, 0.1, -0.2)),
    ('ZYX', "delta_rotation_euler", (0.4, 0.2, 0.1)),
    ('QUATERNION', "delta_rotation_quaternion", (0.9, 0.3, 0.1, 0.2)),
    ('XYZ', "delta_scale", (2.0, 1.0, 0.5)),
]


def limb() -> tuple[bpy.types.Object, Any, Any]:
    """A limb in motion, its tip, and its target, with which the hand turns."""
    obj = rigs.l2b()
    for name, angle in (("up", 0.7), ("lo", -0.6), ("hand", 0.4)):
        rigs.key_rotation(rigs.bone(obj, name), 1, Quaternion((1, 0, 0), 0.1))
        rigs.key_rotation(rigs.bone(obj, name), 10, Quaternion((1, 0.3, 0), angle))
    ops.limb_ik.add_chain(armature=obj.name, tips="lo", motion="STILL")
    tip = rigs.bone(obj, "lo")
    tip.limb_ik_end_bone, tip.limb_ik_end_rotation = "hand", "TARGET"
    rigs.update()
    return obj, tip, tip.limb_ik_target


@pytest.mark.parametrize("frames", [None, [1.0, 4.0, 10.0]])
@pytest.mark.parametrize(("mode", "delta", "value"), DELTAS)
def test_a_target_with_deltas_goes_where_fk_is(
    mode: str, delta: str, value: tuple[float, ...], frames: list[float] | None
) -> None:
    obj, tip, target = limb()
    target.rotation_mode = mode
    setattr(target, delta, value)
    tip.limb_ik_mute = True
    shown = {}
    for frame in frames or [7.0]:
        rigs.frame_set(frame)
        shown[frame] = rigs.evaluated_pose(obj)
    tip.limb_ik_mute = False
    rigs.update()
    assert not match_ik(bpy.context, obj, ["lo"], frames).notes
    rigs.update()
    for frame, pose in shown.items():
        rigs.frame_set(frame)
        assert rigs.joint_distance(pose, rigs.evaluated_pose(obj)) <= EXACT
        assert rigs.pose_distance(pose, rigs.evaluated_pose(obj)) <= EXACT


def test_a_target_that_is_held_is_named() -> None:
    obj, _, target = limb()
    constraint = target.constraints.new('COPY_LOCATION')
    constraint.target = rigs.empty("Q", (0, -1, 1))
    rigs.update()
    assert match_ik(bpy.context, obj, ["lo"]).notes == (
        f"'{target.name}' may not be where FK is: its constraint 'Copy Location' holds it",
    )
    target.constraints.remove(constraint)
    target.driver_add("location", 0).driver.expression = "1"
    rigs.update()
    assert match_ik(bpy.context, obj, ["lo"]).notes == (f"'{target.name}' may not be where FK is: a driver holds it",)


def test_a_constraint_that_does_not_act_holds_no_target() -> None:
    obj, _, target = limb()
    target.constraints.new('COPY_LOCATION')  # without a target
    rigs.update()
    assert match_ik(bpy.context, obj, ["lo"]).notes == ()


def test_a_target_that_is_carried_goes_where_fk_is_without_a_word() -> None:
    obj, tip, target = limb()
    target.constraints.new('CHILD_OF').target = rigs.empty("E", (1, 2, 3), rotation=(0.3, 0.4, 0.5))
    tip.limb_ik_mute = True
    rigs.frame_set(7)
    shown = rigs.evaluated_pose(obj)
    tip.limb_ik_mute = False
    rigs.update()
    assert not match_ik(bpy.context, obj, ["lo"]).notes
    rigs.update()
    assert rigs.joint_distance(shown, rigs.evaluated_pose(obj)) <= EXACT


@pytest.mark.parametrize("frames", [None, [1.0, 4.0]])
@pytest.mark.parametrize("is_connected", [True, False])
def test_a_target_bone_that_is_connected_is_named(is_connected: bool, frames: list[float] | None) -> None:
    """Blender ignores its location."""
    obj, tip, _ = limb()
    bones = (rigs.BoneSpec("p", (1, 1, 1), (1, 1, 1.4)), rigs.BoneSpec("t", (1, 1, 1.4), (1, 1, 2), "p", is_connected))
    tip.limb_ik_target, tip.limb_ik_target_bone = rigs.build(bones, "Other"), "t"
    rigs.update()
    said = "'t' may not be where FK is: its connection to 'p' holds it"
    assert match_ik(bpy.context, obj, ["lo"], frames).notes == ((said,) if is_connected else ())


@pytest.mark.parametrize("frames", [None, [1.0, 4.0]])
def test_a_linked_target_is_not_matched_since_that_would_be_lost(frames: list[float] | None, tmp_path: Path) -> None:
    rigs.empty("Linked", (0.5, -0.4, 1.2))
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    obj, tip, _ = limb()
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    (target,) = wanted.objects
    bpy.context.scene.collection.objects.link(target)
    tip.limb_ik_target = target
    rigs.update()
    pole = tip.limb_ik_pole.location.copy()
    with pytest.raises(LimbIKError, match="'Linked' is linked"):
        match_ik(bpy.context, obj, ["lo"], frames)
    assert tip.limb_ik_pole.location == pole and tuple(target.location) == pytest.approx((0.5, -0.4, 1.2))


HIDDEN = "its collections are hidden or excluded here"


@pytest.mark.parametrize("how", ["it is in no scene", "doesn't have it", "it is disabled in viewports", HIDDEN])
def test_a_rig_without_a_pose_is_told_why(how: str) -> None:
    obj = rigs.l2b()
    scene = bpy.context.scene.collection
    obj.hide_viewport = how == "it is disabled in viewports"
    if not obj.hide_viewport:
        scene.objects.unlink(obj)
    if how == "doesn't have it":
        bpy.data.scenes.new("Other").collection.objects.link(obj)
    if how == HIDDEN:
        aside = bpy.data.collections.new("Aside")
        scene.children.link(aside)
        aside.objects.link(obj)
        bpy.context.view_layer.layer_collection.children["Aside"].exclude = True
    rigs.update()
    with pytest.raises(RuntimeError, match=f"'Rig' has no pose to read: .*{how}"):
        ops.limb_ik.add_chain(armature="Rig", tips="lo")
    assert rigs.bone(obj, "lo").limb_ik_solver == 'NONE'
