"""Streams that are closed, full or can't say every letter: one sentence where there is a place for it, and an end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from limb_ik.cli import jobs as cli_jobs
from limb_ik.files import opening as files

import children
import rigs

pytestmark = [
    children.NEEDS_PACKAGE,
    pytest.mark.usefixtures("blank"),
    pytest.mark.skipif(os.name == "nt", reason="there is no shell to close streams with"),
]

# One that hangs, as Blender 4.5 does at its own end, fails the test.
LIMIT_S = 30
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")


def run(redirected: str, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, its streams turned by a shell."""
    call = [sys.executable, "-c", cli_jobs.WHEEL_CHILD, "limb_ik", str(cli_jobs.FOLDER), *map(str, words)]
    environment = {name: value for name, value in os.environ.items() if name != "OCIO"} | variables
    shell = ["sh", "-c", f'exec "$@" {redirected}', "sh", *call]
    return subprocess.run(shell, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environment)


@pytest.fixture
def rig(tmp_path: Path) -> Path:
    path = tmp_path / "rig.blend"
    rigs.add_chain_by_properties(rigs.rig("L2B"), "lo", rigs.empty("T", (0, -0.4, 1.4)))
    files.save_file(path)
    return path


@pytest.mark.parametrize(
    ("redirected", "reason"),
    [(">&-", "stdout is closed"), pytest.param(">/dev/full", "No space left on device", marks=FULL)],
)
def test_a_result_that_nobody_gets_is_a_failure(rig: Path, redirected: str, reason: str) -> None:
    done = run(redirected, "inspect", rig)
    assert (done.returncode, done.stderr) == (1, f"limb-ik: the result can't be printed: {reason}\n")


@pytest.mark.parametrize("redirected", ["2>&-", pytest.param("2>/dev/full", marks=FULL)])
def test_without_stderr_work_is_done_and_faults_have_their_status(rig: Path, tmp_path: Path, redirected: str) -> None:
    done = run(redirected, "bake", rig, "-o", tmp_path / "out.blend", "--frames", "1:2")
    assert done.returncode == 0
    assert "Baked 1 chain" in done.stdout
    assert run(redirected, "inspect", tmp_path / "none.blend").returncode == 1


def test_with_no_stream_at_all_another_format_is_written(rig: Path, tmp_path: Path) -> None:
    done = run("<&- >&- 2>&-", "bake", rig, "-o", tmp_path / "out.glb", "--frames", "1:2")
    assert done.returncode == 1, "the result could not be said"
    assert (tmp_path / "out.glb").read_bytes()[:4] == b"glTF"


def test_names_are_said_as_far_as_the_output_can(rig: Path, tmp_path: Path) -> None:
    done = run("", "bake", rig, "-o", tmp_path / "clé.blend", "--frames", "1:2", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "cl\\xe9.blend: Baked" in done.stdout
