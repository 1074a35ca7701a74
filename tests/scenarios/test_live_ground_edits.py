"""Feet on a live ground follow every edit of its shape, in the same update; other shapes cost nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
from limb_ik import handlers
from limb_ik.rig import chains
from mathutils import Matrix, Vector

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


@pytest.mark.parametrize("is_leg_first", [True, False])
def test_a_ground_that_hangs_on_a_solved_bone_is_solved_before_who_stands_on_it(is_leg_first: bool) -> None:
    ground, lift = plane(), rigs.c3("Lift", location=(0.4, 0, -3))
    ground.parent, ground.parent_type, ground.parent_bone = lift, "BONE", "b2"
    rigs.update()
    ground.matrix_world = Matrix.Translation((0, 0, 0.05))
    leg = rigs.legp()
    steps: list[Callable[[], Any]] = [
        lambda: stand_on(ground, leg),
        lambda: rigs.add_chain_by_properties(lift, "b3", rigs.empty("TL", (0.6, 0, 0.02))),
    ]
    for step in steps if is_leg_first else reversed(steps):
        step()
    rigs.frame_set(3)
    seen: Any = rigs.evaluated(ground)
    inverse = seen.matrix_world.inverted()
    is_hit, point, _, _ = seen.ray_cast(inverse @ Vector((0.1, 0, 5)), inverse.to_3x3() @ Vector((0, 0, -1)))
    level = (seen.matrix_world @ point).z
    assert is_hit
    assert abs(level - 0.05) > 0.005, "the bone tilts it"
    assert height(leg) == pytest.approx(level + ANKLE, abs=NEAR)


def stand_on(ground: Any, leg: Any) -> None:
    tip: Any = rigs.add_chain_by_properties(leg, "shin", rigs.empty("T", (0.1, 0, ANKLE)), end_bone="foot")
    tip.limb_ik_ground = ground
    rigs.update()
