"""Two bones under limits along random paths: how far joints move per step of the target, and why where it is far.

    python bench/limit_steps.py [--paths N] [--seed N]

The limbs are those of limits_brute_force.py: any frames, unequal ranges. Each path goes straight from a legal pose's
end to a random target, legal in half of the cases, in 150 steps. A step is far where elbow or end moves by more than
five times what the target does. Why: "unlimited" (the same step without limits is far too: the target passes the root
or the limb straightens), "pole" (two legal ways equally far from the pole: the one switch), "arc" (the legal swivels
that were nearest to the pole end there, others reach), "nearest" (off legal reach, two poses equally near), "steep"
(no jump: finer steps are short ones), "fault" (the miss jumps: it must not). Exit status 1 where there is a fault.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import bpy  # noqa: F401  (first: mathutils is part of it)

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("limb_ik", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
assert spec is not None
sys.modules.setdefault("limb_ik", importlib.util.module_from_spec(spec))  # not executed: nothing is registered

import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402
from limb_ik.solvers import two_bone_limits  # noqa: E402
from limb_ik.solvers.bend_plane import fk_limb  # noqa: E402
from limb_ik.solvers.chain import Goal, Solution  # noqa: E402
from limb_ik.solvers.two_bone import aimed  # noqa: E402
from limits_brute_force import FAMILIES, Case, random_case  # noqa: E402
from mathutils import Vector  # noqa: E402

STEPS = 150
FAR = 5.0
FINER = 2.0**-12
"""Part of a step that a jump is narrowed down to; float32 targets are no finer."""
SAME_SWIVEL = 0.03
"""Radians within which two ways are equally far from the pole."""
SHORT = 2e-3
"""Part of the length that float32 and a narrowed step come to at most; more is a jump."""
REACHED = 1e-4
ROUNDING = 4e-6

Array = npt.NDArray[np.float64]


class Walk:
    """A limb and the straight way of its target."""

    def __init__(self, case: Case) -> None:
        self.chain, self.goal = case.chain, case.goal
        self.length = fk_limb(self.chain).length
        self.start, self.end = np.array(self.chain.end), np.array(self.goal.target)

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.end - self.start))

    def goal_at(self, place: float) -> Goal:
        return replace(self.goal, target=Vector(self.start + (self.end - self.start) * place))

    def solved(self, place: float, use_limits: bool = True) -> Solution:
        return two_bone_limits.solve(self.chain, replace(self.goal_at(place), use_limits=use_limits))

    def joints(self, solution: Solution) -> tuple[Array, Array]:
        root, mid = self.chain.joints
        elbow = np.array(solution.deltas[0] @ (mid.head - root.head))
        return elbow, elbow + np.array(solution.deltas[1] @ (self.chain.end - mid.head))

    def moved(self, before: Solution, after: Solution) -> float:
        pairs = zip(self.joints(before), self.joints(after), strict=True)
        return max(float(np.linalg.norm(a - b)) for a, b in pairs)

    def swivel(self, place: float, solution: Solution) -> float:
        """How far the elbow is off the pole's side, radians."""
        aim = aimed(fk_limb(self.chain), self.goal_at(place))
        elbow, line, side = self.joints(solution)[0], np.array(aim.line), np.array(aim.side)
        out = elbow - line * (line @ elbow)
        return abs(float(np.arctan2(np.cross(side, out) @ line, side @ out)))


def why(path: Walk, low: float, high: float) -> str:
    """Why the step between two places of a path is far."""
    step = (high - low) * path.size
    if path.moved(path.solved(low, False), path.solved(high, False)) > FAR * step:
        return "unlimited"
    width = high - low
    before, after = path.solved(low), path.solved(high)
    while high - low > FINER * width:
        middle = 0.5 * (low + high)
        between = path.solved(middle)
        if path.moved(before, between) > path.moved(between, after):
            high, after = middle, between
        else:
            low, before = middle, between
    if path.moved(before, after) < SHORT * path.length:
        return "steep"
    if abs(before.error - after.error) > (high - low) * path.size + ROUNDING * path.length:
        return "fault"
    if max(before.error, after.error) > REACHED * path.length:
        return "nearest"
    return "pole" if abs(path.swivel(low, before) - path.swivel(high, after)) < SAME_SWIVEL else "arc"


def walked(path: Walk) -> tuple[list[float], Counter[str]]:
    """Movement of the joints by that of the target in each step, and the reasons of the far ones."""
    rows, ratios, reasons = [path.solved(n / STEPS) for n in range(STEPS + 1)], [], Counter[str]()
    step = path.size / STEPS
    for n in range(STEPS):
        ratios.append(path.moved(rows[n], rows[n + 1]) / step)
        if ratios[-1] > FAR:
            reasons[why(path, n / STEPS, (n + 1) / STEPS)] += 1
    return ratios, reasons


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--paths", type=int, default=100, help="random paths per kind of limb")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults = 0
    for number, (name, root_kind, mid_kind, tilted, _) in enumerate(FAMILIES):
        source = np.random.default_rng([options.seed, number])
        ratios: list[float] = []
        reasons = Counter[str]()
        for _ in range(options.paths):
            path = Walk(random_case(source, root_kind, mid_kind, tilted))
            if path.size > 0.05 * path.length:
                found, own = walked(path)
                ratios += found
                reasons += own
        far, median, most = sum(own > FAR for own in ratios), *np.percentile(ratios, [50, 99])
        told = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
        print(f"{name}: {len(ratios)} steps, median {median:.2f}, 99 % below {most:.2f};"
              f" {far} far ({100.0 * far / len(ratios):.2f} %): {told}", flush=True)  # fmt: skip
        faults += reasons["fault"]
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
