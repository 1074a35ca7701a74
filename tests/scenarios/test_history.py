"""Scenarios about undo, names and libraries: one step each, nothing grabbed, linked files followed (LB-13, 17)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.rig import fk_pose

import body
import rigs

pytestmark = pytest.mark.usefixtures("blank")

ON_TARGET = 1e-5


def limb(name: str = "Rig", **settings: Any) -> tuple[Any, Any, Any]:
    obj = rigs.l2b(name=name)
    target = rigs.empty("T", (0.6, -0.4, 1.2))
    tip = rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, 3, 0.8)), **settings)
    rigs.update()
    return obj, target, tip


def state() -> tuple[object, ...]:
    """What a person would see gone or come: objects, bones, chains, settings, keys and the pose."""
    rows: list[object] = [sorted(obj.name for obj in bpy.data.objects)]
    for obj in sorted((one for one in bpy.data.objects if one.type == "ARMATURE"), key=lambda one: one.name):
        for bone in obj.pose.bones:
            names = [key for key, _ in bone.bl_rna.properties.items() if key.startswith("limb_ik_")]
            skipped = {"limb_ik_status", "limb_ik_error", "limb_ik_message", "limb_ik_store"}
            rows.append((bone.name, [str(plain(getattr(bone, key))) for key in sorted(set(names) - skipped)]))
            rows.append(fk_pose.store_of(bone)[:2])
            rows.append([round(value, 4) for row in rigs.evaluated(obj).pose.bones[bone.name].matrix for value in row])
        rows.append(sorted((path, index, len(points)) for (path, index), points in rigs.keys(obj).items()))
    return tuple(rows)


def plain(value: object) -> object:
    if isinstance(value, bpy.types.Object):
        return value.name
    if isinstance(value, float):
        return round(value, 4)
    return [round(one, 4) for one in value] if hasattr(value, "__len__") and not isinstance(value, str) else value


def call(name: str, **arguments: object) -> Callable[[], set[str]]:
    return lambda: getattr(bpy.ops.limb_ik, name)("EXEC_DEFAULT", True, **arguments)


OPERATORS = {
    "add_chain": call("add_chain", armature="Rig", tips="forearm.R"),
    "add_limbs": call("add_limbs", armature="Rig"),
    "remove_chain": call("remove_chain", armature="Rig", tips="forearm.L"),
    "match_ik": call("match_ik", armature="Rig", tips="forearm.L"),
    "match_fk": call("match_fk", armature="Rig", tips="forearm.L"),
    "switch": call("switch", armature="Rig", tips="forearm.L", to="FK"),
    "bake": call("bake", armature="Rig", use_range=True, frame_start=1, frame_end=4),
    "mirror_chain": call("mirror_chain", armature="Rig", tips="forearm.L"),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_lb_13_every_operator_is_one_step(name: str) -> None:
    rigs.build(body.body_bones(), "Rig")
    obj = bpy.data.objects["Rig"]
    bpy.ops.limb_ik.add_chain(armature="Rig", tips="forearm.L")
    target = rigs.bone(obj, "forearm.L").limb_ik_target
    target.location.y -= 0.1
    rigs.turn(obj, "upper_arm.L", "X", 0.2)
    rigs.update()
    rigs.frame_set(1)
    bpy.ops.ed.undo_push(message="Before")
    before = state()
    assert OPERATORS[name]() == {"FINISHED"}
    rigs.update()
    after = state()
    assert after != before
    for _ in range(2):
        bpy.ops.ed.undo()
        rigs.update()
        assert state() == before
        bpy.ops.ed.redo()
        rigs.update()
        assert state() == after


def test_handlers_make_no_step_and_no_dirty_file(tmp_path: Path) -> None:
    limb()
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.ed.undo_push(message="Before")
    rigs.empty("Mark")
    bpy.ops.ed.undo_push(message="Mark")
    for frame in (2, 9, 4):
        rigs.frame_set(frame)
    rigs.update()
    bpy.ops.ed.undo()
    assert "Mark" not in bpy.data.objects
    assert "T" in bpy.data.objects


def test_a_renamed_end_or_root_is_followed_and_another_bone_is_never_grabbed() -> None:
    obj = rigs.build([*rigs.RIGS["L2B"], rigs.BoneSpec("spare", (2, 0, 0), (2, 0, 1))])
    target = rigs.empty("T", (0.6, -0.4, 1.2))
    tip = rigs.add_chain_by_properties(obj, "lo", target, end_bone="hand")
    rigs.update()
    for old, new in (("hand", "paw"), ("up", "thigh")):
        obj.data.bones[old].name = new
        obj.data.bones["spare"].name = old  # takes the name that was given up, in the same breath
        rigs.update()
        obj.data.bones[old].name = "spare"
        rigs.update()
    assert (tip.limb_ik_end_bone, tip.limb_ik_root) == ("paw", "thigh")
    assert tip.limb_ik_status == "REACHED"
    assert rigs.tip_error(obj, "lo", target, "paw") <= ON_TARGET


def test_an_end_bone_that_is_deleted_is_missed_though_another_takes_its_name() -> None:
    obj = rigs.build([*rigs.RIGS["L2B"], rigs.BoneSpec("spare", (2, 0, 0), (2, 0, 1))])
    tip = rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)), end_bone="hand")
    rigs.update()
    bpy.ops.object.mode_set(mode="EDIT")
    obj.data.edit_bones.remove(obj.data.edit_bones["hand"])
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.update()
    assert tip.limb_ik_status == "INVALID"
    assert "hand" in tip.limb_ik_message
    assert tuple(rigs.bone(obj, "up").rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)


def test_lb_17_an_override_follows_its_library_when_that_changes(tmp_path: Path) -> None:
    limb(weight=0.5)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (source, wanted):
        wanted.objects = list(source.objects)
    for obj in wanted.objects:
        bpy.context.scene.collection.objects.link(obj)
    linked = next(obj for obj in wanted.objects if obj.name == "Rig")
    override = linked.override_create(remap_local_usages=True)
    if override.name not in bpy.context.scene.collection.objects:
        bpy.context.scene.collection.objects.link(override)
    rigs.bone(override, "lo").limb_ik_target = rigs.empty("Goal", (0.3, -0.6, 1.1))
    rigs.bone(override, "lo").limb_ik_weight = 1.0
    rigs.update()
    shot = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=path)  # the library gets a longer lower bone and another softness
    obj = bpy.data.objects["Rig"]
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    obj.data.edit_bones["lo"].length = 1.2
    bpy.ops.object.mode_set(mode="OBJECT")
    rigs.bone(obj, "lo").limb_ik_max_reach = 0.99
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=shot)
    for _ in range(2):
        rigs.update()
        found = next(one for one in bpy.data.objects if one.name.startswith("Rig") and one.library is None)
        tip = rigs.bone(found, "lo")
        assert tip.limb_ik_target == bpy.data.objects["Goal"]
        assert tip.limb_ik_max_reach == pytest.approx(0.99)
        assert found.data.bones["lo"].length == pytest.approx(1.2, abs=1e-6)
        rigs.frame_set(4)
        assert tip.limb_ik_status == "REACHED"
        assert rigs.tip_error(found, "lo", bpy.data.objects["Goal"]) <= ON_TARGET
        bpy.data.libraries[0].reload()
