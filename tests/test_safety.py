"""Files that don't trust and processes that are killed: nothing runs unasked, nothing is left half written."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import time
import tomllib
from pathlib import Path
from types import ModuleType

import bpy
import pytest
from limb_ik.cli import entry as cli
from limb_ik.cli import jobs as cli_jobs
from limb_ik.files import opening as files

import children
import rigs

ROOT = Path(__file__).resolve().parent.parent
FRAMES = 400
"""Enough that a kill falls into the reading of frames."""

pytestmark = pytest.mark.usefixtures("blank")


def moving_rig(path: Path) -> Path:
    arm = rigs.l2b()
    bpy.context.scene.frame_end = FRAMES
    target = rigs.empty("T", (0, -0.4, 1.4))
    rigs.key_location(target, 1)
    rigs.key_location(target, FRAMES, (0, -0.8, 1.0))
    rigs.add_chain_by_properties(arm, "lo", target, rigs.empty("P", (0, 3, 0.8)), end_bone="hand")
    rigs.update()
    files.save_file(path)
    return path


def with_script(path: Path, witness: Path) -> Path:
    """A file whose text block is to be run when it is loaded, and leaves a trace."""
    text = bpy.data.texts.new("script.py")
    text.write(f"open({str(witness)!r}, 'w').write('it ran')\n")
    text.use_module = True
    return moving_rig(path)


def test_scripts_of_a_file_run_only_where_it_is_trusted(tmp_path: Path) -> None:
    witness = tmp_path / "witness.txt"
    path = with_script(tmp_path / "in.blend", witness)
    out = tmp_path / "out.blend"
    bpy.context.preferences.filepaths.use_scripts_auto_execute = True
    for words in (["inspect"], ["add", "-o", str(out)], ["bake", "-o", str(out), "--frames", "1:2"]):
        cli.main([words[0], str(path), *words[1:]])
        assert not witness.exists(), words
    assert cli.main(["inspect", str(path), "--trust"]) == 0
    assert witness.read_text() == "it ran"


def test_many_files_are_not_trusted_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_jobs, "child_program", child_program)
    witness = tmp_path / "witness.txt"
    paths = [with_script(tmp_path / f"{name}.blend", witness) for name in "ab"]
    words = ["bake", *map(str, paths), "-o", str(tmp_path / "out"), "--frames", "1:2"]
    assert cli.main(words) == 0
    assert not witness.exists()


def test_the_extension_asks_for_no_permission() -> None:
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert "permissions" not in manifest


def child_program(*words: str) -> list[str]:
    """The command line in a process of its own, in either kind of Blender."""
    return children.command(cli_jobs.WHEEL_CHILD, "limb_ik", str(ROOT), *words)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_killed_bake_leaves_input_and_output_whole(tmp_path: Path) -> None:
    """Killed at moments over the whole run: what stood there before still opens, or the new file is whole."""
    source, out = moving_rig(tmp_path / "in.blend"), tmp_path / "out.blend"
    words = child_program("bake", str(source), "-o", str(out))
    started = time.monotonic()
    subprocess.run(words, check=True, capture_output=True)
    whole_s = time.monotonic() - started
    assert is_baked(out)
    source_before = digest(source)
    for part in (0.7, 0.9, 1.0):
        before = digest(out)
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            time.sleep(whole_s * part)
            child.send_signal(signal.SIGKILL)
        assert digest(source) == source_before
        assert digest(out) == before or is_baked(out), part


def is_baked(path: Path) -> bool:
    files.open_file(path)
    return len(rigs.curves(files.armatures()[0])[0].keyframe_points) == FRAMES


def test_a_bake_that_is_killed_while_it_writes(tmp_path: Path) -> None:
    """Killed right before the finished file is moved into place: the old one is untouched."""
    source, out = moving_rig(tmp_path / "in.blend"), tmp_path / "out.blend"
    out.write_bytes(b"what stood here before")
    code = "import os\nos.replace = lambda *_: os._exit(7)\n" + cli_jobs.WHEEL_CHILD
    words = ["limb_ik", str(ROOT), "bake", str(source), "-o", str(out), "--frames", "1:5"]
    done = children.run(code, *words)
    assert done.returncode == 7, done.stderr
    assert out.read_bytes() == b"what stood here before"


def test_several_cycles_leave_nothing(extension: ModuleType) -> None:
    """Enabling and disabling with a chain in the file; ``bench/soak.py`` does it a thousand times."""
    arm = rigs.l2b()
    rigs.add_chain_by_properties(arm, "lo", rigs.empty("T", (0, -0.4, 1.4)), end_bone="hand")
    rigs.update()

    def counts() -> tuple[int, ...]:
        handlers = sum(
            len(found) for name in dir(bpy.app.handlers) if isinstance(found := getattr(bpy.app.handlers, name), list)
        )
        drivers = sum(len(o.animation_data.drivers) for o in bpy.data.objects if o.animation_data)
        return handlers, drivers, len(bpy.data.objects), len(bpy.data.actions)

    before = counts()
    for _ in range(5):
        extension.unregister()
        extension.register()
        rigs.update()
    assert counts() == before
