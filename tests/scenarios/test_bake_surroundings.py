"""Scenarios about what a bake needs and leaves alone: mode, selection, visibility, other data (LB-53, 76)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.bake.baking import bake
from limb_ik.bake.limb_frames import FrameReader
from limb_ik.bake.options import BakeOptions
from limb_ik.rig import compat, solve_chain
from limb_ik.rig.errors import LimbIKError
from mathutils import Quaternion

import rigs
from bakes import EXACT, assert_same, baked, limb, moving, no_animation, recorded, rotation_keys, surroundings

pytestmark = pytest.mark.usefixtures("blank")


def in_pose_mode(obj: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="POSE")


def in_edit_mode_of_another(obj: bpy.types.Object) -> None:
    other = rigs.l2b("Other")
    bpy.context.view_layer.objects.active = other
    bpy.ops.object.mode_set(mode="EDIT")


def nothing_selected(obj: bpy.types.Object) -> None:
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None


def bones_hidden(obj: bpy.types.Object) -> None:
    for bone in obj.pose.bones:
        rigs.holder_of_hide(bone).hide = True


def bone_collection_hidden(obj: bpy.types.Object) -> None:
    collection = obj.data.collections.new("Hidden")
    for bone in obj.data.bones:
        collection.assign(bone)
    collection.is_visible = False


def armature_hidden(obj: bpy.types.Object) -> None:
    obj.hide_set(True)


def armature_disabled(obj: bpy.types.Object) -> None:
    obj.hide_viewport = True


def armature_excluded(obj: bpy.types.Object) -> None:
    collection = bpy.data.collections.new("Excluded")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    bpy.context.view_layer.layer_collection.children["Excluded"].exclude = True


def target_disabled(obj: bpy.types.Object) -> None:
    bpy.data.objects["T Rig"].hide_viewport = True


CASES = [
    no_animation,
    in_pose_mode,
    in_edit_mode_of_another,
    nothing_selected,
    bones_hidden,
    bone_collection_hidden,
    armature_hidden,
    armature_disabled,
    armature_excluded,
    target_disabled,
]


@pytest.mark.parametrize("case", CASES)
def test_lb_53_mode_selection_and_visibility_do_not_matter(case: Callable[[bpy.types.Object], None]) -> None:
    obj, target = limb()
    moving(target, 5)
    expected = recorded(obj, range(1, 6))
    rigs.frame_set(33.5)
    case(obj)
    before = surroundings(obj)
    assert baked(obj, last=5).keys == 40
    assert surroundings(obj) == before
    assert len(rotation_keys(obj)) == 8
    if case in {armature_disabled, armature_excluded}:
        obj.hide_viewport = False
        for child in bpy.context.view_layer.layer_collection.children:
            child.exclude = False
    assert_same(expected, recorded(obj, range(1, 6)))


def test_lb_76_rest_position_is_refused_and_nothing_changes() -> None:
    obj, target = limb()
    moving(target)
    rigs.turn(obj, "hand", "X", 0.4)
    rigs.frame_set(33.5)
    obj.data.pose_position = "REST"
    rigs.update()
    before, actions = surroundings(obj), sorted(bpy.data.actions.keys())
    with pytest.raises(LimbIKError, match="rest position"):
        baked(obj, last=5)
    assert surroundings(obj) == before
    assert sorted(bpy.data.actions.keys()) == actions


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("solver", ["TWO_BONE", "FABRIK"])
def test_lb_76_a_failure_in_the_middle_leaves_everything_as_it_was(
    solver: str, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    obj, target = limb(solver=solver)
    moving(target)
    rigs.turn(obj, "hand", "X", 0.4)
    rigs.frame_set(33.5)
    pose, before = rigs.evaluated_pose(obj), surroundings(obj)
    actions = sorted(bpy.data.actions.keys())
    handlers = [list(getattr(bpy.app.handlers, name)) for name in ("frame_change_post", "depsgraph_update_post")]
    owner, name = (FrameReader, "read") if solver == "TWO_BONE" else (solve_chain, "solve")
    work, seen = getattr(owner, name), []

    def failing(*arguments: Any) -> Any:
        seen.append(arguments)
        if len(seen) == 3 and fails:
            raise ZeroDivisionError("injected")
        return work(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, failing)
        if fails:
            with pytest.raises(ZeroDivisionError):
                baked(obj, last=5)
        else:
            baked(obj, last=5)
    rigs.update()
    assert surroundings(obj) == before
    assert len(seen) >= 3
    after = rigs.evaluated_pose(obj)
    assert rigs.bone(obj, "hand").rotation_quaternion.angle == pytest.approx(0.4, abs=1e-6)
    if fails:
        assert rigs.pose_distance(pose, after) <= 1e-6
        assert sorted(bpy.data.actions.keys()) == actions
    assert handlers == [
        list(getattr(bpy.app.handlers, name)) for name in ("frame_change_post", "depsgraph_update_post")
    ]


def everything_but(obj: bpy.types.Object, bones: Sequence[str]) -> dict[str, object]:
    """Every field of every key that a bake of these bones has to leave alone."""
    found = {}
    for action in bpy.data.actions:
        if compat.HAS_SLOTS:
            slots = [(slot.identifier, compat.action_fcurves(action, slot)) for slot in action.slots]
        else:
            slots = [("", compat.action_fcurves(action, None))]
        for slot, curves in slots:
            for curve in curves:
                is_baked = any(f'"{bone}"].rotation_quat' in curve.data_path for bone in bones)
                if action == obj.animation_data.action and is_baked:
                    continue
                fields = [
                    (*p.co, *p.handle_left, *p.handle_right, p.interpolation, p.easing, p.handle_left_type,
                     p.handle_right_type, p.type, p.select_control_point)
                    for p in curve.keyframe_points
                ]  # fmt: skip
                found[f"{action.name}|{slot}|{curve.data_path}|{curve.array_index}"] = fields
    return found


def test_nothing_but_the_rotations_of_the_chain_is_touched() -> None:
    obj, target = limb()
    moving(target)
    rigs.key_location(obj, 3.25, (0, 0, 0), "BEZIER")
    hand = rigs.bone(obj, "hand")
    for frame in (1, 4.5, 30):
        rigs.key_rotation(hand, frame, Quaternion((1, 0, 0), frame / 40), "BOUNCE")
    for frame in (-4.5, 1, 8, 40.25):
        rigs.key_rotation(rigs.bone(obj, "up"), frame, Quaternion((1, 0, 0), frame / 40), "BEZIER")
    rigs.bone(obj, "lo").keyframe_insert("location", frame=2)
    before = everything_but(obj, ["up", "lo"])
    outside = {
        key: [point for point in points if not 1 <= point[0] <= 10]
        for key, points in rotation_keys(obj).items()
        if '"up"' in key[0]
    }
    baked(obj)
    assert everything_but(obj, ["up", "lo"]) == before
    for key, points in outside.items():
        assert [point for point in rotation_keys(obj)[key] if not 1 <= point[0] <= 10] == points


def test_stopped_in_the_middle_a_bake_leaves_all_as_it_was() -> None:
    class StoppedError(Exception):
        pass

    obj, target = limb()
    moving(target)
    seen, before, keys = [], surroundings(obj), rigs.keys(obj)

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 4:
            raise StoppedError

    with pytest.raises(StoppedError):
        bake(bpy.context, [obj], BakeOptions(1, 10), stop)
    assert seen == [(1, 10), (2, 10), (3, 10), (4, 10)]
    assert surroundings(obj) == before
    assert rigs.keys(obj) == keys
    rigs.frame_set(5)
    assert rigs.tip_error(obj, "lo", target) <= EXACT


@pytest.mark.parametrize("name", ["Rig", "Ground"])
def test_a_linked_ground_with_the_name_of_the_rig_is_stood_on_in_a_bake_too(name: str, tmp_path: Path) -> None:
    mesh = bpy.data.meshes.new("Plane")
    mesh.from_pydata([(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [], [(0, 1, 2, 3)])
    made = bpy.data.objects.new(name, mesh)
    made.location.z = 0.15
    library = str(tmp_path / "ground.blend")
    bpy.data.libraries.write(library, {made})
    bpy.data.objects.remove(made)
    obj: Any = rigs.legp()
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = [name]
    ground = wanted.objects[0]
    bpy.context.scene.collection.objects.link(ground)
    tip: Any = rigs.add_chain_by_properties(obj, "shin", rigs.empty("T", (0.1, 0, 0.1)), end_bone="foot")
    tip.limb_ik_ground = ground
    rigs.frame_set(2)
    height = rigs.evaluated_pose(obj)["foot"].head.z
    assert height == pytest.approx(0.25, abs=1e-5)
    bake(bpy.context, [obj], BakeOptions(1, 4))
    rigs.frame_set(3)
    assert rigs.evaluated_pose(obj)["foot"].head.z == pytest.approx(height, abs=1e-5)
