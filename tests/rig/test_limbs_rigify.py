"""Limbs of the metarigs that come with Blender, and of the rigs that Rigify makes of them.

The metarigs are made by the add-on itself and thrown away; nothing of them is kept here.
Human, cat and wolf take six seconds each to generate, mostly for the face, and name their
limbs like those that are generated here.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from limb_ik.rig.limbs import Limb, RestBone, find_limbs

import children

ROOT = Path(__file__).resolve().parents[2]

Expected = dict[str, tuple[str, ...]]

PERSON: Expected = {"arm": ("upper_arm", "forearm", "hand"), "leg": ("thigh", "shin", "foot")}
METARIGS: dict[str, list[Expected]] = {
    "human": [PERSON],
    "Basic.basic_human": [PERSON],
    "Basic.basic_quadruped": [
        {"leg": ("thigh", "shin", "foot", "toe")},
        {"leg": ("front_thigh", "front_shin", "front_foot", "front_toe")},
    ],
    "Animals.wolf": [
        {"leg": ("thigh", "shin", "foot", "toe")},
        {"leg": ("front_thigh", "front_shin", "front_foot", "front_toe")},
    ],
    "Animals.cat": [{"arm": ("upper_arm", "forearm", "hand"), "leg": ("thigh", "shin", "foot", "r_toe")}],
    "Animals.horse": [
        {
            "arm": ("upper_arm", "forearm", "forefoot", "f_toe", "f_hoof"),
            "leg": ("thigh", "lower_leg", "hind_foot", "r_toe", "r_hoof"),
        }
    ],
    "Animals.bird": [{"leg": ("thigh", "shin", "foot")}],
    "Animals.shark": [],
}
GENERATED: dict[str, list[Expected]] = {
    "Basic.basic_human": [PERSON],
    "Basic.basic_quadruped": [
        {"leg": ("thigh", "shin", "foot")},
        {"leg": ("front_thigh", "front_shin", "front_foot")},
    ],
    "Animals.horse": [{"arm": ("upper_arm", "forearm", "forefoot"), "leg": ("thigh", "lower_leg", "hind_foot")}],
    "Animals.bird": [{"leg": ("thigh", "shin", "foot")}],
    "Animals.shark": [],
}


SCRIPT = """
import bpy, addon_utils, dataclasses, importlib, json, os, sys
from limb_ik.rig.limbs import rest_skeleton

def skeleton(rig):
    return [dataclasses.asdict(bone) for bone in rest_skeleton(rig.data)]

def metarig(name):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    addon_utils.enable("rigify", default_set=True)
    rig = bpy.data.objects.new("metarig", bpy.data.armatures.new("metarig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    importlib.import_module(f"rigify.metarigs.{name}").create(rig)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig

def generated(name):
    rig = metarig(name)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.rigify_generate()
    return skeleton(rig.data.rigify_target_rig)

wanted = json.loads(sys.argv[1])
found = {name: skeleton(metarig(name)) for name in wanted["metarigs"]}
found |= {name + " generated": generated(name) for name in wanted["generated"]}
with open(sys.argv[2], "w") as file:
    json.dump(found, file)
os._exit(0)  # with Rigify once enabled, Blender 4.5 hangs when it ends in the ordinary way
"""


@pytest.fixture(scope="module")
def skeletons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[RestBone, ...]]:
    """All metarigs and generated rigs, made in a Blender of their own."""
    folder = tmp_path_factory.mktemp("rigify")
    (folder / "limb_ik").mkdir()
    (folder / "limb_ik" / "__init__.py").write_text(f"__path__ = [{str(ROOT)!r}]", encoding="utf-8")
    wanted = json.dumps({"metarigs": list(METARIGS), "generated": list(GENERATED)})
    done = children.run(
        f"import sys; sys.path.insert(0, {str(folder)!r})\n{SCRIPT}", wanted, str(folder / "found.json")
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    return {name: tuple(RestBone(**bone) for bone in bones) for name, bones in found.items()}


def names(limb: Limb) -> tuple[str, ...]:
    """Bones that carry a joint, without the side."""
    whole = (limb.upper, limb.lower, *(b for b in limb.between_lower_end if not b.startswith("MCH-")), limb.end)
    return tuple(str(name).removesuffix(f".{limb.side}") for name in whole)


def rows(limbs: list[Limb]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Comparable, in any order."""
    return sorted((limb.kind, limb.side, names(limb)) for limb in limbs)


def wanted(expected: list[Expected], suffix: str = "") -> list[tuple[str, str, tuple[str, ...]]]:
    """What there should be on both sides."""
    each = [(kind, bones) for limbs in expected for kind, bones in limbs.items()]
    return sorted((kind, side, tuple(bone + suffix for bone in bones)) for kind, bones in each for side in "LR")


@pytest.mark.parametrize("name", METARIGS)
def test_metarigs(skeletons: dict[str, tuple[RestBone, ...]], name: str) -> None:
    limbs = find_limbs(skeletons[name])
    assert rows(limbs) == wanted(METARIGS[name])
    assert all(limb.bones == (limb.upper, limb.lower, *limb.between_lower_end) for limb in limbs)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_rigs_give_their_fk_controls(skeletons: dict[str, tuple[RestBone, ...]], name: str) -> None:
    limbs = find_limbs(skeletons[f"{name} generated"])
    assert rows(limbs) == wanted(GENERATED[name], "_fk")
    assert all(limb.bones == (limb.upper, limb.lower) for limb in limbs)
