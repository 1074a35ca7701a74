"""The suite in the window of a full Blender, under a virtual screen where there is none (standard library only).

Needs Xvfb and ImageMagick's ``import``: of this system, or of the Blender's own root folder (a
launcher X.launcher that changes its root to the folder X).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import full_blender
from environments import ROOT

SIZE = ("1280", "860")
PICTURES = ROOT / "artefacts" / "window"
CASES = ROOT / "tests" / "window" / "run.py"
DOCUMENTATION = ROOT / "docs" / "pictures.py"
LIMIT_S = 600
"""The suite takes one to two minutes on two busy processors."""


def main() -> int:
    """``window.py PROGRAM ZIP [CASE...]``, in an environment without settings of the user's."""
    program, archive, *names = sys.argv[1:]
    if reason := why_not(program):
        print(f"SKIPPED, {reason}")
        return 0
    return run(program, Path(archive), dict(os.environ), names)


def why_not(program: str) -> str:
    """Why a Blender's window can't be opened here; empty where it can."""
    if not full_blender.works(program):
        return f"{program} does not start"
    if _server(program) is None:
        return "no Xvfb for a virtual screen"
    if not _holds(program, "import"):
        return "no ImageMagick to take pictures"
    return ""


def run(program: str, archive: Path, environment: dict[str, str], names: Sequence[str], script: Path = CASES) -> int:
    """Install the zip, run the cases (all, or those named), keep the pictures; answer the exit status."""
    folder = PICTURES / Path(program).stem / script.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"pictures: {folder}", flush=True)
    arguments = ["--python", str(script), "--", str(folder), *names]
    window = ["-p", "0", "0", *SIZE, "--factory-startup", "--enable-event-simulate"]
    with screen(program) as display:
        command = [program, *window, *full_blender.installing(archive), *arguments]
        done = subprocess.run(command, env={**environment, "DISPLAY": display}, timeout=LIMIT_S, check=False)
    return done.returncode


@contextmanager
def screen(program: str) -> Iterator[str]:
    """A virtual screen; gives its DISPLAY."""
    server = _server(program)
    assert server is not None  # asked before
    reading, writing = os.pipe()
    command = [*server, "-displayfd", str(writing), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24"]
    with subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        os.close(writing)
        try:
            with os.fdopen(reading) as pipe:
                yield f":{pipe.readline().strip()}"
        finally:
            process.terminate()


def _root(program: str) -> Path:
    """The folder that a launcher changes its root to."""
    return Path(program).with_suffix("")


def _server(program: str) -> list[str] | None:
    if shutil.which("Xvfb"):
        return ["Xvfb"]
    if program.endswith(".launcher") and (_root(program) / "usr" / "bin" / "Xvfb").exists():
        return ["chroot", str(_root(program)), "Xvfb"]
    return None


def _holds(program: str, tool: str) -> bool:
    if program.endswith(".launcher"):
        return os.path.lexists(_root(program) / "usr" / "bin" / tool)
    return shutil.which(tool) is not None


if __name__ == "__main__":
    sys.exit(main())
