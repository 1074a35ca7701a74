"""What a person does with bodies and Limb IK, one step at a time, by the dice; nothing here decides what is right.

A step answers what it did, for the report of a failure.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

import body
import rigs

FRAMES = 6
SETTINGS: dict[str, tuple[Any, ...]] = {
    "weight": (0.0, 0.3, 1.0, 1.0),
    "use_ik": (True, False),
    "mute": (False, True),
    "solver": ('TWO_BONE', 'FABRIK', 'NONE'),
    "target_space": ('WORLD', 'FK'),
    "use_limits": (True, False),
    "softness": (0.0, 0.1),
    "pole_angle": (0.0, 1.0),
    "blend_time": (0.0, 0.15),
    "chain_length": (2, 3, 99),
}
MODES = ('QUATERNION', 'XYZ', 'ZYX', 'AXIS_ANGLE')
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
    "activate_chain": ({},),
    "take_limits": ({},),
    "detect_contacts": ({},),
    "plant": ({},),
    "ground": ({},),
}


class Walk:
    """One way through the steps: what the dice say, and a body that may have limbs and motion to begin with."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.dice, self.folder = random.Random(seed), folder
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        arm = rigs.build(body.body_bones())
        bpy.context.scene.frame_end = FRAMES
        begin = self.dice.choice(("bare", "limbs", "limbs", "moving"))
        if begin == "moving":
            self.give_motion(arm)
        if begin != "bare":
            bpy.ops.limb_ik.add_limbs(armature=arm.name, **self.dice.choice(OPERATORS["add_limbs"][:2]))
        rigs.update()
        bpy.ops.ed.undo_push(message="Begin")

    def give_motion(self, arm: Any) -> None:
        for name in ("hips", "thigh.L", "shin.R", "upper_arm.L", "forearm.R"):
            for frame in (1, FRAMES):
                rigs.key_rotation(rigs.turn(arm, name, "X", self.dice.uniform(-0.4, 0.4)), frame)

    def armature(self) -> Any:
        found = sorted((o for o in bpy.context.scene.objects if o.type == 'ARMATURE'), key=lambda o: o.name)
        return self.dice.choice(found) if found else None

    def posable(self) -> Any:
        """An armature whose bones can be posed, or None. A linked object takes keys from scripts alone.

        Such a key crashes the undo of Blender 4.5, without any extension.
        """
        arm = self.armature()
        return None if arm is None or arm.mode == 'EDIT' or arm.library is not None else arm

    def tip(self, arm: Any) -> Any:
        """A bone of the armature, most times one that has a chain."""
        bones = list(arm.pose.bones)
        tips = [bone for bone in bones if bone.limb_ik_solver != 'NONE']
        return self.dice.choice(tips if tips and self.dice.random() < 0.9 else bones)


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
        settings["tips"] = "no such bone" if walk.dice.random() < 0.1 else walk.tip(arm).name
    said = "done"
    try:
        if not operator.poll():
            said = "not offered"
        else:
            operator(**{key: value for key, value in settings.items() if key in known})
    except RuntimeError as refusal:  # what a report of an error becomes for scripts
        said = str(refusal)
    assert "Traceback" not in said, (name, settings, said)
    return f"{name} {settings} {said}"


def change_a_setting(walk: Walk) -> str:
    """One setting of a chain, keyed where it can be and the dice say so."""
    arm = walk.posable()
    if arm is None:
        return "no setting"
    tip, name = walk.tip(arm), walk.dice.choice(list(SETTINGS))
    setattr(tip, f"limb_ik_{name}", walk.dice.choice(SETTINGS[name]))
    said = f"{tip.name} {name} = {getattr(tip, f'limb_ik_{name}')}"
    if name in {"weight", "use_ik", "softness"} and walk.dice.random() < 0.4:
        tip.keyframe_insert(f"limb_ik_{name}", frame=walk.dice.randint(1, FRAMES))
        said += ", keyed"
    return said


def limit_a_joint(walk: Walk) -> str:
    arm = walk.posable()
    if arm is None:
        return "no joint"
    bone = walk.tip(arm)
    bone.limb_ik_joint_kind = walk.dice.choice(('FREE', 'HINGE', 'BALL'))
    bone.limb_ik_joint_min_angle, bone.limb_ik_joint_max_angle = walk.dice.choice(((-0.1, 2.5), (0.2, 0.2), (-3, 3)))
    bone.limb_ik_joint_swing_x_min = walk.dice.choice((-0.2, -3.0))
    return f"{bone.name} is a {bone.limb_ik_joint_kind}"


def change_rotation_mode(walk: Walk) -> str:
    arm = walk.posable()
    if arm is None:
        return "no mode"
    bone = walk.tip(arm)
    bone.rotation_mode = walk.dice.choice(MODES)
    return f"{bone.name} in {bone.rotation_mode}"


def move_a_target(walk: Walk) -> str:
    found = sorted((o for o in bpy.context.scene.objects if o.type == 'EMPTY'), key=lambda o: o.name)
    if not found:
        return "no target"
    target = walk.dice.choice(found)
    if target.library is not None:
        return "a linked target"
    target.location = [x + walk.dice.uniform(-0.3, 0.3) for x in target.location]
    if walk.dice.random() < 0.3:
        target.keyframe_insert("location", frame=walk.dice.randint(1, FRAMES))
    return f"{target.name} moved"


