"""plant, detect_contacts and ground as operators and on the command line: one answer, one undo step, one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy
import pytest
from limb_ik.bake import contact_markers, contacts, grounding, planting
from limb_ik.bake.steps import finished
from limb_ik.cli import entry as cli

import rigs
import walkers

pytestmark = pytest.mark.usefixtures("blank")

WHOLE = range(1, walkers.LAST + 1)


def rig() -> Any:
    obj = walkers.walker()
    assert bpy.ops.limb_ik.add_limbs(armature=obj.name, arms=False) == {"FINISHED"}
    return obj


def feet(obj: Any) -> list[Any]:
    found = walkers.heads(obj, ("foot.L", "foot.R"), WHOLE)
    return [place.copy() for name in found for place in found[name]]


def test_detect_mark_plant() -> None:
    obj = rig()
    assert bpy.ops.limb_ik.detect_contacts(armature=obj.name) == {"FINISHED"}
    found = contact_markers.read(bpy.context, obj)
    assert len(found) == 12
    assert bpy.ops.limb_ik.plant(armature=obj.name, mode="CONTACTS") == {"FINISHED"}
    places = walkers.heads(obj, ("foot.L",), range(26, 39))["foot.L"]
    assert max((place - places[0]).length for place in places) < 1e-5


def test_detecting_and_planting_at_once_is_the_same() -> None:
    obj = rig()
    bpy.ops.limb_ik.detect_contacts(armature=obj.name)
    bpy.ops.limb_ik.plant(armature=obj.name, mode="CONTACTS")
    one = feet(obj)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    obj = rig()
    bpy.ops.limb_ik.detect_contacts(armature=obj.name, plant=True)
    assert max((a - b).length for a, b in zip(one, feet(obj), strict=True)) == 0.0


def test_plant_here_over_a_range_and_release() -> None:
    obj = rig()
    rigs.frame_set(30)
    assert bpy.ops.limb_ik.plant(armature=obj.name, tips="shin.L") == {"FINISHED"}
    rigs.frame_set(33)
    assert bpy.ops.limb_ik.plant(armature=obj.name, tips="shin.L", mode="RELEASE") == {"FINISHED"}
    places = walkers.heads(obj, ("foot.L",), range(30, 34))["foot.L"]
    assert max((place - places[0]).length for place in places) < 1e-5


def test_ground_uses_the_marked_contacts() -> None:
    obj, ground = rig(), walkers.stairs()
    bpy.ops.limb_ik.detect_contacts(armature=obj.name)
    assert bpy.ops.limb_ik.ground(armature=obj.name, ground=ground.name) == {"FINISHED"}
    assert walkers.heads(obj, ("hips",), WHOLE)["hips"][-1].z > 1.2


def everything(obj: Any) -> list[Any]:
    tips = [obj.pose.bones[name] for name in ("shin.L", "shin.R")]
    settings = [(tip.limb_ik_target_space, tip.limb_ik_end_rotation, tip.limb_ik_use_ik) for tip in tips]
    keys = [rigs.keys(one) for one in (obj, *(tip.limb_ik_target for tip in tips))]
    scene = bpy.context.scene
    return [settings, keys, len(bpy.data.scenes), scene.frame_current_final, len(scene.timeline_markers)]


@pytest.mark.parametrize("what", ["contacts", "here", "ground"])
def test_stopped_while_it_reads_it_changes_nothing(what: str) -> None:
    """As by Esc in a window: the operator's own steps, closed on the way; gone through, they do the work."""
    obj, ground = rig(), walkers.stairs()
    bpy.ops.limb_ik.detect_contacts(armature=obj.name)
    found = contact_markers.read(bpy.context, obj)
    rigs.frame_set(30)
    make: dict[str, Any] = {
        "contacts": lambda: planting.plant_contacts_steps(bpy.context, obj, found),
        "here": lambda: planting.plant_steps(bpy.context, obj, ["shin.L"], 30, 40),
        "ground": lambda: grounding.ground_steps(bpy.context, obj, ground, found=found),
    }
    before = everything(obj)
    for count in (1, 7):
        steps = make[what]()
        done = [next(steps) for _ in range(count)]
        assert [number for number, _ in done] == list(range(1, count + 1))
        assert {total for _, total in done} == {len(WHOLE) if what != "here" else 19}
        steps.close()
        assert everything(obj) == before
    finished(make[what]())
    assert everything(obj) != before


