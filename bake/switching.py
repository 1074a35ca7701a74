"""Switching between IK and FK by keys on ``use_ik``, so that nothing jumps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ..rig import channels, compat, fk_pose, match
from ..rig.chains import ChainSetup, setup_of
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation
from ..rig.sampling import sample
from ..rig.session import object_at
from .jobs import Asked, Job, jobs_of
from .key_table import SAME_FRAME, Floats, key_frames
from .keys import rotation_path
from .match_fk import RotationKeys, Turns, check_all, look_at_seen, offsets_of, rotation_rows, turns_of, write_all
from .match_range import Control, ControlKeys, control_keys, read_controls
from .splitting import hold, split
from .writable import action_frame, check_own_keys, check_writable

SIDES = ('IK', 'FK', 'TOGGLE')
EASES = ('AUTO', 'ARRIVE', 'LEAVE')
# A blend time that is a whole number of frames but for rounding takes no frame more.
ROUNDING = 1e-6
# Keys of motion captured at other rates lie between frames.
HALF_FRAME = 0.5


@dataclass(frozen=True, slots=True)
class Switch:
    """One chain's change: ``frame`` is where its key goes, ``over`` where the change is complete."""

    obj: bpy.types.Object
    chain: ChainSetup
    is_on: bool
    frame: float
    over: float


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
        LimbIKError: bad input, or nothing would change; nothing was changed.
    """
    return switch_all(context, [Asked(obj, tips)], to, ease=ease, use_match=use_match)


def switch_all(
    context: Any, asked: Sequence[Asked], to: str = 'TOGGLE', *, ease: str = 'AUTO', use_match: bool = True
) -> list[Switch]:
    """``switch`` for chains of several armatures: all or none; arguments, result and errors as there."""
    for value, known in ((to, SIDES), (ease, EASES)):
        if value not in known:
            raise LimbIKError(f"a switch can be {', '.join(known)}, not {value!r}")
    frame = context.scene.frame_current_final
    planned = [_planned(context, job.obj, chain, to, ease, frame) for job in jobs_of(asked) for chain in job.chains]
    switches = [one for one in planned if one is not None]
    if not switches:
        names = ", ".join(f"'{one.obj.name}'" for one in asked)
        raise LimbIKError(f"the chains of {names} are on {to} at frame {frame:g} already")
    for one in switches:
        check_writable(one.obj, [path_of(one.chain)], np.array([one.frame - 1.0, one.over]))
    check_own_keys(list(dict.fromkeys(one.obj for one in switches)))
    if use_match:
        _match(context, switches)
    for one in switches:
        _key(one.obj, one)
    return switches


def path_of(chain: ChainSetup) -> str:
    """Data path of a chain's switch, from the object."""
    return f'pose.bones["{bpy.utils.escape_identifier(chain.tip)}"].limb_ik_use_ik'


def _planned(context: Any, obj: Any, chain: ChainSetup, to: str, ease: str, frame: float) -> Switch | None:
    is_on = to == 'IK' if to != 'TOGGLE' else not is_on_at(obj, chain, frame)
    if is_on == is_on_at(obj, chain, frame):
        return None
    render = context.scene.render
    lead = math.ceil(chain.blend_time * render.fps / render.fps_base - ROUNDING)
    arrives = ease == 'ARRIVE' or (ease == 'AUTO' and is_on)
    first = frame - lead if arrives else frame
    return Switch(obj, chain, is_on, first, first + lead)


def is_on_at(obj: Any, chain: ChainSetup, frame: float) -> bool:
    """Whether ``use_ik`` is on at a frame, as animated."""
    found = channels.boolean_changes(obj, path_of(chain), frame - 1.0, frame)
    if found is None:
        tip: Any = obj.pose.bones[chain.tip]
        return bool(tip.limb_ik_use_ik)
    return found[0] if not found[1] else found[1][-1][1] > 0


