"""Many files: where each goes, and one child process for each, so that none can harm another.

Must not know baking: a child runs the same command for its one file and leaves a
report. Progress is shown on a terminal only.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import bpy

from ..files.opening import READABLE, WRITABLE, check_writable
from ..files.placing import make_folder, resolved
from ..rig.errors import LimbIKError
from ..rig.sentences import counted
from . import progress, stopping
from .children import Children
from .version import PROGRAM

PACKAGE = __name__.rsplit(".", 2)[0]
FOLDER = Path(__file__).resolve().parent.parent
CHILD_VARIABLE = "LIMB_IK_CHILD"
"""Set in the environment of a process that another one watches over."""
DONE = frozenset(("done", "skipped"))
"""What the report calls a file whose output is there."""
LAST_STATUS = 2
"""The highest exit status of a command: usage."""
# A checkout's folder may have any name, so the child is told where the package is, not how to import it.
# Until the command begins Ctrl-C ends it without a word: who watches over it says that.
WHEEL_CHILD = """
import importlib, importlib.util, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
import bpy
name, folder = sys.argv[1:3]
spec = importlib.util.spec_from_file_location(name, folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules[name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[name])
sys.argv[1:] = sys.argv[3:]
importlib.import_module(name + ".cli").main()
"""


def outputs(files: Sequence[Path], output: Path, suffix: str = "") -> list[tuple[Path, Path]]:
    """Each file with where it goes: OUT itself, or a name in OUT where OUT is a folder or has no extension.

    A pattern of shots may match one file, and nobody wants another result then. Files in a folder have the given
    extension, else their source's.

    Raises:
        LimbIKError: OUT is no folder though there are several files, two files
            would become one, or one would overwrite its source unasked.
    """
    if len(files) == 1 and not output.is_dir() and (output.suffix or output.exists()):
        return [(files[0], output)]
    if not output.is_dir():
        if output.exists() or output.suffix.lower() in {*READABLE, *WRITABLE}:
            raise LimbIKError(f"{output} is not a folder, which it has to be for {len(files)} files")
        check_writable(output, [output.suffix.lower()])
    pairs = [(source, output / _output_name(source, suffix)) for source in files]
    for index, (source, target) in enumerate(pairs):
        if resolved(target) in {resolved(other) for other in files}:
            raise LimbIKError(f"{target} is an input, which would be overwritten: choose another folder")
        if target in (other for _, other in pairs[:index]):
            raise LimbIKError(f"two files would be written as {target}, one of them from {source}")
    return pairs


def _output_name(source: Path, suffix: str) -> str:
    """The source's own name; what can be read and not written becomes .glb, which it is."""
    is_kept = not suffix and source.suffix.lower() in WRITABLE
    return source.name if is_kept else f"{source.stem}{suffix or '.glb'}"


def record(source: Path, target: Path, status: str, **details: Any) -> dict[str, Any]:
    """One file's entry in the report."""
    return {"file": str(source), "out": str(target), "status": status, **details}


def is_done(source: Path, target: Path) -> bool:
    """Whether the output is there, whole (it is moved into place when it is) and not older than its source.

    One without content was made by something else.
    """
    if not (target.is_file() and source.is_file()):
        return False
    there = target.stat()
    return there.st_size > 0 and there.st_mtime >= source.stat().st_mtime


def run_all(pairs: Sequence[tuple[Path, Path]], arguments: argparse.Namespace) -> tuple[list[dict[str, Any]], int]:
    """Bakes every file in a process of its own, ``--jobs`` at a time.

    Returns:
        Entries in the files' order, and the exit status where the command was stopped, else 0.
    """
    make_folder(pairs[0][1].parent)
    children, stopped = Children(), 0
    waiting: dict[Future[dict[str, Any]], tuple[Path, Path]] = {}
    with progress.line() as say, ThreadPoolExecutor(arguments.jobs) as pool:
        try:
            with stopping.waiting():
                for pair in pairs:
                    waiting[pool.submit(_run_one, *pair, arguments, children)] = pair
                _show_done(waiting, say)
        except stopping.Stopped as stop:
            stopped = stop.status
            pool.shutdown(wait=False, cancel_futures=True)
            children.end()
    ended = {pair: future.result() for future, pair in waiting.items() if not future.cancelled()}
    return [ended.get(pair) or record(*pair, "stopped") for pair in pairs], stopped


def _show_done(waiting: Mapping[Future[dict[str, Any]], tuple[Path, Path]], say: Callable[[str], None]) -> None:
    say(f"0/{len(waiting)}")
    for number, future in enumerate(as_completed(waiting), start=1):
        say(f"{number}/{len(waiting)} {waiting[future][0].name}")


def say_failed(records: Sequence[dict[str, Any]]) -> None:
    """The failed files, each with its reason, on stderr."""
    for entry in records:
        name, error = entry["file"], entry["error"]
        words = next((error.removeprefix(own) for own in (name, Path(name).name) if error.startswith(f"{own} ")), "")
        sys.stderr.write(f"{PROGRAM}: failed: {name}{words or f': {error}'}\n")


def say_stopped(records: Sequence[dict[str, Any]]) -> None:
    """How far a batch that was stopped has come, on stderr."""
    done = sum(entry["status"] in DONE for entry in records)
    sys.stderr.write(f"{PROGRAM}: stopped: {done} of {counted(len(records), 'file')} done; --resume goes on\n")


def _run_one(source: Path, target: Path, arguments: argparse.Namespace, children: Children) -> dict[str, Any]:
    if arguments.resume and is_done(source, target):
        return record(source, target, "skipped")
    with tempfile.TemporaryDirectory(prefix="limb_ik_") as folder:
        report = Path(folder) / "report.json"
        words = [*child_program(), *_child_arguments(source, target, report, arguments)]
        child = children.run(words, child_environment())
        if child is not None and child.returncode == 0 and report.exists():
            entry: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))["files"][0]
            return entry
    if child is None or children.has_ended or stopping.is_stop(child.returncode):
        return record(source, target, "stopped", error="it was stopped")
    return record(source, target, "failed", error=_reason(child))


