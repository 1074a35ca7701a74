"""Scenario × Blender: which of what users of IK tools ran into is held by tests, and where (standard library only).

A test belongs to a scenario by its name, ``test_lb_07_…``.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import environments as envs
import full_blender
import packing
from environments import ROOT

SCENARIOS = {
    1: "the solver never takes its own output as input",
    2: "off gives the FK pose back",
    3: "keyed bones have no lag",
    4: "a long chain is final after one update",
    5: "a render shows the pose of its frames",
    6: "handlers don't trigger themselves",
    7: "any transform of the armature object",
    8: "every rotation mode",
    9: "target and pole nearly in line",
    11: "baked rotations stay continuous",
    12: "keys land in the armature's own slot",
    13: "undo and redo",
    14: "a straight chain bends",
    16: "limits are part of the solve",
    17: "library overrides keep their edits",
    18: "a bake is applied once",
    20: "look-at under turned parents",
    21: "no plane of targets flips the bones",
    22: "look-at straight behind, above, below",
    23: "look-at past its limit",
    24: "a target nearer than the limb can fold",
    26: "bones without length, scale of zero",
    27: "adding a pole changes nothing",
    28: "bones turn with the bend plane",
    29: "the elbow is on the pole's side",
    31: "inherit rotation and scale",
    32: "scaled parents",
    33: "blending keeps lengths",
    34: "a switch is eased",
    35: "partial weight takes the short way",
    37: "the same pose whatever the order of frames",
    39: "a failed render leaves nothing stuck",
    40: "enabling and disabling leaves nothing behind",
    41: "a loaded file works at once",
    42: "no screen, no active object needed",
    44: "a deleted target or pole",
    45: "a deleted armature",
    46: "duplicated rigs",
    48: "an edited skeleton",
    50: "panels and polls are cheap",
    51: "selecting and hiding bones in every version",
    52: "files of an older Blender",
    53: "baking from any mode and selection",
    55: "constraints and drivers beside a chain",
    56: "shear",
    57: "locked channels",
    59: "targets on another solved rig",
    60: "targets below their own chain",
    61: "limits of the root win over the pole",
    62: "a smallest angle above zero",
    63: "ranges across 180°",
    64: "degrees and radians",
    65: "a range for each direction",
    66: "no trembling at a limit",
    67: "near full extension",
    68: "lengths hold",
    70: "bones below the end",
    71: "snapping gives the pose back",
    72: "far from the origin",
    73: "impossible chains are named",
    74: "iteration ends",
    75: "neighbouring targets, neighbouring poses",
    76: "a bake leaves the scene as it was",
    78: "modes stay as they are",
    79: "installed as an extension, anywhere",
    80: "a pole for long chains",
}
NAME = re.compile(r"test_lb_?(\d\d)_")
CHOSEN = " or ".join(f"test_lb{dash}{digit}" for dash in ("", "_") for digit in range(10))
"""pytest's -k: it takes parts of names."""
PASSED, FAILED, NONE = "✓", "✗", "–"
BAD = {"failure", "error"}
ENDINGS = {*BAD, "skipped"}
PROGRAM = "*"
"""Behind the version of a full Blender."""
Outcomes = dict[int, list[tuple[str, str]]]
"""By scenario: its tests' names, and what each ended with ("passed" or one of ``ENDINGS``)."""


@dataclass(frozen=True)
class Column:
    """One Blender, and what runs pytest in it."""

    name: str
    command: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)


def columns(version: str | None) -> list[Column]:
    """All Blenders that are there, or the one package of a version."""
    chosen = [envs.find_blender(version)] if version else list(envs.BLENDERS)
    found = [Column(b.version, [str(envs.ensure(b)), "-m", "pytest"]) for b in chosen if envs.find_python(b.python)]
    for program in [] if version else full_blender.programs():
        command, variables = full_blender.suite(program, [])
        found.append(Column(f"{_version(program)}{PROGRAM}", command, variables))
    return sorted(found, key=lambda column: column.name)


def _version(program: str) -> str:
    """The x.y of a full Blender."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return ".".join(re.findall(r"\d+", said)[:2]) or program


def table(found: Sequence[Column], arguments: Sequence[str]) -> int:
    """Run the scenarios' tests in each Blender and print what came of them; 1 where one failed or is missing."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        results = list(pool.map(lambda column: outcomes(column, arguments), found))
    print("\n".join(lines_of([column.name for column in found], results)))
    return 0 if all(mark_of(result.get(number, [])) == PASSED for result in results for number in SCENARIOS) else 1


def lines_of(names: Sequence[str], results: Sequence[Outcomes]) -> list[str]:
    """A line for each scenario, a column for each Blender, the tests that failed below; mark and number of tests."""
    widths = [max(len(name), 6) for name in names]

    def row(head: str, cells: Sequence[str], phrase: str) -> str:
        return "  ".join([f"{head:6}", *(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True)), phrase]).rstrip()

    found = [row("", names, "")]
    for number, phrase in SCENARIOS.items():
        ended = [result.get(number, []) for result in results]
        found.append(row(f"LB-{number:02}", [f"{mark_of(tests)} {len(tests):3}" for tests in ended], phrase))
    whole = [sum(mark_of(result.get(number, [])) == PASSED for number in SCENARIOS) for result in results]
    found.append(row("passed", [str(count) for count in whole], f"of {len(SCENARIOS)}"))
    if any(name.endswith(PROGRAM) for name in names):
        found.append(f"{PROGRAM} the program itself; the others are Blender's Python packages")
    for name, result in zip(names, results, strict=True):
        tests = sorted(test for tests in result.values() for test in tests)
        found += [f"{name}: {test} {ending}" for test, ending in tests if ending in BAD]
    return found


def outcomes(column: Column, arguments: Sequence[str]) -> Outcomes:
    """What each test of a scenario ended with, by scenario."""
    found: Outcomes = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, packing.clean_blender() as environment:
        report = Path(folder) / "report.xml"
        words = [*column.command, "-q", "-k", CHOSEN, f"--junitxml={report}", *arguments]
        done = subprocess.run(
            words, cwd=ROOT, env={**environment, **column.variables}, capture_output=True, text=True, check=False
        )
        if not report.exists():
            print(f"{column.name} did not finish (status {done.returncode}):\n{done.stdout}{done.stderr}")
            return {}
        for case in ElementTree.parse(report).iter("testcase"):
            name = case.get("name", "")
            if match := NAME.match(name):
                ending = next((child.tag for child in case if child.tag in ENDINGS), "passed")
                found[int(match[1])].append((name, ending))
    return found


def mark_of(tests: Sequence[tuple[str, str]]) -> str:
    """One sign for the tests of a scenario: passed where all that ran did, and one ran."""
    ended = {ending for _, ending in tests}
    if BAD & ended:
        return FAILED
    return PASSED if "passed" in ended else NONE
