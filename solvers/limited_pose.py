"""A two-bone limb as local rotations of its joints, where limits are measured, and back to turns.

Bookkeeping of frames only; decides nothing. No Blender data (no bpy).
"""

from __future__ import annotations

from typing import NamedTuple

from .bend_plane import Turns
from .chain import Chain, JointKind, JointLimits
from .joint_limits import is_legal, local_rotation
from .mid_joint import BentLimb, nearest_to
from .rotations import Quat, as_quat, conjugate, multiply, normalized, rotate
from .swivel import LEGAL
from .vectors import Vec, add, as_vec, subtract


class Pose(NamedTuple):
    """Local rotations of the two joints, each from its rest frame."""

    root: Quat
    mid: Quat


class LimbJoints(NamedTuple):
    """The two joints of a limb in FK.

    Space: armature for ``root_frame``, ``mid_frame`` (under the parent's FK pose), ``root_fk`` and ``mid_fk``.
    ``is_attached``: the mid joint's frame turns with the root bone.
    """

    root_frame: Quat
    mid_frame: Quat
    root_fk: Quat
    mid_fk: Quat
    limb: BentLimb
    root_limits: JointLimits
    is_attached: bool

    @classmethod
    def of(cls, chain: Chain) -> LimbJoints:
        """Read a chain of two joints."""
        root, mid = chain.joints
        frames = [normalized(as_quat(q)) for q in (root.frame, mid.frame, root.fk, mid.fk)]
        root_frame, mid_frame, root_fk, mid_fk = frames
        upper = rotate(conjugate(root_fk), subtract(as_vec(mid.head), as_vec(root.head)))
        lower = rotate(conjugate(mid_fk), subtract(as_vec(chain.end), as_vec(mid.head)))
        limb = BentLimb(upper, lower, local_rotation(root_fk, mid_frame), mid.limits)
        is_attached = mid.follows_parent or mid.limits.kind == JointKind.FREE
        return cls(root_frame, mid_frame, root_fk, mid_fk, limb, root.limits, is_attached)

    def is_legal(self, pose: Pose) -> bool:
        """Whether both joints keep their limits, to the precision of float32 rotations."""
        return is_legal(self.root_limits, pose.root, LEGAL) and is_legal(self.limb.limits, pose.mid, LEGAL)

    def pose_of(self, turns: Turns) -> Pose:
        """Local rotations after turns from FK."""
        root = local_rotation(self.root_frame, multiply(turns.upper, self.root_fk))
        frame = multiply(turns.upper, self.mid_frame) if self.is_attached else self.mid_frame
        return Pose(root, local_rotation(frame, multiply(turns.lower, self.mid_fk)))

    def turns_of(self, pose: Pose) -> Turns:
        """Turns from FK that give local rotations."""
        upper = normalized(multiply(multiply(self.root_frame, pose.root), conjugate(self.root_fk)))
        lower = multiply(multiply(self._mid_frame_of(pose), pose.mid), conjugate(self.mid_fk))
        return Turns(upper, normalized(lower))

    def end_of(self, pose: Pose) -> Vec:
        """Root to end. Space: armature."""
        upper = rotate(multiply(self.root_frame, pose.root), self.limb.upper)
        return add(upper, rotate(multiply(self._mid_frame_of(pose), pose.mid), self.limb.lower))

    def mid_nearest_to(self, target: Vec, pose: Pose) -> Quat:
        """The legal rotation of the mid joint that brings the end nearest to a point, the root as ``pose`` has it.

        Space: ``target`` from the root, armature. Roll is taken from ``pose``.
        """
        root = multiply(self.root_frame, pose.root)
        goal = rotate(conjugate(root), target)
        carry = local_rotation(root, self._mid_frame_of(pose))
        return nearest_to(self.limb._replace(carry=carry), goal, pose.mid)

    def _mid_frame_of(self, pose: Pose) -> Quat:
        if not self.is_attached:
            return self.mid_frame
        return multiply(multiply(self.root_frame, pose.root), self.limb.carry)