def _match(context: Any, switches: Sequence[Switch]) -> None:
    """Key targets or FK for chains that change alike; what was before stays until the frame before.

    Left alone is what the ease alone leads to without a jump: offsets on FK that come in, and FK that goes on by keys
    of its own, as captured motion does. Everything is read before anything is written.
    """
    frame = context.scene.frame_current_final
    controls: list[ControlKeys] = []
    rotations: list[RotationKeys] = []
    for obj, first, is_on in dict.fromkeys((one.obj, one.frame, one.is_on) for one in switches):
        group = [one for one in switches if (one.obj, one.frame, one.is_on) == (obj, first, is_on)]
        if is_on:
            chains = [one.chain for one in group if one.chain.target_space != 'FK']
            controls += _targets_waiting(context, Job(obj, chains), first, frame) if chains else []
            continue
        chains = [one.chain for one in group if not _goes_on(one, frame)]
        turned, put_back = _fk_as_seen(context, Job(obj, chains), first, frame) if chains else ([], [])
        rotations += turned
        controls += put_back
    check_all(rotations, controls)
    _write(rotations, controls)


def _write(rotations: Sequence[RotationKeys], controls: Sequence[ControlKeys]) -> None:
    """Write keys; what is keyed already is kept as it is up to the first of their frames, and held from there on."""
    edges = [_edge(one.obj, _path(one.obj, name), one.frames) for one in rotations for name in one.rows]
    edges += [_edge(one.obj, one.path, one.frames) for one in controls]
    kept = {edge[:2] for edge in edges if split(*edge)}
    turns = [
        RotationKeys(one.obj, {name: values[skip:]}, one.frames[skip:])
        for one in rotations
        for name, values in one.rows.items()
        for skip in [int((one.obj, _path(one.obj, name)) in kept)]
    ]
    places = [
        replace(one, values=one.values[skip:], frames=one.frames[skip:])
        for one in controls
        for skip in [int((one.obj, one.path) in kept)]
    ]
    write_all(turns, places)
    for edge in edges:
        hold(*edge)


def _path(obj: Any, bone_name: str) -> str:
    return rotation_path(obj.pose.bones[bone_name])


def _edge(obj: bpy.types.Object, path: str, frames: Floats) -> tuple[bpy.types.Object, str, float]:
    return obj, path, float(frames[0])


def _goes_on(one: Switch, frame: float) -> bool:
    """Whether FK has keys within the blend time after a frame: it would jump to them from a pose matched there."""
    names = setup_of(one.obj).names
    bones: Any = one.obj.pose.bones if one.obj.pose else {}
    paths = {rotation_path(bones[names[bone]]) for bone in (*one.chain.turned, one.chain.end) if bone >= 0}
    anim: Any = one.obj.animation_data
    curves = [curve for curve in compat.fcurves_of(one.obj) if curve.data_path in paths]
    if not curves:
        return False
    until = frame + max(one.over - one.frame, 1.0) + HALF_FRAME
    first, last = sorted(action_frame(anim, at) for at in (frame + SAME_FRAME, until))
    return any(((x > first) & (x < last)).any() for x in map(key_frames, curves))


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


def _key(obj: Any, one: Switch) -> None:
    """Key the switch, held until the next key; keys up to where the change is complete would undo it and go."""
    path = path_of(one.chain)
    was_on = is_on_at(obj, one.chain, one.frame - 1.0)
    curve = compat.ensure_fcurve(obj, path, 0, one.chain.tip)
    anim: Any = obj.animation_data
    first, over = action_frame(anim, one.frame), action_frame(anim, one.over)
    points: Any = curve.keyframe_points
    for point in [key for key in points if first - SAME_FRAME <= key.co.x <= over + SAME_FRAME][::-1]:
        points.remove(point, fast=True)
    preceding = [key for key in points if key.co.x < first - SAME_FRAME]
    if not preceding or preceding[-1].interpolation != 'CONSTANT':
        _insert(points, action_frame(anim, one.frame - 1.0), was_on)
    _insert(points, first, one.is_on)
    curve.update()
    compat.ensure_action(obj).action.update_tag()
    obj.update_tag(refresh={'TIME'})


def _insert(points: Any, frame: float, is_on: bool) -> None:
    key = points.insert(frame, float(is_on), options={'FAST'})
    key.interpolation = 'CONSTANT'
