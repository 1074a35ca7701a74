"""Simulations on what the armature deforms see the FK pose; the chain's message says so, and only then."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

import rigs

pytestmark = pytest.mark.usefixtures("blank")


def dressed(kind: str, way: str) -> tuple[Any, Any, Any, Any]:
    obj = rigs.l2b()
    tip = rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)))
    mesh = bpy.data.meshes.new("Dress")
    mesh.from_pydata([(0, 0, 2), (0, 0, 1), (0.1, 0, 2.3)], [], [(0, 1, 2)])
    dress = bpy.data.objects.new("Dress", mesh)
    bpy.context.scene.collection.objects.link(dress)
    dress.vertex_groups.new(name="lo").add([0, 1, 2], 1.0, "REPLACE")
    if way == "parent":
        dress.parent, dress.parent_type = obj, "ARMATURE"
    elif way == "modifier":
        dress.modifiers.new("Armature", "ARMATURE").object = obj
    simulation = dress.modifiers.new("Sim", kind)
    if way == "above":
        dress.modifiers.new("Armature", "ARMATURE").object = obj
    rigs.update()
    return obj, dress, simulation, tip


@pytest.mark.parametrize("way", ["parent", "modifier"])
@pytest.mark.parametrize("kind", ["CLOTH", "SOFT_BODY"])
def test_an_unbaked_simulation_on_the_skin_is_said(kind: str, way: str) -> None:
    _, dress, simulation, tip = dressed(kind, way)
    assert tip.limb_ik_status == "REACHED"
    assert "Sim" in tip.limb_ik_message and "Dress" in tip.limb_ik_message and "FK" in tip.limb_ik_message
    tip.limb_ik_mute = True
    rigs.update()
    assert tip.limb_ik_message == ""
    tip.limb_ik_mute = False
    rigs.update()
    dress.modifiers.remove(simulation)
    rigs.update()
    assert tip.limb_ik_message == ""


@pytest.mark.parametrize("kind", ["CLOTH", "SOFT_BODY"])
def test_a_baked_simulation_is_not_said(kind: str) -> None:
    _, _, simulation, tip = dressed(kind, "modifier")
    cache = simulation.point_cache
    cache.frame_start, cache.frame_end = 1, 3
    rigs.frame_set(1)
    assert tip.limb_ik_message
    with bpy.context.temp_override(point_cache=cache):
        bpy.ops.ptcache.bake(bake=True)
    assert tip.limb_ik_message == ""


def test_one_that_the_armature_does_not_deform_is_not_said() -> None:
    _, _, _, tip = dressed("CLOTH", "above")
    assert tip.limb_ik_message == ""
    _, dress, _, tip = dressed("CLOTH", "nothing")
    assert tip.limb_ik_message == ""
    dress.modifiers.remove(dress.modifiers["Sim"])
    dress.modifiers.new("Armature", "ARMATURE").object = tip.id_data
    dress.modifiers.new("Sim", "CLOTH")
    rigs.update()
    assert "Sim" in tip.limb_ik_message
