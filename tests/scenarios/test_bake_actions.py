"""Scenarios about where a bake's keys land: slots, linked and overridden data, tweaked strips (LB-12)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.bake.baking import read_part
from limb_ik.bake.options import BakeOptions
from limb_ik.rig import compat
from limb_ik.rig.errors import LimbIKError
from mathutils import Quaternion

import rigs
from bakes import assert_same, baked, limb, moving, no_animation, recorded, rotation_keys, surroundings

pytestmark = pytest.mark.usefixtures("blank")


def own_keys(obj: bpy.types.Object) -> None:
    rigs.key_rotation(rigs.bone(obj, "up"), 1)
    rigs.key_rotation(rigs.bone(obj, "up"), 8)


def a_slot_of_another(obj: bpy.types.Object) -> None:
    other = rigs.empty("Other")
    rigs.key_location(other, 1, (1, 2, 3))
    obj.animation_data_create().action = other.animation_data.action


def a_shared_action(obj: bpy.types.Object) -> None:
    other = rigs.l2b("Other")
    rigs.key_rotation(rigs.bone(other, "up"), 1, Quaternion((1, 0, 0), 0.3))
    obj.animation_data_create().action = other.animation_data.action


@pytest.mark.parametrize("case", [no_animation, own_keys, a_slot_of_another, a_shared_action])
def test_lb_12_keys_land_in_the_armatures_own_slot(case: Callable[[bpy.types.Object], None]) -> None:
    obj, target = limb()
    moving(target)
    case(obj)
    other = bpy.data.objects.get("Other")
    before = rigs.keys(other) if other is not None else {}
    live = recorded(obj, range(1, 11))
    for _ in range(2):
        report = baked(obj)
        assert report.keys == 80
        found = rotation_keys(obj)
        assert len(found) == 8
        assert all([x for x, _ in points] == list(range(1, 11)) for points in found.values())
        if compat.HAS_SLOTS:
            assert obj.animation_data.action_slot is not None
            assert other is None or rigs.keys(other) == before
        rigs.bone(obj, "lo").limb_ik_mute = False
    rigs.bone(obj, "lo").limb_ik_mute = True
    assert_same(live, recorded(obj, range(1, 11)))


def linked(tmp_path: Path, kind: str, name: str) -> Any:
    """A data-block of a library that is written from this file."""
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {getattr(bpy.data, kind)[name]})
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        setattr(into, kind, [name])
    return getattr(bpy.data, kind)[name]


def test_a_linked_action_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    rigs.key_rotation(rigs.bone(rigs.l2b("Source"), "up"), 1)
    action = linked(tmp_path, "actions", bpy.data.actions[0].name)
    obj, target = limb()
    moving(target)
    obj.animation_data_create().action = action
    if compat.HAS_SLOTS:
        obj.animation_data.action_slot = action.slots[0]
    before = surroundings(obj)
    with pytest.raises(LimbIKError, match="linked"):
        baked(obj)
    assert surroundings(obj) == before
    assert not rigs.bone(obj, "lo").limb_ik_mute


@pytest.mark.parametrize("is_system", [True, False])
def test_an_override_gets_its_keys_or_the_reason(is_system: bool, tmp_path: Path) -> None:
    _, target = limb()
    moving(target)
    original = linked(tmp_path, "objects", "Rig")
    tip = original.pose.bones["lo"]
    for one in (original, tip.limb_ik_target, tip.limb_ik_pole):
        bpy.context.scene.collection.objects.link(one)
    rigs.update()
    override = original.override_create(remap_local_usages=True)
    if override.name not in bpy.context.scene.collection.objects:
        bpy.context.scene.collection.objects.link(override)
    override.override_library.is_system_override = is_system
    rigs.update()
    if is_system:
        with pytest.raises(LimbIKError, match="override"):
            baked(override)
        assert not rotation_keys(override)
        with pytest.raises(RuntimeError, match="override that can't be edited"):
            bpy.ops.limb_ik.add_chain(armature=override.name, tips="hand", solver='LOOK_AT')
        return
    live = recorded(override, range(1, 11))
    assert baked(override).keys == 80
    assert len(rotation_keys(override)) == 8
    assert_same(live, recorded(override, range(1, 11)))


def test_a_tweaked_strip_gets_the_keys_where_it_plays() -> None:
    obj, target = limb()
    moving(target, 20)
    up = rigs.bone(obj, "up")
    rigs.key_rotation(up, 1, Quaternion((1, 0, 0), 0.3))
    rigs.key_rotation(up, 11, Quaternion((1, 0, 0), -0.3))
    anim = obj.animation_data
    action = anim.action
    strip = anim.nla_tracks.new().strips.new("Strip", 6, action)
    if compat.HAS_SLOTS:
        strip.action_slot = action.slots[0]
    strip.scale = 1.5
    anim.action = None
    anim.nla_tracks.active, strip.select = anim.nla_tracks[0], True
    anim.use_tweak_mode = True
    rigs.update()
    assert anim.use_tweak_mode
    live = recorded(obj, range(6, 21))
    baked(obj, 6, 20)
    assert_same(live, recorded(obj, range(6, 21)))
    anim.use_tweak_mode = False
    assert_same(live, recorded(obj, range(6, 21)))
    curves = compat.action_fcurves(action, strip.action_slot if compat.HAS_SLOTS else None)
    assert all(1 - 1e-3 <= point.co.x <= 11 + 1e-3 for curve in curves for point in curve.keyframe_points)


def test_the_file_stays_clean_until_the_keys() -> None:
    """The scene that frames are read in comes and goes; users of shape keys, worlds and the like stay as counted."""
    obj, target = limb()
    moving(target)
    bpy.context.scene.world = bpy.data.worlds.new("World")
    users = {one.name: one.users for kind in (bpy.data.worlds, bpy.data.objects, bpy.data.actions) for one in kind}
    with pytest.raises(LimbIKError):
        baked(obj, tips={"Rig": ("no such bone",)})
    read_part(bpy.context, [obj], BakeOptions(1, 10), 1, 1)
    after = {one.name: one.users for kind in (bpy.data.worlds, bpy.data.objects, bpy.data.actions) for one in kind}
    assert after == users
