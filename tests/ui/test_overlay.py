"""What the overlay shows, without a window: shapes are points, and only what is chosen is shown."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limb_ik.rig import compat
from limb_ik.solvers.chain import JointKind, JointLimits
from limb_ik.ui import overlay, overlay_chain
from limb_ik.ui import overlay_shapes as shapes
from limb_ik.ui.overlay_shapes import Part
from mathutils import Matrix, Vector

import rigs
from body import body_bones

ops: Any = bpy.ops
# Points are float32: a few units in the last place of lengths near 1.
EXACT = 1e-5


@pytest.fixture
def body(blank: None) -> Any:
    obj = rigs.build(body_bones(), "Body")
    ops.limb_ik.add_limbs(armature="Body")
    rigs.update()
    return obj


def chosen() -> list[str]:
    return [tip for _, tip in overlay_chain.chosen(SimpleNamespace(view_layer=bpy.context.view_layer))]


def parts(obj: Any, tip: str) -> set[Part]:
    return {shape.part for shape in overlay_chain.of_chain(obj, tip)[0]}


def test_without_a_window_nothing_is_attached(body: Any) -> None:
    overlay.refresh()
    assert not overlay.is_attached()


def test_only_active_and_selected_chains(body: Any) -> None:
    body.data.bones.active = body.data.bones["thigh.L"]
    bpy.context.view_layer.objects.active = body
    assert chosen() == ["shin.L"]
    body.pose.bones["forearm.R"].limb_ik_pole.select_set(True)
    assert sorted(chosen()) == ["forearm.R", "shin.L"]
    body.limb_ik.is_live = False
    assert chosen() == []


@pytest.mark.parametrize("role", ["target", "pole"])
def test_a_target_of_the_users_own_need_only_be_selected(body: Any, role: str) -> None:
    """One that no set-up made and that hangs on nothing, while another object is active."""
    own = rigs.empty("Own", (0.1, -0.3, 0.2))
    setattr(body.pose.bones["shin.R"], f"limb_ik_{role}", own)
    camera = rigs.empty("Something else")
    rigs.update()
    for one in bpy.context.view_layer.objects:
        one.select_set(one in (own, camera))
    bpy.context.view_layer.objects.active = camera
    assert chosen() == ["shin.R"]


def test_a_bone_of_another_armature_need_only_be_selected(body: Any) -> None:
    other = rigs.rig("L2B", name="Other")
    bone = body.pose.bones["shin.R"]
    bone.limb_ik_target, bone.limb_ik_target_bone = other, "lo"
    rigs.update()
    for one in bpy.context.view_layer.objects:
        one.select_set(one == other)
    bpy.context.view_layer.objects.active = other
    ops.object.mode_set(mode='POSE')
    for one in other.pose.bones:
        compat.set_bone_selected(one, one.name == "lo")
    assert chosen() == ["shin.R"]
    compat.set_bone_selected(other.pose.bones["lo"], False)
    assert chosen() == []
    ops.object.mode_set(mode='OBJECT')


def test_a_limb_its_pole_and_no_more(body: Any) -> None:
    assert parts(body, "shin.L") == {Part.LIMB, Part.LINE, Part.POLE}


def test_the_triangle_stands_on_the_joints(body: Any) -> None:
    body.location = (1.0, 2.0, 3.0)
    rigs.update()
    limb = next(shape for shape in overlay_chain.of_chain(body, "shin.L")[0] if shape.part == Part.LIMB)
    heads = [body.matrix_world @ body.pose.bones[name].head for name in ("thigh.L", "shin.L", "foot.L")]
    assert [(point - head).length < EXACT for point, head in zip(limb.lines[::2], heads, strict=False)] == [True, True]
    assert (limb.lines[-1] - heads[-1]).length < EXACT


def test_out_of_reach_is_said_and_shown(body: Any) -> None:
    body.pose.bones["shin.L"].limb_ik_target.location.z -= 0.3
    rigs.update()
    found, notes = overlay_chain.of_chain(body, "shin.L")
    assert {Part.MISSED, Part.REACH} <= {shape.part for shape in found}
    missed = next(shape for shape in found if shape.part == Part.MISSED)
    assert notes[0].length == pytest.approx((missed.lines[0] - missed.lines[1]).length, abs=EXACT)
    assert "short" in notes[0].text


def test_muted_and_broken_chains_show_nothing(body: Any) -> None:
    body.pose.bones["shin.L"].limb_ik_mute = True
    body.pose.bones["shin.R"].limb_ik_target = None
    rigs.update()
    assert overlay_chain.of_chain(body, "shin.L") == ([], [])
    assert overlay_chain.of_chain(body, "shin.R") == ([], [])


@pytest.fixture
def walked_away(blank: None) -> Any:
    """A body whose bones walked 5 units away from targets that are offsets on FK."""
    obj = rigs.build(body_bones(), "Body")
    ops.limb_ik.add_limbs(armature="Body", motion='FK')
    obj.pose.bones[0].location.y += 5.0
    rigs.update()
    for one in bpy.context.view_layer.objects:
        one.select_set(False)
    bpy.context.view_layer.objects.active = obj
    return obj


def longest(obj: Any, tip: str, part: Part) -> float:
    """The longest distance between two points of one kind of shape."""
    found = overlay_chain.of_chain(obj, tip)[0]
    points = [point for shape in found if shape.part == part for point in shape.lines]
    return max(((a - b).length for a in points for b in points), default=0.0)


def test_offsets_draw_no_line_across_the_screen(walked_away: Any) -> None:
    target = walked_away.pose.bones["shin.L"].limb_ik_target
    limb = longest(walked_away, "shin.L", Part.LIMB)
    assert longest(walked_away, "shin.L", Part.LINE) <= limb
    assert longest(walked_away, "shin.L", Part.POLE) == 0.0
    target.select_set(True)
    assert longest(walked_away, "shin.L", Part.LINE) > 4.0, "selected, it shows which limb it moves"


def test_an_offset_shows_how_far_it_was_moved(walked_away: Any) -> None:
    """At the target and at the end of the limb the same way, from where it was."""
    bone = walked_away.pose.bones["shin.L"]
    fk = Vector(walked_away.matrix_world @ walked_away.pose.bones["foot.L"].head)
    bone.limb_ik_target.location.z += 0.2
    rigs.update()
    ways = [shape.lines for shape in overlay_chain.of_chain(walked_away, "shin.L")[0] if shape.part == Part.LINE][1:]
    start = bone.limb_ik_target.matrix_world.translation - Vector((0, 0, 0.2))
    assert sorted((way[0] - at).length < EXACT for way in ways for at in (fk, start)) == [False, False, True, True]
    assert all(0.15 < (way[-1] - way[0]).length <= 0.2 + EXACT for way in ways)


def test_an_offset_of_less_than_full_weight_is_shown_at_its_target_alone(walked_away: Any) -> None:
    """The end is then somewhere between: a line there would say something else."""
    bone = walked_away.pose.bones["shin.L"]
    bone.limb_ik_target.location.z += 0.2
    bone.limb_ik_weight = 0.5
    rigs.update()
    ways = [shape.lines for shape in overlay_chain.of_chain(walked_away, "shin.L")[0] if shape.part == Part.LINE][1:]
    now = bone.limb_ik_target.matrix_world.translation
    assert [(way[0] - (now - Vector((0, 0, 0.2)))).length < EXACT for way in ways] == [True]


def test_an_offset_out_of_reach_is_said_and_shown(walked_away: Any) -> None:
    bone = walked_away.pose.bones["shin.L"]
    fk = Vector(walked_away.matrix_world @ walked_away.pose.bones["foot.L"].head)
    bone.limb_ik_target.location.z -= 0.3
    rigs.update()
    found, notes = overlay_chain.of_chain(walked_away, "shin.L")
    missed = next(shape for shape in found if shape.part == Part.MISSED)
    assert (missed.lines[1] - (fk - Vector((0, 0, 0.3)))).length < 1e-4
    assert (missed.lines[0] - missed.lines[1]).length == pytest.approx(notes[0].length, abs=1e-4)


def test_limits_only_where_they_bind(body: Any) -> None:
    knee = body.pose.bones["shin.L"]
    knee.limb_ik_joint_kind = 'HINGE'
    rigs.update()
    assert Part.LIMIT in parts(body, "shin.L")
    knee.limb_ik_use_limits = False
    rigs.update()
    assert Part.LIMIT not in parts(body, "shin.L")


def test_the_bone_at_its_stop_lies_on_the_end_of_the_arc(body: Any) -> None:
    """The arc means what the solver means: at the largest angle the shin points along its last spoke."""
    knee = body.pose.bones["shin.L"]
    knee.limb_ik_joint_kind, knee.limb_ik_joint_min_angle, knee.limb_ik_joint_max_angle = 'HINGE', 0.0, 0.5
    for sign in (1.0, -1.0):
        knee.limb_ik_joint_hinge_axis = (sign, 0.0, 0.0)
        knee.limb_ik_target.location.z = 0.6
        rigs.update()
        if knee.limb_ik_status == 'LIMITED':
            break
    fan = next(shape for shape in overlay_chain.of_chain(body, "shin.L")[0] if shape.part == Part.LIMIT)
    centre, ends = fan.lines[0], (fan.lines[1], fan.lines[-2])
    shin = (body.pose.bones["foot.L"].head - knee.head).normalized()
    assert knee.limb_ik_status == 'LIMITED'
    assert min(shin.angle((end - centre).normalized()) for end in ends) < 1e-3  # angle() near 0 in float32


angles = st.floats(-3.0, 3.0)


@given(least=angles, size=st.floats(0.0, 6.0))
def test_an_arc_keeps_its_radius_and_its_ends(least: float, size: float) -> None:
    rim = shapes.arc(Vector((1, 2, 3)), Vector((0, 0, 1)), Vector((0.5, 0, 0)), least, least + size)
    assert all(abs((point - Vector((1, 2, 3))).length - 0.5) < EXACT for point in rim)
    assert (rim[0] - Vector((1 + 0.5 * math.cos(least), 2 + 0.5 * math.sin(least), 3))).length < EXACT


@given(x=st.floats(0.1, 1.4), z=st.floats(0.1, 1.4))
def test_the_rim_of_swing_limits_lies_on_their_planes(x: float, z: float) -> None:
    """swing_x = atan2(z, y), swing_z = atan2(-x, y): on each point of the rim one of them is at its bound."""
    joint = JointLimits(JointKind.BALL, swing_x_min=-x, swing_x_max=x, swing_z_min=-z, swing_z_max=z)
    rim = shapes.limits(Matrix.Identity(4), Vector((0, 1, 0)), joint, 1.0)[0].lines
    for point in (one for one in rim if one.length > 0.5):
        swing_x, swing_z = math.atan2(point.z, point.y), math.atan2(-point.x, point.y)
        assert min(abs(abs(swing_x) - x), abs(abs(swing_z) - z)) < EXACT
        assert abs(swing_x) < x + EXACT and abs(swing_z) < z + EXACT


def test_free_bounds_are_not_drawn() -> None:
    assert shapes.limits(Matrix.Identity(4), Vector((0, 1, 0)), JointLimits(JointKind.BALL), 1.0) == []
    assert shapes.limits(Matrix.Identity(4), Vector((0, 1, 0)), JointLimits(), 1.0) == []


def test_dashes_stay_on_their_line_and_are_bounded() -> None:
    points = shapes.dashed(Vector(), Vector((0, 0, 1)), 1e-6)
    assert len(points) == 400
    assert shapes.dashed(Vector(), Vector(), 0.1) == ()


def test_a_crowd_is_not_walked(body: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A redraw asks the rigs that the selection names, whatever else is in the file."""
    for number in range(3):
        rigs.build(body_bones(), f"Other {number}")
        ops.limb_ik.add_limbs(armature=f"Other {number}")
    rigs.update()
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == body)
    bpy.context.view_layer.objects.active = body
    asked = []
    monkeypatch.setattr(overlay_chain.active, "tip_names", lambda obj: asked.append(obj.name) or [])
    chosen()
    assert set(asked) == {"Body"}
