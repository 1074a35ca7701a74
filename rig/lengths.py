"""Lengths in words, as the scene shows them everywhere: in its unit system, and scaled as it says."""

from __future__ import annotations

import bpy

# Blender's own number of digits beside things in the view.
DIGITS = 3


def in_words(length_world: float) -> str:
    """A length in units of the world, for a message. Without a unit system it is just the number, as in Blender."""
    scene = bpy.context.scene
    if scene is None or scene.unit_settings.system == 'NONE':
        return bpy.utils.units.to_string('NONE', 'LENGTH', length_world, precision=DIGITS).strip()
    units = scene.unit_settings
    return bpy.utils.units.to_string(units.system, 'LENGTH', length_world * units.scale_length, precision=DIGITS)
