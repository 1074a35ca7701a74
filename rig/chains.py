"""A rig's chains as they were set up: read once from the pose bones, checked, kept until marked.

Settings that can be animated are not here; they are read from the evaluated pose
at each solve. Holds names and numbers only, never references to Blender's data.
This module must not solve or write a pose.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import bpy

from . import dependency, marks, migrate, regain
from .chain_setup import AXES, UNREAD, ChainSetup, RigSetup, limits_of, matrix_from, matrix_values
from .read_chains import read_setup
from .session import is_in_edit_mode, object_settings

__all__ = [
    "AXES",
    "ChainSetup",
    "RigSetup",
    "chain_of",
    "is_settled",
    "known_setup",
    "limits_of",
    "matrix_from",
    "matrix_values",
    "read_setup",
    "setup_of",
    "standing",
    "tips",
]

_setups: dict[int, RigSetup] = {}
# By session number of a ground those of the rigs that stand on it, as set-ups were last read.
_standing: dict[int, set[int]] = {}


def _listen(obj: bpy.types.Object | None) -> None:
    if obj is None:
        _setups.clear()
    else:
        _setups.pop(obj.session_uid, None)


marks.on_change(_listen)


def setup_of(obj: bpy.types.Object) -> RigSetup:
    """The set-up of a rig; read from its bones where it was marked since the last time."""
    setup = _setups.get(obj.session_uid)
    if setup is None and is_in_edit_mode(obj):
        return UNREAD
    if setup is None:
        was_set_up_here = bool(object_settings(obj).version)
        migrate.up_to_date(obj)
        regain.regain(obj, was_set_up_here)
        setup = _setups[obj.session_uid] = read_setup(obj)
        _note_grounds(obj)
    return setup


def _note_grounds(obj: bpy.types.Object) -> None:
    for standing in _standing.values():
        standing.discard(obj.session_uid)
    for ground in (tip.limb_ik_ground for tip in dependency.tips_of(obj)):
        if ground is not None:
            _standing.setdefault(ground.session_uid, set()).add(obj.session_uid)


def standing() -> Mapping[int, Collection[int]]:
    """By session number of a ground those of the rigs that stand on it, as set-ups were last read."""
    return _standing


def known_setup(obj: bpy.types.Object) -> RigSetup | None:
    """The set-up as it was last read, None where it has to be read anew; writes nothing, for redraws."""
    return _setups.get(obj.session_uid)


def is_settled(obj: bpy.types.Object) -> bool:
    """Whether a set-up was read and nothing was said of its chains that other objects might have mended since."""
    setup = known_setup(obj)
    return setup is not None and not any(chain.problem or chain.note or chain.loose for chain in setup.chains)


def chain_of(obj: bpy.types.Object, tip: str) -> ChainSetup:
    """The chain that ends at a bone.

    Raises:
        StopIteration: there is none.
    """
    return next(chain for chain in setup_of(obj).chains if chain.tip == tip)


def tips(obj: bpy.types.Object) -> list[str]:
    """Names of the bones at which chains end, those nearest the armature's root first."""
    found = dependency.tips_of(obj)
    return [bone.name for bone in sorted(found, key=lambda bone: len(bone.parent_recursive))]
