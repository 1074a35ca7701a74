"""Two bones with joint limits against brute force: is every reachable target reached, nearest to the pole?

    python tools/dev.py bench limits_brute_force [--cases 100000] [--seed 1] [--processes 2] [--case "0 12 34"]

Random limbs, half of the targets taken from legal poses. Brute force turns each limb about its line in steps and
measures every pose with formulas of its own. Prints counts, and for each disagreement the numbers that ``--case``
takes to see it alone; exit status 1 where the two disagree. 100,000 cases take seven minutes of processor time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import queue
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import bpy  # noqa: F401  (first: mathutils is part of it)
import numpy as np
from _brute_force import Array, Limb, excess, legal_swivels, limb_of, matrix
from _random_limbs import Case, random_case, unit
from limb_ik.solvers import two_bone_limits
from limb_ik.solvers.chain import JointKind, Solution, Status

SLACK = 2e-5
"""Radians: what float32 deltas and frames cost, also where twist is badly conditioned."""
MISSED = 1e-5
"""Part of the length within which a target is reached."""
STRAIGHT = 0.02
"""Elbow height, part of the length, below which its direction is left to roll."""
FURTHER = 2e-3
"""Radians from the pole that count: brute force stands on steps, the solver on the arc's end."""
CHUNK = 250
"""Cases to one seed: any case can be made again without those of other chunks."""
POLL_S = 5.0
"""How often it is looked whether the other processes live."""

FAMILIES = [
    ("hinge knee, ball root", JointKind.BALL, JointKind.HINGE, False, 0.6),
    ("hinge knee, free root", JointKind.FREE, JointKind.HINGE, False, 0.1),
    ("ball knee, ball root", JointKind.BALL, JointKind.BALL, False, 0.1),
    ("free knee, ball root", JointKind.BALL, JointKind.FREE, False, 0.1),
    ("hinge knee, ball root, bone Y off the limb", JointKind.BALL, JointKind.HINGE, True, 0.05),
    ("hinge knee, hinge root", JointKind.HINGE, JointKind.HINGE, False, 0.03),
    ("free knee, hinge root", JointKind.HINGE, JointKind.FREE, False, 0.01),
    ("ball knee, hinge root", JointKind.HINGE, JointKind.BALL, False, 0.01),
]
"""Name, kinds of the root and the mid joint, whether bones point off the limb, part of the cases."""


@dataclass
class Tally:
    """Counts over many cases; ``worst_…`` are the largest."""

    cases: int = 0
    legal_targets: int = 0
    legal_missed: int = 0
    reached: int = 0
    illegal: int = 0
    unreached: int = 0
    further_from_pole: int = 0
    compared_swivels: int = 0
    wrongly_told: int = 0
    worst_excess: float = 0.0
    worst_swivel: float = 0.0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    @property
    def disagreements(self) -> int:
        return self.legal_missed + self.illegal + self.unreached + self.further_from_pole + self.wrongly_told

    def add(self, other: Tally) -> None:
        for one in fields(self):
            mine, more = getattr(self, one.name), getattr(other, one.name)
            setattr(self, one.name, max(mine, more) if one.name.startswith("worst") else mine + more)


@dataclass(frozen=True)
class Answer:
    """What the solver did with a case, measured. ``over``: radians outside limits; ``miss``: part of the length."""

    solution: Solution
    limb: Limb
    root_local: Array
    over: float
    miss: float

    @property
    def is_reached(self) -> bool:
        return self.miss <= MISSED


def check(case: Case, tally: Tally) -> None:
    """Solve a case, measure the answer, compare it with brute force."""
    answer, before = _answer(case, tally), tally.disagreements
    tally.cases += 1
    tally.worst_excess = max(tally.worst_excess, answer.over)
    tally.illegal += answer.over > SLACK
    tally.reached += answer.is_reached
    tally.wrongly_told += abs(answer.miss - answer.solution.error / answer.limb.length) > MISSED
    tally.legal_targets += case.is_legal_target
    tally.legal_missed += case.is_legal_target and not answer.is_reached
    if case.is_legal_target or answer.solution.status not in (Status.TOO_FAR, Status.TOO_NEAR):
        _compare(case, answer, tally)
    if tally.disagreements > before:
        tally.faults.append(f"miss {answer.miss:.1e}, {answer.over:.1e} rad outside, {answer.solution.status.name}")


def _answer(case: Case, tally: Tally) -> Answer:
    start = time.thread_time()
    solution = two_bone_limits.solve(case.chain, case.goal)
    tally.seconds += time.thread_time() - start
    limb = limb_of(case)
    root, mid = case.chain.joints
    pairs = zip(solution.deltas, case.chain.joints, strict=True)
    root_now, mid_now = (matrix(np.array(delta)) @ matrix(np.array(joint.fk)) for delta, joint in pairs)
    root_local = matrix(np.array(root.frame)).T @ root_now
    mid_local = (root_now @ limb.carry).T @ mid_now
    over = float(max(excess(root.limits, root_local), excess(mid.limits, mid_local)))
    end = np.array(root.head) + root_now @ limb.upper + mid_now @ limb.lower
    miss = float(np.linalg.norm(end - np.array(case.goal.target))) / limb.length
    return Answer(solution, limb, root_local, over, miss)


