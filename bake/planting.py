"""Planting: feet and hands stay where they touch, over frames or contacts; nothing else changes.

The target is keyed still (in the world, or on what moves), ``use_ik`` is switched so that its
ease is over at the first frame and begins at the last. Plain functions; the operators
and the command line call them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..rig import hanging
from ..rig.chains import ChainSetup, setup_of
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation
from ..rig.sampling import sample
from ..rig.sentences import counted
from ..rig.session import timeline_frame
from ..rig.setting_up import setup
from ..solvers import rows
from ..solvers.arrays import Floats
from ..solvers.contacts import Span
from ..solvers.holding import Held
from . import use_ik_keys
from .contact_holds import contact_hold, grouped
from .contacts import Contact, Slide, slides
from .feet import FootMotion, pinnable
from .plant_work import HeldContact, LimbKeys, lead_of, limb_keys, turns_of, write
from .ranges import frames_between
from .reading_feet import read_feet, read_feet_steps
from .shared_keys import shared_notes
from .steps import Steps, at_once
from .switch_times import is_on_at
from .use_ik_keys import OnSpan


@dataclass(frozen=True)
class PlantReport:
    """What was planted: how many holds of how many chains, keys written, and how far points slid before and after."""

    chains: int
    holds: int
    keys: int
    before: tuple[Slide, ...] = ()
    after: tuple[Slide, ...] = ()
    notes: tuple[str, ...] = ()

    def sentence(self) -> str:
        """The report in one line for people."""
        text = f"{counted(self.holds, 'contact')} of {counted(self.chains, 'limb')} planted with {self.keys} keys"
        if self.before:
            worst = [max(one.part_of_length for one in rows) for rows in (self.before, self.after)]
            text += f"; largest slide in a contact {worst[0]:.2%} of the limb before, {worst[1]:.4%} after"
        return "; ".join((text, *self.notes))


def plant_contacts_steps(
    context: Any, obj: Any, contacts: Sequence[Contact], *, frames: Sequence[float] | None = None
) -> Steps[PlantReport]:
    """Plant what touches: ankles and wrists are held where they rest, feet roll over their ball.

    In steps: yields frames read and their number. Closed early it changes nothing.

    Args:
        context: gives scene and frame rate.
        obj: the armature object.
        contacts: from ``contacts.detect`` or the timeline.
        frames: of the motion; None for the animation's range.

    Raises:
        LimbIKError: there is no contact, or it can't be keyed; nothing was changed.
    """
    if not contacts:
        raise LimbIKError(f"no contact of '{obj.name}' to plant: detect contacts first")
    tips = list(dict.fromkeys(one.tip for one in contacts))
    chains = ready_chains(obj, tips)
    whole = np.asarray(frames_between(context, obj) if frames is None else frames)
    whole = frames_with(whole, [end for one in contacts for end in (one.first, one.last)])
    feet = yield from read_feet_steps(context, obj, chains, [float(frame) for frame in whole])
    limbs = []
    for foot in feet:
        own = [one for one in contacts if one.tip == foot.tip]
        limbs.append(limb_keys(context, obj, foot, [contact_hold(context, foot, group) for group in grouped(own)]))
    keys = write(obj, limbs)
    after = read_feet(context, obj, ready_chains(obj, tips), [float(frame) for frame in whole])
    holds = sum(len(grouped([one for one in contacts if one.tip == tip])) for tip in tips)
    slid = [tuple(slides(motion, contacts)) for motion in (feet, after)]
    return PlantReport(len(tips), holds, keys, slid[0], slid[1], shared_by(obj, limbs))


plant_contacts = at_once(plant_contacts_steps)


def frames_with(frames: Floats, more: Sequence[float]) -> Floats:
    """Frames and some more, rising, each once."""
    return np.unique(np.concatenate((frames, np.asarray(more, dtype=np.float64))))


def plant_steps(
    context: Any,
    obj: Any,
    tips: Sequence[str] = (),
    first: float | None = None,
    last: float | None = None,
    *,
    on: Any = None,
    on_bone: str = "",
) -> Steps[PlantReport]:
    """Pin ends of chains where they are seen now.

    In steps: yields frames read and their number. Closed early it changes nothing.

    Args:
        context: gives the current frame, at which the place is taken, and the frame rate.
        obj: the armature object.
        tips: chains by their tips; empty for all that have an end to pin.
        first: first frame of the contact; None for the current one.
        last: its last frame; None until it is released.
        on: an object that the end goes along with; None for the world.
        on_bone: a bone of it.

    Raises:
        LimbIKError: bad input, or it can't be keyed; nothing was changed.
    """
    now = float(context.scene.frame_current_final)
    first = now if first is None else first
    if last is not None and last < first:
        raise LimbIKError(f"the contact ends at frame {last:g}, before it begins at {first:g}")
    chains = ready_chains(obj, tips)
    for chain in chains:
        _check_open(context, obj, chain, last)
        _check_carrier(obj, chain, on, on_bone)
    until = _last_read(context, obj, first) if last is None else last
    lead = max(lead_of(context, chain) for chain in chains)
    frames = frames_with(np.arange(first - lead, until + lead + 1.0), [now, until])
    feet = yield from read_feet_steps(context, obj, chains, [float(frame) for frame in frames])
    carriers = _carriers(context, obj, frames, on, on_bone)
    limbs = []
    for foot in feet:
        window = Span(foot.index(first), foot.index(until))
        held = _pinned(foot, foot.index(now), carriers)
        limbs.append(limb_keys(context, obj, foot, [HeldContact(window, held)], is_open=last is None))
    return PlantReport(len(limbs), len(limbs), write(obj, limbs), notes=shared_by(obj, limbs))


def shared_by(obj: Any, limbs: Sequence[LimbKeys]) -> tuple[str, ...]:
    """What to say of others that play the keys which were written."""
    return tuple(shared_notes([obj, *(one.obj for limb in limbs for one in limb.controls)]))


plant = at_once(plant_steps)


def _check_open(context: Any, obj: Any, chain: ChainSetup, last: float | None) -> None:
    frame = context.scene.frame_current_final
    if last is None and chain.target_space != 'FK' and is_on_at(obj, chain, frame - lead_of(context, chain) - 1.0):
        raise LimbIKError(
            f"'{chain.tip}' is on IK before this frame and follows its target: say at which frame the contact ends"
        )


def _check_carrier(obj: Any, chain: ChainSetup, on: Any, on_bone: str) -> None:
    """An end can't be held by what it carries itself."""
    turned = {setup_of(obj).names[bone] for bone in chain.turned}
    above = [] if on is None else [hold for one in hanging.all_above(on) for hold in hanging.holds_above(one)]
    for bone_name in [on_bone] * (on == obj) + [hold.bone for hold in above if hold.obj == obj]:
        bone = obj.pose.bones.get(bone_name)
        if bone is not None and turned & {bone.name, *(one.name for one in bone.parent_recursive)}:
            raise LimbIKError(f"'{chain.tip}' can't be planted on '{on_bone or on.name}', which hangs on the chain")


