"""Damaged files for the command line: what comes out has to be a result or one sentence.

    .venv/4.5/bin/python tools/fuzz_files.py FILE... [--count 200] [--seed 1] [--keep FOLDER] [--command add]

Copies of each FILE are cut, overwritten, filled and reordered at random and given to
``inspect``, ``add`` or ``bake`` in a child process, many to one child. Counts what came of
them: done, refused (status 1 and one sentence), FAULT (anything else that ends), CRASH
(the child died of a signal: Blender's own importers can), HANG. Exit status 1 where there
was a FAULT or a HANG. FOLDER keeps what was no result and no sentence.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib
import importlib.util
import io
import json
import os
import random
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 60
"""A file of this size takes a second at most."""
MEMORY_BYTES = 6 << 30
"""Of a child: a damaged length makes Blender's FBX importer ask for all there is."""
ENDED_WELL = ("done", "refused")
NASTY = (
    b"\x00" * 4,
    b"\xff" * 4,
    b"\xff\xff\xff\x7f",
    b"\x00\x00\xc0\x7f",
    b"\x00\x00\x80\x7f",
    b"nan ",
    b"-1  ",
    b"1e39",
)
"""Zero, -1, the largest int, NaN and infinity as floats, and what text formats have in their place."""


def cut(data: bytearray, dice: random.Random) -> bytearray:
    return data[: dice.randrange(len(data))]


def flip(data: bytearray, dice: random.Random) -> bytearray:
    for _ in range(dice.choice((1, 4, 64))):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return data


def overwrite(data: bytearray, dice: random.Random) -> bytearray:
    for _ in range(dice.choice((1, 4, 16))):
        place, value = dice.randrange(len(data)), dice.choice(NASTY)
        data[place : place + len(value)] = value
    return data


def swap(data: bytearray, dice: random.Random) -> bytearray:
    """A piece of the file lies where another was."""
    size = dice.choice((16, 256, 4096))
    source, place = dice.randrange(len(data)), dice.randrange(len(data))
    data[place : place + size] = data[source : source + size]
    return data


def leave_out(data: bytearray, dice: random.Random) -> bytearray:
    place = dice.randrange(len(data))
    del data[place : place + dice.choice((1, 16, 1024))]
    return data


def fill(data: bytearray, dice: random.Random) -> bytearray:
    place, size = dice.randrange(len(data)), dice.choice((32, 1024))
    data[place : place + size] = bytes([dice.randrange(256)]) * size
    return data


DAMAGES: tuple[Callable[[bytearray, random.Random], bytearray], ...] = (cut, flip, overwrite, swap, leave_out, fill)


class Child:
    """A process that gives one file after the other to the command line."""

    def __init__(self, command: str) -> None:
        words = [sys.executable, str(Path(__file__)), "--child", command]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.pipes = selectors.DefaultSelector()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout
        self.pipes.register(self.output, selectors.EVENT_READ)

    def outcome(self, path: Path) -> str:
        """done, refused, or what went wrong; the child is gone after CRASH and HANG."""
        self.input.write(os.fsencode(path) + b"\n")
        self.input.flush()
        if not self.pipes.select(LIMIT_S):
            self.end()
            return "HANG"
        line = self.output.readline()
        if line:
            return str(json.loads(line))
        code = self.process.wait()
        return f"CRASH {signal.Signals(-code).name if code < 0 else f'status {code}'}"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=200, help="damaged copies of each file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the files that made trouble")
    parser.add_argument("--command", choices=("inspect", "add", "bake"), default="inspect")
    arguments = parser.parse_args()
    counts = [_fuzz(path, arguments) for path in arguments.files]
    return 1 if any(kind.startswith(("FAULT", "HANG")) for count in counts for kind in count) else 0


def _fuzz(source: Path, arguments: argparse.Namespace) -> collections.Counter[str]:
    counts: collections.Counter[str] = collections.Counter()
    whole, child = source.read_bytes(), Child(arguments.command)
    with tempfile.TemporaryDirectory(prefix="limb_ik_fuzz_") as folder:
        for number in range(arguments.count):
            damaged = Path(folder) / f"{arguments.seed}_{number}_{source.name}"
            damaged.write_bytes(_damaged(whole, random.Random(f"{arguments.seed} {number}")))
            outcome = child.outcome(damaged)
            counts[outcome] += 1
            if outcome not in ENDED_WELL and arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(damaged, arguments.keep / damaged.name)
            if outcome.startswith(("CRASH", "HANG")):
                child = Child(arguments.command)
            damaged.unlink()
    child.end()
    print(f"{source.name}: " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()), flush=True)
    return counts


def _damaged(whole: bytes, dice: random.Random) -> bytes:
    data = bytearray(whole)
    for _ in range(dice.choice((1, 1, 2, 3))):
        if data:
            data = dice.choice(DAMAGES)(data, dice)
    return bytes(data)


def child(command: str) -> None:
    """Answers each path on stdin with its outcome as JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    importlib.import_module("bpy")
    spec = importlib.util.spec_from_file_location(
        "limb_ik", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None
    assert spec.loader is not None
    sys.modules["limb_ik"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["limb_ik"])
    cli = importlib.import_module("limb_ik.cli")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for line in sys.stdin:
        with tempfile.TemporaryDirectory(prefix="limb_ik_fuzz_") as folder:
            output = [] if command == "inspect" else ["-o", str(Path(folder) / "out.blend")]
            with _said() as said:
                status = cli.main([command, line.rstrip("\n"), *output])
        answers.write(json.dumps(_outcome(status, said.getvalue())) + "\n")
        answers.flush()
    os._exit(0)


def _outcome(status: int, said: str) -> str:
    if status == 0:
        return "done"
    is_sentence = said.startswith("limb-ik: ") and said.count("\n") == 1
    return "refused" if status == 1 and is_sentence else f"FAULT {said.strip().splitlines()[-1:] or status}"


@contextlib.contextmanager
def _said() -> Iterator[io.StringIO]:
    """What is printed and logged by Python."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        yield said


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    sys.exit(main())
