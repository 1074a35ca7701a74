"""One command for set-up, demo, tests and checks: ``python tools/dev.py COMMAND`` (standard library only).

Takes Python 3.11 or 3.13, for which Blender is to be had as a package (bpy), and
keeps everything it makes in ``.venv``, ``.typecheck`` and ``dist``. Full Blenders,
for what needs the real program, are named in LIMB_IK_BLENDER (several with the
path separator between them).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import environments as envs
import packing
from environments import ROOT, SetupError

TOOLS = ROOT / "tools"
SUITE_LIMIT_S = 900
"""A suite that takes longer hangs; one run takes about a minute."""
BLENDER_SAYS = ("Blender ", "Error: script failed")
"""Beginnings of the lines that a full Blender says on its way out."""


def main() -> int:
    """Parse the command line, do the command, answer the exit status."""
    parser = argparse.ArgumentParser(prog="dev.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, function in COMMANDS.items():
        command = commands.add_parser(name, help=(function.__doc__ or "").splitlines()[0], add_help=False)
        command.add_argument("--blender", metavar="X.Y", help="one of " + ", ".join(b.version for b in envs.BLENDERS))
    arguments, rest = parser.parse_known_args()
    try:
        return COMMANDS[arguments.command](arguments.blender, rest)
    except SetupError as error:
        print(f"dev.py: {error}", file=sys.stderr)
        return 1


def command_env(version: str | None, rest: Sequence[str]) -> int:
    """Make the environment of one Blender (--blender 4.5; default: the one that fits this Python)."""
    blender, python = _environment(version)
    print(f"Blender {blender.version}: {python}")
    return 0


def command_demo(version: str | None, rest: Sequence[str]) -> int:
    """A rig that Blender ships, IK on its limbs, baked, with a picture."""
    _, python = _environment(version)
    return _call([str(python), "-m", "limb_ik", "demo", *rest], _package_path())


def command_test(version: str | None, rest: Sequence[str]) -> int:
    """The test suite; further arguments go to pytest."""
    blender, python = _environment(version)
    print(f"dev.py: Blender {blender.version} ({python})", file=sys.stderr)
    with packing.clean_blender() as environment:
        return _call([str(python), "-m", "pytest", *rest], environment)


def command_check(version: str | None, rest: Sequence[str]) -> int:
    """Format, lint, types, zip, its installation, and the suite on the other Blenders."""
    first, python = _environment(version)
    results = _check_code()
    archive = packing.build(python)
    results.append((f"zip {archive.name}", "built, valid", 0))
    for blender in envs.BLENDERS:
        results += _check_blender(blender, archive, with_suite=blender != first, pytest_arguments=rest)
    for program in _full_blenders():
        results.append(_install([program, "-b", "--factory-startup", "--python-exit-code", "1"], archive, program))
        results.append(_command_line(program, archive))
    print("\n== check ==")
    for what, line, code in results:
        print(f"{'ok' if code == 0 else 'FAILED':7}{what}: {line}")
    return 1 if any(code for _, _, code in results) else 0


def command_build(version: str | None, rest: Sequence[str]) -> int:
    """The extension's zip in dist/, built and validated by Blender's own tool."""
    print(packing.build(_environment(version)[1]))
    return 0


def command_bench(version: str | None, rest: Sequence[str]) -> int:
    """Speed and accuracy, side by side with native IK where there is one: bench NAME ARGS, or all of bench/."""
    scripts = {script.stem: script for script in sorted((ROOT / "bench").glob("*.py")) if script.stem[0] != "_"}
    chosen = [rest[0]] if rest and rest[0] in scripts else list(scripts)
    arguments = rest[1:] if rest and rest[0] in scripts else rest
    python = str(_environment(version)[1])
    codes = []
    for name in chosen:
        print(f"== {name}", flush=True)
        codes.append(_call([python, str(scripts[name]), *arguments], _package_path()))
    return max(codes, default=0)


def command_blender(version: str | None, rest: Sequence[str]) -> int:
    """The test suite inside every full Blender of LIMB_IK_BLENDER."""
    programs = _full_blenders()
    if not programs:
        raise SetupError("LIMB_IK_BLENDER names no full Blender")
    return max(_suite_in_full_blender(program, rest) for program in programs)


def command_gui(version: str | None, rest: Sequence[str]) -> int:
    """A full Blender with the extension installed and no settings of yours (LIMB_IK_BLENDER, else PATH)."""
    program = next(iter([*_full_blenders(), *filter(None, [shutil.which("blender")])]), None)
    if program is None:
        raise SetupError("no full Blender: name one in LIMB_IK_BLENDER")
    archive = packing.build(_environment(version)[1])
    with packing.clean_blender() as environment:
        return _call([program, "--factory-startup", *_installing(archive), *rest], environment)


def _installing(archive: Path, then: str = "") -> list[str]:
    """Arguments that make a Blender install the zip as it starts."""
    options = f"filepath={str(archive)!r}, repo='user_default', enable_on_install=True"
    expression = f"import bpy; bpy.ops.extensions.package_install_files({options}); {then}"
    return ["--python-exit-code", "1", "--python-expr", expression]


def _environment(version: str | None) -> tuple[envs.Blender, Path]:
    if version is None:
        return envs.ensure_default()
    blender = envs.find_blender(version)
    return blender, envs.ensure(blender)


def _package_path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(envs.link_package())}


def _full_blenders() -> list[str]:
    return [p for p in os.environ.get("LIMB_IK_BLENDER", "").split(os.pathsep) if p]


Result = tuple[str, str, int]
"""What was checked, its closing line, its exit status."""


def _check_code() -> list[Result]:
    python = str(envs.ensure_checkers())
    envs.link_package()
    steps = {
        "format": ["ruff", "format", "--check", "."],
        "lint": ["ruff", "check", "."],
        "types": ["mypy", "-p", "limb_ik"],
        "types of tools": ["mypy", "-m", "dev", "-m", "environments", "-m", "packing"],
    }
    environment = {**os.environ, "MYPYPATH": str(TOOLS)}
    return [(name, *_closing_line([python, "-m", *step], environment)) for name, step in steps.items()]


def _check_blender(
    blender: envs.Blender, archive: Path, *, with_suite: bool, pytest_arguments: Sequence[str]
) -> list[Result]:
    """The suite and the installation in one Blender; a Python that is not there is said, not failed."""
    if not envs.find_python(blender.python) and not envs.python_of(blender.version).exists():
        return [(f"Blender {blender.version}", f"NOT CHECKED, no Python {blender.python} on PATH", 0)]
    python = str(envs.ensure(blender))
    results = [_install([python], archive, f"Blender {blender.version}")]
    if with_suite:
        with packing.clean_blender() as environment:
            line = _closing_line([python, "-m", "pytest", "-q", *pytest_arguments], environment)
        results.append((f"suite on Blender {blender.version}", *line))
    return results


def _install(command: Sequence[str], archive: Path, name: str) -> Result:
    """Install the zip into a Blender without settings, switch it on, off, on and off again."""
    script = [str(TOOLS / "install_check.py")]
    call = (
        [*command, "--python", *script, "--", str(archive)] if len(command) > 1 else [*command, *script, str(archive)]
    )
    with packing.clean_blender() as environment:
        return (f"zip installed in {name}", *_closing_line(call, environment))


def _command_line(program: str, archive: Path) -> Result:
    """``blender --command limb_ik --help``, which asks for an extension that is enabled in the user's settings."""
    with packing.clean_blender() as environment:
        install = [program, "-b", *_installing(archive, "bpy.ops.wm.save_userpref()")]
        line, code = _closing_line(install, environment)
        if code == 0:
            line, code = _closing_line([program, "--command", "limb_ik", "--help"], environment)
    return (f"{program} --command limb_ik --help", line, code)


