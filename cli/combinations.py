"""Options that would have no effect beside others, or without them: each refused in one sentence.

What is read is what was given on the command line; an option that was not given is None, False or empty. Must not
look at files.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from ..files.opening import WRITABLE

Problems = Iterator[str]


def first_of(problems: Callable[[argparse.Namespace], Problems], arguments: argparse.Namespace) -> str:
    """The first that is wrong with what was given; empty where nothing is."""
    return next(problems(arguments), "")


def nothing(_: argparse.Namespace) -> Problems:
    yield from ()


def of_add(arguments: argparse.Namespace) -> Problems:
    if arguments.solver and not arguments.chain:
        yield "--solver is for --chain, which is not given"


def of_plant(arguments: argparse.Namespace) -> Problems:
    given = {"--slope": arguments.slope is not None, "--floor": arguments.floor is not None}
    given["--keep-hips"] = arguments.keep_hips
    for option, is_given in given.items():
        if is_given and arguments.ground is None:
            yield f"{option} is for --ground, which is not given"
    if arguments.hands and arguments.ground is not None:
        yield "--hands has no effect with --ground: feet alone are put on it"


def of_bake(arguments: argparse.Namespace) -> Problems:
    """``--after`` may be said for all parts of a bake, as what else is the same for them."""
    if arguments.format and arguments.output.suffix.lower() in WRITABLE:
        yield f"--format is for a folder, and {arguments.output.name} names a format itself"
    if arguments.join and len(arguments.files) > 1:
        yield "--join puts the parts of one FILE together"
    if arguments.part is None:
        return
    if len(arguments.files) > 1 or arguments.join:
        yield "--part reads frames of one FILE; --join comes after"
    for option in ("resume", "report", "format"):
        if getattr(arguments, option):
            yield f"--{option} has no effect with --part, which only reads"
