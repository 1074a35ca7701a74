"""What is written for one object is said where others play the same keys."""

from __future__ import annotations

from typing import Any

import bpy
import pytest
from limb_ik.bake import planting
from limb_ik.bake.baking import bake
from limb_ik.bake.match_fk import match_fk
from limb_ik.bake.match_ik import match_ik
from limb_ik.bake.options import BakeOptions
from limb_ik.bake.shared_keys import shared_notes
from mathutils import Quaternion

import rigs

pytestmark = pytest.mark.usefixtures("blank")


def play(obj: Any, action: Any, slot: Any) -> None:
    anim = obj.animation_data or obj.animation_data_create()
    anim.action = action
    if slot is not None:
        anim.action_slot = slot


def own(obj: Any) -> tuple[Any, Any]:
    return obj.animation_data.action, getattr(obj.animation_data, "action_slot", None)


@pytest.fixture
def arm() -> Any:
    """A keyed limb under IK; other objects play what it plays."""
    obj = rigs.l2b("Anna")
    for frame in (1, 10):
        rigs.key_rotation(rigs.bone(obj, "up"), frame, Quaternion((1, 0, 0), 0.03 * frame))
    obj.animation_data.action.name = "Walk"
    target = rigs.empty("T", (0.5, -0.4, 1.1))
    rigs.key_location(target, 1)
    target.animation_data.action.name = "Path"
    rigs.add_chain_by_properties(obj, "lo", target)
    rigs.update()
    return obj


def another(arm: Any, name: str = "Ben") -> Any:
    other = rigs.l2b(name)
    play(other, *own(arm))
    return other


SHARED = ("'Ben' plays the same action 'Walk' and changed with it",)


def test_a_bake_names_who_else_plays_the_action(arm: Any) -> None:
    another(arm)
    assert bake(bpy.context, [arm], BakeOptions()).notes == SHARED


def test_matching_names_who_else_plays_what_it_keyed(arm: Any) -> None:
    another(arm)
    assert match_fk(bpy.context, arm, frames=[1.0, 2.0]).notes == SHARED
    assert match_ik(bpy.context, arm, frames=[1.0, 2.0]).notes == ()
    play(rigs.empty("U"), *own(bpy.data.objects["T"]))
    notes = match_ik(bpy.context, arm, frames=[1.0, 2.0]).notes
    assert notes == ("'U' plays the same action 'Path' and changed with it",)


def test_planting_names_who_else_plays_the_action(arm: Any) -> None:
    another(arm)
    rigs.bone(arm, "lo").limb_ik_use_ik = False
    rigs.frame_set(4)
    assert planting.plant(bpy.context, arm, ["lo"], 4, 6).notes == SHARED


@pytest.mark.parametrize("call", ["switch", "plant"])
def test_reports_of_operators_name_who_else_plays_the_action(arm: Any, call: str, capfd: Any) -> None:
    another(arm)
    rigs.frame_set(4)
    arguments: dict[str, Any] = (
        {"to": "FK"} if call == "switch" else {"use_range": True, "frame_start": 4, "frame_end": 6}
    )
    if call == "plant":
        rigs.bone(arm, "lo").limb_ik_use_ik = False
    getattr(bpy.ops.limb_ik, call)(armature="Anna", **arguments)
    assert SHARED[0] in capfd.readouterr().out


def test_a_strip_counts_and_many_are_said_in_one_note(arm: Any) -> None:
    action, slot = own(arm)
    ben = rigs.l2b("Ben")
    ben.animation_data_create()
    strip = ben.animation_data.nla_tracks.new().strips.new("Strip", 1, action)
    if slot is not None:
        strip.action_slot = slot
    another(arm, "Cleo")
    assert shared_notes([arm]) == ["'Ben', 'Cleo' play the same action 'Walk' and changed with it"]


def test_what_plays_other_keys_or_is_worked_on_is_not_named(arm: Any) -> None:
    arm.animation_data.action.use_fake_user = True
    assert shared_notes([arm, arm]) == []
    ben = another(arm)
    assert shared_notes([arm, ben]) == []
    if own(arm)[1] is not None:
        ben.animation_data.action_slot = own(arm)[0].slots.new("OBJECT", "Other")
        assert shared_notes([arm]) == []
    bpy.data.objects.remove(ben)
    assert shared_notes([arm]) == []
