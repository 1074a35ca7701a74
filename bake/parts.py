"""A bake in parts: frames read by several processes, joined and written by one.

What was read is numbers only, so the parts together give the very keys of one bake: the
whole motion is made continuous and reduced after joining. A part is a JSON file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..rig.errors import LimbIKError
from ..solvers import rotations
from .reading import BakeWork, Reading, RowPlace

LARGEST = float(np.finfo(np.float32).max)
FORM = 1
"""Of the files; another form is refused."""


@dataclass(frozen=True, slots=True)
class Part:
    """Readings of some frames: by frame, one ``Reading`` for each work. ``marks``: what they have to fit."""

    marks: list[dict[str, Any]]
    readings: dict[float, list[Reading]]


def marks_of(works: Sequence[BakeWork], step: int, is_reduced: bool) -> list[dict[str, Any]]:
    """What tells whether parts belong to a bake: its armatures, chains and bones, and how its frames were chosen."""
    return [
        {
            "armature": work.obj.name,
            "tips": [chain.tip for chain in work.chains],
            "bones": list(work.bones),
            "modes": [work.obj.pose.bones[bone].rotation_mode for bone in work.bones],
            "step": step,
            "is_reduced": is_reduced,
        }
        for work in works
    ]


def slice_of(frames: Sequence[float], number: int, count: int) -> list[float]:
    """The frames of part ``number`` of ``count`` (from 1), in one piece and as even as may be.

    Raises:
        LimbIKError: there is no such part.
    """
    if not 1 <= number <= count:
        raise LimbIKError(f"there is no part {number} of {count}")
    return list(frames[len(frames) * (number - 1) // count : len(frames) * number // count])


def to_text(part: Part) -> str:
    """A part as JSON; numbers come back exactly."""
    frames = [{"frame": frame, "readings": [asdict(one) for one in row]} for frame, row in part.readings.items()]
    return json.dumps({"form": FORM, "marks": part.marks, "frames": frames})


def from_file(path: Path) -> Part:
    """A part that ``to_text`` wrote.

    Raises:
        LimbIKError: it can't be read or is no part.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["form"] != FORM:
            raise LimbIKError(f"{path} is a part of another version: form {found['form']}, not {FORM}")
        counts = [len(mark["bones"]) for mark in found["marks"]]
        if not isinstance(found["frames"], list):
            raise TypeError
        readings = {
            _number(entry["frame"]): [
                _reading(one, count) for one, count in zip(entry["readings"], counts, strict=True)
            ]
            for entry in found["frames"]
        }
        return Part(found["marks"], readings)
    except OSError as problem:
        raise LimbIKError(f"{path} can't be read: {problem.strerror}") from problem
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
        raise LimbIKError(f"{path} is no part of a bake: it is damaged or of another kind") from problem


def _reading(values: Mapping[str, Any], bones: int) -> Reading:
    """What was read of one armature, of which so many bones are baked; numbers of the kinds that there have to be."""
    if not len(values["turns"]) == len(values["near"]) == bones:
        raise ValueError
    return Reading(
        turns=[_turn(turn) for turn in values["turns"]],
        near=[_numbers(raw, 3, 4) for raw in values["near"]],
        places=[
            RowPlace(tuple(_numbers(head, 3) for head in place["heads"]), tuple(map(_turn, place["frames"])))
            for place in values["places"]
        ],
        scale=_number(values["scale"]),
        problems={str(tip): str(problem) for tip, problem in values["problems"].items()},
    )


def _turn(values: Sequence[Any]) -> rotations.Quat:
    w, x, y, z = _numbers(values, 4)
    if w == x == y == z == 0.0:
        raise ValueError
    return w, x, y, z


def _numbers(values: Sequence[Any], *counts: int) -> tuple[float, ...]:
    if len(values) not in counts:
        raise ValueError
    return tuple(map(_number, values))


def _number(value: Any) -> float:
    """A number that a key can hold, which is a single."""
    if not isinstance(value, (int, float)) or not abs(value) <= LARGEST:
        raise ValueError
    return value


def joined(parts: Sequence[Part], marks: Sequence[dict[str, Any]]) -> dict[float, list[Reading]]:
    """The readings of all parts.

    Raises:
        LimbIKError: a part belongs to another bake.
    """
    found: dict[float, list[Reading]] = {}
    for part in parts:
        if part.marks != list(marks):
            raise LimbIKError("a part was read from another set-up, or with another step or reduction: read it again")
        found |= part.readings
    return found
