"""Long work between events: shown, stopped by Esc, ended with its report. In a window it was tried in Blender 5.2."""

from __future__ import annotations

from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from limb_ik.operators import in_steps
from limb_ik.rig.errors import LimbIKError

import walkers


class Window:
    """Stands for a context with a window; writes down what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.window = object()
        self.window_manager = self
        self.workspace = self

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **_named: self.called(name, *arguments)

    def called(self, name: str, *arguments: Any) -> object:
        self.calls.append((name, *arguments))
        return self

    def names(self) -> list[str]:
        return [call[0] for call in self.calls]


class Counting(in_steps.InSteps):
    """Three steps; ``state``: how they ended."""

    bl_label = "Count"

    def __init__(self, fails_at: int = 0) -> None:
        self.said: list[tuple[set[str], str]] = []
        self.state, self.fails_at = "", fails_at

    def steps(self, context: Any) -> Generator[tuple[int, int], None, str]:
        self.state = "stopped"
        for number in (1, 2, 3):
            if number == self.fails_at:
                raise LimbIKError("step is missing")
            yield number, 3
        self.state = "done"
        return "counted to 3"

    def report(self, kind: set[str], text: str) -> None:
        self.said.append((kind, text))


@pytest.fixture
def _one_step_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(in_steps.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(in_steps, "AT_ONCE_S", 2)
    monkeypatch.setattr(in_steps, "SLICE_S", 2)


TIMER, ESC, MOUSE = (SimpleNamespace(type=kind) for kind in ("TIMER", "ESC", "MOUSEMOVE"))


def test_short_work_is_done_at_once() -> None:
    work, window = Counting(), Window()
    assert work.begin(window) == {"FINISHED"}
    assert (work.state, work.said, window.calls) == ("done", [({"INFO"}, "Counted to 3")], [])


@pytest.mark.usefixtures("_one_step_a_slice")
def test_long_work_goes_on_and_shows_how_far_it_is() -> None:
    work, window = Counting(), Window()
    assert work.begin(window) == {"RUNNING_MODAL"}
    assert work.modal(window, MOUSE) == {"RUNNING_MODAL"}
    assert work.modal(window, TIMER) == {"RUNNING_MODAL"}
    assert ("status_text_set", "Count: frame 2 of 3  |  Esc: stop") in window.calls
    assert work.modal(window, TIMER) == {"RUNNING_MODAL"}
    assert work.modal(window, TIMER) == {"FINISHED"}
    assert work.state == "done"
    assert window.names()[-3:] == ["event_timer_remove", "progress_end", "status_text_set"]


@pytest.mark.usefixtures("_one_step_a_slice")
@pytest.mark.parametrize("way", ["esc", "cancel", "error"])
def test_it_can_end_early(way: str) -> None:
    work, window = Counting(fails_at=2 if way == "error" else 0), Window()
    work.begin(window)
    if way == "cancel":
        work.cancel(window)
    else:
        assert work.modal(window, ESC if way == "esc" else TIMER) == {"CANCELLED"}
    assert work.state == "stopped"
    said = {
        "esc": [({"WARNING"}, "Stopped: nothing was changed")],
        "cancel": [],
        "error": [({"ERROR"}, "Step is missing")],
    }
    assert work.said == said[way]
    assert window.names()[-3:] == ["event_timer_remove", "progress_end", "status_text_set"]


def test_leaving_the_dialog_ends_nothing_that_began() -> None:
    window = Window()
    Counting().cancel(window)
    assert window.calls == []


RANGE = {"use_range": True, "frame_start": 1, "frame_end": 9}
REAL: dict[str, dict[str, Any]] = {
    "match_ik": RANGE,
    "match_fk": RANGE,
    "bake": RANGE,
    "detect_contacts": RANGE,
    "plant": {**RANGE, "tips": "shin.L"},
    "ground": {**RANGE, "ground": "Stairs"},
}


def standing_for(name: str, **given: Any) -> Any:
    """An operator as Blender would make it, but for what Blender gives to it: its settings at their defaults."""
    operator = getattr(bpy.types, f"LIMB_IK_OT_{name}")
    bases = tuple(base for base in operator.__bases__ if base is not bpy.types.Operator)
    stand: Any = type("Stand", bases, dict(vars(operator)))()
    for setting in getattr(bpy.ops.limb_ik, name).get_rna_type().properties:
        setattr(stand, setting.identifier, getattr(setting, "default", None))
    for setting, value in given.items():
        setattr(stand, setting, value)
    stand.said = []
    stand.report = lambda kind, text: stand.said.append((kind, text))
    stand.properties = SimpleNamespace(is_property_set=given.__contains__)
    return stand


class ShownIn(Window):
    """Blender's context where it has one, with a window that stands for a real one."""

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name) if hasattr(bpy.context, name) else super().__getattr__(name)


@pytest.mark.usefixtures("blank", "_one_step_a_slice")
@pytest.mark.parametrize("name", REAL)
def test_what_reads_frames_shows_them_and_stops_by_esc(name: str) -> None:
    obj = walkers.walker(last=30)
    bpy.ops.limb_ik.add_limbs(armature=obj.name, arms=False)
    walkers.stairs().name = "Stairs"
    work, window = standing_for(name, armature=obj.name, **REAL[name]), ShownIn()
    scenes, actions = len(bpy.data.scenes), len(bpy.data.actions)
    assert work.begin(window) == {"RUNNING_MODAL"}
    assert work.modal(window, TIMER) == {"RUNNING_MODAL"}
    shown = [call[1] for call in window.calls if call[0] == "status_text_set"]
    assert len(shown) == 1 and shown[0].startswith(f"{work.bl_label}: frame 2 of ")
    assert work.modal(window, ESC) == {"CANCELLED"}
    assert work.said == [({"WARNING"}, "Stopped: nothing was changed")]
    assert (len(bpy.data.scenes), len(bpy.data.actions)) == (scenes, actions)
