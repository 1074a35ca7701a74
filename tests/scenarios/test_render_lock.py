"""When a render in a window should have its interface locked: while live chains are in its scene."""

from __future__ import annotations

import types

import bpy
import pytest
from limb_ik.rig import render_lock
from limb_ik.rig.render_lock import needs_locked_interface

import rigs

pytestmark = pytest.mark.usefixtures("blank")


@pytest.fixture
def in_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a Blender with a window, which tests don't have."""
    app = types.SimpleNamespace(background=False)
    monkeypatch.setattr(render_lock, "bpy", types.SimpleNamespace(app=app))


@pytest.mark.usefixtures("in_a_window")
def test_live_chains_need_it_until_it_is_on() -> None:
    scene = bpy.context.scene
    obj = rigs.l2b()
    rigs.update()
    assert not needs_locked_interface(scene)
    tip = rigs.add_chain_by_properties(obj, "lo", rigs.empty("T", (0.6, -0.4, 1.2)))
    rigs.update()
    assert needs_locked_interface(scene)
    assert not needs_locked_interface(bpy.data.scenes.new("Other"))
    scene.render.use_lock_interface = True
    assert not needs_locked_interface(scene)
    scene.render.use_lock_interface = False
    for off in (lambda on: setattr(tip, "limb_ik_mute", on), lambda on: setattr(obj.limb_ik, "is_live", not on)):
        off(True)
        rigs.update()
        assert not needs_locked_interface(scene)
        off(False)
        rigs.update()
        assert needs_locked_interface(scene)


def test_without_a_window_nothing_shares_the_pose() -> None:
    rigs.add_chain_by_properties(rigs.l2b(), "lo", rigs.empty("T", (0.6, -0.4, 1.2)))
    rigs.update()
    assert bpy.app.background
    assert not needs_locked_interface(bpy.context.scene)
