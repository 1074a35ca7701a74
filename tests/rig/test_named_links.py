"""Few variables name all that chains hang on, in drivers of this form and of the one before; Blender renames them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from limb_ik.rig import dependency, made, marks, named_links

import rigs

pytestmark = pytest.mark.usefixtures("blank")

BONES = ("up", "lo", "hand", "goal", "side", "own")


def limb(name: str = "Rig", *, has_own_goal: bool = False) -> Any:
    """A chain that names bones in every role. ``has_own_goal``: what was made for it is what it reaches for."""
    free = [rigs.BoneSpec(one, (i, -1, 0.5), (i, -1, 0.8)) for i, one in enumerate(BONES[3:])]
    obj = rigs.build([*rigs.RIGS["L2B"], *free], name)
    names = {"target_bone": "goal", "pole_bone": "side", "end_bone": "hand"}
    rigs.add_chain_by_properties(obj, "lo", obj, obj, **names)
    made.remember(rigs.bone(obj, "lo"), "target", (obj, "goal" if has_own_goal else "own"))
    dependency.rebuild(obj)
    rigs.update()
    return obj


def named(obj: Any, tip: str = "lo") -> dict[str, str]:
    bone: Any = rigs.bone(obj, tip)
    settings = ("root", "end_bone", "target_bone", "pole_bone", "own_target_bone")
    return {"tip": tip} | {name: getattr(bone, f"limb_ik_{name}") for name in settings}


def variables(obj: Any, path: str) -> list[Any]:
    return [*obj.animation_data.drivers.find(path).driver.variables]


def as_form_2(obj: Any) -> None:
    """The twin with a variable for each link, one with a tip before those of its chain."""
    names, number = (obj.animation_data.drivers.find(path) for path in (dependency.NAMES_PATH, dependency.NUMBER_PATH))
    for curve in (names, number):
        for variable in variables(obj, curve.data_path)[::-1]:
            curve.driver.variables.remove(variable)
    count = 0
    for tip in dependency.tips_of(obj):
        for role in ("tip", *named_links.ROLES):
            place = (obj, tip.name) if role == "tip" else named_links.place_of(tip, role)
            for curve in (names, number) if role in named_links.EVALUATED else (names,):
                if place[0] is not None and (place[1] or named_links.ROLES.get(role, (None,))[0]):
                    named_links._add_place(curve, f"{role}_{count}", place)
            count += 1
    obj.limb_ik.version = 2


def as_it_is(_obj: Any) -> None:
    pass


@pytest.mark.parametrize("has_own_goal", [True, False])
@pytest.mark.parametrize("form", [as_it_is, as_form_2])
def test_every_bone_that_a_chain_names_is_followed(
    form: Callable[[Any], None], has_own_goal: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    obj = limb(has_own_goal=has_own_goal)
    form(obj)
    before = named(obj)
    for bone in rigs.armature_of(obj).bones:
        bone.name = f"new {bone.name}"
    rigs.update()
    assert named(obj, "new lo") == {role: f"new {name}" for role, name in before.items()}
    assert rigs.bone(obj, "new lo").limb_ik_status == "REACHED"
    assert "cycle" not in "".join(capfd.readouterr()).lower()


@pytest.mark.parametrize("form", [as_it_is, as_form_2])
def test_links_that_a_pasted_pose_took_come_back(form: Callable[[Any], None]) -> None:
    obj, target, pole, ground = limb(), rigs.empty("T"), rigs.empty("P"), rigs.empty("G")
    tip: Any = rigs.bone(obj, "lo")
    tip.limb_ik_target, tip.limb_ik_pole, tip.limb_ik_ground = target, pole, ground
    made.remember(tip, "target", (target, ""))
    made.remember(tip, "pole", (ground, ""))
    dependency.rebuild(obj)
    form(obj)
    links = [f"limb_ik_{name}" for name in ("target", "pole", "ground", "own_target", "own_pole")]
    before = [getattr(tip, name) for name in links]
    with marks.quiet():
        for name in links:
            setattr(tip, name, None)
    assert dependency.follow_renames(obj) == ["lo"]
    assert [getattr(tip, name) for name in links] == before


@pytest.mark.parametrize("forms", [(as_it_is, as_form_2), (as_form_2, as_it_is), (as_form_2, as_form_2)])
def test_chains_of_joined_armatures_are_followed(forms: tuple[Callable[[Any], None], ...]) -> None:
    first, second = limb("First"), limb("Second")
    before = named(first)
    for obj, form in zip((first, second), forms, strict=True):
        form(obj)
    bpy.ops.object.select_all(action="DESELECT")
    for obj in (second, first):
        obj.select_set(True)
        bpy.context.view_layer.objects.active = obj
    bpy.ops.object.join()
    rigs.update()
    assert named(first) == before
    assert named(first, "lo.001") == {role: f"{name}.001" for role, name in before.items()}
    assert rigs.bone(first, "lo.001").limb_ik_target == first


def test_a_change_makes_the_variables_of_the_form_before_anew() -> None:
    obj = limb()
    as_form_2(obj)
    assert len(variables(obj, dependency.NAMES_PATH)) == 6
    rigs.bone(obj, "lo").limb_ik_end_bone = ""
    assert [one.name for one in variables(obj, dependency.NAMES_PATH)] == ["owntarget_0", "bones_0"]


def test_a_chain_takes_two_variables_in_the_twin_at_most() -> None:
    obj = rigs.legp()
    for number, end in enumerate(("foot", "toe", "")):
        other = rigs.legp(f"Other{number}")
        rigs.add_chain_by_properties(other, "shin", rigs.empty("T"), rigs.empty("P"), end_bone=end)
        assert len(variables(other, dependency.NAMES_PATH)) <= 2
    rigs.add_chain_by_properties(obj, "shin", rigs.empty("T"), end_bone="foot")
    rigs.add_chain_by_properties(obj, "toe", rigs.empty("T"), chain_length=1)
    assert [one.name for one in variables(obj, dependency.NAMES_PATH)] == ["bones_0", "bones_1", "ends_0_0"]
    assert len(variables(obj, dependency.NUMBER_PATH)) == 2