def child_environment() -> dict[str, str]:
    return {**os.environ, CHILD_VARIABLE: "1"}


def child_program() -> list[str]:
    """The same Blender, or the same Python with its bpy, up to the command's own arguments."""
    if bpy.app.binary_path:
        return [bpy.app.binary_path, "--command", PACKAGE.rpartition(".")[2]]
    return [sys.executable, "-c", WHEEL_CHILD, PACKAGE, str(FOLDER)]


def _child_arguments(source: Path, target: Path, report: Path, arguments: argparse.Namespace) -> list[str]:
    words = ["bake", f"--output={target}", f"--report={report}"]
    words += ["--step", str(arguments.step), "--reduce", repr(arguments.reduce), "--after", arguments.after]
    for name in ("action", "armature"):
        if value := getattr(arguments, name):
            words += [f"--{name}={value}"]
    if arguments.frames:
        words += ["--frames", "{}:{}".format(*arguments.frames)]
    words += [f"--{name}" for name in ("trust", "verbose") if getattr(arguments, name)]
    return [*words, "--", str(source)]  # whose name may begin with a dash


def crash_of(status: int) -> str:
    """How Blender came to its end where it did not end by itself; empty where it did."""
    if status < 0:
        return f"Blender crashed ({signal.Signals(-status).name})"
    return "" if 0 <= status <= LAST_STATUS else f"Blender crashed (status {status:#x})"


def _reason(child: subprocess.CompletedProcess[str]) -> str:
    if crash := crash_of(child.returncode):
        return crash
    lines = [line for line in child.stderr.splitlines() if line.strip()]
    return lines[-1].removeprefix(f"{PROGRAM}: ") if lines else f"Blender ended with status {child.returncode}"
