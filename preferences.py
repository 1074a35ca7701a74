"""Add-on preferences: what new chains begin with, and how the overlay looks.

Blender has an entry for them only where the extension was enabled by its settings; loaded as a
plain package there is none, and the defaults hold. Nothing here draws or changes a chain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty

Colour = tuple[float, float, float, float]

TARGET_KINDS = (
    ('EMPTY', "Empties", "Target and pole are empties that travel with the armature"),
    ('BONE', "Bones", "Target and pole are bones of the armature"),
)


@dataclass(frozen=True)
class Settings:
    """The preferences as values; colours are red, green, blue, alpha."""

    blend_time: float = 0.15
    target_kind: str = 'EMPTY'
    show_overlay: bool = True
    line_width: float = 2.0
    limb_colour: Colour = (0.25, 0.75, 1.0, 0.9)
    pole_colour: Colour = (0.75, 0.55, 1.0, 0.8)
    limit_colour: Colour = (1.0, 0.7, 0.15, 0.9)
    missed_colour: Colour = (1.0, 0.2, 0.15, 1.0)


DEFAULTS = Settings()
NAMES = tuple(field.name for field in fields(Settings))
# Called when the overlay is switched or looks different.
_listeners: list[Callable[[], None]] = []


def on_overlay_change(listener: Callable[[], None]) -> None:
    """Call ``listener`` when a preference of the overlay changed."""
    if listener not in _listeners:
        _listeners.append(listener)


def _overlay_changed(_preferences: Any, _context: Any) -> None:
    for listener in _listeners:
        listener()


def _colour(label: str, default: Colour, description: str) -> Any:
    return FloatVectorProperty(
        name=label,
        description=description,
        subtype='COLOR_GAMMA',  # as the viewport draws it, so that the swatch shows the same
        size=4,
        min=0.0,
        max=1.0,
        default=default,
        update=_overlay_changed,
    )


class LimbIKPreferences(bpy.types.AddonPreferences):
    """Preferences of Limb IK"""

    bl_idname = __package__ or "limb_ik"

    if TYPE_CHECKING:
        blend_time: float
        target_kind: str
        show_overlay: bool
        line_width: float
        limb_colour: Any
        pole_colour: Any
        limit_colour: Any
        missed_colour: Any
    else:
        blend_time: FloatProperty(
            name="Blend Time",
            description="Seconds over which a keyed switch of a new chain is eased",
            default=DEFAULTS.blend_time,
            min=0.0,
            soft_max=2.0,
            subtype='TIME_ABSOLUTE',
        )
        target_kind: EnumProperty(
            name="Targets",
            description="What is made as targets and poles of new chains",
            items=TARGET_KINDS,
            default=DEFAULTS.target_kind,
        )
        show_overlay: BoolProperty(
            name="IK Overlay",
            description="Show limb, pole, reach and limits of active and selected chains in the viewport",
            default=DEFAULTS.show_overlay,
            update=_overlay_changed,
        )
        line_width: FloatProperty(
            name="Line Width",
            description="Width of the overlay's lines in pixels",
            default=DEFAULTS.line_width,
            min=1.0,
            max=10.0,
            subtype='PIXEL',
            update=_overlay_changed,
        )
        limb_colour: _colour("Limb", DEFAULTS.limb_colour, "Color of the limb's triangle and its line to the target")
        pole_colour: _colour("Pole", DEFAULTS.pole_colour, "Color of the line to the pole target")
        limit_colour: _colour("Limits", DEFAULTS.limit_colour, "Color of joint limits")
        missed_colour: _colour("Missed", DEFAULTS.missed_colour, "Color of the distance to a target out of reach")

    def draw(self, _context: Any) -> None:
        """New chains, overlay, shortcuts."""
        layout: Any = self.layout
        layout.use_property_split = True
        column = layout.column()
        column.label(text="New Chains")
        column.prop(self, "target_kind")
        column.prop(self, "blend_time")
        column = layout.column()
        column.label(text="Overlay")
        column.prop(self, "show_overlay", text="Show in Viewport")
        looks = column.column()
        looks.active = self.show_overlay
        for name in ("line_width", "limb_colour", "pole_colour", "limit_colour", "missed_colour"):
            looks.prop(self, name)


def entry() -> Any:
    """Blender's own entry of these preferences; None where the extension isn't enabled by its settings."""
    addon = bpy.context.preferences.addons.get(LimbIKPreferences.bl_idname) if bpy.context.preferences else None
    return addon.preferences if addon is not None else None


def current() -> Settings:
    """The preferences as they are now; the defaults where Blender has no entry of them."""
    found = entry()
    if found is None:
        return DEFAULTS
    values: dict[str, Any] = {name: getattr(found, name) for name in NAMES}
    values.update({name: tuple(value) for name, value in values.items() if name.endswith("colour")})
    return Settings(**values)


def register() -> None:
    """Register the preferences."""
    bpy.utils.register_class(LimbIKPreferences)


def unregister() -> None:
    """Take them away; their values stay in Blender's settings."""
    _listeners.clear()
    bpy.utils.unregister_class(LimbIKPreferences)
