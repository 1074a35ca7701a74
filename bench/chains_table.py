"""Chains side by side: Limb IK, Blender's own IK, three.js's CCD; same bones, same start, same targets, one run.

    PYTHONPATH=.typecheck python bench/chains_table.py [--count N]

Error of the end by reach, bones and iterations; legal targets solved under limits; time per solve. Limb IK and
Blender's IK are measured in the evaluated pose, as users see it. Chains are of length 1, so errors are parts of it.
"""

from __future__ import annotations

import bpy  # isort: skip  (first: mathutils is part of it)

import argparse
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mathutils import Euler, Matrix, Vector

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests"), str(Path(__file__).resolve().parent)]

import _three  # noqa: E402
from _ending import end  # noqa: E402
from _scenes import registered, reset  # noqa: E402
from _three import Answer, Case  # noqa: E402

import rigs  # noqa: E402

REACHES = (0.2, 0.5, 0.9, 0.99, 0.999, 0.9999)
BONES = (2, 3, 6, 10, 30)
ITERATIONS = (10, 500)
LIMITED_ITERATIONS = (10, 40, 500)
SPEEDS = (("bare", 10, 8), ("limb", 10, 8), ("native", 500, 11), ("three", 10, 9), ("three", 500, 9))
SOLVED = 1e-4
DEGREE = math.pi / 180.0
Hinge = tuple[str, float, float]
LIMITS: dict[str, list[Hinge | None]] = {
    "free root, 2 hinges 0..150": [None, ("X", 0, 150), ("X", 0, 150)],
    "free root, 5 hinges 60 crosswise": [None, *(("XZ"[n % 2], -60, 60) for n in range(5))],
    "6 hinges 60..90 crosswise": [("Z", -90, 90), *(("XZ"[n % 2], -60, 60) for n in range(5))],
}


def free_case(bones: int, reach: float, count: int) -> Case:
    """Random targets at one distance, the chain bent a little (0.5 rad in all)."""
    source = random.Random(bones)
    targets = [tuple(reach * direction(source)) for _ in range(count)]
    return Case(bones, [None] * bones, [(0.5 / bones, 0.0, 0.0)] * bones, targets, 10)  # type: ignore[arg-type]


def direction(source: random.Random) -> Vector:
    return Vector([source.gauss(0.0, 1.0) for _ in range(3)]).normalized()


def limited_case(hinges: Sequence[Hinge | None], count: int) -> Case:
    """Ends of random legal poses, from a tenth of each range (a straight chain is no start for CCD)."""
    source = random.Random(len(hinges))
    ranges = [one and (one[0], one[1] * DEGREE, one[2] * DEGREE) for one in hinges]
    targets = [end_of([_turn(one, source.random(), source) for one in ranges]) for _ in range(count)]
    start = [_turn(one, 0.6, None) for one in ranges]
    return Case(len(hinges), ranges, start, targets, 10)


def _turn(hinge: Hinge | None, part: float, source: random.Random | None) -> tuple[float, float, float]:
    if hinge is None:
        wide = [source.uniform(-1.0, 1.0) for _ in range(3)] if source else [0.1, 0.0, 0.0]
        return wide[0], wide[1], wide[2]
    angle = hinge[1] + part * (hinge[2] - hinge[1])
    return (angle, 0.0, 0.0) if hinge[0] == "X" else (0.0, 0.0, angle)


