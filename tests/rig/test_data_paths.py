"""Data paths of bones, there and back, whatever the bones are called."""

from __future__ import annotations

import pytest
from limb_ik.rig.data_paths import bone_path, split_bone_path

import rigs

NAMES = ["shin.L", 'a "b"', 'x"].limb_ik_weight', "back\\slash", "二の腕", "[0]"]


@pytest.mark.usefixtures("blank")
@pytest.mark.parametrize("name", NAMES)
def test_there_and_back(name: str) -> None:
    arm = rigs.build([rigs.BoneSpec(name, (0, 0, 0), (0, 0, 1))], "Rig")
    path = f"{bone_path(name)}constraints[\"IK\"].influence"
    assert split_bone_path(path) == (name, 'constraints["IK"].influence')
    assert arm.path_resolve(f"{bone_path(name)}location") == arm.pose.bones[0].location


@pytest.mark.parametrize("path", ["location", 'nodes["a"].x', 'data.pose.bones["a"].location', "pose.bones[0].limb_ik"])
def test_what_is_no_bones(path: str) -> None:
    assert split_bone_path(path) == ("", path)
