"""Nothing to do costs nothing: no chains, unrelated edits, what would not change (LB-06)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import bpy
import pytest
from limb_ik import handlers
from limb_ik.rig import chains, edits, write

import rigs

pytestmark = pytest.mark.usefixtures("blank")

# Five microseconds is the promise; a busy machine is measured by its best run of many.
IDLE_S = 5e-6


class Counted:
    """How often chains were evaluated, rigs written and objects tagged."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.evaluated: list[list[str]] = []
        self.written: list[str] = []
        real, real_write = handlers.evaluate, write._write_bones

        def evaluate(depsgraph: Any, objects: Iterable[Any], *args: Any, **more: Any) -> Any:
            objects = list(objects)
            self.evaluated.append([obj.name for obj in objects])
            return real(depsgraph, objects, *args, **more)

        def write_bones(rig: Any, *rest: Any) -> Any:
            self.written.append(rig.obj.name)
            return real_write(rig, *rest)

        monkeypatch.setattr(handlers, "evaluate", evaluate)
        monkeypatch.setattr(write, "_write_bones", write_bones)

    def clear(self) -> None:
        self.evaluated.clear()
        self.written.clear()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


def limb(name: str = "Rig", x: float = 0.0) -> tuple[Any, Any, Any]:
    obj = rigs.l2b(name=name, location=(x, 0, 0))
    target = rigs.empty(f"T{name}", (x + 0.6, -0.4, 1.2))
    return obj, target, rigs.add_chain_by_properties(obj, "lo", target)


def best_of(call: Callable[[], object], runs: int = 300) -> float:
    found = []
    for _ in range(runs):
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return min(found)


def test_without_chains_handlers_cost_under_5_microseconds() -> None:
    rigs.l2b()
    rigs.update()
    rigs.frame_set(2)
    scene, depsgraph = bpy.context.scene, bpy.context.evaluated_depsgraph_get()
    assert best_of(lambda: handlers.frame_change_pre(scene)) < IDLE_S
    assert best_of(lambda: handlers.frame_change_post(scene, depsgraph)) < IDLE_S
    assert best_of(lambda: handlers.depsgraph_update_post(scene, depsgraph)) < IDLE_S


def test_unrelated_edits_and_frames_solve_write_and_tag_nothing(counted: Counted) -> None:
    limb()
    other = rigs.empty("Other")
    mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    bpy.context.scene.collection.objects.link(mesh)
    rigs.update()
    tagged = []

    def look(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        tagged.extend(update.id.name for update in depsgraph.updates)

    bpy.app.handlers.depsgraph_update_post.append(look)
    counted.clear()
    try:
        for step in range(10):
            other.location.x = mesh.location.z = step
            rigs.update()
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(look)
    assert counted.evaluated == []
    assert counted.written == []
    assert "Rig" not in tagged


def test_only_rigs_that_change_are_solved_and_written(counted: Counted) -> None:
    _, target, _ = limb("A")
    limb("B", 3.0)
    rigs.update()
    counted.clear()
    target.location.z -= 0.05
    rigs.update()
    assert counted.evaluated == [["A"]]
    assert counted.written == ["A"]


def test_a_frame_on_which_nothing_moves_writes_nothing_where_nothing_animates_fk(counted: Counted) -> None:
    """The first frame after an edit has FK put back, whatever it was."""
    limb()
    rigs.update()
    rigs.frame_set(2)
    counted.clear()
    rigs.frame_set(3)
    rigs.update()
    assert counted.written == []


def test_a_frame_on_which_nothing_moves_writes_the_pose_back_once_and_no_more(counted: Counted) -> None:
    """Keyed FK goes in before a frame is evaluated, so the solved pose is put back: once, not more."""
    _, _, tip = limb()
    tip.keyframe_insert("rotation_quaternion", index=0, frame=1)
    rigs.update()
    counted.clear()
    rigs.frame_set(2)
    assert counted.written == ["Rig"]
    rigs.update()
    rigs.update()
    assert counted.written == ["Rig"]


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_frames_alone_are_no_edits(mode: str) -> None:
    """FK that goes back into the bones is no edit of the armature, after which every set-up would be read anew."""
    _, _, tip = limb()
    tip.rotation_mode = mode
    tip.keyframe_insert(f"rotation_{mode.lower() if mode != 'XYZ' else 'euler'}", index=0, frame=1)
    rigs.update()
    rigs.frame_set(2)
    before = edits.count()
    for frame in (3, 4, 7):
        rigs.frame_set(frame)
    assert edits.count() == before


def test_chains_at_rest_write_nothing_on_frames(counted: Counted) -> None:
    _, _, tip = limb()
    tip.limb_ik_mute = True
    rigs.update()
    counted.clear()
    for frame in (2, 3, 4):
        rigs.frame_set(frame)
    assert counted.written == []


def test_an_unrelated_heavy_mesh_is_evaluated_once_a_frame() -> None:
    """The second evaluation of a frame takes only what hangs on the rig; a driver of the mesh counts."""
    limb()
    for frame, place in ((1, (0.6, -0.4, 1.2)), (20, (0.2, -0.9, 1.0))):
        rigs.key_location(bpy.data.objects["TRig"], frame, place)
    mesh = bpy.data.meshes.new("Heavy")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    heavy = bpy.data.objects.new("Heavy", mesh)
    bpy.context.scene.collection.objects.link(heavy)
    calls: list[float] = []
    bpy.app.driver_namespace["limb_ik_test_count"] = lambda frame: (calls.append(frame), 0.0)[1]
    modifier = heavy.modifiers.new("Bulge", "DISPLACE")
    driver = modifier.driver_add("strength").driver
    driver.expression = "limb_ik_test_count(frame)"
    rigs.frame_set(1)
    try:
        calls.clear()
        for frame in (2, 3, 4):
            rigs.frame_set(frame)
        assert calls == [2, 3, 4]
    finally:
        del bpy.app.driver_namespace["limb_ik_test_count"]


def test_a_target_that_is_dragged_does_not_have_the_set_up_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading hundreds of bones at every move of the mouse is felt; an edit of the rig has it read."""
    obj, target = rigs.l2b(), rigs.empty("T", (0.3, -0.4, 1.1))
    rigs.add_chain_by_properties(obj, "lo", target)
    rigs.update()
    read: list[Any] = []
    own = chains.read_setup
    monkeypatch.setattr(chains, "read_setup", lambda rig: read.append(rig) or own(rig))
    for number in range(5):
        target.location.x = 0.3 + 0.05 * number
        rigs.update()
        assert rigs.tip_error(obj, "lo", target) <= 2e-6
    assert not read
    constraint: Any = rigs.bone(obj, "lo").constraints.new('LIMIT_ROTATION')
    rigs.update()
    assert read
    assert "constraint" in rigs.bone(obj, "lo").limb_ik_message
    rigs.bone(obj, "lo").constraints.remove(constraint)
    rigs.update()
    assert rigs.bone(obj, "lo").limb_ik_message == ""
