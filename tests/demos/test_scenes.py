"""The demo's scenes: chains reach, hold back where the captions say so, and pictures have their panels.

In a process of its own: with Rigify once enabled, Blender 4.5 hangs when it ends in the ordinary way.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import children

ROOT = Path(__file__).resolve().parents[2]
# Status of the first chain by frame, where it isn't on its target.
HELD: dict[str, dict[int, str]] = {
    "reach": {49: 'LIMITED', 97: 'TOO_FAR'},
    "tail": {97: 'TOO_FAR'},
    "look": {97: 'LIMITED'},
    "horse": {},
}

SCRIPT = """
import dataclasses, json, os, sys
from pathlib import Path
import bpy
from mathutils import Vector
sys.path[:0] = sys.argv[1:3]
import rigs
import limb_ik
from limb_ik.cli import entry as cli
from limb_ik.demos import picture as demo_picture, scenes as demo_scenes
limb_ik.register()
folder = Path(sys.argv[3])
demo_picture.SAMPLES = 1
small = demo_picture.View(Vector((1.0, 0.0, 0.0)), 1.0, 24, 20, has_band=True)
found = {}
for name, build in list(demo_scenes.SCENES.items()):
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = build()
    tip = next(iter(scene.lengths))
    seen = {}
    for frame in scene.captions:
        rigs.frame_set(frame)
        seen[frame] = rigs.bone(scene.obj, tip).limb_ik_status, scene.missed(tip) / scene.lengths[tip]

    def panels(build=build):
        scene = build()
        return dataclasses.replace(scene, view=small, captions=dict(list(scene.captions.items())[-2:]))

    demo_scenes.SCENES[name] = panels
    status = cli.main(["demo", "--scene", name, "-o", str(folder / name)])
    size = tuple(bpy.data.images.load(str(folder / name / f"{name}.png")).size)
    found[name] = {"seen": seen, "status": status, "size": size}
demo_scenes.MAX_ERROR = 1e-9
found["missed"] = demo_scenes.run("horse", folder / "missed")[1]
print("FOUND" + json.dumps(found))
sys.stdout.flush()
limb_ik.unregister()
os._exit(0)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("scenes")
    done = children.run(SCRIPT, str(ROOT / "tests"), children.package_folder(folder), str(folder))
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    assert lines, done.stderr[-2000:]
    result: dict[str, Any] = json.loads(lines[0].removeprefix("FOUND"))
    result["folder"] = folder
    return result


@pytest.mark.parametrize("name", HELD)
def test_what_the_captions_say_is_so(found: dict[str, Any], name: str) -> None:
    for frame, (status, missed) in found[name]["seen"].items():
        assert status == HELD[name].get(int(frame), 'REACHED'), frame
        assert status != 'REACHED' or missed <= 1e-5


@pytest.mark.parametrize("name", HELD)
def test_the_command_writes_the_file_and_the_picture(found: dict[str, Any], name: str) -> None:
    assert found[name]["status"] == 0
    assert sorted(path.name for path in (found["folder"] / name).iterdir()) == [f"{name}.blend", f"{name}.png"]
    assert found[name]["size"] == [24 * 2, 20]


def test_a_miss_is_a_failure(found: dict[str, Any]) -> None:
    assert found["missed"] == 1