def select_bones(walk: Walk) -> str:
    arm = walk.armature()
    if arm is None:
        return "nothing to select"
    bpy.context.view_layer.objects.active = arm
    arm.data.bones.active = arm.data.bones[walk.dice.choice(arm.data.bones.keys())]
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


def edit_the_skeleton(walk: Walk) -> str:
    """A bone gone, rolled, renamed or loose; back in the mode before."""
    arm = walk.posable()
    if arm is None or arm.override_library is not None:
        return "no edit"
    if bpy.context.object and bpy.context.object.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    bpy.context.view_layer.objects.active = arm
    bpy.ops.object.mode_set(mode='EDIT')
    bone = arm.data.edit_bones[walk.dice.choice(arm.data.edit_bones.keys())]
    said, name = walk.dice.choice(("gone", "rolled", "renamed", "loose")), bone.name
    if said == "gone" and len(arm.data.edit_bones) > 4:
        arm.data.edit_bones.remove(bone)
    elif said == "rolled":
        bone.roll += 1.0
    elif said == "renamed":
        bone.name += "_"
    elif said == "loose":
        bone.use_connect, bone.parent = False, None
    bpy.ops.object.mode_set(mode='OBJECT')
    return f"{name} {said}"


def move_the_armature(walk: Walk) -> str:
    arm = walk.posable()
    if arm is not None:
        arm.location.x += walk.dice.uniform(-1, 1)
        arm.rotation_euler.z += walk.dice.uniform(-1, 1)
        arm.scale = [walk.dice.choice((0.5, 1.0, 2.0))] * 3
    return "armature moved"


def duplicate(walk: Walk) -> str:
    arm = walk.posable()
    if arm is None or len(bpy.data.objects) > 40 or arm.override_library is not None:
        return "no copy"
    if bpy.context.object and bpy.context.object.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == arm or (obj.type == 'EMPTY' and walk.dice.random() < 0.5))
    bpy.context.view_layer.objects.active = arm
    bpy.ops.object.duplicate(linked=walk.dice.random() < 0.3)
    return f"copy of {arm.name}"


def pose_and_key(walk: Walk) -> str:
    arm = walk.posable()
    if arm is None:
        return "no pose"
    name = walk.dice.choice(arm.pose.bones.keys())
    bone = rigs.turn(arm, name, "X", walk.dice.uniform(-0.5, 0.5))
    if walk.dice.random() < 0.5:
        bone.keyframe_insert(rigs.rotation_path(bone), frame=walk.dice.randint(1, FRAMES))
    return f"turned {name}"


def native_ik(walk: Walk) -> str:
    arm = walk.posable()
    if arm is not None:
        constraint = arm.pose.bones[walk.dice.choice(arm.pose.bones.keys())].constraints.new('IK')
        constraint.target, constraint.chain_count = rigs.empty("Native", (0.4, -0.3, 0.6)), walk.dice.choice((0, 2))
    return "native IK"


def second_body(walk: Walk) -> str:
    if len(bpy.data.armatures) < 3 and (bpy.context.object is None or bpy.context.object.mode == 'OBJECT'):
        rigs.build(body.body_bones(), location=(3, 0, 0))
    return "second body"


def frame(walk: Walk) -> str:
    rigs.frame_set(walk.dice.randint(-2, FRAMES + 2))
    return f"frame {bpy.context.scene.frame_current}"


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


HISTORY = (undo_or_redo, save_and_load, override)
"""Steps that leave an undo step of their own, or none."""
STEPS: tuple[tuple[Callable[[Walk], str], int], ...] = (
    (an_operator, 12),
    (change_a_setting, 4),
    (move_a_target, 3),
    (select_bones, 3),
    (pose_and_key, 3),
    (frame, 2),
    (undo_or_redo, 2),
    (limit_a_joint, 1),
    (change_rotation_mode, 1),
    (change_mode, 1),
    (edit_the_skeleton, 1),
    (move_the_armature, 1),
    (duplicate, 1),
    (native_ik, 1),
    (second_body, 1),
    (remove_an_object, 1),
    (save_and_load, 1),
    (override, 1),
)
"""What is done, and how often against the others."""


def step(walk: Walk) -> tuple[Callable[[Walk], str], str]:
    """The next thing that the dice say, done."""
    (chosen,) = walk.dice.choices([one for one, _ in STEPS], [often for _, often in STEPS])
    return chosen, f"{chosen.__name__}: {chosen(walk)}"


Poses = dict[str, dict[str, rigs.BonePose]]


def poses() -> Poses:
    """Every armature's evaluated pose, by name, but those with constraints.

    Native IK chains that share bones show another pose after a frame change than after an edit, and an override
    can lose a constraint's target at undo, without any extension.
    """
    found = [o for o in bpy.context.scene.objects if o.type == 'ARMATURE' and o.library is None]
    shown = [o for o in found if not any(bone.constraints for bone in o.pose.bones)]
    return {obj.name: rigs.evaluated_pose(obj) for obj in shown}


def apart(before: Poses, now: Poses) -> float:
    """The largest angle between the same bones (radians); infinite where armatures are missing."""
    if before.keys() != now.keys():
        return math.inf
    return max((rigs.pose_distance(before[name], now[name]) for name in before if before[name]), default=0.0)