def _suite_in_full_blender(program: str, rest: Sequence[str]) -> int:
    expression = "import sys; print('python %d.%d' % sys.version_info[:2])"
    asked = subprocess.run(
        [program, "-b", "--factory-startup", "--python-expr", expression], capture_output=True, text=True, check=False
    )
    version = next((line[7:] for line in asked.stdout.splitlines() if line.startswith("python ")), None)
    if version is None:
        raise SetupError(f"{program} did not start:\n{asked.stderr}")
    start = ["-b", "--factory-startup", "--python-exit-code", "1", "--python", str(TOOLS / "run_in_blender.py")]
    with packing.clean_blender() as environment:
        environment["LIMB_IK_PACKAGES"] = str(envs.ensure_blender_packages(version))
        return _call([program, *start, "--", *rest], environment)


def _call(command: Sequence[str], environment: dict[str, str]) -> int:
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _closing_line(command: Sequence[str], environment: dict[str, str]) -> tuple[str, int]:
    """Run a step with its output shown; answer its last line and exit status."""
    print(f"\n== {' '.join(command)}", flush=True)
    last = ""
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        alarm = threading.Timer(SUITE_LIMIT_S, process.kill)
        alarm.start()
        for line in process.stdout:
            print(line, end="", flush=True)
            last = last if line.startswith(BLENDER_SAYS) else (line.strip() or last)
        alarm.cancel()
    return last, process.returncode


COMMANDS: dict[str, Callable[[str | None, Sequence[str]], int]] = {
    "env": command_env,
    "demo": command_demo,
    "test": command_test,
    "check": command_check,
    "build": command_build,
    "bench": command_bench,
    "gui": command_gui,
    "blender": command_blender,
}

if __name__ == "__main__":
    sys.exit(main())
