"""What differs between Blender's versions: actions and their slots, and which bones are selected.

Every test of ``bpy.app.version`` lives here. 4.2 and 4.3 keep F-curves flat in the
action; 4.4 and later keep them in channelbags, one per slot; 5.0 and later have no
``Action.fcurves`` at all. This module must not read or write key values and must
not know what a chain is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import bpy

from .errors import LimbIKError

HAS_SLOTS = bpy.app.version >= (4, 4, 0)
HAS_POSE_BONE_SELECT = bpy.app.version >= (5, 0, 0)
# Motion paths are computed without calling handlers there, so they show what the handlers would have changed: FK.
HIDES_IK_FROM_MOTION_PATHS = bpy.app.version >= (5, 0, 0)

# What is written by foreach_set tags what it belongs to (measured).
BULK_WRITES_TAG = bpy.app.version >= (4, 5, 0)
# Where an action plays alone its muted groups play on; beside NLA strips, and in them, they don't (measured).
PLAYS_MUTED_GROUPS_ALONE = HAS_SLOTS

# A path no data has: its curve exists for an instant, so that Blender itself picks or makes the slot.
_SLOT_PROBE_PATH = '["limb_ik_slot_probe"]'


@dataclass(frozen=True, slots=True)
class ActionHandle:
    """An action and the slot of it that animates one data-block (None before 4.4)."""

    action: bpy.types.Action
    slot: Any


def action_and_slot(id_block: bpy.types.ID) -> tuple[bpy.types.Action | None, Any]:
    """The action and the slot that keys of this data-block go to; in NLA tweak mode the tweaked strip's."""
    anim = anim_data(id_block)
    if anim is None or anim.action is None:
        return None, None
    return anim.action, anim.action_slot if HAS_SLOTS else None


def fcurves_of(id_block: bpy.types.ID) -> Sequence[bpy.types.FCurve]:
    """The F-curves that active action and slot give the data-block; empty where there are none.

    Blender's own collection where there is one (``foreach_get``, ``find`` work), else an empty tuple.
    """
    action, slot = action_and_slot(id_block)
    return () if action is None else action_fcurves(action, slot)


def strip_fcurves(strip: bpy.types.NlaStrip) -> Sequence[bpy.types.FCurve]:
    """The F-curves of an NLA strip's action, of the slot that the strip has."""
    if strip.action is None:
        return ()
    return action_fcurves(strip.action, strip.action_slot if HAS_SLOTS else None)


def action_fcurves(action: bpy.types.Action, slot: Any) -> Sequence[bpy.types.FCurve]:
    """The F-curves of one slot of an action (before 4.4: of the action)."""
    if not HAS_SLOTS:
        return cast(Sequence[bpy.types.FCurve], action.fcurves)
    bag = _channelbag(action, slot)
    return () if bag is None else cast(Sequence[bpy.types.FCurve], bag.fcurves)


def find_fcurve(id_block: bpy.types.ID, data_path: str, index: int = 0) -> bpy.types.FCurve | None:
    """The curve of a property in the data-block's active action and slot."""
    return find_in(fcurves_of(id_block), data_path, index)


def find_in(curves: Sequence[bpy.types.FCurve], data_path: str, index: int = 0) -> bpy.types.FCurve | None:
    """The curve of a property in what ``fcurves_of``, ``strip_fcurves`` or ``action_fcurves`` gave."""
    if isinstance(curves, tuple):
        return None
    return cast("bpy.types.FCurve | None", cast(Any, curves).find(data_path, index=index))


def ensure_action(id_block: bpy.types.ID) -> ActionHandle:
    """The action and slot of the data-block, made where there are none, named as Blender names them.

    An action without a slot for this data-block gets the one that ``keyframe_insert``
    would pick or make. Other slots stay as they are.

    Raises:
        LimbIKError: the data-block or its action can't be edited; nothing was changed.
    """
    reason = why_not_editable(id_block)
    if reason:
        raise LimbIKError(reason)
    anim = anim_data(id_block) or cast(bpy.types.AnimData, cast(Any, id_block).animation_data_create())
    if anim.action is None:
        anim.action = bpy.data.actions.new(f"{id_block.name}Action")
        # On top of NLA strips a held action would go on outside its keys, over motion that was not asked for.
        anim.action_extrapolation = 'NOTHING' if len(anim.nla_tracks) else 'HOLD'
    reason = why_not_editable(anim.action)
    if reason:
        raise LimbIKError(reason)
    _ensure_slot(id_block, anim)
    return ActionHandle(anim.action, anim.action_slot if HAS_SLOTS else None)


