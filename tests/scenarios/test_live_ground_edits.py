"""Feet on a live ground follow every edit of its shape, in the same update; other shapes cost nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from limb_ik import handlers
from limb_ik.rig import chains
from mathutils import Matrix

import rigs

pytestmark = pytest.mark.usefixtures("blank")

# Metres: the ankle's height beside what a ray on float32 vertices gives.
NEAR = 1e-5
ANKLE = 0.1


def plane(name: str = "Ground", height: float = 0.0) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [], [(0, 1, 2, 3)])
    obj = bpy.data.objects.new(name, mesh)
    assert bpy.context.scene is not None
    bpy.context.scene.collection.objects.link(obj)
    obj.location.z = height
    return obj


def standing_leg(ground: bpy.types.Object, name: str = "Rig") -> bpy.types.Object:
    obj = rigs.legp(name)
    tip: Any = rigs.add_chain_by_properties(obj, "shin", rigs.empty("T", (0.1, 0, ANKLE)), end_bone="foot")
    rigs.update()
    tip.limb_ik_ground = ground
    rigs.update()
    return obj


def height(obj: bpy.types.Object) -> float:
    return rigs.evaluated_pose(obj)["foot"].head.z


def lift_vertices(ground: Any) -> None:
    for vertex in ground.data.vertices:
        vertex.co.z = 0.15
    ground.data.update()


def add_modifier(ground: Any) -> None:
    modifier = ground.modifiers.new("Displace", "DISPLACE")
    modifier.strength, modifier.mid_level = 0.15, 0.0


def change_modifier(ground: Any) -> None:
    add_modifier(ground)
    ground.modifiers[0].strength = 0.05
    rigs.update()
    ground.modifiers[0].strength = 0.15


def change_mesh(ground: Any) -> None:
    other = plane("Other").data
    other.transform(Matrix.Translation((0, 0, 0.15)))
    ground.data = other


@pytest.mark.parametrize("edit", [lift_vertices, add_modifier, change_modifier, change_mesh])
def test_feet_follow_a_ground_that_gets_another_shape(edit: Callable[[Any], None]) -> None:
    ground = plane()
    first, second = standing_leg(ground), standing_leg(ground, "Second")
    assert abs(height(first) - ANKLE) <= NEAR
    edit(ground)
    rigs.update()
    for obj in (first, second):
        assert abs(height(obj) - ANKLE - 0.15) <= NEAR


def test_other_shapes_and_grounds_of_before_have_nobody_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    ground, other = plane(), plane("Other")
    obj = standing_leg(ground)
    evaluated, read = list[str](), list[str]()
    real, real_read = handlers.evaluate, chains.read_setup
    monkeypatch.setattr(handlers, "evaluate", lambda *given, **named: evaluated.append("") or real(*given, **named))
    monkeypatch.setattr(chains, "read_setup", lambda one: read.append(one.name) or real_read(one))
    lift_vertices(other)
    rigs.update()
    assert not evaluated
    lift_vertices(ground)
    rigs.update()
    assert len(evaluated) == 1
    assert not read
    tip: Any = rigs.bone(obj, "shin")
    tip.limb_ik_ground = other
    rigs.update()
    evaluated.clear()
    ground.data.vertices[0].co.z = 0.0
    ground.data.update()
    rigs.update()
    assert not evaluated


def test_an_empty_for_a_ground_is_named_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    obj = standing_leg(rigs.empty("Nothing"))
    rigs.frame_set(3)
    tip: Any = rigs.bone(obj, "shin")
    assert "ground 'Nothing' has no surface to stand on" in tip.limb_ik_message
    assert "Error" not in "".join(capfd.readouterr())
