"""Names of bones on the other side, for every common way to say left and right.

Blender flips a side at the beginning or the end of a name alone; Mixamo, VRM, Biped and DAZ
say it inside. This module must not read a pose.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

import bpy

# Where a name may say its side inside: a word anywhere; one letter between separators; one before a capital.
WORD = re.compile(r"left|right", re.IGNORECASE)
LETTER = re.compile(r"(?<![^\W_])[lr](?![^\W_])", re.IGNORECASE)
CAMEL = re.compile(r"(?<![^\W_])[lr](?=[A-Z])")
OTHER = {"left": "right", "right": "left", "l": "r", "r": "l"}


def other_side(name: str, known: Container[str]) -> str:
    """The name on the other side; of several readings one that is known. The same name where none says a side."""
    readings = list(dict.fromkeys(_readings(name)))
    return next((one for one in readings if one in known), readings[0] if readings else name)


def _readings(name: str) -> Iterator[str]:
    blenders = bpy.utils.flip_name(name)
    if blenders != name:
        yield blenders
    for pattern in (WORD, LETTER, CAMEL):
        for found in pattern.finditer(name):
            yield name[: found.start()] + _as_written(found.group()) + name[found.end() :]


def _as_written(word: str) -> str:
    other = OTHER[word.lower()]
    return other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other
