"""Every solver over degenerate input: coincident and collinear joints, targets on joints, far, near, with limits.

Whatever comes in, what goes out is a unit turn for each joint, the same each time, with a status and a finite error.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.solvers import fabrik, leg, look_at, two_bone, two_bone_limits
from limb_ik.solvers.chain import Chain, Goal, Joint, JointKind, JointLimits, Solution, Status
from mathutils import Quaternion, Vector

SOLVERS: dict[str, tuple[Callable[[Chain, Goal], Solution], int, int]] = {
    "two_bone": (two_bone.solve, 2, 2),
    "two_bone_limits": (two_bone_limits.solve, 2, 2),
    "leg": (leg.solve, 3, 4),
    "fabrik": (fabrik.solve, 1, 5),
    "look_at": (look_at.solve, 1, 4),
}
STEPS = [
    Vector(),
    Vector((0, 0, 1)),
    Vector((0, 0, -1)),
    Vector((0, 0, 1e-7)),
    Vector((1, 0, 0)),
    Vector((0.3, 0.4, 0)),
]
LIMITS = [
    JointLimits(),
    JointLimits(JointKind.HINGE, min_angle=0.0, max_angle=0.0),
    JointLimits(JointKind.HINGE, min_angle=0.3, max_angle=2.5),
    JointLimits(JointKind.HINGE, hinge_axis=(0.0, 1.0, 0.0), min_angle=-4.0, max_angle=-3.0),
    JointLimits(JointKind.BALL, swing_x_min=0.0, swing_x_max=0.0, twist_min=-0.1, twist_max=0.1),
    JointLimits(JointKind.BALL, swing_z_min=-0.5, swing_z_max=0.1),
    JointLimits(JointKind.HINGE, min_angle=1.0, max_angle=-1.0),
]
TURNS = [Quaternion(), Quaternion((0, 1, 0, 0)), Quaternion((0, 0, 0, 1)), Quaternion((1, 1, 0, 0)).normalized()]
SCALES = [1e-4, 1.0, 1e4]


@st.composite
def chains(draw: st.DrawFn, low: int, high: int) -> tuple[Chain, Goal]:
    count, scale = draw(st.integers(low, high)), draw(st.sampled_from(SCALES))
    points = [Vector()]
    for _ in range(count):
        points.append(points[-1] + draw(st.sampled_from(STEPS)) * scale)
    joints = []
    for head in points[:-1]:
        frame, local = draw(st.sampled_from(TURNS)), draw(st.sampled_from(TURNS))
        joints.append(
            Joint(head, frame @ local, frame, draw(st.sampled_from(LIMITS)), draw(st.sampled_from([0.0, 1.0])))
        )
    target = draw(st.sampled_from([*points, Vector((0, 0, 100)) * scale, Vector((0.1, 0.7, 0.2)) * scale]))
    pole = draw(st.sampled_from([None, points[0], points[-1], Vector((0, 2, 0)) * scale]))
    chain = Chain(tuple(joints), points[-1], Vector(), tuple(points) if draw(st.booleans()) else ())
    return chain, Goal(target, pole, softness=draw(st.sampled_from([0.0, 0.2])), use_limits=draw(st.booleans()))


@pytest.mark.parametrize("name", SOLVERS)
@settings(max_examples=120)
@given(data=st.data())
def test_what_goes_out_is_whole(name: str, data: st.DataObject) -> None:
    solve, low, high = SOLVERS[name]
    chain, goal = data.draw(chains(low, high))
    found, again = solve(chain, goal), solve(chain, goal)
    assert found == again
    assert found.status in set(Status) - {Status.IDLE}
    assert math.isfinite(found.error)
    assert found.error >= 0.0
    assert len(found.deltas) == len(chain.joints)
    for delta in found.deltas:
        assert delta.magnitude == pytest.approx(1.0, abs=1e-6)
    if found.status == Status.INVALID:
        assert found.reason
        assert all(delta.angle == 0.0 for delta in found.deltas)
