"""The file of a set-up, as ``inspect`` prints it: read, and checked to have the form that ``add --setup`` needs.

Must not look at a rig: whether one has such bones is asked where the set-up is applied.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..properties import CHAIN_SPECS, END_ROTATIONS, JOINT_SPECS, SOLVERS
from ..rig.errors import LimbIKError

CHAIN_NAMES = (*(spec.name for spec in CHAIN_SPECS), "tip", "root", "joints")
JOINT_NAMES = tuple(spec.name for spec in JOINT_SPECS)
KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "text"}


class _UnfitError(Exception):
    """What a set-up lacks, in words."""


def read_setup(path: Path) -> list[Mapping[str, Any]]:
    """The armatures that an ``inspect`` printed, those with chains.

    Raises:
        LimbIKError: the file can't be read, or is not what ``inspect`` prints.
    """
    try:
        armatures: list[Mapping[str, Any]] = _taken(_document(path), "armatures", list)
        for armature in armatures:
            _check_armature(armature)
    except OSError as problem:
        raise LimbIKError(f"{path} can't be read: {problem.strerror}") from problem
    except _UnfitError as problem:
        raise LimbIKError(f"{path} is not what inspect prints: {problem}") from problem
    return [armature for armature in armatures if armature["chains"]]


def _document(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as problem:
        raise _UnfitError("it is no JSON") from problem


def _finite(text: str) -> float:
    """A number; Python's JSON knows some that are none."""
    if not math.isfinite(value := float(text)):
        raise _UnfitError(f"{text} is no number")
    return value


def _check_armature(armature: Any) -> None:
    _taken(armature, "name", str, "")
    tips = set()
    for chain in _taken(armature, "chains", list):
        _check_chain(chain)
        if chain["tip"] in tips:
            raise _UnfitError(f"'{chain['tip']}' has two chains")
        tips.add(chain["tip"])


def _check_chain(chain: Any) -> None:
    _taken(chain, "tip", str)
    _taken(chain, "root", str)
    _taken(chain, "end_bone", str, "")
    _check_choice(chain, "solver", [item for item in SOLVERS if item[0] != 'NONE'])
    if "end_rotation" in chain:
        _check_choice(chain, "end_rotation", END_ROTATIONS)
    _check_names(chain, CHAIN_NAMES, "a chain")
    joints = _taken(chain, "joints", dict, {})
    for name in joints:
        _check_names(_taken(joints, name, dict), JOINT_NAMES, "a joint")


def _check_names(values: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    unknown = next((name for name in values if name not in known), None)
    if unknown is not None:
        nearest = difflib.get_close_matches(unknown, list(known), 1, 0.5)
        raise _UnfitError(f"'{unknown}' is no setting of {what}{f': is {nearest[0]} meant?' if nearest else ''}")


def _check_choice(chain: Any, name: str, items: Sequence[tuple[str, str, str]]) -> None:
    value = _taken(chain, name, str)
    if value not in (identifier for identifier, _, _ in items):
        raise _UnfitError(f"{value!r} is no '{name}'")


def _taken(values: Any, name: str, kind: type, default: Any = None) -> Any:
    """An entry of an object, which has to be of a kind; the default where there may be none."""
    if not isinstance(values, dict):
        raise _UnfitError(f"an object with '{name}' is expected, and there is {_kind_of(values)}")
    if name not in values and default is None:
        raise _UnfitError(f"'{name}' is missing")
    value = values.get(name, default)
    if not isinstance(value, kind):
        raise _UnfitError(f"'{name}' has to be {KINDS[kind]}, and is {_kind_of(value)}")
    return value


def _kind_of(value: Any) -> str:
    return "null" if value is None else KINDS.get(type(value), f"{value!r}")
