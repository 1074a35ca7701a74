"""The demo's scenes: chains reach, hold back where the captions say so, and pictures have their panels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik import cli, demo_picture, demo_scenes, demo_stage
from mathutils import Vector

import rigs

SMALL = demo_picture.View(Vector((1.0, 0.0, 0.0)), 1.0, 24, 20, has_band=True)
# Status of the first chain by frame, where it isn't on its target.
HELD = {"reach": {49: 'LIMITED', 97: 'TOO_FAR'}, "tail": {97: 'TOO_FAR'}, "look": {97: 'LIMITED'}, "horse": {}}


@pytest.mark.parametrize("name", demo_scenes.SCENES)
def test_what_the_captions_say_is_so(blank: None, name: str) -> None:
    scene = demo_scenes.SCENES[name]()
    first: Any = rigs.bone(scene.obj, next(iter(scene.lengths)))
    for frame in scene.captions:
        rigs.frame_set(frame)
        assert first.limb_ik_status == HELD[name].get(frame, 'REACHED'), frame
        if first.limb_ik_status == 'REACHED':
            assert scene.missed(first.name) <= 1e-5 * scene.lengths[first.name]


@pytest.mark.parametrize("name", demo_scenes.SCENES)
def test_the_command_writes_the_file_and_the_picture(
    blank: None, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build = demo_scenes.SCENES[name]
    monkeypatch.setitem(demo_scenes.SCENES, name, lambda: _small(build()))
    monkeypatch.setattr(demo_picture, "SAMPLES", 1)
    assert cli.main(["demo", "--scene", name, "-o", str(tmp_path)]) == 0
    assert "on target on" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{name}.blend", f"{name}.png"]
    picture = bpy.data.images.load(str(tmp_path / f"{name}.png"))
    assert tuple(picture.size) == (24 * 2, 20)


def _small(scene: demo_stage.Scene) -> demo_stage.Scene:
    """Two small panels."""
    captions = dict(list(scene.captions.items())[-2:])
    values = {name: getattr(scene, name) for name in scene.__slots__}
    return demo_stage.Scene(**{**values, "view": SMALL, "captions": captions})


def test_a_miss_is_a_failure(blank: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_scenes, "render_panels", lambda *_: None)
    monkeypatch.setattr(demo_scenes, "MAX_ERROR", 1e-9)
    assert demo_scenes.run("horse", tmp_path)[1] == 1
