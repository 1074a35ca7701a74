"""What operators that add chains share: their targets, what becomes of the motion, the blend time.

A click takes what the preferences say; scripts and the command line get the defaults written here
unless they name something else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bpy.props import EnumProperty, FloatProperty

from .. import preferences

MOTIONS = (
    ('AUTO', "Automatic", "Offsets on the motion where the armature is animated, else still targets"),
    ('FK', "Offsets", "The motion goes on; moving a target is added to it"),
    ('KEYS', "Keys", "Targets and poles are keyed along the motion"),
    ('STILL', "Still", "Targets stay where the current frame has them"),
)


class NewChains:
    """Settings of chains to be added."""

    if TYPE_CHECKING:
        target_kind: str
        motion: str
        blend_time: float
    else:
        target_kind: EnumProperty(
            name="Targets",
            items=preferences.TARGET_KINDS,
            default=preferences.DEFAULTS.target_kind,
            description="What is made as targets and poles",
            options={'SKIP_SAVE'},
        )
        motion: EnumProperty(
            name="Motion", items=MOTIONS, default='AUTO', description="What becomes of the armature's animation"
        )
        blend_time: FloatProperty(
            name="Blend Time",
            description="Seconds over which a keyed switch of the new chains is eased",
            default=preferences.DEFAULTS.blend_time,
            min=0.0,
            soft_max=2.0,
            subtype='TIME_ABSOLUTE',
            options={'SKIP_SAVE'},
        )

    def take_preferences(self) -> None:
        """Begin with the preferences where the caller named nothing."""
        operator: Any = self
        settings = preferences.current()
        for name in ("target_kind", "blend_time"):
            if not operator.properties.is_property_set(name):
                setattr(self, name, getattr(settings, name))

    def set_blend_time(self, obj: Any, tips: Iterable[str]) -> None:
        """Give new chains their blend time."""
        for tip in tips:
            obj.pose.bones[tip].limb_ik_blend_time = self.blend_time
