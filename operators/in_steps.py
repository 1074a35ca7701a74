"""Long work of an operator in a window: it goes on between events, shows how far it is, and Esc stops it.

Called from Python or without a window an operator works at once. This module must not
know what the work is.
"""

from __future__ import annotations

import time
from typing import Any

import bpy

from ..bake.steps import Steps
from ..rig.errors import LimbIKError
from ..rig.sentences import sentence

# Seconds of work between two looks at events; and what is done at once, without a word.
SLICE_S = 0.25
AT_ONCE_S = 0.3
PAUSE_S = 0.01


class InSteps:
    """An operator whose ``steps`` yield what is done and of how much, and return the report."""

    _steps: Steps[str] | None = None
    _timer: Any = None
    _at = (0, 1)

    def steps(self, context: Any) -> Steps[str]:
        """The work; closed early it must leave everything as it was."""
        raise NotImplementedError

    def ask(self, context: Any, confirm: str) -> Any:
        """Show the settings first; ``execute`` then goes on in steps."""
        operator: Any = self
        operator.is_asked = True
        return context.window_manager.invoke_props_dialog(operator, confirm_text=confirm)

    def execute(self, context: Any) -> Any:
        """In steps after the dialog; at once from Python and where it is done again with other settings."""
        operator: Any = self
        if not getattr(operator, "is_asked", False) or context.window is None:
            above: Any = super()
            return above.execute(context)
        operator.is_asked = False
        return self.begin(context)

    def work(self, context: Any) -> str:
        """All of it at once; in a window the cursor still counts."""
        is_shown = context.window is not None and not bpy.app.background
        manager = context.window_manager
        if is_shown:
            manager.progress_begin(0, 100)
        steps = self.steps(context)
        try:
            while True:
                done, total = next(steps)
                if is_shown:
                    manager.progress_update(100 * done // total)
        except StopIteration as end:
            return str(end.value)
        finally:
            steps.close()
            if is_shown:
                manager.progress_end()

    def begin(self, context: Any) -> set[str]:
        """Start; goes on in ``modal`` where it takes longer."""
        self._steps = self.steps(context)
        state = self._work_for(context, AT_ONCE_S)
        if state is not None:
            return state
        manager = context.window_manager
        self._timer = manager.event_timer_add(PAUSE_S, window=context.window)
        manager.progress_begin(0, 100)
        manager.modal_handler_add(self)
        return {'RUNNING_MODAL'}

    def modal(self, context: Any, event: Any) -> Any:
        """Blender's entry for every event; none goes on to the editors, so nothing else changes meanwhile."""
        state: set[str] | None = None
        if event.type == 'ESC':
            self._stop()
            self._say({'WARNING'}, "stopped: nothing was changed")
            state = {'CANCELLED'}
        elif event.type == 'TIMER':
            state = self._work_for(context, SLICE_S)
            done, total = self._at
            context.window_manager.progress_update(100 * done // total)
            context.workspace.status_text_set(f"{self._label()}: frame {done} of {total}  |  Esc: stop")
        if state is None:
            return {'RUNNING_MODAL'}
        self._end(context)
        return state

    def cancel(self, context: Any) -> None:
        """Blender ends the operator, as when its dialog is left or another file is opened."""
        self._stop()
        if self._timer is not None:
            self._end(context)

    def _stop(self) -> None:
        if self._steps is not None:
            self._steps.close()

    def _work_for(self, context: Any, seconds: float) -> set[str] | None:
        """Work for a while; how it ended, None where there is more to do."""
        assert self._steps is not None
        until = time.perf_counter() + seconds
        try:
            while time.perf_counter() < until:
                self._at = next(self._steps)
        except StopIteration as end:
            self._say({'INFO'}, end.value)
            return {'FINISHED'}
        except LimbIKError as problem:
            self._say({'ERROR'}, str(problem))
            return {'CANCELLED'}
        except Exception:  # a fault of ours: Blender shows it, and must not go on as if work were under way
            if self._timer is not None:
                self._end(context)
            raise
        return None

    def _end(self, context: Any) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def _say(self, kind: set[str], text: str) -> None:
        operator: Any = self
        operator.report(kind, sentence(text))

    def _label(self) -> str:
        operator: Any = self
        return str(operator.bl_label)