def ensure_fcurve(id_block: bpy.types.ID, data_path: str, index: int = 0, group_name: str = "") -> bpy.types.FCurve:
    """The curve of a property in the data-block's action and slot, made (all the way up) where there is none."""
    action = ensure_action(id_block).action
    if not HAS_SLOTS:
        curves = cast(Any, action.fcurves)
        curve = curves.find(data_path, index=index) or curves.new(data_path, index=index, action_group=group_name)
        return cast(bpy.types.FCurve, curve)
    existing = find_fcurve(id_block, data_path, index)
    if existing is not None:
        return existing
    curve = cast(Any, action).fcurve_ensure_for_datablock(id_block, data_path, index=index)
    if group_name:
        _put_in_group(action, action_and_slot(id_block)[1], curve, group_name)
    return cast(bpy.types.FCurve, curve)


def remove_fcurve(id_block: bpy.types.ID, curve: bpy.types.FCurve) -> None:
    """Removes a curve from the data-block's action and slot."""
    cast(Any, fcurves_of(id_block)).remove(curve)


def has_own_action(id_block: bpy.types.ID) -> bool:
    """Whether the data-block's action can be edited, and its slot (before 4.4: the action) is played by it alone."""
    action, slot = action_and_slot(id_block)
    if action is None or not action.is_editable:
        return False
    return len(slot.users()) == 1 if slot is not None else action.users - action.use_fake_user <= 1


def why_not_editable(id_block: bpy.types.ID) -> str:
    """Why keys in this action or data-block would be refused or lost; empty where they hold."""
    kind, name = cast(Any, id_block.bl_rna).name, id_block.name
    if id_block.library is not None:
        return f"{kind} '{name}' is linked from {id_block.library.filepath}: keys can't be written to it"
    override = id_block.override_library
    if override is None:
        return ""
    if override.is_system_override:
        return f"{kind} '{name}' is a library override that is not editable: make it editable first"
    if isinstance(id_block, bpy.types.Action):
        return f"{kind} '{name}' is a library override: its keys are lost when the file is loaded, make it local first"
    return ""


def bone_is_selected(bone: bpy.types.PoseBone) -> bool:
    """Whether the pose bone is selected in pose mode."""
    return bool(cast(Any, _selection_owner(bone)).select)


def set_bone_selected(bone: bpy.types.PoseBone, on: bool) -> None:
    """Selects or deselects the pose bone."""
    cast(Any, _selection_owner(bone)).select = on


def _selection_owner(bone: bpy.types.PoseBone) -> bpy.types.PoseBone | bpy.types.Bone:
    return bone if HAS_POSE_BONE_SELECT else bone.bone


def anim_data(id_block: bpy.types.ID) -> bpy.types.AnimData | None:
    """The animation data of a data-block; None where it has none, or its kind can't have any."""
    return cast("bpy.types.AnimData | None", getattr(id_block, "animation_data", None))


def _channelbag(action: bpy.types.Action, slot: Any) -> Any:
    """The first one of a slot; asked for every rig on every frame, so without a generator: 5.4 → 3 us (measured)."""
    if slot is not None:
        for layer in cast(Any, action).layers:
            for strip in layer.strips:
                bag = strip.channelbag(slot)
                if bag is not None:
                    return bag
    return None


def _ensure_slot(id_block: bpy.types.ID, anim: bpy.types.AnimData) -> None:
    action = cast(Any, anim.action)
    if not HAS_SLOTS:
        if action.id_root == 'UNSPECIFIED':
            action.id_root = id_block.id_type
        return
    if anim.action_slot is None:
        probe = action.fcurve_ensure_for_datablock(id_block, _SLOT_PROBE_PATH)
        _channelbag(action, anim.action_slot).fcurves.remove(probe)


def _put_in_group(action: bpy.types.Action, slot: Any, curve: Any, name: str) -> None:
    if curve.group is not None and curve.group.name == name:
        return
    groups = _channelbag(action, slot).groups
    curve.group = groups.get(name) or groups.new(name)
