"""Makes the repository root importable as ``limb_ik`` and gives tests a clean Blender.

bpy comes before anything else: mathutils lives inside it. The package is only
executed by the ``extension`` fixture, so tests of ``limb_ik.solvers`` need no
registration and no handler.
"""

from __future__ import annotations

import bpy  # isort: skip  (first: mathutils is part of it)

import atexit
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
DATA_VARIABLE = "LIMB_IK_DATA"

# The same examples each time, so a failure can be seen again; no deadline, for other work may hold the processor.
settings.register_profile(
    "limb_ik", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("limb_ik")

if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))  # so that tests can say `import rigs`


def _declare_package() -> ModuleType:
    """Put ``limb_ik`` into sys.modules without executing its ``__init__``."""
    if "limb_ik" in sys.modules:
        return sys.modules["limb_ik"]
    spec = importlib.util.spec_from_file_location(
        "limb_ik", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    if spec is None:
        raise ImportError(f"no package at {ROOT}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["limb_ik"] = module
    return module


PACKAGE = _declare_package()


def _unregister() -> None:
    """Take the extension out again; does nothing where it isn't registered.

    A handler that is left at process exit crashes Blender 4.2 and hangs 4.5.
    """
    if getattr(PACKAGE, "_registered_by_tests", False):
        PACKAGE.__dict__["_registered_by_tests"] = False
        PACKAGE.unregister()


class _Exit:
    """How the process ends: at once after pytest's last line, for Blender's own clean-up hangs.

    In 4.5 it waits for ever once Rigify was enabled or an importer was called, with every test passed.
    """

    status = 0

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.status = int(exitstatus)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(self.status)


def pytest_configure(config: pytest.Config) -> None:
    """Have the process end at once, in the main process alone."""
    config.pluginmanager.register(_Exit(), "limb_ik_exit")


@pytest.fixture(scope="session")
def extension() -> Iterator[ModuleType]:
    """The package ``limb_ik``, executed and registered, for the whole session."""
    if PACKAGE.__spec__ is None or PACKAGE.__spec__.loader is None:
        raise ImportError("the package limb_ik has no loader")
    PACKAGE.__spec__.loader.exec_module(PACKAGE)
    atexit.register(_unregister)
    PACKAGE.register()
    PACKAGE.__dict__["_registered_by_tests"] = True
    try:
        yield PACKAGE
    finally:
        _unregister()


@pytest.fixture
def empty_file() -> None:
    """A factory file without objects (5 ms; read_factory_settings takes 35 to 80)."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


@pytest.fixture
def blank(extension: ModuleType, empty_file: None) -> None:
    """A factory file without objects, the extension registered."""


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the public sample rigs and captures; the test is skipped where there is none."""
    named = os.environ.get(DATA_VARIABLE)
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no sample data at {folder}: set {DATA_VARIABLE} to its folder")
    return folder
