"""Drives the window of a full Blender: real keys, moves and clicks, what is under the mouse, pictures.

A case is a generator: each ``yield`` lets Blender handle events and draw once (``yield 5``: five
times). Runs inside Blender, started with ``--enable-event-simulate``; knows nothing of Limb IK.
"""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import bpy

Case = Generator[int | None, None, None]
TURN_S = 0.03
# A case that needs more turns hangs.
MOST_TURNS = 4000
# Pixels from one look for a button to the next: less than a button's height.
SEARCH_STEP = 9


class Driver:
    """The first window's 3D View and what a person does in it. Coordinates: pixels of the window."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def window(self) -> Any:
        return bpy.context.window_manager.windows[0]

    @property
    def area(self) -> Any:
        return next(area for area in self.window.screen.areas if area.type == 'VIEW_3D')

    def region(self, kind: str = 'WINDOW') -> Any:
        return next(region for region in self.area.regions if region.type == kind)

    def there(self, kind: str = 'WINDOW') -> Any:
        """The context of the 3D View, for operators."""
        return bpy.context.temp_override(window=self.window, area=self.area, region=self.region(kind))

    def move(self, x: float, y: float) -> None:
        self.window.event_simulate(type='MOUSEMOVE', value='NOTHING', x=int(x), y=int(y))
        self.place = int(x), int(y)

    def to_view(self, right: float = 0.4, up: float = 0.5) -> Case:
        """The mouse goes over the 3D View."""
        region = self.region()
        for shift in (0, 3, 0):
            self.move(region.x + right * region.width + shift, region.y + up * region.height)
            yield 2

    def key(self, key: str, **modifiers: bool) -> Case:
        """A key is pressed and let go where the mouse is."""
        x, y = self.place
        for value in ('PRESS', 'RELEASE'):
            self.window.event_simulate(type=key, value=value, x=x, y=y, **modifiers)
            yield 2

    def click(self) -> Case:
        yield from self.key('LEFTMOUSE')

    def picture(self, name: str, *options: str) -> Case:
        """The whole window as a PNG; ``options`` go to ImageMagick."""
        yield 6
        path = self.folder / f"{name}.png"
        # Blender's own screenshot is black where there is no graphics card; ImageMagick asks the X server.
        subprocess.run(["import", "-window", "root", *options, str(path)], check=True)
        assert path.stat().st_size > 5_000, f"the picture {name} is empty"

    def crop(self, kind: str | None = None) -> tuple[str, ...]:
        """ImageMagick's options that leave the 3D View, or one region of it."""
        part = self.region(kind) if kind else self.area
        top = self.window.height - part.y - part.height
        return "-crop", f"{part.width}x{part.height}+{part.x}+{top}", "+repage"

    def sidebar(self, tab: str) -> Case:
        """The sidebar, open, with one of its tabs in front."""
        self.area.spaces.active.show_region_ui = True
        for _ in range(60):
            yield 3
            try:
                self.region('UI').active_panel_category = tab
            except (AttributeError, TypeError):
                continue  # not drawn yet
            break
        assert self.region('UI').active_panel_category == tab
        self.area.tag_redraw()
        yield 5

    def find(self, wanted: str, kind: str = 'UI', across: float = 0.35) -> Case:
        """Move the mouse down a region until it is on a button: of this command, or this property."""
        region, seen = self.region(kind), []
        for y in range(region.y + region.height - 5, region.y, -SEARCH_STEP):
            self.move(region.x + across * region.width, y)
            yield 2
            seen.append(self.under_mouse(kind))
            if wanted in seen[-1]:
                return
        raise AssertionError(f"no button of {wanted}, only {sorted(set(seen))}")

    def under_mouse(self, kind: str = 'UI') -> str:
        """The command of the button under the mouse as Python, or the path of the property that it shows."""
        context: Any = bpy.context
        with self.there(kind):
            shown = getattr(context, "property", None)
            if shown is not None:
                return str(shown[1])
            context.window_manager.clipboard = ""
            if bpy.ops.ui.copy_python_command_button.poll():
                bpy.ops.ui.copy_python_command_button()
            elif bpy.ops.ui.copy_data_path_button.poll():  # Blender 4.3 says no `property`
                bpy.ops.ui.copy_data_path_button(full_path=True)
            return str(context.window_manager.clipboard)


def run(cases: list[tuple[str, Callable[[Driver], Case]]], folder: Path) -> None:
    """Run cases one after the other, print how each went and end Blender; status 1 where one failed."""
    driver, failed = Driver(folder), []

    def all_cases() -> Case:
        yield 20
        for name, case in cases:
            try:
                yield from case(driver)
                print(f"PASSED {name}", flush=True)
            except Exception:  # noqa: BLE001  (whatever it is, it is shown and the next case runs)
                failed.append(name)
                print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
                yield from driver.picture(f"failed_{name}")
        yield 2

    steps, waiting, turns = all_cases(), [0], [0]

    def turn() -> float | None:
        turns[0] += 1
        if waiting[0] > 0 and turns[0] < MOST_TURNS:
            waiting[0] -= 1
            return TURN_S
        try:
            if turns[0] >= MOST_TURNS:
                failed.append("hangs")
                raise StopIteration
            waiting[0] = (next(steps) or 1) - 1
        except StopIteration:
            print(f"{len(cases) - len(failed)} passed, {len(failed)} failed", flush=True)
            sys.stderr.flush()
            os._exit(1 if failed else 0)
        return TURN_S

    bpy.app.timers.register(turn, first_interval=0.5)
