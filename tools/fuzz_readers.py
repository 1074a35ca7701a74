"""Coverage-guided fuzzing of Limb IK's own readers of files, with atheris (not a test dependency).

    python3.11 -m venv .venv/fuzz && .venv/fuzz/bin/pip install bpy==4.5.15 atheris
    .venv/fuzz/bin/python tools/fuzz_readers.py gltf|bvh|setup|part|arguments [-max_total_time=60] [CORPUS...]

A reader may give a result or a LimbIKError; anything else is a find, which atheris
writes to crash-… in the current folder. Arguments after the reader go to libFuzzer.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import importlib
import importlib.util
import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = Path(tempfile.mkdtemp(prefix="limb_ik_fuzz_"))


def modules() -> dict[str, Any]:
    """The modules under test, instrumented."""
    importlib.import_module("bpy")  # first: mathutils is part of it
    init = ROOT / "__init__.py"
    spec = importlib.util.spec_from_file_location("limb_ik", init, submodule_search_locations=[str(ROOT)])
    assert spec is not None
    sys.modules["limb_ik"] = importlib.util.module_from_spec(spec)  # not executed: nothing is registered
    names = ("files.gltf_rate", "files.formats", "cli.setup", "cli.entry", "bake.parts", "rig.errors")
    with atheris.instrument_imports(include=["limb_ik"]):
        return {name: importlib.import_module(f"limb_ik.{name}") for name in names}


def readers(limb_ik: dict[str, Any]) -> dict[str, Callable[[bytes], object]]:
    def through_file(suffix: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
        def run(data: bytes) -> object:
            path = SCRATCH / f"input{suffix}"
            path.write_bytes(data)
            return read(path)

        return run

    def arguments(data: bytes) -> object:
        words = [os.fsdecode(word) for word in data.split(b"\0")]
        nowhere = io.StringIO()
        with contextlib.redirect_stderr(nowhere), contextlib.redirect_stdout(nowhere), contextlib.suppress(SystemExit):
            return limb_ik["cli.entry"]._parser().parse_args(limb_ik["cli.entry"]._joined_frames(words))

    return {
        "gltf": through_file(".glb", limb_ik["files.gltf_rate"].frame_rate),
        "bvh": through_file(".bvh", limb_ik["files.formats"]._refuse_cut_bvh),
        "setup": through_file(".json", limb_ik["cli.setup"].read_setup),
        "part": through_file(".json", limb_ik["bake.parts"].from_file),
        "arguments": arguments,
    }


def main() -> None:
    limb_ik = modules()
    known = readers(limb_ik)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", choices=sorted(known))
    chosen, rest = parser.parse_known_args()

    def one(data: bytes) -> None:
        with contextlib.suppress(limb_ik["rig.errors"].LimbIKError):
            known[chosen.reader](data)

    _end_at_once()
    atheris.Setup([sys.argv[0], *rest], one)
    atheris.Fuzz()


def _end_at_once() -> None:
    """libFuzzer ends by exit(), at which Blender 4.5 as a package waits for ever: our _exit(0) comes first."""
    library = ctypes.CDLL(None)
    library["__cxa_atexit"](library["_exit"], None, None)


if __name__ == "__main__":
    main()
