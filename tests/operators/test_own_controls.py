"""Controls that a user made: a mirrored chain takes their twins; what can't be made leaves nothing behind."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from limb_ik.bake.baking import bake
from limb_ik.bake.options import BakeOptions
from limb_ik.rig.errors import LimbIKError
from limb_ik.rig.setting_up import active, setup

import rigs

ops: Any = bpy.ops


def test_a_mirrored_chain_takes_the_twin_objects(body: Any) -> None:
    left, right = rigs.empty("hand_goal.L", (0.6, -0.3, 1.3)), rigs.empty("hand_goal.R", (-0.6, -0.3, 1.3))
    rigs.add_chain_by_properties(body, "forearm.L", left, end_bone="hand.L")
    assert ops.limb_ik.mirror_chain(armature="Body", tips="forearm.L") == {'FINISHED'}
    rigs.update()
    assert body.pose.bones["forearm.R"].limb_ik_target == right
    assert rigs.tip_error(body, "forearm.R", right, "hand.R") <= 1e-5
    assert {one.name for one in bpy.data.objects} == {"Body", "hand_goal.L", "hand_goal.R"}, "none is made beside"


def test_a_mirrored_chain_takes_the_twin_bones(blank: None) -> None:
    bones = []
    for side, x in (("L", 1.0), ("R", -1.0)):
        bones += [
            rigs.BoneSpec(f"goal.{side}", (0.6 * x, 0.3, 1.3), (0.6 * x, 0.3, 1.4)),
            rigs.BoneSpec(f"up.{side}", (0.2 * x, 0, 1.4), (0.5 * x, 0.02, 1.4)),
            rigs.BoneSpec(f"lo.{side}", (0.5 * x, 0.02, 1.4), (0.8 * x, 0, 1.4), f"up.{side}", True),
        ]
    obj = rigs.build(bones)
    rigs.add_chain_by_properties(obj, "lo.L", obj, target_bone="goal.L")
    assert ops.limb_ik.mirror_chain(armature="Rig", tips="lo.L") == {'FINISHED'}
    tip = obj.pose.bones["lo.R"]
    rigs.update()
    assert (tip.limb_ik_target, tip.limb_ik_target_bone) == (obj, "goal.R")
    assert tip.limb_ik_status == 'REACHED' and "lo_IK.R" not in obj.data.bones


def test_controls_that_cannot_be_made_leave_no_chain(body: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {one.name for one in bpy.data.objects}
    plans = setup.limb_plans(body, arms=True, legs=True, target_kind='EMPTY', target_space='WORLD')
    made: list[Any] = []

    def refuse(*arguments: Any) -> Any:
        made.append(arguments)
        if len(made) == 3:
            raise LimbIKError("no third control")
        return real(*arguments)

    real = setup._make_controls
    monkeypatch.setattr(setup, "_make_controls", refuse)
    with pytest.raises(LimbIKError, match="no third control"):
        setup.add_chains(bpy.context, body, plans)
    rigs.update()
    assert {one.name for one in bpy.data.objects} == before
    assert all(bone.limb_ik_solver == 'NONE' for bone in body.pose.bones)


def scaled_away(obj: Any, name: str, frames: tuple[int, ...]) -> None:
    """The bone has no size at some of the frames 1…5."""
    for frame in range(1, 6):
        obj.pose.bones[name].scale = (0, 0, 0) if frame in frames else (1, 1, 1)
        obj.pose.bones[name].keyframe_insert("scale", frame=frame)
    rigs.set_interpolation(obj, "CONSTANT")


@pytest.mark.parametrize(("frames", "word"), [((2, 3), "notes"), ((1, 2, 3, 4, 5), "skipped")])
def test_a_chain_that_fails_on_frames_is_told_and_the_others_are_baked(body: Any, frames: Any, word: str) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    scaled_away(body, "upper_arm.L", frames)
    report = bake(bpy.context, [body], BakeOptions(frame_start=1, frame_end=5))
    said = " ".join(getattr(report, word))
    assert "'forearm.L'" in said and "'forearm.R'" not in said
    keyed = {path for path, _ in rigs.keys(body) if "rotation" in path}
    assert any('"forearm.R"' in path for path in keyed)
    assert any('"forearm.L"' in path for path in keyed) == (word == "notes")


def test_constraints_that_cannot_be_converted_stay_as_they_are(body: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    constraint = body.pose.bones["forearm.L"].constraints.new('IK')
    constraint.target, constraint.chain_count = rigs.empty("Goal", (0.5, -0.3, 1.3)), 2
    rigs.turn(body, "upper_arm.L", "X", 0.2)
    rigs.update()
    raw = tuple(body.pose.bones["upper_arm.L"].rotation_quaternion)
    shown = rigs.evaluated_pose(body)

    def refuse(*_: Any) -> Any:
        raise LimbIKError("not today")

    monkeypatch.setattr(setup, "add_chains", refuse)
    with pytest.raises(RuntimeError, match="Not today"):
        ops.limb_ik.convert_constraints(armature="Body")
    rigs.update()
    assert not constraint.mute
    assert tuple(body.pose.bones["upper_arm.L"].rotation_quaternion) == raw
    assert rigs.pose_distance(shown, rigs.evaluated_pose(body)) <= 1e-6


@pytest.mark.parametrize("is_read", [False, True])
def test_the_active_chain_is_known_before_the_rig_was_ever_evaluated(body: Any, is_read: bool) -> None:
    """The sidebar is drawn in between: after a load, an undo, a setting by a script."""
    goal = rigs.empty("Goal", (0.5, -0.3, 1.3))
    rigs.add_chain_by_properties(body, "forearm.L", goal, end_bone="hand.L")
    rigs.add_chain_by_properties(body, "shin.L", body, target_bone="foot.R")
    if is_read:
        rigs.update()
    layer = bpy.context.view_layer
    layer.objects.active = goal
    assert active.active_tip(bpy.context, body) == "forearm.L"
    assert active.active_armature(bpy.context) == body
    layer.objects.active = body
    for name, tip in {
        "upper_arm.L": "forearm.L", "spine": "forearm.L", "hand.L": "forearm.L", "foot.R": "shin.L", "head": "",
    }.items():  # fmt: skip
        body.data.bones.active = body.data.bones[name]
        assert active.active_tip(bpy.context, body) == tip, name
