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
    folders = {p.parent.name for p in ROOT.glob("*/__init__.py") if p.parent.name not in outside}
    assert set(settings["packages"]) == {"limb_ik"} | {f"limb_ik.{name}" for name in folders}


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
    arm = rigs.l2b()
    rigs.add_chain_by_properties(arm, "lo", rigs.empty("T", (0.6, -0.4, 1.2)))
    rigs.update()
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


@pytest.mark.parametrize("loaded", ["read_homefile", "read_factory_settings"])
def test_handlers_outlive_another_file(blank: None, loaded: str) -> None:
    before = sorted(leftovers.handlers("limb_ik"))
    getattr(bpy.ops.wm, loaded)(use_empty=True)
    assert sorted(leftovers.handlers("limb_ik")) == before


def test_no_settings_of_an_enabled_add_on_are_needed(blank: None) -> None:
    """As in the tests, so after --factory-startup: the preferences know no such add-on, and IK works."""
    assert bpy.context.preferences is not None
    assert "limb_ik" not in bpy.context.preferences.addons
    arm, target = rigs.l2b(), rigs.empty("T", (0.6, -0.4, 1.2))
    rigs.add_chain_by_properties(arm, "lo", target, rigs.empty("P", (0, 3, 0.8)))
    rigs.update()
    assert rigs.tip_error(arm, "lo", target) <= 2e-5  # 1e-5 of a reach of 2
