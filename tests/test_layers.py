"""Imports go one way, and nothing hides: read from the source, without Blender.

ui | operators | handlers | cli  ->  bake  ->  rig  ->  solvers
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = {"solvers": 0, "rig": 1, "bake": 2, "files": 2, "operators": 3, "ui": 3, "demos": 3, "cli": 3}
TOP = 3
"""Layer of the modules beside the folders, such as handlers and properties."""
SAME_HEIGHT = {"ui", "operators", "handlers", "cli"}
"""Beside each other: registration alone may know all of them, for it registers them."""
SOLVERS_MAY_IMPORT = {"mathutils", "numpy"} | set(sys.stdlib_module_names)


def sources() -> list[Path]:
    """The package's own files: those of the root and of its folders of code."""
    found = list(ROOT.glob("*.py"))
    for folder in LAYERS:
        found += (ROOT / folder).rglob("*.py")
    return sorted(found)


SOURCES = sources()


def each_of(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.relative_to(ROOT).as_posix())


def top_name(path: Path) -> str:
    """ "solvers" for solvers/chain.py, "handlers" for handlers.py."""
    return path.relative_to(ROOT).with_suffix("").parts[0]


each_source = each_of(SOURCES)


def imports(path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """(0, dotted name) of absolute imports; (1, path within the package) of relative ones."""
    here = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((0, tuple(alias.name.split("."))) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield 0, tuple((node.module or "").split("."))
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] + tuple(filter(None, (node.module or "").split(".")))
            yield from ((1, base) if node.module else (1, (*base, alias.name)) for alias in node.names)


def layer_of(parts: tuple[str, ...]) -> int:
    return LAYERS.get(parts[0], TOP) if parts else TOP


def test_there_is_something_to_read() -> None:
    assert ROOT / "solvers" / "chain.py" in SOURCES


@each_source
def test_imports_go_one_way(path: Path) -> None:
    own = path.relative_to(ROOT).with_suffix("").parts
    upward = [".".join(target) for relative, target in imports(path) if relative and layer_of(target) > layer_of(own)]
    assert not upward, f"imports from a layer above: {upward}"


@each_of([path for path in SOURCES if top_name(path) == "rig"])
def test_within_rig_set_up_is_above_and_finding_limbs_below(path: Path) -> None:
    folder = path.relative_to(ROOT).parts[1]
    within = {target[:2] for relative, target in imports(path) if relative and target[:1] == ("rig",)}
    assert folder == "setting_up" or ("rig", "setting_up") not in within, "evaluating a frame needs no set-up"
    assert folder != "limb_finding" or within <= {("rig", "limb_finding")}, "what bones are called needs no rig"


@each_of([path for path in SOURCES if top_name(path) in SAME_HEIGHT - {"cli"}])
def test_ui_and_operators_do_not_know_each_other(path: Path) -> None:
    others = SAME_HEIGHT - {top_name(path)}
    wrong = [".".join(target) for relative, target in imports(path) if relative and target and target[0] in others]
    assert not wrong, f"beside, not below: {wrong}"


@each_of([path for path in SOURCES if top_name(path) == "solvers"])
def test_solvers_know_no_blender(path: Path) -> None:
    foreign = [".".join(t) for relative, t in imports(path) if not relative and t[0] not in SOLVERS_MAY_IMPORT]
    assert not foreign, f"solvers import the standard library, mathutils and numpy only, not {foreign}"


@each_source
def test_the_package_never_names_itself(path: Path) -> None:
    named = [".".join(target) for relative, target in imports(path) if not relative and target[0] == "limb_ik"]
    assert not named, f"as an extension the package has another name: {named}"


@each_source
def test_no_import_inside_a_function(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    hidden = [n.lineno for f in functions for n in ast.walk(f) if isinstance(n, (ast.Import, ast.ImportFrom))]
    assert not hidden, f"imports inside functions, lines {hidden}"


@each_of([path for path in SOURCES if top_name(path) != "cli"])
def test_print_belongs_to_the_command_line(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    lines = [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]
    assert not lines, f"print in lines {lines}"


def test_a_wrong_import_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader itself: every spelling of an import comes out as what it names."""
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    source = tmp_path / "rig" / "bad.py"
    source.parent.mkdir()
    source.write_text("import limb_ik.ui\nfrom .. import ui\nfrom ..bake import keys\nfrom .spaces import x\n")
    assert list(imports(source)) == [
        (0, ("limb_ik", "ui")),
        (1, ("ui",)),
        (1, ("bake",)),
        (1, ("rig", "spaces")),
    ]
