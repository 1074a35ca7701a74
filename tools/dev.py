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
from collections.abc import Callable, Sequence
from pathlib import Path

import checking
import covering
import environments as envs
import full_blender
import packing
import scenarios
import window
from environments import ROOT, SetupError


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


def command_env(version: str | None, _rest: Sequence[str]) -> int:
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


def command_coverage(version: str | None, rest: Sequence[str]) -> int:
    """The test suite, and by package how many lines it runs; -v names the others."""
    blender, python = _environment(version)
    return covering.run(python, blender.version, rest)


def command_check(version: str | None, rest: Sequence[str]) -> int:
    """Format, lint, types, zip, its installation, and the suite on the other Blenders; arguments go to pytest."""
    first, python = _environment(version)
    archive = packing.build(python)
    steps = [*checking.code_steps(), checking.Step(f"zip {archive.name}", remark="built, valid")]
    for blender in envs.BLENDERS:
        steps += checking.wheel_steps(blender, archive, None if blender == first else rest)
    for program in full_blender.programs():
        steps += checking.program_steps(program, archive, rest)
    return checking.run(steps)


def command_build(version: str | None, _rest: Sequence[str]) -> int:
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


def command_scenarios(version: str | None, rest: Sequence[str]) -> int:
    """Scenario × Blender: what the tests of each scenario ended with; arguments go to pytest."""
    return scenarios.table(scenarios.columns(version), rest)


def command_blender(_version: str | None, rest: Sequence[str]) -> int:
    """The test suite inside every full Blender of LIMB_IK_BLENDER."""
    codes = []
    for program in full_blender.programs() or [full_blender.any_program()]:
        command, variables = full_blender.suite(program, rest)
        with packing.clean_blender() as environment:
            codes.append(_call(command, {**environment, **variables}))
    return max(codes)


def command_gui(version: str | None, rest: Sequence[str]) -> int:
    """Clicks, keys, playback and a render in the window of every full Blender of LIMB_IK_BLENDER; or named cases."""
    archive, codes = None, []
    programs = full_blender.programs() or list(filter(None, [shutil.which("blender")]))
    if not programs:
        print(f"SKIPPED, no full Blender: name one in {full_blender.VARIABLE}")
    for program in programs:
        if reason := window.why_not(program):
            print(f"{program}: SKIPPED, {reason}")
            continue
        archive = archive or packing.build(_environment(version)[1])
        print(f"== {program}", flush=True)
        with packing.clean_blender() as environment:
            codes.append(window.run(program, archive, environment, rest))
    return max(codes, default=0)


def command_pictures(version: str | None, rest: Sequence[str]) -> int:
    """The pictures of the README, made anew in a full Blender's window."""
    program = full_blender.any_program()
    if reason := window.why_not(program):
        raise SetupError(reason)
    archive = packing.build(_environment(version)[1])
    with packing.clean_blender() as environment:
        return window.run(program, archive, environment, rest, window.DOCUMENTATION)


def command_open(version: str | None, rest: Sequence[str]) -> int:
    """A full Blender with the extension installed and no settings of yours (LIMB_IK_BLENDER, else PATH)."""
    program = full_blender.any_program()
    archive = packing.build(_environment(version)[1])
    with packing.clean_blender() as environment:
        return _call([program, "--factory-startup", *full_blender.installing(archive), *rest], environment)


def _environment(version: str | None) -> tuple[envs.Blender, Path]:
    if version is None:
        return envs.ensure_default()
    blender = envs.find_blender(version)
    return blender, envs.ensure(blender)


def _package_path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(envs.link_package())}


def _call(command: Sequence[str], environment: dict[str, str]) -> int:
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


COMMANDS: dict[str, Callable[[str | None, Sequence[str]], int]] = {
    "env": command_env,
    "demo": command_demo,
    "test": command_test,
    "coverage": command_coverage,
    "check": command_check,
    "build": command_build,
    "scenarios": command_scenarios,
    "bench": command_bench,
    "gui": command_gui,
    "pictures": command_pictures,
    "open": command_open,
    "blender": command_blender,
}

if __name__ == "__main__":
    sys.exit(main())
