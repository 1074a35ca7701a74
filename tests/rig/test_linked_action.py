"""A linked action takes no keys: the chain's message says so, and a bake is refused with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.rig import linked_action

import rigs

ops: Any = bpy.ops


@pytest.fixture
def linked(blank: None, tmp_path: Path) -> Any:
    """L2B with a chain, playing an action of another file."""
    walk = rigs.rig("L2B", name="Walker")
    rigs.turn(walk, "up", "X", 0.4)
    for frame in (1, 10):
        rigs.key_rotation(rigs.bone(walk, "up"), frame)
    action: Any = walk.animation_data.action
    action.name = "Walk"
    bpy.data.libraries.write(str(tmp_path / "walk.blend"), {action})
    bpy.data.objects.remove(walk)
    bpy.data.actions.remove(action)
    arm = rigs.rig("L2B", name="Arm")
    rigs.add_chain_by_properties(arm, "lo", rigs.empty("T", (0, -0.4, 1.4)), rigs.empty("P", (0, 3, 0.8)))
    with bpy.data.libraries.load(str(tmp_path / "walk.blend"), link=True) as (_, into):
        into.actions = ["Walk"]
    animation: Any = arm.animation_data_create()
    animation.action = into.actions[0]
    if hasattr(animation, "action_slot"):
        animation.action_slot = animation.action_suitable_slots[0]
    rigs.update()
    return arm


def test_the_message_says_that_it_takes_no_keys(linked: Any) -> None:
    tip = linked.pose.bones["lo"]
    assert tip.limb_ik_status == 'REACHED'
    assert tip.limb_ik_message == linked_action.note(linked)
    assert tip.limb_ik_message.startswith("action 'Walk' is linked: it takes no keys, by hand or by a bake")
    with pytest.raises(RuntimeError, match="'Walk' is linked"):
        ops.limb_ik.bake(armature="Arm")


def test_what_is_missed_is_said_first(linked: Any) -> None:
    linked.pose.bones["lo"].limb_ik_target.location.z = -9.0
    rigs.update()
    assert linked.pose.bones["lo"].limb_ik_message.startswith("short by")


def test_a_local_action_says_nothing(linked: Any) -> None:
    linked.animation_data.action = linked.animation_data.action.copy()
    rigs.update()
    assert linked.animation_data.action.library is None
    assert linked_action.note(linked) == ""
    assert linked.pose.bones["lo"].limb_ik_message == ""
    linked.animation_data_clear()
    assert linked_action.note(linked) == ""
