"""What operators show before they act: every dialog draws settings that it has, and no others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from limb_ik.operators import CLASSES

import body as bodies
import rigs

ops: Any = bpy.ops
DIALOGS = [one for one in CLASSES if "draw" in dir(one) and issubclass(one, bpy.types.Operator)]


class Layout:
    """Stands for a UILayout: rows and columns are itself, what is drawn is written down."""

    def __init__(self) -> None:
        self.drawn: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *_args, **_named: self

    def prop(self, _owner: Any, name: str, **_named: Any) -> None:
        self.drawn.append(name)

    def prop_search(self, _owner: Any, name: str, place: Any, collection: str, **_named: Any) -> None:
        assert collection in place.bl_rna.properties
        self.drawn.append(name)


def stand_in(operator: type, **settings: Any) -> tuple[Any, set[str]]:
    """An operator in its dialog, its own methods and every setting at its default; and its settings' names."""
    group, name = vars(operator)["bl_idname"].split(".")
    known = getattr(getattr(ops, group), name).get_rna_type().properties
    values = {key: list(one) if one.type == 'COLLECTION' else one.default for key, one in known.items()
              if key != "rna_type" and hasattr(one, "default")}  # fmt: skip

    class Dialog:
        found: tuple[Any, ...] = ()

        def __init__(self) -> None:
            self.layout = Layout()

        def __getattr__(self, attribute: str) -> Any:
            method = getattr(operator, attribute)
            return method.__get__(self) if callable(method) else method

    dialog = Dialog()
    for key, value in {**values, **settings}.items():
        setattr(dialog, key, value)
    return dialog, set(known.keys())


@pytest.mark.parametrize("operator", DIALOGS, ids=lambda one: one.__name__)
def test_a_dialog_draws_its_own_settings(blank: None, operator: Any) -> None:
    obj = rigs.build(bodies.body_bones(), "Body")
    ops.limb_ik.add_limbs(armature="Body")
    bpy.context.view_layer.objects.active = obj
    dialog, known = stand_in(operator)
    operator.draw(dialog, bpy.context)
    assert dialog.layout.drawn
    assert set(dialog.layout.drawn) <= known


def test_a_range_is_asked_for_where_ends_are_pinned_here_alone(blank: None) -> None:
    plant = next(one for one in DIALOGS if one.__name__.endswith("plant"))
    dialog, _ = stand_in(plant, mode='HERE')
    plant.draw(dialog, bpy.context)
    assert "frame_start" in dialog.layout.drawn
    dialog, _ = stand_in(plant, mode='CONTACTS')
    plant.draw(dialog, bpy.context)
    assert dialog.layout.drawn == ["mode", "only_active"]


def test_the_limbs_that_were_found_have_a_tick_each(blank: None) -> None:
    add_limbs = next(one for one in DIALOGS if one.__name__.endswith("add_limbs"))
    found = [SimpleNamespace(is_on=True, label=side, bones="a › b") for side in ("Left arm", "Right arm")]
    dialog, _ = stand_in(add_limbs, found=found)
    add_limbs.draw(dialog, bpy.context)
    assert dialog.layout.drawn.count("is_on") == 2
    assert "arms" not in dialog.layout.drawn, "ticks say it already"


@pytest.mark.parametrize("name", ["ground", "bake"])
def test_a_dialog_shows_the_frames_of_the_animation(blank: None, name: str) -> None:
    obj = rigs.build(bodies.body_bones(), "Body")
    rigs.key_location(obj, 101)
    rigs.key_location(obj, 160)
    bpy.context.view_layer.objects.active = obj
    operator: Any = next(one for one in DIALOGS if one.__name__ == f"LIMB_IK_OT_{name}")
    dialog, _ = stand_in(operator)
    dialog.properties = SimpleNamespace(is_property_set=lambda _: False)
    dialog.ask = lambda *_: {'CANCELLED'}
    layer, scene = bpy.context.view_layer, bpy.context.scene
    here = SimpleNamespace(view_layer=layer, scene=scene, selected_objects=[], mode='OBJECT')
    operator.invoke(dialog, here, None)
    assert (dialog.frame_start, dialog.frame_end) == (101, 160)
