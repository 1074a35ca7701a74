"""Every solver over degenerate input: coincident and collinear joints, targets on joints, far, near, with limits.

Whatever comes in, what goes out is a unit turn for each joint, the same each time, with a status and a finite error.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limb_ik.solvers import chain_limits, fabrik, leg, look_at, two_bone, two_bone_limits
from limb_ik.solvers.chain import Chain, Goal, Joint, JointKind, JointLimits, Solution, Status
from limb_ik.solvers.joint_limits import excess
from limb_ik.solvers.rotations import as_quat
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
    JointLimits(JointKind.HINGE, hinge_axis=(0.6, 0.0, 0.8), min_angle=0.7, max_angle=0.7),
    JointLimits(JointKind.HINGE, min_angle=3.0, max_angle=5.5),
    JointLimits(JointKind.BALL, twist_min=-0.2, twist_max=0.3),
    JointLimits(JointKind.BALL, twist_min=3.0, twist_max=4.0),
    JointLimits(JointKind.BALL, swing_x_min=3.0, swing_x_max=3.5, twist_min=0.0, twist_max=0.0),
    JointLimits(JointKind.BALL, swing_x_min=-0.5, swing_x_max=2.5, swing_z_min=-2.0, swing_z_max=0.4),
    JointLimits(
        JointKind.BALL,
        swing_x_min=0.2,
        swing_x_max=0.2,
        swing_z_min=-0.1,
        swing_z_max=-0.1,
        twist_min=0.5,
        twist_max=0.5,
    ),
]
"""Also ranges without width, past half a turn either way, twist alone, and one that can't be met."""
TURNS = [Quaternion(), Quaternion((0, 1, 0, 0)), Quaternion((0, 0, 0, 1)), Quaternion((1, 1, 0, 0)).normalized()]
SCALES = [1e-5, 1e-2, 1.0, 1e2, 1e5]
FAR = 1e6
"""Metres that a target may be away."""
LEGAL = 2e-5
"""Radians outside limits that float32 frames and the slack of FABRIK's unlimited answers come to."""
FOLDED = 0.1
"""Cosine of half the swing under which twist is float32 noise."""


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
    target = draw(
        st.sampled_from(
            [*points, Vector((0, 0, 100)) * scale, Vector((0.1, 0.7, 0.2)) * scale, Vector((0.6, 0, 0.8)) * FAR]
        )
    )
    pole = draw(st.sampled_from([None, points[0], points[-1], Vector((0, 2, 0)) * scale]))
    chain = Chain(tuple(joints), points[-1], Vector(), tuple(points) if draw(st.booleans()) else ())
    return chain, Goal(
        target,
        pole,
        pole_angle=draw(st.sampled_from([0.0, -1.0, 7.0])),
        softness=draw(st.sampled_from([0.0, 0.2])),
        max_reach=draw(st.sampled_from([1.0, 0.9, 0.0])),
        iterations=draw(st.sampled_from([0, 1, 10])),
        use_limits=draw(st.booleans()),
    )


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
    assert found.status == Status.INVALID or not goal.use_limits or name == "two_bone" or over(chain, found) <= LEGAL
    if found.status == Status.INVALID:
        assert found.reason
        assert all(delta.angle == 0.0 for delta in found.deltas)


def over(chain: Chain, found: Solution) -> float:
    """How far the worst joint is outside its limits (rad); a joint folded back counts as legal, it has no twist."""
    locals_rest = chain_limits.locals_of(chain, [as_quat(delta) for delta in found.deltas])
    pairs = zip(chain.joints, locals_rest, strict=True)
    shown = (excess(j.limits, own) for j, own in pairs if math.hypot(own[0], own[2]) > FOLDED or not is_ball(j))
    return max(shown, default=0.0)


def is_ball(joint: Joint) -> bool:
    return joint.limits.kind == JointKind.BALL
