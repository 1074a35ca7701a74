"""The clips of a file: the motion that plays, and actions that wait beside it for their turn.

Importers put all clips but one into muted NLA tracks named as the clips are, animators leave actions without a user.
Reads only. Must not know file formats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import bpy

from ..rig import animated_range, compat, nla
from ..rig.data_paths import split_bone_path
from ..rig.sentences import counted, listed
from ..rig.session import armature_data
from .clip import Clip, Part, animation_of, is_armature, whole_frames

# Names that Blender gives to tracks: no clip's own. Its exporter passes them over, too.
_DEFAULT_TRACKS = ("NlaTrack", "[Action Stash]")
# What moves several things by different strips and actions at once.
MIXTURE = "Animation"


def clips_of(objects: Iterable[bpy.types.Object]) -> tuple[Clip, list[Clip]]:
    """The motion that plays, and the clips that wait, in their file's order.

    What a thing has of the clip that an armature plays is a part of that motion, whatever clip the thing itself is at:
    a file's clips are of all its objects.
    """
    owners = owners_of(objects)
    waiting = _waiting(owners)
    name = _playing_name([owner for owner in owners if is_armature(owner)] or owners)
    playing = [part for owner in owners if (part := _playing_part(owner, name, waiting)) is not None]
    taken = {_key(part) for part in playing}
    rest = {clip: tuple(part for part in parts if _key(part) not in taken) for clip, parts in waiting.items()}
    others = [Clip(clip, parts) for clip, parts in rest.items() if parts]
    return Clip(name, tuple(playing)), [_renamed(clip, name) if clip.name == name else clip for clip in others]


def rows_of(obj: bpy.types.Object) -> list[dict[str, Any]]:
    """An armature's clips as plain values: name, frames, and whether it is the one that plays."""
    playing, others = clips_of([obj])
    own = animated_range.animation_range(obj)
    rows = [] if own is None else [(playing.name, whole_frames([own]), True)]
    rows += [(clip.name, clip.frames(), False) for clip in others]
    return [{"name": name, "frames": frames, "plays": plays} for name, frames, plays in rows]


def part_named(obj: bpy.types.Object, name: str) -> Part | None:
    """What an armature has of a clip of this name, or an action of this name; None where it has nothing."""
    playing, others = clips_of([obj])
    clip = next((clip for clip in (playing, *others) if clip.parts and clip.name == name), None)
    if clip is not None:
        return clip.parts[0]
    action = bpy.data.actions.get(name)
    slots: list[Any] = [] if action is None else _slots_for(obj, action)
    fitting = [slot for slot in slots if slot is None or slot.target_id_type in {obj.id_type, 'UNSPECIFIED'}]
    return Part(obj, cast(bpy.types.Action, action), fitting[0]) if fitting else None


def left_out(clips: Sequence[Clip], name: str) -> str:
    """What is to be said of clips that a file doesn't hold; empty where it holds all."""
    if not clips:
        return ""
    verb = "is" if len(clips) == 1 else "are"
    return f"{counted(len(clips), 'other action')} {verb} not in {name}: {listed(clip.name for clip in clips)}"


def _renamed(clip: Clip, name: str) -> Clip:
    """Another clip by the name of the one that plays: of an armature that is at a third one."""
    return Clip(f"{name}.001", clip.parts)


def owners_of(objects: Iterable[bpy.types.Object]) -> list[bpy.types.ID]:
    """What is animated of objects: they themselves, and their shape keys, each once; armatures by name first."""
    order = sorted(objects, key=lambda obj: (obj.type != 'ARMATURE', obj.name))
    every = [owner for obj in order for owner in (obj, getattr(obj.data, "shape_keys", None)) if owner is not None]
    animated = [owner for owner in every if cast(Any, owner).animation_data is not None]
    return list({owner.session_uid: owner for owner in animated}.values())


def _key(part: Part) -> tuple[int, int, int]:
    return part.owner.session_uid, part.action.session_uid, part.slot.handle if part.slot is not None else 0


def _playing_name(owners: Sequence[bpy.types.ID]) -> str:
    """The name of the first one's motion."""
    for owner in owners:
        anim = animation_of(owner)
        if nla.uses_strips(anim):
            names = {_strip_name(track, strip) for track, strip in _strips(anim) if not _waits(anim, track, strip)}
            return names.pop() if len(names) == 1 else MIXTURE
        if anim.action is not None:
            tracks = (_strip_name(track, strip) for track, strip in _strips(anim) if strip.action == anim.action)
            return next(tracks, None) or _own_name(owner, anim.action)
    return MIXTURE


