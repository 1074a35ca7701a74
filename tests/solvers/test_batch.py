"""The two-bone solver on arrays gives what ``two_bone`` gives, limb by limb."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from limb_ik.solvers import batch, rows, two_bone
from limb_ik.solvers.chain import Chain, Goal, Status
from limb_ik.solvers.rotations import Quat, angle_between, as_quat, from_matrix, multiply, normalized
from limb_ik.solvers.vectors import UNIT_X, as_vec, unit
from mathutils import Euler, Matrix, Quaternion, Vector

from hand_chains import bent_limb, moved

SAME = 1e-6
"""rad: the deltas of ``two_bone`` are float32, 6e-8 per component; beside that both are the same formulas."""
NO_POLE = Vector((math.nan,) * 3)


def columns(vectors: list[tuple[float, ...]]) -> rows.Rows:
    return np.array(vectors, dtype=np.float64).T


def as_batch(chains: list[Chain], goals: list[Goal]) -> batch.Limbs:
    return batch.Limbs(
        root=columns([as_vec(chain.joints[0].head) for chain in chains]),
        mid=columns([as_vec(chain.joints[1].head) for chain in chains]),
        end=columns([as_vec(chain.end) for chain in chains]),
        fk=columns([normalized(as_quat(chain.joints[0].fk)) for chain in chains]),
        hinge=columns([unit(as_vec(chain.bend_axis)) if chain.bend_axis.length else UNIT_X for chain in chains]),
        target=columns([as_vec(goal.target) for goal in goals]),
        pole=columns([as_vec(goal.pole if goal.pole is not None else NO_POLE) for goal in goals]),
        pole_angle=np.array([goal.pole_angle for goal in goals]),
        softness=np.array([goal.softness for goal in goals]),
        max_reach=np.array([goal.max_reach for goal in goals]),
        origin_distance=np.array([goal.origin_distance for goal in goals]),
    )


def random_vector(source: random.Random, size: float = 1.0) -> Vector:
    return size * Vector((source.gauss(0, 1), source.gauss(0, 1), source.gauss(0, 1)))


def random_case(source: random.Random) -> tuple[Chain, Goal]:
    angle = source.uniform(-0.3, 3.0)
    chain = bent_limb(angle, upper=source.uniform(0.3, 2.0), lower=source.uniform(0.3, 2.0))
    turn = Euler([source.uniform(-3, 3) for _ in range(3)]).to_matrix().to_4x4()
    chain = moved(chain, Matrix.Translation(random_vector(source)) @ turn)
    pole = chain.joints[0].head + random_vector(source, 3.0) if source.random() < 0.7 else None
    goal = Goal(
        chain.joints[0].head + random_vector(source).normalized() * source.uniform(0.05, 4.5),
        pole,
        pole_angle=source.choice((0.0, source.uniform(-3, 3))),
        softness=source.choice((0.0, source.uniform(0.0, 0.2))),
        max_reach=source.choice((1.0, source.uniform(0.5, 1.0))),
        origin_distance=source.uniform(0.0, 10.0),
    )
    return chain, goal


def difference(answer: rows.Rows, number: int, delta: Quaternion) -> float:
    found: Quat = tuple(answer[:, number].tolist())  # type: ignore[assignment]
    return angle_between(found, normalized(as_quat(delta)))


def test_every_ordinary_limb_turns_as_two_bone_turns_it() -> None:
    source = random.Random(4)
    chains, goals = zip(*(random_case(source) for _ in range(3000)), strict=True)
    posed = batch.solve(as_batch(list(chains), list(goals)))
    assert posed.is_ordinary.mean() > 0.98
    for number in np.flatnonzero(posed.is_ordinary):
        scalar = two_bone.solve(chains[number], goals[number])
        assert difference(posed.upper, number, scalar.deltas[0]) < SAME
        assert difference(posed.lower, number, scalar.deltas[1]) < SAME
        assert posed.error[number] == pytest.approx(scalar.error, abs=1e-9)
        assert batch.outcome(posed, number, goals[number].origin_distance) == (scalar.status, scalar.reason)


@pytest.mark.parametrize("angle", [0.0, 1e-4, 0.01, 0.3, 1.5, 3.0])
def test_fk_targets_give_fk_back(angle: float) -> None:
    chain = bent_limb(angle)
    goal = Goal(chain.end.copy(), chain.joints[0].head.lerp(chain.end, 0.5) + 2.0 * two_bone.pole_direction(chain))
    posed = batch.solve(as_batch([chain], [goal]))
    assert posed.is_ordinary[0]
    assert difference(posed.upper, 0, Quaternion()) < SAME
    assert difference(posed.lower, 0, Quaternion()) < SAME


@pytest.mark.parametrize(
    ("target", "pole"),
    [
        (Vector(), Vector((0.0, 3.0, 1.0))),  # on the root
        (Vector((0.0, 0.0, 1.0)), Vector((0.0, 0.0, 5.0))),  # pole on the line
        (Vector((math.nan, 0.0, 1.0)), Vector((0.0, 3.0, 1.0))),
        (Vector((0.0, 0.0, 1.0)), Vector((0.0, math.inf, 1.0))),
    ],
)
def test_what_is_not_ordinary_is_left_to_two_bone(target: Vector, pole: Vector) -> None:
    posed = batch.solve(as_batch([bent_limb(0.5)] * 2, [Goal(target, pole), Goal(Vector((0.2, -0.5, 1.2)), pole)]))
    assert not posed.is_ordinary[0]
    collapsed = bent_limb(0.5, upper=1e-9)
    assert not batch.solve(as_batch([collapsed], [Goal(Vector((0.0, 0.5, 0.5)))])).is_ordinary[0]


def test_out_of_reach_has_its_name() -> None:
    chain = bent_limb(0.5, upper=1.0, lower=0.5)
    goals = [Goal(Vector((0.0, 0.0, 9.0)), Vector((0, 3, 1))), Goal(Vector((0.0, 0.0, 0.1)), Vector((0, 3, 1)))]
    posed = batch.solve(as_batch([chain, chain], goals))
    assert batch.outcome(posed, 0, 0.0)[0] == Status.TOO_FAR
    assert batch.outcome(posed, 1, 0.0)[0] == Status.TOO_NEAR


def test_quaternion_rows_agree_with_rotations() -> None:
    source = random.Random(2)
    matrices = [Euler([source.uniform(-3, 3) for _ in range(3)]).to_matrix() for _ in range(200)]
    found = rows.from_matrices(np.array([[list(row) for row in matrix] for matrix in matrices]))
    scalar = [from_matrix(matrix) for matrix in matrices]
    for number, one in enumerate(scalar):
        assert angle_between(tuple(found[:, number].tolist()), one) < 1e-12
    products = rows.multiply(found, rows.conjugate(found[:, ::-1]))
    again = multiply(scalar[0], (scalar[-1][0], -scalar[-1][1], -scalar[-1][2], -scalar[-1][3]))
    assert angle_between(tuple(products[:, 0].tolist()), again) < 1e-12