def end_of(turns: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """The end of a chain along +Z of length 1 with these local turns. Space: armature."""
    length = 1.0 / len(turns)
    frame, point = Matrix.Rotation(math.pi / 2, 3, 'X'), Vector()
    for turn in turns:
        frame = frame @ Euler(turn).to_matrix()
        point = point + frame.col[1] * length
    return point.x, point.y, point.z


def built(case: Case, kind: str) -> tuple[Any, Any]:
    """The chain as an armature in its start pose with one of the two kinds of IK, and its target."""
    reset()
    obj = rigs.build(rigs.bent(case.bones, 1.0 / case.bones, 0.0))
    for number, turn in enumerate(case.start):
        bone: Any = obj.pose.bones[number]
        bone.rotation_mode, bone.rotation_euler = 'XYZ', turn
        _limit(bone, case.hinges[number], kind)
    target, tip = rigs.empty("T", (0.0, 0.0, 0.5)), f"b{case.bones}"
    if kind == "native":
        constraint: Any = obj.pose.bones[tip].constraints.new('IK')
        constraint.target, constraint.chain_count, constraint.iterations = target, case.bones, case.iterations
    elif kind == "limb":
        settings = {
            "chain_length": case.bones,
            "iterations": case.iterations,
            "tolerance": SOLVED if any(case.hinges) else 0.0,
        }
        rigs.add_chain_by_properties(obj, tip, target, solver="FABRIK", **settings)
    rigs.update()
    return obj, target


def _limit(bone: Any, hinge: Hinge | None, kind: str) -> None:
    if hinge is None:
        return
    if kind == "limb":
        bone.limb_ik_joint_kind = 'HINGE'
        bone.limb_ik_joint_hinge_axis = (1.0, 0.0, 0.0) if hinge[0] == "X" else (0.0, 0.0, 1.0)
        bone.limb_ik_joint_min_angle, bone.limb_ik_joint_max_angle = hinge[1:]
        return
    for axis in "xyz":
        if axis == hinge[0].lower():
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", hinge[1])
            setattr(bone, f"ik_max_{axis}", hinge[2])
        else:
            setattr(bone, f"lock_ik_{axis}", True)


def solved(case: Case, kind: str) -> Answer:
    """Every target of a case in the evaluated pose; milliseconds of a whole update (median)."""
    obj, target = built(case, kind)
    errors, seconds = [], []
    for place in case.targets:
        target.location = place
        begun = time.process_time()
        rigs.update()
        seconds.append(time.process_time() - begun)
        errors.append(rigs.tip_error(obj, f"b{case.bones}", place))
    return Answer(errors, 1e3 * statistics.median(seconds))


def accuracy(folder: Path, missing: str, count: int) -> None:
    print(f"\nError of the end, worst of {count} targets, without limits (parts of the length)")
    kinds = [(kind, n) for n in ITERATIONS for kind in ("limb", "native", "three")]
    print(f"{'bones':>5} {'reach':>7} " + " ".join(f"{f'{kind} {n}':>11}" for kind, n in kinds))
    for bones in BONES:
        cases = [free_case(bones, reach, count) for reach in REACHES]
        columns = [worst(folder, missing, kind, [replace(case, iterations=n) for case in cases]) for kind, n in kinds]
        for number, reach in enumerate(REACHES):
            print(f"{bones:5d} {100 * reach:6.2f}% " + " ".join(f"{column[number]:>11}" for column in columns))


def answers(folder: Path, missing: str, kind: str, cases: Sequence[Case]) -> list[Answer] | None:
    if kind == "three":
        return None if missing else _three.solve(folder, cases)
    return [solved(case, kind) for case in cases]


def worst(folder: Path, missing: str, kind: str, cases: Sequence[Case]) -> list[str]:
    found = answers(folder, missing, kind, cases)
    return ["-"] * len(cases) if found is None else [f"{max(answer.errors):.1e}" for answer in found]


def limits(folder: Path, missing: str, count: int) -> None:
    print(f"\nUnder limits: share of {count} legal targets solved to {SOLVED} of the length")
    kinds = [(kind, n) for n in LIMITED_ITERATIONS for kind in ("limb", "native", "three")]
    print(f"{'chain':33} " + " ".join(f"{f'{kind} {n}':>11}" for kind, n in kinds))
    for name, hinges in LIMITS.items():
        case, cells = limited_case(hinges, count), []
        for kind, n in kinds:
            found = answers(folder, missing, kind, [replace(case, iterations=n)])
            share = [sum(error <= SOLVED for error in found[0].errors) / count] if found else []
            cells.append(f"{100 * share[0]:.1f}%" if share else "-")
        print(f"{name:33} " + " ".join(f"{cell:>11}" for cell in cells))


def speed(folder: Path, missing: str, count: int) -> None:
    print("\nMilliseconds: an update of the scene with one chain (bare: no IK); three: the solver alone, no scene")
    print(f"{'bones':>5} {'bare':>8} {'limb 10':>8} {'native 500':>11} {'three 10':>9} {'three 500':>9}")
    for bones in BONES:
        case, cells = free_case(bones, 0.9, count), []
        for kind, n, width in SPEEDS:
            found = answers(folder, missing, kind, [replace(case, iterations=n)])
            cells.append(f"{found[0].ms:{width}.3f}" if found else f"{'-':>{width}}")
        print(f"{bones:5d} " + " ".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=50, help="random targets per row")
    count = parser.parse_args().count
    with tempfile.TemporaryDirectory(prefix="limb_ik_three_") as name, registered():
        folder = Path(name)
        missing = _three.install(folder)
        print(f"bpy {bpy.app.version_string}; three.js {missing or _three.VERSION}; iterations stand beside the names")
        accuracy(folder, missing, count)
        limits(folder, missing, count)
        speed(folder, missing, count)


if __name__ == "__main__":
    end(main)
