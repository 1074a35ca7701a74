"""The command line in a Python that has no Blender: one sentence, no traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from limb_ik.cli import entry, without_blender
from limb_ik.cli.version import VERSION

import children

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 60
# Where bpy is asked for there is none, as after ``pip install .`` alone; the folder of the sources may have any name.
START = """
import importlib, importlib.util, sys
sys.modules["bpy"] = None
folder, how, *sys.argv[1:] = sys.argv[1:]
spec = importlib.util.spec_from_file_location("limb_ik", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["limb_ik"] = package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
if how == "module":
    import runpy
    runpy.run_module("limb_ik", run_name="__main__")
sys.exit(importlib.import_module("limb_ik.cli").main())
"""


def run(how: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "OCIO"}
    call = [sys.executable, "-c", START, str(ROOT), how, *words]
    return subprocess.run(call, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment)


@children.NEEDS_PACKAGE
@pytest.mark.parametrize("how", ["module", "script"])
@pytest.mark.parametrize("words", [[], ["--help"], ["bake", "a.blend", "-o", "b.blend"]], ids=" ".join)
def test_it_says_what_to_install(how: str, words: list[str]) -> None:
    done = run(how, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("limb-ik: ")
    assert "pip install bpy" in done.stderr


@children.NEEDS_PACKAGE
def test_the_version_is_told_all_the_same() -> None:
    done = run("script", "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{VERSION}\n", "")


@children.NEEDS_PACKAGE
def test_another_module_that_is_missing_is_not_taken_for_blender() -> None:
    words = [sys.executable, "-c", START.replace('"bpy"', '"numpy"'), str(ROOT), "script", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1
    assert "numpy" in done.stderr
    assert "pip install bpy" not in done.stderr


def test_a_python_that_no_blender_fits_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 12, 1))
    assert without_blender.main(["--help"]) == 1
    assert "Python 3.11, not for this one, 3.12)" in capsys.readouterr().err
    monkeypatch.setattr(sys, "version_info", (3, 11, 9))
    assert without_blender.main(["--help"]) == 1
    assert "not for this one" not in capsys.readouterr().err


def test_the_version_is_told_with_blender(capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.main(["--version"]) == 0
    assert re.fullmatch(r"limb-ik \d+\.\d+\.\d+\n", capsys.readouterr().out)


@children.NEEDS_PACKAGE
@pytest.mark.parametrize(
    ("program", "is_ended"), [("bin/limb-ik", True), ("Scripts/limb-ik.exe", True), ("work.py", False)]
)
def test_until_a_command_begins_ctrl_c_ends_the_program_and_no_other(program: str, is_ended: bool) -> None:
    """Blender's start swallows the exception that it would be."""
    load = "spec.loader.exec_module(package)\n"
    look = f"sys.argv[0] = {program!r}\n{load}print(signal.getsignal(signal.SIGINT) is signal.SIG_DFL)\nsys.exit()\n"
    code = "import signal\n" + START.replace(load, look)
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT), "look"], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.stdout == f"{is_ended}\n", done.stderr
