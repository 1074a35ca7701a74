"""Whatever a script edits between frames: a saved copy, opened, shows the same at once, and again at that frame."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import pytest
from mathutils import Quaternion

import played
import rigs
from played import Shown

pytestmark = pytest.mark.usefixtures("blank")

RIGS = 7
"""Enough that plain limbs are solved together."""
SAME = 2e-4
"""Of matrices and rotations, singles after twenty edits and frames; what is wrong is so by centimetres."""


class Crowd:
    """Limbs with moving targets, some with keyed FK, some with targets that are children of a rig; and the dice."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.rigs = [self._limb(f"R{number}", 3.0 * number) for number in range(RIGS)]
        rigs.update()

    def _limb(self, name: str, x: float) -> Any:
        arm = rigs.rig("L2B", name, root=True, location=(x, 0.0, 0.0))
        target, pole = rigs.empty(f"T {name}"), rigs.empty(f"P {name}", (x, 3.0, 0.8))
        place = 0.0 if self.dice.random() < 0.5 else x
        target.parent = None if place else arm
        for frame, at in ((1, (place + 0.6, -0.4, 1.2)), (played.FRAMES, (place - 0.5, -0.6, 1.1))):
            rigs.key_location(target, frame, at)
        if self.dice.random() < 0.5:
            for bone in ("up", "lo", "root"):
                for frame in (1, played.FRAMES):
                    self._key(arm, bone, frame)
        end = self.dice.choice(("", "hand"))
        rigs.add_chain_by_properties(arm, "lo", target, pole, end_bone=end, weight=self.dice.choice((0.6, 1.0)))
        return arm

    def _key(self, arm: Any, bone: str, frame: int) -> None:
        turn = Quaternion((self.dice.random(), self.dice.random(), 1.0), self.dice.uniform(-0.5, 0.5))
        rigs.key_rotation(rigs.bone(arm, bone), frame, turn)

    def rig(self) -> Any:
        return self.dice.choice(self.rigs)

    def tip(self) -> Any:
        return rigs.bone(self.rig(), "lo")

    def edit(self) -> None:
        """Something that a script would do, mostly without an update after it."""
        self.dice.choice(EDITS)(self)
        if self.dice.random() < 0.3:
            rigs.update()


def move(crowd: Crowd) -> None:
    arm, tip = crowd.rig(), crowd.tip()
    for obj in crowd.dice.sample((arm, tip.limb_ik_target, tip.limb_ik_pole), 2):
        obj.delta_location.y += crowd.dice.uniform(-0.2, 0.2)
        obj.delta_rotation_euler.x += crowd.dice.uniform(-0.2, 0.2)


def pose(crowd: Crowd) -> None:
    rigs.write_rotation(rigs.bone(crowd.rig(), "root"), Quaternion((0, 1, 0), crowd.dice.uniform(-0.5, 0.5)))


def key(crowd: Crowd) -> None:
    crowd._key(crowd.rig(), crowd.dice.choice(("root", "up", "lo")), crowd.dice.randint(1, played.FRAMES))


def mute_a_curve(crowd: Crowd) -> None:
    curves = [curve for arm in crowd.rigs if arm.animation_data for curve in rigs.curves(arm)]
    if curves:
        curve = crowd.dice.choice(curves)
        curve.mute = not curve.mute


def set_chain(crowd: Crowd) -> None:
    tip: Any = crowd.tip()
    name, value = crowd.dice.choice((
        ("weight", crowd.dice.choice((0.0, 0.3, 1.0))), ("mute", not tip.limb_ik_mute), ("softness", 0.1),
        ("use_ik", not tip.limb_ik_use_ik), ("pole_angle", 0.5), ("max_reach", 0.95),
    ))  # fmt: skip
    setattr(tip, f"limb_ik_{name}", value)
    if crowd.dice.random() < 0.4 and name in {"weight", "use_ik"}:
        tip.keyframe_insert(f"limb_ik_{name}", frame=crowd.dice.randint(1, played.FRAMES))


