"""The demo's scenes beside the walk: each solver on a figure, with a picture of what it does.

``limb-ik demo --scene reach|tail|look|horse``. Writes a .blend whose IK is live, and a picture, and fails where
a chain's end is off its target though nothing holds it back. Must not know how a scene is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..files.opening import save_file
from ..rig.session import current_scene, pose_bones
from . import horse, look, reach, tail
from .picture import Panel, Say, render_panels, silent
from .stage import MAX_ERROR, Scene, begin

SCENES: dict[str, Callable[[], Scene]] = {
    "reach": reach.build,
    "tail": tail.build,
    "look": look.build,
    "horse": horse.build,
}


def run(name: str, folder: Path, say: Say = silent) -> tuple[str, int]:
    """Makes a scene in a folder; ``say`` is told what is done.

    Returns:
        What was done, in words, and the exit status: 1 where an end missed a target that was within its reach.
    """
    begin(folder)
    say(f"{name}: making the scene")
    scene = SCENES[name]()
    current_scene().frame_end = scene.last_frame
    say(f"{name}: measuring how exact it is")
    lines, status = _measured(scene)
    current_scene().frame_set(1)
    paths = folder / f"{name}.blend", folder / f"{name}.png"
    save_file(paths[0])
    render_panels(paths[1], _panels(scene), scene.view, say)
    return "\n".join([*lines, f"written: {paths[0]}, {paths[1]}"]), status


def _measured(scene: Scene) -> tuple[list[str], int]:
    """What every chain did over all frames, a line each, and whether one missed."""
    reached: dict[str, list[float]] = {tip: [] for tip in scene.lengths}
    held = dict.fromkeys(scene.lengths, 0)
    for frame in range(1, scene.last_frame + 1):
        current_scene().frame_set(frame)
        for tip, length in scene.lengths.items():
            bone: Any = pose_bones(scene.obj)[tip]
            if bone.limb_ik_status == 'REACHED':
                reached[tip].append(scene.missed(tip) / length)
            else:
                held[tip] += 1
    lines = [
        f"{tip}: on target on {len(found)} frames (largest error {max(found, default=0.0):.1e} of the length), "
        f"held back on {held[tip]}"
        for tip, found in reached.items()
    ]
    return lines, 1 if max(max(found, default=0.0) for found in reached.values()) > MAX_ERROR else 0


def _panels(scene: Scene) -> Iterator[Panel]:
    for frame, text in scene.captions.items():
        current_scene().frame_set(frame)
        messages = dict.fromkeys(pose_bones(scene.obj)[tip].limb_ik_message for tip in scene.told)
        said = [line for message in messages if message for line in message.replace(": ", ":\n", 1).split("\n")]
        yield Panel(frame, "\n".join([text, *said]), scene.centre)
