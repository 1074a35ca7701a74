"""The demo walks on the ground, reaches its ball, and its picture has its panels."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import bpy
import pytest
from limb_ik.demos import picture as demo_picture
from limb_ik.demos import walk as demo
from limb_ik.demos import walker as demo_walk

import rigs


def test_the_walk_stands_on_the_ground_and_goes_forward(blank: None) -> None:
    obj = demo_walk.walking_human()
    lowest, hips = [], []
    for frame in range(1, demo_walk.LAST_FRAME + 1):
        rigs.frame_set(frame)
        pose = rigs.evaluated_pose(obj)
        soles = [pose[f"{n}.{s}"].tail if t else pose[f"{n}.{s}"].head for n, t in demo_walk.SOLE for s in "LR"]
        lowest.append(min(point.z for point in soles))
        hips.append(pose["spine"].head.y)
    assert max(map(abs, lowest)) < 1e-4
    steps = [before - after for before, after in pairwise(hips)]
    assert sum(steps) > 2.0
    assert max(steps) - min(steps) < 0.01


def test_rigify_leaves_no_handler_behind(blank: None) -> None:
    before = list(bpy.app.handlers.load_post)
    demo_walk.metarig("human", "Human")
    assert list(bpy.app.handlers.load_post) == before


def test_the_demo_keeps_its_promise_and_writes_its_files(
    blank: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_picture, "PANEL_WIDTH", 20)
    monkeypatch.setattr(demo_picture, "PANEL_HEIGHT", 40)
    monkeypatch.setattr(demo_picture, "SAMPLES", 1)
    monkeypatch.setattr(demo, "PICTURE_FRAMES", (25, 31))
    text, status = demo.run(tmp_path / "made")
    assert status == 0
    assert text.count("largest error") == 4
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["demo.blend", "demo.png"]
    picture = bpy.data.images.load(str(tmp_path / "made" / "demo.png"))
    assert tuple(picture.size) == (40, 40)
    assert len(set(picture.pixels[:])) > 10


def test_the_demo_fails_where_an_end_misses(blank: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "pose_strip", lambda *_, **__: None)
    monkeypatch.setattr(demo, "MAX_ERROR", 1e-9)
    assert demo.run(tmp_path)[1] == 1


def test_the_hand_follows_the_ball_only_while_ik_is_on(blank: None) -> None:
    weights = {frame: demo._weight(frame) for frame in range(1, demo_walk.LAST_FRAME + 1)}
    assert weights[demo.IK_ON_FRAME] == 0.0
    assert weights[demo.IK_ON_FRAME + 3] == pytest.approx(0.5)
    assert weights[demo.IK_ON_FRAME + 6] == 1.0
    assert weights[demo.IK_OFF_FRAME] == 1.0
    assert weights[demo.IK_OFF_FRAME + 6] == 0.0
