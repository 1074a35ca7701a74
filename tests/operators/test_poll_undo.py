"""What polls refuse and say, and that each operator is one undo step that changes nothing but what it says."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from limb_ik import operators
from limb_ik.rig.chains import tips

import rigs
from body import body_bones

ops: Any = bpy.ops


def view() -> Any:
    """A context as a button in the 3D View has it."""
    layer = bpy.context.view_layer
    selected = [obj for obj in layer.objects if obj.select_get()]
    return SimpleNamespace(area=SimpleNamespace(type='VIEW_3D'), view_layer=layer, selected_objects=selected)


def refusal(cls: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """What an operator's poll says in the 3D View; empty where it agrees."""
    said: list[str] = []
    monkeypatch.setattr(cls, "refuse", classmethod(lambda _cls, message: bool(said.append(message))))
    return "" if cls.poll(view()) else said[0]


def test_a_mesh_is_no_armature(body: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    bpy.context.view_layer.objects.active = rigs.empty("Other")
    for cls in (one for one in operators.CLASSES if hasattr(one, "refuse")):
        assert refusal(cls, monkeypatch) == "Make an armature active, or a target of one"


def test_nothing_selected(body: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    body.data.bones.active = None
    message = refusal(operators.LIMB_IK_OT_add_chain, monkeypatch)
    assert message == "Select two or more bones of one limb, or make its last bone active"


def test_no_chain_yet(body: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(operators.LIMB_IK_OT_bake, monkeypatch) == "The armature has no IK chain"
    assert not refusal(operators.LIMB_IK_OT_add_limbs, monkeypatch)


def test_edit_mode(body: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    ops.object.mode_set(mode='EDIT')
    try:
        assert "is in edit mode" in refusal(operators.LIMB_IK_OT_add_limbs, monkeypatch)
        with pytest.raises(RuntimeError, match="is in edit mode"):
            ops.limb_ik.add_limbs(armature="Body")
    finally:
        ops.object.mode_set(mode='OBJECT')


def test_copy_needs_others(body: bpy.types.Object, monkeypatch: pytest.MonkeyPatch) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    rigs.update()
    assert "Select the armatures" in refusal(operators.LIMB_IK_OT_copy_setup, monkeypatch)
    rigs.build(body_bones(), "Twin").select_set(True)
    bpy.context.view_layer.objects.active = body
    assert not refusal(operators.LIMB_IK_OT_copy_setup, monkeypatch)
    ops.limb_ik.copy_setup()
    assert len(tips(bpy.data.objects["Twin"])) == 4


def test_no_active_chain_is_named(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    body.data.bones.active = body.data.bones["head"]
    with pytest.raises(RuntimeError, match="o chain of 'Body' is active"):
        ops.limb_ik.remove_chain()


def settings(arm: bpy.types.Object) -> dict[str, Any]:
    """What undo has to bring back."""
    bones: Any = arm.pose.bones
    return {
        "tips": sorted(tips(arm)),
        "objects": sorted(bpy.data.objects.keys()),
        "keys": rigs.keys(arm),
        "mute": [bones[tip].limb_ik_mute for tip in sorted(tips(arm))],
        "kinds": [bone.limb_ik_joint_kind for bone in bones],
    }


STEPS: dict[str, Callable[[], Any]] = {
    "remove": lambda: ops.limb_ik.remove_chain(armature="Body"),
    "match over a range": lambda: ops.limb_ik.match_fk(armature="Body", frame_start=1, frame_end=3),
    "switch": lambda: ops.limb_ik.switch(armature="Body", to='FK'),
    "bake": lambda: ops.limb_ik.bake(armature="Body", frame_start=1, frame_end=3),
    "mirror": lambda: ops.limb_ik.mirror_chain(armature="Body", tips="shin.L"),
}


@pytest.mark.parametrize("step", STEPS)
def test_undo_and_redo(body: bpy.types.Object, step: str) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="shin.L, forearm.R")
    body.pose.bones["shin.L"].limb_ik_joint_kind = 'HINGE'
    rigs.update()
    before = settings(body)
    ops.ed.undo_push(message="before")
    assert STEPS[step]() == {'FINISHED'}
    after = settings(bpy.data.objects["Body"])
    assert after != before
    ops.ed.undo_push(message="after")
    ops.ed.undo()
    assert settings(bpy.data.objects["Body"]) == before
    rigs.update()
    ops.ed.redo()
    assert settings(bpy.data.objects["Body"]) == after


@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
def test_mode_selection_and_frame_stay(body: bpy.types.Object, mode: str) -> None:
    ops.object.mode_set(mode=mode)
    rigs.frame_set(33.5)
    ops.limb_ik.add_limbs(armature="Body", target_kind='BONE')
    ops.limb_ik.match_ik(armature="Body", frame_start=1, frame_end=3)
    ops.limb_ik.bake(armature="Body", frame_start=1, frame_end=3, after='REMOVE')
    body = bpy.data.objects["Body"]
    assert (body.mode, bpy.context.view_layer.objects.active) == (mode, body)
    assert bpy.context.scene.frame_current_final == 33.5
    ops.object.mode_set(mode='OBJECT')
