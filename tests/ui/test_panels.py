"""Panels drawn with a layout that writes down what it is asked for; LB-50 by counting.

What Blender itself makes of the drawing is seen in a full Blender; here it is what is
shown for which solver, that nothing is written, and that no redraw walks the bones.
"""

from __future__ import annotations

import time
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from limb_ik import operators, preferences, ui
from limb_ik.bake import contact_markers, contacts
from limb_ik.rig import chains, marks
from limb_ik.rig.setting_up import active

import rigs
from body import body_bones

ops: Any = bpy.ops
PANELS = [cls for cls in ui.CLASSES if issubclass(cls, bpy.types.Panel)]


class Layout:
    """Stands for a UILayout: rows and columns are itself, what is drawn is written down."""

    def __init__(self) -> None:
        self.drawn: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *_args, **_named: self

    def prop(self, owner: Any, name: str, **_named: Any) -> None:
        assert name in owner.bl_rna.properties, name
        self.drawn.append(name)

    def prop_search(self, owner: Any, name: str, place: Any, collection: str, **_named: Any) -> None:
        assert name in owner.bl_rna.properties and collection in place.bl_rna.properties
        self.drawn.append(name)

    def label(self, text: str = "", **_named: Any) -> None:
        self.drawn.append(text)

    def operator(self, idname: str, **named: Any) -> Any:
        group, name = idname.split(".")
        properties = getattr(getattr(ops, group), name).get_rna_type().properties
        self.drawn.append(idname)
        return Named(set(properties.keys()))

    def menu(self, idname: str, **_named: Any) -> None:
        assert hasattr(bpy.types, idname)
        self.drawn.append(idname)


class Named:
    """Operator properties that take known names only."""

    def __init__(self, names: set[str]) -> None:
        object.__setattr__(self, "names", names)

    def __setattr__(self, name: str, value: Any) -> None:
        assert name in self.names, name


def context() -> Any:
    """What panels read of a context."""
    layer = bpy.context.view_layer
    obj = layer.objects.active
    mode = 'OBJECT' if obj is None or obj.mode == 'OBJECT' else obj.mode
    return SimpleNamespace(
        view_layer=layer,
        scene=bpy.context.scene,
        mode=mode,
        region=SimpleNamespace(width=260.0),
        preferences=bpy.context.preferences,
    )


def draw(panel: type, here: Any) -> list[str]:
    """What a panel draws; nothing where it is not shown."""
    cls: Any = panel
    if hasattr(cls, "poll") and not cls.poll(here):
        return []
    stand_in = SimpleNamespace(layout=Layout())
    for name in ("bone", "draw_chain"):
        if hasattr(cls, name):
            method = getattr(cls, name)
            setattr(stand_in, name, method if name == "bone" else method.__get__(stand_in))
    if "draw_header" in vars(cls):
        cls.draw_header(stand_in, here)
    cls.draw(stand_in, here)
    return stand_in.layout.drawn


def draw_all() -> list[str]:
    here = context()
    return [text for panel in PANELS for text in draw(panel, here)]


@pytest.fixture
def body(blank: None) -> bpy.types.Object:
    return rigs.build(body_bones(), "Body")


def test_without_an_armature_it_says_what_is_missing(blank: None) -> None:
    assert " ".join(draw(ui.LIMB_IK_PT_main, context())).startswith("Make an armature active")


def test_without_chains_it_offers_to_add(body: bpy.types.Object) -> None:
    assert draw(ui.LIMB_IK_PT_main, context()) == ["limb_ik.add_limbs", "limb_ik.add_chain"]