def _last_read(context: Any, obj: Any, first: float) -> float:
    return max(first, frames_between(context, obj)[-1])


def release(context: Any, obj: Any, tips: Sequence[str] = ()) -> list[str]:
    """End contacts at the current frame: the ease back to the motion begins here. Returns the released tips.

    Raises:
        LimbIKError: none of the chains is held; nothing was changed.
    """
    frame = float(context.scene.frame_current_final)
    chains = [chain for chain in pinnable(obj, tips) if chain.target_space != 'FK']
    held = [chain for chain in chains if use_ik_keys.is_keyed(obj, chain) and is_on_at(obj, chain, frame)]
    if not held:
        raise LimbIKError(f"nothing of '{obj.name}' is planted at frame {timeline_frame(context.scene, frame):g}")
    for chain in held:
        use_ik_keys.check_spans(obj, chain, [OnSpan(frame, frame + 1.0)])
    return [chain.tip for chain in held if use_ik_keys.release_at(obj, chain, frame)]


def ready_chains(obj: Any, tips: Sequence[str]) -> list[ChainSetup]:
    """The chains with an end to plant that are to be planted, at least one.

    Raises:
        LimbIKError: there is none, or one is muted.
    """
    setup.check_armature(obj)
    chains = pinnable(obj, tips)
    for chain in chains:
        if chain.is_muted:
            raise LimbIKError(f"the chain of '{chain.tip}' is muted and can't hold anything")
    return chains


def _pinned(foot: FootMotion, at: int, carriers: Floats | None) -> Held:
    """Where the end is at one frame, for all frames; on what moves it goes along."""
    count = len(foot.frames)
    points, turns = np.tile(foot.ends[at], (count, 1)), np.tile(foot.turns[at], (count, 1))
    if carriers is None:
        return Held(points, turns)
    moved = carriers @ np.linalg.inv(carriers[at])
    points = np.einsum("nij,nj->ni", moved[:, :3, :3], points) + moved[:, :3, 3]
    own = turns_of(carriers).T
    delta = rows.multiply(own, rows.conjugate(np.tile(own[:, at : at + 1], (1, count))))
    return Held(points, rows.multiply(delta, turns.T).T)


def _carriers(context: Any, obj: Any, frames: Floats, on: Any, on_bone: str) -> Floats | None:
    """World matrices of what a contact is on, at each frame."""
    if on is None:
        return None
    if on_bone and (on.pose is None or on_bone not in on.pose.bones):
        raise LimbIKError(f"'{on.name}' has no bone '{on_bone}'")

    def read(run: Evaluation) -> list[list[float]]:
        matrix = run.bone_world(on, on_bone) if on_bone else run.world(on)
        rows_of: Any = matrix
        return [list(row) for row in rows_of]

    found = np.array(sample(context, [obj], [float(f) for f in frames], read, beside=[on]), dtype=np.float64)
    if abs(np.linalg.det(found[:, :3, :3])).min() == 0.0:
        raise LimbIKError(f"'{on.name}' has a scale of zero: nothing can stand on it")
    return found
