"""Operators over a range of frames: how they are told which, and how their dialogs show it.

Must not read or write keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from bpy.props import BoolProperty, IntProperty

from ..bake.ranges import whole_range
from ..rig import animated_range


class OverRange:
    """An operator over a range of frames."""

    if TYPE_CHECKING:
        use_range: bool
        frame_start: int
        frame_end: int
    else:
        use_range: BoolProperty(
            name="Use Range", description="These frames instead of the action's range, or the scene's without action"
        )
        frame_start: IntProperty(name="Start", description="First frame", default=1)
        frame_end: IntProperty(name="End", description="Last frame", default=250)

    def fill_range(self, context: Any, objects: Iterable[Any]) -> None:
        """Before a dialog: the range of the armatures' animation, the scene's where none has one."""
        properties = cast(Any, self).properties
        if properties.is_property_set("frame_start"):
            return
        found = [whole_range(own) for obj in objects if (own := animated_range.animation_range(obj)) is not None]
        found = found or [(context.scene.frame_start, context.scene.frame_end)]
        self.frame_start, self.frame_end = min(a for a, _ in found), max(b for _, b in found)
        self.use_range = self.use_range

    def draw_range(self, layout: Any) -> None:
        """The range in a dialog."""
        layout.prop(self, "use_range")
        column = layout.column(align=True)
        column.active = self.use_range
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")

    def has_range(self) -> bool:
        """Whether frames were named: by ``use_range``, or by a script that just gives them."""
        properties = cast(Any, self).properties
        if properties.is_property_set("use_range"):
            return self.use_range
        return bool(properties.is_property_set("frame_start") or properties.is_property_set("frame_end"))

    def bounds(self) -> tuple[float | None, float | None]:
        """First and last frame as named; None where the animation's own counts."""
        if not self.has_range():
            return None, None
        properties = cast(Any, self).properties
        is_set = properties.is_property_set
        return (
            float(self.frame_start) if is_set("frame_start") else None,
            float(self.frame_end) if is_set("frame_end") else None,
        )
