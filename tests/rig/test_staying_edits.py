"""What a rig that stays as IK posed it must notice: every edit gives what it gives where FK is put back."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
import pytest
from limb_ik import handlers
from limb_ik.rig import compat, live_pause, needs
from mathutils import Euler, Quaternion

import played
import rigs
from played import ALWAYS, OFF, ON, ONE_BY_ONE, TOGETHER, Shown

pytestmark = pytest.mark.usefixtures("extension")

SAME, TOLD_APART = 1e-6, 1e-4
"""Of numbers in matrices and rotations: right is what differs by less than the one, wrong by more than the other."""
AFTER = (4.0, 9.0, 5.5, 12.0)


class Edit(NamedTuple):
    """What is done between two frames, how many of the two rigs stay in the end, and whether staying would be wrong."""

    do: Callable[[], object]
    stay: int
    is_wrong: bool = False


def limb(name: str, x: float) -> Any:
    arm = rigs.rig("L2B", name, root=True, location=(x, 0.0, 0.0))
    target = rigs.empty(f"T{name}")
    for frame, place in ((1, (x + 0.6, -0.4, 1.2)), (20, (x - 0.5, 0.6, 1.1))):
        rigs.key_location(target, frame, place)
    rigs.add_chain_by_properties(
        arm, "lo", target, rigs.empty(f"P{name}", (x, 3, 0.8)), end_bone="hand", end_rotation='KEEP_FK', weight=0.7
    )
    for bone, turn in (("root", 0.1), ("up", 0.4), ("lo", -0.3), ("hand", 0.2)):
        rigs.write_rotation(arm.pose.bones[bone], Euler((turn, 0.5 * turn, -turn)).to_quaternion())
    return arm


def arm() -> Any:
    return bpy.data.objects["A"]


def other() -> Any:
    return bpy.data.objects["B"]


def target() -> Any:
    return bpy.data.objects["TA"]


def bone(name: str, obj: Any = None) -> Any:
    return (obj or arm()).pose.bones[name]


def constrain(owner: Any, kind: str, obj: Any, bone_name: str = "", **settings: Any) -> Any:
    found = owner.constraints.new(kind)
    found.target, found.subtarget = obj, bone_name
    for name, value in settings.items():
        setattr(found, name, value)
    return found


def drive(owner: Any, path: str, index: int, obj: Any, source: str) -> None:
    driver = owner.driver_add(path, index).driver
    driver.type = 'SUM'
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = obj, source


def copy_constraint() -> None:
    """Blender's dependency graph isn't built anew for it."""
    model = bpy.data.objects.new("Model", None)
    target().constraints.copy(constrain(model, 'COPY_LOCATION', other(), "hand", influence=0.5))


LO_X = 'pose.bones["lo"].rotation_quaternion[1]'


def key(name: str, path: str = "rotation_quaternion", index: int = -1) -> None:
    for frame, size in ((1, 0.1), (10, 0.7)):
        if path == "rotation_quaternion":
            bone(name).rotation_quaternion = Euler((size, 0.3 * size, -size)).to_quaternion()
        bone(name).keyframe_insert(path, index=index, frame=frame)


def key_while_paused() -> None:
    with live_pause.paused():
        key("up", index=1)
        rigs.update()


def push_down() -> None:
    key("up")
    anim = arm().animation_data
    action, slot = anim.action, getattr(anim, "action_slot", None)
    strip = anim.nla_tracks.new().strips.new("Strip", 1, action)
    if slot is not None:
        strip.action_slot = slot
    anim.action = None


def action_of_another() -> None:
    maker = limb("C", 9.0)
    maker.pose.bones["up"].rotation_mode = 'QUATERNION'
    for frame, size in ((1, 0.1), (10, 0.9)):
        rigs.key_rotation(maker.pose.bones["up"], frame, Euler((size, 0, size)).to_quaternion())
    anim = arm().animation_data or arm().animation_data_create()
    anim.action = maker.animation_data.action
    if hasattr(anim, "action_slot"):
        anim.action_slot = anim.action.slots[0]


def new_curve(owner: str = 'pose.bones["up"]') -> Any:
    return compat.ensure_fcurve(arm(), f"{owner}.rotation_quaternion", 1)


def curve_by_points(*owner: str) -> None:
    for point in ((1.0, 0.1), (10.0, 0.5)):
        new_curve(*owner).keyframe_points.insert(*point)


def curve_in_bulk() -> None:
    curve = new_curve()
    curve.keyframe_points.add(2)
    curve.keyframe_points.foreach_set("co", [1.0, 0.1, 10.0, 0.5])
    curve.update()


def in_bulk(path: str, name: str, values: Any) -> None:
    bones = arm().pose.bones
    found = np.empty((len(bones), len(values)), np.float32)
    bones.foreach_get(path, found.reshape(-1))
    found[list(bones.keys()).index(name)] = values
    bones.foreach_set(path, found.reshape(-1))


def mode_in_bulk() -> None:
    bones = arm().pose.bones
    found = np.empty(len(bones), np.int32)
    bones.foreach_get("rotation_mode", found)
    found[list(bones.keys()).index("up")] = 1
    bones.foreach_set("rotation_mode", found)


def set_mode(mode: str) -> None:
    bone("up").rotation_mode = mode


def hang_target(kind: str) -> None:
    target().parent, target().parent_type = other(), kind
    if kind == 'BONE':
        target().parent_bone = "hand"


def skinned(name: str, obj: Any, group: str = "lo") -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(-9, -9, 0.3), (9, -9, 0.3), (9, 9, 0.3), (-9, 9, 0.3)], [], [(0, 1, 2, 3)])
    made = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(made)
    made.vertex_groups.new(name=group).add([0, 1, 2, 3], 1.0, 'REPLACE')
    made.modifiers.new("Armature", 'ARMATURE').object = obj
    return made


def hang_on_vertex() -> None:
    made = skinned("Skin", other())
    target().parent, target().parent_type, target().parent_vertices = made, 'VERTEX', (0, 0, 0)


def ground_that_is_deformed() -> None:
    bone("lo").limb_ik_ground = skinned("Ground", other())


def ground_driven_by_shape() -> None:
    ground = skinned("Ground", other())
    ground.modifiers.clear()
    ground.shape_key_add(name="Basis")
    shape = ground.shape_key_add(name="High")
    for point in shape.data:
        point.co.z += 0.4
    drive(ground.data.shape_keys, 'key_blocks["High"].value', -1, other(), LO_X)
    bone("lo").limb_ik_ground = ground


def target_bone() -> None:
    bone("lo").limb_ik_target, bone("lo").limb_ik_target_bone = other(), "hand"


def on_a_path() -> None:
    """The target follows a curve that hangs on bones."""
    curve: Any = bpy.data.curves.new("Path", 'CURVE')
    curve.dimensions, curve.use_path = '3D', True
    spline = curve.splines.new('POLY')
    spline.points.add(1)
    spline.points[0].co, spline.points[1].co = (0.4, -0.4, 1.2, 1.0), (-0.3, 0.5, 1.1, 1.0)
    path = bpy.data.objects.new("Path", curve)
    bpy.context.scene.collection.objects.link(path)
    hook = path.modifiers.new("Hook", 'HOOK')
    hook.object, hook.subtarget = other(), "hand"
    hook.vertex_indices_set([0, 1])
    target().animation_data_clear()
    target().location = (0, 0, 0)
    target().parent = path


def to_rest() -> None:
    arm().data.pose_position = 'REST'


def into_edit_mode() -> None:
    bpy.context.view_layer.objects.active = arm()
    bpy.ops.object.mode_set(mode='EDIT')


def through_edit_mode() -> None:
    into_edit_mode()
    arm().data.edit_bones["hand"].roll += 0.7
    bpy.ops.object.mode_set(mode='OBJECT')


def off_and_on() -> None:
    handlers.unregister()
    rigs.frame_set(5)
    handlers.register()


def undo() -> None:
    rigs.update()
    bpy.ops.ed.undo_push(message="made")
    bpy.ops.ed.undo_push(message="before")
    rigs.write_rotation(bone("up"), Euler((0.9, 0, 0)).to_quaternion())
    rigs.update()
    bpy.ops.ed.undo_push(message="posed")
    bpy.ops.ed.undo()


def redo() -> None:
    undo()
    bpy.ops.ed.redo()


def reload() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "f.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)


def override() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "f.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        with bpy.data.libraries.load(path, link=True) as (_, wanted):
            wanted.objects = ["A"]
        linked = bpy.data.objects["A"]
        bpy.context.scene.collection.objects.link(linked)
        linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)


def duplicate() -> None:
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in (arm(), target()))
    bpy.context.view_layer.objects.active = arm()
    bpy.ops.object.duplicate()


def copies_that_look_at_bones() -> list[Any]:
    """A rig in no scene whose target looks at bones of one that stays."""
    copy, goal = arm().copy(), target().copy()
    copy.name = "C"
    goal.animation_data_clear()
    constrain(goal, 'COPY_LOCATION', other(), "hand", influence=0.6)
    copy.pose.bones["lo"].limb_ik_target = goal
    return [copy, goal]


def link(objects: list[Any]) -> None:
    for one in objects:
        bpy.context.scene.collection.objects.link(one)


EDITS = {
    "a constraint on a bone": Edit(
        lambda: constrain(bone("root"), 'COPY_ROTATION', arm(), "lo", influence=0.5), 1, is_wrong=True
    ),
    "a constraint of another rig": Edit(
        lambda: constrain(bone("root", other()), 'COPY_ROTATION', arm(), "lo"), 0, is_wrong=True
    ),
    "a constraint on the object": Edit(
        lambda: constrain(arm(), 'COPY_LOCATION', other(), "hand", influence=0.3), 0, is_wrong=True
    ),
    "a constraint on the target": Edit(
        lambda: constrain(target(), 'COPY_LOCATION', other(), "hand", influence=0.5), 0, is_wrong=True
    ),
    "a constraint on the pole": Edit(lambda: constrain(bpy.data.objects["PA"], 'DAMPED_TRACK', other(), "hand"), 0),
    "a driven bone": Edit(lambda: drive(bone("root"), "location", 0, arm(), LO_X), 0, is_wrong=True),
    "a driven object": Edit(lambda: drive(arm(), "location", 0, other(), LO_X), 0, is_wrong=True),
    "a driven target": Edit(lambda: drive(target(), "location", 1, other(), LO_X), 0, is_wrong=True),
    "a driven setting": Edit(lambda: drive(bone("lo"), "limb_ik_weight", -1, other(), LO_X), 0, is_wrong=True),
    "a constraint copied": Edit(copy_constraint, 0, is_wrong=True),
    "all keyed": Edit(lambda: [key(name) for name in ("up", "lo", "hand")], 1),
    "one keyed": Edit(lambda: key("up"), 1),
    "one channel keyed": Edit(lambda: key("up", index=1), 1),
    "another mode keyed": Edit(lambda: key("up", "rotation_euler"), 1),
    "the mode keyed": Edit(lambda: key("up", "rotation_mode"), 1),
    "keyed while paused": Edit(key_while_paused, 1),
    "a curve": Edit(curve_by_points, 1),
    "a curve by number": Edit(lambda: curve_by_points("pose.bones[1]"), 1, is_wrong=True),
    "a curve in bulk": Edit(curve_in_bulk, 1),
    "a spine keyed": Edit(lambda: key("root"), 2),
    "NLA": Edit(push_down, 1),
    "an action": Edit(action_of_another, 1),
    "a value": Edit(lambda: rigs.write_rotation(bone("up"), Euler((0.9, 0, 0.2)).to_quaternion()), 2),
    "a component": Edit(lambda: bone("up").rotation_quaternion.__setitem__(1, 0.8), 2),
    "a value in bulk": Edit(lambda: in_bulk("rotation_quaternion", "up", (0.8, 0.6, 0.0, 0.0)), 2),
    "a spine": Edit(lambda: rigs.write_rotation(bone("root"), Quaternion((0.8, 0.6, 0.0, 0.0))), 2),
    "a spine in bulk": Edit(lambda: in_bulk("rotation_quaternion", "root", (0.8, 0.6, 0, 0)), 2, is_wrong=True),
    "a place in bulk": Edit(lambda: in_bulk("location", "root", (0.2, 0.1, 0.0)), 2, is_wrong=True),
    "Euler": Edit(lambda: set_mode('XYZ'), 2),
    "axis and angle": Edit(lambda: set_mode('AXIS_ANGLE'), 2),
    "a mode in bulk": Edit(mode_in_bulk, 2),
    "a target on a bone": Edit(lambda: hang_target('BONE'), 0),
    "a target on a shape": Edit(hang_on_vertex, 0, is_wrong=True),
    "a target on a deformed armature": Edit(lambda: hang_target('ARMATURE'), 0),
    "a target bone": Edit(target_bone, 0),
    "a target on a path": Edit(on_a_path, 0, is_wrong=True),
    "a ground": Edit(ground_that_is_deformed, 0, is_wrong=True),
    "a ground with shapes": Edit(ground_driven_by_shape, 0, is_wrong=True),
    "rest position": Edit(to_rest, 1),
    "edit mode": Edit(into_edit_mode, 0),
    "through edit mode": Edit(through_edit_mode, 2),
    "not live": Edit(lambda: setattr(arm().limb_ik, "is_live", False), 1),
    "muted": Edit(lambda: setattr(bone("lo"), "limb_ik_mute", True), 2),
    "no weight": Edit(lambda: setattr(bone("lo"), "limb_ik_weight", 0.0), 2),
    "no chain": Edit(lambda: setattr(bone("lo"), "limb_ik_solver", 'NONE'), 2),
    "disabled and enabled": Edit(off_and_on, 2),
    "undo": Edit(undo, 2),
    "redo": Edit(redo, 2),
    "reload": Edit(reload, 2),
    "override": Edit(override, 1),
    "a renamed bone": Edit(lambda: setattr(bone("up").bone, "name", "upper"), 2),
    "a renamed object": Edit(lambda: setattr(arm(), "name", "AA"), 2),
    "a duplicate": Edit(duplicate, 3),
    "a copy that looks at bones": Edit(lambda: link(copies_that_look_at_bones()), 0, is_wrong=True),
    "other data": Edit(lambda: setattr(arm(), "data", arm().data.copy()), 2),
    "no target": Edit(lambda: bpy.data.objects.remove(target()), 2),
    "hidden": Edit(lambda: setattr(arm(), "hide_viewport", True), 2),
}


def play(shown: Shown, edit: Callable[[], object], *, is_updated: bool) -> None:
    """Two rigs that stay, an edit, and frames after it."""
    played.clear()
    limb("A", 0.0)
    limb("B", 0.9)
    rigs.update()
    played.go(shown, (2.0, 3.0))
    edit()
    if is_updated:
        rigs.update()
        shown.look()
    played.go(shown, AFTER)


@pytest.mark.parametrize(
    ("is_updated", "fewest"), [(True, TOGETHER), (False, ONE_BY_ONE)], ids=["updated", "before an update"]
)
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_gives_what_it_gives_where_fk_is_put_back(
    name: str, is_updated: bool, fewest: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    edit = EDITS[name]
    scene = partial(play, edit=edit.do, is_updated=is_updated)
    expected = played.played(monkeypatch, OFF, fewest, scene)
    found = played.played(monkeypatch, ON, fewest, scene)
    assert found.stayed[1] == 2
    assert found.stayed[-1] == edit.stay
    assert found.apart(expected) <= SAME
    if edit.is_wrong and not is_updated:
        assert played.played(monkeypatch, ALWAYS, fewest, scene).apart(expected) > TOLD_APART
    assert "Error in bpy.app.handlers" not in capfd.readouterr().err


def half_of_fk(*_: Any) -> None:
    """Another extension's handler: it makes one bone follow another as it finds it."""
    bone("root").rotation_quaternion = Quaternion().slerp(bone("up").rotation_quaternion, 0.5)


