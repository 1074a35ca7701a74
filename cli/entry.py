"""The command line: ``blender --command limb_ik ARGS`` and, beside the bpy wheel, ``limb-ik ARGS``.

Only reads arguments, hands them on and prints: results go to stdout, messages
to stderr; 0 is done, 1 the work failed, 2 usage, 130 and 143 stopped. Must not touch Blender's data.
"""

from __future__ import annotations

import argparse
import errno
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import bpy

from .. import properties
from ..bake.motion import MOTIONS
from ..bake.plan import AFTER
from ..demos import scenes, stairs, walk
from ..files.opening import READABLE, WRITABLE
from ..files.quiet import give_up_stdout, make_usable, show_chatter, stdout_to_stderr
from ..rig.errors import LimbIKError
from . import bake, combinations, guard, jobs, plant, progress, setup, stopping, values
from .children import end_with_parent
from .json_text import json_text
from .leaving import leave
from .version import PROGRAM, VERSION

LOG = logging.getLogger(__name__)
DONE, FAILED = 0, 1
SOLVERS = tuple(name for name, _, _ in properties.SOLVERS if name != 'NONE')
MOTION_HELP = (
    "what becomes of the animation: fk, targets are offsets on it; keys, targets are keyed along it; "
    "still, they stay where they are made; auto, fk where there is animation, else still (default: auto)"
)
FORMATS = tuple(suffix[1:].upper() for suffix in WRITABLE)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command in this process.

    Args:
        argv: The arguments after the program's name; None where this process is
            ours alone: they are those of the process, and it ends here.

    Returns:
        The exit status: 0 done, 1 the work failed, 2 usage.
    """
    if argv is not None:
        return _run(list(argv))
    status = FAILED
    try:
        status = command(sys.argv[1:])
    except Exception:  # as below: else Blender's own clean-up, which may hang, would be the end of it
        LOG.exception("%s: unexpected error", PROGRAM)
    finally:
        leave(status)


def command(argv: Sequence[str]) -> int:
    """Runs one command, in a process of its own where Blender's importers could bring this one down."""
    make_usable()
    if jobs.CHILD_VARIABLE in os.environ:
        end_with_parent()
    with stopping.on_signals():
        return guard.run(argv) if guard.is_needed(argv) else _run(list(argv))


def _run(words: list[str]) -> int:
    try:
        arguments = _parser().parse_args(_joined_frames(words))
        if problem := combinations.first_of(arguments.problems, arguments):
            arguments.refuse(problem)
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else FAILED
    show_chatter(arguments.verbose)
    _register_where_needed()
    try:
        stopping.watch(getattr(arguments, "output", None))
        with stdout_to_stderr():
            text, status = arguments.run(arguments)
    except SystemExit as stop:  # wrong usage that only files show
        return stop.code if isinstance(stop.code, int) else FAILED
    except LimbIKError as problem:
        print(f"{PROGRAM}: {problem}", file=sys.stderr)
        return FAILED
    except Exception as problem:
        if isinstance(problem, OSError) and problem.filename is not None:
            print(f"{PROGRAM}: {problem.filename} can't be used: {problem.strerror}", file=sys.stderr)
        else:  # a fault of ours: told in full, and the process still ends with a status
            LOG.exception("%s: unexpected error", PROGRAM)
        return FAILED
    return int(status) if _said(text) else FAILED


def _said(text: str) -> bool:
    """Print a result; False where who reads it has gone, as ``| head`` does."""
    try:
        if text:
            _print(text)
    except OSError as problem:
        give_up_stdout()
        if not isinstance(problem, BrokenPipeError):
            reason = "stdout is closed" if problem.errno == errno.EBADF else problem.strerror
            print(f"{PROGRAM}: the result can't be printed: {reason}", file=sys.stderr)
        return False
    return True


def _print(text: str) -> None:
    """Names of files as they are on the disk, and what the output has no letters for as its number."""
    stdout: Any = sys.stdout
    try:
        text.encode(stdout.encoding, "surrogateescape")
        stdout.reconfigure(errors="surrogateescape")
    except UnicodeEncodeError:
        stdout.reconfigure(errors="backslashreplace")
    print(text, flush=True)


def _register_where_needed() -> None:
    """With the bpy wheel nobody has enabled the extension."""
    if hasattr(bpy.types.PoseBone, "limb_ik_solver"):
        return
    sys.modules[__name__.rsplit(".", 2)[0]].register()