def test_a_row_for_each_chain(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    drawn = draw(ui.LIMB_IK_PT_main, context())
    assert drawn.count("limb_ik.activate_chain") == 4
    assert drawn.count("limb_ik_weight") == 4


SHOWN = {
    'TWO_BONE': (
        {"limb_ik_pole", "limb_ik_bend_axis", "limb_ik_softness"},
        {"limb_ik_iterations", "limb_ik_look_axis"},
    ),
    'FABRIK': ({"limb_ik_pole", "limb_ik_iterations", "limb_ik_tolerance"}, {"limb_ik_look_axis", "limb_ik_bend_axis"}),
    'LOOK_AT': (
        {"limb_ik_look_axis", "limb_ik_up_axis", "limb_ik_joint_share"},
        {"limb_ik_pole", "limb_ik_softness", "limb_ik_ground"},
    ),
    'LEG': (
        {"limb_ik_pole", "limb_ik_joint_share", "limb_ik_bend_axis", "limb_ik_ground", "limb_ik_iterations"},
        {"limb_ik_look_axis", "limb_ik_tolerance", "limb_ik_use_warm_start"},
    ),
}


@pytest.mark.parametrize("solver", SHOWN)
def test_only_what_the_solver_uses(body: bpy.types.Object, solver: str) -> None:
    shown, hidden = SHOWN[solver]
    ops.limb_ik.add_chain(armature="Body", tips="shin.L", solver=solver, chain_length=2)
    rigs.update()
    body.data.bones.active = body.data.bones["shin.L"]
    drawn = set(draw_all())
    assert shown <= drawn
    assert not hidden & drawn
    assert {"limb_ik_target", "limb_ik_weight", "limb_ik_blend_time", "limb_ik.bake"} <= drawn


def test_contacts_have_a_heading_over_their_two_frames(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    assert "Contact" not in draw(ui.LIMB_IK_PT_feet, context())
    contact_markers.put(bpy.context, body, [contacts.Contact("shin.L", contacts.END, 3, 9)], ["shin.L"])
    drawn = draw(ui.LIMB_IK_PT_feet, context())
    at = drawn.index("Contact")
    assert drawn[at : at + 3] == ["Contact", "Start", "End"]
    assert drawn[at + 4 : at + 6] == ["frame", "frame"]


def test_lengths_have_a_unit(blank: None) -> None:
    assert bpy.types.PoseBone.bl_rna.properties["limb_ik_ground_floor"].subtype == 'DISTANCE'
    width = typing.get_type_hints(preferences.LimbIKPreferences)["line_width"]
    assert width.keywords["subtype"] == 'PIXEL'


def test_the_message_is_shown(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="shin.L")
    body.data.bones.active = body.data.bones["shin.L"]
    body.pose.bones["shin.L"].limb_ik_target.location.z -= 2.0
    rigs.update()
    assert "Short by" in " ".join(draw(ui.LIMB_IK_PT_main, context()))


def test_menus_name_what_there_is(body: bpy.types.Object) -> None:
    menus: list[Any] = [cls for cls in ui.CLASSES if issubclass(cls, bpy.types.Menu)]
    for menu in menus:
        stand_in = SimpleNamespace(layout=Layout())
        menu.draw(stand_in, context())
        assert stand_in.layout.drawn


def test_menus_match_over_frames_after_asking(body: bpy.types.Object) -> None:
    for menu in (ui.LIMB_IK_MT_pose, ui.LIMB_IK_MT_chain):
        stand_in = SimpleNamespace(layout=Layout())
        menu.draw(stand_in, context())
        assert stand_in.layout.drawn.count("limb_ik.match_ik") == 2


def test_the_bake_button_says_how_many_armatures(body: bpy.types.Object) -> None:
    other = rigs.build(body_bones(), "Other")
    for obj in (body, other):
        ops.limb_ik.add_chain(armature=obj.name, tips="shin.L")
    rigs.update()
    body.data.bones.active = body.data.bones["shin.L"]
    bpy.context.view_layer.objects.active = body
    for is_other, wanted in ((True, "Bake 2 Armatures..."), (False, "Bake Armature...")):
        body.select_set(True)
        other.select_set(is_other)
        texts: list[str] = []
        layout = Layout()
        layout.operator = lambda idname, text="", texts=texts, **_named: (texts.append(text), SimpleNamespace())[1]
        ui.LIMB_IK_PT_bake.draw(SimpleNamespace(layout=layout), context())
        assert wanted in texts


def test_limits_of_the_joint_kind(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="shin.L")
    body.data.bones.active = body.data.bones["shin.L"]
    bones: Any = body.pose.bones
    bones["shin.L"].limb_ik_joint_kind, bones["thigh.L"].limb_ik_joint_kind = 'HINGE', 'BALL'
    rigs.update()
    drawn = draw(ui.LIMB_IK_PT_limits, context())
    assert {"limb_ik_joint_min_angle", "limb_ik_joint_swing_x_min", "limb_ik_joint_twist_max"} <= set(drawn)


def test_a_target_shows_its_chain(body: bpy.types.Object) -> None:
    ops.limb_ik.add_chain(armature="Body", tips="forearm.R")
    rigs.update()
    bpy.context.view_layer.objects.active = body.pose.bones["forearm.R"].limb_ik_pole
    assert draw(ui.LIMB_IK_PT_weight, context())
    bpy.context.view_layer.objects.active = rigs.empty("Other")
    assert not draw(ui.LIMB_IK_PT_weight, context())


def test_in_edit_mode_nothing_is_shown(body: bpy.types.Object) -> None:
    ops.limb_ik.add_limbs(armature="Body")
    ops.object.mode_set(mode='EDIT')
    try:
        assert not draw_all()
    finally:
        ops.object.mode_set(mode='OBJECT')


def crowd() -> bpy.types.Object:
    """1000 bones, 30 chains of two: LB-50."""
    bones = [rigs.BoneSpec("root", (0, 0, 0), (0, 0.1, 0))]
    for row in range(111):
        for link in range(9):
            head, tail = (
                (row * 0.1, 0.01 * (link % 2), 0.2 * link),
                (row * 0.1, 0.01 * ((link + 1) % 2), 0.2 * link + 0.2),
            )
            parent = f"b{row}_{link - 1}" if link else "root"
            bones.append(rigs.BoneSpec(f"b{row}_{link}", head, tail, parent))
    arm = rigs.build(bones, "Crowd")
    target = rigs.empty("T", (0, 0.1, 1))
    with marks.quiet():
        for row in range(30):
            bone: Any = arm.pose.bones[f"b{row}_4"]
            bone.limb_ik_target, bone.limb_ik_solver = target, 'TWO_BONE'
    marks.touch(arm)
    rigs.update()
    return arm


@contextmanager
def without_writes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails where a set-up is read anew (which may write) or a depsgraph is asked."""

    def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("read anew in a redraw")

    with monkeypatch.context() as patch:
        patch.setattr(chains, "read_setup", forbidden)
        patch.setattr(active.dependency, "tips_of", forbidden)
        yield


@pytest.mark.usefixtures("blank")
def test_lb_50_redraws_do_not_walk_the_bones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw ≤ 2 ms and poll ≤ 0.2 ms in the mean are LB-50's figures; five times that here, for a busy machine."""
    arm = crowd()
    arm.data.bones.active = arm.data.bones["root"]
    here = context()
    polls: list[Any] = [cls for cls in (*operators.CLASSES, *ui.CLASSES) if hasattr(cls, "poll")]
    with without_writes(monkeypatch):
        assert draw(ui.LIMB_IK_PT_main, here).count("limb_ik.activate_chain") == 30
        began = time.process_time()
        for _ in range(20):
            draw_all()
        drawing = (time.process_time() - began) / 20
        began = time.process_time()
        for _ in range(20):
            for cls in polls:
                cls.poll(bpy.context)
        polling = (time.process_time() - began) / (20 * len(polls))
    assert drawing < 0.010
    assert polling < 0.001
