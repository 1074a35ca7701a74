"""How processes of ours end: nothing is left in the folder for temporary files, and none outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from limb_ik.cli import jobs as cli_jobs
from limb_ik.files import opening as files

import children
import rigs

pytestmark = [children.NEEDS_PACKAGE, pytest.mark.usefixtures("blank")]

LIMIT_S = 60
# Busy while the parent is killed: as the frames are read, and where the file is whole and is to be moved into place.
BUSY = """
import os, sys, time
moment, *sys.argv[1:] = sys.argv[1:]
exec(CHILD.replace('importlib.import_module(name + ".cli").main()', ""))
def busy(*_, **__):
    open(os.environ["READY"], "w").close()
    time.sleep(LIMIT_S)
if os.environ.get(VARIABLE):
    exec(moment)
else:
    from limb_ik.cli import jobs
    jobs.child_program = lambda: [sys.executable, *sys.orig_argv[1:3], moment, name, folder]
importlib.import_module(name + ".cli").main()
"""
MOMENTS = {
    "reading": "from limb_ik.bake.limb_frames import FrameReader; FrameReader.read = busy",
    "whole": "from limb_ik.files import placing; placing.before_moving.append(busy)",
}


def environment(folder: Path) -> dict[str, str]:
    own = {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
    return {name: value for name, value in os.environ.items() if name != "OCIO"} | own | {"READY": f"{folder}.ready"}


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.fixture
def rig(tmp_path: Path) -> Path:
    path = tmp_path / "rig.blend"
    rigs.add_chain_by_properties(rigs.rig("L2B"), "lo", rigs.empty("T", (0, -0.4, 1.4)))
    files.save_file(path)
    return path


@pytest.mark.parametrize("out", ["out.blend", "folder"])
def test_no_temporary_folder_is_left(rig: Path, tmp_path: Path, temporary: Path, out: str) -> None:
    sources = [rig]
    if out == "folder":
        sources.append(tmp_path / "other.blend")
        sources[1].write_bytes(rig.read_bytes())
    words = ["bake", *map(str, sources), "-o", str(tmp_path / out), "--frames", "1:2"]
    words += ["--format", "glb"] if out == "folder" else []
    call = [sys.executable, "-c", cli_jobs.WHEEL_CHILD, "limb_ik", str(cli_jobs.FOLDER), *words]
    subprocess.run(call, capture_output=True, timeout=LIMIT_S, check=True, env=environment(temporary))
    assert not list(temporary.iterdir())


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_child_ends_with_its_parent_and_writes_nothing(
    rig: Path, tmp_path: Path, temporary: Path, moment: str
) -> None:
    code = f"CHILD, VARIABLE, LIMIT_S = {cli_jobs.WHEEL_CHILD!r}, {cli_jobs.CHILD_VARIABLE!r}, {LIMIT_S}\n{BUSY}"
    program = [sys.executable, "-c", code, MOMENTS[moment], "limb_ik", str(cli_jobs.FOLDER)]
    words = ["bake", str(rig), "-o", str(tmp_path / "out.glb"), "--frames", "1:2"]
    ready = Path(f"{temporary}.ready")
    with subprocess.Popen([*program, *words], stderr=subprocess.PIPE, env=environment(temporary)) as parent:
        until = time.monotonic() + LIMIT_S
        while not ready.exists():
            assert parent.poll() is None and time.monotonic() < until, "it never came to that"
            time.sleep(0.02)
        parent.kill()
        parent.communicate(timeout=LIMIT_S / 4)  # the child has the same pipe: it has ended, too
    made = {path.name for path in tmp_path.rglob("*") if path.is_file()} - {"temporary.ready"}
    assert made == {"rig.blend"}, "nor anything half written"
