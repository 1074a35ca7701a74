"""The extension as Blender meets it: manifest, zip, registering over and over, settings that aren't there."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import bpy
import pytest

import leftovers
import rigs

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "tools"
ROUNDS = 5
"""Registering and unregistering as often as LB-40 asks."""


@pytest.fixture(scope="module")
def manifest() -> dict[str, object]:
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))


def test_manifest_says_what_design_fixes(manifest: dict[str, object]) -> None:
    assert manifest["id"] == "limb_ik"
    assert manifest["blender_version_min"] == "4.2.0"
    assert manifest["license"] == ["SPDX:GPL-3.0-or-later"]
    assert "permissions" not in manifest


def test_version_is_the_same_everywhere(manifest: dict[str, object]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert manifest["version"] == project["version"]


def test_every_folder_of_code_goes_into_the_python_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    outside = {"tests", "tools", "bench", "farm", "docs", "demo", "build", "dist"}
    tops = [p.parent for p in ROOT.glob("*/__init__.py") if p.parent.name not in outside]
    folders = [found.parent.relative_to(ROOT) for top in tops for found in top.rglob("__init__.py")]
    assert set(settings["packages"]) == {"limb_ik"} | {".".join(("limb_ik", *folder.parts)) for folder in folders}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """The zip, built from tracked files and validated by Blender's own tool."""
    if shutil.which("git") is None:
        pytest.skip("the zip is built from what git tracks, and there is no git here; `dev.py check` builds it too")
    folder = tmp_path_factory.mktemp("zip")
    _load("packing", TOOLS / "packing.py").copy_tracked(folder / "source")
    builder = _load("blender_ext", Path(bpy.utils.system_resource('SCRIPTS'), "addons_core/bl_pkg/cli/blender_ext.py"))
    assert builder.main(["build", "--source-dir", str(folder / "source"), "--output-dir", str(folder)]) == 0
    built = next(folder.glob("*.zip"))
    assert builder.main(["validate", str(built)]) == 0
    with zipfile.ZipFile(built) as opened:
        yield opened


def _load(name: str, path: Path) -> ModuleType:
    """A script as a module; what lies beside it can be imported by it."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(path.parent))
        patch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
    return module


def test_zip_holds_the_code_and_nothing_beside_it(archive: zipfile.ZipFile) -> None:
    names = set(archive.namelist())
    assert {"__init__.py", "blender_manifest.toml", "LICENSE", "solvers/chain.py"} <= names
    beside = re.compile(r"(^|/)(\.|__pycache__|tests/|tools/|bench/|farm/|docs/|dist/|pyproject|CONTRIBUTING)")
    assert [name for name in names if beside.search(name)] == []


def test_registering_over_and_over_leaves_nothing_behind(extension: ModuleType, blank: None) -> None:
    _bent_limb()
    registered = leftovers.found("limb_ik")
    try:
        for _ in range(ROUNDS):
            extension.unregister()
            assert leftovers.found("limb_ik") == []
            rigs.frame_set(2)
            extension.register()
            assert leftovers.found("limb_ik") == registered
    finally:
        _register_if_needed(extension)


def test_unregistering_twice_is_harmless(extension: ModuleType, blank: None) -> None:
    registered = leftovers.found("limb_ik")
    try:
        extension.unregister()
        extension.unregister()
        assert leftovers.found("limb_ik") == []
    finally:
        _register_if_needed(extension)
    assert leftovers.found("limb_ik") == registered


def _register_if_needed(extension: ModuleType) -> None:
    """Other tests go on with the session's one registration, whatever happened here."""
    if not leftovers.found("limb_ik"):
        extension.register()


def test_each_handler_stands_in_its_list_once(blank: None) -> None:
    counts = Counter(leftovers.handlers("limb_ik"))
    assert {"frame_change_pre", "frame_change_post", "depsgraph_update_post"} <= {_list_of(line) for line in counts}
    assert set(counts.values()) == {1}


def _list_of(line: str) -> str:
    return line.split()[1].rstrip(":")


def test_one_solve_per_frame_change(extension: ModuleType, blank: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after registering again, when a second copy of a handler would solve twice."""
    _bent_limb()
    extension.unregister()
    extension.register()
    rigs.update()
    handlers = sys.modules["limb_ik.handlers"]
    solve, frames = handlers.evaluate, []

    def counted(depsgraph: object, rigs_held: object, frame: float, **options: bool) -> object:
        frames.append(frame)
        return solve(depsgraph, rigs_held, frame, **options)

    monkeypatch.setattr(handlers, "evaluate", counted)
    for frame in (5, 6, 9):
        rigs.frame_set(frame)
    assert frames == [5, 6, 9]


def test_reloading_the_package_works(extension: ModuleType, blank: None) -> None:
    """As Blender does when a changed add-on is enabled again."""
    registered = leftovers.found("limb_ik")
    extension.unregister()
    assert extension.__spec__ is not None
    assert extension.__spec__.loader is not None
    extension.__spec__.loader.exec_module(extension)
    extension.register()
    assert leftovers.found("limb_ik") == registered
    _expect_on_target(_bent_limb())


@pytest.mark.parametrize("loaded", ["read_homefile", "read_factory_settings"])
def test_handlers_outlive_another_file(blank: None, loaded: str) -> None:
    before = sorted(leftovers.handlers("limb_ik"))
    getattr(bpy.ops.wm, loaded)(use_empty=True)
    assert sorted(leftovers.handlers("limb_ik")) == before


def test_ik_works_in_each_file_that_is_opened(extension: ModuleType, blank: None, tmp_path: Path) -> None:
    """A with a chain, B without, C saved while the extension was off (LB-41)."""
    files = {name: str(tmp_path / f"{name}.blend") for name in "ABC"}
    bpy.ops.wm.save_as_mainfile(filepath=files["B"])
    _bent_limb()
    bpy.ops.wm.save_as_mainfile(filepath=files["A"])
    extension.unregister()
    bpy.ops.wm.save_as_mainfile(filepath=files["C"])
    extension.register()
    for name in "ABAC":
        bpy.ops.wm.open_mainfile(filepath=files[name])
        rigs.frame_set(3)
        if name == "B":
            assert len(bpy.data.objects) == 0
        else:
            _expect_on_target(bpy.data.objects["Rig"])


def test_no_settings_of_an_enabled_add_on_are_needed(blank: None) -> None:
    """As in the tests, so after --factory-startup: the preferences know no such add-on, and IK works."""
    assert bpy.context.preferences is not None
    assert "limb_ik" not in bpy.context.preferences.addons
    _expect_on_target(_bent_limb())


def _bent_limb() -> bpy.types.Object:
    """L2B with a target and a pole, solved."""
    arm = rigs.l2b()
    rigs.add_chain_by_properties(arm, "lo", rigs.empty("T", (0.6, -0.4, 1.2)), rigs.empty("P", (0, 3, 0.8)))
    rigs.update()
    return arm


def _expect_on_target(arm: bpy.types.Object) -> None:
    assert rigs.tip_error(arm, "lo", bpy.data.objects["T"]) <= 2e-5  # 1e-5 of a reach of 2
