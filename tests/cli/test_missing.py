"""What a rig needs from a library that is not there: refused and named: Blender has an empty at 0, 0, 0 there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import bpy
import pytest
from limb_ik.cli import entry as cli
from limb_ik.files import opening as files

import rigs

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(blank: None, extension: ModuleType, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process; exit status and stderr."""

    def command(*words: object) -> tuple[int, str]:
        capfd.readouterr()
        status = cli.main([str(word) for word in words])
        return status, capfd.readouterr().err

    return command


def empty_file() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def linked(library: Path, kind: str, names: Sequence[str]) -> list[bpy.types.ID]:
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        setattr(wanted, kind, list(names))
    return list(getattr(wanted, kind))


def prop(path: Path) -> Path:
    empty_file()
    rigs.key_location(rigs.empty("Ball", (0, -0.4, 1.4)), 1)
    files.save_file(path)
    return path


def ball(library: Path) -> bpy.types.Object:
    """The linked object, in the scene: Blender keeps no link that nothing but a parent or a constraint uses."""
    (found,) = linked(library, "objects", ["Ball"])
    assert isinstance(found, bpy.types.Object)
    bpy.context.scene.collection.objects.link(found)
    return found


def target_linked(library: Path) -> None:
    rigs.add_chain_by_properties(rigs.rig("L2B"), "lo", ball(library))


def parent_linked(library: Path) -> None:
    arm = rigs.rig("L2B")
    arm.parent = ball(library)
    rigs.add_chain_by_properties(arm, "lo", rigs.empty("T", (0, -0.4, 1.4)))


def constraint_linked(library: Path) -> None:
    target = rigs.empty("T")
    target.constraints.new('COPY_LOCATION').target = ball(library)
    rigs.add_chain_by_properties(rigs.rig("L2B"), "lo", target)


def action_linked(library: Path) -> None:
    target = rigs.empty("T", (0, -0.4, 1.4))
    rigs.add_chain_by_properties(rigs.rig("L2B"), "lo", target)
    target.animation_data_create().action = linked(library, "actions", ["Still"])[0]


@pytest.mark.parametrize("link", [target_linked, parent_linked, constraint_linked, action_linked])
def test_a_bake_without_the_library_is_refused(run: Run, tmp_path: Path, link: Callable[[Path], None]) -> None:
    library, shot, out = prop(tmp_path / "prop.blend"), tmp_path / "shot.blend", tmp_path / "out.blend"
    name = "Ball"
    if link is action_linked:
        bpy.data.objects["Ball"].animation_data.action.name = name = "Still"
        files.save_file(library)
    empty_file()
    link(library)
    files.save_file(shot)
    assert run("bake", shot, "-o", out) == (0, "")
    out.unlink()
    library.rename(tmp_path / "away.blend")
    status, said = run("bake", shot, "-o", out)
    assert (status, out.exists()) == (1, False)
    assert said == f"limb-ik: the library {library} is missing: it has '{name}', which the rig needs\n"


def test_what_is_gone_from_a_library_is_named(run: Run, tmp_path: Path) -> None:
    library, shot = prop(tmp_path / "prop.blend"), tmp_path / "shot.blend"
    empty_file()
    target_linked(library)
    files.save_file(shot)
    empty_file()
    files.save_file(library)
    said = f"limb-ik: linked data is missing: {library} has no 'Ball', which the rig needs\n"
    assert run("bake", shot, "-o", tmp_path / "out.blend") == (1, said)


def test_other_missing_links_are_no_hindrance(run: Run, tmp_path: Path) -> None:
    library, shot = prop(tmp_path / "prop.blend"), tmp_path / "shot.blend"
    empty_file()
    rigs.add_chain_by_properties(rigs.rig("L2B"), "lo", rigs.empty("T", (0, -0.4, 1.4)))
    ball(library)
    files.save_file(shot)
    library.unlink()
    assert run("bake", shot, "-o", tmp_path / "out.blend") == (0, "")


@pytest.mark.parametrize("command", ["inspect", "bake", "add", "plant"])
@pytest.mark.parametrize("kind", ["objects", "collections", "armatures"])
def test_a_rig_that_is_missing_itself_is_named(run: Run, tmp_path: Path, command: str, kind: str) -> None:
    empty_file()
    group = bpy.data.collections.new("Hero")
    group.objects.link(rigs.rig("L2B"))
    bpy.context.scene.collection.children.link(group)
    library, shot = tmp_path / "hero.blend", tmp_path / "shot.blend"
    data = bpy.data.objects["Rig"].data.name
    files.save_file(library)
    empty_file()
    (found,) = linked(library, kind, [{"objects": "Rig", "collections": "Hero"}.get(kind, data)])
    if kind == "armatures":
        found = bpy.data.objects.new("Own", found)
    scene = bpy.context.scene.collection
    (scene.children if kind == "collections" else scene.objects).link(found)
    name = data if kind == "armatures" else found.name
    files.save_file(shot)
    library.unlink()
    words = [] if command == "inspect" else ["-o", tmp_path / "out.blend"]
    status, said = run(command, shot, *words)
    if (command, kind) == ("inspect", "armatures"):
        assert status == 0, "it prints what is there"
        return
    assert status == 1
    assert f"the library {library} is missing: it has '{name}'" in said


def test_a_ground_that_is_missing_is_no_ground(run: Run, tmp_path: Path, data_dir: Path) -> None:
    empty_file()
    mesh = bpy.data.meshes.new("Plane")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Floor", mesh))
    library, shot, out = tmp_path / "set.blend", tmp_path / "shot.blend", tmp_path / "out.blend"
    files.save_file(library)
    files.open_file(data_dir / "bvh" / "makehuman_walk1.bvh")
    bpy.context.scene.collection.objects.link(linked(library, "objects", ["Floor"])[0])
    files.save_file(shot)
    library.unlink()
    status, said = run("plant", shot, "-o", out, "--ground", "Floor")
    assert (status, out.exists()) == (1, False)
    assert "is missing: it has 'Floor'" in said
