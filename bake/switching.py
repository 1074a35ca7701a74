"""Switching between IK and FK by keys on ``use_ik``, so that nothing jumps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..rig import compat, fk_pose, match
from ..rig.chains import setup_of
from ..rig.channels import SAME_FRAME
from ..rig.data_paths import rotation_path
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation
from ..rig.sampling import sample
from ..rig.session import object_at, timeline_frame
from .controls import Control, ControlKeys, control_keys, read_controls
from .key_table import has_key, key_frames
from .match_fk import RotationKeys, Turns, check_all, look_at_seen, offsets_of, rotation_rows, turns_of
from .matching import Job, Request, jobs_of
from .shared_keys import check_own_keys
from .switch_keys import forget, write
from .switch_times import Switch, path_of, planned
from .use_ik_keys import key_back, key_switch
from .writable import action_frame, check_writable

SIDES = ('IK', 'FK', 'TOGGLE')
EASES = ('AUTO', 'ARRIVE', 'LEAVE')
# Keys of motion captured at other rates lie between frames.
HALF_FRAME = 0.5


def switch(
    context: Any,
    obj: Any,
    tips: Sequence[str] = (),
    to: str = 'TOGGLE',
    *,
    ease: str = 'AUTO',
    use_match: bool = True,
) -> list[Switch]:
    """Key the change of chains between IK and FK at the current frame.

    At the frame of the last change it takes that back: keys that it made go, those of bones, targets and poles too.

    Args:
        context: gives the frame and the frame rate.
        obj: the armature object.
        tips: bones at which the chains end; empty for all chains.
        to: ``IK``, ``FK`` or ``TOGGLE``.
        ease: ``ARRIVE``: complete at this frame; ``LEAVE``: begins at this frame; ``AUTO``: the
            first to IK, the other to FK.
        use_match: to IK, key target and pole where FK then is; to FK, key the FK pose that is seen then. Not
            where the ease alone leads there: offsets on FK fade in, and FK with keys of its own keeps them.

    Returns:
        What was keyed; chains that are on that side already are left alone.

    Raises:
        LimbIKError: bad input, nothing would change, or an earlier change would not be over where this one begins
            (then from which frame on it works); nothing was changed.
    """
    return switch_all(context, [Request(obj, tips)], to, ease=ease, use_match=use_match)


def switch_all(
    context: Any, requests: Sequence[Request], to: str = 'TOGGLE', *, ease: str = 'AUTO', use_match: bool = True
) -> list[Switch]:
    """``switch`` for chains of several armatures: all or none; arguments, result and errors as there."""
    for value, known in ((to, SIDES), (ease, EASES)):
        if value not in known:
            raise LimbIKError(f"a switch can be {', '.join(known)}, not {value!r}")
    frame = context.scene.frame_current_final
    found = [planned(context, job.obj, chain, to, ease, use_match) for job in jobs_of(requests) for chain in job.chains]
    switches = [one for one in found if one is not None]
    if not switches:
        names = ", ".join(f"'{one.obj.name}'" for one in requests)
        raise LimbIKError(
            f"the chains of {names} are on {to} at frame {timeline_frame(context.scene, frame):g} already"
        )
    for one in switches:
        check_writable(one.obj, [path_of(one.chain)], np.array([one.frame - 1.0, one.over]))
    check_own_keys(list(dict.fromkeys(one.obj for one in switches)))
    if use_match:
        _match(context, switches)
    for one in switches:
        (key_back if one.is_back else key_switch)(one.obj, one)
    return switches


def keyed_by(switches: Sequence[Switch], *, use_match: bool) -> list[bpy.types.Object]:
    """The objects on which switches write keys: armatures, and targets and poles that are matched."""
    moved = [one.chain for one in switches if use_match and one.is_on != (one.chain.target_space == 'FK')]
    links = [link for chain in moved for link in (chain.target_key, chain.pole_key) if link is not None]
    return [*(one.obj for one in switches), *(object_at(key) for key, _ in links)]


def _match(context: Any, switches: Sequence[Switch]) -> None:
    """Key targets or FK for chains that change alike; what was before stays until the frame before.

    Left alone is what the ease alone leads to without a jump: offsets on FK that come in, and FK that goes on by keys
    of its own, as captured motion does. Everything is read before anything is written.
    """
    frame = context.scene.frame_current_final
    controls: list[ControlKeys] = []
    rotations: list[RotationKeys] = []
    ahead = [one for one in switches if not one.is_back]
    for obj, first, is_on in dict.fromkeys((one.obj, one.frame, one.is_on) for one in ahead):
        group = [one for one in ahead if (one.obj, one.frame, one.is_on) == (obj, first, is_on)]
        if is_on:
            chains = [one.chain for one in group if one.chain.target_space != 'FK']
            controls += _targets_waiting(context, Job(obj, chains), first, frame) if chains else []
            continue
        chains = [one.chain for one in group if not _goes_on(one, frame)]
        turned, put_back = _fk_as_seen(context, Job(obj, chains), first, frame) if chains else ([], [])
        rotations += turned
        controls += put_back
    check_all(rotations, controls)
    for one in switches:
        forget(one)
    write(rotations, controls)


def _goes_on(one: Switch, frame: float) -> bool:
    """Whether FK has motion of its own here, which a pose matched here would jump to, or write over.

    Keys within the blend time after the frame, or a key on the frame and one on the frame before it, as the end of
    captured motion has.
    """
    names = setup_of(one.obj).names
    bones: Any = one.obj.pose.bones if one.obj.pose else {}
    paths = {rotation_path(bones[names[bone]]) for bone in (*one.chain.turned, one.chain.end) if bone >= 0}
    anim: Any = one.obj.animation_data
    curves = [curve for curve in compat.fcurves_of(one.obj) if curve.data_path in paths]
    if not curves:
        return False
    until = frame + max(one.over - one.frame, 1.0) + HALF_FRAME
    first, last = sorted(action_frame(anim, at) for at in (frame + SAME_FRAME, until))
    frames = [key_frames(curve) for curve in curves]
    if any(((x > first) & (x < last)).any() for x in frames):
        return True
    here, before = (action_frame(anim, at) for at in (frame, frame - 1.0))
    return any(has_key(x, here) and has_key(x, before) for x in frames)


def _targets_waiting(context: Any, job: Job, first: float, frame: float) -> list[ControlKeys]:
    """Targets wait where FK is at ``frame`` from ``first`` on."""

    def read(run: Evaluation) -> tuple[dict[Control, match.Channels], dict[Control, match.Channels]]:
        matched = read_controls(run, job.obj, job.chains)
        return matched, {control: _own_channels(run, control) for control in matched}

    before, here = sample(context, [job.obj], [first - 1.0, frame], read, is_solved=False)
    frames = sorted({first - 1.0, first, frame})
    return control_keys([before[1], *[here[0]] * (len(frames) - 1)], np.array(frames))


def _own_channels(run: Evaluation, control: Control) -> match.Channels:
    owner = match.owner_of(object_at(control[0]).evaluated_get(run.depsgraph), control[1])
    return match.Channels(tuple(owner.location), fk_pose.read_raw(owner))


def _fk_as_seen(context: Any, job: Job, first: float, frame: float) -> tuple[list[RotationKeys], list[ControlKeys]]:
    """The FK pose is what is seen from ``first`` on, where it is keyed, to ``frame``; before that it stays what it was.

    A change that is over at ``frame`` begins earlier: what is seen from there on is keyed frame by frame, so that
    the pose neither waits nor jumps while it is blended. Targets that are offsets on FK have no effect from there on:
    else what they add would be added once more.
    """

    def read(run: Evaluation) -> tuple[Turns, dict[Control, match.Channels]]:
        offsets = read_controls(run, job.obj, offsets_of(job))
        turns = dict(match.rig_of(run, job.obj).state.rotations)
        return turns, {control: _own_channels(run, control) for control in offsets}

    frames = [float(at) for at in np.append(np.arange(first, frame - SAME_FRAME), frame)]
    seen = sample(context, [job.obj], frames, lambda run: look_at_seen(run, job))
    turns = turns_of(seen)
    if not turns[0]:
        return [], []
    before, offsets = sample(context, [job.obj], [first - 1.0], read, is_solved=False)[0]
    at = np.array([first - 1.0, *frames])
    rows = rotation_rows(job.obj, [{bone: before[bone] for bone in turns[0]}, *turns])
    return [RotationKeys(job.obj, rows, at)], control_keys([offsets, *(one.controls for one in seen)], at)
