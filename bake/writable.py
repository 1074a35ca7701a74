"""Why keys can't be written, or would have no effect: said before anything is changed.

Reads only. What is refused here would else be a bake that "finished" and shows
nothing, or shows something else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import bpy

from ..rig import compat, nla
from ..rig.channels import SAME_FRAME
from ..rig.errors import LimbIKError
from ..solvers.arrays import Floats
from .key_table import key_frames


def check_writable(
    id_block: bpy.types.ID, data_paths: Iterable[str], frames: Floats, is_every_frame: bool = True
) -> None:
    """Raises where keys for these properties can't be written, or would have no effect in this range.

    ``is_every_frame`` false: few keys, between which a curve's modifiers can't be made up for.

    Raises:
        LimbIKError: with the reason; nothing is changed here.
    """
    anim = cast("bpy.types.AnimData | None", getattr(id_block, "animation_data", None))
    action = compat.action_and_slot(id_block)[0]
    reason = compat.why_not_editable(id_block) or ("" if action is None else compat.why_not_editable(action))
    if not reason and anim is not None:
        reason = _why_not_evaluated(anim, frames) or _why_channels_not_writable(
            id_block, anim, data_paths, frames, is_every_frame
        )
    if reason:
        raise LimbIKError(reason)


def repeated(id_block: bpy.types.ID, data_paths: Iterable[str]) -> list[str]:
    """Those of the properties whose animation repeats its keys: new ones change it outside of their range, too."""
    paths = set(data_paths)
    curves = [curve for curve in compat.fcurves_of(id_block) if curve.data_path in paths and not curve.mute]
    cycled = (curve for curve in curves if any(one.type == 'CYCLES' and not one.mute for one in curve.modifiers))
    return list(dict.fromkeys(curve.data_path for curve in cycled))


def action_frame(anim: bpy.types.AnimData, frame: float) -> float:
    """Where in its action the data-block is at a frame of the scene (other than itself in NLA tweak mode only)."""
    return anim.nla_tweak_strip_time_to_scene(frame, invert=True)


def _why_not_evaluated(anim: bpy.types.AnimData, frames: Floats) -> str:
    """Why the NLA would not show keys of the active action as they are."""
    if not nla.uses_strips(anim):
        return ""
    if anim.use_tweak_mode:
        return _why_strip_hides_keys(anim, frames)
    if any(track.is_solo for track in anim.nla_tracks):
        return "an NLA track is soloed, so keys of the active action have no effect: turn solo off"
    if anim.action_blend_type != 'REPLACE' or anim.action_influence != 1.0:
        what = "an action that is made here would be" if anim.action is None else f"action '{anim.action.name}' is"
        return f"{what} blended over NLA strips: set it to Replace with influence 1"
    return ""


def _why_strip_hides_keys(anim: bpy.types.AnimData, frames: Floats) -> str:
    strip = nla.tweaked_strip(anim)
    if strip is None:
        return "no NLA strip is found for the action that is tweaked: leave tweak mode"
    is_partial = strip.use_animated_influence or strip.blend_in or strip.blend_out or strip.blend_type != 'REPLACE'
    if is_partial or strip.mute or strip.use_animated_time:
        return f"NLA strip '{strip.name}' is muted, blended or has its own time: leave tweak mode to key"
    if not nla.plays_in_place(anim, strip):
        return ""
    ends = [action_frame(anim, float(frame)) for frame in (frames[0], frames[-1])]
    is_inside = strip.action_frame_start - SAME_FRAME <= min(ends) and max(ends) <= strip.action_frame_end + SAME_FRAME
    if not is_inside:
        return f"frames {frames[0]:g} to {frames[-1]:g} are not all played by NLA strip '{strip.name}'"
    return ""


def _why_channels_not_writable(
    id_block: bpy.types.ID, anim: bpy.types.AnimData, data_paths: Iterable[str], frames: Floats, is_every_frame: bool
) -> str:
    paths = set(data_paths)
    for driver in anim.drivers:
        if driver.data_path in paths and not driver.mute:
            return f"{driver.data_path} of '{id_block.name}' has a driver, which wins over keys: remove or mute it"
    for curve in compat.fcurves_of(id_block):
        if curve.data_path in paths:
            ends = sorted(action_frame(anim, float(frames[i])) for i in (0, -1))
            reason = _why_curve_not_writable(curve, ends[0], ends[1], is_every_frame)
            if reason:
                return f"the animation of {curve.data_path} of '{id_block.name}' {reason}"
    return _why_mode_changes(id_block, anim, paths, frames)


def _why_mode_changes(id_block: bpy.types.ID, anim: bpy.types.AnimData, paths: Iterable[str], frames: Floats) -> str:
    """Keys of a rotation's channel have no effect on frames where an animated rotation mode says that another plays."""
    for path in sorted(paths):
        owner, _, channel = path.rpartition(".")
        curve = compat.find_fcurve(id_block, f"{owner}.rotation_mode") if channel.startswith("rotation_") else None
        if curve is None or curve.mute or not len(curve.keyframe_points):
            continue
        modes = {round(curve.evaluate(action_frame(anim, float(frame)))) for frame in frames}
        if len(modes) > 1 or modes != {_mode_number(id_block.path_resolve(owner))}:
            return f"the rotation mode of {owner} of '{id_block.name}' is animated: remove its keys"
    return ""


def _mode_number(owner: Any) -> int:
    """The number under which animation has the rotation mode of a bone or object."""
    return int(owner.bl_rna.properties["rotation_mode"].enum_items[owner.rotation_mode].value)


def _why_curve_not_writable(curve: bpy.types.FCurve, first: float, last: float, is_every_frame: bool) -> str:
    if len(curve.sampled_points):
        return "is a curve of samples without keys: turn it into keyframes first"
    if curve.lock:
        return "is locked: unlock the channel"
    if curve.group is not None and curve.group.mute:
        return "is in a muted group: unmute it"
    for modifier in curve.modifiers:
        if not modifier.mute and not (modifier.type == 'CYCLES' or (is_every_frame and _is_additive(modifier))):
            return f"has a modifier ({modifier.type}) that would change baked keys: mute or remove it"
    x = key_frames(curve)
    if curve.mute and ((x < first - SAME_FRAME) | (x > last + SAME_FRAME)).any():
        return "is muted and has keys outside the range: unmute or remove it"
    return ""


def _is_additive(modifier: bpy.types.FModifier) -> bool:
    """Whether the modifier adds an amount that depends on the frame alone."""
    if modifier.type == 'NOISE':
        return cast(Any, modifier).blend_type in {'ADD', 'SUBTRACT'}
    return modifier.type in {'GENERATOR', 'FNGENERATOR'} and bool(cast(Any, modifier).use_additive)
