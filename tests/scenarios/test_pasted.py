"""What Blender does to the properties of bones without calling anybody: chains go on as they were set up.

Poses copied and pasted, armatures joined, animation data cleared or linked from another rig.
"""

from __future__ import annotations

import math
from typing import Any

import bpy
import pytest
from limb_ik.rig import dependency
from mathutils import Quaternion

import rigs

pytestmark = pytest.mark.usefixtures("blank", "extension")

# LB: two-bone tip, 1e-5 of a reach of 2.
ON_TARGET = 2e-5
EXACT = 1e-5
KEPT = ("solver", "chain_length", "target", "pole", "end_bone", "bend_axis", "end_offset", "root", "joint_kind",
        "joint_hinge_axis", "joint_min_angle", "joint_max_angle")  # fmt: skip


def limb(name: str = "Rig", side: str = "", x: float = 0.0) -> bpy.types.Object:
    obj = rigs.l2b(name, location=(x, 0, 0))
    for bone in rigs.armature_of(obj).bones:
        bone.name += side
    target, pole = rigs.empty(f"T {name}", (x + 0.6, -0.4, 1.2)), rigs.empty(f"P {name}", (x, 3, 0.8))
    rigs.add_chain_by_properties(obj, f"lo{side}", target, pole, end_bone=f"hand{side}")
    rigs.update()
    return obj


def two_sided() -> bpy.types.Object:
    """A limb a side; hinges, limits and offsets differ."""
    bones = [rigs.BoneSpec("root", (0, 0, -0.5), (0, 0, 0))]
    for side, x in (("L", 0.5), ("R", -0.5)):
        bones += [
            rigs.BoneSpec(f"up.{side}", (x, 0, 0), (x, 0.6, 0.8), "root"),
            rigs.BoneSpec(f"lo.{side}", (x, 0.6, 0.8), (x, 0, 1.6), f"up.{side}", True),
            rigs.BoneSpec(f"hand.{side}", (x, 0, 1.6), (x, 0, 1.9), f"lo.{side}", True),
        ]
    obj = rigs.build(bones)
    for side, x, sign in (("L", 0.5, 1.0), ("R", -0.5, -1.0)):
        target = rigs.empty(f"T {side}", (x + 0.4 * sign, -0.4, 1.2))
        settings: dict[str, Any] = {"end_bone": f"hand.{side}", "end_offset": (0.8, 0.0, 0.6 * sign, 0.0)}
        rigs.add_chain_by_properties(obj, f"lo.{side}", target, bend_axis=(1.0, 0.1 * sign, 0.0), **settings)
        lower = rigs.bone(obj, f"lo.{side}")
        lower.limb_ik_joint_kind, lower.limb_ik_joint_hinge_axis = "HINGE", (1.0, 0.2 * sign, 0.0)
        lower.limb_ik_joint_max_angle = math.radians(150 + 5 * sign)
    rigs.update()
    return obj


def in_pose_mode(obj: bpy.types.Object) -> None:
    layer = bpy.context.view_layer
    assert layer is not None
    if bpy.context.object is not None and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    layer.objects.active = obj
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")


def settings(obj: bpy.types.Object, tip: str) -> dict[str, Any]:
    found = {name: getattr(rigs.bone(obj, tip), f"limb_ik_{name}") for name in KEPT}
    return {name: tuple(value) if hasattr(value, "__len__") else value for name, value in found.items()}


@pytest.mark.parametrize("is_flipped", [False, True])
def test_a_pasted_pose_leaves_the_set_up(is_flipped: bool) -> None:
    obj = two_sided()
    before = {side: settings(obj, f"lo.{side}") for side in "LR"}
    in_pose_mode(obj)
    bpy.ops.pose.copy()
    bpy.data.objects["T L"].location.z = 1.0
    rigs.frame_set(5)
    bpy.ops.pose.paste(flipped=is_flipped)
    rigs.update()
    assert {side: settings(obj, f"lo.{side}") for side in "LR"} == before
    for side in "LR":
        assert rigs.tip_error(obj, f"lo.{side}", bpy.data.objects[f"T {side}"], f"hand.{side}") <= ON_TARGET


def test_a_pasted_pose_is_the_fk_it_was_copied_with() -> None:
    obj = limb()
    rigs.bone(obj, "lo").limb_ik_weight = 0.5
    rigs.turn(obj, "up", "X", 0.3)
    rigs.update()
    in_pose_mode(obj)
    bpy.ops.pose.copy()
    rigs.turn(obj, "up", "X", 0.7)
    rigs.update()
    rigs.frame_set(5)
    bpy.ops.pose.paste()
    rigs.update()
    rigs.bone(obj, "lo").limb_ik_mute = True
    rigs.update()
    assert rigs.local_rotations(obj)["up"].angle == pytest.approx(0.3, abs=EXACT)


def test_on_bones_without_a_chain_a_pasted_pose_makes_none() -> None:
    obj, other = limb(), rigs.l2b("Other", location=(3, 0, 0))
    in_pose_mode(obj)
    bpy.ops.pose.copy()
    in_pose_mode(other)
    bpy.ops.pose.paste()
    rigs.update()
    rigs.frame_set(3)
    assert rigs.bone(other, "lo").limb_ik_solver == "NONE"
    assert other.animation_data is None or not other.animation_data.drivers


