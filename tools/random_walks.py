"""Random sequences of operations, many, in child processes, so that a crash of Blender is a result like another.

    .venv/4.5/bin/python tools/random_walks.py [--count 1000] [--seed 20000]

Plays ``tests/scenarios/test_random_operators.py`` from ``--seed`` on, a hundred ways to a process. Prints what
failed with pytest's words, and the seeds that ended the process; one of them alone is seen with
``LIMB_IK_SEED=<seed> dev.py test tests/scenarios/test_random_operators.py -k "[<seed>]"``. Exit status 1 where
there is one. No test dependency; standard library only.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = "tests/scenarios/test_random_operators.py"
AT_ONCE, WAYS = 96, 8
"""Ways to a process, and how many one LIMB_IK_SOAK stands for."""
LIMIT_S = 1800
RESULT = re.compile(r"\[(\d+)\] *(PASSED|FAILED|ERROR)?")


@dataclass
class Found:
    """What came of the seeds so far."""

    passed: int = 0
    bad: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20_000)
    options = parser.parse_args()
    found, seed, end = Found(), options.seed, options.seed + options.count
    while seed < end:
        seed = play(seed, min(AT_ONCE, end - seed), found)
        print(f"{seed - options.seed} of {options.count} ways, {found.passed} passed", flush=True)
    print(f"{found.passed} passed, {len(found.bad)} did not" + "".join(f"\n  {one}" for one in found.bad))
    return 1 if found.bad else 0


def play(first: int, count: int, found: Found) -> int:
    """Play up to ``count`` ways; answers the seed to go on with, which is the one after a crash."""
    last = first + count
    soak = -(-count // WAYS)
    variables = {**os.environ, "LIMB_IK_SEED": str(first), "LIMB_IK_SOAK": str(soak)}
    call = [sys.executable, "-m", "pytest", SCRIPT, "-v", "--tb=short", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            call, cwd=ROOT, env=variables, capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired:
        found.bad.append(f"seeds {first} to {last - 1}: not done in {LIMIT_S} s")
        return last
    said, _, failures = done.stdout.partition("= FAILURES")
    results = [(int(seed), result) for seed, result in RESULT.findall(said) if int(seed) < last]
    for seed, result in results:
        found.passed += result == "PASSED"
        if result != "PASSED":
            found.bad.append(f"seed {seed}: {result.lower() or 'the process ended'}")
    if failures:
        print(failures, flush=True)
    if not results:
        found.bad.append(f"seed {first}: nothing was played: {(done.stdout + done.stderr)[-500:]}")
        return last
    return last if results[-1][1] else results[-1][0] + 1


if __name__ == "__main__":
    sys.exit(main())
