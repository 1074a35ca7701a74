"""Rigs that stay, evaluated in other places than on the screen: other view layers, other scenes, renders."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler

import played
import renders
import rigs
from played import OFF, ON, ONE_BY_ONE, TOGETHER, Shown

SAME = 1e-6
"""Of numbers in matrices and rotations."""

pytestmark = pytest.mark.usefixtures("extension")


def limb(number: int) -> Any:
    arm = rigs.rig("L2B", f"Rig{number}", root=True, location=(0.9 * number, 0.0, 0.0))
    target = rigs.empty(f"T{number}")
    for frame, place in ((1, (0.6, -0.4, 1.2)), (played.FRAMES, (-0.5, 0.6, 1.1))):
        rigs.key_location(target, frame, (place[0] + 0.9 * number, *place[1:]))
        rigs.key_rotation(arm.pose.bones["root"], frame, Euler((place[1], 0.0, place[0])).to_quaternion())
    rigs.add_chain_by_properties(arm, "lo", target, end_bone="hand", end_rotation='KEEP_FK', weight=0.7)
    for name, turn in (("up", 0.4), ("lo", -0.3), ("hand", 0.2)):
        rigs.write_rotation(arm.pose.bones[name], Euler((turn, 0.5 * turn, -turn)).to_quaternion())
    return arm


def two_limbs() -> None:
    played.clear()
    for number in range(2):
        limb(number)
    rigs.update()


def in_two_view_layers(shown: Shown) -> None:
    """One layer lacks a rig, which another frame of the other layer has."""
    two_limbs()
    scene: Any = bpy.context.scene
    away = bpy.data.collections.new("Away")
    scene.collection.children.link(away)
    scene.collection.objects.unlink(bpy.data.objects["Rig1"])
    away.objects.link(bpy.data.objects["Rig1"])
    other = scene.view_layers.new("Other")
    other.layer_collection.children["Away"].exclude = True
    for frame in (1.0, 2.0, *played.walk(3)):
        played.go(shown, [frame])
        shown.look(other.depsgraph, ["Rig0"])


def in_two_scenes(shown: Shown) -> None:
    """The same rigs at other frames in turn."""
    two_limbs()
    other = bpy.data.scenes.new("Other")
    for obj in bpy.context.scene.objects:
        other.collection.objects.link(obj)
    for number, frame in enumerate((1.0, 2.0, *played.walk(4))):
        played.go(shown, [frame])
        if number % 3 == 2:
            other.frame_set(played.FRAMES - int(frame))
            shown.look(other.view_layers[0].depsgraph)


@pytest.mark.parametrize("fewest", [TOGETHER, ONE_BY_ONE], ids=["together", "one by one"])
@pytest.mark.parametrize("scene", [in_two_view_layers, in_two_scenes])
def test_other_view_layers_and_scenes_show_what_they_did(
    scene: Any, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = played.played(monkeypatch, OFF, fewest, scene)
    found = played.played(monkeypatch, ON, fewest, scene)
    assert max(found.stayed) == 2
    assert found.apart(expected) <= SAME


def rendered(shown: Shown, folder: Path) -> None:
    """Pixels of frames with motion blur, rendered from a frame that the screen shows; and what it shows then."""
    two_limbs()
    for name in ("Rig0", "Rig1"):
        renders.hang_cube(bpy.data.objects[name], "hand")
    scene: Any = bpy.context.scene
    renders.small_picture(scene, folder, samples=8)
    scene.render.threads_mode, scene.render.threads = "FIXED", 1
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 0.5
    scene.frame_start, scene.frame_end = 2, 3
    rigs.update()
    played.go(shown, (7.0, 8.0))
    bpy.ops.render.render(animation=True)
    for frame in (2, 3):
        image = bpy.data.images.load(str(folder / f"f{frame:04}.png"))
        shown.numbers.append(np.array(image.pixels[:]))
        bpy.data.images.remove(image)
    rigs.update()
    shown.look()
    played.go(shown, (9.0, 10.0))


@pytest.mark.parametrize("fewest", [TOGETHER, ONE_BY_ONE], ids=["together", "one by one"])
def test_renders_with_motion_blur_show_what_they_did(
    fewest: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = played.played(monkeypatch, OFF, fewest, partial(rendered, folder=tmp_path))
    found = played.played(monkeypatch, ON, fewest, partial(rendered, folder=tmp_path))
    assert found.stayed[1] == 2
    assert found.apart(expected) <= SAME
    pictures = [one for one in found.numbers if one.size == renders.SIZE**2 * 4]
    assert np.abs(pictures[0] - pictures[1]).max() > 0.05
