"""A command that is stopped, by Ctrl-C or SIGTERM, ends at once: one line, its status, nothing half written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from limb_ik.cli import jobs as cli_jobs
from limb_ik.cli import stopping
from limb_ik.files import opening as files

import children
import rigs

pytestmark = [
    children.NEEDS_PACKAGE,
    pytest.mark.usefixtures("blank"),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals"),
]

LIMIT_S = 60
# What a stop may take: three seconds of grace and a slow machine.
STOP_S = 15
FILES = 5
# Stopped where Python of Blender's own runs us, which keeps exceptions for itself, and in the middle of our own code.
MOMENTS = {
    "reading": "from limb_ik.bake.limb_frames import FrameReader; FrameReader.read = stop",
    "handler": "from bpy.app import handlers; handlers.load_post.append(handlers.persistent(stop))",
    "writing": "from limb_ik.bake import keys; keys.write_rotation_keys = stop",
    "saved": "os.replace = stop",
}
START = """
import os, signal, sys
def stop(*_, **__):
    os.kill(os.getpid(), NUMBER)
moment, *sys.argv[1:] = sys.argv[1:]
exec(CHILD.replace('importlib.import_module(name + ".cli").main()', ""))
exec(moment)
importlib.import_module(name + ".cli").main()
"""


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "OCIO"}


def program(moment: str, number: int) -> list[str]:
    """The command line, with a moment at which it gets a signal."""
    code = f"CHILD, NUMBER = {cli_jobs.WHEEL_CHILD!r}, {int(number)}\n{START}"
    return [sys.executable, "-c", code, moment, "limb_ik", str(cli_jobs.FOLDER)]


def stopped(moment: str, number: int, *words: object) -> subprocess.CompletedProcess[str]:
    call = [*program(moment, number), *map(str, words)]
    return subprocess.run(call, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment())


def saved_rig(path: Path) -> Path:
    arm, target = rigs.rig("L2B"), rigs.empty("T", (0, -0.4, 1.4))
    rigs.key_location(target, 1)
    rigs.add_chain_by_properties(arm, "lo", target, None)
    files.save_file(path)
    return path


def is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_file(moment: str, number: int, status: int, tmp_path: Path) -> None:
    source, out = saved_rig(tmp_path / "rig.blend"), tmp_path / "out" / "baked.blend"
    out.parent.mkdir()
    before = source.read_bytes()
    done = stopped(MOMENTS[moment], number, "bake", source, "-o", out, "--frames", "1:10")
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "limb-ik: stopped; nothing was written\n")
    assert source.read_bytes() == before
    assert not list(out.parent.iterdir()), "nor what was half written"


@pytest.mark.parametrize("command", ["add", "inspect", "plant"])
def test_other_commands(command: str, tmp_path: Path) -> None:
    source = saved_rig(tmp_path / "rig.blend")
    words = [source] if command == "inspect" else [source, "-o", tmp_path / "out.blend"]
    done = stopped(MOMENTS["handler"], signal.SIGINT, command, *words)
    said = "stopped" if command == "inspect" else "stopped; nothing was written"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"limb-ik: {said}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["rig.blend"]


def test_a_demo_says_what_it_has_written(tmp_path: Path) -> None:
    moment = "from limb_ik.demos import scenes; scenes.render_panels = stop"
    done = stopped(moment, signal.SIGINT, "demo", "--scene", "reach", "-o", tmp_path)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "limb-ik: stopped after reach.blend was written\n"
    assert [path.name for path in tmp_path.iterdir()] == ["reach.blend"]


def test_what_is_written_already_is_told_from_what_was_there(tmp_path: Path) -> None:
    source = saved_rig(tmp_path / "rig.blend")
    out = tmp_path / "out.blend"
    out.write_bytes(b"of another time")
    done = stopped(MOMENTS["saved"], signal.SIGINT, "bake", source, "-o", out, "--frames", "1:10")
    assert done.stderr == "limb-ik: stopped; nothing was written\n"
    moment = "from limb_ik.files import placing; placing.write_text = stop"
    words = ("bake", source, "-o", out, "--frames", "1:10", "--report", tmp_path / "r.json")
    done = stopped(moment, signal.SIGINT, *words)
    assert (done.returncode, done.stderr) == (130, "limb-ik: stopped after out.blend was written\n")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_another_format_is_worked_on_by_another_process_which_ends_too(
    number: int, status: int, tmp_path: Path, data_dir: Path
) -> None:
    """The signal reaches the process that watches alone, while the other one is in Blender's importer."""
    pid = tmp_path / "pid"
    busy = f"import time, pathlib; pathlib.Path({str(pid)!r}).write_text(str(os.getpid())); time.sleep({LIMIT_S})"
    moment = f"""
if os.environ.get({cli_jobs.CHILD_VARIABLE!r}):
    import io_anim_bvh.import_bvh as importer
    def load(*_, **__):
        {busy}
    importer.load = load
else:
    from limb_ik.cli import jobs
    jobs.child_program = lambda: [{sys.executable!r}, *sys.orig_argv[1:4], "limb_ik", {str(cli_jobs.FOLDER)!r}]
"""
    words = ["add", str(data_dir / "bvh" / "makehuman_walk1.bvh"), "-o", str(tmp_path / "out.blend")]
    call = [*program(moment, number), *words]
    with subprocess.Popen(
        call, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
    ) as watcher:
        wait_for(lambda: pid.exists() and bool(pid.read_text()))
        watcher.send_signal(number)
        out, err = watcher.communicate(timeout=STOP_S)
    assert (watcher.returncode, out, err) == (status, "", "limb-ik: stopped; nothing was written\n")
    assert not is_running(int(pid.read_text()))
    assert [path.name for path in tmp_path.iterdir()] == ["pid"]


def wait_for(is_so: object) -> None:
    assert callable(is_so)
    until = time.monotonic() + LIMIT_S
    while not is_so():
        assert time.monotonic() < until, "it never came to that"
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_many_files(number: int, status: int, tmp_path: Path) -> None:
    """The signal reaches the parent alone; what is done is told, and the rest is done by another call."""
    source = saved_rig(tmp_path / "shot0.blend")
    for index in range(1, FILES):
        shutil.copy(source, tmp_path / f"shot{index}.blend")
    shots, out, report = sorted(tmp_path.glob("shot*.blend")), tmp_path / "out", tmp_path / "report.json"
    words = ["bake", *map(str, shots), "-o", str(out), "--jobs", "2", "--frames", "1:10", "--report", str(report)]
    call = [*program("", number), *words]
    with subprocess.Popen(call, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()) as parent:
        wait_for(lambda: out.is_dir() and any(out.glob("shot*.blend")))
        parent.send_signal(number)
        printed, err = parent.communicate(timeout=STOP_S)
    assert parent.returncode == status
    states = [entry["status"] for entry in json.loads(report.read_text())["files"]]
    count = states.count("done")
    assert states.count("stopped") == FILES - count > 0
    assert err == f"limb-ik: stopped: {count} of {FILES} files done; --resume goes on\n"
    assert printed.count("\n") == count
    whole = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert not [name for name in whole if name.startswith(".")], "nothing half written"
    if number == signal.SIGTERM:
        return
    again = stopped("", number, *words, "--resume")
    assert (again.returncode, again.stderr) == (0, "")
    assert len(list(out.iterdir())) == FILES
    assert {name: (out / name).stat().st_mtime_ns for name in whole} == whole


def test_other_processes_that_do_not_end_are_killed() -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        stopping.end([child], 0.1)
        assert child.wait(LIMIT_S) == -signal.SIGKILL
