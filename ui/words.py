"""Text and icons of panels: what a status looks like, and long messages in a narrow sidebar."""

from __future__ import annotations

import textwrap
from typing import Any

STATUS_ICONS = {
    'IDLE': 'RADIOBUT_OFF',
    'REACHED': 'CHECKMARK',
    'TOO_FAR': 'FULLSCREEN_ENTER',
    'TOO_NEAR': 'FULLSCREEN_EXIT',
    'LIMITED': 'LOCKED',
    'INVALID': 'ERROR',
}
# Width of a letter and of the margins of a panel in pixels at a scale of 1, measured in Blender's default theme.
LETTER = 6.6
MARGINS = 70.0
FEWEST_LETTERS = 18


def message(layout: Any, context: Any, text: str, icon: str = 'INFO') -> None:
    """A text in as many lines as the sidebar's width needs."""
    column = layout.column(align=True)
    column.scale_y = 0.8
    for number, line in enumerate(textwrap.wrap(text, _letters(context))):
        column.label(text=line, icon=icon if number == 0 else 'BLANK1')


def _letters(context: Any) -> int:
    region = context.region
    scale = context.preferences.system.ui_scale or 1.0  # 0 without a window
    width = region.width / scale if region is not None else 0.0
    return max(FEWEST_LETTERS, int((width - MARGINS) / LETTER))


def own_name(name: str) -> str:
    """A bone's name without its namespace ("mixamorig:LeftArm"), which fills a narrow list with one word."""
    return name.rpartition(":")[2] or name
