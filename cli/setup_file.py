"""The file of a set-up, as ``inspect`` prints it: read, and checked to have the form that ``add --setup`` needs.

Must not look at a rig: whether one has such bones is asked where the set-up is applied.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..properties import END_ROTATIONS, SOLVERS
from ..rig.errors import LimbIKError


def read_setup(path: Path) -> list[Mapping[str, Any]]:
    """The armatures that an ``inspect`` printed, those with chains.

    Raises:
        LimbIKError: the file can't be read, or is not what ``inspect`` prints.
    """
    try:
        found: list[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["armatures"]
        for armature in found:
            _check_kinds([armature.get("name", "")], str)
            for chain in armature["chains"]:
                _check_form(chain)
    except OSError as problem:
        raise LimbIKError(f"{path} can't be read: {problem.strerror}") from problem
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise LimbIKError(f"{path} is not what inspect prints ({type(problem).__name__}: {problem})") from problem
    return [armature for armature in found if armature["chains"]]


def _check_form(chain: Mapping[str, Any]) -> None:
    """Raises KeyError or TypeError where a chain of a set-up is not made as ``inspect`` makes it."""
    joints = chain.get("joints", {})
    _check_kinds([joints, *joints.values()], dict)
    texts = (chain["tip"], chain["root"], chain["solver"], chain.get("end_bone", ""), chain.get("end_rotation", ""))
    _check_kinds([*texts, *joints], str)
    if chain["solver"] not in _identifiers(SOLVERS):
        raise ValueError(f"no solver is named {chain['solver']!r}")
    if chain.get("end_rotation", 'TARGET') not in _identifiers(END_ROTATIONS):
        raise ValueError(f"an end can't be {chain['end_rotation']!r}")


def _check_kinds(values: Iterable[Any], kind: type) -> None:
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(f"{value!r} is no {kind.__name__}")


def _identifiers(items: Sequence[tuple[str, str, str]]) -> list[str]:
    return [identifier for identifier, _, _ in items]
