"""Menus, shortcuts and preferences without a window and without an entry in Blender's settings."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from limb_ik import preferences
from limb_ik.ui import menus, shortcuts

import rigs
from body import body_bones

ops: Any = bpy.ops


@pytest.fixture
def body(blank: None) -> Any:
    return rigs.build(body_bones(), "Body")


def test_lb_79_without_an_entry_the_defaults_hold(blank: None) -> None:
    assert preferences.entry() is None
    assert preferences.current() == preferences.DEFAULTS
    assert preferences.LimbIKPreferences.bl_idname == preferences.__package__


def test_preferences_and_their_defaults_are_one_list(blank: None) -> None:
    shown: Any = preferences.LimbIKPreferences.bl_rna.properties
    for name in preferences.NAMES:
        wanted = getattr(preferences.DEFAULTS, name)
        default = list(shown[name].default_array) if isinstance(wanted, tuple) else shown[name].default
        expected = list(wanted) if isinstance(wanted, tuple) else wanted
        assert default == (expected if isinstance(wanted, str) else pytest.approx(expected))


def test_blend_times_are_shown_with_their_unit(blank: None) -> None:
    owners: list[Any] = [bpy.types.PoseBone, preferences.LimbIKPreferences]
    shown = [
        owner.bl_rna.properties[name] for owner, name in zip(owners, ("limb_ik_blend_time", "blend_time"), strict=True)
    ]
    shown += [getattr(ops.limb_ik, name).get_rna_type().properties["blend_time"] for name in ("add_chain", "add_limbs")]
    assert [one.unit for one in shown] == ['TIME_ABSOLUTE'] * 4


def test_blenders_menus_have_ours_once(blank: None) -> None:
    for name, draw in menus.APPENDED:
        assert getattr(bpy.types, name).draw._draw_funcs.count(draw) == 1


def test_shortcuts_name_what_exists(blank: None) -> None:
    for one in shortcuts.SHORTCUTS:
        group, name = one.operator.split(".")
        properties = getattr(getattr(ops, group), name).get_rna_type().properties
        assert set(one.values) <= set(properties.keys())
    assert hasattr(bpy.types, "LIMB_IK_MT_pose")


def test_scripts_get_the_defaults(body: Any) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    assert body.pose.bones["shin.L"].limb_ik_blend_time == pytest.approx(preferences.DEFAULTS.blend_time)


def tick(name: str, is_on: bool) -> dict[str, Any]:
    """One row of the dialog."""
    return {"name": name, "label": "", "bones": "", "is_on": is_on}


def test_only_ticked_limbs(body: Any) -> None:
    ticks = [tick("shin.L", True), tick("forearm.L", False)]
    ops.limb_ik.add_limbs(armature="Body", found=ticks, blend_time=0.4)
    assert [bone.name for bone in body.pose.bones if bone.limb_ik_solver != 'NONE'] == ["shin.L"]
    assert body.pose.bones["shin.L"].limb_ik_blend_time == pytest.approx(0.4)


def test_no_tick_is_refused(body: Any) -> None:
    with pytest.raises(RuntimeError, match="No limb is chosen"):
        ops.limb_ik.add_limbs(armature="Body", found=[tick("shin.L", False)])


@pytest.mark.parametrize("kind", ['EMPTY', 'BONE'])
def test_controls_have_the_colour_of_their_role(body: Any, kind: str) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="shin.L", target_kind=kind)
    tip = body.pose.bones["shin.L"]
    if kind == 'EMPTY':
        assert list(tip.limb_ik_target.color) != list(tip.limb_ik_pole.color)
    else:
        colours = [body.data.bones[name].color.palette for name in (tip.limb_ik_target_bone, tip.limb_ik_pole_bone)]
        assert colours == ['THEME04', 'THEME06']
