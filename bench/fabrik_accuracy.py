"""FABRIK: error by iterations, reach and bones; share of legal targets under limits; time per solve.

    python bench/fabrik_accuracy.py [--count N]

Errors are parts of the chain's length, measured on the float32 deltas as they leave the solver. "plain passes" is
textbook FABRIK from the same FK pose, for comparison. Times are processor time of the one process.
"""

from __future__ import annotations

import bpy  # isort: skip  (first: mathutils is part of it)

import argparse
import importlib.util
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
spec = importlib.util.spec_from_file_location("limb_ik", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
assert spec is not None
sys.modules.setdefault("limb_ik", importlib.util.module_from_spec(spec))  # not executed: nothing is registered

from limb_ik.solvers import chain_limits, fabrik  # noqa: E402
from limb_ik.solvers.chain import FREE_JOINT, Chain, Goal, JointLimits, Status  # noqa: E402
from limb_ik.solvers.chain_geometry import read  # noqa: E402
from limb_ik.solvers.joint_limits import excess  # noqa: E402
from limb_ik.solvers.rotations import as_quat  # noqa: E402
from limb_ik.solvers.vectors import as_vec  # noqa: E402

from chain_rows import ball, bent, hinge, limited, random_legal_poses, random_vector, straight, tip, total  # noqa: E402

REACHES = (0.2, 0.5, 0.9, 0.99, 0.999, 0.9999)
BONES = (2, 3, 6, 10, 30)
ITERATIONS = (0, 1, 2, 5, 10)
PLAIN = (10, 100, 500)
CROSSWISE = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
LIMITS: dict[str, list[JointLimits]] = {
    "free root, 2 hinges 0..150": [FREE_JOINT, hinge(0, 150), hinge(0, 150)],
    "3 balls x -10..60 z -30..5 twist 15": [ball((-10, 60), (-30, 5), (-15, 15))] * 3,
    "3 balls of 80, twist 40": [ball((-80, 80), (-80, 80), (-40, 40))] * 3,
    "arm: ball 60, hinge 0..150, hinge": [ball((-60, 60), (-60, 60), (-30, 30)), hinge(0, 150), hinge(-30, 60)],
    "ball, hinges 10..140 and -140..-10, ball": [
        ball((-60, 60), (-30, 30), (-20, 20)),
        hinge(10, 140),
        hinge(-140, -10),
        ball((-30, 30), (-20, 20), (-10, 10)),
    ],
    "free root, 5 hinges crosswise": [FREE_JOINT, *(hinge(-60, 60, CROSSWISE[n % 2]) for n in range(5))],
    "6 hinges crosswise": [hinge(-90, 90, CROSSWISE[0]), *(hinge(-60, 60, CROSSWISE[n % 2]) for n in range(5))],
    "6 balls of 30, twist 20": [ball((-30, 30), (-30, 30), (-20, 20))] * 6,
    "10 balls -20..45, 30, twist 20": [ball((-20, 45), (-30, 30), (-20, 20))] * 10,
    "10 balls -5..60, 10, twist 5": [ball((-5, 60), (-10, 10), (-5, 5))] * 10,
}


def fk_poses(bones: int) -> list[Chain]:
    """Straight, slightly bent and folded starts."""
    return [straight(bones, 1.0 / bones), bent(bones, 1.0 / bones, 0.5 / bones), bent(bones, 1.0 / bones, 5.0 / bones)]


def worst_error(bones: int, reach: float, count: int, miss: Callable[[Chain, Goal], float]) -> float:
    source = random.Random(bones)
    errors = []
    for _ in range(count):
        for chain in fk_poses(bones):
            target = random_vector(source).normalized() * reach
            errors.append(miss(chain, Goal(target, random_vector(source))))
    return max(errors)


def solver_miss(iterations: int) -> Callable[[Chain, Goal], float]:
    def miss(chain: Chain, goal: Goal) -> float:
        solution = fabrik.solve(chain, Goal(goal.target, goal.pole, iterations=iterations, tolerance=0.0))
        return (tip(chain, solution) - goal.target).length / total(chain)

    return miss


def plain_miss(iterations: int) -> Callable[[Chain, Goal], float]:
    def miss(chain: Chain, goal: Goal) -> float:
        row, target = read(chain), as_vec(goal.target)
        return fabrik.error_of(fabrik.passes(row.points, row.lengths, target, 0.0, iterations), target) / row.total

    return miss


def accuracy(count: int) -> None:
    columns = [f"{n} its" for n in ITERATIONS] + [f"plain {n}" for n in PLAIN]
    print("Without limits: largest error / length, straight, bent and folded starts, random targets and poles")
    print(f"{'bones':>5} {'reach %':>8} " + " ".join(f"{name:>9}" for name in columns))
    for bones in BONES:
        for reach in REACHES:
            errors = [worst_error(bones, reach, count, solver_miss(n)) for n in ITERATIONS]
            errors += [worst_error(bones, reach, 1, plain_miss(n)) for n in PLAIN]
            print(f"{bones:5d} {100 * reach:8.2f} " + " ".join(f"{error:9.1e}" for error in errors))


def solve_limited(poses: Sequence[Chain], ends: Sequence[Chain], iterations: int) -> tuple[float, float, list[float]]:
    """Share of legal targets solved to 1e-4, the worst joint's excess (rad), seconds of each solve."""
    solved, worst, seconds = 0, 0.0, []
    for chain, end in zip(poses, ends, strict=True):
        goal = Goal(end.end, iterations=iterations, tolerance=1e-4 * total(chain))
        begun = time.process_time()
        solution = fabrik.solve(chain, goal)
        seconds.append(time.process_time() - begun)
        solved += (tip(chain, solution) - goal.target).length <= 1e-4 * total(chain)
        locals_rest = chain_limits.locals_of(chain, [as_quat(delta) for delta in solution.deltas])
        worst = max(worst, *(excess(joint.limits, own) for joint, own in zip(chain.joints, locals_rest, strict=True)))
    return solved / len(poses), worst, seconds


def limits(count: int) -> None:
    print("\nWith limits: legal targets solved to 1e-4 of the length, from one random legal pose to the end of another")
    print(f"{'chain':38} {'10 its':>7} {'40 its':>7} {'excess':>8} {'median':>8} {'95 %':>8}")
    for name, own in LIMITS.items():
        rest = limited(straight(len(own)), own)
        poses, ends = list(random_legal_poses(rest, count, 1)), list(random_legal_poses(rest, count, 2))
        few, worst, seconds = solve_limited(poses, ends, 10)
        many, _, _ = solve_limited(poses, ends, 40)
        times = f"{1e3 * statistics.median(seconds):6.2f}ms {1e3 * sorted(seconds)[int(0.95 * count)]:6.2f}ms"
        print(f"{name:38} {100 * few:6.1f}% {100 * many:6.1f}% {worst:8.1e} {times}")


def out_of_legal_reach(count: int) -> None:
    print("\nWith limits, targets out of legal reach (10 iterations): time, and largest turn for a target 1e-5 away")
    print(f"{'chain':38} {'targets':>7} {'median':>8} {'95 %':>8} {'> 1e-3 rad':>10}")
    for name, own in LIMITS.items():
        chain = limited(straight(len(own)), own)
        source = random.Random(3)
        seconds, jumps = [], 0
        for _ in range(count):
            target = random_vector(source).normalized() * source.uniform(0.0, 1.0) * total(chain)
            begun = time.process_time()
            solution = fabrik.solve(chain, Goal(target))
            taken = time.process_time() - begun
            if solution.status == Status.LIMITED:
                near = fabrik.solve(chain, Goal(target + random_vector(source).normalized() * 1e-5 * total(chain)))
                turns = zip(solution.deltas, near.deltas, strict=True)
                jumps += max((a.inverted() @ b).to_exponential_map().length for a, b in turns) > 1e-3
                seconds.append(taken)
        if seconds:
            late = sorted(seconds)[int(0.95 * len(seconds))]
            times = f"{1e3 * statistics.median(seconds):6.1f}ms {1e3 * late:6.1f}ms"
            print(f"{name:38} {len(seconds):7d} {times} {jumps:10d}")


def speed(count: int) -> None:
    print("\nTime per solve without limits (median)")
    for bones in BONES:
        source, chain, seconds = random.Random(bones), bent(bones, 1.0 / bones, 0.5 / bones), []
        for _ in range(count):
            goal = Goal(random_vector(source).normalized() * source.uniform(0.2, 1.0), random_vector(source))
            begun = time.process_time()
            fabrik.solve(chain, goal)
            seconds.append(time.process_time() - begun)
        print(f"{bones:5d} bones {1e3 * statistics.median(seconds):6.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=100, help="random targets per row")
    count = parser.parse_args().count
    print(f"bpy {bpy.app.version_string}, {count} targets a row")
    accuracy(max(1, count // 10))
    limits(count)
    out_of_legal_reach(max(2, count // 3))
    speed(count)


if __name__ == "__main__":
    main()
