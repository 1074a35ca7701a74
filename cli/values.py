"""What the texts of the command line's options mean: each taken as a value, or refused in one sentence.

Must not look at files or at Blender's data: what a name stands for is found out later.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any


def one_of(names: Sequence[str]) -> dict[str, Any]:
    """How an option takes one of these names, in small letters or capitals; another is said as it was typed."""
    shown = [name.lower() for name in names]

    def taken(text: str) -> str:
        if text.upper() not in names:
            raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {', '.join(shown)})")
        return text.upper()

    return {"type": taken, "metavar": "|".join(shown)}


def limbs(text: str) -> frozenset[str]:
    """``arms``, ``legs`` or both with a comma between."""
    names = frozenset(text.lower().split(","))
    if not names <= {"arms", "legs"}:
        raise argparse.ArgumentTypeError(f"{text!r} is not arms, legs or arms,legs")
    return names


def chain(text: str) -> str:
    """Bones with colons between; of more than three parts, names with a namespace, which comes more than once."""
    parts = text.split(":")
    has_namespace = len(set(parts)) < len(parts)
    if len(parts) < 2 or not (parts[0] and parts[1]) or (len(parts) > 3 and not has_namespace):
        raise argparse.ArgumentTypeError(f"{text!r} is not ROOT:TIP or ROOT:TIP:END")
    return text


def frames(text: str) -> tuple[int, int]:
    """A:B, or one frame."""
    first, colon, last = text.partition(":")
    try:
        return int(first), int(last if colon else first)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not A:B with two whole frames, nor one frame") from None


def part(text: str) -> tuple[int, int]:
    """K/N: a part's number, from 1, and how many there are."""
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not K/N with K from 1 to N")
    return int(number), int(count)


def positive(text: str) -> int:
    """A whole number from 1 up."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return int(text)


def length(text: str) -> float:
    """Metres from 0 up."""
    return _number(text, "a length from 0 up", low=0.0)


def number(text: str) -> float:
    """Any number, but for infinity and what is none."""
    return _number(text, "a number")


def share(text: str) -> float:
    """A number from 0 to 1."""
    return _number(text, "a number from 0 to 1", low=0.0, high=1.0)


def _number(text: str, what: str, low: float = -math.inf, high: float = math.inf) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and low <= value <= high):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return value
