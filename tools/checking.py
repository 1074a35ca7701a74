"""The steps of ``dev.py check``, as many at a time as there are processors (standard library only)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import environments as envs
import full_blender
import packing
from environments import ROOT

TOOLS = ROOT / "tools"
LIMIT_S = 900
"""A step that takes longer hangs: a suite takes three to five minutes."""
TYPED_TOOLS = ("dev", "environments", "packing", "full_blender", "checking", "scenarios", "covering")
"""What runs without Blender; the others are scripts for its inside."""
BLENDER_SAYS = ("Blender ", "Error: script failed")
"""Beginnings of the lines that a full Blender says on its way out."""


@dataclass(frozen=True)
class Step:
    """Commands that run one after the other, up to the first that fails; none: only said."""

    name: str
    commands: Sequence[Sequence[str]] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""


def code_steps() -> list[Step]:
    """Format, lint and types."""
    python = str(envs.ensure_checkers())
    envs.link_package()
    tools = [argument for name in TYPED_TOOLS for argument in ("-m", name)]
    return [
        Step("format", [[python, "-m", "ruff", "format", "--check", "."]]),
        Step("lint", [[python, "-m", "ruff", "check", "."]]),
        Step("types", [[python, "-m", "mypy", "-p", "limb_ik"]]),
        Step("types of tools", [[python, "-m", "mypy", *tools]], {"MYPYPATH": str(TOOLS)}),
    ]


def wheel_steps(blender: envs.Blender, archive: Path, pytest_arguments: Sequence[str] | None) -> list[Step]:
    """Installation and suite (None: no suite) in one bpy package; where its Python is missing, that is said."""
    name = f"Blender {blender.version}"
    if not envs.find_python(blender.python) and not envs.python_of(blender.version).exists():
        return [Step(name, remark=f"NOT CHECKED, no Python {blender.python} found")]
    python = str(envs.ensure(blender))
    steps = [Step(f"zip installed in {name}", [[python, str(TOOLS / "install_check.py"), str(archive)]])]
    if pytest_arguments is not None:
        steps.append(Step(f"suite on {name}", [[python, "-m", "pytest", "-q", *pytest_arguments]]))
    return steps


def program_steps(program: str, archive: Path, pytest_arguments: Sequence[str]) -> list[Step]:
    """Installation, ``--command limb_ik`` (which asks for saved settings) and suite in a full Blender."""
    script = ["--python", str(TOOLS / "install_check.py"), "--", str(archive)]
    saving = full_blender.installing(archive, "bpy.ops.wm.save_userpref()")
    suite, variables = full_blender.suite(program, ["-q", *pytest_arguments])
    return [
        Step(f"zip installed in {program}", [[program, *full_blender.SCRIPTED, *script]]),
        Step(f"{program} --command", [[program, "-b", *saving], [program, "--command", "limb_ik", "--help"]]),
        Step(f"suite in {program}", [suite], variables),
        Step(f"window of {program}", [[sys.executable, str(TOOLS / "window.py"), program, str(archive)]]),
    ]


def run(steps: Sequence[Step]) -> int:
    """Run the steps, show what each said when it is done, then one line for each; answer the exit status."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(_run_step, steps))
    print("\n== check ==")
    for step, (line, code) in zip(steps, results, strict=True):
        print(f"{'ok' if code == 0 else 'FAILED':7}{step.name}: {line}")
    return 1 if any(code for _, code in results) else 0


_printing = threading.Lock()


def _run_step(step: Step) -> tuple[str, int]:
    """Closing line and exit status of a step."""
    line, code = step.remark, 0
    with packing.clean_blender() as environment:
        for command in step.commands:
            output, code = _output(command, {**environment, **step.variables})
            said = [text.strip() for text in output.splitlines() if text.strip() and not text.startswith(BLENDER_SAYS)]
            line = said[-1] if said else ""
            with _printing:
                print(f"\n== {step.name}: {' '.join(command)}\n{output}", flush=True)
            if code:
                break
    return line, code


def _output(command: Sequence[str], environment: Mapping[str, str]) -> tuple[str, int]:
    """Everything a command says, and its exit status; one that hangs is ended."""
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            output += f"\nended after {LIMIT_S} s: it hung"
    return output, process.returncode
