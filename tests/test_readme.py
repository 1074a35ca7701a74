"""What README and docs say: their Python runs as it stands, and what they point at is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import rigs
from body import body_bones

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "CONTRIBUTING.md", "docs/mocap.md", "docs/feet.md")
# GitHub shows more, but a page should come quickly.
MOST_BYTES = {".png": 200_000, ".gif": 1_000_000}


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


RECIPES = [
    pytest.param(code, id=f"{page}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", text(page), re.DOTALL))
]
LINKS = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^):]+)\)", text(page))]


@pytest.fixture
def scene(blank: None) -> Any:
    """What the recipes name: an animated armature and a target within its reach."""
    arm = rigs.build(body_bones(), "Armature")
    rigs.empty("Target", (0.6, -0.3, 1.4))
    for frame, angle in ((1, 0.0), (10, 0.4)):
        rigs.turn(arm, "upper_arm.L", "X", angle)
        arm.pose.bones["upper_arm.L"].keyframe_insert("rotation_quaternion", frame=frame)
    rigs.update()
    return arm


@pytest.mark.parametrize("code", RECIPES)
def test_recipes_run(scene: Any, code: str) -> None:
    exec(compile(code, "recipe", "exec"), {})
    rigs.update()
    chains = [bone for bone in scene.pose.bones if bone.limb_ik_solver != 'NONE']
    if "after='REMOVE'" in code:
        assert not chains
        assert "pose.bones[\"forearm.L\"].rotation_quaternion" in {curve.data_path for curve in curves(scene)}
        return
    assert chains
    assert {bone.limb_ik_status for bone in chains} <= {'REACHED', 'IDLE'}, [bone.limb_ik_message for bone in chains]


def curves(arm: Any) -> list[Any]:
    action = arm.animation_data.action
    if hasattr(action, "layers") and action.layers:
        return [curve for bag in action.layers[0].strips[0].channelbags for curve in bag.fcurves]
    return list(action.fcurves)


def test_there_are_recipes() -> None:
    assert len(RECIPES) >= 3


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_links_lead_somewhere(page: str, link: str) -> None:
    path = (ROOT / page).parent / link.partition("#")[0]
    assert path.exists()
    assert path.stat().st_size <= MOST_BYTES.get(path.suffix, path.stat().st_size)


def test_contributing_is_one_screen() -> None:
    assert len(text("CONTRIBUTING.md").splitlines()) <= 60
