"""All clips of a file for Blender's glTF exporter, which writes NLA tracks of one strip and merges those of one name.

Makes such tracks, and no others, of copies of actions, in the session that is thrown away after an export. Must not
call the exporter. What Blender does with tracks one by one is measured: it sets bones to rest between them, leaves
objects as they were, and writes the whole frames from a strip's start to its end. (By actions instead of tracks it
samples each of them over the frames of the longest.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import bpy
import numpy as np

from ..rig import channels, compat, nla
from ..rig.session import current_scene
from .clip import Clip, Part, animation_of
from .shift import shift_keys
from .still_channels import Path, assign, held_still, hold, value_now


def make_tracks(owners: Sequence[bpy.types.ID], playing: Clip, others: Sequence[Clip]) -> None:
    """Gives everything animated one muted track for each clip it has a part in, the clip that plays first.

    Args:
        owners: what is animated; what plays NLA strips gets an action of what comes of them.
        playing: the motion that plays; written within the scene's frames.
        others: written over the frames of their keys, from 0 on where these begin before.
    """
    scene = current_scene()
    frames = scene.frame_start, scene.frame_end
    mixed = [_flattened(owner, frames) for owner in owners if nla.uses_strips(animation_of(owner))]
    playing = replace(playing, parts=(*playing.parts, *mixed))
    held = {owner.session_uid: held_still(owner, playing, others) for owner in owners}
    for owner in owners:
        _clear(animation_of(owner))
    played = [_copied(part) for part in playing.parts]
    for part in played:
        hold(part, held[part.owner.session_uid], frames[0])
        _add_track(playing.name, part, _common(replace(playing, parts=(part,)).frames() or frames, frames))
    for clip in others:
        own = clip.frames() or frames
        for part in clip.parts:
            copy = _copied(part)
            hold(copy, held[part.owner.session_uid], own[0])
            _add_track(clip.name, copy, _from_zero(copy, own))
    for part in played:
        assign(animation_of(part.owner), part.action, part.slot)


def _common(own: tuple[int, int], frames: tuple[int, int]) -> tuple[int, int]:
    """The frames that two ranges share; where there are none the one nearest."""
    first, last = max(own[0], frames[0]), min(own[1], frames[1])
    return min(first, frames[1]), max(last, min(first, frames[1]))


def _flattened(owner: bpy.types.ID, frames: tuple[int, int]) -> Part:
    """An action with what NLA strips and the action on top of them give, on every frame."""
    times = range(frames[0], frames[1] + 1)
    paths = [path for path in dict.fromkeys(channels.animated_paths(owner)) if not channels.is_driven(owner, *path)]
    rows: dict[Path, list[float]] = {path: [] for path in paths if value_now(owner, path) is not None}
    for frame in times:
        current_scene().frame_set(frame)
        for path, values in rows.items():
            values.append(value_now(owner, path) or 0.0)
    anim = animation_of(owner)
    anim.use_tweak_mode = False
    anim.action = bpy.data.actions.new(owner.name)
    for path, values in rows.items():
        points = compat.ensure_fcurve(owner, *path).keyframe_points
        points.add(len(values))
        points.foreach_set("co", np.column_stack((np.array(times, np.float32), values)).astype(np.float32).ravel())
    return Part(owner, anim.action, compat.action_and_slot(owner)[1])


def _clear(anim: bpy.types.AnimData) -> None:
    anim.use_tweak_mode = False
    assign(anim, None, None)
    for track in list(anim.nla_tracks):
        anim.nla_tracks.remove(track)


def _copied(part: Part) -> Part:
    """The part with an action of its own, made its owner's action."""
    copy = part.action.copy()
    slot = None
    if compat.HAS_SLOTS:
        slot = next(slot for slot in cast(Any, copy).slots if slot.handle == part.slot.handle)
    assign(animation_of(part.owner), copy, slot)
    return Part(part.owner, copy, slot)


def _from_zero(part: Part, frames: tuple[int, int]) -> tuple[int, int]:
    """Moves keys so that a clip doesn't begin before 0, where a glTF file does; its frames then."""
    shift = -min(0, frames[0])
    if shift:
        shift_keys(part.curves, shift)
    return frames[0] + shift, frames[1] + shift


def _add_track(name: str, part: Part, frames: tuple[int, int]) -> None:
    """A muted track with the part's action for its one strip, which the exporter writes over these frames."""
    action: Any = part.action
    action.use_frame_range, action.use_cyclic = True, False
    action.frame_start, action.frame_end = frames
    track = animation_of(part.owner).nla_tracks.new()
    track.mute, track.name = True, name
    strip: Any = track.strips.new(name, frames[0], action)
    if compat.HAS_SLOTS:
        strip.action_slot = part.slot