def _playing_part(owner: bpy.types.ID, name: str, waiting: dict[str, list[Part]]) -> Part | None:
    """What an owner has of the motion that plays: what it is at, but for a thing whose part of that clip waits."""
    anim = animation_of(owner)
    if nla.uses_strips(anim):
        return None
    own = [part for parts in waiting.values() for part in parts if part.owner == owner]
    if own and not is_armature(owner):
        return next((part for part in waiting.get(name, ()) if part.owner == owner), None)
    action, slot = compat.action_and_slot(owner)
    is_used = action is not None and (slot is not None or not compat.HAS_SLOTS)
    return Part(owner, cast(bpy.types.Action, action), slot) if is_used else None


def _waiting(owners: Sequence[bpy.types.ID]) -> dict[str, list[Part]]:
    """The parts that wait, by the names of their clips; those that are playing, too, may be in a muted track."""
    found: dict[str, list[Part]] = {}
    for owner in owners:
        anim = animation_of(owner)
        for track, strip in _strips(anim):
            slot = strip.action_slot if compat.HAS_SLOTS else None
            part = Part(owner, strip.action, slot)
            if _waits(anim, track, strip) and (slot is not None or not compat.HAS_SLOTS):
                _put(found, _strip_name(track, strip), part)
    for part in _loose([owner for owner in owners if is_armature(owner)], found):
        _put(found, _own_name(part.owner, part.action), part)
    return found


def _put(found: dict[str, list[Part]], name: str, part: Part) -> None:
    """Adds a part to the clip of its name; another of the same owner by that name becomes a clip of its own."""
    if any(_key(part) == _key(other) for parts in found.values() for other in parts):
        return
    names = (f"{name}.{number:03}" if number else name for number in range(len(found) + 1))
    free = (one for one in names if all(other.owner != part.owner for other in found.get(one, ())))
    found.setdefault(next(free), []).append(part)


def _strips(anim: bpy.types.AnimData) -> Iterator[tuple[bpy.types.NlaTrack, Any]]:
    """Strips of actions with their tracks, from the highest down: an importer's first clip is the highest one."""
    for track in reversed(list(anim.nla_tracks)):
        for strip in track.strips:
            if strip.action is not None:
                yield track, strip


def _waits(anim: bpy.types.AnimData, track: bpy.types.NlaTrack, strip: Any) -> bool:
    """Whether a strip has no part in what is seen now."""
    return bool(strip.mute) or not nla.uses_strips(anim) or track not in list(nla.playing_tracks(anim))


def _strip_name(track: bpy.types.NlaTrack, strip: Any) -> str:
    """The name of a strip's clip: its track's where that has a name and no other strip."""
    is_named = len(track.strips) == 1 and not track.name.startswith(_DEFAULT_TRACKS)
    return track.name if is_named else str(strip.action.name)


def _own_name(owner: bpy.types.ID, action: bpy.types.Action) -> str:
    """An action's name, without what Blender's FBX importer puts around the clip's: Object|Clip|Layer, Object|Clip."""
    words = action.name.split("|")
    return words[1] if len(words) in {2, 3} and words[0] == owner.name and words[1] else action.name


def _loose(armatures: Sequence[bpy.types.ID], found: dict[str, list[Part]]) -> Iterator[Part]:
    """Actions that nothing uses and that are of one armature alone, by the bones that they move."""
    known = {part.action.session_uid for parts in found.values() for part in parts}
    known |= {anim.action.session_uid for one in armatures if (anim := animation_of(one)).action is not None}
    actions = [action for action in bpy.data.actions if action.session_uid not in known]
    users = bpy.data.user_map(subset=actions) if actions else {}
    for action in actions:
        if users.get(action):
            continue
        fitting = [part for obj in armatures if (part := _part_of(obj, action)) is not None]
        if len(fitting) == 1:
            yield fitting[0]


def _part_of(obj: bpy.types.ID, action: bpy.types.Action) -> Part | None:
    """What an action has for an armature."""
    return next((part for slot in _slots_for(obj, action) if _fits(part := Part(obj, action, slot))), None)


def _slots_for(obj: bpy.types.ID, action: bpy.types.Action) -> list[Any]:
    """An action's slots, the one of the object's name first; None alone before Blender 4.4."""
    slots: list[Any] = list(cast(Any, action).slots) if compat.HAS_SLOTS else [None]
    return sorted(slots, key=lambda slot: slot is not None and slot.name_display != obj.name)


def _fits(part: Part) -> bool:
    """Whether most of the bones that it moves are its armature's."""
    moved = {name for curve in part.curves if (name := split_bone_path(curve.data_path)[0])}
    bones = armature_data(cast(Any, part.owner)).bones
    return 2 * sum(name in bones for name in moved) > len(moved)