def test_each_is_one_undo_step() -> None:
    obj = rig()
    name, before = obj.name, feet(obj)
    rigs.frame_set(1)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.limb_ik.detect_contacts(armature=name, plant=True)
    bpy.ops.ed.undo_push(message="planted")
    assert len(bpy.context.scene.timeline_markers)
    bpy.ops.ed.undo()
    obj = bpy.data.objects[name]
    assert not len(bpy.context.scene.timeline_markers)
    assert max((a - b).length for a, b in zip(before, feet(obj), strict=True)) < 1e-5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda name: bpy.ops.limb_ik.plant(armature=name, mode="CONTACTS"), "The timeline has no contact"),
        (lambda name: bpy.ops.limb_ik.plant(armature=name, mode="RELEASE"), "Nothing of 'Walker' is planted"),
        (lambda name: bpy.ops.limb_ik.plant(armature=name, on="Nothing"), "There is no object 'Nothing'"),
        (lambda name: bpy.ops.limb_ik.ground(armature=name), "No ground"),
        (lambda name: bpy.ops.limb_ik.ground(armature=name, ground="Nothing"), "There is no object 'Nothing'"),
        (lambda name: bpy.ops.limb_ik.detect_contacts(armature=name, speed=0.0), "No contact found"),
    ],
)
def test_refusals_say_why(call: Any, words: str) -> None:
    obj = rig()
    keys = rigs.keys(obj)
    with pytest.raises(RuntimeError, match=words):
        call(obj.name)
    assert rigs.keys(obj) == keys
    assert not len(bpy.context.scene.timeline_markers)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    walkers.walker()
    walkers.stairs()
    path = tmp_path / "walk.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    return path


def test_command_line_plants_and_reports(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = file.with_name("out.blend"), file.with_name("report.json")
    assert cli.main(["plant", str(file), "-o", str(out), "--report", str(report)]) == 0
    assert "6 contacts of 2 limbs planted" in capsys.readouterr().out  # ankle and ball together are one
    entry = json.loads(report.read_text(encoding="utf-8"))["armatures"][0]
    assert len(entry["contacts"]) == 12
    slides = [max(one[f"slide_{when}"] for one in entry["contacts"]) for when in ("after", "before")]
    assert slides[0] < 1e-3 < slides[1]
    bpy.ops.wm.open_mainfile(filepath=str(out))
    obj = bpy.data.objects["Walker"]
    assert contact_markers.read(bpy.context, obj)
    places = walkers.heads(obj, ("foot.L",), range(26, 39))["foot.L"]
    assert max((place - places[0]).length for place in places) < 1e-5


def test_command_line_on_a_ground_to_another_format(file: Path) -> None:
    out = file.with_name("out.bvh")
    assert cli.main(["plant", str(file), "-o", str(out), "--ground", "Stairs"]) == 0
    assert out.stat().st_size > 1000
    obj = bpy.data.objects["Walker"]
    assert not [bone for bone in obj.pose.bones if bone.limb_ik_solver != "NONE"]  # baked, chains removed
    assert walkers.heads(obj, ("hips",), WHOLE)["hips"][-1].z > 1.2


def test_command_line_failures_write_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = file.with_name("out.blend")
    assert cli.main(["plant", str(file), "-o", str(out), "--ground", "Hills"]) == 1
    assert "no object is named 'Hills'" in capsys.readouterr().err
    assert cli.main(["plant", str(file), "-o", str(out), "--armature", "Nobody"]) == 1
    assert cli.main(["plant", str(file), "-o", str(out), "--slope", "7"]) == 2
    assert not out.exists()


def test_points_of_feet_have_names() -> None:
    obj = rig()
    found = {contacts.point_name(obj, chain, part) for chain in contacts.chosen(obj) for part in ("END", "TOE")}
    assert found == {"foot.L", "foot.R", "toe.L", "toe.R"}


@pytest.mark.parametrize("broken", ["shin.L", "shin.R"])
def test_a_leg_that_cannot_be_solved_is_named_and_stops_no_other(broken: str) -> None:
    obj = rig()
    bpy.data.objects.remove(rigs.bone(obj, broken).limb_ik_target)
    rigs.update()
    assert bpy.ops.limb_ik.detect_contacts(armature=obj.name) == {"FINISHED"}
    assert {one.tip for one in contact_markers.read(bpy.context, obj)} == {"shin.L", "shin.R"} - {broken}
    assert contacts.left_out(obj).startswith(f"; '{broken}' left out: ")
    assert contacts.left_out(obj, [broken]) == ""
    with pytest.raises(RuntimeError, match="can't be solved"):
        bpy.ops.limb_ik.detect_contacts(armature=obj.name, tips=broken)
