"""Limbs read from F-curves say what Blender evaluates frame by frame; where curves aren't all, they aren't read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
import pytest
from limb_ik.bake import curve_motion, reading_together
from limb_ik.bake.baking import read_part
from limb_ik.bake.limb_frames import FrameReader
from limb_ik.bake.options import BakeOptions
from limb_ik.rig import compat
from mathutils import Quaternion

import rigs

pytestmark = pytest.mark.usefixtures("blank")

# Blender's evaluated matrices are 32-bit floats, those from curves are not; the joints of a straight limb feel it most.
SAME = 5e-6
Scene = tuple[bpy.types.Object, bpy.types.Object, bpy.types.Object]


def keyed_limb(mode: str = "QUATERNION", **settings: Any) -> Scene:
    """A limb with a twist bone below a keyed root, its target and pole; everything moves."""
    bones = rigs.with_root([replace(bone, connected=bone.name == "hand") for bone in rigs.RIGS["L2B"]])
    twist = rigs.BoneSpec("twist", (0, 0.3, 0.4), (0, 0.6, 0.8), "up")
    bones = [replace(bone, parent="twist") if bone.name == "lo" else bone for bone in bones]
    obj = rigs.build([*bones[:2], twist, *bones[2:]], location=(0.3, -0.2, 0.1), rotation=(0.1, 0.2, 0.3))
    target, pole = rigs.empty("T", (0.5, -0.5, 1.1), parent=obj), rigs.empty("P", (0, 3, 0.8))
    for number, name in enumerate(("root", "up", "twist", "lo", "hand")):
        bone = rigs.bone(obj, name)
        bone.rotation_mode = mode
        for frame, angle in ((1, 0.1), (13, 0.5 - 0.1 * number), (40, -0.3)):
            rigs.key_rotation(bone, frame, Quaternion((0.6, 0.8 * (number % 2), 0.3), angle), "BEZIER")
            bone.location = (0.01 * angle, 0.02, 0.03 * frame / 40)
            bone.keyframe_insert("location", frame=frame)
    for frame in (1, 17, 40):
        rigs.key_location(target, frame, (0.5 - 0.01 * frame, -0.5, 1.1), "BEZIER")
        rigs.key_location(obj, frame, (0.3, 0.02 * frame, 0.1), "BEZIER")
    rigs.add_chain_by_properties(
        obj, "lo", target, pole, chain_length=3, end_bone="hand", end_rotation="TARGET", **settings
    )
    return obj, target, pole


def angles(obj: bpy.types.Object, first: float, last: float, step: int = 1) -> np.ndarray[Any, Any]:
    part = read_part(bpy.context, [obj], BakeOptions(first, last, step=step), 1, 1)
    return np.array([part.readings[frame][0].turns for frame in sorted(part.readings)])


def both_ways(
    obj: bpy.types.Object, monkeypatch: pytest.MonkeyPatch, first: float = -5, last: float = 45, step: int = 1
) -> tuple[bool, float]:
    """Whether curves were read, and how far the two ways are apart (quaternion components)."""
    visited: list[float] = []
    own = FrameReader.read

    def counted(self: Any, depsgraph: Any, frame: float) -> Any:
        visited.append(frame)
        return own(self, depsgraph, frame)

    with monkeypatch.context() as patched:
        patched.setattr(FrameReader, "read", counted)
        found = angles(obj, first, last, step)
    with monkeypatch.context() as patched:
        patched.setattr(reading_together, "_may_read_curves", lambda *_: False)
        expected = angles(obj, first, last, step)
    signs = np.sign((found * expected).sum(axis=-1, keepdims=True))
    return len(visited) == reading_together.CHECKS, float(np.abs(found - signs * expected).max())


@pytest.mark.parametrize("space", ["WORLD", "FK"])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE"])
def test_every_rotation_mode(mode: str, space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    obj, _, _ = keyed_limb(mode, target_space=space)
    is_read, apart = both_ways(obj, monkeypatch)
    assert is_read
    assert apart <= SAME


def _cycled(obj: bpy.types.Object, *_: Any) -> None:
    for curve in rigs.curves(obj):
        curve.modifiers.new('CYCLES')


def _extrapolated(obj: bpy.types.Object, *_: Any) -> None:
    for curve in rigs.curves(obj):
        curve.extrapolation = 'LINEAR'


def _muted(obj: bpy.types.Object, *_: Any) -> None:
    curves = rigs.curves(obj)
    for curve in curves[::3]:
        curve.mute = True


def _muted_group(obj: bpy.types.Object, *_: Any) -> None:
    """A muted group plays on where the action is alone from 4.4 on, and does not before."""
    for frame, height in ((1, 0.0), (40, 0.5)):
        rigs.bone(obj, "root").scale.z = 1.0 + height
        rigs.bone(obj, "root").keyframe_insert("scale", frame=frame, group="Sizes")
    next(curve.group for curve in rigs.curves(obj) if curve.data_path.endswith("scale")).mute = True


def _keyed_size(obj: bpy.types.Object, *_: Any) -> None:
    for frame, size in ((1, 1.0), (30, 1.4)):
        rigs.bone(obj, "root").scale = (size, size, size)
        rigs.bone(obj, "root").keyframe_insert("scale", frame=frame)
        obj.scale = (2 - size, 2 - size, 2 - size)
        obj.keyframe_insert("scale", frame=frame)


def _below_parents(obj: bpy.types.Object, target: bpy.types.Object, pole: bpy.types.Object) -> None:
    above = rigs.empty("Above", (0.5, 0.2, -0.3), rotation=[math.radians(a) for a in (20, 30, 40)])
    above.scale, above.rotation_mode = (0.01, 0.01, 0.01), 'ZYX'
    above.keyframe_insert("rotation_euler", frame=1)
    above.rotation_euler.x += 1.0
    above.keyframe_insert("rotation_euler", frame=40)
    for one in (obj, pole):
        one.parent = above
        one.matrix_parent_inverse = above.matrix_world.inverted()
    for one in (obj, target, above):
        one.delta_location, one.delta_scale = (0.1, 0.2, 0.3), (1.1, 1.1, 1.1)
        one.delta_rotation_euler = (0.2, 0.1, 0)


def _turning_target(_: Any, target: bpy.types.Object, pole: bpy.types.Object) -> None:
    target.rotation_mode, pole.rotation_mode = 'AXIS_ANGLE', 'QUATERNION'
    target.delta_rotation_euler = (0.5, 0, 0)  # in use in other modes alone
    pole.delta_rotation_quaternion = (0.9, 0.1, 0.4, 0)
    for frame, angle in ((1, 0.2), (40, 2.0)):
        target.rotation_axis_angle = (angle, 0.2, 0.9, 0.4)
        target.keyframe_insert("rotation_axis_angle", frame=frame)


def _keys_on_every_frame(obj: bpy.types.Object, *_: Any) -> None:
    for curve in rigs.curves(obj):
        for frame in range(-10, 60):
            curve.keyframe_points.insert(frame, curve.evaluate(frame), options={'FAST'})
        curve.update()


def _names_with_quotes(obj: bpy.types.Object, *_: Any) -> None:
    rigs.bone(obj, "root").name = 'the "root" \\ 根'


KINDS: list[Callable[..., None]] = [
    _cycled,
    _extrapolated,
    _muted,
    _muted_group,
    _keyed_size,
    _below_parents,
    _turning_target,
    _keys_on_every_frame,
    _names_with_quotes,
]


@pytest.mark.parametrize("change", KINDS)
def test_every_kind_of_curve_and_parent(change: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    scene = keyed_limb()
    change(*scene)
    rigs.update()
    is_read, apart = both_ways(scene[0], monkeypatch)
    assert is_read
    assert apart <= SAME


def test_frames_between_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    obj, _, _ = keyed_limb()
    is_read, apart = both_ways(obj, monkeypatch, first=0.3, last=20.3)
    assert is_read
    assert apart <= SAME


def _driven(obj: bpy.types.Object, *_: Any) -> None:
    obj.driver_remove(f'pose.bones["root"].{rigs.rotation_path(rigs.bone(obj, "root"))}')
    driver: Any = rigs.bone(obj, "root").driver_add("rotation_quaternion", 1)
    driver.driver.expression = "frame / 100"


def _constrained(obj: bpy.types.Object, target: bpy.types.Object, _: Any) -> None:
    constraint: Any = rigs.bone(obj, "root").constraints.new('COPY_ROTATION')
    constraint.target = target


def _in_a_strip(obj: bpy.types.Object, *_: Any) -> None:
    animation: Any = obj.animation_data
    strip = animation.nla_tracks.new().strips.new("Strip", 10, animation.action)
    if compat.HAS_SLOTS:
        strip.action_slot = animation.action_slot
    animation.action = None


def _keeps_its_size(obj: bpy.types.Object, *_: Any) -> None:
    rigs.armature_of(obj).bones["up"].parent.inherit_scale = 'ALIGNED'


def _driven_target(_: Any, target: bpy.types.Object, __: Any) -> None:
    driver: Any = target.driver_add("delta_location", 0)
    driver.driver.expression = "frame / 100"


def _held_target(_: Any, target: bpy.types.Object, pole: bpy.types.Object) -> None:
    constraint: Any = target.constraints.new('COPY_LOCATION')
    constraint.target = pole


def _keyed_delta(_: Any, target: bpy.types.Object, __: Any) -> None:
    target.keyframe_insert("delta_location", frame=1)


def _keyed_weight(obj: bpy.types.Object, *_: Any) -> None:
    rigs.key_setting(rigs.bone(obj, "lo"), "weight", 1, 0.0)
    rigs.key_setting(rigs.bone(obj, "lo"), "weight", 30, 1.0)


def _keyed_rest(obj: bpy.types.Object, *_: Any) -> None:
    obj.data.keyframe_insert("pose_position", frame=1)


def _stretched_time(*_: Any) -> None:
    bpy.context.scene.render.frame_map_new = 200


OTHERS: list[Callable[..., None]] = [
    _driven,
    _constrained,
    _in_a_strip,
    _keeps_its_size,
    _driven_target,
    _held_target,
    _keyed_delta,
    _keyed_weight,
    _keyed_rest,
    _stretched_time,
]


@pytest.mark.parametrize("change", OTHERS)
def test_curves_are_not_read_where_something_else_moves_the_rig(
    change: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = keyed_limb()
    change(*scene)
    rigs.update()
    is_read, apart = both_ways(scene[0], monkeypatch)
    assert not is_read
    assert apart <= SAME


def test_curves_that_do_not_say_what_blender_evaluates_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a coming Blender or a rig does that is not thought of here."""
    obj, _, _ = keyed_limb()
    expected = angles(obj, 1, 30)
    own = curve_motion.curve_values
    with monkeypatch.context() as patched:
        patched.setattr(curve_motion, "curve_values", lambda curve, frames: own(curve, frames) + 0.01 * (frames > 20))
        found = angles(obj, 1, 30)
    assert np.abs(found - expected).max() <= SAME


def test_what_has_no_curve_is_read_as_fk() -> None:
    """Bones without keys hold FK while the curves are read, though IK shows."""
    obj, _, _ = keyed_limb()
    for curve in list(rigs.curves(obj)):
        if '"up"' in curve.data_path or '"lo"' in curve.data_path:
            compat.remove_fcurve(obj, curve)
    rigs.turn(obj, "lo", "X", 0.4)
    rigs.update()
    assert rigs.bone(obj, "lo").limb_ik_status == "REACHED"
    for frame in range(1, 31):
        rigs.frame_set(frame)
    rigs.frame_set(1)
    found = angles(obj, 1, 30)
    assert np.abs(found[14] - found[0]).max() > 0.01  # it moves
    for frame in (1, 15, 30):
        rigs.frame_set(frame)
        seen = rigs.local_rotations(obj)
        for column, name in enumerate(("up", "lo", "hand")):
            assert rigs.rotation_distance(seen[name], Quaternion(found[frame - 1, column])) <= 1e-5
