"""Makes the Python environments that tests, checks and the demo run in (standard library only).

One environment per Blender version lies in ``.venv/<x.y>``; nothing outside the
checkout is touched. This file must stay readable to any Python 3.9 or newer, so
that a Python that doesn't fit gets a sentence and not a traceback.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / ".venv"
LINKS = ROOT / ".typecheck"
STAMP = "limb-ik-requirements"

TEST_TOOLS = ("pytest>=8,<10", "hypothesis>=6.100,<7", "openjd-cli>=0.8,<1")
CHECK_TOOLS = ("ruff==0.17.6", "mypy==2.4.1", "fake-bpy-module-4-5==20260730", "numpy==2.4.6")
APT_PACKAGES = (
    "libx11-6 libxext6 libxrender1 libxxf86vm1 libxfixes3 libxi6 libxkbcommon0 libsm6 libice6 libgl1 libegl1 libgomp1"
)


@dataclass(frozen=True)
class Blender:
    """A Blender that is tested as a Python package, and the only Python its wheels fit."""

    version: str
    python: str
    wheel: str

    @property
    def requirements(self) -> tuple[str, ...]:
        return (f"bpy=={self.wheel}", *TEST_TOOLS)


BLENDERS = (
    Blender("5.3", "3.13", "5.3.0"),
    Blender("4.5", "3.11", "4.5.15"),
    Blender("4.2", "3.11", "4.2.23"),
)
"""Newest first. Wheels of 4.2 to 5.0 need Python 3.11, those of 5.1 to 5.3 Python 3.13; there are none for 3.12."""


class SetupError(Exception):
    """What is missing, in a sentence that says what to do."""


def find_blender(version: str) -> Blender:
    """The table's entry for a version like "4.5"."""
    for blender in BLENDERS:
        if blender.version == version:
            return blender
    raise SetupError(f"no Blender {version} in the table; there are {', '.join(b.version for b in BLENDERS)}")


def ensure_default() -> tuple[Blender, Path]:
    """The newest Blender that installs for the Python this runs in, else for any Python found."""
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    ordered = sorted(BLENDERS, key=lambda blender: blender.python != running)
    problems = []
    for blender in ordered:
        try:
            return blender, ensure(blender)
        except SetupError as error:
            problems.append(f"Blender {blender.version}: {error}")
            print(f"dev.py: {problems[-1]}", file=sys.stderr)
    raise SetupError(
        f"no Blender could be set up (this is Python {running}). Blender's Python packages exist for Python 3.11 and "
        "3.13, not for 3.12: install one of those (python3.11 or python3.13 on PATH) and run this again"
    )


def ensure(blender: Blender) -> Path:
    """Make ``.venv/<x.y>`` unless it is complete; answer its Python."""
    python = ensure_environment(blender.version, blender.python, blender.requirements)
    if not _stamped(blender.version, blender.requirements):
        _check_import(python)
        _stamp(blender.version, blender.requirements)
    return python


def ensure_checkers() -> Path:
    """Make ``.venv/check``, where ruff and mypy live; answer its Python."""
    for version in ("3.11", "3.13", "3.12"):
        if find_python(version):
            python = ensure_environment("check", version, CHECK_TOOLS)
            _stamp("check", CHECK_TOOLS)
            return python
    raise SetupError("ruff and mypy need Python 3.11, 3.12 or 3.13 on PATH")


def ensure_environment(name: str, version: str, requirements: Sequence[str]) -> Path:
    """Make the environment ``name`` and install ``requirements``, unless its stamp says that it is done."""
    python = python_of(name)
    if _stamped(name, requirements):
        return python
    if not python.exists() or _version_of([str(python)]) != version:
        found = find_python(version)
        if not found:
            raise SetupError(f"Python {version} with venv is not on PATH (python{version}); install it first")
        _call([*found, "-m", "venv", "--clear", str(VENVS / name)], f"{name}: venv could not be made")
    _install(python, name, requirements)
    return python


def ensure_more(python: Path, name: str, requirements: Sequence[str]) -> None:
    """Install what only one command needs into the environment ``name``, unless it is there."""
    stamp = VENVS / name / f"{STAMP}-{_digest(requirements)[:8]}"
    if not stamp.is_file():
        _install(python, name, requirements)
        stamp.touch()


def _install(python: Path, name: str, requirements: Sequence[str]) -> None:
    print(f"dev.py: installing {', '.join(requirements)} into .venv/{name}", file=sys.stderr)
    _call([str(python), "-m", "pip", "install", "-q", *requirements], f"pip could not install {requirements[0]}")


def ensure_blender_packages(python_version: str) -> Path:
    """A folder with pytest and hypothesis for the Python inside a full Blender."""
    name = f"blender-{python_version}"
    if not _stamped(name, TEST_TOOLS):
        target = VENVS / name
        shutil.rmtree(target, ignore_errors=True)
        chosen = ["--target", str(target), "--only-binary=:all:", "--python-version", python_version]
        command = [sys.executable, "-m", "pip", "install", "-q", *chosen, *TEST_TOOLS]
        _call(command, f"pip could not install pytest for Blender's Python {python_version}")
        _stamp(name, TEST_TOOLS)
    return VENVS / name


def link_package() -> Path:
    """The folder from which ``import limb_ik`` finds this checkout, whatever the checkout is called."""
    link = LINKS / "limb_ik"
    if not link.exists():
        LINKS.mkdir(exist_ok=True)
        try:
            link.symlink_to("..", target_is_directory=True)
        except OSError as error:
            raise SetupError(f"{link} could not be made (Windows: switch on Developer Mode): {error}") from error
    return LINKS


def find_python(version: str) -> list[str]:
    """The command of a working Python ``version`` that has venv; empty where there is none."""
    return next((c for c in _candidates(version) if _version_of(c) == version), [])


def _candidates(version: str) -> Iterator[list[str]]:
    """This Python, every ``python<version>`` on PATH (the first may be a shim that leads nowhere), pyenv's."""
    yield [sys.executable]
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which(f"python{version}", path=folder)
        if found:
            yield [found]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from ([str(found)] for found in sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}")))
    if os.name == "nt" and shutil.which("py"):
        yield ["py", f"-{version}"]


def _version_of(command: Sequence[str]) -> str:
    """The x.y of a Python that starts and has ensurepip; else an empty string."""
    code = "import sys, ensurepip; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([*command, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def python_of(name: str) -> Path:
    """Where the environment's Python is, made or not."""
    return VENVS / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _check_import(python: Path) -> None:
    """Import bpy once; a bare Linux lacks libraries of the window system that it is linked with."""
    done = subprocess.run([str(python), "-c", "import bpy"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    if "shared object file" in last:
        raise SetupError(f"{last}\nOn Debian or Ubuntu:  sudo apt-get install -y {APT_PACKAGES}")
    raise SetupError(f"import bpy failed: {last}")


def _digest(requirements: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(requirements).encode()).hexdigest()


def _stamped(name: str, requirements: Sequence[str]) -> bool:
    stamp = VENVS / name / STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _digest(requirements)


def _stamp(name: str, requirements: Sequence[str]) -> None:
    (VENVS / name / STAMP).write_text(_digest(requirements), encoding="utf-8")


def _call(command: Sequence[str], failure: str) -> None:
    done = subprocess.run(command, check=False)
    if done.returncode != 0:
        raise SetupError(f"{failure} (exit status {done.returncode} of {' '.join(command)})")
