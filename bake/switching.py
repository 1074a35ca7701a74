"""Switching between IK and FK by keys on ``use_ik``, so that nothing jumps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..rig import channels, compat, fk_pose, match
from ..rig.chains import ChainSetup
from ..rig.errors import LimbIKError
from ..rig.evaluate import Evaluation
from ..rig.sampling import sample
from ..rig.session import object_at
from . import keys
from .key_table import SAME_FRAME
from .match_fk import Turns, read_seen, rotation_rows
from .match_range import Control, chains_named, read_controls, write_controls
from .writable import action_frame, check_writable

SIDES = ('IK', 'FK', 'TOGGLE')
EASES = ('AUTO', 'ARRIVE', 'LEAVE')
# A blend time that is a whole number of frames but for rounding takes no frame more.
ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Switch:
    """One chain's change: ``frame`` is where its key goes, ``over`` where the change is complete."""

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
        use_match: to IK, key target and pole where FK then is; to FK, key the FK pose that is seen then.

    Returns:
        What was keyed; chains that are on that side already are left alone.

    Raises:
        LimbIKError: bad input, or nothing would change; nothing was changed.
    """
    for value, known in ((to, SIDES), (ease, EASES)):
        if value not in known:
            raise LimbIKError(f"a switch can be {', '.join(known)}, not {value!r}")
    frame = context.scene.frame_current_final
    chains = chains_named(obj, tips)
    switches = [one for chain in chains if (one := _planned(context, obj, chain, to, ease, frame)) is not None]
    if not switches:
        raise LimbIKError(f"the chains of '{obj.name}' are on {to} at frame {frame:g} already")
    for one in switches:
        check_writable(obj, [path_of(one.chain)], np.array([one.frame - 1.0, one.over]))
    if use_match:
        _match(context, obj, switches)
    for one in switches:
        _key(obj, one)
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
    return Switch(chain, is_on, frame - lead, frame) if arrives else Switch(chain, is_on, frame, frame + lead)


def is_on_at(obj: Any, chain: ChainSetup, frame: float) -> bool:
    """Whether ``use_ik`` is on at a frame, as animated."""
    found = channels.boolean_changes(obj, path_of(chain), frame - 1.0, frame)
    if found is None:
        tip: Any = obj.pose.bones[chain.tip]
        return bool(tip.limb_ik_use_ik)
    return found[0] if not found[1] else found[1][-1][1] > 0


def _match(context: Any, obj: Any, switches: Sequence[Switch]) -> None:
    """Key targets or FK for each group of chains that change alike; what was before stays until the frame before."""
    frame = context.scene.frame_current_final
    for first in sorted({one.frame for one in switches}):
        group = [one for one in switches if one.frame == first]
        to_ik = [one.chain for one in group if one.is_on]
        to_fk = [one.chain for one in group if not one.is_on]
        if to_ik:
            _match_targets(context, obj, to_ik, first, frame)
        if to_fk:
            _match_fk(context, obj, to_fk, first)


def _match_targets(context: Any, obj: Any, chains: Sequence[ChainSetup], first: float, frame: float) -> None:
    """Targets wait where FK is at ``frame`` from ``first`` on."""

    def read(run: Evaluation) -> tuple[dict[Control, match.Channels], dict[Control, match.Channels]]:
        matched = read_controls(run, obj, chains)
        return matched, {control: _own_channels(run, control) for control in matched}

    before, here = sample(context, [obj], [first - 1.0, frame], read, is_solved=False)
    frames = sorted({first - 1.0, first, frame})
    write_controls([before[1], *[here[0]] * (len(frames) - 1)], np.array(frames))


def _own_channels(run: Evaluation, control: Control) -> match.Channels:
    owner = match.owner_of(object_at(control[0]).evaluated_get(run.depsgraph), control[1])
    return match.Channels(tuple(owner.location), fk_pose.read_raw(owner))


def _match_fk(context: Any, obj: Any, chains: Sequence[ChainSetup], frame: float) -> None:
    """The FK pose is what is seen at ``frame``; up to the frame before it stays what it was."""

    def read(run: Evaluation) -> Turns:
        return dict(match.rig_of(run, obj).state.rotations)

    turns, _ = read_seen(context, obj, chains, [], [frame])
    if not turns[0]:
        return
    before = sample(context, [obj], [frame - 1.0], read, is_solved=False)[0]
    rows = rotation_rows(obj, [{bone: before[bone] for bone in turns[0]}, turns[0]])
    keys.write_rotation_keys(obj, rows, np.array([frame - 1.0, frame]))


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
