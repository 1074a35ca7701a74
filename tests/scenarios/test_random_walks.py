"""Random walks over what a person does, with what must hold after every step.

Whatever the order: the pose is finite, quaternions are unit length, the end is where it should be, FK can be
told from IK, there is one handler of each kind.
"""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from limb_ik.rig import fk_pose

import rigs

pytestmark = pytest.mark.usefixtures("extension")

Step = Callable[["Walk"], None]
HANDLERS = ("frame_change_pre", "frame_change_post", "depsgraph_update_post", "load_post", "undo_post", "redo_post")


class Walk:
    """A rig with a chain, and the FK that a person gave its bones as far as it is known."""

    def __init__(self, seed: int) -> None:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        self.random = random.Random(seed)
        rigs.legp(name="Rig")
        rigs.empty("T", (0.15, -0.25, 0.35))
        rigs.empty("P", (0.1, -1.5, 0.6))
        rigs.add_chain_by_properties(self.obj, "shin", bpy.data.objects["T"], bpy.data.objects["P"], end_bone="foot")
        self.fk: dict[str, float] = {"thigh": 0.0}
        self.is_keyed = False
        rigs.update()
        bpy.ops.ed.undo_push(message="Begin")

    @property
    def obj(self) -> bpy.types.Object:
        return bpy.data.objects["Rig"]

    @property
    def tip(self) -> Any:
        return rigs.bone(self.obj, "shin")


def pose_by_hand(walk: Walk) -> None:
    walk.fk["thigh"] = walk.random.uniform(-0.5, 0.5)
    rigs.turn(walk.obj, "thigh", "X", walk.fk["thigh"])


def key(walk: Walk) -> None:
    frame = bpy.context.scene.frame_current
    for name in ("thigh", "shin"):
        rigs.key_rotation(rigs.bone(walk.obj, name), frame)
    walk.is_keyed = True
    walk.fk.clear()  # other frames have other keys; FK is checked by muting in `fk_shows`


def unkey(walk: Walk) -> None:
    walk.obj.animation_data and setattr(walk.obj.animation_data, "action", None)
    walk.is_keyed = False
    walk.fk.clear()


def move_target(walk: Walk) -> None:
    target = bpy.data.objects.get("T")
    if target is not None:
        target.location = [walk.random.uniform(a, b) for a, b in ((0, 0.3), (-0.4, 0.2), (0.2, 0.5))]


def change_frame(walk: Walk) -> None:
    rigs.frame_set(walk.random.randint(1, 40))


def weigh(walk: Walk) -> None:
    walk.tip.limb_ik_weight = walk.random.choice([0.0, 0.3, 1.0])


def toggle(walk: Walk) -> None:
    walk.tip.limb_ik_use_ik = not walk.tip.limb_ik_use_ik


def mute(walk: Walk) -> None:
    walk.tip.limb_ik_mute = not walk.tip.limb_ik_mute


def remove_and_add(walk: Walk) -> None:
    walk.tip.limb_ik_solver = "NONE"
    rigs.update()
    walk.tip.limb_ik_solver = "TWO_BONE"


def rename(walk: Walk) -> None:
    bone = walk.obj.data.bones["toe"]
    bone.name = "toes"
    rigs.update()
    bone.name = "toe"


def change_mode(walk: Walk) -> None:
    rigs.bone(walk.obj, "thigh").rotation_mode = walk.random.choice(["QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE"])


def undo(walk: Walk) -> None:
    if bpy.ops.ed.undo.poll():
        bpy.ops.ed.undo()
    walk.fk.clear()


def redo(walk: Walk) -> None:
    if bpy.ops.ed.redo.poll():
        bpy.ops.ed.redo()
    walk.fk.clear()


def save_and_load(walk: Walk) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "walk.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
    bpy.ops.ed.undo_push(message="Loaded")


def live(walk: Walk) -> None:
    walk.obj.limb_ik.is_live = not walk.obj.limb_ik.is_live


STEPS: list[Step] = [
    pose_by_hand, key, unkey, move_target, change_frame, weigh, toggle, mute, remove_and_add, rename, change_mode, undo,
    redo, save_and_load, live,
]  # fmt: skip


def check(walk: Walk, step: Step) -> None:
    obj, tip = walk.obj, walk.tip
    for bone in rigs.evaluated(obj).pose.bones:
        assert all(math.isfinite(value) for row in bone.matrix for value in row), step.__name__
    for name in HANDLERS:
        ours = [one for one in getattr(bpy.app.handlers, name) if one.__module__.startswith("limb_ik.")]
        assert len(ours) == 1, (step.__name__, name)
    is_full = tip.limb_ik_use_ik and not tip.limb_ik_mute and tip.limb_ik_weight == 1.0 and obj.limb_ik.is_live
    if is_full:
        assert tip.limb_ik_status in {"REACHED", "TOO_FAR", "TOO_NEAR"}, (step.__name__, tip.limb_ik_message)
    if tip.limb_ik_status == "REACHED" and is_full:
        assert rigs.tip_error(obj, "shin", bpy.data.objects["T"], "foot") <= 1e-5, step.__name__
    if "thigh" in walk.fk and not walk.is_keyed:
        assert fk_angle(walk) == pytest.approx(abs(walk.fk["thigh"]), abs=1e-4), step.__name__


def fk_angle(walk: Walk) -> float:
    """The angle that FK gives the thigh: what the bone holds, or what is kept for it while IK shows."""
    thigh = rigs.bone(walk.obj, "thigh")
    return rigs.rotation_distance(
        rigs.Quaternion((1, 0, 0, 0)), rigs.Quaternion(fk_pose.to_quat(fk_pose.fk_raw(thigh), thigh.rotation_mode))
    )


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6), st.lists(st.sampled_from(STEPS), min_size=4, max_size=14))
def test_whatever_the_order(seed: int, steps: list[Step]) -> None:
    walk = Walk(seed)
    for step in steps:
        step(walk)
        rigs.update()
        check(walk, step)
        if step not in (undo, redo, save_and_load):
            bpy.ops.ed.undo_push(message=step.__name__)
    walk.obj.limb_ik.is_live = True
    walk.tip.limb_ik_mute = True
    rigs.update()
    for bone in walk.obj.pose.bones:
        assert not fk_pose.has_store(bone)
