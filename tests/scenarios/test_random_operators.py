"""Operators in any order, on two bodies: done or refused in one sentence, and a whole scene after every step.

``LIMB_IK_SOAK=125`` walks 1,000 ways instead of 8, ``LIMB_IK_SEED=5000`` others than from seed 0.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest

import body
import rigs

pytestmark = pytest.mark.usefixtures("blank")

SOAK = int(os.environ.get("LIMB_IK_SOAK", "1"))
FIRST = int(os.environ.get("LIMB_IK_SEED", "0"))
WAYS, STEPS_EACH = 8, 12
HANDLERS = ("frame_change_pre", "frame_change_post", "depsgraph_update_post", "load_post", "undo_post", "redo_post")
OPERATORS: dict[str, tuple[dict[str, Any], ...]] = {
    "add_limbs": ({}, {"arms": False}, {"motion": 'KEYS'}, {"target_kind": 'BONE'}),
    "add_chain": ({}, {"solver": 'FABRIK', "chain_length": 3}, {"target_kind": 'BONE'}, {"chain_length": 99}),
    "remove_chain": ({}, {"remove_targets": False}),
    "bake": (
        {"frame_start": 1, "frame_end": 4},
        {"after": 'REMOVE'},
        {"after": 'KEEP'},
        {"reduce": 0.001},
        {"step": 3},
    ),
    "match_ik": ({}, {"use_range": True}),
    "match_fk": ({}, {"use_range": True}),
    "switch": ({"to": 'FK'}, {"to": 'IK'}, {"to": 'TOGGLE', "match": False}),
    "convert_constraints": ({},),
    "mirror_chain": ({},),
    "copy_setup": ({},),
    "select_controls": ({},),
    "take_limits": ({},),
}


class Walk:
    """One way through the operators, and what the dice say."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.dice, self.folder = random.Random(seed), folder
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rigs.build(body.body_bones())
        bpy.context.scene.frame_end = 6
        bpy.ops.ed.undo_push(message="Begin")

    def armature(self) -> Any:
        found = sorted((o for o in bpy.context.scene.objects if o.type == 'ARMATURE'), key=lambda o: o.name)
        return self.dice.choice(found) if found else None


def an_operator(walk: Walk) -> str:
    """One of ours, with any of its settings, named armature and tips or not."""
    name = walk.dice.choice(list(OPERATORS))
    settings = dict(walk.dice.choice(OPERATORS[name]))
    arm = walk.armature()
    operator = getattr(bpy.ops.limb_ik, name)
    known = operator.get_rna_type().properties.keys()
    if arm is not None and "armature" in known and walk.dice.random() < 0.7:
        settings["armature"] = arm.name
    if arm is not None and "tips" in known and walk.dice.random() < 0.4:
        settings["tips"] = walk.dice.choice([*arm.pose.bones.keys(), "no such bone"])
    said = ""
    try:
        if operator.poll():
            operator(**{key: value for key, value in settings.items() if key in known})
    except RuntimeError as refusal:  # what a report of an error becomes for scripts
        said = str(refusal)
    assert "Traceback" not in said, (name, settings, said)
    return f"{name} {settings} {said}"


def select_bones(walk: Walk) -> str:
    arm = walk.armature()
    if arm is None:
        return "nothing to select"
    bpy.context.view_layer.objects.active = arm
    names = arm.data.bones.keys()
    arm.data.bones.active = arm.data.bones[walk.dice.choice(names)]
    return f"active {arm.data.bones.active.name}"


def change_mode(walk: Walk) -> str:
    arm = walk.armature()
    mode = walk.dice.choice(('OBJECT', 'POSE', 'EDIT'))
    if arm is not None and arm.library is None and arm.override_library is None:
        if bpy.context.object and bpy.context.object.mode != 'OBJECT':
            bpy.ops.object.mode_set(mode='OBJECT')
        bpy.context.view_layer.objects.active = arm
        bpy.ops.object.mode_set(mode=mode)
    return mode


