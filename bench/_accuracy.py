"""How exact: tip error in the evaluated pose, pose change when limbs are added or matched; native IK beside."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from typing import Any

import _scenes
import bpy
import fabrik_accuracy
import limits_brute_force
from _report import Row
from limb_ik.bake.motion import add_limbs
from mathutils import Quaternion, Vector

MODES = ('QUATERNION', 'AXIS_ANGLE', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX')
SCALES = (1.0, 0.01, 100.0)
FRAMES = tuple(range(1, 251, 12))


def _random_limb(source: random.Random, mode: str, scale: float) -> tuple[Any, Any, Any, float]:
    """Armature of one limb under a random place, turn and scale; target within reach, pole well off; length (world)."""
    bend = Vector((0.0, source.uniform(0.05, 0.5), 1.0))
    length = bend.length + 1.0
    rows = [
        ("up", (0, 0, 0), tuple(bend), ""),
        ("lo", tuple(bend), tuple(bend + Vector((0, 0, 1))), "up"),
        ("hand", tuple(bend + Vector((0, 0, 1))), tuple(bend + Vector((0, 0, 1.2))), "lo"),
    ]
    obj = _scenes.armature("Limb", rows)
    obj.matrix_world = _scenes.random_matrix(source, scale, 3.0 * scale)
    for bone in obj.pose.bones:
        bone.rotation_mode = mode
        axis = Vector((source.gauss(0, 1), source.gauss(0, 1), source.gauss(0, 1))).normalized()
        turn = Quaternion(axis, source.uniform(0.0, 0.6))
        setattr(bone, *_raw(mode, turn))
    ends = []
    for low, high in ((0.3, 0.97), (0.8, 2.0)):
        direction = Vector((source.gauss(0, 1), source.gauss(0, 1), source.gauss(0, 1))).normalized()
        empty = bpy.data.objects.new("End", None)
        bpy.context.scene.collection.objects.link(empty)
        empty.location = obj.matrix_world @ (direction * length * source.uniform(low, high))
        ends.append(empty)
    return obj, ends[0], ends[1], length * scale


def _raw(mode: str, turn: Quaternion) -> tuple[str, Any]:
    if mode == 'QUATERNION':
        return "rotation_quaternion", turn
    if mode == 'AXIS_ANGLE':
        axis, angle = turn.to_axis_angle()
        return "rotation_axis_angle", (angle, *axis)
    return "rotation_euler", turn.to_euler(mode)


def _errors(seed: int, is_native: bool) -> list[float]:
    source, found = random.Random(seed), []
    for scale in SCALES:
        for mode in MODES:
            for _ in range(4):
                _scenes.reset()
                obj, target, pole, length = _random_limb(source, mode, scale)
                tip: Any = obj.pose.bones["lo"]
                if is_native:
                    constraint = tip.constraints.new('IK')
                    constraint.target, constraint.pole_target, constraint.chain_count = target, pole, 2
                else:
                    tip.limb_ik_end_bone, tip.limb_ik_target, tip.limb_ik_pole = "hand", target, pole
                    tip.limb_ik_solver = 'TWO_BONE'
                bpy.context.view_layer.update()
                end = _scenes.world_heads(obj)["hand"]
                found.append((end - _scenes.evaluated(target).matrix_world.translation).length / length)
    return found


def tip_error() -> list[Row]:
    native, ours = _errors(1, True), _errors(1, False)
    what = f"tip error / limb length, {len(MODES)} rotation modes x scales 0.01, 1, 100"
    return [
        Row(f"{what}: median", "length", statistics.median(native), statistics.median(ours), 1e-6),
        Row(f"{what}: largest", "length", max(native), max(ours), 1e-5),
    ]


def _poses(obj: Any) -> list[dict[str, Quaternion]]:
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append({bone.name: bone.matrix.to_quaternion() for bone in _scenes.evaluated(obj).pose.bones})
    return found


def _change(add: Callable[[Any], Any]) -> float:
    """Largest turn of any bone on any frame when limbs are added to a keyed character."""
    _scenes.reset()
    obj = _scenes.characters(1)[0].obj
    before = _poses(obj)
    add(obj)
    after = _poses(obj)
    return max(_angle(old[name], new[name]) for old, new in zip(before, after, strict=True) for name in old)


def _angle(a: Quaternion, b: Quaternion) -> float:
    apart = min((a - b).magnitude, (a + b).magnitude)
    return 4.0 * math.asin(min(1.0, 0.5 * apart))


def _native_at_rest(obj: Any) -> None:
    """Native IK as it comes, targets keyed on the hands and feet, poles where the elbows and knees point."""
    made = _scenes.Character(obj, [], [])
    for upper, lower, end in _scenes.limb_names():
        for name, bone, away in (("target", end, Vector()), ("pole", lower, Vector((0, 0.5, 0)))):
            empty = bpy.data.objects.new(name, None)
            bpy.context.scene.collection.objects.link(empty)
            (made.targets if name == "target" else made.poles).append(empty)
            for frame in FRAMES:
                bpy.context.scene.frame_set(frame)
                side = -away if upper.startswith("thigh") else away
                seen: Any = _scenes.evaluated(obj)
                empty.location = seen.matrix_world @ (seen.pose.bones[bone].head + side)
                empty.keyframe_insert("location", frame=frame)
    _scenes.add_native([made])


def pose_change() -> list[Row]:
    native = _change(_native_at_rest)
    live = _change(lambda obj: add_limbs(bpy.context, obj, motion='FK'))
    keyed = _change(lambda obj: add_limbs(bpy.context, obj, motion='KEYS'))
    return [
        Row("largest turn of a bone when four limbs are added to a keyed character: live", "rad", native, live, 1e-5),
        Row("the same through keys on targets and poles", "rad", native, keyed, 1e-4),
    ]


def fabrik() -> list[Row]:
    """Long chains: without limits exact, with limits mostly solved; the plain passes beside."""
    ours, plain = 0.0, 0.0
    for bones in (3, 6, 10):
        for reach in (0.2, 0.6, 0.99, 0.9999):
            ours = max(ours, fabrik_accuracy.worst_error(bones, reach, 3, fabrik_accuracy.solver_miss(10)))
            plain = max(plain, fabrik_accuracy.worst_error(bones, reach, 1, fabrik_accuracy.plain_miss(500)))
    what = "FABRIK, 3 to 10 bones, 20 to 99.99 % of reach, 10 iterations (plain: 500)"
    found = [Row(what, "length", plain, ours, 1e-6)]
    for iterations, goal in ((10, 95.0), (40, 99.0)):
        shares = [100.0 * _solved(own, iterations) for own in fabrik_accuracy.LIMITS.values()]
        what = f"FABRIK with limits, legal targets solved to 1e-4 in {iterations} iterations"
        found.append(Row(f"{what}: mean of {len(shares)}", "%", None, statistics.mean(shares), goal, is_least=True))
    return found


def _solved(own: Any, iterations: int, count: int = 40) -> float:
    rest = fabrik_accuracy.limited(fabrik_accuracy.straight(len(own)), own)
    poses = list(fabrik_accuracy.random_legal_poses(rest, count, 1))
    ends = list(fabrik_accuracy.random_legal_poses(rest, count, 2))
    return float(fabrik_accuracy.solve_limited(poses, ends, iterations)[0])


def limits() -> list[Row]:
    """Two bones under limits against brute force."""
    tallies = limits_brute_force.run(400, 1).values()
    cases = sum(tally.cases for tally in tallies)
    return [Row(f"two bones under limits, disagreements with brute force in {cases}", "", None,
                float(sum(tally.disagreements for tally in tallies)), 0.0)]  # fmt: skip
