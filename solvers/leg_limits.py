"""What joint limits leave of a leg's pose where the bends alone can't keep them: the root's, first of all.

Inner joints stop at their limits in ``leg_shape`` already. Knows no pole and no reach; no Blender data (no bpy).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from .bounded_least_squares import legal_pose, steps
from .chain import Chain, Joint, JointKind
from .chain_geometry import read
from .chain_limits import first_stop, locals_of, model_of
from .joint_limits import clamp, local_rotation
from .rotations import Quat, as_quat, conjugate, from_axis_angle, multiply, normalized, rotate
from .swivel import Swivel, nearest
from .vectors import Vec


class Legal(NamedTuple):
    """Turns of the bones from FK inside their limits. ``is_cut``: limits have moved the end."""

    turns: tuple[Quat, ...]
    is_cut: bool


def within_limits(chain: Chain, turns: Sequence[Quat], line: Vec) -> Legal:
    """The turns with the root's limits kept, and those of joints that don't turn with the one before.

    Space: armature. ``line``: unit, root to target; the leg is first turned about it, which costs nothing but the side.
    """
    turned = _swivelled(chain.joints[0], turns, line)
    changes = [multiply(conjugate(before), turn) for before, turn in pairwise(turned)]
    out: list[Quat] = []
    is_cut = False
    for index, joint in enumerate(chain.joints):
        turn = multiply(out[-1], changes[index - 1]) if out else turned[0]
        if joint.limits.kind != JointKind.FREE and (index == 0 or not joint.follows_parent):
            legal = _legal(joint, turn)
            is_cut, turn = is_cut or legal is not turn, legal
        out.append(turn)
    return Legal(tuple(out), is_cut)


def _swivelled(root: Joint, turns: Sequence[Quat], line: Vec) -> Sequence[Quat]:
    """The whole leg turned about its line to the nearest side that the root's limits allow; as it is where none is."""
    if root.limits.kind == JointKind.FREE:
        return turns
    frame = normalized(as_quat(root.frame))
    local = local_rotation(frame, multiply(turns[0], normalized(as_quat(root.fk))))
    angle = nearest(root.limits, Swivel(local, rotate(conjugate(frame), line)))
    if not angle:
        return turns
    swivel = from_axis_angle(line, angle)
    return [multiply(swivel, turn) for turn in turns]


def _legal(joint: Joint, turn: Quat) -> Quat:
    fk, frame = normalized(as_quat(joint.fk)), normalized(as_quat(joint.frame))
    local = local_rotation(frame, multiply(turn, fk))
    legal = clamp(joint.limits, local)
    return turn if legal is local else multiply(multiply(frame, legal), conjugate(fk))


def brought_nearer(chain: Chain, legal: Legal, target: Vec, iterations: int) -> Legal:
    """The legal pose nearer to ``target`` that is found by damped least squares; never further than ``legal``.

    Space: armature.
    """
    model = model_of(chain, read(chain), target)
    *_, pose = steps(model, legal_pose(model, locals_of(chain, legal.turns)), iterations)
    fks = (normalized(as_quat(joint.fk)) for joint in chain.joints)
    turns = (multiply(solved, conjugate(fk)) for solved, fk in zip(pose.orientations, fks, strict=True))
    return Legal(tuple(turns), True)


def stop_reason(chain: Chain, turns: Sequence[Quat], stops: Sequence[int]) -> str:
    """The limit that a leg stands at: of the inner joints that are held (``stops``), else of the first that is at one.

    A hinge may also hold it by its axis alone.
    """
    locals_rest, order = locals_of(chain, turns), (*stops, *range(len(chain.joints)))
    return first_stop((index + 1, chain.joints[index].limits, locals_rest[index]) for index in order)
