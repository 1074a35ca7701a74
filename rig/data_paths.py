"""Data paths of pose bones' properties, from the armature object: as curves and drivers have them.

Text alone: whether there is such a bone or property is not asked.
"""

from __future__ import annotations

import re

import bpy

from . import fk_pose

# What the path of every animatable setting of a chain has in it.
OWN_SETTING = '"].limb_ik_'
# What the path of every property of a bone begins with.
BONES = 'pose.bones["'
OF_BONE = re.compile(r'pose\.bones\["(?P<name>(?:[^"\\]|\\.)*)"\]\.?(?P<rest>.*)', re.DOTALL)


def bone_path(bone_name: str) -> str:
    """What stands before a bone's properties, the dot included; names are escaped as Blender does."""
    return f'{BONES}{bpy.utils.escape_identifier(bone_name)}"].'


def rotation_path(bone: bpy.types.PoseBone) -> str:
    """The rotation channel that the bone's rotation mode uses."""
    return bone_path(bone.name) + fk_pose.channel(bone.rotation_mode)


def setting_path(tip_name: str, setting: str) -> str:
    """A setting of a chain, named without its prefix."""
    return f"{bone_path(tip_name)}limb_ik_{setting}"


def split_bone_path(path: str) -> tuple[str, str]:
    """The bone that a path begins with, and what of the path comes after it; without a bone an empty name."""
    found = OF_BONE.fullmatch(path)
    return (bpy.utils.unescape_identifier(found["name"]), found["rest"]) if found else ("", path)