def test_between_twins_with_bone_targets_a_pose_goes_over() -> None:
    obj = rigs.l2b(root=True)
    bpy.ops.limb_ik.add_chain(armature=obj.name, tips="lo", target_kind="BONE")
    twin = obj.copy()
    twin.data = rigs.armature_of(obj).copy()
    assert bpy.context.scene is not None
    bpy.context.scene.collection.objects.link(twin)
    rigs.bone(obj, rigs.bone(obj, "lo").limb_ik_target_bone).location = (0, -0.3, -0.3)
    rigs.update()
    wanted = rigs.evaluated_pose(obj)
    in_pose_mode(obj)
    bpy.ops.pose.copy()
    in_pose_mode(twin)
    bpy.ops.pose.paste()
    rigs.update()
    assert rigs.bone(twin, "lo").limb_ik_target == twin
    assert rigs.joint_distance(wanted, rigs.evaluated_pose(twin)) <= ON_TARGET


@pytest.mark.parametrize("side", ["", ".B"])
@pytest.mark.parametrize("target_kind", ["EMPTY", "BONE"])
def test_chains_of_joined_armatures_go_on(side: str, target_kind: str) -> None:
    obj, other = limb("A"), limb("B", side, 3.0)
    tip = f"lo{side}"
    if target_kind == "BONE":
        bpy.ops.limb_ik.remove_chain(armature=other.name, tips=tip)
        bpy.ops.limb_ik.add_chain(armature=other.name, tips=tip, target_kind="BONE")
    rigs.update()
    before = rigs.evaluated_pose(other)
    bpy.ops.object.select_all(action="DESELECT")
    for one in (obj, other):
        one.select_set(True)
    assert bpy.context.view_layer is not None
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.join()
    rigs.update()
    rigs.frame_set(2)
    names = {name: name if side else f"{name}.001" for name in (f"up{side}", tip, f"hand{side}")}
    after = rigs.evaluated_pose(obj)
    assert max((after[new].head - before[old].head).length for old, new in names.items()) <= ON_TARGET
    assert [b.name for b in obj.pose.bones if b.limb_ik_solver != "NONE"] == ["lo", names[tip]]
    joined = rigs.bone(obj, names[tip])
    assert (joined.limb_ik_root, joined.limb_ik_end_bone) == (names[f"up{side}"], names[f"hand{side}"])
    if target_kind == "BONE":
        assert joined.limb_ik_target == obj
        rigs.bone(obj, joined.limb_ik_target_bone).location = (0, -0.3, -0.3)
    else:
        joined.limb_ik_target.location.z -= 0.2
    rigs.update()
    assert joined.limb_ik_status == "REACHED"
    assert (rigs.evaluated_pose(obj)[names[tip]].tail - after[names[tip]].tail).length > 0.1
    assert sorted(curve.data_path for curve in obj.animation_data.drivers) == sorted(dependency.OWN_PATHS)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.data.armatures["A"].edit_bones["hand"].roll += 0.1
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.update()
    own = rigs.bone(obj, "lo").limb_ik_target
    assert own is not None
    own.hide_viewport = True
    rigs.update()
    own.location.z -= 0.2
    rigs.update()
    assert rigs.tip_error(obj, "lo", own) <= ON_TARGET


def cleared(obj: bpy.types.Object) -> None:
    obj.animation_data_clear()


def linked(obj: bpy.types.Object) -> None:
    """Object > Link/Transfer Data > Link Animation Data, from a rig without chains."""
    _link_from(rigs.l2b("Plain", location=(5, 0, 0)), obj)


def linked_from_a_limb(obj: bpy.types.Object) -> None:
    _link_from(limb("Other", x=5.0), obj)


def _link_from(source: bpy.types.Object, obj: bpy.types.Object) -> None:
    rigs.key_rotation(rigs.bone(source, "hand"), 1, Quaternion((1, 0, 0), 0.2))
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    source.select_set(True)
    assert bpy.context.view_layer is not None
    bpy.context.view_layer.objects.active = source
    bpy.ops.object.make_links_data(type="ANIMATION")


@pytest.mark.parametrize("change", [cleared, linked, linked_from_a_limb])
def test_without_its_animation_data_a_rig_follows_targets_and_renames(change: Any) -> None:
    obj = limb()
    rigs.key_rotation(rigs.bone(obj, "hand"), 1, Quaternion((1, 0, 0), 0.2))
    rigs.update()
    change(obj)
    rigs.update()
    target = bpy.data.objects["T Rig"]
    target.location.z = 1.0
    rigs.update()
    assert rigs.tip_error(obj, "lo", target, "hand") <= ON_TARGET
    rigs.armature_of(obj).bones["up"].name = "upper"
    rigs.update()
    target.location.z = 1.2
    rigs.update()
    assert rigs.bone(obj, "lo").limb_ik_root == "upper"
    assert rigs.tip_error(obj, "lo", target, "hand") <= ON_TARGET