def pose_and_key(walk: Walk) -> str:
    arm = walk.armature()
    if arm is None or arm.mode == 'EDIT':
        return "no pose"
    name = walk.dice.choice(arm.pose.bones.keys())
    bone = rigs.turn(arm, name, "X", walk.dice.uniform(-0.5, 0.5))
    if walk.dice.random() < 0.5:
        bone.keyframe_insert(rigs.rotation_path(bone), frame=walk.dice.randint(1, 6))
    return f"turned {name}"


def native_ik(walk: Walk) -> str:
    arm = walk.armature()
    if arm is not None and arm.mode != 'EDIT':
        constraint = arm.pose.bones[walk.dice.choice(arm.pose.bones.keys())].constraints.new('IK')
        constraint.target, constraint.chain_count = rigs.empty("Native", (0.4, -0.3, 0.6)), walk.dice.choice((0, 2))
    return "native IK"


def second_body(walk: Walk) -> str:
    if len(bpy.data.armatures) < 3 and (bpy.context.object is None or bpy.context.object.mode == 'OBJECT'):
        rigs.build(body.body_bones())
    return "second body"


def frame(walk: Walk) -> str:
    rigs.frame_set(walk.dice.randint(-2, 8))
    return "frame"


def undo_or_redo(walk: Walk) -> str:
    chosen = walk.dice.choice((bpy.ops.ed.undo, bpy.ops.ed.redo))
    if chosen.poll():
        chosen()
    return "undo or redo"


def remove_an_object(walk: Walk) -> str:
    found = [o for o in bpy.data.objects if o.type == 'EMPTY']
    if found:
        bpy.data.objects.remove(walk.dice.choice(sorted(found, key=lambda o: o.name)))
    return "an empty removed"


def save_and_load(walk: Walk) -> str:
    path = str(walk.folder / "walk.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.ops.ed.undo_push(message="Loaded")
    return "saved and loaded"


def override(walk: Walk) -> str:
    """The armature so far comes back as a library override in an empty file."""
    path, arm = str(walk.folder / f"library{len(list(walk.folder.iterdir()))}.blend"), walk.armature()
    if arm is None or arm.override_library is not None:
        return "no override"
    name = arm.name
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = [name]
    linked = bpy.data.objects[name]
    bpy.context.scene.collection.objects.link(linked)
    linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    bpy.ops.ed.undo_push(message="Overridden")
    return "overridden"


STEPS: tuple[tuple[Callable[[Walk], str], int], ...] = (
    (an_operator, 12),
    (select_bones, 4),
    (change_mode, 2),
    (pose_and_key, 3),
    (frame, 2),
    (undo_or_redo, 2),
    (native_ik, 1),
    (second_body, 1),
    (remove_an_object, 1),
    (save_and_load, 1),
    (override, 1),
)


def check(said: tuple[str, str], way: list[str]) -> None:
    for obj in bpy.context.scene.objects:
        if obj.type == 'ARMATURE' and obj.mode != 'EDIT':
            shown = rigs.evaluated(obj).pose.bones
            assert all(math.isfinite(x) for bone in shown for row in bone.matrix for x in row), way
            assert all(isinstance(bone.limb_ik_message, str) for bone in obj.pose.bones), way
    for name in HANDLERS:
        ours = [one for one in getattr(bpy.app.handlers, name) if one.__module__.startswith("limb_ik.")]
        assert len(ours) == 1, (name, way)
    assert "Traceback" not in "".join(said), (way, said)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + WAYS * SOAK))
def test_operators_in_any_order(seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    walk, way = Walk(seed, tmp_path), []
    for _ in range(STEPS_EACH):
        (step,) = walk.dice.choices([one for one, _ in STEPS], [often for _, often in STEPS])
        way.append(step(walk))
        rigs.update()
        check(capfd.readouterr(), way)
        if step not in (undo_or_redo, save_and_load, override):
            bpy.ops.ed.undo_push(message=step.__name__)
