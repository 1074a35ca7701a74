"""Where files go: each is written under another name in its own folder and moved into place when it is whole.

Must not know what is written. What goes wrong becomes one sentence.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote

from ..rig.errors import LimbIKError

GLTF = ".gltf"
# Letters of a file's name in that of the unfinished one, which file systems allow 255 bytes: a letter may take four.
MOST_LETTERS = 32
# What is written never needs less: where a file system has no more, that is why writing failed, whatever was said.
LEAST_SPACE_BYTES = 65536
BYTES_OF_MB = 2.0**20
NO_SPACE = "no space left on device"
# Files and folders that are being written, beside where they will be.
_unfinished: set[Path] = set()
# What is done when a file is whole, before it is moved into place.
before_moving: list[Callable[[], object]] = []


def resolved(path: Path) -> Path:
    """The file that a path leads to, all links followed.

    Raises:
        LimbIKError: links go in a circle, or the working folder is gone.
    """
    circle = LimbIKError(f"{path} leads nowhere: {os.strerror(errno.ELOOP)}")
    try:
        found = path.resolve()
    except RuntimeError as problem:  # Python up to 3.12
        raise circle from problem
    except OSError as problem:
        raise LimbIKError(f"{path} leads nowhere: {problem.strerror}") from problem
    if os.path.islink(found):  # Python from 3.13 on, else a link is never what links lead to
        raise circle
    return found


def is_special(path: Path) -> bool:
    """Whether there is something that is neither a file nor a folder: a device or a pipe."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_place(path: Path) -> None:
    """Asks before any work whether a file can be written.

    Raises:
        LimbIKError: it can't, or it would overwrite what is not of it.
    """
    final = resolved(path)
    if is_special(path):
        raise LimbIKError(f"{path} can't be written: it is a device or a pipe, not a file")
    with sentences(f"{path} can't be written"):
        if not final.parent.is_dir():
            raise LimbIKError(f"{path} can't be written: its folder does not exist")
        with suppress(FileNotFoundError):
            os.lstat(final)  # fails where the name is longer than the file system allows
        _new_workplace(final).rmdir()
        if final.suffix.lower() == GLTF:
            for companion in companions(final):
                _refuse_foreign(companion, final)


def companions(path: Path) -> list[Path]:
    """What is written beside a .gltf."""
    return [path.with_suffix(".bin"), path.parent / texture_folder(path)] if path.suffix.lower() == GLTF else []


def texture_folder(path: Path) -> str:
    """The name of the folder for the textures of a .gltf: files beside each other may have textures of one name."""
    return f"{path.stem}_textures"


def write_text(path: Path, text: str) -> None:
    """Writes a small text file, whole or not at all; a device or a pipe gets the text itself."""
    with sentences(f"{path} can't be written"):
        if is_special(path):
            path.write_text(text, encoding="utf-8")
            return
        with moved_into_place(resolved(path)) as temporary:
            temporary.write_text(text, encoding="utf-8")


def make_folder(path: Path) -> None:
    """Makes a folder, and those above it, where there is none."""
    with sentences(f"{path} can't be made"):
        path.mkdir(parents=True, exist_ok=True)


@contextmanager
def sentences(what: str) -> Iterator[None]:
    """Turns whatever goes wrong, in Blender's importers and exporters, too, into one sentence."""
    try:
        yield
    except LimbIKError as problem:
        if str(problem).startswith(what):
            raise
        raise LimbIKError(f"{what}: {problem}") from problem
    except OSError as problem:
        raise LimbIKError(f"{what}: {problem.strerror or problem}") from problem
    except Exception as problem:  # importers are Python of others: anything may come out of them
        raise LimbIKError(f"{what}: {_last_line(problem)}") from problem


def _last_line(problem: Exception) -> str:
    """The last line that says something: operators pass whole tracebacks on as their message."""
    text = str(problem)
    lines = [line.strip() for line in text.splitlines()]
    telling = [line for line in lines if line and not line.startswith("Location:")]
    reason = telling[-1].removeprefix("Error: ") if telling else type(problem).__name__
    return f"it is damaged or of another kind ({reason})" if "Traceback" in text else reason


@contextmanager
def moved_into_place(final: Path) -> Iterator[Path]:
    """A path beside ``final`` to write to: moved there when all went well, removed when not.

    It is a name in the same folder, since another one breaks relative paths.
    Only .gltf, which names its companions, is written under its own name in a
    folder of its own and moved out of it, companions first.
    """
    workplace = _new_workplace(final)
    temporary = workplace / final.name if final.suffix.lower() == GLTF else workplace.with_suffix(final.suffix)
    _unfinished.update((temporary, workplace))
    try:
        with _space_left(final.parent):
            yield temporary
            _check_written(temporary)
        for wait in before_moving:
            wait()
        _move(workplace, temporary, final)
    finally:
        remove_unfinished()


def _new_workplace(final: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=f".{final.stem[:MOST_LETTERS]}.", suffix=".part", dir=final.parent))


@contextmanager
def _space_left(folder: Path) -> Iterator[None]:
    """Says that there is no space where writing failed for that: Blender says anything but that."""
    try:
        yield
    except Exception as problem:
        is_said = NO_SPACE in str(problem).lower()
        if is_said or shutil.disk_usage(folder).free < LEAST_SPACE_BYTES:
            raise LimbIKError(NO_SPACE) from problem
        if os.strerror(errno.ENOENT) in str(problem):  # what Blender's C code says where it is left without words
            raise _unwritten(folder) from problem
        raise


def _check_written(path: Path) -> None:
    """Blender doesn't always say that it couldn't write; what it had written of a large file is gone by then."""
    if not path.exists():
        raise _unwritten(path.parent)


def _unwritten(folder: Path) -> LimbIKError:
    free = shutil.disk_usage(folder).free / BYTES_OF_MB
    return LimbIKError(f"Blender could not write it; {free:.0f} MB of space are left there")


def _move(workplace: Path, temporary: Path, final: Path) -> None:
    made = [path for path in sorted(workplace.rglob("*")) if path.is_file() and path != temporary]
    places = {path: final.parent / path.relative_to(workplace) for path in made}
    for place in places.values():
        _refuse_foreign(place, final)
    for path, place in places.items():
        place.parent.mkdir(exist_ok=True)
        os.replace(path, place)
    os.replace(temporary, final)


def _refuse_foreign(place: Path, final: Path) -> None:
    """What lies beside a .gltf is overwritten only where the one that is there already names it."""
    if place.exists() and not any(name == place or place in name.parents for name in _named_in(final)):
        raise LimbIKError(f"{place.name} beside it is there already and not of it")


def _named_in(path: Path) -> list[Path]:
    """The files that a .gltf names, where there is one that can be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        entries = [*document.get("buffers", ()), *document.get("images", ())]
        return [path.parent / unquote(entry["uri"]) for entry in entries if "uri" in entry]
    except (OSError, ValueError, TypeError, AttributeError):
        return []


def remove_unfinished() -> None:
    """Removes what is being written, also where the process is to end in the middle of it."""
    for path in tuple(_unfinished):
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):  # a folder that could not be removed: what is more important has been said
            path.unlink(missing_ok=True)
        _unfinished.discard(path)
