"""Job templates for render farms, run by Open Job Description's own runner on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from limb_ik.cli import jobs as cli_jobs
from limb_ik.files import opening as files

import children
import rigs

pytestmark = [pytest.mark.usefixtures("blank"), children.NEEDS_PACKAGE]

FARM = Path(__file__).resolve().parent.parent / "farm"
LIMIT_S = 120
RUNNER = "import sys; from openjd.__main__ import main; sys.exit(main())"
# What a farm's machine has on its path: here a script that starts this checkout.
STARTER = '#!/bin/sh\nexec "{python}" -c \'{code}\' limb_ik "{folder}" "$@"\n'


def saved_rig(path: Path) -> Path:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    arm, target = rigs.rig("L2B"), rigs.empty("T")
    rigs.add_chain_by_properties(arm, "lo", target, rigs.empty("P", (0, 3, 0.8)))
    rigs.bone(arm, "up").rotation_mode = "XYZ"
    for frame in range(1, 25):
        rigs.key_location(target, frame, (0.3 * np.sin(frame), 0.4 * np.cos(frame), 1.2 + 0.2 * np.sin(frame / 3)))
    files.save_file(path)
    return path


def started(folder: Path) -> str:
    path = folder / "limb-ik"
    path.write_text(STARTER.format(python=sys.executable, code=cli_jobs.WHEEL_CHILD, folder=cli_jobs.FOLDER))
    path.chmod(0o755)
    return str(path)


def openjd(*words: str) -> subprocess.CompletedProcess[str]:
    # bpy names its own colour configuration in this process's environment; 5.3 prints it in a child that finds it.
    environment = {name: value for name, value in os.environ.items() if name != "OCIO"}
    call = [sys.executable, "-c", RUNNER, *words]
    return subprocess.run(call, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment)


def run(template: str, *words: str, **values: object) -> subprocess.CompletedProcess[str]:
    given = [word for name, value in values.items() for word in ("-p", f"{name}={value}")]
    return openjd("run", str(FARM / template), *words, *given)


def keys_in(path: Path) -> dict[tuple[str, int], list[tuple[float, float]]]:
    files.open_file(path)
    return {key: points for key, points in rigs.keys(bpy.data.objects["Rig"]).items() if "rotation" in key[0]}


@pytest.mark.parametrize("template", ["bake_files.template.yaml", "bake_ranges.template.yaml"])
def test_templates_are_valid(template: str) -> None:
    checked = openjd("check", str(FARM / template))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_list_of_files_is_baked(tmp_path: Path) -> None:
    names = [str(saved_rig(tmp_path / name)) for name in ("a b.blend", "c.blend")]
    (tmp_path / "list.txt").write_text("\n".join(names) + "\n")
    values = {"List": tmp_path / "list.txt", "Count": 2, "Output": tmp_path / "out"}
    done = run("bake_files.template.yaml", **values, Options="--frames 1:24", LimbIK=started(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("a b.blend", "c.blend"):
        assert {len(points) for points in keys_in(tmp_path / "out" / name).values()} == {24}


@pytest.mark.parametrize("options", ["--frames 1:24", "--frames 1:24 --reduce 0.02"])
def test_ranges_joined_are_one_bake(options: str, tmp_path: Path) -> None:
    source, program = saved_rig(tmp_path / "shot.blend"), started(tmp_path)
    values = {"File": source, "Output": tmp_path / "baked.blend", "Folder": tmp_path / "parts", "Parts": 3}
    done = run(
        "bake_ranges.template.yaml", "--step", "Join", "--run-dependencies", **values, Options=options, LimbIK=program
    )
    assert done.returncode == 0, done.stdout + done.stderr
    whole = tmp_path / "whole.blend"
    subprocess.run([program, "bake", str(source), "-o", str(whole), *options.split()], check=True, capture_output=True)
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == ["1.json", "2.json", "3.json"]
    joined, expected = keys_in(tmp_path / "baked.blend"), keys_in(whole)
    assert joined.keys() == expected.keys()
    assert len(next(iter(joined.values()))) == 24 or "reduce" in options
    for key, points in joined.items():
        assert np.array(points) == pytest.approx(np.array(expected[key]), abs=1e-6)