def switch_live(crowd: Crowd) -> None:
    arm = crowd.rig()
    arm.limb_ik.is_live = not arm.limb_ik.is_live


def constrain(crowd: Crowd) -> None:
    found = rigs.bone(crowd.rig(), crowd.dice.choice(("root", "lo"))).constraints
    if len(found):
        found.remove(found[0])
    else:
        made: Any = found.new('COPY_ROTATION')
        made.target, made.influence = crowd.tip().limb_ik_pole, 0.3  # hangs on no bone: what does is named, not exact


def hang_on_a_bone(crowd: Crowd) -> None:
    target = crowd.tip().limb_ik_target
    target.parent, target.parent_type, target.parent_bone = crowd.rigs[0], 'BONE', crowd.dice.choice(("root", "hand"))


def set_rotation_mode(crowd: Crowd) -> None:
    bone = rigs.bone(crowd.rig(), crowd.dice.choice(("root", "up", "lo", "hand")))
    bone.rotation_mode = crowd.dice.choice(('QUATERNION', 'XYZ', 'AXIS_ANGLE'))


def rename(crowd: Crowd) -> None:
    crowd.dice.choice((crowd.rig(), crowd.tip().limb_ik_target)).name = f"N{crowd.dice.randint(0, 999)}"


def unlink(crowd: Crowd) -> None:
    arm, scene = crowd.rig(), bpy.context.scene
    arm.use_fake_user = True
    if arm.name in scene.collection.objects:
        scene.collection.objects.unlink(arm)
    else:
        scene.collection.objects.link(arm)


def copy(crowd: Crowd) -> None:
    made = crowd.rig().copy()
    bpy.context.scene.collection.objects.link(made)
    crowd.rigs.append(made)


EDITS: list[Callable[[Crowd], None]] = [
    move, pose, key, mute_a_curve, set_chain, set_chain, switch_live, constrain, hang_on_a_bone, set_rotation_mode,
    rename, unlink, copy,
]  # fmt: skip


def seen() -> Shown:
    shown = Shown()
    shown.look()
    return shown


@pytest.mark.parametrize("seed", range(24))
def test_a_saved_copy_shows_what_was_shown(seed: int, tmp_path: Path) -> None:
    crowd = Crowd(seed)
    for frame in played.walk(seed, count=10):
        for _ in range(crowd.dice.randint(0, 2)):
            crowd.edit()
        rigs.frame_set(frame)
    shown = seen()
    path = tmp_path / "copy.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert seen().apart(shown) <= SAME
    rigs.frame_set(1.0 if frame != 1.0 else 2.0)
    rigs.frame_set(frame)
    assert seen().apart(shown) <= SAME


def test_opening_a_file_evaluates_the_animation_of_all_that_is_in_it(tmp_path: Path) -> None:
    """As Blender does alone: what was moved away from its keys goes back to them, and chains reach for it there."""
    arm, target, other = rigs.rig("L2B", root=True), rigs.empty("T"), rigs.empty("Other")
    for obj, places in ((target, ((0.6, -0.4, 1.2), (-0.5, -0.6, 1.1))), (other, ((1, 0, 0), (2, 0, 0)))):
        for frame, place in zip((1, played.FRAMES), places, strict=True):
            rigs.key_location(obj, frame, place)
    rigs.add_chain_by_properties(arm, "lo", target, rigs.empty("P", (0, 3, 0.8)))
    rigs.frame_set(5)
    shown = seen()
    keyed = [tuple(obj.location) for obj in (target, other)]
    target.location, other.location = (0.3, -0.5, 1.0), (7, 0, 0)
    path = tmp_path / "moved.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert [tuple(rigs.evaluated(bpy.data.objects[name]).location) for name in ("T", "Other")] == keyed
    assert seen().apart(shown) <= SAME
