"""When chains change between IK and FK: what a switch at a frame means beside the changes that are there already.

Reads only. Must not key or match anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import bpy

from ..rig import channels, compat, match
from ..rig.chains import ChainSetup
from ..rig.channels import SAME_FRAME
from ..rig.data_paths import setting_path
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation
from ..rig.sampling import sample
from ..rig.session import frames_per_second, timeline_frame
from ..solvers import rotations
from .match_fk import Turns, seen
from .matching import Job

# A blend time that is a whole number of frames but for rounding takes no frame more.
ROUNDING = 1e-6
# Radians: a pose that went through keys and targets in single precision is the same pose within this.
SAME_POSE = 1e-3


@dataclass(frozen=True, slots=True)
class Switch:
    """One chain's change: ``frame`` is where its key goes, ``over`` where the change is complete.

    ``is_back``: the last change began at ``frame`` and is taken back. ``later``: where the side that is switched to
    begins already; what leads up to it there goes.
    """

    obj: bpy.types.Object
    chain: ChainSetup
    is_on: bool
    frame: float
    over: float
    is_back: bool = False
    later: float | None = None


def path_of(chain: ChainSetup) -> str:
    """Data path of a chain's switch, from the object."""
    return setting_path(chain.tip, "use_ik")


def is_on_at(obj: Any, chain: ChainSetup, frame: float) -> bool:
    """Whether ``use_ik`` is on at a frame, as animated."""
    found = channels.boolean_changes(obj, path_of(chain), frame - 1.0, frame)
    if found is None:
        tip: Any = obj.pose.bones[chain.tip]
        return bool(tip.limb_ik_use_ik)
    return found[0] if not found[1] else found[1][-1][1] > 0


def planned(context: Any, obj: Any, chain: ChainSetup, to: str, ease: str, use_match: bool) -> Switch | None:
    """The change of one chain at the current frame; None where it is on that side already.

    Where an earlier change isn't over when this one would begin, what is matched would not be what is seen. The same
    frame again takes that change back; so does leaving for FK where IK has arrived and nothing was moved.

    Raises:
        LimbIKError: an earlier change is not over; says from which frame on this one works.
    """
    frame = context.scene.frame_current_final
    is_on = to == 'IK' if to != 'TOGGLE' else not is_on_at(obj, chain, frame)
    if is_on == is_on_at(obj, chain, frame):
        return None
    blend = chain.blend_time * frames_per_second(context.scene)
    lead = math.ceil(blend - ROUNDING)
    arrives = ease == 'ARRIVE' or (ease == 'AUTO' and is_on)
    first = frame - lead if arrives else frame
    last = _last_change(obj, chain, frame, frame - 2.0 * lead - 1.0) if use_match else None
    if last is not None and _takes_back(context, obj, chain, is_on, frame, last, lead):
        return Switch(obj, chain, is_on, last, last + lead, is_back=True, later=_later(obj, chain, frame, is_on))
    if last is not None and last + blend > first + ROUNDING:
        over, begins = last + lead, last + lead + frame - first
        _refuse(chain, is_on, *(timeline_frame(context.scene, at) for at in (last, over, begins)))
    return Switch(obj, chain, is_on, first, first + lead, later=_later(obj, chain, frame, is_on))


def _last_change(obj: Any, chain: ChainSetup, frame: float, since: float) -> float | None:
    found = channels.boolean_changes(obj, path_of(chain), since, frame)
    return found[1][-1][0] if found is not None and found[1] else None


def _takes_back(context: Any, obj: Any, chain: ChainSetup, is_on: bool, frame: float, last: float, lead: float) -> bool:
    if abs(frame - last) < SAME_FRAME and lead:
        return True
    if is_on or abs(frame - lead - last) > SAME_FRAME:
        return False
    return _is_fk_seen(context, Job(obj, [chain]), frame)


def _is_fk_seen(context: Any, job: Job, frame: float) -> bool:
    """Whether the pose is FK's own, as just after targets were put there."""

    def read(run: Evaluation) -> Turns:
        return dict(match.rig_of(run, job.obj).state.rotations)

    shown = sample(context, [job.obj], [frame], lambda run: seen(run, job.obj, job.chains))[0]
    own = sample(context, [job.obj], [frame], read, is_solved=False)[0]
    return all(rotations.angle_between(turn, own[bone]) < SAME_POSE for bone, turn in shown.items())


def _refuse(chain: ChainSetup, is_on: bool, last: float, over: float, first: float) -> None:
    """Raises with the first frame at which a switch works: the ``last`` one must be over. Frames of the timeline."""
    to, now = ('IK', 'FK') if is_on else ('FK', 'IK')
    back = f", or at {last:g} to take that back" if is_on else ""
    raise LimbIKError(
        f"'{chain.tip}' goes over to {now} until frame {over:g}: switch to {to} at frame {first:g} or later{back}"
    )


def _later(obj: Any, chain: ChainSetup, frame: float, is_on: bool) -> float | None:
    """The frame after this one at which a side is keyed next; keys of the other before it, but just before, stand."""
    curve = compat.find_fcurve(obj, path_of(chain))
    if curve is None:
        return None
    keys = sorted(
        (obj.animation_data.nla_tweak_strip_time_to_scene(key.co.x), key.co.y) for key in curve.keyframe_points
    )
    for (before, _), (at, value) in pairwise(keys):
        if at > frame + SAME_FRAME and (value > 0.5) == is_on:
            is_next = before < frame + SAME_FRAME or abs(at - before - 1.0) < SAME_FRAME
            return float(at) if is_next else None
    return None
