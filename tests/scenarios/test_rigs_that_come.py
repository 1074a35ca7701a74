"""Rigs that were appended, copied or came with a scene are live on the first frame, edited or not."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

import rigs

pytestmark = pytest.mark.usefixtures("blank")

# LB: two-bone tip, 1e-5 of a reach of 2.
ON_TARGET = 2e-5


def limb() -> bpy.types.Object:
    obj = rigs.l2b()
    target = rigs.empty("T")
    rigs.add_chain_by_properties(obj, "lo", target, rigs.empty("P", (0, 3, 0.8)))
    rigs.key_location(target, 1, (0.6, -0.4, 1.2))
    rigs.key_location(target, 10, (-0.5, -0.9, 0.8))
    rigs.update()
    return obj


def target_of(obj: bpy.types.Object) -> bpy.types.Object:
    target = rigs.bone(obj, "lo").limb_ik_target
    assert isinstance(target, bpy.types.Object)
    return target


def link(*objects: bpy.types.Object) -> None:
    assert bpy.context.scene is not None
    for obj in objects:
        bpy.context.scene.collection.objects.link(obj)


@pytest.mark.parametrize("has_chains_before", [False, True])
def test_an_appended_rig_is_live_on_the_first_frame(has_chains_before: bool, tmp_path: Path) -> None:
    path = str(tmp_path / "rig.blend")
    limb()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if has_chains_before:
        limb()
    rigs.frame_set(2)
    with bpy.data.libraries.load(path) as (source, wanted):
        wanted.objects = source.objects
    link(*wanted.objects)
    obj = next(one for one in wanted.objects if one.type == "ARMATURE")
    for frame in (4, 7):
        rigs.frame_set(frame)
        assert rigs.tip_error(obj, "lo", target_of(obj)) <= ON_TARGET


@pytest.mark.parametrize("is_data_copied", [False, True])
def test_a_copied_rig_is_live_on_the_first_frame(is_data_copied: bool) -> None:
    obj = limb()
    rigs.frame_set(2)
    copy = obj.copy()
    if is_data_copied:
        copy.data = rigs.armature_of(obj).copy()
    link(copy)
    for frame in (4, 7):
        rigs.frame_set(frame)
        assert rigs.tip_error(copy, "lo", target_of(obj)) <= ON_TARGET


def test_the_rigs_of_a_copied_scene_are_live_on_its_first_frame() -> None:
    limb()
    bpy.ops.scene.new(type="FULL_COPY")
    scene = bpy.context.scene
    assert scene is not None
    copy = next(one for one in scene.objects if one.type == "ARMATURE")
    for frame in (4, 7):
        scene.frame_set(frame)
        assert rigs.tip_error(copy, "lo", target_of(copy)) <= ON_TARGET
