"""Axes and joint limits of a bone as a bone on the other side has them: reflected in the armature's YZ plane.

Reflection is taken between the rest frames that the two bones really have, whatever their
rolls. This module must not know about names or chains.
"""

from __future__ import annotations

from typing import Any

from mathutils import Matrix, Vector

from . import carry, marks

REFLECTION = Matrix.Diagonal((-1.0, 1.0, 1.0))
# An axis counts as an axis of the other bone where they agree to this cosine (15°); rigs are built by hand.
AXIS_AGREES = 0.966


def reflection_between(bone: Any, other: Any) -> Matrix:
    """What takes a direction in a bone's rest frame to the mirrored direction in the other bone's rest frame."""
    rest, other_rest = (_rest(one) for one in (bone, other))
    return other_rest.transposed() @ REFLECTION @ rest


def _rest(bone: Any) -> Matrix:
    """Rest orientation, armature space; by name, for a pose bone has no bone yet just after edit mode."""
    rest: Matrix = bone.id_data.data.bones[bone.name].matrix_local.to_3x3()
    return rest


def reflected_axes(bone: Any, other: Any) -> Matrix | None:
    """``reflection_between`` as exact signed axes, None where the two frames don't lie so; Y stays Y."""
    turned = reflection_between(bone, other)
    exact = Matrix([[float(round(turned[i][j])) for j in range(3)] for i in range(3)])
    agree = all(abs(turned.col[i].dot(exact.col[i])) > AXIS_AGREES for i in range(3))
    return exact if agree and exact[1][1] == 1.0 else None


def mirror_joint(bone: Any, other: Any) -> None:
    """Give a bone on the other side the limits of a bone, reflected.

    A turn about an axis is reflected by turning about the reflected axis the other way.
    """
    carry.copy_joint(bone, other)
    axis = -(reflection_between(bone, other) @ Vector(bone.limb_ik_joint_hinge_axis))
    with marks.quiet():
        other.limb_ik_joint_hinge_axis = axis
        if bone.limb_ik_joint_kind == 'BALL':
            _mirror_ball(bone, other)


def _mirror_ball(bone: Any, other: Any) -> None:
    signs = reflected_axes(bone, other)
    if signs is None:
        return  # refused before anything was changed
    # swing x = atan2(z, y) and swing z = atan2(-x, y) of the bone's direction; x', z' are ± x or ± z of it.
    x_from, z_from = signs[0], signs[2]
    if z_from[2]:
        _put(other, "swing_x", _bounds(bone, "swing_x"), z_from[2])
        _put(other, "swing_z", _bounds(bone, "swing_z"), x_from[0])
    else:
        _put(other, "swing_x", _bounds(bone, "swing_z"), -z_from[0])
        _put(other, "swing_z", _bounds(bone, "swing_x"), -x_from[2])
    _put(other, "twist", _bounds(bone, "twist"), -1.0)


def _bounds(bone: Any, name: str) -> tuple[float, float]:
    return getattr(bone, f"limb_ik_joint_{name}_min"), getattr(bone, f"limb_ik_joint_{name}_max")


def _put(bone: Any, name: str, bounds: tuple[float, float], sign: float) -> None:
    low, high = bounds if sign > 0.0 else (-bounds[1], -bounds[0])
    setattr(bone, f"limb_ik_joint_{name}_min", low)
    setattr(bone, f"limb_ik_joint_{name}_max", high)
