"""The set-up of environments: which Python it takes, what it says where something is missing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import environments as envs  # noqa: E402  (it lies in tools/)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins for Python are shell scripts")

OTHER = "9.9"
"""A version that no Python here has."""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Makes folders on PATH with a ``python9.9`` each, and no pyenv."""
    monkeypatch.setenv("PATH", "/bin:/usr/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))

    def make(folder: str, script: str) -> Path:
        program = tmp_path / folder / f"python{OTHER}"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{program.parent}")
        return program

    return make


def test_a_shim_that_leads_nowhere_is_passed_over(stand_in: Callable[[str, str], Path]) -> None:
    stand_in("shims", "echo 'command not found' >&2; exit 127")
    real = stand_in("real", f"echo {OTHER}")
    assert envs.find_python(OTHER) == [str(real)]


def test_a_version_of_pyenv_is_found_without_its_shim(stand_in: Callable[[str, str], Path]) -> None:
    real = stand_in(f"pyenv/versions/{OTHER}.1/bin", f"echo {OTHER}")
    os.environ["PATH"] = "/bin:/usr/bin"
    assert envs.find_python(OTHER) == [str(real)]


def test_a_python_without_venv_does_not_count(stand_in: Callable[[str, str], Path]) -> None:
    stand_in("bare", "echo 'No module named ensurepip' >&2; exit 1")
    assert envs.find_python(OTHER) == []


def test_a_missing_library_gives_the_apt_line(stand_in: Callable[[str, str], Path]) -> None:
    sentence = "ImportError: libX11.so.6: cannot open shared object file: No such file or directory"
    python = stand_in("real", f"echo '{sentence}' >&2; exit 1")
    with pytest.raises(envs.SetupError, match=r"libX11\.so\.6(.|\n)*apt-get install -y .*libx11-6"):
        envs._check_import(python)


def test_without_a_fitting_python_it_says_which_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envs, "VENVS", tmp_path)
    monkeypatch.setattr(envs, "find_python", lambda version: [])
    with pytest.raises(envs.SetupError, match=r"3\.11 and 3\.13, not for 3\.12"):
        envs.ensure_default()


def test_an_environment_is_made_once(
    stand_in: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made, stamped, used again; made anew when what it needs has changed."""
    monkeypatch.setattr(envs, "VENVS", tmp_path / "venvs")
    python = stand_in("venvs/1.0/bin", f"echo {OTHER}").rename(tmp_path / "venvs/1.0/bin/python")
    calls: list[list[str]] = []
    monkeypatch.setattr(envs, "_call", lambda command, failure: calls.append(list(command)))
    for wheel in ("1.0.0", "1.0.0", "1.0.1"):
        assert envs.ensure(envs.Blender("1.0", OTHER, wheel)) == python
    assert [command[5] for command in calls] == ["bpy==1.0.0", "bpy==1.0.1"]


def test_an_unknown_blender_names_the_known_ones() -> None:
    with pytest.raises(envs.SetupError, match=r"no Blender 2\.79.*5\.3, 4\.5, 4\.2"):
        envs.find_blender("2.79")