def _joined_frames(words: list[str]) -> list[str]:
    """``--frames -10:5`` as one word: argparse takes what begins with a dash for an option."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "--frames":
            joined[-1] = f"--frames={word}"
        else:
            joined.append(word)
    return joined


def _parser() -> argparse.ArgumentParser:
    statuses = "0 done, 1 failed, 2 usage, 130 or 143 stopped"
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Exact inverse kinematics for armatures, without a window.",
        epilog=f"FILE: {', '.join(READABLE)}. OUT: {', '.join(WRITABLE)}. Exit status: {statuses}.",
    )
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_inspect(commands)
    _add_add(commands)
    _add_bake(commands)
    _add_trust(plant.add_command(commands, _command))
    _add_demo(commands)
    return parser


_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
_Run: TypeAlias = Callable[[argparse.Namespace], tuple[str, int]]


def _command(commands: _Commands, name: str, run: _Run, text: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text)
    command.set_defaults(run=run, problems=combinations.nothing, refuse=command.error)
    command.add_argument("--verbose", action="store_true", help="show what Blender's importers and exporters print")
    return command


def _add_trust(command: argparse.ArgumentParser) -> None:
    command.add_argument("--trust", action="store_true", help="run scripts and Python drivers of a .blend")


def _add_inspect(commands: _Commands) -> None:
    command = _command(commands, "inspect", _inspect, "Print armatures, limbs and chains of a file as JSON.")
    command.add_argument("file", metavar="FILE", type=Path)
    _add_trust(command)


def _add_add(commands: _Commands) -> None:
    command = _command(commands, "add", setup.add, "Add IK to a rig and write a .blend.")
    command.set_defaults(problems=combinations.of_add)
    command.add_argument("file", metavar="FILE", type=Path)
    command.add_argument("-o", "--output", metavar="OUT", type=Path, required=True, help="the .blend to write")
    command.add_argument("--armature", metavar="N", help="name of the armature (default: all)")
    what = command.add_mutually_exclusive_group()
    what.add_argument(
        "--limbs", type=values.limbs, metavar="arms,legs", default=None, help="which limbs (default: both)"
    )
    what.add_argument("--chain", type=values.chain, metavar="ROOT:TIP[:END]", help="one chain by its bones")
    what.add_argument("--setup", metavar="JSON", type=Path, help="the chains that an inspect printed")
    command.add_argument("--solver", **values.one_of(SOLVERS), help="of --chain (default: by its length)")
    command.add_argument("--motion", **values.one_of(MOTIONS), default="AUTO", help=MOTION_HELP)
    _add_trust(command)


def _add_bake(commands: _Commands) -> None:
    command = _command(commands, "bake", bake.bake, "Bake IK to keyframes.")
    command.set_defaults(problems=combinations.of_bake)
    command.add_argument("files", metavar="FILE", type=Path, nargs="+")
    command.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        required=True,
        help="of several FILEs, or without an extension: a folder",
    )
    command.add_argument(
        "--format", **values.one_of(FORMATS), help="of what is written into a folder (default: the FILE's)"
    )
    command.add_argument("--armature", metavar="N", help="name of the armature (default: all that have chains)")
    command.add_argument("--action", metavar="NAME", help="bake this clip, into its action (default: the active one)")
    command.add_argument(
        "--frames", type=values.frames, metavar="A:B", help="or one frame (default: the action's range)"
    )
    command.add_argument(
        "--step", type=values.positive, metavar="N", default=1, help="a key every N frames (default: 1)"
    )
    command.add_argument(
        "--reduce",
        type=values.length,
        metavar="METRES",
        default=0.0,
        help="fewer keys; joints of chains are off by this at most, what hangs on them (fingers) maybe by more",
    )
    command.add_argument("--after", **values.one_of(AFTER), default="MUTE", help="the chains (default: mute)")
    command.add_argument(
        "--jobs", type=values.positive, metavar="N", default=1, help="how many files at a time (default: 1)"
    )
    command.add_argument("--resume", action="store_true", help="leave out files whose output is there and not older")
    command.add_argument(
        "--part",
        type=values.part,
        metavar="K/N",
        help="only read the K-th of N parts of the frames; OUT is a .json for --join",
    )
    command.add_argument(
        "--join", type=Path, metavar="PART", nargs="+", default=[], help="frames that --part read; others are read now"
    )
    command.add_argument("--report", metavar="FILE", type=Path, help="write what was done as JSON")
    _add_trust(command)


def _add_demo(commands: _Commands) -> None:
    command = _command(commands, "demo", _demo, "A rig that Blender ships, IK on its limbs, baked, with a picture.")
    command.add_argument("-o", "--output", metavar="DIR", type=Path, default=Path("demo"), help="(default: demo)")
    known = ["walk", *scenes.SCENES]
    what = command.add_mutually_exclusive_group()
    what.add_argument("--scene", choices=known, help="what it shows, of each solver (default: walk)")
    what.add_argument("--stairs", action="store_true", help="instead: a walk over stairs, before and after")


def _inspect(arguments: argparse.Namespace) -> tuple[str, int]:
    found = setup.inspect(arguments.file, trust=arguments.trust)
    return json_text(found, sys.stdout.encoding), DONE


def _demo(arguments: argparse.Namespace) -> tuple[str, int]:
    with progress.line() as say:
        if arguments.stairs:
            return stairs.run(arguments.output, say)
        if arguments.scene in scenes.SCENES:
            return scenes.run(arguments.scene, arguments.output, say)
        return walk.run(arguments.output, say)
