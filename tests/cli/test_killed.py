"""A command that is killed in the middle leaves the output whole or not there at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from limb_ik.cli import jobs as cli_jobs
from limb_ik.files import opening as files

import children
import rigs

pytestmark = [
    children.NEEDS_PACKAGE,
    pytest.mark.usefixtures("blank"),
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL"),
]

LIMIT_S = 60
# Killed as the frames are read, as the file is written, and as it would be moved into place.
MOMENTS = {
    "reading": "from limb_ik.bake.limb_frames import FrameReader; FrameReader.read = kill",
    "writing": "from limb_ik.bake import keys; keys.write_rotation_keys = kill",
    "saved": "os.replace = kill",
}
START = """
import os, signal, sys
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
moment, *sys.argv[1:] = sys.argv[1:]
exec(CHILD.replace('importlib.import_module(name + ".cli").main()', ""))
exec(moment)
importlib.import_module(name + ".cli").main()
"""


def killed(moment: str, *words: object) -> int:
    code = f"CHILD = {cli_jobs.WHEEL_CHILD!r}\n{START}"
    environment = {name: value for name, value in os.environ.items() if name != "OCIO"}
    call = [sys.executable, "-c", code, moment, "limb_ik", str(cli_jobs.FOLDER), *map(str, words)]
    done = subprocess.run(call, capture_output=True, timeout=LIMIT_S, check=False, env=environment)
    return done.returncode


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("is_there", [False, True])
def test_killed_in_the_middle(moment: str, is_there: bool, tmp_path: Path) -> None:
    arm, target = rigs.rig("L2B"), rigs.empty("T", (0, -0.4, 1.4))
    rigs.key_location(target, 1)
    rigs.add_chain_by_properties(arm, "lo", target, None)
    source, out = tmp_path / "rig.blend", tmp_path / "out" / "baked.blend"
    out.parent.mkdir()
    files.save_file(source)
    if is_there:
        out.write_bytes(b"the result of another time")
    before = source.read_bytes()
    assert killed(MOMENTS[moment], "bake", source, "-o", out, "--frames", "1:10") == -signal.SIGKILL
    assert source.read_bytes() == before
    if is_there:
        assert out.read_bytes() == b"the result of another time"
    else:
        assert not out.exists()
    # What is left over doesn't stop the next try.
    assert killed("", "bake", source, "-o", out, "--frames", "1:10") == 0
    bpy.ops.wm.open_mainfile(filepath=str(out))
    assert {len(points) for key, points in rigs.keys(bpy.data.objects["Rig"]).items() if "rotation" in key[0]} == {10}