def _compare(case: Case, answer: Answer, tally: Tally) -> None:
    """Whether brute force reaches what wasn't, or reaches it nearer to the pole."""
    limb = answer.limb
    is_hinged = case.chain.joints[0].limits.kind == JointKind.HINGE
    swivels = np.array([]) if is_hinged else legal_swivels(case, limb, 0.0)
    if not len(swivels):
        return
    tally.unreached += not answer.is_reached
    if answer.is_reached and limb.height > STRAIGHT * limb.length and not limb.is_over:
        elbow = answer.root_local @ limb.upper
        line = unit(limb.to_target)
        out = elbow - line * (line @ elbow)
        swivel = abs(math.atan2(np.cross(limb.elbow, out) @ line, limb.elbow @ out))
        further = swivel - float(swivels.min())
        tally.compared_swivels += 1
        tally.worst_swivel = max(tally.worst_swivel, further)
        tally.further_from_pole += further > FURTHER


Chunk = tuple[int, int, int, int]
"""Seed, family, number of the chunk in its family, cases in it."""


def chunks(cases: int, seed: int) -> Iterator[Chunk]:
    """What is to be done; the same seed gives the same cases, however many processes there are."""
    for family, (*_, part) in enumerate(FAMILIES):
        left, number = round(cases * part), 0
        while left > 0:
            yield seed, family, number, min(CHUNK, left)
            left, number = left - CHUNK, number + 1


def work(chunk: Chunk, only: int | None = None) -> tuple[int, Tally]:
    """One chunk, or a single case of it."""
    seed, family, number, count = chunk
    _, root_kind, mid_kind, tilted, _ = FAMILIES[family]
    rng, tally = np.random.default_rng([seed, family, number]), Tally()
    for index in range(count):
        case = random_case(rng, root_kind, mid_kind, tilted)
        if only is None or index == only:
            known = len(tally.faults)
            check(case, tally)
            tally.faults[known:] = [f'--case "{family} {number} {index}": {it}' for it in tally.faults[known:]]
    return family, tally


def run(cases: int, seed: int, processes: int = 1) -> dict[str, Tally]:
    """All families, a tally each."""
    tallies = {name: Tally() for name, *_ in FAMILIES}
    todo = list(chunks(cases, seed))
    for family, tally in map(work, todo) if processes == 1 else worked_apart(todo, processes):
        tallies[FAMILIES[family][0]].add(tally)
        if sys.stderr.isatty():
            done = sum(one.cases for one in tallies.values())
            print(f"\r{done} of {cases} cases\r", end="", file=sys.stderr, flush=True)
    return tallies


def worked_apart(todo: list[Chunk], processes: int) -> Iterator[tuple[int, Tally]]:
    """The chunks' tallies as they come, from processes that each take a share of the list."""
    command = [sys.executable, str(Path(__file__)), "--worker"]
    found: queue.SimpleQueue[str] = queue.SimpleQueue()

    def one(share: list[Chunk]) -> int:
        with subprocess.Popen([*command, json.dumps(share)], stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                found.put(line)
        return process.returncode

    with ThreadPoolExecutor(processes) as pool:
        ends = [pool.submit(one, todo[number::processes]) for number in range(processes)]
        left = len(todo)
        while left:
            try:
                family, values = json.loads(found.get(timeout=POLL_S))
            except queue.Empty:
                if all(end.done() for end in ends) and found.empty():
                    raise SystemExit(f"a worker ended early, {left} chunks are left") from None
                continue
            left -= 1
            yield family, Tally(**values)


def worker(share: str) -> None:
    """What a process of ``worked_apart`` does: a line of JSON for each chunk."""
    for chunk in json.loads(share):
        family, tally = work(tuple(chunk))
        print(json.dumps([family, asdict(tally)]), flush=True)


def line_of(name: str, tally: Tally) -> str:
    return (
        f"{name}: {tally.cases} cases, {tally.reached} reached;"
        f" legal targets missed {tally.legal_missed}/{tally.legal_targets};"
        f" brute force reaches but not we {tally.unreached};"
        f" illegal {tally.illegal} (worst {tally.worst_excess:.1e} rad);"
        f" brute force nearer to the pole {tally.further_from_pole}/{tally.compared_swivels}"
        f" (worst {tally.worst_swivel:.1e} rad);"
        f" {1e6 * tally.seconds / max(tally.cases, 1):.0f} µs a solve"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--case", help='one case alone: "FAMILY CHUNK NUMBER", as a fault is printed')
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker)
        return 0
    total = Tally()
    if options.case:
        family, number, index = map(int, options.case.split())
        total = work((options.seed, family, number, index + 1), index)[1]
    else:
        for name, tally in run(options.cases, options.seed, options.processes).items():
            print(line_of(name, tally), flush=True)
            total.add(tally)
    print("\n".join([line_of("all", total), *total.faults, f"{total.disagreements} disagreements"]), flush=True)
    return 1 if total.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