def nudge(*_: Any) -> None:
    """... turns a bone on from what it is."""
    bone("up").rotation_quaternion = bone("up").rotation_quaternion @ Quaternion((1, 0, 0), 0.1)


def look_at_bones(*_: Any) -> None:
    """... hangs a target on bones, which no update tells of."""
    if not len(target().constraints):
        constrain(target(), 'COPY_LOCATION', other(), "hand", influence=0.5)


@pytest.mark.parametrize(
    ("act", "when", "place"),
    [
        (half_of_fk, "frame_change_pre", 1),
        (half_of_fk, "frame_change_post", 0),
        (nudge, "frame_change_pre", 1),
        (nudge, "frame_change_post", 0),
        (look_at_bones, "frame_change_post", 1),
        (look_at_bones, "frame_change_post", 0),
    ],
)
def test_handlers_of_others_see_and_give_what_they_did(
    act: Callable[..., None], when: str, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scene(shown: Shown) -> None:
        play(shown, lambda: getattr(bpy.app.handlers, when).insert(place, act), is_updated=False)
        getattr(bpy.app.handlers, when).remove(act)
        played.go(shown, (13.0, 14.0, 15.0))

    expected = played.played(monkeypatch, OFF, ONE_BY_ONE, scene)
    assert played.played(monkeypatch, ON, ONE_BY_ONE, scene).apart(expected) <= SAME
    assert played.played(monkeypatch, ALWAYS, ONE_BY_ONE, scene).apart(expected) > TOLD_APART


def test_rest_position_that_is_keyed_keeps_a_rig_from_staying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bones show FK there; Blender 4.2 itself is late with it at times, so poses are not compared."""

    def key_rest() -> None:
        for frame, value in ((1, 'POSE'), (9, 'REST'), (11, 'POSE')):
            arm().data.pose_position = value
            arm().data.keyframe_insert("pose_position", frame=frame)

    found = played.played(monkeypatch, ON, TOGETHER, partial(play, edit=key_rest, is_updated=True))
    assert found.stayed[-1] == 1


def plane() -> Any:
    made = skinned("Plane", other())
    made.modifiers.clear()
    return made


def cloth() -> Any:
    return plane().modifiers.new("Cloth", 'CLOTH')


def rigid_body() -> None:
    bpy.ops.rigidbody.world_add()
    bpy.context.scene.rigidbody_world.collection = bpy.data.collections.new("Bodies")
    bpy.context.scene.rigidbody_world.collection.objects.link(plane())


def particles(kind: str = 'EMITTER', *, is_dynamic: bool = False) -> None:
    system = plane().modifiers.new("Particles", 'PARTICLE_SYSTEM').particle_system
    system.settings.type = kind
    system.use_hair_dynamics = is_dynamic


def simulation_zone() -> None:
    inner = bpy.data.node_groups.new("Inner", 'GeometryNodeTree')
    inner.nodes.new("GeometryNodeSimulationOutput")
    outer = bpy.data.node_groups.new("Outer", 'GeometryNodeTree')
    outer.nodes.new("GeometryNodeGroup").node_tree = inner
    plane().modifiers.new("Nodes", 'NODES').node_group = outer


SIMULATIONS: dict[str, tuple[Callable[[], object], int]] = {
    "cloth": (cloth, 0),
    "rigid body": (rigid_body, 0),
    "particles": (particles, 0),
    "hair that moves": (lambda: particles('HAIR', is_dynamic=True), 0),
    "hair": (lambda: particles('HAIR'), 2),
    "a simulation zone in a group": (simulation_zone, 0),
    "a plane": (plane, 2),
}


@pytest.mark.parametrize("name", SIMULATIONS)
def test_no_rig_stays_beside_what_remembers_what_it_saw(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, stay = SIMULATIONS[name]
    found = played.played(monkeypatch, ON, TOGETHER, partial(play, edit=make, is_updated=True))
    assert found.stayed[1] == 2
    assert found.stayed[-1] == stay
    assert needs.is_anything_simulated() == (stay == 0)
