"""Skeletons for tests of the limb finder: written in lines, read from fixtures, and without their names."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from limb_ik.rig.limb_finding.skeleton import RestBone
from mathutils import Matrix, Vector

DATA = Path(os.environ.get("LIMB_IK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))

needs_data = pytest.mark.skipif(
    not (DATA / "limbs.json").is_file(), reason="no limbs.json: name the data folder in LIMB_IK_DATA"
)


def bones(*rows: str, start: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> tuple[RestBone, ...]:
    """``name < parent : x y z`` per bone; a head each, tails a little above."""
    found = []
    for line in rows:
        names, _, where = line.partition(":")
        name, _, parent = (part.strip() for part in names.partition("<"))
        numbers = [float(number) for number in where.split()] or list(start)
        x, y, z = numbers
        found.append(RestBone(name, parent or None, (x, y, z), (x, y, z + 0.02)))
    return tuple(found)


def nameless(skeleton: Sequence[RestBone]) -> tuple[tuple[RestBone, ...], dict[str, str]]:
    """The same skeleton with names that say nothing, and the way back."""
    new = {bone.name: f"Node_{index}" for index, bone in enumerate(skeleton)}
    found = tuple(replace(b, name=new[b.name], parent=new[b.parent] if b.parent else None) for b in skeleton)
    return found, {value: key for key, value in new.items()}


def fixture(file: Path) -> tuple[RestBone, ...]:
    """Bones of a skeleton that was written to JSON."""
    found = []
    for bone in json.loads(file.read_text(encoding="utf-8"))["bones"]:
        rest = Matrix([bone["matrix_local"][at : at + 4] for at in range(0, 16, 4)])
        tail = rest @ Vector((0.0, bone["length"], 0.0))
        head = rest.translation
        found.append(RestBone(bone["name"], bone["parent"], tuple(head), tuple(tail), tuple(bone["matrix_local"])))
    return tuple(found)
